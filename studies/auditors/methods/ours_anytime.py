"""The audit of this project that is valid at any time: it may look while draws come."""

name = "ours, anytime"
needs = {
    "claims": ["pure", "approximate", "renyi", "gdp", "zcdp"],
    "outputs": ["scalar", "index", "bits", "vector", "tuple", "mixed"],
}


def lower_bound(x, y, claim, alpha, rng):
    """Return the bound from all draws."""
    from auditors.recorded import claim_of
    from epsilometer_audit.auditing import audit_outputs

    answer = audit_outputs(
        (x, y),
        claim_of(claim),
        alpha=alpha,
        seed=rng.bit_generator.seed_seq.entropy,
        as_reals=x.dtype.kind == "f",
    )
    return answer.bounds[0].lower


def looks(x, y, claim, alpha, rng):
    """Return the draws until the claim is refuted, whether it is, and the bound from all draws."""
    from auditors.recorded import audited

    stopped = audited(x, y, claim, alpha, rng, stop=True)
    bound = audited(x, y, claim, alpha, rng).bound or 0.0
    return stopped.draws, stopped.verdict == "violated", bound
