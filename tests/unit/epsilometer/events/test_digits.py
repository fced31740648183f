"""Events in few digits hold the same draws."""

import math
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.events.digits import in_few_digits
from epsilometer.events.events import Event, View


def half_line(end, is_first):
    return Event(((end, None) if is_first else (None, end),))


@pytest.mark.parametrize("is_first", [True, False])
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30, unique=True), st.data())
def test_an_end_has_as_few_digits_as_keep_the_draws_inside_or_outside(is_first, draws, data):
    ordered = np.sort(draws)
    end = data.draw(st.floats(ordered[0], ordered[-1]) | st.sampled_from(ordered.tolist()))
    inside = half_line(end, is_first).holds(ordered)
    short = in_few_digits(half_line(end, is_first), [ordered[::2], ordered[1::2]])
    assert (short.holds(ordered) == inside).all()
    (told,) = {*short.ranges[0]} - {None}
    digits = len(Decimal(repr(told)).normalize().as_tuple().digits)
    for fewer in range(3, digits):  # none of fewer digits would do
        for rounding in ("ROUND_FLOOR", "ROUND_CEILING"):
            near = float(Context(fewer, rounding).create_decimal(repr(end)))
            assert (half_line(near, is_first).holds(ordered) != inside).any()


def test_an_end_between_near_draws_far_from_0_has_the_digits_that_part_them():
    draws = 1e9 + np.array([0.1, 0.2])
    short = in_few_digits(half_line(1e9 + 0.16789123, False), [draws, draws])
    assert short.ranges[0][1] in (1000000000.1, 1000000000.17)
    assert short.holds(draws).tolist() == [True, False]


def test_parts_of_an_event_have_few_digits_but_not_fewer_than_three():
    part = Event(((0.12345, 0.98765),), view=View("entry", 1))
    event = Event(((1, 1),), view=View("all", parts=(part,)))
    (short,) = in_few_digits(event, [np.zeros((1, 2)), np.ones((1, 2))]).view.parts
    assert short == Event(((0.123, 0.988),), view=part.view)


@pytest.mark.parametrize(
    "event",
    [
        Event(((0.123456789, 0.123456789),)),
        Event(((123456789, None),)),
        Event(((123456.0, None),)),
        Event(((None, math.inf),)),
        Event(((1, 1),), view=View("bit", 3)),
        Event(((-53, -50.123456),), view=View("low bit")),
    ],
)
def test_values_whole_numbers_and_what_no_reader_sees_keep_their_digits(event):
    assert in_few_digits(event, [np.array([0.1, 7.0]), np.array([2.0])]) == event
