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

from epsilometer.arrays import Floats, Sample
from epsilometer.claims import Claim, EventClaim
from epsilometer.events.digits import in_few_digits
from epsilometer.events.events import Event, View, entries_of
from epsilometer.events.scores import CELLS, ENTRIES, ROWS, suspects
from epsilometer.ratios import ratio
from epsilometer_audit.outcomes.outcomes import Layout

VISIBLE = 3.0, 2.0  # standard deviations between the shares of two sides; else at least so many
_STRONGEST = 8  # entries of a score that conditions are about, and values of a word
_BINS, _BEYOND = 50, 0.001  # of a histogram; share of draws beyond either end
_TERMS, _BETTER = 3, 1.15  # conditions; times as many standard deviations with one more
Chosen = tuple[Event, bool, Layout]  # whether it is likelier on x', and the layout of outputs


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
class Found:
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
        p, q = (hits / n for hits, n in zip(self.hits, self.draws, strict=True))
        share = sum(self.hits) / sum(self.draws)
        spread = math.sqrt(share * (1 - share) * sum(1 / n for n in self.draws))
        return float(ratio(p - q, spread))


def found(
    chosen: Chosen, before: Sequence[Sample], fresh: Sequence[Sample], claim: Claim, predicted: bool
) -> Found:
    """Count an event, or conditions of it, in the fresh draws of both sides, x first.

    Conditions are chosen on the draws ``before``. All are encoded by the layout.
    """
    event, swapped, layout = chosen
    turn = -1 if swapped else 1
    before, fresh = before[::turn], fresh[::turn]
    draws = len(fresh[0]), len(fresh[1])

    def counted(told: Event, whole: Event | None) -> Found:
        hits = told.count(fresh[0]), told.count(fresh[1])
        shown = _histogram(told, layout, fresh[::turn])
        short = in_few_digits(told, fresh)
        return Found(short, layout, swapped, hits, draws, whole, predicted, shown)

    if event.view.kind in ("score", "learned"):
        conditions = _conditions(event.view, layout, before, claim)
        if conditions is not None:
            told = counted(conditions, event)
            p, q = (hits / n for hits, n in zip(told.hits, draws, strict=True))
            if told.apart > VISIBLE[0] and p > _allowed(claim, np.array(q)):
                return told
    return counted(event, None)


def first_visible(finds: Iterable[Found | None]) -> Found | None:
    """Return the first event whose counts differ clearly; else that whose counts differ most.

    None if those of no event differ visibly.
    """
    others = []
    for each in finds:
        if each is not None and each.apart > VISIBLE[0]:
            return each
        others += [each] if each is not None and each.apart > VISIBLE[1] else []
    return max(others, key=lambda each: each.apart, default=None)


def beyond(claim: Claim, p: Floats, q: Floats, draws: Sequence[float]) -> Floats:
    """Return by how many standard deviations events of shares p and q exceed the claim.

    Each share has a draw more that is inside by half. For Rényi divergences, p exceeds q.
    """
    p, q = ((share * n + 0.5) / (n + 1) for share, n in zip((p, q), draws, strict=True))
    allowed = _allowed(claim, q)
    spread = p * (1 - p) / draws[0] + (allowed / q) ** 2 * q * (1 - q) / draws[1]
    return np.asarray((p - allowed) / np.sqrt(spread))


def _allowed(claim: Claim, q: Floats) -> Floats:
    """Return the largest probabilities on the other side; of a Rényi claim, the same."""
    return claim.likelier(q, claim.level) if isinstance(claim, EventClaim) else q


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
    return f"{looks}; not: finer laws of two, other functions of three or more"


def _looked_at_one(layout: Layout) -> str:
    """Say the same of outputs of one column."""
    if layout.columns[0].kind == "word":
        return "each word, and sets of words"
    looks = "values, ranges, remainders"
    if layout.whole:
        looks += ", bits and sums of bits"
    elif not layout.as_reals:
        looks += ", low bits"
    return f"{looks}; not: other functions of digits or bits"


# --- conditions on the entries of a score ---------------------------------------------------------


def _conditions(view: View, layout: Layout, before: Sequence[Sample], claim: Claim) -> Event | None:
    """Return one to three conditions that together exceed the claim most, if they do so clearly."""
    sides = [side[:ROWS] for side in before]
    bits = sides[0].ndim == 1
    size = 1 + max(view.read)
    tables = [np.column_stack(entries_of(side, size)) if bits else side for side in sides]
    entries = suspects(tables[0], tables[1], view.read, _STRONGEST)
    events, of_entry = [], []
    for entry in entries:
        each = View("bit" if bits else "entry", entry)
        coded = not bits and layout.columns[entry].kind in ("word", "present")
        some = _of_entry(each, np.concatenate([each.of(side) for side in sides]), coded=coded)
        events += some
        of_entry += [entry] * len(some)
    if not events:
        return None
    inside = [np.column_stack([e.holds(side) for e in events]).astype(np.float32) for side in sides]
    same, draws = np.equal.outer(of_entry, of_entry), [float(len(side)) for side in sides]
    chosen: list[int] = []
    best, held = -np.inf, [np.ones(len(side), np.float32) for side in sides]
    while len(chosen) < _TERMS:
        p, q = (h @ c / len(c) for h, c in zip(held, inside, strict=True))
        singles = beyond(claim, p, q, draws)
        singles[np.isin(of_entry, [of_entry[i] for i in chosen])] = -np.inf
        options = [(float(singles.max()), [int(singles.argmax())])]
        if len(chosen) + 2 <= _TERMS:
            p, q = ((c * h[:, None]).T @ c / len(c) for h, c in zip(held, inside, strict=True))
            pairs = beyond(claim, p, q, draws)
            pairs[same] = -np.inf
            first, second = divmod(int(pairs.argmax()), len(events))
            options.append((float(pairs.max()) / _BETTER, [first, second]))
        gain, more = max(options)
        if chosen and gain < _BETTER * best:
            break
        best = gain * _BETTER if len(more) == 2 else gain
        chosen += more
        held = [h * c[:, more].prod(axis=1) for h, c in zip(held, inside, strict=True)]
    if best < VISIBLE[1]:
        return None
    parts = tuple(events[i] for i in sorted(chosen, key=lambda i: entries.index(of_entry[i])))
    return parts[0] if len(parts) == 1 else Event(((1, 1),), view=View("all", parts=parts))


def _of_entry(view: View, numbers: Sample, *, coded: bool) -> list[Event]:
    """Return conditions on an entry: values that it has or has not, and half-lines."""
    there = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
    values = np.unique(there)
    few, conditions = values.size <= 6, []
    if values.size > 1 and (few or coded):
        for value in values[:_STRONGEST].tolist():
            conditions.append([(value, value)])
            if coded and values.size > 2:
                conditions.append([(None, value - 1), (value + 1, None)])
    if not coded and values.size > 2:
        shares = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
        at = values[:-1] if few else np.unique(np.quantile(there, shares, method="lower"))
        for end in at[at < values[-1]]:
            after = values[np.searchsorted(values, end, side="right")]
            conditions += [[(None, end.item())], [(after.item(), None)]]
    events = [Event(tuple(ranges), False, view) for ranges in conditions]
    if there.size < numbers.size:
        events = [Event((), True, view), Event(((None, None),), False, view), *events]
    return events


def _histogram(event: Event, layout: Layout, fresh: Sequence[Sample]) -> Histogram | None:
    """Return the counts of what an event looks at; of several conditions, whether all hold."""
    view = event.view
    sides = [np.asarray(view.of(side), float) for side in fresh]
    pooled = np.concatenate(sides)
    pooled = pooled[np.isfinite(pooled)]
    if not pooled.size:
        return None
    values, labels = np.unique(pooled), list[str]()
    discrete = values.size <= _BINS
    if discrete:
        middles = (values[1:] + values[:-1]) / 2
        edges = np.concatenate([values[:1] - 0.5, middles, values[-1:] + 0.5])
        column = layout.columns[view.entry] if view.kind in ("output", "entry") else None
        if view.kind in ("row", "all"):
            labels = ["event" if value else "other" for value in values]
        elif column is not None and column.kind in ("word", "present"):
            labels = [column.value(int(value)) for value in values]
    else:
        ends = np.quantile(pooled, [_BEYOND, 1 - _BEYOND])
        edges = np.linspace(ends[0], max(ends[1], np.nextafter(ends[0], np.inf)), _BINS + 1)
    inside = [np.clip(side[np.isfinite(side)], edges[0], edges[-1]) for side in sides]
    counts, counts_prime = (np.histogram(side, edges)[0].tolist() for side in inside)
    name = "output" if view.kind in ("row", "all") else layout.number_of(event)
    both = tuple(counts), tuple(counts_prime)
    return Histogram(name, tuple(edges.tolist()), *both, discrete, tuple(labels))
