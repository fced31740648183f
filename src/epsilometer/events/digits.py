"""Events in few digits, for a reader: ends of ranges that hold the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from itertools import chain
from typing import Literal

import numpy as np

from epsilometer.events.events import Event, Number
from epsilometer.numerics.arrays import Floats, Sample


def in_few_digits(event: Event, fresh: Sequence[Sample]) -> Event:
    """Return the event with ends of 3 digits, or as many as keep these draws inside or outside."""
    view = event.view
    if view.kind == "all":
        parts = tuple(in_few_digits(part, fresh) for part in view.parts)
        return replace(event, view=replace(view, parts=parts))
    if not any(isinstance(end, float) for end in chain.from_iterable(event.ranges)):
        return event
    numbers = np.concatenate([view.of(side) for side in fresh])
    numbers.sort()
    if numbers.dtype.kind != "f":
        return event
    ranges = [
        (a, b) if a == b else (_end(a, numbers, "left"), _end(b, numbers, "right"))
        for a, b in event.ranges
    ]
    return replace(event, ranges=tuple(ranges))


def _end(end: Number | None, numbers: Floats, side: Literal["left", "right"]) -> Number | None:
    """Return an end in few digits that has the same numbers below it."""
    if not isinstance(end, float) or not abs(end) < 1e300 or end == round(end):
        return end
    below = numbers.searchsorted(end, side)
    for digits in range(3, 18):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            short = float(Context(prec=digits, rounding=rounding).create_decimal(repr(end)))
            if numbers.searchsorted(short, side) == below:
                return short
    return end
