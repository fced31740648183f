"""The audit of this project that is valid at any time: it may look while draws come."""

name = "ours, anytime"
needs = {
    "claims": ["pure", "approximate", "renyi", "gdp", "zcdp"],
    "outputs": ["scalar", "index", "bits", "vector", "tuple", "mixed"],
}


def lower_bound(x, y, claim, alpha, rng):
    """Return the bound from all draws."""
    from auditors.recorded import audited

    return audited(x, y, claim, alpha, rng).bound or 0.0


def looks(x, y, claim, alpha, rng):
    """Return the draws until the claim is refuted, whether it is, and the bound from all draws."""
    from auditors.recorded import audited

    stopped = audited(x, y, claim, alpha, rng, stop=True)
    bound = audited(x, y, claim, alpha, rng).bound or 0.0
    return stopped.draws, stopped.verdict == "violated", bound
