"""What tests of audits share: an audit of a sampler, and how often a true claim is refuted."""

from collections.abc import Callable
from typing import Any

from scipy.stats import binom

import epsilometer_audit as ea


def audited(mechanism: Any, claim: Any, samples: int, seed: int = 0, **options: Any) -> Any:
    """Audit a sampler of reals on the inputs 0 and 1."""
    options = {"check_sampler": False, "as_reals": True, **options}
    return ea.audit(mechanism, [(0, 1)], claim, samples=samples, seed=seed, **options)


def seldom(wrong: Callable[[int], bool], alpha: float, seeds: int = 60) -> bool:
    """Tell whether something goes wrong for a share alpha of the seeds at most, but for chance.

    The first 12 seeds do where 2 of them or fewer go wrong: at alpha = .1 with probability .89. If
    it goes wrong for half of all seeds, they do with probability .02.
    """
    many = 0
    for seed in range(seeds):
        many += wrong(seed)
        if seed == 11 and many <= 2:
            return True
    return bool(many <= binom.ppf(0.9999, seeds, alpha))
