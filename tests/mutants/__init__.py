"""Small faults, put in one at a time, which the tests of their subject should notice."""
