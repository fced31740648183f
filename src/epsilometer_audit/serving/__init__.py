"""Draws from a Python function: in this process, or in another interpreter that runs `program`.

These modules run on Python 3.8 with its standard library, and with NumPy where it is installed.
They import no other part of this package; `outputs` and the layers above import them.
"""
