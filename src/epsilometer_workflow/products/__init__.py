"""The files that the workflow makes: for each its path, needs, cost and code.

It may import every folder of the workflow but `commands`; the Snakefile and `commands` import it.
"""
