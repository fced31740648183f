"""Audits find leaks beyond single values: low bits, grids, fine structure, scores, joint laws."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.events import scores
from epsilometer_audit.outputs import outcomes
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.statistics.witnesses import looked_at
from tests.benchmarks import seen
from tests.sharing import FIVE
from tests.unit.audits import audited, event_of

Rng = np.random.Generator
CLAIM = ea.pure(1.0)


def laplace(x: float, size: int, rng: Rng) -> Any:
    return x + rng.laplace(0, 1, size)


def by_either_test(mechanism: Any, x: float, draws: int, recorded: bool, **options: Any) -> Any:
    """Return verdicts, by the sequential test, or of recorded outputs by the exact one."""
    if not recorded:
        return lambda claim: ea.audit(mechanism, [(0.0, x)], claim, samples=draws, **options)
    rng = np.random.default_rng(0)
    outputs = mechanism(0.0, draws, rng), mechanism(x, draws, rng)
    return lambda claim: ea.audit_outputs(outputs, claim, **options)


# --- the lowest bit -------------------------------------------------------------------------------


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    "noise",
    [lambda rng, n: rng.normal(0, 2, n), lambda rng, n: rng.laplace(0, 1, n).astype(np.float32)],
)
def test_low_bits_of_naive_noise_reveal_the_input(noise, recorded):
    def naive(x: float, size: int, rng: Rng) -> Any:
        return x + noise(rng, size)

    claim = ea.pure(2.0)
    verdict = by_either_test(naive, 1.0, 4000, recorded)(claim)
    assert verdict.verdict == "violated"
    assert "lowest bit of" in verdict.witness.event or "multiple of" in verdict.witness.event
    assert "Mironov 2012" in str(verdict)
    assert json.loads(verdict.to_json())["witness"]["note"] == verdict.witness.note
    rng = np.random.default_rng(99)
    event = event_of(verdict.witness.ranges)
    p, q = (event.holds(np.asarray(naive(x, 4000, rng), float)).mean() for x in (0.0, 1.0))
    assert abs(math.log((p + 1e-3) / (q + 1e-3))) > 2  # the event replays
    other = by_either_test(naive, 1.0, 4000, recorded, as_reals=True)(claim)
    assert other.verdict == "not refuted"
    assert "Mironov" not in str(other)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("claim", [ea.renyi({2: 1.0}), ea.gdp(2), ea.approximate(1, 0.05)])
def test_all_notions_look_at_low_bits(claim):
    assert audited(laplace, claim, 2000, as_reals=False, stop=True).verdict == "violated"
    assert audited(laplace, claim, 2000).verdict != "violated"


# --- structure that wide noise hides --------------------------------------------------------------


def grid(x: int, size: int, rng: Rng) -> Any:
    return 2**61 + x + 15 * np.round(rng.laplace(0, 1e5, size)).astype(np.int64)


def decimals(x: int, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 2))
    z[:, 1] = (31.37, 31.52)[x] + np.round(rng.laplace(0, 1e4, size))
    return z


def waves(x: int, size: int, rng: Rng) -> Any:
    """Density 1 + .9 sin(2 pi 941 u), or 1 - .9 sin(2 pi 941 u), in units of pi."""
    u = rng.random(4 * size + 100)
    density = 1 + (1 - 2 * x) * 0.9 * np.sin(2 * math.pi * 941 * u)
    return math.pi * u[rng.random(u.size) * 1.9 < density][:size]


def on_a_line(x: int, size: int, rng: Rng) -> Any:
    u = rng.normal(0, 1e6, size)
    return np.column_stack([rng.normal(0, 1, size), u, 3 - 2 * u + rng.laplace(x, 0.2, size)])


def far_from_zero(x: int, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 4))
    z[:, 3] = (0.9, -0.9)[x] * z[:, 2] + math.sqrt(0.19) * z[:, 3]
    return z + np.array([0, 0, 1, 1]) * (1.7e9 + 345678.9)


HIDDEN = {grid: 4000, decimals: 4000, waves: 100_000, on_a_line: 1000, far_from_zero: 1000}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("mechanism", HIDDEN)
@pytest.mark.parametrize("claim", [CLAIM, ea.approximate(1.0, 1e-3)])
@pytest.mark.parametrize("seed", FIVE)
def test_what_wide_noise_hides_is_detected(mechanism, claim, seed):
    verdict = audited(mechanism, claim, HIDDEN[mechanism], seed, as_reals=True, stop=True)
    assert verdict.verdict == "violated"


# --- leaks that no single column shows ------------------------------------------------------------


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("recorded", [False, True])
def test_steps_of_running_sums_are_found(recorded):
    """Eight sums of Laplace noise: their last alone has .9 for its bound, all steps 2.0."""

    def sums(x: float, size: int, rng: Rng) -> Any:
        return np.cumsum(x + rng.laplace(0, 1, (size, 8)), axis=1)

    audit = by_either_test(sums, 0.25, 30_000, recorded, as_reals=True)
    verdict = audit(ea.pure(1.05))
    assert verdict.verdict == "violated"
    assert '"steps": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]' in json.dumps(verdict.to_plain())
    assert audit(ea.pure(2.0)).verdict == "not refuted"


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize(
    ("name", "draws"),
    [
        ("a word and a number, beside 6 columns", 2000),
        ("two fields missing together, beside 6", 1500),
        ("a place on a board of 6 x 6, beside 6", 3000),
        ("two equal entries of 10", 1500),
        ("the parity of a sum of 9", 1500),
        pytest.param("the place of the largest of 12", 1500, marks=pytest.mark.examples),
        pytest.param("the number of distinct entries", 1500, marks=pytest.mark.examples),
        pytest.param("one of 500 larger by 6", 500, marks=pytest.mark.examples),
        pytest.param("an edge of a graph of 20 nodes", 600, marks=pytest.mark.examples),
        pytest.param("a name in a shuffled list of 30", 1500, marks=pytest.mark.examples),
    ],
)
def test_an_audit_finds_what_a_simple_tester_finds(name, draws, monkeypatch):
    """The bounds of few draws vary: half of the simple tester's will do, which knows the leak."""
    monkeypatch.setitem(seen.LEAKS, name, replace(seen.LEAKS[name], draws=draws))
    bound, simple, refuted = seen.audited(name, 0)
    assert refuted
    assert bound > 0.5 * simple


@pytest.mark.slow(seconds=2)
def test_without_a_leak_nothing_is_found(monkeypatch):
    """Of three audits at alpha = .05, two or more refute with probability .007."""
    name = "a place on a board of 6 x 6, beside 6"
    monkeypatch.setitem(seen.LEAKS, name, replace(seen.LEAKS[name], draws=3000))
    assert sum(seen.audited(name, seed, honest=True)[2] for seed in range(3)) < 2


# --- what a verdict says of looks -----------------------------------------------------------------


@pytest.mark.slow(seconds=1)
def test_pairs_of_more_than_a_thousand_entries_are_not_all_looked_at(monkeypatch):
    """Here of more than 10."""
    assert outcomes.PAIRED == scores.PAIRED == 1024
    for module in (outcomes, scores):
        monkeypatch.setattr(module, "PAIRED", 10)
    verdict = audited(lambda x, size, rng: rng.normal(0, 1, (size, 12)), CLAIM, 320)
    assert (verdict.verdict, verdict.detectable) == ("undecided", None)
    assert "of 12 entries the first 10 are looked at together" in verdict.reasons[0]


def test_a_verdict_says_what_was_looked_at():
    def vectors(x: float, size: int, rng: Rng) -> Any:
        return rng.laplace(x, 1, (size, 3))

    verdict = ea.audit(vectors, [(0, 1)], ea.pure(4.0), samples=320, as_reals=True)
    assert "all pairs of 3 in 16 x 16 cells, sums" in verdict.looked_at
    assert "not: finer laws of two, other functions of three or more" in str(verdict)
    assert "in one column" in str(verdict)
    assert looked_at(learn_layout([1.0, 2.0])).endswith("not: other functions of digits or bits")
