"""Events hold the outputs of their text, and survive a file."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer_audit.events.events import Event, View, row_codes
from epsilometer_audit.outcomes.outcomes import learn


def text(event):
    """Return the text of an event of reals."""
    return learn([0.5, 1.5]).text(event)


def again(event):
    """Return an event that was written down and read."""
    restored = Event.from_plain(json.loads(json.dumps(event.to_plain(), allow_nan=False)))
    assert restored == event
    return restored


def test_ranges_are_closed_and_open_ends_have_none():
    event = again(Event(((None, -1.0), (0.5, 2.0))))
    draws = np.array([-5.0, -1.0, np.nextafter(-1.0, 0), 0.5, 1.9, 2.0, 2.1, math.nan, -math.inf])
    assert event.holds(draws).tolist() == [1, 1, 0, 1, 1, 1, 0, 0, 1]
    assert text(event) == "output <= -1.0 or 0.5 <= output <= 2.0"
    assert text(Event(((3, 3), (7, None)))) == "output = 3 or output >= 7"
    close = Event(((None, 0.12345671), (0.12345678, None)))
    assert text(close) == "output <= 0.12345671 or output >= 0.12345678"
    assert Event(((None, None),)).holds(draws[:7]).all()


def test_infinite_ends_survive_a_file():
    event = again(Event(((-math.inf, -math.inf), (1.0, math.inf))))
    draws = np.array([-math.inf, 0.0, 2.0, math.inf])
    assert event.holds(draws).tolist() == [True, False, True, True]
    assert text(Event(((None, float(np.finfo(float).max)),))) == "output < inf"


def test_no_ranges_hold_missing_numbers_only():
    draws = np.array([1.0, math.nan])
    assert again(Event(())).holds(draws).tolist() == [False, False]
    assert again(Event((), missing=True)).holds(draws).tolist() == [False, True]
    assert text(Event((), missing=True)) == "output is NaN"
    assert Event((), missing=True).holds(np.array([1, 2])).tolist() == [False, False]


def test_whole_numbers_beyond_2_to_the_53_stay_apart():
    event = again(Event(((2**60 + 1, 2**60 + 1),)))
    assert event.holds(2**60 + np.arange(4)).tolist() == [False, True, False, False]
    everything = Event(((None, None),))
    limits = np.iinfo(np.int64)
    assert everything.holds(np.array([limits.min, 0, limits.max])).all()
    # beyond the outputs' type
    assert Event(((2**40, None),)).holds(np.array([5], np.int32)).tolist() == [False]


def test_entries_bits_and_rows():
    vectors = np.array([[0.0, 9.0], [5.0, 1.0]])
    assert again(Event(((4.0, None),), view=View("entry", 1))).holds(vectors).tolist() == [1, 0]
    assert learn(vectors).text(Event(((4.0, None),), view=View("entry", 1))) == "entry 1 >= 4.0"
    bits = np.array([0b0101, 0b0010])
    assert again(Event(((1, 1),), view=View("bit", 2))).holds(bits).tolist() == [True, False]
    rows = np.array([[0, 1], [1, 1], [1, 0]], np.int32)
    event = again(Event(((1, 1),), view=View("row", rows=((1, 1), (7, 7)))))
    assert event.holds(rows).tolist() == [False, True, False]


def test_a_score_adds_up_over_the_entries():
    scores = (((0.0,), (-1.0, 2.0), 5.0), ((1.0, 2.0), (0.0, 1.0, 3.0), 0.0))
    view = View("score", scores=scores)
    outputs = np.array([[-1.0, 0.0], [0.0, 1.5], [1.0, 2.0], [math.nan, math.nan]])
    assert view.of(outputs).tolist() == [-1.0, 3.0, 5.0, 5.0]
    assert again(Event(((3.0, 4.0),), view=view)).holds(outputs).tolist() == [0, 1, 0, 0]


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=3, max_size=3), min_size=1))
def test_rows_are_equal_where_their_codes_are(rows):
    table = np.array(rows + rows[::-1], np.int32)
    codes = row_codes(table)
    same = (table[:, None] == table).all(axis=2)
    assert ((codes[:, None] == codes) == same).all()


def test_codes_of_many_wide_entries_do_not_overflow():
    rng = np.random.default_rng(0)
    table = rng.integers(-(2**31), 2**31, (1000, 20)).astype(np.int32)
    table[500:] = table[:500]
    codes = row_codes(table)
    assert np.unique(codes).size == 500
    assert (codes[:500] == codes[500:]).all()


def test_rows_must_be_a_table():
    with pytest.raises(ValueError, match="rows must have shape"):
        row_codes(np.zeros(3, int))
