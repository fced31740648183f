"""Events: sets of outputs that draws suggest and that a person can check.

It may import the library; `outcomes` and the layers above import it.
"""
