"""Tests and bounds: claims, bets and their wealth, exact tests, power.

It may import `outcomes`, `events` and the layers below; not `sources`.
"""
