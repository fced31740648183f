"""What samples are reduced to before anything is estimated: histograms."""
