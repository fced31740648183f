"""The question: a claim, pairs of neighbouring inputs, and options, all checked before a draw."""
