"""Tests and bounds: claims, bets and their wealth, exact tests, power, upper bounds.

It may import `outcomes`, the layers below, and `estimators`; not `sources`.
"""
