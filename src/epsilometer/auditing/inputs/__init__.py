"""Pairs of neighbouring inputs, from declared domains, tables and the patterns of askin2022."""
