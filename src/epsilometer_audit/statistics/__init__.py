"""Tests and bounds: claims, bets and their wealth, power.

It may import `outcomes` and the layers below; not `sources`.
"""
