"""Outputs of any type as columns of numbers, with readable names."""
