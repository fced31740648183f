"""Budgets of time and of draws are promises."""

import time

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.budgets import Budget
from epsilometer_audit.checks.accepted_pairs import Candidates
from epsilometer_audit.drawing import Drawing
from tests.seeds import FIVE

ONE = [(0.0, 1.0)]


class Slow:
    """A mechanism whose draws take so many seconds on x and on x'; it adds them up."""

    def __init__(self, seconds: float, times: float = 1.0, scale: float = 2.0) -> None:
        self.seconds, self.times, self.scale, self.spent = seconds, times, scale, 0.0

    def __call__(self, x: float, rng: np.random.Generator) -> float:
        return float(self.together(x, 1, rng)[0])

    def together(self, x: float, size: int, rng: np.random.Generator) -> np.ndarray:
        took = size * self.seconds * (self.times if x else 1.0)
        time.sleep(took)
        self.spent += took
        return x + rng.laplace(0, self.scale, size)


@pytest.fixture(scope="module")
def compiled():
    """All that an answer is made with, compiled and loaded, as it is but for a first audit."""
    ea.audit(Slow(0).together, ONE, ea.pure(1.0), samples=20_000)


@pytest.fixture
def clock(compiled, monkeypatch):
    """A clock that counts only the work of this process; sleeps pass in it without waiting."""
    slept = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: time.process_time() + slept[0])
    monkeypatch.setattr(time, "sleep", lambda took: slept.__setitem__(0, slept[0] + took))
    return time.perf_counter


@pytest.mark.parametrize("seed", FIVE)
def test_a_slow_mechanism_keeps_to_its_budget(clock, seed):
    slow = Slow(0.02)
    verdict = ea.audit(slow, ONE, ea.pure(1.0), budget=1.5, seed=seed)
    assert slow.spent <= 1.2 * 1.5 + 2 * 0.02
    assert verdict.verdict == "undecided"
    assert "1.5 s" in verdict.reasons[0]
    assert "sampler" in [check["name"] for check in verdict.checks]


@pytest.mark.parametrize(
    ("seconds", "times", "pairs", "budget"),
    [
        *[(0.002, 1.0, 1, 1), (0.001, 10.0, 1, 1), (0.01, 0.1, 1, 1)],
        *[(0.05, 1.0, 1, 0.5), (0.05, 1.0, 3, 0.5), (0.01, 1.0, 200, 1.5)],
    ],
)
@pytest.mark.parametrize("many", [True, False])
def test_a_budget_is_kept_at_any_speed(clock, seconds, times, pairs, budget, many):
    slow = Slow(seconds, times)
    inputs = {f"pair {i}": (0.0, 1.0 + i) for i in range(pairs)}
    tried = Candidates(inputs) if pairs > 100 else inputs
    verdict = ea.audit(slow.together if many else slow, tried, ea.pure(1.0), budget=budget)
    assert slow.spent <= 1.2 * budget + seconds * (1 + times)
    assert verdict.verdict in ("undecided", "not refuted")


@pytest.mark.parametrize("seed", FIVE)
def test_a_violation_in_time_is_found(clock, seed):
    slow = Slow(0.001, scale=0.02)
    verdict = ea.audit(slow, ONE, ea.pure(1.0), budget=8, seed=seed)
    assert verdict.verdict == "violated"


def test_a_round_without_time_to_begin_ends_the_draws(monkeypatch):
    rounds, draw = [], Drawing.__call__

    def late(self, sides, size):
        rounds.append(size)
        if len(rounds) == 3:
            monkeypatch.setattr(Budget, "over", lambda *_: True)
        return draw(self, sides, size)

    monkeypatch.setattr(Drawing, "__call__", late)
    verdict = ea.audit(Slow(0).together, ONE, ea.pure(1.0), budget=5)
    assert len(rounds) == 3
    assert verdict.draws == sum(rounds[:2])


@pytest.mark.parametrize(("samples", "pairs"), [(100, 1), (2000, 1), (1000, 2)])
@pytest.mark.parametrize("many", [True, False])
def test_samples_are_a_promise(samples, many, pairs):
    """Over all pairs, with a fifth at most for the checks of the sampler."""
    drawn = [0, 0]

    def together(x, size, rng):
        drawn[x > 0] += size
        return x + rng.laplace(0, 1, size)

    def single(x, rng):
        drawn[x > 0] += 1
        return x + rng.laplace()

    inputs = {f"pair {i}": (0.0, 1.0 + i) for i in range(pairs)}
    draw = together if many else single
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples)
    assert max(drawn) <= 1.2 * samples
    drawn[:] = 0, 0
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples, check_sampler=False, method="exact")
    assert max(drawn) <= samples
