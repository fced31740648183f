"""epsilometer: how private a mechanism really is, from its outputs alone."""

__version__ = "0.2.0"
