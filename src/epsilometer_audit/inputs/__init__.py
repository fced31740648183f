"""Pairs of neighbouring inputs, from declared domains.

It may import `checks` and the layers below; `question` and the layers above import it.
"""
