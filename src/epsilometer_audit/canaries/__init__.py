"""Audits of one run with canaries: a verdict from the number of right guesses.

It may import `answer` and the layers below; not `auditing`. `grids` imports it.
"""
