"""Tests and bounds: claims, learning, bets, e-processes, exact tests, power, upper bounds.

It may import `outcomes`, the layers below, and `estimators`; not `sources`.
"""
