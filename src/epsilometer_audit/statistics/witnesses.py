"""The event that a verdict names: that of the bet that won, in words that a person can check.

A score of several entries is told by one to three conditions on its strongest entries, if some of
them together are far more frequent on one input. Past draws choose these conditions; the draws that
are counted had no part in it. The ends of ranges have as few digits as keep all counted draws where
they are, so that words and counts mean the same event.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from epsilometer.claims import Claim
from epsilometer.events.digits import in_few_digits
from epsilometer.events.events import Event, Ranges, View, entries_of
from epsilometer.events.relations import ALL_SETS, COMPARED, PAIRED
from epsilometer.events.scores import CELLS, ENTRIES, ROWS, suspects
from epsilometer.numerics.arrays import Floats, Sample
from epsilometer.numerics.ratios import ratio
from epsilometer_audit.outputs.outcomes import Layout

VISIBLE = 3.0, 2.0  # standard deviations between the shares of two sides; else at least so many
_STRONGEST = 8  # entries of a score that conditions are about, and values of a word
_BINS = 50  # of a histogram
_BEYOND = 0.001  # share of draws beyond either end
_TERMS = 3  # conditions
_BETTER = 1.15  # times as many standard deviations with one condition more
_FEW_VALUES = 6  # of an entry, up to which each has a condition
_FARTHEST = 1e300  # number in the middle of a histogram: differences of two are finite
_QUANTILES = 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95  # of an entry, at which half-lines end


@dataclass(frozen=True)
class Chosen:
    """An event, whether it is likelier on x', and the layout of the outputs."""

    event: Event
    swapped: bool
    layout: Layout


@dataclass(frozen=True)
class Histogram:
    """Counts of fresh draws of both sides, x first, by the number that an event looks at.

    ``edges`` are those of k bins, ``(k + 1,)``; the first and the last bin hold what lies beyond.
    ``discrete`` tells that each bin is one value; ``labels`` may name them.
    """

    name: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    counts_prime: tuple[int, ...]
    discrete: bool
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class EventCounts:
    """An event and its counts ``hits`` of ``draws``, first on the side where it is likelier.

    This is x' if ``swapped``. ``whole`` is the event of the bet where ``event`` only has some
    conditions of it. ``predicted`` tells that the bet was on predicted distributions.
    """

    event: Event
    layout: Layout
    swapped: bool
    hits: tuple[int, int]
    draws: tuple[int, int]
    whole: Event | None = None
    predicted: bool = False
    histogram: Histogram | None = None

    @property
    def apart(self) -> float:
        """How many standard deviations the first share is above the other."""
        p, q = self.shares
        share = sum(self.hits) / sum(self.draws)
        spread = math.sqrt(share * (1 - share) * sum(1 / n for n in self.draws))
        return float(ratio(p - q, spread))

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of draws in the event."""
        return self.hits[0] / self.draws[0], self.hits[1] / self.draws[1]


def count_event(
    chosen: Chosen, before: Sequence[Sample], fresh: Sequence[Sample], claim: Claim, predicted: bool
) -> EventCounts:
    """Count an event, or conditions of it, in the fresh draws of both sides, x first.

    Conditions are chosen on the draws ``before``. All are encoded by the layout.
    """
    event = chosen.event
    layout = chosen.layout
    sides = fresh
    if chosen.swapped:
        sides = fresh[::-1]
        before = before[::-1]
    draws = len(sides[0]), len(sides[1])

    def counted(shown: Event, whole: Event | None) -> EventCounts:
        hits = shown.count(sides[0]), shown.count(sides[1])
        histogram = _histogram(shown, layout, fresh)
        short = in_few_digits(shown, sides)
        return EventCounts(short, layout, chosen.swapped, hits, draws, whole, predicted, histogram)

    if event.view.kind in ("score", "learned"):
        conditions = _conditions(event.view, layout, before, claim)
        if conditions is not None:
            in_conditions = counted(conditions, event)
            p, q = in_conditions.shares
            if in_conditions.apart > VISIBLE[0] and p > claim.unsuspicious(np.array(q)):
                return in_conditions
    return counted(event, None)


def first_visible(events: Iterable[EventCounts | None]) -> EventCounts | None:
    """Return the first event whose counts differ clearly; else that whose counts differ most.

    None if those of no event differ visibly.
    """
    others = []
    for event in events:
        if event is None or event.apart <= VISIBLE[1]:
            continue
        if event.apart > VISIBLE[0]:
            return event
        others.append(event)
    return max(others, key=lambda event: event.apart, default=None)


def beyond(claim: Claim, p: Floats, q: Floats, draws: Sequence[float]) -> Floats:
    """Return by how many standard deviations events of shares p and q exceed the claim.

    Each share has a draw more that is inside by half. For Rényi divergences, p exceeds q.
    """
    n, m = draws
    p = (p * n + 0.5) / (n + 1)
    q = (q * m + 0.5) / (m + 1)
    allowed = claim.unsuspicious(q)
    slope = allowed / q
    variance = p * (1 - p) / n + slope**2 * q * (1 - q) / m
    return np.asarray((p - allowed) / np.sqrt(variance))


def looked_at(layout: Layout) -> str:
    """Say which functions of the columns of an output an audit looks at, and which not."""
    size = len(layout.columns)
    if size == 1:
        return _looked_at_one(layout)
    looks = f"columns one by one, all pairs of {size}"
    if size > ENTRIES:
        looks = f"the {ENTRIES} of {size} columns that differ most, one by one and in pairs"
    looks += f" in {CELLS} x {CELLS} cells"
    if layout.whole:
        looks += ", rows"
    if layout.groups:
        looks += ", sums, ends, places and equality of entries"
    looks += f", remainders of sums and differences of two{_among(PAIRED, layout.numbers)}"
    if size > 2:
        several = "parities of three" if size > ALL_SETS else "parities"
        looks += f", {several}{_among(COMPARED, layout.columns)}"
    return f"{looks}; not: finer laws of two, other functions of three or more"


def _among(most: int, columns: Sequence[object]) -> str:
    """Say of how many columns a relation is looked for, if these are more."""
    return f" of the first {most}" if len(columns) > most else ""


def _looked_at_one(layout: Layout) -> str:
    """Say the same of outputs of one column."""
    if layout.columns[0].kind == "word":
        return "each word, and sets of words"
    looks = "values, ranges, remainders"
    if layout.whole:
        looks += f", bits, sums of bits, parities of up to {ALL_SETS} bits and of three"
    elif not layout.as_reals:
        looks += ", low bits"
    return f"{looks}; not: other functions of digits or bits"


# --- conditions on the entries of a score ---------------------------------------------------------


def _conditions(view: View, layout: Layout, before: Sequence[Sample], claim: Claim) -> Event | None:
    """Return one to three conditions that together exceed the claim most, if they do so clearly.

    The first are one or two; a further one is added while it makes a clear difference.
    """
    sides = [side[:ROWS] for side in before]
    events = _single_conditions(view, layout, sides)
    if not events:
        return None
    met, met_prime = (_met(events, side) for side in sides)
    draws = [float(len(side)) for side in sides]
    entry = np.array([event.view.entry for event in events])
    alone = beyond(claim, met.mean(axis=0), met_prime.mean(axis=0), draws)
    together = beyond(
        claim, met.T @ met / len(met), met_prime.T @ met_prime / len(met_prime), draws
    )
    together[np.equal.outer(entry, entry)] = -np.inf
    best = float(alone.max())
    chosen = [int(alone.argmax())]
    if together.max() > _BETTER * best:
        best = float(together.max())
        chosen = list(divmod(int(together.argmax()), len(events)))
    while len(chosen) < _TERMS:
        p = met[:, chosen].prod(axis=1) @ met / len(met)
        q = met_prime[:, chosen].prod(axis=1) @ met_prime / len(met_prime)
        more = beyond(claim, p, q, draws)
        more[np.isin(entry, entry[chosen])] = -np.inf
        if more.max() < _BETTER * best:
            break
        best = float(more.max())
        chosen.append(int(more.argmax()))
    if best < VISIBLE[1]:
        return None
    if len(chosen) == 1:
        return events[chosen[0]]
    parts = tuple(events[i] for i in sorted(chosen))
    return Event(((1, 1),), view=View("all", parts=parts))


def _met(events: Sequence[Event], side: Sample) -> Floats:
    """Return 1 where a draw is in an event, else 0, of shape ``(draws, events)``."""
    return np.column_stack([event.holds(side) for event in events]).astype(np.float32)


def _single_conditions(view: View, layout: Layout, sides: Sequence[Sample]) -> list[Event]:
    """Return conditions on the strongest entries of a score, or on its strongest bits."""
    tables = sides
    has_bits = sides[0].ndim == 1
    if has_bits:
        size = 1 + max(view.read)
        tables = [np.column_stack(entries_of(side, size)) for side in sides]
    events: list[Event] = []
    for entry in suspects(tables[0], tables[1], view.read, _STRONGEST):
        of_entry = View("bit" if has_bits else "entry", entry)
        numbers = np.concatenate([of_entry.of(side) for side in sides])
        complete = numbers[~np.isnan(numbers)]
        if complete.size < numbers.size:
            events += [Event((), True, of_entry), Event(((None, None),), False, of_entry)]
        if not has_bits and layout.columns[entry].kind in ("word", "present"):
            conditions = _of_codes(complete)
        else:
            conditions = _of_numbers(complete)
        for ranges in conditions:
            events.append(Event(tuple(ranges), False, of_entry))
    return events


def _of_codes(numbers: Sample) -> list[Ranges]:
    """Return ranges of codes of words: one word, or all others."""
    values = np.unique(numbers)
    conditions: list[Ranges] = []
    if values.size == 1:
        return conditions
    for value in values[:_STRONGEST].tolist():
        conditions.append([(value, value)])
        if values.size > 2:
            conditions.append([(None, value - 1), (value + 1, None)])
    return conditions


def _of_numbers(numbers: Sample) -> list[Ranges]:
    """Return ranges of numbers: single ones, if they are few, and half-lines."""
    values = np.unique(numbers)
    conditions: list[Ranges] = []
    ends = values
    if values.size > _FEW_VALUES:
        ends = np.unique(np.quantile(numbers, _QUANTILES, method="lower"))
    elif values.size > 1:
        conditions += [[(value, value)] for value in values.tolist()]
    if values.size > 2:
        for end in ends[ends < values[-1]]:
            after = values[np.searchsorted(values, end, side="right")]
            conditions += [[(None, end.item())], [(after.item(), None)]]
    return conditions


def _histogram(event: Event, layout: Layout, fresh: Sequence[Sample]) -> Histogram | None:
    """Return the counts of what an event looks at; of several conditions, whether all hold."""
    view = event.view
    sides = [np.asarray(view.of(side), float) for side in fresh]
    pooled = np.concatenate(sides)
    pooled = pooled[np.abs(pooled) < _FARTHEST]
    if not pooled.size:
        return None
    values = np.unique(pooled)
    discrete = values.size <= _BINS
    if discrete:
        middles = (values[1:] + values[:-1]) / 2
        edges = np.concatenate([values[:1] - 0.5, middles, values[-1:] + 0.5])
    else:
        ends = np.quantile(pooled, [_BEYOND, 1 - _BEYOND])
        edges = np.linspace(ends[0], max(ends[1], np.nextafter(ends[0], np.inf)), _BINS + 1)
    counts = []
    for side in sides:
        inside = np.clip(side[np.isfinite(side)], edges[0], edges[-1])
        counts.append(tuple(np.histogram(inside, edges)[0].tolist()))
    return Histogram(
        name="output" if view.kind in ("row", "all") else layout.number_of(event),
        edges=tuple(edges.tolist()),
        counts=counts[0],
        counts_prime=counts[1],
        discrete=discrete,
        labels=_labels(view, layout, values) if discrete else (),
    )


def _labels(view: View, layout: Layout, values: Floats) -> tuple[str, ...]:
    """Return the names of values of a view; none of numbers."""
    if view.kind in ("row", "all"):
        return tuple("event" if value else "other" for value in values)
    if view.kind in ("output", "entry"):
        column = layout.columns[view.entry]
        if column.kind in ("word", "present"):
            return tuple(column.value(int(value)) for value in values)
    return ()
