"""Reductions of samples, from which levels are estimated: histograms, and densities of pairs.

It may import the modules of the lowest layers; all that estimates may import it.
"""
