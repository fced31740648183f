"""The command `epsilometer`: it parses options and prints; the library does the rest.

It may import all of the auditor. Only `__main__` imports it.
"""
