"""Projections of two distributions onto those that satisfy a claim; they see arrays only.

It may import the modules of the lowest layers; all folders above may import it.
"""
