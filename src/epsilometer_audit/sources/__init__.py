"""Sources of outputs: Python functions, other processes, recorded files.

It may import `outcomes` and the layers below; not `statistics`. `checks` and those above import it.
"""
