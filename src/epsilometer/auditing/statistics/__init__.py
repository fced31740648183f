"""Tests and bounds: claims, learning, bets, e-processes, exact tests, power, upper bounds."""
