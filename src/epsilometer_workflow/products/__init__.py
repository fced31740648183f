"""The files that the workflow makes: for each its identity and code; what rules ask of Python.

It may import every folder of the workflow; the Snakefile imports it.
"""
