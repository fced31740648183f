"""Looks of an audit beyond values: low bits, grids, fine structure, scores, parts, joint laws."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.events import scores
from epsilometer.events.cells import Numbers
from epsilometer.events.choosing import best
from epsilometer.events.events import (
    NOT_FINITE,
    PART,
    ZERO,
    Event,
    Table,
    View,
    lowest_bits,
)
from epsilometer.events.fine_cells import low_bit_views, remainder_views
from epsilometer.events.looks import Look, PastDraws
from epsilometer.events.scores import learned_score, summaries
from epsilometer.events.vectors import CORRELATION, Formula, summary
from epsilometer_audit.outputs import outcomes
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.statistics.witnesses import looked_at
from tests.benchmarks import seen
from tests.sharing import FIVE
from tests.unit.audits import again, audited, event_of

Rng = np.random.Generator


def laplace(x: float, size: int, rng: Rng) -> Any:
    return x + rng.laplace(0, 1, size)


# --- the lowest bit -------------------------------------------------------------------------------


def lowest_bit_of(x: float) -> int:
    if math.isfinite(x) and x not in (0, -5e-324):  # this stands for -0.0
        top, bottom = x.as_integer_ratio()
        return (top & -top).bit_length() - bottom.bit_length()
    return 1024 if math.isfinite(x) else 1025


@pytest.mark.parametrize("size", [400, PART, PART + 1])
def test_lowest_bits_are_those_of_fractions_and_numbers_of_0_and_of_what_is_not_finite(size):
    rng = np.random.default_rng(0)
    patterns = rng.integers(-(2**63), 2**63 - 1, 300) & -(1 << rng.integers(0, 53, 300))
    ends = [0.0, -0.0, -5e-324, 5e-324, 2.0**-1022, 2.0**1023, math.inf, -math.inf, math.nan]
    numbers = [*patterns.view(np.float64).tolist(), *ends]
    found = lowest_bits(np.resize(numbers, size))
    assert found.tolist() == np.resize([*map(lowest_bit_of, numbers)], size).tolist()


def test_cells_of_low_bits_count_what_their_events_hold():
    rng = np.random.default_rng(1)
    x, y = laplace(0.3, 3000, rng), laplace(0.6, 3000, rng)
    x[:50], y[:60] = math.nan, math.inf
    (look,) = (Numbers(v.of(x), v.of(y), 64, v) for v in low_bit_views(Numbers(x, y, 16, View())))
    for side, counts in zip((x, y), look.folds, strict=True):
        assert (np.bincount(look.coded(side), None, look.size) == counts.sum(axis=0)).all()
    for cells in (np.arange(0, look.size, 2), np.array([look.size - 1]), np.arange(look.size)):
        assert (again(look.event(cells)).holds(x) == np.isin(look.coded(x), cells)).all()


# --- audits of reals ------------------------------------------------------------------------------


def by_either_test(
    mechanism: Callable[..., Any], x: float, claim: Any, draws: int, recorded: bool, **options: Any
) -> ea.Verdict:
    """Audit a mechanism on 0 and x by the sequential test, or its recorded outputs by the exact."""
    if not recorded:
        return ea.audit(mechanism, [(0.0, x)], claim, samples=draws, **options)
    rng = np.random.default_rng(0)
    return ea.audit_outputs(
        (mechanism(0.0, draws, rng), mechanism(x, draws, rng)), claim, **options
    )


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    "noise",
    [
        lambda rng, n: rng.normal(0, 2, n),
        lambda rng, n: np.log(rng.random(n) / rng.random(n)),
        lambda rng, n: rng.laplace(0, 1, n).astype(np.float32),
    ],
)
def test_low_bits_of_naive_noise_reveal_the_input(noise, recorded):
    def naive(x: float, size: int, rng: Rng) -> Any:
        return x + noise(rng, size)

    verdict = by_either_test(naive, 1.0, ea.pure(2.0), 4000, recorded)
    assert verdict.verdict == "violated"
    witness = verdict.witness
    assert witness is not None
    assert "lowest bit of output" in witness.event or "multiple of" in witness.event
    assert "Mironov 2012" in str(verdict)
    assert json.loads(verdict.to_json())["witness"]["note"] == witness.note
    event = event_of(witness.ranges)
    rng = np.random.default_rng(99)
    p, q = (event.holds(np.asarray(naive(x, 4000, rng), float)).mean() for x in (0.0, 1.0))
    assert math.log((max(p, q) + 1e-3) / (min(p, q) + 1e-3)) > 2  # the event replays
    other = by_either_test(naive, 1.0, ea.pure(2.0), 4000, recorded, as_reals=True)
    assert other.verdict == "not refuted"
    assert "Mironov" not in str(other)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("claim", [ea.renyi({2: 1.0}), ea.gdp(2), ea.approximate(1, 0.05)])
def test_all_notions_look_at_low_bits(claim):
    assert audited(laplace, claim, 2000, as_reals=False, stop=True).verdict == "violated"
    assert audited(laplace, claim, 2000).verdict != "violated"


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x, size, rng: 100 + x + rng.laplace(0, 1, size),
        lambda x, size, rng: np.round(laplace(x, size, rng) * 1024) / 1024,
        lambda x, size, rng: np.round(laplace(x, size, rng), 2),
        lambda x, size, rng: np.clip(np.round(laplace(x, size, rng) * 64) / 64, 0, 1),
        lambda x, size, rng: (x + rng.geometric(0.7, size) - rng.geometric(0.7, size)) / 8,
    ],
    ids=["far from 0", "on a grid", "in cents", "clamped", "eighths"],
)
def test_low_bits_without_information_refute_nothing(mechanism):
    verdict = ea.audit(mechanism, [(0, 1)], ea.pure(1.25), alpha=0.001, samples=4000)
    assert verdict.verdict == "not refuted"


# --- scores that were learned ---------------------------------------------------------------------


def correlated(x: float, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 2))
    z[:, 1] = x * z[:, 0] + math.sqrt(1 - x * x) * z[:, 1]
    return np.round(z * 2**20) / 2**20


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("recorded", [False, True])
def test_steps_of_running_sums_are_found(recorded):
    """Eight sums of Laplace noise: their last alone has .9 for its bound, all steps 2.0."""

    def sums(x: float, size: int, rng: Rng) -> Any:
        return np.cumsum(x + rng.laplace(0, 1, (size, 8)), axis=1)

    verdict, true = (
        by_either_test(sums, 0.25, ea.pure(level), 30_000, recorded, as_reals=True)
        for level in (1.05, 2.0)
    )
    assert (verdict.verdict, true.verdict) == ("violated", "not refuted")
    assert '"steps": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]' in json.dumps(verdict.to_plain())


def learned(x: Any, y: Any, entries: Any) -> Any:
    """Return the cells of a score."""
    score = PastDraws(x, y, learn_layout(x)).score("", partial(learned_score, entries=entries))
    return None if score is None else score.cells(64)[0]


def test_a_score_is_learned_to_the_byte_and_its_event_replays():
    rng = np.random.default_rng(8)
    x, y = correlated(0.7, 3000, rng), correlated(0.0, 3000, rng)
    first, second = (learned(x, y, (0, 1)) for _ in range(2))
    assert first.view == second.view
    candidate: Any = best([first], 3000)[0]
    event = again(candidate.make_event())
    assert learn_layout(x).text(event).startswith("score of 2 entries ")
    both = np.concatenate([x, y])
    codes, inside = first.coded(both), event.holds(both)
    assert np.intersect1d(codes[inside], codes[~inside]).size == 0


def test_of_draws_that_do_not_differ_no_score_tells_the_sides_apart():
    rng = np.random.default_rng(8)
    both = np.concatenate([correlated(x, 3000, rng) for x in (0.7, 0.0)])[rng.permutation(6000)]
    past = PastDraws(both[:3000], both[3000:], learn_layout(both))
    score: Any = past.score("", partial(learned_score, entries=(0, 1)))
    ours, theirs = score.sides()
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * np.std([ours, theirs]) / 38


def test_a_formula_is_evaluated_and_restored():
    formula = Formula((0, 2), (1.0, 0.0), (2.0, 1.0), (((0,), 1.0), ((0, 1), 0.5), ((1, 1), -1.0)))
    rows = np.array([[3.0, 9.0, 2.0], [1.0, 9.0, math.nan], [1e300, 9.0, -math.inf]])
    assert formula.of(rows).tolist() == [1 + 1 - 4, 0.0, 8 - 32 - 64]
    again(Event(((0.0, None),), view=View("learned", formula=formula)))


def test_extreme_numbers_are_learned_from_without_a_word():
    rng = np.random.default_rng(9)
    x = rng.standard_cauchy((3000, 3)) * 1e300
    x[::7, 0], x[::5, 1], x[:, 2] = math.nan, math.inf, np.sign(x[:, 2])
    y = x[rng.permutation(3000)]
    whole = (x > 0).astype(np.int64)
    for sides in ((x, y), (whole, whole[::-1])):
        look = learned(*sides, (0, 1, 2))
        assert look is None or np.isfinite(look.view.of(sides[0])).all()


# --- outputs with structure -----------------------------------------------------------------------


def coin(x: int, random: Random) -> bool:
    return random.random() < (0.8 if x else 0.2)


def fails(x: int, random: Random) -> Any:
    if coin(x, random):
        raise KeyError("k")
    return random.randrange(3)


def inner(x: int, random: Random) -> Any:
    return {"m": {"counts": [random.randrange(4), int(coin(x, random))]}, "n": 0.5}


@pytest.mark.parametrize(
    ("mechanism", "witnesses"),
    [
        (fails, "output is a number|output is not a number|output is failure KeyError|output <= 1"),
        (inner, "key 'm'.key 'counts'.entry 1 <= 0|key 'm'.key 'counts'.entry 1 >= 1"),
    ],
)
def test_parts_of_outputs_are_named(mechanism, witnesses):
    verdict = audited(mechanism, ea.pure(0.5), 1000, failures=True, as_reals=False)
    assert verdict.verdict == "violated"
    assert verdict.witness is not None
    assert verdict.witness.event in witnesses.split("|")


# --- structure that wide noise hides --------------------------------------------------------------

CLAIM = ea.pure(1.0)


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


def line(x: int, size: int, rng: Rng) -> Any:
    u = rng.normal(0, 1e6, size)
    return np.column_stack([rng.normal(0, 1, size), u, 3 - 2 * u + rng.laplace(x, 0.2, size)])


def far_from_zero(x: int, size: int, rng: Rng) -> Any:
    z = rng.normal(0, 1, (size, 4))
    z[:, 3] = (0.9, -0.9)[x] * z[:, 2] + math.sqrt(0.19) * z[:, 3]
    return z + np.array([0, 0, 1, 1]) * (1.7e9 + 345678.9)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("mechanism", "draws"),
    [(grid, 4000), (decimals, 4000), (waves, 100_000), (line, 1000), (far_from_zero, 1000)],
)
@pytest.mark.parametrize("claim", [CLAIM, ea.approximate(1.0, 1e-3)])
@pytest.mark.parametrize("seed", FIVE)
def test_what_wide_noise_hides_is_detected(mechanism, draws, claim, seed):
    verdict = audited(mechanism, claim, draws, seed, as_reals=True, stop=True)
    assert verdict.verdict == "violated"


@pytest.mark.slow(seconds=1)
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


# --- views ----------------------------------------------------------------------------------------

PARITY = View(
    "parity",
    parts=(Event(((0.5, None),), view=View("entry")), Event(((None, 1.0),), view=View("entry", 1))),
)


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
        (Event(((ZERO, None),), view=View("low bit")), [0.0, -math.inf, 0.25], [1, 1, 0],
         "output = 0 or output is not finite"),
        (Event(((-2, None),), view=View("low bit")), [0.25, 0.0, math.inf, 0.125], [1, 1, 1, 0],
         "output is a multiple of 2^-2 or output is not finite"),
        (Event(((None, -5), (-3, -3)), view=View("low bit")), [2**-6, 0.125, 0.25], [1, 1, 0],
         "lowest bit of output is 2^-5 or below or lowest bit of output is 2^-3"),
        (Event(((None, 3), (7, 20)), view=View("remainder", modulus=60)), [63, 8, 30], [1, 1, 0],
         "0 <= output modulo 60 <= 3 or 7 <= output modulo 60 <= 20"),
        (Event(((None, None),), view=View("remainder", modulus=0.75)), [1.0, math.nan], [1, 0],
         "any output modulo 0.75"),
        (Event(((None, sys.float_info.max),)), [1.0, math.inf], [1, 0], "output < inf"),
        (Event(((0.5, sys.float_info.max),)), [1.0, math.inf], [1, 0],
         "0.5 <= output <= 1.7976931348623157e+308"),
        (Event(((-5e-324, -5e-324), (0.0, 0.0))), [0.0, -5e-324, 1.0], [1, 1, 0],
         "output = -0.0 or output = 0.0"),
        (Event(((1, None),), view=View("equal", 0, other=1)), [[2.0, 2.0], [2.0, 3.0]], [1, 0],
         "entry 0 = entry 1"),
        (Event(((1, 1),), view=PARITY), [[1.0, 2.0], [1.0, 0.0]], [1, 0],
         "an odd number of: entry 0 >= 0.5; entry 1 <= 1.0"),
        (Event(((None, 0),), view=PARITY), [[1.0, 2.0], [1.0, 0.0]], [0, 1],
         "an even number of: entry 0 >= 0.5; entry 1 <= 1.0"),
        (Event(((0.5, None),), view=View("summary", summary=CORRELATION, groups=((0, 2), (1, 3)))),
         [[1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 2.0, 1.0]], [1, 0],
         f"{CORRELATION} of the columns of entry 0 and of entry 1 >= 0.5"),
    ],
)  # fmt: skip
def test_events_agree_with_their_text(event, outputs, inside, words):
    table = np.array(outputs)
    assert again(event).holds(table).tolist() == [bool(held) for held in inside]
    layout = learn_layout(np.full(table.shape, 1 / 3 if event.view.kind == "low bit" else 0.0))
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
        for view in remainder_views(Numbers(*sides, 64, View()), 64, as_reals=False):
            assert Numbers(*map(view.of, sides), 64, view).size > 0


# --- leaks that no single column shows ------------------------------------------------------------


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


ROWS = np.array([[3.0, 1.0, 3.0, 2.0], [math.nan, 5.0, -1.0, math.nan], [math.nan] * 4])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("sum", [9.0, 4.0]),
        ("sum over the root of the number", [4.5, 4 / math.sqrt(2)]),
        ("largest", [3.0, 5.0]),
        ("smallest", [1.0, -1.0]),
        ("place of the largest", [0.0, 0.0]),
        ("place of the smallest", [1.0, 1.0]),
        ("number of different values", [3.0, 2.0]),
        ("number of rises", [1.0, 0.0]),
        ("check sum of digits", [15.0, 0.0]),
        ("spread", [math.sqrt(0.6875), 3.0]),
        ("product of neighbours", [0.75 * -1.25 * 2 - 0.75 * 0.25, -9.0]),
    ],
)
def test_a_summary_is_a_number_of_the_entries_that_are_there(name, numbers):
    view = View("summary", summary=name, groups=((0, 1, 2, 3),))
    assert view.of(ROWS) == pytest.approx([*numbers, math.nan], nan_ok=True)
    event = again(Event(((numbers[0], numbers[0]),), view=view))
    assert event.holds(ROWS).tolist() == [True, numbers[0] == numbers[1], False]
    text = learn_layout(ROWS[:1]).text(event)
    assert text == f"{name} of 4 entries from entry 0 on = {numbers[0]!r}"


@pytest.mark.parametrize("name", ["sum", "spread", "product of neighbours"])
def test_a_summary_is_the_same_number_however_many_outputs_there_are(name):
    table = np.random.default_rng(0).normal(size=(50, 30))
    alone = np.concatenate([summary(name, [range(30)], row) for row in table[:, None]])
    assert summary(name, [range(30)], table).tolist() == alone.tolist()
    assert summary(name, [[0]], table) == pytest.approx(table[:, 0] * (name == "sum"))


def test_a_correlation_is_that_of_two_groups_of_entries():
    table = np.random.default_rng(0).normal(size=(5, 8))
    found = summary(CORRELATION, ((0, 2, 4, 6), (1, 3, 5, 7)), table)
    assert found == pytest.approx([np.corrcoef(row[::2], row[1::2])[0, 1] for row in table])


@pytest.mark.parametrize(
    ("outputs", "groups"),
    [
        (np.zeros((3, 2, 2)), [[(0, 1), (2, 3)]]),
        (np.zeros((3, 2)), []),  # a pair
        ([[1.5], [2.5, 1.0], [0.5, 2.0, 1.0]], [[(1,), (2,), (3,)]]),  # after the length
        ([(1, "a"), (2, "b")], []),  # one number only
        ([{"a": [1, 2, 5], "b": 3}, {"a": [2, 4, 3], "b": 1}], [[(0,), (1,), (2,)]]),
    ],
)
def test_the_numbers_of_one_sequence_are_a_group(outputs, groups):
    assert learn_layout(outputs, outputs).groups == groups


def test_a_table_adds_the_number_of_its_cell():
    table = Table((0, 2), ((0.0,), (1.0, 2.0)), ((1.0, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)))
    rows = np.array([[-1.0, 9, 0.5], [0.0, 9, 1.0], [5.0, 9, math.nan], [math.nan, 9, 2.0]])
    assert table.of(rows.T).tolist() == [1, 6, 8, 11]


def test_extreme_numbers_have_summaries_without_a_word():
    x = np.random.default_rng(2).standard_cauchy((300, 4)) * 1e300
    x[::7, 0], x[::5, 1], x[3] = math.nan, math.inf, math.nan
    past = PastDraws(x, x[::-1], learn_layout(x))
    assert all(Look(view, past).cells(16)[0].size for view in summaries(past.sides, past.layout))


def test_a_verdict_says_what_was_looked_at():
    def vectors(x: float, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(x, 1, (size, 3))

    verdict = ea.audit(vectors, [(0, 1)], ea.pure(4.0), samples=320, as_reals=True)
    assert "all pairs of 3 in 16 x 16 cells, sums" in verdict.looked_at
    assert "not: finer laws of two, other functions of three or more" in str(verdict)
    assert "in one column" in str(verdict)
    assert looked_at(learn_layout([1.0, 2.0])).endswith("not: other functions of digits or bits")
