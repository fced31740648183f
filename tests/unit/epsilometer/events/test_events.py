"""Events hold the outputs of their ranges, whatever their view, in JSON and in words."""

import math
import sys

import numpy as np
import pytest

from epsilometer.events.events import (
    NOT_FINITE,
    PART,
    ZERO,
    Event,
    Table,
    View,
    codes_of,
    lowest_bits,
)
from epsilometer.events.vectors import CORRELATION
from epsilometer_audit.outputs.outcomes import learn_layout
from tests.unit.audits import again

NAN, INF = math.nan, math.inf


def event(*ranges, missing=False, **view):
    return Event(ranges, missing, View(**view))


FIRST = Table((0,), ((0.0,),), (-1.0, 2.0, 5.0))
OF_BOTH = Table((0, 1), ((0.0,), (1.0, 2.0)), ((1.0, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)))
SUMMED = {"kind": "score", "tables": (FIRST, OF_BOTH)}
HALVES = event((0.5, None), kind="entry"), event((None, 1.0), kind="entry", entry=1)


def holds_only(event, inside, outside):
    """Tell whether an event, also one read from JSON, holds these outputs and not those."""
    outputs = np.array([*inside, *outside])
    expected = [True] * len(inside) + [False] * len(outside)
    return again(event).holds(outputs).tolist() == expected and event.count(outputs) == len(inside)


@pytest.mark.parametrize(
    ("event", "inside", "outside"),
    [
        (event((None, -1.0), (0.5, 2.0)), [-5, -1, 0.5, 2, -INF], [np.nextafter(-1, 0), 2.1, NAN]),
        (event((None, None)), [-INF, 0.0, INF], [NAN]),
        (event((-INF, -INF), (1.0, INF)), [-INF, 2.0, INF], [0.0]),
        (event(*((i + 0.5, i + 1.0) for i in range(30)), missing=True),
         [0.5, 1.0, 29.7, NAN], [0.4, 1.2, INF]),
        (event(missing=True), [NAN], [1.0]),
        (event(missing=True), [], [1, 2]),
        (event((4.0, None), kind="entry", entry=1), [[0.0, 9.0]], [[5.0, 1.0]]),
        (event((1, 1), kind="bit", entry=2), [0b0101], [0b0010]),
        (event((1, 1), kind="row", rows=((1, 1), (7, 7))), [[1, 1]], [[0, 1], [1, 0]]),
        (event((1, 1), kind="all", parts=HALVES), [[1.0, 1.0]], [[1.0, 2.0], [-1.0, 0.0]]),
        (event((1, 1), kind="parity", parts=(*HALVES, event((None, None), kind="entry"))),
         [[1.0, 1.0], [-1.0, 2.0]], [[1.0, 2.0], [-1.0, 0.0]]),
        (event((0.25, 0.5), kind="remainder"), [3.25, -0.5], [3.75]),
        (event((0, 0), kind="remainder"), [-1e-20], []),  # whose remainder rounds to 1
        (event((3.0, 8.0), **SUMMED), [[-1, NAN], [0, 0.5], [0, 1]], [[-1, 2], [0, 2], [NAN, 0]]),
        (event((3.0, 8.0), **SUMMED, steps=(2.0,)), [[0, 0], [1, 3]], [[1, 4], [INF, INF]]),
    ],
)  # fmt: skip
def test_an_event_holds_the_outputs_of_its_closed_ranges(event, inside, outside):
    assert holds_only(event, inside, outside)


@pytest.mark.parametrize(
    ("event", "inside", "outside", "words"),
    [
        (event((None, sys.float_info.max)), [1.0], [INF], "output < inf"),
        (event((-5e-324, -5e-324), (0.0, 0.0)), [0.0, -5e-324], [1.0],
         "output = -0.0 or output = 0.0"),
        (event((None, 3), (7, 20), (50, None), kind="remainder", modulus=60), [-1, 63, 8], [30],
         "0 <= output modulo 60 <= 3 or 7 <= output modulo 60 <= 20 or 50 <= output modulo 60 <= 59"
         ),
        (event((None, 0), kind="remainder", modulus=2), [-2, 4], [-1], "output modulo 2 = 0"),
        (event((0.25, 0.5), missing=True, kind="remainder", entry=1, modulus=0.75),
         [[0, 1.0], [0, INF]], [[0.3, 0]],
         "0.25 <= entry 1 modulo 0.75 <= 0.5 or entry 1 modulo 0.75 is NaN"),
        (event((None, None), kind="remainder", modulus=0.75), [1.0], [NAN],
         "any output modulo 0.75"),
        (event((3, None), kind="remainder", modulus=5, inner=View("difference", other=1)),
         [[3, 4]], [[5, 3]], "3 <= (entry 0 - entry 1) modulo 5 <= 4"),
        (event((1.5, None), kind="difference", entry=1, other=0, factor=-2.0), [[1.0, 0.0]],
         [[2.0, -3.0]], "entry 1 + 2 * entry 0 >= 1.5"),
        (event((1, 1), kind="bit", entry=1, inner=View("entry", 1)), [[0, 2]], [[2, 5]],
         "bit 1 of entry 1 = 1"),
        (event((-1074, -3), (ZERO, None), kind="low bit"), [0.125, 5e-324, 0.0, INF], [0.25, 1.0],
         "lowest bit of output is 2^-3 or below or output = 0 or output is not finite"),
        (event((-5, -5), (-3, -1), (NOT_FINITE, NOT_FINITE), kind="low bit"),
         [2**-5, 0.125, 0.5, NAN], [1.0, 0.0],
         "lowest bit of output is 2^-5 or lowest bit of output is 2^-3 to 2^-1 or output is not"
         " finite"),
        (event((None, -5), (-2, ZERO), kind="low bit", entry=1), [[0.3, 0.25], [0, -2e300]],
         [[0, 0.125]], "lowest bit of entry 1 is 2^-5 or below or entry 1 is a multiple of 2^-2"),
        (event((1, None), kind="equal", other=1), [[2.0, 2.0]], [[2.0, 3.0]], "entry 0 = entry 1"),
        (event((None, 0), kind="equal", other=1), [[2.0, 3.0]], [[2.0, 2.0]], "entry 0 != entry 1"),
        (event((1, 1), kind="parity", parts=HALVES), [[1.0, 2.0]], [[1.0, 0.0]],
         "an odd number of: entry 0 >= 0.5; entry 1 <= 1.0"),
        (event((None, 0), kind="parity", parts=HALVES), [[1.0, 0.0]], [[1.0, 2.0]],
         "an even number of: entry 0 >= 0.5; entry 1 <= 1.0"),
        (event((0.5, None), kind="summary", summary=CORRELATION, groups=((0, 2), (1, 3))),
         [[1.0, 1.0, 2.0, 2.0]], [[1.0, 2.0, 2.0, 1.0]],
         f"{CORRELATION} of the columns of entry 0 and of entry 1 >= 0.5"),
        (event((9.0, None), kind="summary", summary="sum", groups=((1, 2),)), [[0, 4.0, 5.0]],
         [[9.0, 0, 1]], "sum of 2 entries from entry 1 on >= 9.0"),
        (event((9.0, None), **SUMMED), [[0, 2.0]], [[-1, 0.0]], "score of 2 entries >= 9.0"),
    ],
)  # fmt: skip
def test_events_agree_with_their_text(event, inside, outside, words):
    assert holds_only(event, inside, outside)
    fractions = np.full_like(inside, 1 / 3 if event.view.kind == "low bit" else 0)
    layout = learn_layout(fractions)
    for i, name in enumerate(layout.places):
        words = words.replace(f"entry {i}", name)
    assert layout.text(event) == words


def test_a_view_names_the_number_of_an_output():
    assert View("equal", 0, other=2).text("xyz") == "whether x equals z"
    assert View("low bit", 1).text("xyz") == "the lowest bit of y"
    assert View("score", tables=(FIRST,)).text(["word"]) == "score of 1 bits"


def test_whole_numbers_beyond_2_to_the_53_stay_apart():
    assert holds_only(Event(((2**60 + 1, 2**60 + 1),)), [2**60 + 1], [2**60, 2**60 + 2])
    limits = np.iinfo(np.int64)
    assert holds_only(Event(((None, None),)), [limits.min, 0, limits.max], [])
    beyond = Event(((2**40, None),))  # the outputs' type
    assert not beyond.holds(np.array([5], np.int32)).any()


def test_an_event_in_json_has_no_fields_at_their_defaults_but_the_entry_that_it_reads():
    of_bit = event((None, 1.5), (2.0, INF), missing=True, kind="bit", inner=View("entry", 3))
    plain = {"ranges": [[None, 1.5], [2.0, "inf"]], "missing": True, "view": "bit", "entry": 0}
    assert of_bit.to_plain() == plain | {"inner": {"view": "entry", "entry": 3}}
    of_sum = event(kind="remainder", modulus=7, inner=View("difference", other=1, factor=-1))
    inner = {"view": "difference", "entry": 0, "other": 1, "factor": -1}
    plain = {"ranges": [], "view": "remainder", "modulus": 7, "inner": inner}
    assert of_sum.to_plain() == plain


@pytest.mark.parametrize("starts", [3, 200])
def test_many_outputs_are_scored_like_few(starts):
    sample = np.random.default_rng(0).choice([-1.0, 0.0, 0.5, 1.0, 2.0, NAN], (6000, 2))
    table = Table((0,), (tuple(np.linspace(-1, 3, starts)),), tuple(range(starts + 2)))
    view = View("score", tables=(table, OF_BOTH))
    few = [view.of(part) for part in np.split(sample, 6)]
    assert (view.of(sample) == np.concatenate(few)).all()


@pytest.mark.parametrize("size", [9, 100])
def test_a_score_of_bits_of_words_is_that_of_vectors_of_bits(size):
    """Of 9 words, and of more than there are of 5 bits."""
    single = Table((1,), ((1,),), (-1.0, 2.0))
    double = Table((0, 4), ((1,), (1,)), ((0.0, 0.5), (3.0, 7.0)))
    view = View("score", tables=(single, double))
    words = np.random.default_rng(0).integers(-40, 40, size)
    assert (view.of(words) == view.of(words[:, None] >> np.arange(6) & 1)).all()


def lowest_bit_of(x):
    if math.isfinite(x) and x not in (0, -5e-324):  # this stands for -0.0
        top, bottom = x.as_integer_ratio()
        return (top & -top).bit_length() - bottom.bit_length()
    return ZERO if math.isfinite(x) else NOT_FINITE


@pytest.mark.parametrize("size", [400, PART + 1])
def test_lowest_bits_are_those_of_fractions_and_numbers_of_0_and_of_what_is_not_finite(size):
    rng = np.random.default_rng(0)
    patterns = rng.integers(-(2**63), 2**63 - 1, 300) & -(1 << rng.integers(0, 53, 300))
    ends = [0.0, -0.0, -5e-324, 5e-324, 2.0**-1022, 2.0**1023, INF, -INF, NAN]
    numbers = [*patterns.view(np.float64).tolist(), *ends]
    assert (ZERO, NOT_FINITE) == (1024, 1025)  # in saved events, too
    found = lowest_bits(np.resize(numbers, size))
    assert found.tolist() == np.resize([*map(lowest_bit_of, numbers)], size).tolist()


WIDE = np.random.default_rng(0).integers(-(2**31), 2**31, (500, 20)).astype(np.int32)
OVERFLOW = np.vstack([np.tile(np.arange(1024), (7, 1)).T, [0, *[5] * 6], [16, *[5] * 6]])


@pytest.mark.parametrize(
    "outputs",
    [
        np.random.default_rng(1).integers(0, 4, (200, 3)),
        np.concatenate([WIDE, WIDE]),
        OVERFLOW,  # 16 x 1024^6 is 2^64
        np.array([[0, 0], [2**30, 0], [0, 1], [0, 2], [0, 3]], np.int32),  # 2^30 x 4 is 2^32
        np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1]]),  # two are equal but for the last
        np.array([-(2**62), 0, -(2**62)]),
        np.array([2.5, NAN, 0.5, NAN, 2.5]),
    ],
)
def test_outputs_are_equal_where_their_numbers_from_0_are(outputs):
    keys = [str(output) for output in outputs.tolist()]
    codes = codes_of(outputs).tolist()
    assert sorted({*codes}) == list(range(len({*keys})))
    assert len({*zip(keys, codes, strict=True)}) == len({*keys})
