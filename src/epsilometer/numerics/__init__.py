"""Numerics: types of arrays, loops compiled on their first call, bisection, proportions, ratios."""
