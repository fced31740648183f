"""Outputs of any kind become numbers that tell them apart, and events of these become words."""

import datetime
import enum
import math
import pickle
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from epsilometer.errors import ArgumentError
from epsilometer_audit.events.events import Event, Table, View
from epsilometer_audit.outcomes.outcomes import learn
from epsilometer_audit.serving.outputs import Failure

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Answer:
    value: float
    note: str | None = None


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Tensor:
    """What other libraries have."""

    def __init__(self, *entries):
        self.entries = entries

    def __array__(self, dtype=None, copy=None):
        return np.array(self.entries, dtype)


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not on this device")


RECORDS = np.array([(1, 0.5), (2, 1.5)], [("a", int), ("b", float)])
DAYS = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
NAN = math.nan
ATOMS = "reals with repeated values"
TWO = "entry 0, entry 1"
TYPED = "output, word of type of number"
REST = "output, output less its nearest real"

# outputs, their kind, the names of the columns, and the table
KINDS = {
    "reals": ([0.5, -1.25], "reals", "output", [0.5, -1.25]),
    "float32": (np.array([0.5, 0.1], np.float32), "reals", "output", [0.5, float(np.float32(0.1))]),
    "atoms": ([0.0, 0.0, 0.5], ATOMS, "output", [0.0, 0.0, 0.5]),
    "infinite": ([math.inf, -math.inf, NAN], "reals", "output", [math.inf, -math.inf, NAN]),
    "integers": ([3, -1, 2**62], "integers", "output", [3, -1, 2**62]),
    "whole, of two types": ([1, 1.0, 2.0], ATOMS, TYPED, [[1, 1], [1, 0], [2, 0]]),
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
    "vectors": ([(1.5, 2.0), [0.5, 1.0]], "vectors of 2 reals", TWO, None),
    "arrays": (
        [np.eye(2), np.zeros((2, 2))],
        "arrays of 2 x 2 reals",
        "entry 0.entry 0, entry 0.entry 1, entry 1.entry 0, entry 1.entry 1",
        [[1.0, 0.0, 0.0, 1.0], [0.0] * 4],
    ),
    "tensors": ([Tensor(1, 2)], "vectors of 2 integers", TWO, [[1, 2]]),
    "tuples": (
        [(1, "a"), (2, "b")],
        "tuples of 2 entries",
        "entry 0, word of entry 1",
        [[1, 0], [2, 1]],
    ),
    "lists": (
        [[1], [], [1, 2]],
        "sequences of varying length",
        "length, entry 0, entry 1, entry -2, entry -1",
        [[1, 1, NAN, NAN, 1], [0, NAN, NAN, NAN, NAN], [2, 1, 2, 1, 2]],
    ),
    "empty": ([(), []], "tuples of 0 entries", "type", [0, 0]),
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
        [[0, 1, 1], [0, 2, 0]],
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
    "fractions": (
        [Fraction(1, 2), Fraction(1, 3)],
        "reals",
        REST,
        [[0.5, 0], [1 / 3, float(Fraction(1, 3) - Fraction(1 / 3))]],
    ),
    "decimals": (
        [Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e-99999"), Decimal("-1e999")],
        ATOMS,
        "output",
        [0.5, NAN, NAN, 0.0, -math.inf],
    ),
    "ranges": ([range(10**15), range(2)], "words", "word", [0, 1]),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_columns(name):
    outputs, kind, names, table = KINDS[name]
    layout = learn(outputs)
    encoded = layout.encode(outputs)
    assert layout.kind == kind
    assert names is None or ", ".join(column.name for column in layout.columns) == names
    if table is not None:
        np.testing.assert_array_equal(encoded, table)
    assert encoded.dtype == (np.int64 if layout.whole else np.float64)
    assert encoded.shape == ((len(outputs), len(layout.columns))[: 1 + (len(layout.columns) > 1)])
    # batches and one, lists and arrays: the same
    parts = learn(outputs[:1], outputs[1:], outputs[:0])
    assert parts.columns == layout.columns
    listed = list(outputs)
    np.testing.assert_array_equal(layout.encode(listed), encoded)
    again = pickle.loads(pickle.dumps(layout))  # noqa: S301
    np.testing.assert_array_equal(again.encode(listed), encoded)


def test_outputs_of_another_kind_are_another_word_or_no_number():
    least = np.iinfo(np.int64).min
    whole = learn([1, 2, 3])
    odd = [7.0, 2.5, NAN, None, "a", (1,), math.inf, 2**70, -(2**70), Fraction(2), Fraction(1, 3)]
    most = np.iinfo(np.int64).max
    codes = [7, least, least, least, least, least, most, most, least, 2, least]
    assert whole.encode(odd).tolist() == codes
    assert whole.encode(np.array([7.0, 2.5])).tolist() == [7, least]
    exact = [2**53 + 1, 0.5, 2**63 - 1, 5 - 2**63]  # neighbours that are reals round nothing
    assert whole.encode(exact).tolist() == [2**53 + 1, least, 2**63 - 1, 5 - 2**63]
    np.testing.assert_array_equal(learn([0.5]).encode([1, None, "a", {}]), [1, NAN, NAN, NAN])
    assert learn(["a", "b"]).encode(["b", "c", None, 5]).tolist() == [1, 2, 2, 2]
    vectors = learn(np.zeros((2, 2)))
    np.testing.assert_array_equal(vectors.encode(np.ones((1, 3))), [[1, 1]])
    np.testing.assert_array_equal(vectors.encode([[1], 5]), [[1, NAN], [NAN, NAN]])


def test_a_signalling_nan_is_a_number_that_is_missing_and_no_warning():
    signalling = np.array([0x7FF0000000000001], np.int64).view(np.float64)
    numbers = np.concatenate([signalling, [1.5, -0.0, 0.0] * 4])
    assert learn(numbers, numbers).encode(numbers).shape == (13,)
    assert learn(list(numbers), list(numbers)).encode(list(numbers)).shape == (13,)


def test_arrays_of_numbers_are_not_copied():
    for outputs in (np.zeros(5), np.arange(5), np.zeros((5, 3)), np.zeros((5, 2, 2))):
        layout = learn(outputs)
        assert np.shares_memory(layout.encode(outputs), outputs)
    assert learn(np.arange(3), np.array([0.5])).encode(np.arange(3)).dtype == np.float64
    outputs = np.broadcast_to(0.5, 10**12)  # 8 TB, if anybody looked
    assert learn(np.arange(5.0)).encode(outputs).shape == (10**12,)


def test_rare_words_share_a_code():
    words = [f"word {i // 3}" for i in range(15_000)] + ["often"] * 4
    layout = learn(words)
    place = [column.name for column in layout.columns].index("word")
    codes = layout.encode(words)[:, place]
    assert codes[-1] == 0
    assert codes.max() == 4096
    assert (codes == 4096).sum() == 3 * (5001 - 4096)
    # ties by text
    assert layout.columns[place].words[1:3] == ("word 0", "word 1")
    few = {column.name: column for column in learn([*"aab", *map(str, range(100))]).columns}
    assert few["word"].words == ()  # none often enough


def test_no_more_than_256_columns_the_most_frequent():
    outputs = [{f"k{i}": i for i in range(j)} for j in range(400)]
    layout = learn(outputs)
    columns = [column.name for column in layout.columns]
    assert len(columns) == 256
    assert columns[:2] == ["key 'k0' present", "key 'k1' present"]
    assert "length" in columns
    assert "key 'k120'" in columns
    assert "key 'k130'" not in columns
    assert len(layout.left_out) == 2
    long = learn([list("abc" * 100)])
    assert len(long.columns) == 256
    assert long.columns[-1].name == "word of entry -1"
    assert long.left_out == ("of 300 entries of output the first and last 128 are looked at",)
    # but a vector is a vector
    for vectors in (np.zeros((3, 300)), [[0.5] * 300] * 3, [np.zeros(300)] * 3):
        assert learn(vectors).encode(vectors).shape == (3, 300)
        assert not learn(vectors).left_out
        np.testing.assert_array_equal(
            learn(vectors).encode([[1.0] * 300, None]), [[1.0] * 300, [NAN] * 300]
        )


ITSELF: list = []
ITSELF.append(ITSELF)


UNCLEAR = [  # outputs, the error
    *(([output, 1], "outputs") for output in (object(), Broken(), ITSELF, (i for i in range(3)))),
    *(
        (output, "outputs must be many, got one")
        for output in ("a", 5, None, {"a": 1}, np.array(5))
    ),
    *((none, "batches must hold outputs") for none in ([], np.zeros(0))),
]


@pytest.mark.parametrize(("outputs", "message"), UNCLEAR)
def test_outputs_without_meaning_are_refused(outputs, message):
    with pytest.raises(ArgumentError, match=message):
        learn(outputs)


def test_the_order_of_outputs_does_not_matter():
    outputs = [{"a", "b"}, {"b"}, {"c", 1}, None, ("x", 2), 0.5, "w", "v"]
    for shift in range(len(outputs)):
        turned = outputs[shift:] + outputs[:shift]
        assert learn(turned[:3], turned[3:]).columns == learn(outputs).columns


def test_any_batch():
    assert learn(iter([1, 2])).encode((3, 4)).tolist() == [3, 4]
    assert learn(Tensor(1, 2)).encode(range(3)).tolist() == [0, 1, 2]
    assert learn([0.5]).encode([]).shape == (0,)


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


def plain(value):  # noqa: PLR0911
    """Return a key: equal for equal values, different for others."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, (int, np.integer)):
        return int, int(value)
    if isinstance(value, (float, np.floating)):
        return float, repr(float(value))
    if isinstance(value, Point):
        return "point", plain(value.x), plain(value.y)
    if isinstance(value, (list, tuple)):
        return "sequence", *map(plain, value)
    if isinstance(value, dict):
        return "mapping", *((k, plain(v)) for k, v in value.items())
    if isinstance(value, set):
        return "set", frozenset(value)
    return "word", type(value).__name__, value


def check(batches):
    layout = learn(*batches)
    assume(len(layout.columns) < 64)
    outputs = [value for batch in batches for value in batch]
    rows = np.concatenate([layout.encode(batch).reshape(len(batch), -1) for batch in batches])
    rows[np.isnan(rows)] = 12345.678 if rows.dtype == np.float64 else 0
    codes: dict = {}
    for row, output in zip(rows.tolist(), outputs, strict=True):
        codes.setdefault(tuple(row), set()).add(plain(output))
    assert all(len(same) == 1 for same in codes.values()), codes
    assert len(codes) == len({plain(output) for output in outputs})


@given(st.lists(st.lists(values, min_size=1, max_size=6), min_size=1, max_size=2))
@settings(max_examples=80, deadline=None)
def test_rows_are_equal_where_outputs_are(batches):
    check(batches)


@given(st.lists(values, min_size=1, max_size=6), st.lists(values, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_an_output_is_the_same_whatever_it_comes_with(learned, fresh):
    layout = learn(learned)
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
PLACES = {column.name: i for i, column in enumerate(learn(PARTS).columns)}
BIT = tuple(Table((i,), ((1,),), (0.0, 1.0, 0.0)) for i in range(3))
ROWS = [(0, 1, i) for i in range(5)]
WORDS = [  # outputs, an event of them, its words
    (NUMBERS, event((0.68749, None)), "output >= 0.68749"),
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
    ([1, 5], event((3, 3), (7, None)), "output = 3 or output >= 7"),
    ([1, 5], event((1, 1), kind="bit", entry=3), "bit 3 of output = 1"),
    ([1, 5], event((None, 1.5), kind="score", tables=BIT), "score of 3 bits <= 1.5"),
    (SOME, event((0, 1)), "output is 'a' or None"),
    (SOME, event((2, 2), (4, None)), "output is not 'a', None or 'c'"),
    (SOME, event((None, None)), "any output"),
    (SOME, event((0.5, 0.7)), "no output"),
    (["a" * 500, "b\n" * 500], event((0, 0)), f"output is '{'a' * 24}...{'a' * 11}'"),
    (MIXED, entry(0, missing=True), "output is not a number"),
    (MIXED, entry(1, (0, 0)), "output is a number"),
    (MIXED, entry(1, (1, None)), "output is not a number"),
    (PARTS, entry(PLACES["key 'b' present"], (1, None)), "key 'b' is present"),
    (PARTS, entry(PLACES["key 'b' present"], (0, 1)), "any output"),
    (PARTS, entry(PLACES["length of key 'b'"], (None, 1.999)), "length of key 'b' <= 1"),
    (PARTS, entry(PLACES["key 'b'.entry 1"], (2.0, None)), "key 'b'.entry 1 >= 2"),
    (
        PARTS,
        entry(PLACES["key 'b'.entry 1"], missing=True),
        "key 'b'.entry 1 is missing or is not a number",
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
        "(entry 0, word of entry 1) is (1, 'a') or (5, not 'a' or 'b')",
    ),
    ([{"a"}, {"b"}], event((1, 1), kind="row", rows=[(1, 0)]), "('a', 'b') is (present, missing)"),
]


@pytest.mark.parametrize(("outputs", "event", "words"), WORDS)
def test_words_of_events(outputs, event, words):
    assert learn(outputs).text(event) == words


ends = st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-3, 2**64))


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.tuples(ends, ends), max_size=9),
    st.booleans(),
    st.sampled_from(["output", "entry", "bit", "score", "row", "low bit"]),
    st.integers(0, 5),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1),
)
@settings(max_examples=150, deadline=None)
def test_words_fit_a_line(name, ranges, missing, kind, i, rows):
    layout = LAYOUTS[name]
    words = layout.text(
        Event(tuple(ranges), missing, View(kind, i % len(layout.columns), rows=rows))
    )
    assert 0 < len(words) <= 160
    assert "\n" not in words


LAYOUTS = {name: learn(outputs) for name, (outputs, *_) in KINDS.items()}
