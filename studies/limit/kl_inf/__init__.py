"""KL_inf: how far two distributions are from those that satisfy a claim; it limits every audit."""
