"""Numbers, draws, batches and reductions have one spelling in paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.files import parsing
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction, spell

positive = st.floats(0, exclude_min=True, allow_infinity=False)
sizes = st.integers(1, 10**15 - 1)
runs = st.integers(0, 10**9)
WRITTEN = {  # what is written, and how it is read
    "positive": (positive, lambda text: parsing.positive("epsilon", text)),
    "order": (st.floats(1, exclude_min=True), parsing.order),
    "whole": (sizes, lambda text: parsing.integer("runs", text)),
    "whole from 0": (st.integers(0, 99), lambda text: parsing.integer("fresh", text, minimum=0)),
    "draws": (
        st.one_of(
            st.builds(Draws, sizes),
            st.builds(Draws, sizes, searched=st.just(True)),
            st.builds(Draws, sizes, fresh=sizes),
        ),
        Draws.parse,
    ),
    "batch": (st.tuples(runs, runs).map(lambda ends: Batch(min(ends), max(ends))), Batch.parse),
    "reduction": (
        st.one_of(
            st.integers(2, 10**9).map(lambda cells: Reduction.of({"cells": cells})),
            st.tuples(st.integers(2, 10**9), positive).map(
                lambda v: Reduction.of({"points": v[0], "power": v[1]})
            ),
        ),
        Reduction.parse,
    ),
}
kinds = pytest.mark.parametrize("kind", WRITTEN)
parts = st.sampled_from(["cells=5", "points=9", "power=1.1", "power=2", "x=1", "cells"])
texts = st.one_of(  # parts of paths, and mistakes of users
    st.text(alphabet="0123456789.+-_eEinfa \n١²", max_size=12),
    st.text(max_size=12),
    st.lists(parts, min_size=1, max_size=4).map("_".join),
)


def text_of(value: object) -> str:
    return spell(value) if isinstance(value, float) else str(value)


@kinds
@given(data=st.data())
def test_what_is_written_is_read(kind, data):
    values, read = WRITTEN[kind]
    value = data.draw(values)
    assert read(text_of(value)) == value


@kinds
@given(text=texts)
def test_a_text_is_written_as_it_was_read_or_is_refused_in_a_line(kind, text):
    """One value has one path: nothing is read from a text that it is not written as."""
    try:
        value = WRITTEN[kind][1](text)
    except EpsilometerError as error:
        refusal = str(error)
        assert "\n" not in refusal
        return
    assert text == text_of(value)


NO_NUMBER = "x 1.0 01 +1 -1 nan 1_0 1e0 ٣ 0x1 1,5"
REFUSED = {  # the beginning of the refusal, and words that are refused
    "positive": ("epsilon=", f"{NO_NUMBER} 0 inf -inf Infinity 1e400 1e-400"),
    "order": ("lambda=", f"{NO_NUMBER} 1 0.5 0 -2 -inf Infinity"),
    "whole": ("runs=", f"{NO_NUMBER} 0 1.5 inf"),
    "draws": (
        "n=",
        f"{NO_NUMBER} 0 1.. ..5 1..0 2..9 1..05 1...5 1..-5 5+ +5 5+0 0+5 5+05 5++5 5+5+5 1..5+5",
    ),
    "batch": ("runs=", "- 5 0- -9 0-9-9 0--9 00-9 0-09 +0-9 0.0-9 a-b 0-٩ 1..9 9-8"),
    "reduction": (
        "",
        "cells cells= cells=1 cells=05 cells=2.0 Cells=5 cells=5_ points=9 cells=5_power=1.1 "
        "power=1.1_points=9 points=1_power=1.1 points=9_power=0 points=9_power=1.10",
    ),
}
REFUSED_BY_ALL = ["", " 5", "5\n", "9" * 5000]


@kinds
def test_other_spellings_are_refused(kind):
    start, many = REFUSED.get(kind, ("", ""))
    for text in many.split() + REFUSED_BY_ALL:
        with pytest.raises(EpsilometerError, match=f"^{start}"):
            WRITTEN[kind][1](text)


def test_the_first_stage_of_what_is_read():
    assert Draws.parse("20+50").first_stage == Draws(20)
    assert Draws.parse("1..20").first_stage == Draws(20, searched=True)
