"""Guesses about canaries of one run: the level that the right ones refute."""
