"""Outputs of any kind become numbers that tell them apart, and events of these become words.

Equal numbers are equal outputs, whatever their types. So the same outputs pass through every source
in every type, some with an odd one on one side. Equal outputs must have equal columns, and others
different ones: then two containers of one law have one law.
"""

import datetime
import enum
import json
import math
import pickle
import random
import sys
from collections import OrderedDict, namedtuple
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Number
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer.events.events import Event, Table, View
from epsilometer_audit.outputs import words as words_of_texts
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.reals import as_numbers, number_of
from epsilometer_audit.outputs.recorded import read
from epsilometer_audit.outputs.shapes import Coded, joined, recorded_pair
from epsilometer_audit.outputs.words import DEPTH
from epsilometer_audit.outputs.worker import WorkerSource, python_worker
from epsilometer_audit.serving.outputs import Failure
from tests.unit.columns import (
    DRAWS,
    assert_same_where_keys_are,
    assert_told,
    drawn,
    rows_of,
)

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Answer:
    value: float
    note: str | None = None


Color = enum.Enum("Color", "RED BLUE")


class Tensor:
    """What other libraries have."""

    def __init__(self, *entries):
        self.entries = entries

    def __array__(self, dtype=None, copy=None):
        return np.array(self.entries, dtype)


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not on this device")


DAYS = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
NAN = math.nan
BEYOND_A_DOUBLE = np.longdouble(1) + np.longdouble(2) ** -60
TWO = "entry 0, entry 1"
REST = "output, output less its nearest real"

# outputs, their kind, the names of the columns, and the table
KINDS = {
    "reals": ([0.5, -1.25], "reals", "output", [0.5, -1.25]),
    "infinite": ([math.inf, -math.inf, NAN], "reals", "output", [math.inf, -math.inf, NAN]),
    "integers": ([3, -1, 2**62], "integers", "output", [3, -1, 2**62]),
    "of several types": (
        [1, 1.0, True, np.int64(1), np.float32(1), Decimal(1), Fraction(1), 0, -0.0, False],
        "reals",
        "output",
        [1.0] * 7 + [0.0, -5e-324, 0.0],
    ),
    "words": (["b", "a", "c", "c"], "words", "word", [2, 1, 0, 0]),
    "bytes": ([b"a", "a"], "words", "word", [1, 0]),
    "enum": ([Color.RED, Color.BLUE], "words", "word", [1, 0]),
    "days": (DAYS, "integers", "output", DAYS.astype("M8[ns]").astype(int)),
    "one day": ([datetime.date(2020, 1, 1)], "words", "word", [0]),
    "mixed": (
        [1.5, None, "a", Failure("E"), NAN, None],
        "mixed: numbers, None, words and failures",
        "output, word",
        [[1.5, 0], [NAN, 1], [NAN, 2], [NAN, 3], [NAN, 0], [NAN, 1]],
    ),
    "arrays": (
        [np.eye(2), np.zeros((2, 2))],
        "arrays of 2 x 2 reals",
        "entry 0.entry 0, entry 0.entry 1, entry 1.entry 0, entry 1.entry 1",
        [[1.0, 0.0, 0.0, 1.0], [0.0] * 4],
    ),
    "tensors": ([Tensor(1, 2)], "vectors of 2 integers", TWO, [[1, 2]]),
    "tuples": (
        [(1, "a"), (2, "b")],
        "tuples of length 2",
        "entry 0, word of entry 1",
        [[1, 0], [2, 1]],
    ),
    "lists": (
        [[1], [], [1, 2]],
        "sequences of varying length",
        "length, entry 0, entry 1, entry -2, entry -1",
        [[1, 1, NAN, NAN, 1], [0, NAN, NAN, NAN, NAN], [2, 1, 2, 1, 2]],
    ),
    "empty": ([(), []], "tuples of length 0", "type", [0, 0]),
    "mappings": (
        [{"a": 1, "b": 2}, OrderedDict(a=3)],
        "mappings",
        "key 'b' present, length, key 'a', key 'b'",
        [[1, 2, 1, 2], [0, 1, 3, NAN]],
    ),
    "sets": (
        [{"x", "y"}, frozenset("x"), set()],
        "sets",
        "'x' present, 'y' present, length",
        [[1, 1, 2], [1, 0, 1], [0, 0, 0]],
    ),
    "sets of numbers": ([{1}, {2}], "sets", "1 present, 2 present", [[1, 0], [0, 1]]),
    "named tuples": (
        [Point(1, "a"), Point(2, None)],
        "mappings",
        "word of type, key 'x', word of key 'y'",
        [[0, 1, 0], [0, 2, 1]],
    ),
    "dataclasses": (
        [Answer(0.5), Answer(1.5)],
        "mappings",
        "word of type, word of key 'note', key 'value'",
        None,
    ),
    "types": (
        [(1,), 5, {"a": 1}],
        "mixed: numbers, mappings and sequences",
        "type, output, key 'a', entry 0",
        [[2, NAN, NAN, 1], [0, 5, NAN, NAN], [1, NAN, 1, NAN]],
    ),
    "beyond int64": ([2**70, 2**70 + 1], "integers", REST, [[2.0**70, 0], [2.0**70, 1]]),
    "beyond 2^53": (
        [2**53 + 1, 0.5, -(2**63), 2**63 - 1],
        "reals",
        REST,
        [[2.0**53, 1], [0.5, 0], [-(2.0**63), 0], [2.0**63, -1]],
    ),
    "long doubles": (np.array([0.5, BEYOND_A_DOUBLE]), "reals", REST, [[0.5, 0], [1, 2.0**-60]]),
    "fractions": (
        [Fraction(1, 2), Fraction(1, 3)],
        "reals",
        REST,
        [[0.5, 0], [1 / 3, float(Fraction(1, 3) - Fraction(1 / 3))]],
    ),
    "decimals": (
        [Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e-99999"), Decimal("-1e999")],
        "reals",
        "output",
        [0.5, NAN, NAN, 0.0, -math.inf],
    ),
    "ranges": ([range(10**15), range(2)], "words", "word", [0, 1]),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_columns(name):
    outputs, kind, names, table = KINDS[name]
    layout = learn_layout(outputs)
    encoded = layout.encode(outputs)
    assert layout.kind == kind
    assert names is None or ", ".join(column.name for column in layout.columns) == names
    if table is not None:
        np.testing.assert_array_equal(encoded, table)
    assert encoded.dtype == (np.int64 if layout.whole else np.float64)
    assert encoded.shape == ((len(outputs), len(layout.columns))[: 1 + (len(layout.columns) > 1)])
    # batches and one, lists and arrays: the same
    assert learn_layout(outputs[:1], outputs[1:], outputs[:0]).columns == layout.columns
    listed = list(outputs)
    np.testing.assert_array_equal(layout.encode(listed), encoded)
    again = pickle.loads(pickle.dumps(layout))  # noqa: S301
    np.testing.assert_array_equal(again.encode(listed), encoded)


def test_outputs_of_another_kind_are_another_word_or_no_number():
    least = np.iinfo(np.int64).min
    whole = learn_layout([1, 2, 3])
    odd = [7.0, 2.5, NAN, None, "a", (1,), math.inf, 2**70, -(2**70), Fraction(2), Fraction(1, 3)]
    most = np.iinfo(np.int64).max
    codes = [7, least, least, least, least, least, most, most, least, 2, least]
    assert whole.encode(odd).tolist() == codes
    assert whole.encode(np.array([7.0, 2.5])).tolist() == [7, least]
    exact = [2**53 + 1, 0.5, 2**63 - 1, 5 - 2**63]  # neighbours that are reals round nothing
    assert whole.encode(exact).tolist() == [2**53 + 1, least, 2**63 - 1, 5 - 2**63]
    assert whole.encode([0.5, 2.0**40, 2.0**63]).tolist() == [least, 2**40, most]
    assert whole.encode([Fraction(10**20 + 1, 10**20), 5]).tolist() == [least, 5]
    np.testing.assert_array_equal(
        learn_layout([0.5]).encode([1, None, "a", {}]), [1, NAN, NAN, NAN]
    )
    assert learn_layout(["a", "b"]).encode(["b", "c", None, 5]).tolist() == [1, 2, 2, 2]
    vectors = learn_layout(np.zeros((2, 2)))
    np.testing.assert_array_equal(vectors.encode(np.ones((1, 3))), [[1, 1]])
    np.testing.assert_array_equal(vectors.encode([[1], 5]), [[1, NAN], [NAN, NAN]])


def test_a_signalling_nan_is_a_number_that_is_missing_and_no_warning():
    signalling = np.array([0x7FF0000000000001], np.int64).view(np.float64)
    numbers = np.concatenate([signalling, [1.5, -0.0, 0.0] * 4])
    for outputs in (numbers, list(numbers)):
        assert learn_layout(outputs, outputs).encode(outputs).shape == (13,)


def test_large_arrays_of_numbers_are_not_copied(monkeypatch):
    assert learn_layout(np.zeros((5, 3))).encode(np.zeros((5, 3))).T.flags.c_contiguous
    monkeypatch.setattr("epsilometer_audit.outputs.outcomes._SMALL", 0)
    for outputs in (np.zeros(5), np.arange(5), np.zeros((5, 3)), np.zeros((5, 2, 2))):
        assert np.shares_memory(learn_layout(outputs).encode(outputs), outputs)
    assert learn_layout(np.arange(3), np.array([0.5])).encode(np.arange(3)).dtype == np.float64


def test_dictionaries_of_numbers_are_columns_in_the_order_of_their_keys():
    calls = [joined([[{"b": x, "a": -x, "c": 2 * x}] * 4]) for x in (1.5, 2.5)]
    together = joined(calls)
    assert str(together.tolist()[3:5]) == str([*calls[0].tolist()[3:], calls[1].tolist()[0]])
    assert learn_layout(together).encode(calls[1])[0].tolist() == [-2.5, 2.5, 5.0]


def test_members_of_sequences_do_not_depend_on_what_other_draws_of_a_call_are():
    one, other = (((k, 0), (0, 0)) for k in (0, 1))
    calls = [[(one, other)] * 3, [(one,) * 9, (other,) * 9], [(one,) * 9, (other,)]]
    layout, by_call = learn_layout([*chain(*calls)]), joined([joined([call]) for call in calls])
    assert "((0, 0), (0, 0)) present" in str(layout)
    np.testing.assert_array_equal(layout.encode([*chain(*calls)]), layout.encode(by_call))


@pytest.mark.parametrize(
    ("output", "groups"),
    [
        ([0.5, 1.5, 2.5], [[(0,), (1,), (2,)]]),
        ([0.5, 1.5], []),  # two only
        ([[1, 2], [3, 4]], [[(0, 1), (2, 3)]]),
        ([[1, 2, 3]], []),  # one row only
        ({"a": [1, 2, 3], "b": 4, "c": [[5, 6], [7, 8]]}, [[(0,), (1,), (2,)], [(4, 5), (6, 7)]]),
        ([1, 2, "a"], []),
    ],
)
def test_three_numbers_of_a_sequence_or_more_are_a_group(output, groups):
    assert learn_layout([output] * 3).groups == groups


@pytest.mark.parametrize("output", [(1, "a", (2.5, None)), {"a": 1, "b": ({"c": "d"},)}])
def test_columns_of_a_call_are_listed_as_they_were(output):
    values = joined([[output] * 3])
    assert values.tolist() == [output] * 3
    assert type(values.tolist()[0]) is type(output)
    assert values[1:].tolist() == values[np.array([0, 2])].tolist() == [output] * 2


@pytest.mark.parametrize("depth", range(1, DEPTH + 2))
def test_outputs_of_a_call_are_read_to_the_greatest_depth(depth):
    def nested(number):
        for _ in range(depth):
            number = ("a", number)
        return number

    layout = learn_layout(joined([[nested(i) for i in range(3)]]))
    assert layout == learn_layout([nested(i) for i in range(3)])
    assert bool(layout.left_out) == (depth > DEPTH)
    assert [column.kind for column in layout.columns].count("number") == (depth <= DEPTH)


@pytest.mark.parametrize(
    ("part", "text", "value"),
    [
        ("pattern", "it is 12.50 of 007 or 1e-5", "it is #.## of 00# or #e"),
        ("numbers", "it is 12.50 of 007", (12.5, 7)),
        ("first number", "1 of 2 of 3", 1),
        ("last number", "1 of 2 of 3", 3),
        ("digits times 1 and 3", "1-23", 3 + 3 * 2 + 1),
        ("digits times their places", "12X", 10 + 2 * 2 + 3 * 1),
        ("digits times their places", "x12", 2 + 2 * 1),
        ("check sum of digits", "5-78", 8 + (1 + 4) + 5),
        ("digits modulo 96,030", "96031", 1),
    ],
)
def test_parts_of_words(part, text, value):
    assert words_of_texts._PARTS[part](text) == value


def test_letters_at_both_ends_tell_words_of_up_to_sixteen_apart():
    """Words that differ in one letter, wherever it is; of longer ones the middle is left out."""
    for size in (5, 16, 17):
        word = "abcdefghijklmnopq"[:size]
        words = [
            word[:i] + letter + word[i + 1 :]
            for i in range(size)
            for letter in "rstuvwxyzRSTUVWXYZ"
        ]
        steps, determined = words_of_texts.features(words, words)
        letters = [words_of_texts.feature(s, words, words) for s in steps if s[0] == "character"]
        assert determined == (size <= 16)
        different = set(zip(*(parts for _, parts in letters), strict=True))
        assert len(different) == len(words) - 17 * (size > 16)


def test_parts_of_texts_are_the_same_beside_missing_ones():
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (200, 6))
    texts = [json.dumps({"id": "".join(row), "value": i}) for i, row in enumerate(letters)]
    columns = [column.path for column in learn_layout(texts).columns if column.path]
    beside = {column.path for column in learn_layout([*texts, None, b"a"]).columns}
    assert any(("text", "value") in path for path in columns)
    assert {*columns} <= beside


def test_rare_words_share_a_code():
    words = [f"word {i // 3}" for i in range(15_000)] + ["often"] * 4
    layout = learn_layout(words)
    place = [column.name for column in layout.columns].index("word")
    codes = layout.encode(words)[:, place]
    assert codes[-1] == 0
    assert codes.max() == 4096
    assert (codes == 4096).sum() == 3 * (5001 - 4096)
    # ties by text
    assert layout.columns[place].words[1:3] == ("word 0", "word 1")
    few = {column.name: column for column in learn_layout([*"aab", *map(str, range(100))]).columns}
    assert few["word"].words == ()  # none often enough


def test_no_more_than_256_columns_the_most_frequent():
    layout = learn_layout([{f"k{i}": i for i in range(j)} for j in range(400)])
    columns = [column.name for column in layout.columns]
    assert len(columns) == 256
    assert columns[:2] == ["key 'k0' present", "key 'k1' present"]
    assert "length" in columns
    assert "key 'k120'" in columns
    assert "key 'k130'" not in columns
    assert len(layout.left_out) == 2
    assert learn_layout([list("abc" * 100)]).columns[-1].name == "word of entry -1"
    # but a vector is a vector
    for vectors in (np.zeros((3, 300)), [[0.5] * 300] * 3, [np.zeros(300)] * 3):
        assert learn_layout(vectors).encode(vectors).shape == (3, 300)
        assert not learn_layout(vectors).left_out
        np.testing.assert_array_equal(
            learn_layout(vectors).encode([[1.0] * 300, None]), [[1.0] * 300, [NAN] * 300]
        )


ITSELF: list = []
ITSELF.append(ITSELF)


UNCLEAR = [  # outputs, the error
    *(([output, 1], "outputs") for output in (object(), Broken(), ITSELF, (i for i in range(3)))),
    *((one, "outputs must be many, got one") for one in ("a", 5, None, {"a": 1}, np.array(5))),
    *((none, "batches must hold outputs") for none in ([], np.zeros(0))),
]


@pytest.mark.parametrize(("outputs", "message"), UNCLEAR)
def test_outputs_without_meaning_are_refused(outputs, message):
    with pytest.raises(ArgumentError, match=message):
        learn_layout(outputs)


def test_the_order_of_outputs_does_not_matter():
    outputs = [{"a", "b"}, {"b"}, {"c", 1}, None, ("x", 2), 0.5, "w", "v"]
    for shift in range(len(outputs)):
        turned = outputs[shift:] + outputs[:shift]
        assert learn_layout(turned[:3], turned[3:]).columns == learn_layout(outputs).columns


def test_any_batch():
    assert learn_layout(iter([1, 2])).encode((3, 4)).tolist() == [3, 4]
    assert learn_layout(Tensor(1, 2)).encode(range(3)).tolist() == [0, 1, 2]
    assert learn_layout([0.5]).encode([]).shape == (0,)


numbers = st.one_of(
    st.booleans(),
    st.integers(-5, 5),
    st.integers(-(2**90), 2**90),
    st.floats(),
    st.floats(-2, 2, width=16).map(np.float32),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.fractions(-3, 3, max_denominator=9),
)
leaves = st.one_of(
    numbers,
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.sampled_from([Failure("ValueError"), Failure("KeyError"), Color.RED, "ValueError"]),
)
keys = st.one_of(st.text("ab", max_size=2), st.integers(0, 2))
values = st.recursive(
    leaves,
    lambda inside: st.one_of(
        st.lists(inside, max_size=2),
        st.tuples(inside, inside),
        st.dictionaries(keys, inside, max_size=2),
        st.sets(keys, max_size=2),
        st.builds(Point, inside, inside),
    ),
    max_leaves=6,
)


def plain(value):
    """Return a key: equal for equal values, different for others."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Number):
        minus = value == 0 and math.copysign(1, value) < 0
        return "number", Fraction(value) if math.isfinite(value) and not minus else str(
            float(value)
        )
    if isinstance(value, (list, tuple)):
        return "point" if isinstance(value, Point) else "sequence", *map(plain, value)
    if isinstance(value, dict):
        return "mapping", *((k, plain(v)) for k, v in value.items())
    if isinstance(value, set):
        return "set", frozenset(value)
    return type(value).__name__, repr(value)


@given(st.lists(st.lists(values, min_size=1, max_size=6), min_size=1, max_size=2))
@settings(max_examples=80)
def test_rows_are_equal_where_outputs_are(batches):
    layout = learn_layout(*batches)
    assume(len(layout.columns) < 64)
    outputs = [value for batch in batches for value in batch]
    rows = np.concatenate([layout.encode(batch).reshape(len(batch), -1) for batch in batches])
    assert_same_where_keys_are(map(plain, outputs), rows)


@given(st.lists(values, min_size=1, max_size=6), st.lists(values, min_size=1, max_size=6))
@example([[], [""]], [[False], [""]])  # members beside entries of another form
@settings(max_examples=60)
def test_an_output_is_the_same_whatever_it_comes_with(learned, fresh):
    layout = learn_layout(learned)
    np.testing.assert_array_equal(
        layout.encode(fresh), [layout.encode([output])[0] for output in fresh]
    )


# Words of events


def event(*ranges, missing=False, **view):
    return Event(ranges, missing, View(**view))


def entry(i, *ranges, missing=False):
    return event(*ranges, missing=missing, kind="entry", entry=i)


NUMBERS, MIXED = [0.5, 1.5], [0.5, None, "a", 1.5]
SOME = ["a", "b", "a", None, Failure("E"), "c"]
PARTS = [{"a": 1, "b": [1, 2]}, {"a": 3.5, "c": "w"}, {"a": 2, "b": [1]}]
PLACES = {column.name: i for i, column in enumerate(learn_layout(PARTS).columns)}
BIT = tuple(Table((i,), ((1,),), (0.0, 1.0, 0.0)) for i in range(3))
ROWS = [(0, 1, i) for i in range(5)]
WORDS = [  # outputs, an event of them, its words
    (
        NUMBERS,
        event((None, -1.0), (0.5, 2.0), missing=True),
        "output <= -1.0 or 0.5 <= output <= 2.0 or output is NaN",
    ),
    (NUMBERS, event(), "no output"),
    (NUMBERS, event((None, float(np.finfo(float).max))), "output < inf"),
    (
        NUMBERS,
        event(*((i, i) for i in range(0, 90, 2)), missing=True),
        "output = 0 or output = 2 or output = 4 or output is NaN or 42 more ranges",
    ),
    ([1, 5], event((1, 1), kind="bit", entry=3), "bit 3 of output = 1"),
    ([1, 5], event((None, 1.5), kind="score", tables=BIT), "score of 3 bits <= 1.5"),
    (SOME, event((2, 2), (4, None)), "output is not 'a', 'b' or None"),
    (SOME, event((None, None)), "any output"),
    (SOME, event((0.5, 0.7)), "no output"),
    (["a" * 500, "b\n" * 500], event((0, 0)), f"output is '{'a' * 24}...{'a' * 11}'"),
    (MIXED, entry(1, (0, 0)), "output is a number"),
    (MIXED, entry(1, (1, None)), "output is not a number"),
    (PARTS, entry(PLACES["key 'b' present"], (1, None)), "key 'b' is present"),
    (PARTS, entry(PLACES["length of key 'b'"], (None, 1.999)), "length of key 'b' <= 1"),
    (
        PARTS,
        entry(PLACES["key 'b'.entry 1"], missing=True),
        "key 'b'.entry 1 is missing or is not a number",
    ),
    (
        [{"a": 1}, {"b": 2}],
        entry(2, *((i, i) for i in range(0, 18, 2)), missing=True),
        "key 'a' = 0 or key 'a' = 2 or key 'a' = 4 or key 'a' is missing or is not a number "
        "or 6 more ranges",
    ),
    (
        MIXED,
        entry(0, *((i, i) for i in range(0, 18, 2)), missing=True),
        "output = 0 or output = 2 or output = 4 or output is not a number or 6 more ranges",
    ),
    (
        [(i, "abcde"[i]) for i in range(5)],
        event((1, 1), kind="row", rows=[(1, 9)]),
        "(entry 0, entry 1) is (1, not 'a', 'b', 'c' or 2 more)",
    ),
    (PARTS, entry(PLACES["word of key 'c'"], (1, 1)), "key 'c' is 'w'"),
    ([{"a", 5}, {"a"}, set()], entry(1, (0, 0)), "5 is missing"),
    ([(1, 2), None, 5, Point(1, 2)], entry(0, (1, 2)), "output is a mapping or a sequence"),
    (
        np.eye(3, dtype=int),
        event((1, 1), kind="row", rows=ROWS),
        "output is (0, 1, 0) or (0, 1, 1) or (0, 1, 2) or 2 more rows",
    ),
    (
        [(1, "a"), (2, "b")],
        event((1, 1), kind="row", rows=[(1, 0), (5, 2)]),
        "(entry 0, entry 1) is (1, 'a') or (5, not 'a' or 'b')",
    ),
    ([{"a"}, {"b"}], event((1, 1), kind="row", rows=[(1, 0)]), "('a', 'b') is (present, missing)"),
]


@pytest.mark.parametrize(("outputs", "event", "words"), WORDS)
def test_words_of_events(outputs, event, words):
    assert learn_layout(outputs).text(event) == words


ends = st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-3, 2**64))


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.tuples(ends, ends), max_size=9),
    st.booleans(),
    st.sampled_from(["output", "entry", "bit", "score", "row", "low bit"]),
    st.integers(0, 5),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1),
)
@settings(max_examples=150)
def test_words_fit_a_line(name, ranges, missing, kind, i, rows):
    layout = LAYOUTS[name]
    words = layout.text(
        Event(tuple(ranges), missing, View(kind, i % len(layout.columns), rows=rows))
    )
    assert 0 < len(words) <= 160
    assert "\n" not in words


def test_a_list_names_what_fits_a_line_to_its_last_character():
    for size, text in [(77, "a" * 77 + " or " + "b" * 79), (78, "a" * 78 + " or 1 more")]:
        assert words_of_texts.listed("", ["a" * size, "b" * 79]) == text


LAYOUTS = {name: learn_layout(outputs) for name, (outputs, *_) in KINDS.items()}


# Containers

ODD = {"nan": math.nan, "inf": math.inf, "half": 0.5, "none": None, "large": 2**70, "word": "n/a"}
CLAIM = ea.pure(1.0)


def two_sided(rng, size=None):
    return rng.geometric(0.5, size) - rng.geometric(0.5, size)


def with_odd(odd, seed=0):
    """Return noisy integers of two sides as lists, an odd value among the first."""
    values = two_sided(np.random.default_rng(seed), (2, DRAWS)).tolist()
    values[0][seed] = odd
    return values


def assert_told_by_value(values, sides):
    """Assert that outputs have the same columns where their values are equal, and only there."""
    each = chain.from_iterable(values)
    assert_told([repr(v if isinstance(v, str | None) else float(v)) for v in each], sides)


# --- files ----------------------------------------------------------------------------------------


def series(values):
    return pd.Series(values, dtype="Int64" if None in values and "n/a" not in values else None)


def to_csv(path, values):
    path.write_text("\n".join(["o", *("" if v is None else str(v) for v in values)]))


FILES = {
    "csv": to_csv,
    "parquet": lambda path, values: pd.DataFrame({"o": series(values)}).to_parquet(path),
    "npy": lambda path, values: np.save(path, np.asarray(values)),
}
HELD = {"csv": {*ODD}, "parquet": {*ODD} - {"large", "word"}, "npy": {"nan", "inf", "half"}}


def kept(kind, sides):
    """Return outputs that are written into files and read again."""
    paths = [Path(f"{i}.{kind}") for i in (0, 1)]
    for path, values in zip(paths, sides, strict=True):
        FILES[kind](path, values)
    return read(list(map(str, paths)))


@pytest.mark.parametrize(("kind", "odd"), [(k, odd) for k in FILES for odd in sorted(HELD[k])])
def test_an_odd_value_in_a_file_changes_no_other(kind, odd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = with_odd(ODD[odd])
    assert_told_by_value(values, recorded_pair(*kept(kind, values))[:2])


# --- outputs in memory ----------------------------------------------------------------------------

FORMS = {  # of the outputs of a call, or recorded in memory
    "list": list,
    "array": np.array,
    "object array": lambda values: np.array(values, object),
    "pandas": series,
    "Polars": lambda values: pl.Series(values, strict=False),
    "PyArrow": lambda values: pa.chunked_array([values]),
    "table": lambda values: pd.DataFrame({"a": np.array(values), "b": 1}),
    "vectors": lambda values: np.stack([np.array(values)] * 2, axis=1),
    "rounded": lambda values: np.rint(np.array(values) * 1.0) * -1.0,
}


def calls_of(source, values):
    """Return two calls of each side, an odd value in one of them."""
    half = DRAWS // 2
    calls = [[source.draw(side[i : i + half], half, 1) for i in (0, half)] for side in values]
    return list(map(joined, calls))


@pytest.mark.parametrize(
    ("form", "odd"),
    [(form, odd) for form in FORMS for odd in (math.nan, None)][:-1],  # no None is rounded
)
def test_the_type_of_a_column_or_a_call_is_no_outcome(form, odd):
    sides = values = with_odd(odd)
    if form in ("Polars", "PyArrow") and odd is not None:
        sides = [[float(v) for v in values[0]], values[1]]
    assert_told_by_value(values, recorded_pair(*map(FORMS[form], sides))[:2])
    assert_told_by_value(values, calls_of(callable_source(lambda x, size: FORMS[form](x)), sides))


def seconds(kind):
    return lambda values: (10**6 + values).astype(f"{kind[:2]}[s]").astype(kind)


def records(kinds):
    return lambda values: np.rec.fromarrays([values, values], dtype=kinds)


TYPES = {  # of whole numbers, on two sides
    "i4 i8": ("i4", "i8"),
    "u1 f8": ("u1", "f8"),
    "f2 i8": ("f2", "i8"),
    "g f8": ("g", "f8"),
    "O i8": ("O", "i8"),
    "dates": (seconds("M8[s]"), seconds("M8[ns]")),
    "fine dates": (seconds("M8[s]"), seconds("M8[ps]")),
    "durations": (seconds("m8[s]"), seconds("m8[100us]")),
    "complex": ("c16", "f8"),
    "narrow complex": ("c8", "i8"),
    "text": ("S4", "U4"),
    "records": (records("i4,f4"), records("f8,u8")),
    "texts in records": (records("f4,S3"), records("i8,U3")),
    "dates in records": (records("i8,M8[s]"), lambda v: records("i8,M8[s]")(v).astype("i8,M8[ms]")),
    "rows": (lambda v: np.array([v, v], "c16").T, lambda v: np.array([v, v]).T),
}


def typed_sides(name):
    values = np.random.default_rng(0).geometric(0.5, (2, DRAWS))
    kinds = zip(TYPES[name], values, strict=True)
    return values, [kind(side) if callable(kind) else side.astype(kind) for kind, side in kinds]


@pytest.mark.parametrize("name", TYPES)
def test_the_type_of_an_array_is_no_outcome(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    values, sides = typed_sides(name)
    source = callable_source(lambda x, size: sides[x])
    called = [source.draw(x, DRAWS, 1) for x in (0, 1)]
    for pair in (sides, called, *([] if "O" in name else [kept("npy", sides)])):
        assert_told_by_value(values.tolist(), recorded_pair(*pair)[:2])


WIDTHS = {"real": ("f4", "f8"), "complex": ("c8", "c16")}


@pytest.mark.parametrize("name", WIDTHS)
def test_reals_of_two_widths_are_compared_at_the_lesser(name):
    x, y = np.random.default_rng(0).laplace(size=(2, DRAWS))
    sides = [(x + 1j * y if name == "complex" else x).astype(kind) for kind in WIDTHS[name]]
    x, x_prime, note = recorded_pair(*sides)
    assert "are compared as" in note
    assert np.array_equal(*rows_of([x, x_prime]))


# --- draws of calls -------------------------------------------------------------------------------

WORKER = """
import json, sys
def draw(x, size):
    return x
def main():
    for line in sys.stdin:
        print("\\n".join(json.loads(line)["input"]), flush=True)
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def worker(tmp_path):
    """A program that prints the texts that are its input."""
    (tmp_path / "worker.py").write_text(WORKER)
    with closing(WorkerSource([sys.executable, "-S", "worker.py"], folder=tmp_path)) as source:
        yield source


def test_an_odd_answer_of_a_worker_changes_no_other(worker, tmp_path):
    with closing(python_worker(sys.executable, "worker.py:draw", folder=tmp_path)) as python:
        for odd in ("nan", "half", "word", "none"):
            values = with_odd(ODD[odd])
            printed = [list(map(json.dumps, side)) for side in values]
            assert_told_by_value(values, calls_of(worker, printed))
            assert_told_by_value(values, calls_of(python, values))


@pytest.mark.parametrize("one", [lambda v: v, lambda v: np.array([v, 1]), lambda v: (v, 1)])
def test_an_odd_draw_of_its_own_call_changes_no_other(one):
    values = with_odd(0.5)
    left = chain.from_iterable(values)
    source = callable_source(lambda x: one(next(left)))
    assert_told_by_value(values, calls_of(source, values))


def test_calls_are_joined_by_value():
    whole, reals = np.array([0, 1, 2**40]), np.array([math.nan, -0.0, 0.5])
    both = joined([whole, reals])
    assert both.dtype == np.float64
    assert learn_layout(whole, reals).columns == learn_layout(both).columns
    assert joined([whole + 2**60, reals])[2] == 2**60 + 2**40  # not rounded
    assert joined([np.array([True]), whole]).tolist() == [1, 0, 1, 2**40]
    assert joined([np.array([True]), whole]).dtype == np.int64


def test_words_of_several_calls_are_joined_by_value():
    batches = [["a", "b", None], ["c", "a"], [None, "c", "c"]]
    together = Coded.joined([Coded.of(batch) for batch in batches])
    assert together.tolist() == [word for batch in batches for word in batch]
    assert len(together.values) == 4


# --- digits ---------------------------------------------------------------------------------------


def layered(x, rng):
    """Return a number whose last digits show x."""
    return (int(two_sided(rng)) + x + 1000) * 2**80 + x


def thirty(x, rng):
    """Return 30 digits, the last of which shows x."""
    return f"{int(rng.integers(1, 10**9))}.{int(rng.integers(10)):020}{x}"


LEAKS = {
    "layers": layered,
    "layers, as decimals": lambda x, rng: Decimal(layered(x, rng)),
    "layers in a list": lambda x, size, rng: [layered(x, rng) for _ in range(size)],
    "layers in a key": lambda x, rng: {"a": layered(x, rng)},
    "digits in a text": thirty,
    "digits of a decimal": lambda x, rng: Decimal(thirty(x, rng)),
    "JSON in a text": lambda x, rng: f'{{"a": {thirty(x, rng)}}}',
}


SAME = ((1, 2), (1, 2))  # seeds: the outputs of two sides differ in their last digits


def assert_all_differ(sides):
    x, y = rows_of(sides)
    assert (x != y).any(axis=1).all()


@pytest.mark.parametrize("name", LEAKS)
def test_last_digits_are_looked_at(name):
    assert_all_differ(drawn(LEAKS[name], SAME))


def large(x, rng):
    return Decimal(10**30 + x + int(two_sided(rng)))


@pytest.mark.parametrize(("x", "verdict"), [(3, "violated"), (1, "not refuted")])
def test_large_numbers_vary_and_their_last_digits_are_a_violation(x, verdict):
    options = {"samples": 500, "seed": 1, "check_sampler": False}
    assert ea.audit(large, [(0, x)], CLAIM, **options).verdict == verdict


def test_what_no_real_holds_is_said():
    for value in (10**400, Decimal("1e-500")):
        note = "numbers of output are not told apart to the last digit"
        assert learn_layout([value, 2 * value]).left_out == (note,)
    verdict = ea.audit(lambda x: 10**400 + x, [(0, 1)], CLAIM, samples=100)
    assert (verdict.verdict, verdict.reasons) == ("undecided", [note])


WRITTEN = {
    "parity modulo 2^64": lambda rng, x: str(2 * int(rng.integers(2**63)) + x),
    "leading zeros": lambda rng, x: "0" * (rng.random() < 0.2 + 0.6 * x) + str(rng.integers(5, 50)),
    "thirty digits": lambda rng, x: f"0.{rng.integers(1, 5)}{x or 5:029}",
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", WRITTEN)
def test_last_digits_in_a_file_are_looked_at(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    sides = [[WRITTEN[name](rng, x) for _ in range(DRAWS)] for x in (0, 1)]
    assert_told(chain(*sides), kept(kind, sides))


def test_large_and_decimal_columns_of_two_types_are_equal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["0.10", "12.50", "3.00"] * 40
    columns = {
        "text": pa.array(texts),
        "dictionary": pa.array(texts).dictionary_encode(),
        "decimal": pa.array(map(Decimal, texts)).cast(pa.decimal128(20, 2)),
        "finer": pa.array(map(Decimal, texts)).cast(pa.decimal128(30, 12)),
        "real": pa.array(map(float, texts)),
    }
    parquet.write_table(pa.table(columns), "o.parquet")
    for name in columns:
        x, x_prime = read(["o.parquet"], columns=[name, "text" if name != "text" else "real"])
        assert np.array_equal(x, x_prime), name
        assert x.dtype == x_prime.dtype == np.float64
    moments = pa.array([0, 86_400_500], pa.timestamp("ms"))
    times = {unit: moments.cast(pa.timestamp(unit)) for unit in ("ms", "ns")}
    parquet.write_table(pa.table(times), "t.parquet")
    x, x_prime = read(["t.parquet"])
    assert x == x_prime


@pytest.mark.parametrize("form", ["{}.{:030}", "[{}, 3.{:033}5, 1]"])
def test_last_digits_of_a_worker_are_looked_at(form, worker):
    left = np.random.default_rng(0).integers(1, 5, DRAWS).tolist()
    assert_all_differ(calls_of(worker, [[form.format(i, x) for i in left] for x in (0, 1)]))


# --- numbers as text, and columns that stay -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" -7", -7),
        ("0.5", 0.5),
        ("0.10", 0.1),
        ("1e3", 1000.0),
        ("NaN", math.nan),
        ("-Infinity", -math.inf),
        ("0.10000000000000000000001", Decimal("0.10000000000000000000001")),
        ("1" + "0" * 3998, 10**3998),
        ("1" + "0" * 3999, Decimal(10) ** 3999),
        ("1" + "0" * 4500, Decimal(10) ** 4500),  # of which Python makes no integer
        ("1e400", Decimal("1e400")),
        ("1e99999999999999999999", math.inf),  # which no decimal holds
    ],
)
def test_a_text_spells_a_number_to_its_last_digit(text, number):
    found = number_of(text)
    assert type(found) is type(number)
    assert found == number or (math.isnan(number) and math.isnan(found))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("number", [5, 2**53, 2**53 + 1, 2**60 + 1, 2**63 - 1])
def test_a_whole_number_is_its_nearest_real_and_a_remainder(number, sign):
    numbers = as_numbers(np.array([sign * number, 0]))
    remainders = np.zeros(2) if numbers.remainders is None else numbers.remainders
    whole = [
        int(Fraction(a) + Fraction(b)) for a, b in zip(numbers.floats, remainders, strict=True)
    ]
    assert whole == [sign * number, 0] == numbers.whole.tolist()


@pytest.mark.parametrize(
    ("kind", "values"),
    [("u8", [2**64 - 1, 0]), ("g", [0.5, np.longdouble(1) + np.longdouble(2) ** -60])],
)
def test_numbers_of_types_beyond_int64_and_double_are_split(kind, values):
    numbers = as_numbers(np.array(values, kind))
    corrections = np.zeros(2) if numbers.corrections is None else numbers.corrections
    found = [Fraction(a) + Fraction(b) for a, b in zip(numbers.nearest, corrections, strict=True)]
    assert found == [Fraction(*value.as_integer_ratio()) for value in values]


@pytest.mark.parametrize(
    ("number", "exact"),
    [
        (2**70 + 1, True),
        (Decimal("1e-300"), True),
        (Decimal("1e-500"), False),
        (Decimal(0), True),
        (Decimal("Infinity"), True),
        (Decimal("NaN"), True),
        (Decimal("1e999"), False),
        (10**400, False),
    ],
)
def test_numbers_that_no_two_reals_hold_are_not_exact(number, exact):
    assert as_numbers([number, 0.5]).exact == exact


def next_decimals(choices, places):
    number = choices.randrange(10**places)
    return Decimal(f"{number}e-{places}"), Decimal(f"{number + 1}e-{places}")


def next_fractions(choices, low, high):
    """Fractions a / d and b / c that differ by 1 / (c d), the least that two of these may."""
    d = choices.randrange(int(low), int(high))
    a = choices.randrange(1, d)
    while math.gcd(a, d) > 1:
        a = choices.randrange(1, d)
    c = pow(a, -1, d)
    return Fraction(a, d), Fraction((a * c - 1) // d, c)


@pytest.mark.parametrize(
    ("pairs", "told", "beyond"),
    [
        (next_decimals, (32,), (33,)),
        (next_fractions, (2**53, 2**53.5), (2**53.5, 2**54)),
    ],
)
def test_numbers_are_exact_where_a_real_and_a_remainder_tell_them_apart(pairs, told, beyond):
    """Both together are within 2^-108 of a number below 1, so numbers 2^-107 apart differ."""
    choices = random.Random(0)
    alike = 0
    for _ in range(600):
        assert as_numbers(list(pairs(choices, *told))).exact
        one, other = pairs(choices, *beyond)
        both = as_numbers([one, other])
        if (
            both.corrections is not None
            and not np.ptp(both.nearest)
            and not np.ptp(both.corrections)
        ):
            assert not both.exact
            alike += 1
    assert alike > 3


def test_of_many_columns_lengths_and_types_stay_however_rare():
    records = [{f"k{i}": i for i in range(254)} for _ in range(50)]
    for i in range(4):
        records[i]["l"] = [0.5] * i if i else "none"
    names = [column.name for column in learn_layout(records).columns]
    assert len(names) == 256
    assert "length of key 'l'" in names
    assert "type of key 'l'" in names


def test_an_event_in_json_names_its_column_where_there_are_several():
    one, two = learn_layout([1, 2]), learn_layout([(1, "a"), (2, "b")])
    assert "columns" not in one.plain(Event(((1, 1),)))
    assert two.plain(Event(((1, 1),), view=View("entry", 1)))["columns"] == [two.columns[1].name]
