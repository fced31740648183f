"""The audit of this project at a fixed number of draws."""

name = "ours, fixed n"
needs = {
    "claims": ["pure", "approximate", "gdp"],
    "outputs": ["scalar", "index", "bits", "vector", "tuple", "mixed"],
}


def lower_bound(x, y, claim, alpha, rng):
    """Return the bound of the exact test."""
    from auditors.recorded import tested

    return tested(x, y, claim, alpha, rng).bound or 0.0
