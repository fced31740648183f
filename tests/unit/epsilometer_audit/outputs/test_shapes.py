"""Outputs of several calls are those of one, in columns, by their values alone."""

import json
import math
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.shapes import (
    COLUMNS,
    Coded,
    joined,
    listing,
    parts_of,
    raw,
    recorded_pair,
)
from epsilometer_audit.outputs.words import DEPTH, MANY

WHOLE = np.array([0, 1, 2**40])
REALS = np.array([math.nan, -0.0, 0.5])


def test_calls_are_joined_by_value():
    both = joined([WHOLE, REALS])
    assert both.dtype == np.float64
    assert learn_layout(WHOLE, REALS).columns == learn_layout(both).columns
    assert int(joined([WHOLE + 2**60, REALS])[1]) == 2**60 + 1  # not rounded
    truths = joined([np.array([True]), WHOLE])
    assert truths.tolist() == [1, 0, 1, 2**40]
    assert truths.dtype == np.int64


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (5, "outputs must be many, got one int"),
        ({"a": 1}, "outputs must be many, got one dict"),
        (np.array(5), "outputs must be many, got one ndarray"),
        (np.array(5, object), "outputs must be many, got one ndarray"),
        ([type("returned", (), {})()], "outputs must be plain, got .*returned"),
    ],
)
def test_one_output_or_an_object_without_a_meaning_is_no_outputs(outputs, message):
    with pytest.raises(ArgumentError, match=message):
        raw(outputs)


def nested(array):
    """Return an array as tuples in tuples, or its number."""
    return tuple(map(nested, array)) if array.ndim else array.item()


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 2), (3, 2)),
        ((), (3,)),
        ((3,), (4,)),
        ((3,), (3, 1)),
        ((3, 2), (3, 4)),
        ((3, 2), (4, 2)),
    ],
)
def test_calls_of_arrays_of_equal_or_different_shapes_are_joined(shapes):
    calls = [np.arange(2 * math.prod(shape)).reshape(2, *shape) for shape in shapes]
    assert listing(joined(calls)) == [*chain(*map(nested, calls))]


@pytest.mark.parametrize("other", [{"a": 1, "b": "x"}, {"b": "x", "a": 1}, {"a": 1}, (1, "x")])
def test_calls_of_records_of_equal_or_different_keys_are_joined(other):
    calls = [[{"a": 1, "b": "x"}] * 2, [other] * 2]
    both = listing(joined([joined([call]) for call in calls]))
    assert list(map(repr, both)) == list(map(repr, chain(*calls)))


def test_unsigned_numbers_beyond_int64_are_told_apart():
    numbers = np.array([1, 2**63, 2**63 + 1, 2**64 - 1], "u8")
    layout = learn_layout(numbers[:1], numbers)
    assert len(np.unique(layout.encode(numbers), axis=0)) == 4
    assert layout == learn_layout(numbers.tolist())


def test_words_of_several_calls_are_joined_by_value():
    batches = [["a", "b", None], ["c", "a"], [None, "c", "c"]]
    together = Coded.joined([Coded.of(batch) for batch in batches])
    assert together.tolist() == [*chain(*batches)]
    assert len(together.values) == 4


@pytest.mark.parametrize(("entries", "noted"), [(COLUMNS, False), (COLUMNS + 1, True)])
def test_of_more_entries_than_there_are_columns_some_are_looked_at(entries, noted):
    layout = learn_layout([["a"] * entries, ["b"] * entries])
    assert ("entries of output" in str(layout.left_out)) == noted
    columns = [column for column in layout.columns if column.name.startswith("word of entry")]
    assert len(columns) == COLUMNS


@pytest.mark.parametrize("last", [0.5, 2**70, Fraction(1, 3), True])
def test_all_entries_of_numbers_are_looked_at(last):
    layout = learn_layout([[0.5] * COLUMNS + [last]] * 3)
    assert "entries" not in str(layout.left_out)
    assert [column.kind for column in layout.columns].count("number") >= COLUMNS


def test_of_too_many_numbers_in_sequences_of_varying_length_some_are_looked_at():
    note, *_ = learn_layout([[0.5] * COLUMNS, [0.5] * (COLUMNS + 1)]).left_out
    assert note == "of 257 entries of output the first and last 128 are looked at"


PRESENT = [  # outputs, the members of which the presence is looked at
    ([("a", "b") * 4, ("a", "c") * 4], []),
    ([("a", "b", "a") * 3, ("a", "c", "c") * 3], ["'b'", "'c'"]),  # long, and all have "a"
    ([("a", "b", "b"), ("a", "c"), ("a",)], ["'b'", "'c'"]),  # of varying length
    ([("a", 1, 1), ("a", 2), ("a",)], []),  # of several kinds
    ([(0, 1, 1), (0, 2), (0,)], []),
    ([((0,), (1,)), ((0,),)], ["(1)"]),
    ([{"a", "b"}, {"a", "c", 1}], ["'b'", "'c'", "1"]),
]


@pytest.mark.parametrize(("outputs", "members"), PRESENT)
def test_the_presence_of_members_that_not_all_have_is_looked_at(outputs, members):
    names = [column.name for column in learn_layout(outputs).columns]
    assert [name.removesuffix(" present") for name in names if name.endswith("present")] == members


@pytest.mark.parametrize(
    ("different", "times", "coded"),
    [(MANY, 1, MANY), (MANY + 1, 1, 0), (MANY + 1, 2, 0), (MANY + 1, 3, MANY + 1)],
)
def test_of_many_words_or_keys_those_that_come_thrice_have_a_code_or_a_column(
    different, times, coded
):
    names = [f"k{i}" for i in range(different)] * times
    (words,) = parts_of(names, 0)
    assert len(words.frequent) == coded
    (mappings,) = parts_of([{name: 0} for name in names], 0)
    steps = mappings.steps("", notes := [])
    assert [kind for kind, _ in steps].count("key") == coded
    assert bool(notes) == (coded < different)


@pytest.mark.parametrize(("rare", "is_noted"), [(200, False), (201, True)])
def test_words_without_a_code_are_noted_if_they_are_more_than_a_hundredth(rare, is_noted):
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (rare, 60))
    words = ["often"] * (20_000 - rare) + ["".join(row) for row in letters]
    assert bool(learn_layout(words).left_out) == is_noted


REACHED = {  # by form, an output and the steps that lead into it
    "number": (5, []),
    "word": ("ab", [("character", 0), ("text", "length")]),
    "sequence": (("a", "b"), [("entry", 0), ("listed", "a")]),
    "mapping": ({"a": 1}, [("key", "a"), ("part", "order of keys")]),
    "set": ({"a"}, [("member", "a")]),
}
STEPS = [step for _, steps in REACHED.values() for step in steps]


@pytest.mark.parametrize("form", REACHED)
def test_a_step_leads_into_outputs_of_its_form_only(form):
    output, steps = REACHED[form]
    (part,) = parts_of([output, output], 0)
    assert part.form == form
    assert [step for step in STEPS if len(part.inner(step)[1])] == steps


def test_members_of_sequences_do_not_depend_on_what_other_draws_of_a_call_are():
    one, other = ((0, 0), (0, 0)), ((1, 0), (0, 0))
    calls = [[(one, other)] * 3, [(one,) * 9, (other,)]]
    outputs = [*chain(*calls)]
    layout = learn_layout(outputs)
    assert "((0, 0), (0, 0)) present" in [column.name for column in layout.columns]
    by_call = joined([joined([call]) for call in calls])
    np.testing.assert_array_equal(layout.encode(outputs), layout.encode(by_call))


@pytest.mark.parametrize(
    "output", [(1, "a", (2.5, None)), {"a": 1, "b": ({"c": "d"},)}, (2**70, "a", ())]
)
def test_columns_of_a_call_are_listed_as_they_were(output):
    values = joined([[output] * 3])
    assert values.tolist() == [output] * 3
    assert type(values.tolist()[0]) is type(output)
    assert values[1:].tolist() == values[np.array([0, 2])].tolist() == [output] * 2


WITHIN = {  # how outputs contain others, the outermost and the others
    "sequences": (lambda output: ("a", output),) * 2,
    "mappings": (lambda output: {"a": output},) * 2,
    "arrays": (lambda output: ("a", output), lambda output: (output,)),
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("depth", [1, DEPTH, DEPTH + 1])
def test_outputs_of_a_call_are_read_to_the_greatest_depth(depth, name):
    outermost, within = WITHIN[name]
    outputs = [0, 1, 2]
    for _ in range(depth - 1):
        outputs = [*map(within, outputs)]
    outputs = [*map(outermost, outputs)]
    layout = learn_layout(joined([outputs]))
    assert layout == learn_layout(outputs)
    assert bool(layout.left_out) == (depth > DEPTH)
    assert [column.kind for column in layout.columns].count("number") == (depth <= DEPTH)


@pytest.mark.parametrize(("depth", "is_noted"), [(DEPTH - 2, False), (DEPTH - 1, True)])
def test_a_value_in_a_text_is_a_level_deeper(depth, is_noted):
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (80, 6))
    outputs = [json.dumps([*row]) for row in letters]
    for _ in range(depth):
        outputs = [("a", output) for output in outputs]
    *_, note = learn_layout(outputs).left_out
    assert note.endswith("value is a list, only its type is looked at") == is_noted


@pytest.mark.parametrize(("lesser", "kind"), [("f4", "f8"), ("c8", "c16")])
def test_reals_of_two_widths_are_compared_at_the_lesser(lesser, kind):
    numbers = np.random.default_rng(0).laplace(size=(2, 50))
    values = numbers[0] + 1j * numbers[1] if "c" in kind else numbers[0]
    x, x_prime, note = recorded_pair(values.astype(lesser), values.astype(kind))
    assert note == "one side holds float32 only, so both are compared as float32"
    assert np.array_equal(x, x_prime)
    assert recorded_pair(values, values + 1)[2] == ""
