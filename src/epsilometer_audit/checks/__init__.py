"""Checks before an audit: independent draws that follow the seed, and the accepted pairs.

It may import `sources` and the layers below it; `inputs` and those above import it.
"""
