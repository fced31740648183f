"""Structure that wide noise hides: grids, fine structure, and pairs of entries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.events.candidates import Numbers
from epsilometer_audit.events.events import NOT_FINITE, ZERO, Event, View
from epsilometer_audit.outcomes import outcomes
from epsilometer_audit.outcomes.outcomes import learn as layout_of
from epsilometer_audit.statistics import scores
from epsilometer_audit.statistics.fine_cells import remainder_cells
from epsilometer_audit.statistics.scores import differences
from tests.seeds import FIVE
from tests.unit.audits import audited
from tests.unit.written_events import again

Rng = np.random.Generator
Mechanism = Callable[[int, int, Rng], Any]
CLAIM = ea.pure(1.0)

with_five_seeds = pytest.mark.parametrize("seed", FIVE)


# --- grids ----------------------------------------------------------------------------------------


def grid(factor: int, scale: float) -> Mechanism:
    def mechanism(x: int, size: int, rng: Rng) -> Any:
        return x + factor * np.round(rng.laplace(0, scale, size)).astype(np.int64)

    return mechanism


def in_one_entry(x: int, size: int, rng: Rng) -> Any:
    z = np.round(rng.normal(0, 1, (size, 4)), 2)
    z[:, 3] = grid(15, 1e5)(x, size, rng)
    return z


def decimals(x: int, size: int, rng: Rng) -> Any:
    return (31.37, 31.52)[x] + np.round(rng.laplace(0, 1e4, size))


def fifth_decimal(x: int, size: int, rng: Rng) -> Any:
    return np.round(rng.laplace(0, 1e3, size), 3) + x * 1e-5


GRIDS: dict[str, tuple[Mechanism, bool]] = {
    **{
        f"{factor} in noise of {scale:g}": (grid(factor, scale), False)
        for factor, scale in [(2, 1e3), (2, 1e6), (2, 1e15), (15, 1e4), (60, 1e4), (1000, 1e3)]
    },
    "as reals": (lambda x, size, rng: grid(60, 1e5)(x, size, rng).astype(float), False),
    "beyond reals": (lambda x, size, rng: 2**61 + grid(2, 1e6)(x, size, rng), False),
    "in one entry": (in_one_entry, False),
    "decimals": (decimals, False),
    "decimals of reals": (decimals, True),
    "fifth decimal": (fifth_decimal, False),
}


@pytest.mark.parametrize("name", GRIDS)
@with_five_seeds
def test_remainders_are_detected(name, seed):
    mechanism, as_reals = GRIDS[name]
    assert audited(mechanism, CLAIM, 4000, seed, as_reals=as_reals).verdict == "violated"


# --- fine structure -------------------------------------------------------------------------------


def waves(k: float, unit: float = 1.0) -> Mechanism:
    """Density 1 + .9 sin(2 pi k u), or 1 - .9 sin(2 pi k u), on [0, 1], in another unit."""

    def mechanism(x: int, size: int, rng: Rng) -> Any:
        u = rng.random(4 * size + 100)
        density = 1 + (1 - 2 * x) * 0.9 * np.sin(2 * math.pi * k * u)
        return unit * u[rng.random(u.size) * 1.9 < density][:size]

    return mechanism


@pytest.mark.parametrize(
    ("k", "unit", "claim"),
    [
        (30, 1.0, CLAIM),
        (317, 1.0, CLAIM),
        (941, math.pi, CLAIM),
        (1000, 1e6, CLAIM),
        (941, 1.0, ea.approximate(1.0, 1e-3)),
    ],
)
@with_five_seeds
def test_fine_structure_is_detected(k, unit, claim, seed):
    assert audited(waves(k, unit), claim, 100_000, seed).bound > 2


# --- pairs of entries -----------------------------------------------------------------------------


def two_of_fifty(x: int, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 50))
    r = (0.9, -0.9)[x]
    z[:, 31] = r * z[:, 7] + math.sqrt(1 - r * r) * z[:, 31]
    return z


def series(x: int, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 12))
    r = (0.9, -0.9)[x]
    for i in range(1, 12):
        z[:, i] = r * z[:, i - 1] + math.sqrt(1 - r * r) * z[:, i]
    return z


def twice(x: int, size: int, rng: Rng) -> Any:
    u = rng.normal(0, 1e6, size)
    return np.column_stack([rng.normal(0, 1, size), u, 3 - 2 * u + rng.laplace(x, 0.2, size)])


def far_from_zero(x: int, size: int, rng: Rng) -> Any:
    z = two_of_fifty(x, size, rng)[:, [0, 1, 7, 31]]
    return z + np.array([0, 0, 1, 1]) * (1.7e9 + 345678.9)


@pytest.mark.parametrize("mechanism", [series, twice, far_from_zero])
@with_five_seeds
def test_dependence_between_entries_is_detected(mechanism, seed):
    assert audited(mechanism, CLAIM, 1000, seed).verdict == "violated"


def test_entries_that_differ_together_are_among_those_of_a_score():
    rng = np.random.default_rng(4)
    sides = [
        np.column_stack([rng.normal(0, 1, (1000, 100)), two_of_fifty(x, 1000, rng)[:, [7, 31]]])
        for x in (0, 1)
    ]
    chosen = scores.suspects(*sides, range(102))
    assert len(chosen) == 64
    assert {100, 101} <= set(chosen)


def test_pairs_of_more_than_a_thousand_entries_are_not_all_looked_at(monkeypatch):
    """Here of more than 10."""
    assert outcomes.PAIRED == scores.PAIRED == 1024
    for module in (outcomes, scores):
        monkeypatch.setattr(module, "PAIRED", 10)

    def mechanism(x: int, size: int, rng: Rng) -> Any:
        return rng.normal(0, 1, (size, 12))

    verdict = audited(mechanism, CLAIM, 320)
    assert (verdict.verdict, verdict.detectable) == ("undecided", None)
    assert "of 12 entries the first 10 are looked at together" in verdict.reasons[0]


def test_few_differences_are_looked_at():
    rng = np.random.default_rng(3)
    x, y = (
        rng.normal(0, 1e6, (2000, 1)) + rng.normal(shift, 1, (2000, 30)) * range(30)
        for shift in (0, 1)
    )
    looks = list(differences(x, y, range(30), 64))
    assert 0 < len(looks) <= 8
    assert {look.view.kind for look in looks} == {"difference"}
    assert list(differences(x, x[::-1], range(30), 64)) == []


# --- views ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "outputs", "inside", "words"),
    [
        (Event(((None, 0),), view=View("remainder", modulus=2)), [-2, -1, 4], [1, 0, 1],
         "output modulo 2 = 0"),
        (Event(((7, None),), view=View("remainder", modulus=60)), [-1, 5, 2**62], [1, 0, 0],
         "7 <= output modulo 60 <= 59"),
        (Event(((0.25, 0.5),), True, View("remainder", 1, modulus=0.75)),
         [[0, 1.0], [0.3, 0], [0, math.inf]], [1, 0, 1],
         "0.25 <= entry 1 modulo 0.75 <= 0.5 or entry 1 modulo 0.75 is NaN"),
        (Event(((1.5, None),), view=View("difference", 1, other=0, factor=-2.0)),
         [[1.0, 0.0], [2.0, -3.0]], [1, 0], "entry 1 + 2 * entry 0 >= 1.5"),
        (Event(((-1074, -3),), view=View("low bit")), [0.125, 0.1, 5e-324, 0.25, math.inf],
         [1, 1, 1, 0, 0], "lowest bit of output is 2^-3 or below"),
        (Event(((-2, ZERO),), view=View("low bit", 1)), [[0.3, 0.25], [0, -2e300], [0, 0.125]],
         [1, 1, 0], "entry 1 is a multiple of 2^-2"),
        (Event(((-3, -1),), view=View("low bit")), [0.125, 0.5, 1.0], [1, 1, 0],
         "lowest bit of output is 2^-3 to 2^-1"),
        (Event(((ZERO, ZERO),), view=View("low bit")), [0.0, -0.0, 0.3], [1, 1, 0], "output = 0"),
        (Event(((NOT_FINITE, NOT_FINITE),), view=View("low bit")), [math.inf, math.nan, 0.0],
         [1, 1, 0], "output is not finite"),
    ],
)  # fmt: skip
def test_events_agree_with_their_text(event, outputs, inside, words):
    table = np.array(outputs)
    assert again(event).holds(table).tolist() == [bool(held) for held in inside]
    layout = layout_of(np.full(table.shape, 1 / 3 if event.view.kind == "low bit" else 0.0))
    at = "output[{}]" if "output[0]" in layout.columns[0].name else "entry {}"
    for i in (0, 1):
        words = words.replace(f"entry {i}", at.format(i))
    assert layout.text(event) == words


@pytest.mark.parametrize("numbers", [-(2**63), 2**62, 2**54, 3])
def test_extreme_numbers_raise_no_warning(numbers):
    rng = np.random.default_rng(2)
    x, y = (rng.integers(-(10**6), 10**6, 3000) for _ in range(2))
    x[::50] = numbers
    for sides in ((x, y), (x.astype(float), y.astype(float)), (x * 1e280, y / 3)):
        sides[0][::40] = 0 if sides[0].dtype == np.int64 else math.nan
        numbers = Numbers(*sides, 64, View())
        assert all(look.size > 0 for look in remainder_cells(numbers, 64, as_reals=False))
