"""Tests and bounds: bets and their wealth, guesses about canaries, power, witnesses."""
