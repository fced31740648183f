"""Events: sets of outputs that draws suggest and that a person can check.

It imports the ground of the library only; the exact test and audits import it.
"""
