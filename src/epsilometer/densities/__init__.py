"""What samples are reduced to before anything is estimated: histograms, and densities of pairs."""
