"""Numbers and reductions have one spelling each in paths: it is read back, any other refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.files import parsing
from epsilometer_workflow.files.parsing import Reduction, spell

positive = st.floats(0, exclude_min=True, allow_infinity=False)
orders = st.floats(1, exclude_min=True)
counts = st.integers(2, 10**15 - 1)
every_reduction = st.one_of(
    counts.map(lambda cells: Reduction.of({"cells": cells})),
    st.tuples(counts, positive).map(lambda v: Reduction.of({"points": v[0], "power": v[1]})),
)
texts = st.one_of(st.text(alphabet="0123456789.+-_eEinfa \n١", max_size=12), st.text(max_size=12))
READ = {
    "number": lambda text: parsing.number("k", text),
    "positive": lambda text: parsing.positive("k", text),
    "order": parsing.order,
    "whole": lambda text: parsing.integer("k", text),
    "whole from 0": lambda text: parsing.integer("k", text, minimum=0),
}
every_reader = pytest.mark.parametrize("reader", READ)


@given(positive)
def test_positive_numbers_are_read_as_they_are_written(value):
    assert parsing.positive("k", spell(value)) == value


@given(orders)
def test_orders_are_read_as_they_are_written(value):
    assert parsing.order(spell(value)) == value


@given(st.integers(1, 10**15 - 1))
def test_whole_numbers_are_read_as_they_are_written(value):
    assert parsing.integer("k", str(value)) == value


@given(every_reduction)
def test_reductions_are_read_as_they_are_written(reduction):
    again = Reduction.parse(str(reduction))
    assert again == reduction
    assert again.settings == reduction.settings


@every_reader
@given(text=texts)
def test_a_number_is_read_from_one_spelling_or_refused(reader, text):
    try:
        value = READ[reader](text)
    except EpsilometerError as error:
        refusal = str(error)
        assert "\n" not in refusal
        return
    assert text == (str(value) if isinstance(value, int) else spell(value))


parts = st.sampled_from(["cells=5", "cells=6", "points=9", "power=1.1", "power=2", "x=1", "cells"])


@given(st.one_of(st.lists(parts, min_size=1, max_size=4).map("_".join), texts))
def test_a_reduction_is_read_from_one_spelling_or_refused(text):
    try:
        reduction = Reduction.parse(text)
    except EpsilometerError:
        return
    assert str(reduction) == text


@every_reader
@pytest.mark.parametrize(
    "text",
    ["", "x", "1.0", "01", "+1", "-0", " 1", "1 ", "1\n", "1_0", "1e0", "1E5", "٣", "0x1", "1,5"],
)
def test_other_spellings_of_numbers_are_refused(reader, text):
    if text == "-0" and reader == "number":
        assert math.copysign(1, READ[reader](text)) == -1  # as Python writes it
        return
    with pytest.raises(EpsilometerError, match=r"^(k|lambda)="):
        READ[reader](text)


@pytest.mark.parametrize("text", ["0", "-1", "inf", "-inf", "nan", "Infinity", "1e400", "1e-400"])
def test_numbers_that_are_not_positive_and_finite_are_refused(text):
    with pytest.raises(EpsilometerError, match=r"^epsilon="):
        parsing.positive("epsilon", text)


@pytest.mark.parametrize("text", ["1", "0.5", "0", "-2", "-inf", "nan", "Infinity"])
def test_orders_must_be_above_1(text):
    with pytest.raises(EpsilometerError, match=r"^lambda="):
        parsing.order(text)


def test_the_pure_order_is_infinite():
    assert parsing.order("inf") == math.inf


@pytest.mark.parametrize("text", ["0", "1.5", "inf", "nan", "1e3", *("9" * 16, "9" * 5000)])
def test_numbers_that_are_not_whole_are_refused(text):
    with pytest.raises(EpsilometerError, match=r"^runs=.* must be a whole number from 1"):
        parsing.integer("runs", text)
    with pytest.raises(EpsilometerError, match=r"^cells=3 must be a whole number from 4"):
        parsing.integer("cells", "3", minimum=4)


@pytest.mark.parametrize(
    "text",
    [
        *("", "cells", "cells=", "cells=1", "cells=0", "cells=05", "cells=2.0", "cells=inf"),
        *("Cells=5", "cells=5_", "_cells=5", "cells=5_cells=5", "cells=5_power=1.1"),
        *("points=9", "power=1.1", "power=1.1_points=9", "points=1_power=1.1"),
        *("points=9_power=0", "points=9_power=inf", "points=9_power=1.10", "points=9_power="),
        *("points=9_power=1.1_power=1.1", "points=8_power=1.1_points=9", "points=9__power=1.1"),
    ],
)
def test_malformed_reductions_are_refused(text):
    with pytest.raises(EpsilometerError):
        Reduction.parse(text)
