"""Outputs: where they come from, and how those of any type become columns of numbers."""
