"""No draw that chose an event confirms it: each draw is a number of its own, by which it is known.

What is learned from goes through `PastDraws`; what confirms goes through `count` or `record`.
"""

import numpy as np
import pytest

import epsilometer as em
import epsilometer_audit as ea
from epsilometer import estimates
from epsilometer.events import exact_test
from epsilometer.events.choosing import PastDraws
from epsilometer_audit.statistics.rounds import Evidence


class Recorder:
    """The draws that have chosen so far, and whether any of them confirmed."""

    def __init__(self):
        self.chose, self.confirmed, self.twice = set(), set(), set()

    def choose(self, *sides):
        for side in sides:
            self.chose |= numbers(side)

    def confirm(self, *sides):
        for side in sides:
            self.confirmed |= numbers(side)
            self.twice |= numbers(side) & self.chose


def numbers(side):
    """Return the first entry of each draw; entries are reals, no two of which are equal."""
    return set(np.asarray(side, float).reshape(len(side), -1)[:, 0].tolist())


@pytest.fixture
def recorder(monkeypatch):
    recorder = Recorder()
    made, counted, recorded = PastDraws.__post_init__, exact_test.count, Evidence.record
    candidate = estimates._of_a_set

    def make(past, earlier):
        recorder.choose(past.x, past.x_prime)
        made(past, earlier)

    def count(chosen, x, x_prime):
        recorder.confirm(x, x_prime)
        return counted(chosen, x, x_prime)

    def record(evidence, outputs, *more, **options):
        for sides in outputs.values():
            recorder.confirm(*sides)
        recorded(evidence, outputs, *more, **options)

    def of_a_set(first, fresh):
        recorder.choose(first.x, first.x_prime)
        recorder.confirm(fresh.x, fresh.x_prime)
        return candidate(first, fresh)

    monkeypatch.setattr(PastDraws, "__post_init__", make)
    monkeypatch.setattr(exact_test, "count", count)
    monkeypatch.setattr("epsilometer.measurement.count", count)
    monkeypatch.setattr(Evidence, "record", record)
    monkeypatch.setattr(estimates, "_of_a_set", of_a_set)
    return recorder


def sides(d):
    rng = np.random.default_rng(d)
    shape = (2000,) if d == 1 else (2000, d)
    return rng.normal(0.5, 1, shape), rng.normal(0, 1, shape)


def mechanism(x, size, rng):
    return x + rng.laplace(0, 0.5, size)


USES = {
    "measure": lambda: em.measure(*sides(1)),
    "measure, vectors": lambda: em.measure(*sides(3)),
    "a lower bound of the loss": lambda: em.loss_lower_bound(*sides(1)),
    "an exact test of recorded outputs": lambda: ea.audit_outputs(sides(1), ea.pure(0.1)),
    "recorded outputs, bit by bit": lambda: ea.audit_outputs(sides(1), ea.renyi({2: 0.1})),
    "recorded vectors": lambda: ea.audit_outputs(sides(3), ea.gdp(0.1)),
    "an audit": lambda: ea.audit(mechanism, [(0, 1)], ea.pure(1.0), samples=4000),
    "an audit of three pairs": lambda: ea.audit(
        mechanism, [(0, 1), (1, 0), (0, 0.5)], ea.approximate(1.0, 0.01), samples=9000
    ),
}


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("use", USES)
def test_no_draw_chooses_and_confirms(use, recorder):
    USES[use]()
    assert not recorder.twice
    assert len(recorder.chose) > 100
    assert len(recorder.confirmed) > 1000
