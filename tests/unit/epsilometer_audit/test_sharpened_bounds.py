"""After a violation, an exact test of the last round's draws sharpens the bound of an audit."""

from functools import cache

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.statistics.rounds import Evidence
from tests.unit.audits import audited, seldom


def response(x, size, rng):
    return (rng.random(size) < 0.8) == x


def laplace(x, size, rng):
    return x + rng.laplace(0, 1, size)


def one_larger(x, size, rng):
    """One of 30 numbers, at a random place, is larger on x = 1."""
    z = rng.normal(size=(size, 30))
    z[np.arange(size), rng.integers(30, size=size)] += 5 * x
    return z


@cache
def bounds_of(mechanism, claim, seed):
    """Return the bounds of an audit, once for epsilon and delta."""
    return audited(mechanism, claim, 400, seed, alpha=0.1).bounds


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize(
    ("mechanism", "claim", "level"),
    [
        (response, ea.pure(0.5), np.log(4)),
        (laplace, ea.pure(0.9999), 1.0),
        (response, ea.approximate(0.5, 0.01), np.log(0.79 / 0.2)),
        (response, ea.approximate(0.5, 0.01), 0.8 - 0.2 * np.exp(0.5)),  # of delta, the last
    ],
)
def test_the_bound_is_above_the_level_with_probability_alpha_at_most(mechanism, claim, level):
    i = -1 if level < claim.level else 0
    assert seldom(lambda seed: bounds_of(mechanism, claim, seed)[i].lower > level, 0.1)


@pytest.mark.slow(seconds=3)
def test_it_is_of_the_events_that_bets_learned_late(monkeypatch):
    sharpened, of_bets = Evidence.sharpened, []

    def noted(evidence, bounds):
        of_bets.extend(bounds.values())
        return sharpened(evidence, bounds)

    monkeypatch.setattr(Evidence, "sharpened", noted)
    sharp = audited(one_larger, ea.pure(1.0), 2000, 0)
    assert sharp.verdict == "violated"
    assert sharp.bounds[0].lower > 1.005 * of_bets[0]
    assert sharp.witness.draws <= 1008  # of the last round


def test_it_takes_no_part_in_the_verdict(monkeypatch):
    """Not refuted claims, those about divergences, and audits that stop are not looked at again."""
    monkeypatch.setattr("epsilometer_audit.statistics.rounds.largest_bound", None)
    assert audited(laplace, ea.pure(1.5), 1000, 0).verdict == "not refuted"
    assert audited(laplace, ea.pure(0.1), 4000, 0, stop=True).verdict == "violated"
    assert audited(laplace, ea.renyi({2: 0.01}), 4000, 0).verdict == "violated"
