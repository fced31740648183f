"""What is detectable: a promise about the draws and the claim, which no witness changes.

`python -m tests.benchmarks.detectable` asks it of 120 audits of each cell.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.statistics.power import EVENTS
from tests.benchmarks.detectable import CELLS, Cell, found
from tests.benchmarks.scripts import laplace

PAIR = [(0, 1)]


def name_of(cell: Cell) -> str:
    return f"{cell.claim.text()} {cell.outputs.__name__}"


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("cell", CELLS, ids=name_of)
def test_printed_levels_are_found(cell):
    """Of three audits, each of which finds one with probability .9, none does one in 1000 times."""
    assert any(found(cell, cell.printed, seed) for seed in range(3))


@pytest.mark.slow(seconds=8)
def test_half_of_the_excess_over_the_claim_is_not_found_each_time():
    """Printed levels are not far from the least that are found."""
    missed = 0
    for cell in CELLS:
        level = (cell.first.level + cell.printed) / 2
        missed += not found(cell, level, 3)
    assert missed >= 3


def hundredths(x: Any, size: int, rng: np.random.Generator) -> Any:
    return laplace(x, size, rng).round(2)


def two(x: Any, size: int, rng: np.random.Generator) -> Any:
    return np.stack([hundredths(x, size, rng), rng.integers(0, 99, size) / 100], axis=1)


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        (laplace, ea.pure(1.0)),
        (laplace, ea.profile({1: 1e-3})),
        (two, ea.pure(1.0)),
        (two, ea.renyi({2: 0.5})),
    ],
)
def test_what_is_detectable_is_the_same_for_every_seed(mechanism, claim):
    options = {"samples": 1000, "as_reals": True, "check_sampler": False}
    verdicts = [ea.audit(mechanism, PAIR, claim, seed=seed, **options) for seed in range(2)]
    tables = [json.loads(verdict.to_json())["detectable_by_event"] for verdict in verdicts]
    assert tables[0] == tables[1]
    of_one = tables[0]["one column"]
    assert [*map(float, of_one)] == list(EVENTS)
    levels = [*of_one.values()]
    assert levels == sorted(levels)
    assert len(tables[0]) == 1 + (mechanism is two and "Rényi" not in claim.text())
    assert verdicts[0].detectable == levels[EVENTS.index(0.1)]


@pytest.mark.parametrize(
    ("event", "detect", "word"),
    [(None, 1.5, "not refuted"), (0.1, 1.5, "not refuted"), (0.01, 1.5, "undecided")],
)
def test_a_level_to_be_detected_is_one_of_an_event(event, detect, word):
    options = {"samples": 4000, "as_reals": True, "check_sampler": False}
    for seed in range(2):
        options |= {"detect": detect, "event": event, "seed": seed}
        verdict = ea.audit(laplace, PAIR, ea.pure(1.0), **options)
        assert (verdict.verdict, verdict.event) == (word, event or 0.1)


def test_an_event_of_another_probability_has_a_row_of_its_own():
    x, y = np.random.default_rng(0).laplace([[0], [1]], 1.1, (2, 4000))
    verdict = ea.audit_outputs((x, y), ea.pure(1.0), event=0.03, as_reals=True)
    levels = verdict.detectable_by_event["one column"]
    assert [*levels] == [0.5, 0.1, 0.03, 0.01, 0.001]
    assert verdict.detectable == levels[0.03]
    assert f"{verdict.detectable:.3g} of 0.03" in str(verdict)


@pytest.mark.parametrize(
    ("event", "words"),
    [(0, "event must lie strictly between 0 and 1"), ("a", "event must be a finite number")],
)
def test_an_event_has_a_probability(event, words):
    with pytest.raises(ArgumentError, match=words):
        ea.audit(laplace, PAIR, ea.pure(1.0), event=event)


LOOKED = {
    "a number": (
        hundredths,
        "ranges, remainders, low bits; not: other functions of digits or bits",
    ),
    "a whole number": (
        lambda x, size, rng: rng.integers(0, 1 << 20, size),
        "parities of up to 20 bits and of three; not: other functions of digits or bits",
    ),
    "a word": (lambda x, size, rng: rng.choice(["a", "b"], size).tolist(), "sets of words"),
    "two reals": (two, "differences of two; not: finer laws of two, other"),
}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", LOOKED)
def test_a_verdict_that_refutes_nothing_says_what_was_looked_at(name):
    mechanism, words = LOOKED[name]
    options = {"samples": 1000, "check_sampler": False}
    verdict = ea.audit(mechanism, PAIR, ea.pure(3.0), **options)
    assert words in verdict.looked_at
    assert f"looked at   {verdict.looked_at}" in str(verdict)
    assert ("(in two columns in 16 x 16 cells" in str(verdict)) == (mechanism is two)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(("bits", "answer"), [(20, "violated"), (24, "not refuted")])
def test_a_parity_of_many_bits_is_found_or_said_not_to_be_looked_at(bits, answer):
    def parity(x: int, size: int, rng: np.random.Generator) -> Any:
        numbers = rng.integers(0, 1 << bits, size)
        odd = np.bitwise_count(numbers) % 2
        return numbers ^ ((rng.random(size) < 0.95) & (odd != x))

    verdict = ea.audit(parity, PAIR, ea.pure(1.0), samples=5000, check_sampler=False)
    assert verdict.verdict == answer
    assert "parities of up to 20 bits and of three; not: other functions" in verdict.looked_at
