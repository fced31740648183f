"""Outputs of several calls are those of one, in columns, by their values alone."""

import json
import math
from itertools import chain

import numpy as np
import pytest

from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.shapes import COLUMNS, Coded, joined, recorded_pair
from epsilometer_audit.outputs.words import DEPTH

WHOLE = np.array([0, 1, 2**40])
REALS = np.array([math.nan, -0.0, 0.5])


def test_calls_are_joined_by_value():
    both = joined([WHOLE, REALS])
    assert both.dtype == np.float64
    assert learn_layout(WHOLE, REALS).columns == learn_layout(both).columns
    assert joined([WHOLE + 2**60, REALS])[2] == 2**60 + 2**40  # not rounded
    truths = joined([np.array([True]), WHOLE])
    assert truths.tolist() == [1, 0, 1, 2**40]
    assert truths.dtype == np.int64


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


def test_members_of_sequences_do_not_depend_on_what_other_draws_of_a_call_are():
    one, other = ((0, 0), (0, 0)), ((1, 0), (0, 0))
    calls = [[(one, other)] * 3, [(one,) * 9, (other,)]]
    outputs = [*chain(*calls)]
    layout = learn_layout(outputs)
    assert "((0, 0), (0, 0)) present" in [column.name for column in layout.columns]
    by_call = joined([joined([call]) for call in calls])
    np.testing.assert_array_equal(layout.encode(outputs), layout.encode(by_call))


@pytest.mark.parametrize("output", [(1, "a", (2.5, None)), {"a": 1, "b": ({"c": "d"},)}])
def test_columns_of_a_call_are_listed_as_they_were(output):
    values = joined([[output] * 3])
    assert values.tolist() == [output] * 3
    assert type(values.tolist()[0]) is type(output)
    assert values[1:].tolist() == values[np.array([0, 2])].tolist() == [output] * 2


@pytest.mark.parametrize("depth", [1, DEPTH, DEPTH + 1])
def test_outputs_of_a_call_are_read_to_the_greatest_depth(depth):
    outputs = [0, 1, 2]
    for _ in range(depth):
        outputs = [("a", output) for output in outputs]
    layout = learn_layout(joined([outputs]))
    assert layout == learn_layout(outputs)
    assert bool(layout.left_out) == (depth > DEPTH)
    assert [column.kind for column in layout.columns].count("number") == (depth <= DEPTH)


def test_a_value_in_a_text_is_a_level_deeper():
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (80, 6))
    outputs = [json.dumps([*row]) for row in letters]
    for _ in range(DEPTH - 1):
        outputs = [("a", output) for output in outputs]
    *_, note = learn_layout(outputs).left_out
    assert note.endswith("value is a list, only its type is looked at")


@pytest.mark.parametrize(("lesser", "kind"), [("f4", "f8"), ("c8", "c16")])
def test_reals_of_two_widths_are_compared_at_the_lesser(lesser, kind):
    numbers = np.random.default_rng(0).laplace(size=(2, 50))
    values = numbers[0] + 1j * numbers[1] if "c" in kind else numbers[0]
    x, x_prime, note = recorded_pair(values.astype(lesser), values.astype(kind))
    assert note == "one side holds float32 only, so both are compared as float32"
    assert np.array_equal(x, x_prime)
