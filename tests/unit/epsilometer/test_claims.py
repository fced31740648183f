"""Claims of one level: their ranges, the levels that are tested, and the curve of mu-GDP."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from epsilometer.claims import RISING, Delta, Gaussian, Pure
from epsilometer.errors import ArgumentError


@pytest.mark.parametrize(
    ("kind", "fits", "wrong"),
    [
        (Pure, [0.0, 300.0], [-1e-9, 300.1]),
        (partial(Pure, 1.0), [0.0, 0.999], [-1e-9, 1.0]),
        (Gaussian, [1e-9, 30.0], [0.0, 30.1]),
    ],
)
def test_a_level_lies_in_its_range(kind, fits, wrong):
    for level in fits:
        kind(level)
    for level in wrong:
        with pytest.raises(ArgumentError, match="must"):
            kind(level)


def test_a_claim_with_a_delta_has_bounds_of_both_numbers():
    assert [part.quantity for part in Pure(0.5, 0.1).levels] == ["epsilon", "delta"]
    assert [part.quantity for part in Pure(0.5).levels] == ["epsilon"]
    assert Pure(0.5, 0.1).of(np.array([0.1, 0.05]), np.array([0.0, 0.2])).tolist() == [-np.inf] * 2


def test_levels_that_are_tested_rise_in_small_steps_to_the_largest():
    for grid, first, step, last in ((RISING, 1 / 400, 0.0025, 300), (Delta.grid, 1e-9, 0.005, 1)):
        assert grid[0] == 0 < grid[1] <= first
        assert (np.diff(grid) > 0).all()
        assert (np.diff(grid)[1:] <= 1.0001 * np.maximum(step * grid[1:-1], first)).all()
        assert grid[-1] <= last < grid[-1] * (1 + 1.0001 * step)
    assert Gaussian.grid[-1] <= 30 < Gaussian.grid[-1] * 1.0026


def test_an_event_that_only_one_side_has_shows_a_large_mu_and_a_finite_one():
    for p, q in ((1.0, 0.5), (0.5, 0.0), (1.0, 0.0)):
        level = float(Gaussian(1.0).of(np.array(p), np.array(q)))
        assert 6 < level < 15
        assert float(Gaussian(1.0).of(np.array(q), np.array(p))) == pytest.approx(-level)


@pytest.mark.parametrize("level", [0.1, 1.5, 4.0])
def test_lines_of_mu_are_tangents_of_its_curve(level):
    """They lie above it and touch it where Q(S) is the mean; of what is implied, wherever."""
    q = norm.cdf(np.linspace(-9, 9, 7201))
    curve = norm.cdf(norm.ppf(q) + level)
    claim, levels = Gaussian(1.0), np.array([level])
    for mean in (1e-4, 0.3, 0.9):
        kappa, b = claim.null(levels, mean, math.nan)
        assert (kappa * q + b >= curve - 1e-9).all()
        assert kappa * mean + b == pytest.approx(norm.cdf(norm.ppf(mean) + level))
    implied = np.stack(claim.implied(levels), axis=-1)[0]
    assert implied[0].tolist() == pytest.approx([0, 2 * norm.cdf(level / 2) - 1])  # total variation
    assert implied[-1][0] > level
    for epsilon, delta in implied:
        assert delta == pytest.approx((curve - math.exp(epsilon) * q).max(), abs=1e-6)
