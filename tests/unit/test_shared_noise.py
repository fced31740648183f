"""Draws of a call that share noise are no independent draws: such a mechanism is invalid."""

import numpy as np
import pytest
from scipy.stats import rankdata

import epsilometer_audit as ea
from epsilometer_audit.checks.permutations import calls_p
from tests.unit.audits import audited


def offset(x, size, rng):
    """Each call has an offset of .05 standard deviations of its own."""
    return x + rng.laplace(0, 1, size) + 0.05 * np.sqrt(2) * rng.normal()


def magnitudes(x, size, rng):
    """Four draws at a time share the magnitude of their Laplace noise."""
    shared = np.repeat(np.sqrt(2 * rng.exponential(1, -(-size // 4))), 4)[:size]
    return x + shared * rng.normal(size=size)


@pytest.mark.parametrize("mechanism", [offset, magnitudes])
def test_noise_that_draws_of_a_call_share_is_invalid(mechanism):
    audits = (audited(mechanism, ea.pure(1), 20_000, seed, check_sampler=True) for seed in range(3))
    assert [each.verdict for each in audits].count("invalid") >= 2


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "integers"])
def test_calls_of_independent_draws_differ_by_chance_only(draw):
    """Of 100 sets of calls, 5 % have a p-value of .05 at most; 14 are four errors more."""
    alarms, sizes = 0, [100, 100, 200, 400, 800]
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = sum(sizes)
        options = (0, 3) if draw == "integers" else ()
        sides = [getattr(rng, draw)(*options, size=n) for _ in range(2)]
        scores = [[rankdata(side) - (n + 1) / 2] for side in sides]
        alarms += calls_p(scores, [sizes, sizes[::-1]], rng, 0.05) <= 0.05
    assert 1 <= alarms <= 14
