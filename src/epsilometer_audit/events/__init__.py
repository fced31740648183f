"""Events: sets of outputs that draws suggest and that a person can check.

It may import `densities` and the layers below; `estimators` and `auditing` may import it.
"""
