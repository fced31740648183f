"""Reductions of samples, from which levels are estimated: histograms, and densities of pairs."""
