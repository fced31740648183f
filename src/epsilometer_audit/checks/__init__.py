"""Checks before an audit: independent draws that follow the seed, and the accepted pairs.

It may import `statistics`, `sources` and the layers below them; `inputs` and those above import it.
"""
