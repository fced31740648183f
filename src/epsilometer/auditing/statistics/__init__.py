"""Tests and bounds: claims, bets on events, e-processes, exact tests, power, upper bounds."""
