"""Draws on an input, in the order of the calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.arrays import Bools, Counts, Floats, Integers
from epsilometer.events.events import codes_of, in_parts
from epsilometer_audit.checks.permutations import Scores
from epsilometer_audit.formats import input_text
from epsilometer_audit.outcomes.outcomes import learn
from epsilometer_audit.outcomes.shapes import joined

Draw = Callable[[Any, int, int], Any]
"""A function of input, number and seed that returns raw outputs."""

_SHORT = 12  # short calls on an input
_PART = 40  # one draw in 40 is in each short call; one in 40 is a call of its own
_ENTRIES = 4  # entries that have a score of their own
_ADDED = 64  # entries that are added up
_FEW, _CUTS = 8192, 32  # numbers, of more there are classes between cuts
_ROWS = 1 << 16  # outputs in a part


class Sample:
    """Outputs in some order, with codes of equal outputs and bounded scores.

    ``tables`` has the encoded outputs of each batch, of shape ``(n,)`` or ``(n, d)``, ``codes`` a
    number for each output, the same for equal outputs, and ``times`` how often each is there.
    """

    def __init__(self, batches: Sequence[Any], name: str) -> None:
        self.name, self.batches, self.size = name, [*map(len, batches)], sum(map(len, batches))
        self.layout = learn(*batches)
        self.tables = [self.layout.encode(batch) for batch in batches]
        self.codes, self.times = self._coded()

    def _parts(self, i: int) -> list[NDArray[Any]]:
        """Return a column of all outputs in parts, which take less memory and time each."""
        columns = [table.reshape(len(table), -1)[:, i] for table in self.tables]
        return [c[at : at + _ROWS] for c in columns for at in range(0, len(c), _ROWS)]

    def _coded(self) -> tuple[Integers, Counts]:
        if not self.layout.whole:
            first = np.concatenate(self._parts(0))
            first.sort()
            if (first[1:] > first[:-1]).all():  # so do the outputs differ
                return np.arange(self.size, dtype=np.int32), np.broadcast_to(np.int64(1), self.size)
            del first
        near = all(table.min() >= -(2**31) and table.max() < 2**31 for table in self.tables)
        dtype = np.int32 if near and self.layout.whole else None  # in less memory
        codes = codes_of(np.concatenate(self.tables, dtype=dtype, casting="unsafe"))
        parts = in_parts(codes) if (size := int(codes.max()) + 1) < _ROWS else [codes]
        times = sum((np.bincount(part, None, size) for part in parts), np.zeros(1, int))
        return codes.astype(np.int32, copy=False), times

    @cached_property
    def scores(self) -> list[Scores]:
        """Scores that are not constant.

        They are the ranks of some entries, and of the sum of all with random signs; the squared
        distance of that from the median; and a random sign for each value, if outputs repeat.
        """
        rng, few = np.random.default_rng(0), self.times.size <= self.size // 2
        width, entries = self.tables[0][0].size, [(self.codes, self.times)]
        if width > 1 or not few:  # else the codes are in the order of numbers
            entries = [_classes(self._parts(i)) for i in spread(width, _ADDED)]
        entries = [entry for entry in entries if entry[1].size > 1]
        chosen = [entries[i] for i in spread(len(entries), _ENTRIES)]
        if len(entries) > 1:
            added = np.zeros(self.size, np.int64)  # sums are exact
            for sign, (classes, n) in zip(rng.choice([-1, 1], len(entries)), entries, strict=True):
                added += (sign * np.rint(2 * self.size * _ranks(n)).astype(np.int64))[classes]
            chosen.append(_classes(np.array_split(added, -(-self.size // _ROWS))))
        scores = [Scores(_ranks(n), n, classes) for classes, n in chosen]
        scores += [Scores((_ranks(n) - 0.5) ** 2, n, classes) for classes, n in chosen[-1:]]
        if few:
            scores.append(Scores(rng.choice([-1.0, 1.0], self.times.size), self.times, self.codes))
        return [score for score in scores if score.values.any()]


class Calls(Sample):
    """All draws on one input, call by call: their seeds, the inputs of the calls before, outputs.

    An input is a number. ``short`` has the positions of the outputs of short calls, a row for each.
    """

    def __init__(self, number: int, x: Any, calls: Sequence[tuple[int, int, Any]]) -> None:
        sizes = [len(outputs) for *_, outputs in calls]
        super().__init__([joined([outputs for *_, outputs in calls])], f"on input {input_text(x)}")
        self.number, self.batches = number, sizes
        self.seeds = [seed for seed, *_ in calls]
        self.before = np.repeat([before for _, before, _ in calls], sizes)
        self.ends = np.cumsum(sizes)
        self.longest = int(np.argmax(sizes))  # call
        self.long = self.rows(self.longest)
        short = [i for i, size in enumerate(sizes) if 1 < size < max(sizes)]
        self.first = short[0]  # short call
        self.short = np.array([np.arange(self.size)[self.rows(i)] for i in short])

    def rows(self, i: int) -> slice:
        """Return the positions of the outputs of a call."""
        return slice(int(self.ends[i]) - self.batches[i], int(self.ends[i]))

    def groups(self) -> Iterator[tuple[str, Bools]]:
        """Yield names of groups of draws that were fixed before the draws, and who is in them."""
        starts, places = np.zeros(self.size, bool), np.arange(self.size)
        starts[[0, *self.ends[:-1]]] = True
        sizes, largest = np.repeat(self.batches, self.batches), max(self.batches)
        yield "first outputs of calls", starts
        yield "outputs of calls of one draw", sizes == 1
        yield f"outputs of a call of {largest} draws", sizes == largest
        for other in np.unique(self.before[self.before >= 0]).tolist():
            which = "the same input" if other == self.number else "another input"
            after = self.before == other
            yield f"outputs of calls after one on {which}", after
            yield f"first outputs of calls after one on {which}", starts & after
        for size, end in zip(self.batches, self.ends, strict=True):
            if size > 1:
                yield f"outputs of a call of {size} draws", (end - size <= places) & (places < end)
                yield "early outputs", places < end


def draw_calls(
    draw: Draw, inputs: Sequence[Any], draws: int, rng: np.random.Generator
) -> list[Calls]:
    """Draw on all inputs in random order: some calls of one draw, all others, some of one draw.

    So some calls directly follow a call of the same size: noise may be kept from one to the next.
    """
    few, ones = max(draws // _PART, 2), draws // _PART
    sizes = [few] * _SHORT
    sizes.append(max(draws - sum(sizes) - ones - few, few + 1))  # one call will be repeated
    requests: list[tuple[int, int]] = []
    for phase in ([1] * (ones // 2), sizes, [1] * (ones - ones // 2)):
        calls = [(x, size) for x in range(len(inputs)) for size in phase]
        requests += [calls[i] for i in rng.permutation(len(calls)).tolist()]
    seeds = rng.choice(2**31, len(requests), replace=False).tolist()
    drawn: list[list[tuple[int, int, Any]]] = [[] for _ in inputs]
    before = -1
    for (x, size), seed in zip(requests, seeds, strict=True):
        drawn[x].append((seed, before, draw(inputs[x], size, seed)))
        before = x
    return [Calls(i, x, calls) for i, (x, calls) in enumerate(zip(inputs, drawn, strict=True))]


def spread(size: int, most: int) -> list[int]:
    """Return at most ``most`` of the first ``size`` numbers, evenly spaced, with both ends.

    >>> spread(9, 3)
    [0, 4, 8]
    """
    return sorted({round(i) for i in np.linspace(0, size - 1, min(size, most)).tolist()})


def _classes(parts: Sequence[NDArray[Any]]) -> tuple[Integers, Counts]:
    """Return rising classes of numbers, ``(n,)``, of many between cuts, and how many each has."""
    ordered = np.concatenate(parts)
    if ordered.size <= _FEW:
        codes = codes_of(ordered)
        return codes, np.bincount(codes)
    ordered.sort()
    last, tail = ordered.size - 1, 4 ** np.arange(int(math.log(ordered.size / _CUTS, 4)))
    at = np.concatenate([np.linspace(0, last, _CUTS).astype(int), tail, last - tail])
    edges = np.unique(ordered[at])[1:]
    del ordered
    classes, n = [], np.zeros(edges.size + 1, np.int64)
    for part in map(np.ascontiguousarray, parts):
        above, missing = np.zeros(part.size, np.uint8), np.isnan(part)
        for edge in edges:
            above += (part >= edge) | missing  # NaN, the last edge, is a class of its own
        classes.append(above)
        n += np.bincount(above, None, n.size)
    return np.concatenate(classes), n


def _ranks(n: Counts) -> Floats:
    """Return the ranks in [0, 1] of classes in their order, of so many draws each."""
    return np.asarray((np.cumsum(n) - n / 2) / n.sum())
