"""Events hold the outputs of their ranges, and survive a file."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer_audit.events.candidates import FOLDS, fifths
from epsilometer_audit.events.events import Event, Table, View, row_codes
from tests.unit.written_events import again

NAN, INF = math.nan, math.inf
SCORE = View(
    "score",
    tables=(
        Table((0,), ((0.0,),), (-1.0, 2.0, 5.0)),
        Table((1,), ((1.0, 2.0),), (0.0, 1.0, 3.0, 0.0)),
    ),
)
ROWS = View("row", rows=((1, 1), (7, 7)))


@pytest.mark.parametrize(
    ("event", "outputs", "inside"),
    [
        (Event(((None, -1.0), (0.5, 2.0))), [-5, -1, np.nextafter(-1.0, 0), 0.5, 2, 2.1, NAN, -INF],
         [1, 1, 0, 1, 1, 0, 0, 1]),
        (Event(((None, None),)), [-INF, 0.0, INF], [1, 1, 1]),
        (Event(((-INF, -INF), (1.0, INF))), [-INF, 0.0, 2.0, INF], [1, 0, 1, 1]),
        (Event(()), [1.0, NAN], [0, 0]),
        (Event((), missing=True), [1.0, NAN], [0, 1]),
        (Event((), missing=True), [1, 2], [0, 0]),
        (Event(((4.0, None),), view=View("entry", 1)), [[0.0, 9.0], [5.0, 1.0]], [1, 0]),
        (Event(((1, 1),), view=View("bit", 2)), [0b0101, 0b0010], [1, 0]),
        (Event(((1, 1),), view=ROWS), [[0, 1], [1, 1], [1, 0]], [0, 1, 0]),
        (Event(((3.0, 4.0),), view=SCORE), [[-1, 0], [0, 1.5], [1, 2], [NAN, NAN]], [0, 1, 0, 0]),
    ],
)  # fmt: skip
def test_an_event_holds_the_outputs_of_its_closed_ranges(event, outputs, inside):
    assert again(event).holds(np.array(outputs)).tolist() == [bool(each) for each in inside]


def test_a_score_adds_up_over_the_entries():
    outputs = np.array([[-1.0, 0.0], [0.0, 1.5], [1.0, 2.0], [NAN, NAN]])
    assert SCORE.of(outputs).tolist() == [-1.0, 3.0, 5.0, 5.0]


def test_whole_numbers_beyond_2_to_the_53_stay_apart():
    event = again(Event(((2**60 + 1, 2**60 + 1),)))
    assert event.holds(2**60 + np.arange(4)).tolist() == [False, True, False, False]
    everything = Event(((None, None),))
    limits = np.iinfo(np.int64)
    assert everything.holds(np.array([limits.min, 0, limits.max])).all()
    # beyond the outputs' type
    assert Event(((2**40, None),)).holds(np.array([5], np.int32)).tolist() == [False]


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


@pytest.mark.parametrize("size", [1, 4, 5, 7, 100])
def test_fifths_hold_every_draw_once(size):
    every = np.arange(size)
    parts = [every[part] for part in fifths(size)]
    assert len(parts) == FOLDS
    np.testing.assert_array_equal(np.concatenate(parts), every)


RNG = np.random.default_rng(2)
WHOLE = RNG.integers(-9, 50, 1000).astype(np.int32)
ENDS = tuple(map(tuple, np.sort(RNG.normal(size=60)).reshape(-1, 2).tolist()))
REALS = np.concatenate([RNG.normal(size=2000), [b for _, b in ENDS], [np.nan, np.inf]])


@pytest.mark.parametrize(
    ("event", "sample"),
    [
        (Event(()), WHOLE),
        (Event(((None, 3), (5, 5), (9, None))), WHOLE),
        (Event(tuple((i, i) for i in range(0, 40, 2))), WHOLE),
        (Event(((1, 1),), view=View("bit", 2)), WHOLE),
        (Event(ENDS), REALS),
        (Event(((None, ENDS[0][1]), *ENDS[1:3]), missing=True), REALS),
    ],
)
def test_an_event_counts_the_outputs_that_it_holds(event, sample):
    naive = [
        any((a is None or value >= a) and (b is None or value <= b) for a, b in event.ranges)
        or (event.missing and math.isnan(value))
        for value in event.view.of(sample).tolist()
    ]
    assert event.holds(sample).tolist() == naive
    assert event.count(sample) == sum(naive)
