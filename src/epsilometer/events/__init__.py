"""Events: sets of outputs that draws suggest and that a person can check."""
