"""Pairs of neighbouring inputs, from declared domains, tables and the patterns of askin2022.

It may import `checks` and the layers below; `question` and the layers above import it.
"""
