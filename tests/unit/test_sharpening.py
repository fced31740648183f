"""After "violated", an exact test of the last draws sharpens the bound; its confidence holds."""

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit import auditing
from tests.unit.audits import audited, seldom


def response(x, size, rng):
    return (rng.random(size) < 0.8) == x


def laplace(x, size, rng):
    return x + rng.laplace(0, 1, size)


def board(x, size, rng):
    """The parity of a place on a board depends on x; epsilon is log 9."""
    places = rng.integers(0, 6, (12 * size, 2))
    kept = rng.random(12 * size) < np.where((places.sum(axis=1) % 2 == 0) == x, 0.9, 0.1)
    return places[kept][:size]


@pytest.mark.parametrize(
    ("mechanism", "claim", "level"),
    [
        (response, ea.pure(0.5), np.log(4)),
        (laplace, ea.pure(0.2), 1.0),
        (laplace, ea.pure(0.9999), 1.0),
        (response, ea.approximate(0.5, 0.01), np.log(0.79 / 0.2)),
    ],
)
def test_the_bound_is_above_the_level_with_probability_alpha_at_most(mechanism, claim, level):
    assert seldom(lambda seed: audited(mechanism, claim, 400, seed, alpha=0.1).bound > level, 0.1)


def test_it_is_of_the_events_that_bets_learned_late(monkeypatch):
    sharp = audited(board, ea.pure(0.5), 2000, 0)
    own = auditing._sharpened
    without = []

    def bets_alone(question, evidence, claim):
        without.append(evidence.bounds()[claim])
        return own(question, evidence, claim)

    monkeypatch.setattr(auditing, "_sharpened", bets_alone)
    assert audited(board, ea.pure(0.5), 2000, 0).bound == sharp.bound
    assert sharp.verdict == "violated"
    assert sharp.bound >= 0.99 * without[0]
    assert sharp.witness.draws <= 1000  # of the last round, at most


def test_it_takes_no_part_in_the_verdict(monkeypatch):
    """Not refuted claims, and audits that stop, are not looked at again."""
    monkeypatch.setattr(auditing, "_sharpened", None)
    assert audited(laplace, ea.pure(1.5), 1000, 0).verdict == "not refuted"
    assert audited(laplace, ea.pure(0.1), 4000, 0, stop=True).verdict == "violated"
    assert audited(laplace, ea.renyi({2: 0.01}), 4000, 0).verdict == "violated"
