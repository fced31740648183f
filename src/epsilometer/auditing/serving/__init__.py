"""Draws from a Python function: in this process, or in another interpreter that runs `program`.

These modules run on Python 3.8 with its standard library; NumPy is used where it is installed,
nothing else is, not even this package.
"""
