"""Events: sets of outputs that draws suggest, that a person can check, and their exact tests."""
