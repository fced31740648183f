"""Of the standard library alone, as an environment of nothing has no more."""


def respond(x, rng, keep, version=None):
    """Return the bit of an input, or the other one."""
    return x[0] if rng.random() < keep else 1 - x[0]
