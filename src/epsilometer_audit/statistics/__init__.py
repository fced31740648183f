"""Tests and bounds: claims, bets and their wealth, exact tests, power, upper bounds.

It may import `outcomes`, `events` and the layers below; not `sources`.
"""
