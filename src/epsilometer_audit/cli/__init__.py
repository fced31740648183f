"""The command `epsilometer`: it parses options and prints; the library does the rest.

It may import `auditing`, not `mechanisms` or `exact`. Only `__main__` imports it.
"""
