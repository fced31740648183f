"""The figure of the benchmark."""
