"""The matrix: every method on every mechanism, from the same draws."""
