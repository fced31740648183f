"""Outputs of any kind become numbers that tell them apart, and events of these become words.

Equal numbers are equal outputs, whatever their types.
"""

import datetime
import enum
import math
import pickle
import struct
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from numbers import Number

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from epsilometer.errors import ArgumentError
from epsilometer.events.events import Event, Table, View
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.reals import NONE
from epsilometer_audit.serving.outputs import Failure
from tests.unit.columns import assert_same_where_keys_are

Point = namedtuple("Point", "x y")
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


# --- kinds ----------------------------------------------------------------------------------------

NAN = math.nan
BEYOND_A_DOUBLE = np.longdouble(1) + np.longdouble(2) ** -60
TWO = "entry 0, entry 1"
REST = "output, output less its nearest real"

# outputs, their kind, the names of the columns, and the table
KINDS = {
    "reals": ([0.5, math.inf, NAN], "reals", "output", [0.5, math.inf, NAN]),
    "integers": ([3, -1, 2**62], "integers", "output", [3, -1, 2**62]),
    "of several types": (
        [1, 1.0, True, np.int64(1), np.float32(1), Decimal(1), Fraction(1), 0, -0.0, False],
        "reals",
        "output",
        [1.0] * 7 + [0.0, -5e-324, 0.0],
    ),
    "words": (["b", "a", "c", "c"], "words", "word", [2, 1, 0, 0]),
    "bytes": ([b"a", "a"], "words", "word", [1, 0]),
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
    "named tuples": (
        [Point(1, "a"), Point(2, None)],
        "mappings",
        "word of type, key 'x', word of key 'y'",
        [[0, 1, 0], [0, 2, 1]],
    ),
    "types": (
        [(1,), 5, {"a": 1}],
        "mixed: numbers, mappings and sequences",
        "type, output, key 'a', entry 0",
        [[2, NAN, NAN, 1], [0, 5, NAN, NAN], [1, NAN, 1, NAN]],
    ),
    "beyond int64": ([2**70, 2**70 + 1], "integers", REST, [[2.0**70, 0], [2.0**70, 1]]),
    "long doubles": (np.array([0.5, BEYOND_A_DOUBLE]), "reals", REST, [[0.5, 0], [1, 2.0**-60]]),
}
LAYOUTS = {name: learn_layout(outputs) for name, (outputs, *_) in KINDS.items()}


def names_of(layout):
    return [column.name for column in layout.columns]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_columns(name):
    outputs, kind, names, table = KINDS[name]
    layout = learn_layout(outputs[:1], outputs[1:], outputs[:0])
    assert layout.kind == kind
    assert ", ".join(names_of(layout)) == names
    encoded = layout.encode(outputs)
    np.testing.assert_array_equal(encoded, table)
    assert encoded.dtype == (np.int64 if layout.whole else np.float64)
    assert pickle.loads(pickle.dumps(LAYOUTS[name])) == layout  # noqa: S301
    np.testing.assert_array_equal(layout.encode(list(outputs)), encoded)


@pytest.mark.parametrize(
    ("learned", "outputs", "encoded"),
    [
        ([1, 2], [7.0, 2.5, None, "a", (1,), math.inf], [7, NONE, NONE, NONE, NONE, 2**63 - 1]),
        ([0.5], [1, None, "a", {}], [1, NAN, NAN, NAN]),
        (["a", "b"], ["b", "c", None, 5], [1, 2, 2, 2]),
        (np.zeros((2, 2)), [[1], 5], [[1, NAN], [NAN, NAN]]),
    ],
)
def test_outputs_of_another_kind_are_another_word_or_no_number(learned, outputs, encoded):
    np.testing.assert_array_equal(learn_layout(learned).encode(outputs), encoded)


def test_reals_have_no_sign_of_zero():
    zeros = np.array([0.0, -0.0])
    assert learn_layout(zeros, as_reals=True).encode([-0.0]).tolist() == [0]
    assert learn_layout(zeros).encode([-0.0]).tolist() == [-5e-324]


def test_a_signalling_nan_is_a_number_that_is_missing_and_no_warning():
    signalling = np.array([0x7FF0000000000001], np.int64).view(np.float64)
    numbers = np.concatenate([signalling, [1.5, -0.0, 0.0] * 4])
    for outputs in (numbers, list(numbers)):
        assert learn_layout(outputs).encode(outputs).shape == (13,)


def test_large_arrays_of_numbers_are_not_copied(monkeypatch):
    assert learn_layout(np.zeros((5, 3))).encode(np.zeros((5, 3))).T.flags.c_contiguous
    monkeypatch.setattr("epsilometer_audit.outputs.outcomes._SMALL", 0)
    for outputs in (np.arange(5), np.zeros((5, 2, 2))):
        assert np.shares_memory(learn_layout(outputs).encode(outputs), outputs)


@pytest.mark.parametrize(
    ("output", "groups"),
    [
        ([0.5, 1.5, 2.5], [[(0,), (1,), (2,)]]),
        ([0.5, 1.5], []),  # two only
        ([[1, 2, 3]], []),  # one row only
        ({"a": [1, 2, 3], "b": 4, "c": [[5, 6], [7, 8]]}, [[(0,), (1,), (2,)], [(4, 5), (6, 7)]]),
    ],
)
def test_three_numbers_of_a_sequence_or_more_are_a_group(output, groups):
    assert learn_layout([output] * 3).groups == groups


ITSELF: list = []
ITSELF.append(ITSELF)
UNCLEAR = [  # outputs, the error
    ([object(), 1], "outputs"),
    ([Broken(), 1], "outputs"),
    ([ITSELF, 1], "outputs"),
    ("a", "outputs must be many, got one"),
    (np.array(5), "outputs must be many, got one"),
    ([], "batches must hold outputs"),
]


@pytest.mark.parametrize(("outputs", "message"), UNCLEAR)
def test_outputs_without_meaning_are_refused(outputs, message):
    with pytest.raises(ArgumentError, match=message):
        learn_layout(outputs)


def test_the_order_of_outputs_does_not_matter():
    outputs = [{"a", "b"}, {"b"}, {"c", 1}, None, ("x", 2), 0.5, "w", "v"]
    turned = outputs[3:] + outputs[:3]
    assert learn_layout(turned[:3], turned[3:]).columns == learn_layout(outputs[::-1]).columns


def test_any_batch():
    assert learn_layout(iter([1, 2])).encode((3, 4)).tolist() == [3, 4]
    assert learn_layout(Tensor(1, 2)).encode(range(3)).tolist() == [0, 1, 2]
    assert learn_layout([0.5]).encode([]).shape == (0,)


# --- any outputs ----------------------------------------------------------------------------------

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
some = st.lists(values, min_size=1, max_size=6)


def plain(value):
    """Return a key: equal for equal values, different for others."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Number):
        is_minus_zero = value == 0 and math.copysign(1, value) < 0
        if is_minus_zero or not math.isfinite(value):
            return "number", str(float(value))
        return "number", Fraction(value)
    if isinstance(value, (list, tuple)):
        return "point" if isinstance(value, Point) else "sequence", *map(plain, value)
    if isinstance(value, dict):
        return "mapping", *((key, plain(entry)) for key, entry in value.items())
    if isinstance(value, set):
        return "set", frozenset(value)
    return type(value).__name__, repr(value)


@given(some, some)
@settings(max_examples=80)
def test_rows_are_equal_where_outputs_are(first, second):
    layout = learn_layout(first, second)
    assume(len(layout.columns) < 64)
    rows = np.concatenate([layout.encode(first), layout.encode(second)])
    assert_same_where_keys_are(map(plain, first + second), rows)


@given(some, some)
@example([[], [""]], [[False], [""]])  # members beside entries of another form
@settings(max_examples=60)
def test_an_output_is_the_same_whatever_it_comes_with(learned, fresh):
    layout = learn_layout(learned)
    one_by_one = [layout.encode([output])[0] for output in fresh]
    np.testing.assert_array_equal(layout.encode(fresh), one_by_one)


# --- what columns leave out -----------------------------------------------------------------------


def test_rare_words_share_a_code():
    words = [f"word {i // 3}" for i in range(15_000)] + ["often"] * 4
    layout = learn_layout(words)
    place = names_of(layout).index("word")
    codes = layout.encode(words)[:, place]
    assert codes[-1] == 0
    assert np.count_nonzero(codes == 4096) == 3 * (5001 - 4096)
    assert layout.columns[place].words[1:3] == ("word 0", "word 1")  # ties by text


def test_no_more_than_256_columns_the_most_frequent():
    layout = learn_layout([{f"k{i}": i for i in range(j)} for j in range(400)])
    columns = names_of(layout)
    assert len(columns) == 256
    assert columns[:2] == ["key 'k0' present", "key 'k1' present"]
    assert "length" in columns
    assert "key 'k120'" in columns
    assert "key 'k130'" not in columns
    assert len(layout.left_out) == 2
    assert names_of(learn_layout([list("abc" * 100)]))[-1] == "word of entry -1"


def test_a_vector_of_numbers_has_all_its_columns():
    layout = learn_layout([[0.5] * 300] * 3)
    assert not layout.left_out
    assert layout.encode(np.zeros((2, 300))).shape == (2, 300)


def test_of_many_columns_the_rarest_members_of_sequences_go_first():
    outputs = [[f"m{i}" for i in range(size)] + ["w"] * (250 - size) for size in range(1, 21)]
    layout = learn_layout(outputs)
    members = [name for name in names_of(layout) if name.endswith("present")]
    assert members == [f"'m{i}' present" for i in range(1, 7)]
    assert layout.left_out == ()  # as entries show them


def test_of_many_columns_lengths_and_types_stay_however_rare():
    records = [{f"k{i}": i for i in range(254)} for _ in range(50)]
    records[0]["l"] = "none"
    for i in (1, 2, 3):
        records[i]["l"] = [0.5] * i
    names = names_of(learn_layout(records))
    assert len(names) == 256
    assert {"length of key 'l'", "type of key 'l'"} <= set(names)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({f"k{i}": 1 for i in range(300)}, "256 of 300 keys"),
        (["w"] * 301, "of 301 entries of output the first and last 128 are looked at"),
        ([[[[[[[[[[1]]]]]]]]]], "is a tuple, only its type"),
        ({f"k{i}": {"a": 1, "b": 2} for i in range(200)}, "256 of 400 columns"),
        (2 * 10**400, "numbers of output are not told apart to the last digit"),
    ],
)
def test_ignored_parts_of_outputs_are_noted(output, words):
    assert words in "; ".join(learn_layout([output] * 5).left_out)


def test_ignored_members_of_sets_are_noted():
    layout = learn_layout([set(), *[set(range(300))] * 3])
    assert layout.left_out[0] == "256 of 300 members of output are looked at"


LETTERS = np.random.default_rng(0).choice([*"abcdefgh"], (300, 60))
LONG = ["".join(row) for row in LETTERS]
SHORT = [text[:4] for text in LONG]


@pytest.mark.parametrize(
    ("words", "is_noted"),
    [
        (SHORT, False),
        (LONG, True),
        (SHORT + LONG, True),
        (["often"] * 19_820 + LONG[:180], False),  # below a hundredth
        (["often"] * 19_780 + LONG[:220], True),
    ],
)
def test_words_are_left_out_in_part_if_more_than_a_hundredth_of_them_are_long(words, is_noted):
    left_out = learn_layout(words).left_out
    assert bool(left_out) == is_noted
    assert not is_noted or "different words of output" in left_out[0]


NOISE = np.random.default_rng(1).laplace(size=300).tolist()


@pytest.mark.parametrize(
    "outputs",
    [
        np.arange(300.0),
        [f"{v:.2f} %" for v in NOISE],
        [datetime.date.fromordinal(i) for i in range(1, 301)],
        [struct.pack("d", i) for i in range(300)],
        ["a", "b", None] * 100,
    ],
)
def test_nothing_is_left_out_where_columns_determine_the_output(outputs):
    layout = learn_layout(outputs)
    assert layout.left_out == ()
    rows = layout.encode(outputs).reshape(len(outputs), -1)
    assert len(np.unique(rows, axis=0)) == len(set(map(repr, outputs)))


# --- words of events ------------------------------------------------------------------------------


def event(*ranges, missing=False, **view):
    return Event(ranges, missing, View(**view))


def entry(i, *ranges, missing=False):
    return event(*ranges, missing=missing, kind="entry", entry=i)


NUMBERS = [0.5, 1.5]
MIXED = [0.5, None, "a", 1.5]
SOME = ["a", "b", "a", None, Failure("E"), "c"]
PARTS = [{"a": 1, "b": [1, 2]}, {"a": 3.5, "c": "w"}, {"a": 2, "b": [1]}]
PLACES = {name: i for i, name in enumerate(names_of(learn_layout(PARTS)))}
BIT = tuple(Table((i,), ((1,),), (0.0, 1.0, 0.0)) for i in range(3))
EVEN = [(i, i) for i in range(0, 18, 2)]
WORDS = [  # outputs, an event of them, its words
    (
        NUMBERS,
        event((None, -1.0), (0.5, 2.0), missing=True),
        "output <= -1.0 or 0.5 <= output <= 2.0 or output is NaN",
    ),
    (NUMBERS, event(), "no output"),
    ([1, 5], event((1, 1), kind="bit", entry=3), "bit 3 of output = 1"),
    ([1, 5], event((None, 1.5), kind="score", tables=BIT), "score of 3 bits <= 1.5"),
    (SOME, event((2, 2), (4, None)), "output is not 'a', 'b' or None"),
    (SOME, event((None, None)), "any output"),
    (SOME, event((0.5, 0.7)), "no output"),
    (["a" * 500, "b\n" * 500], event((0, 0)), f"output is '{'a' * 24}...{'a' * 11}'"),
    (MIXED, entry(1, (0, 0)), "output is a number"),
    (MIXED, entry(1, (1, None)), "output is not a number"),
    (
        MIXED,
        entry(0, *EVEN, missing=True),
        "output = 0 or output = 2 or output = 4 or output is not a number or 6 more ranges",
    ),
    (PARTS, entry(PLACES["key 'b' present"], (1, None)), "key 'b' is present"),
    (PARTS, entry(PLACES["length of key 'b'"], (None, 1.999)), "length of key 'b' <= 1"),
    (PARTS, entry(PLACES["word of key 'c'"], (1, 1)), "key 'c' is 'w'"),
    (
        PARTS,
        entry(PLACES["key 'b'.entry 1"], missing=True),
        "key 'b'.entry 1 is missing or is not a number",
    ),
    ([{"a", 5}, {"a"}, set()], entry(1, (0, 0)), "5 is missing"),
    ([(1, 2), None, 5, Point(1, 2)], entry(0, (1, 2)), "output is a mapping or a sequence"),
    (
        np.eye(2, dtype=int),
        event((1, 1), kind="row", rows=[(0, 1), (1, 0), (2, 2), (3, 3)]),
        "output is (0, 1) or (1, 0) or (2, 2) or 1 more rows",
    ),
    (
        [(i, "abcde"[i]) for i in range(5)],
        event((1, 1), kind="row", rows=[(1, 0), (5, 9)]),
        "(entry 0, entry 1) is (1, 'a') or (5, not 'a', 'b', 'c' or 2 more)",
    ),
    ([{"a"}, {"b"}], event((1, 1), kind="row", rows=[(1, 0)]), "('a', 'b') is (present, missing)"),
]


@pytest.mark.parametrize(("outputs", "event", "words"), WORDS)
def test_words_of_events(outputs, event, words):
    assert learn_layout(outputs).text(event) == words


ends = st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-3, 2**64))
numbers_of_a_row = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3)


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.tuples(ends, ends), max_size=9),
    st.booleans(),
    st.sampled_from(["output", "entry", "bit", "score", "row", "low bit"]),
    st.integers(0, 5),
    st.lists(numbers_of_a_row, min_size=1),
)
@settings(max_examples=150)
def test_words_fit_a_line(name, ranges, missing, kind, i, rows):
    layout = LAYOUTS[name]
    view = View(kind, i % len(layout.columns), rows=rows)
    words = layout.text(Event(tuple(ranges), missing, view))
    assert 0 < len(words) <= 160
    assert "\n" not in words


def test_an_event_in_json_names_its_column_where_there_are_several():
    one, two = learn_layout([1, 2]), learn_layout([(1, "a"), (2, "b")])
    assert "columns" not in one.plain(event((1, 1)))
    plain_event = two.plain(entry(1, (1, 1)))
    assert plain_event["columns"] == ["word of entry 1"]
    assert plain_event["words"] == {"word of entry 1": ["'a'", "'b'"]}
