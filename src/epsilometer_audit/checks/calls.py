"""Draws on an input, in the order of the calls.

Each input has a dozen short calls, a long one and some of one draw. A `Sample` of the outputs
``["b", "a", "b"]`` has the codes 1, 0, 1 and the times 1, 2, and scores such as their ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.events.events import codes_of, in_parts
from epsilometer.numerics.arrays import Bools, Counts, Floats, Integers, evenly_spaced
from epsilometer_audit.checks.permutations import Scores
from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.shapes import joined

Draw = Callable[[Any, int, int], Any]
"""A function of input, number and seed that returns raw outputs."""

_SHORT = 12  # short calls on an input
_PART = 40  # one draw in 40 is in each short call; one in 40 is a call of its own
_ENTRIES = 4  # entries that have a score of their own
_ADDED = 64  # entries that are added up
_FEW = 8192  # numbers that have a class each; of more there are classes between cuts
_CUTS = 32  # evenly spaced
_ROWS = 1 << 16  # outputs in a part


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of numbers in their order, ``(n,)``, and how many numbers each has, ``(k,)``."""

    classes: Integers
    times: Counts


class Sample:
    """Outputs in some order, with codes of equal outputs and bounded scores.

    ``tables`` has the encoded outputs of each batch, of shape ``(n,)`` or ``(n, d)``, ``codes`` a
    number for each output, the same for equal outputs, and ``times`` how often each is there.
    """

    def __init__(self, batches: Sequence[Any], name: str) -> None:
        self.name = name
        self.batches = list(map(len, batches))
        self.size = sum(self.batches)
        self.layout = learn_layout(*batches)
        self.tables = [self.layout.encode(batch) for batch in batches]
        self.codes, self.times = self._coded()

    def _parts(self, i: int) -> list[NDArray[Any]]:
        """Return a column of all outputs in parts, which take less memory and time each."""
        parts = []
        for table in self.tables:
            column = table.reshape(len(table), -1)[:, i]
            parts += [column[start : start + _ROWS] for start in range(0, len(column), _ROWS)]
        return parts

    def _coded(self) -> tuple[Integers, Counts]:
        if not self.layout.whole:
            first = np.concatenate(self._parts(0))
            first.sort()
            if (first[1:] > first[:-1]).all():  # so do the outputs differ
                return np.arange(self.size, dtype=np.int32), np.broadcast_to(np.int64(1), self.size)
            del first
        dtype: type | None = None
        if self.layout.whole:
            low = min(int(table.min()) for table in self.tables)
            high = max(int(table.max()) for table in self.tables)
            if low >= -(2**31) and high < 2**31:
                dtype = np.int32  # in less memory
        codes = codes_of(np.concatenate(self.tables, dtype=dtype, casting="unsafe"))
        size = int(codes.max()) + 1
        times = np.zeros(size, int)
        for part in in_parts(codes) if size < _ROWS else [codes]:
            times += np.bincount(part, None, size)
        return codes.astype(np.int32, copy=False), times

    @cached_property
    def scores(self) -> list[Scores]:
        """Scores that are not constant.

        They are the ranks of some entries, and of the sum of all with random signs; the squared
        distance of that from the median; and a random sign for each value, if outputs repeat.
        """
        rng = np.random.default_rng(0)
        repeats = self.times.size <= self.size // 2
        entries = self._entries(repeats)
        chosen = [entries[i] for i in evenly_spaced(len(entries), _ENTRIES)]
        if len(entries) > 1:
            chosen.append(self._sum(entries, rng))
        scores = [Scores(_ranks(entry.times), entry.times, entry.classes) for entry in chosen]
        for last in chosen[-1:]:
            from_the_median = (_ranks(last.times) - 0.5) ** 2
            scores.append(Scores(from_the_median, last.times, last.classes))
        if repeats:
            signs = rng.integers(2, size=self.times.size).astype(float)
            scores.append(Scores(signs, self.times, self.codes))
        return [score for score in scores if score.values.any()]

    def _entries(self, repeats: bool) -> list[Classes]:
        """Return classes of some entries that vary."""
        width = self.tables[0][0].size
        if width == 1 and repeats:  # the codes are in the order of numbers
            entries = [Classes(self.codes, self.times)]
        else:
            entries = [_classes(self._parts(i)) for i in evenly_spaced(width, _ADDED)]
        return [entry for entry in entries if entry.times.size > 1]

    def _sum(self, entries: Sequence[Classes], rng: np.random.Generator) -> Classes:
        """Return classes of the sum of the ranks of entries with random signs."""
        added = np.zeros(self.size, np.int64)  # sums are exact
        signs = rng.choice([-1, 1], len(entries))
        for sign, entry in zip(signs, entries, strict=True):
            ranks = 2 * np.cumsum(entry.times) - entry.times  # 2 n times those of `_ranks`
            added += (sign * ranks)[entry.classes]
        return _classes(np.array_split(added, -(-self.size // _ROWS)))


@dataclass(frozen=True)
class Call:
    """Outputs of a call with a seed, directly after one on the input ``before``, a number or -1."""

    seed: int
    before: int
    outputs: Any


class Calls(Sample):
    """All draws on one input, call by call: their seeds, the inputs of the calls before, outputs.

    An input is a number. ``short`` has the positions of the outputs of short calls, a row for each.
    """

    def __init__(self, number: int, x: Any, calls: Sequence[Call]) -> None:
        sizes = [len(call.outputs) for call in calls]
        outputs = joined([call.outputs for call in calls])
        super().__init__([outputs], f"on input {input_text(x)}")
        self.number = number
        self.batches = sizes
        self.seeds = [call.seed for call in calls]
        self.before = np.repeat([call.before for call in calls], sizes)
        self.ends = np.cumsum(sizes)
        self.longest = int(np.argmax(sizes))  # call
        self.long = self.rows(self.longest)
        short = [i for i, size in enumerate(sizes) if 1 < size < max(sizes)]
        self.first = short[0]  # short call
        places = np.arange(self.size)
        self.short = np.array([places[self.rows(i)] for i in short])

    def rows(self, i: int) -> slice:
        """Return the positions of the outputs of a call."""
        return slice(int(self.ends[i]) - self.batches[i], int(self.ends[i]))

    def groups(self) -> Iterator[tuple[str, Bools]]:
        """Yield names of groups of draws that were fixed before the draws, and who is in them."""
        places = np.arange(self.size)
        starts = np.zeros(self.size, bool)
        starts[[0, *self.ends[:-1]]] = True
        sizes = np.repeat(self.batches, self.batches)
        largest = max(self.batches)
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

    There are 40 ``draws`` or more, so that one call is longer than all others.

    So some calls directly follow a call of the same size: noise may be kept from one to the next.
    """
    short = max(draws // _PART, 2)
    ones = draws // _PART
    sizes = [short] * _SHORT
    sizes.append(draws - sum(sizes) - ones - short)  # one call will be repeated
    requests: list[tuple[int, int]] = []
    for phase in ([1] * (ones // 2), sizes, [1] * (ones - ones // 2)):
        calls = list(product(range(len(inputs)), phase))
        requests += [calls[i] for i in rng.permutation(len(calls)).tolist()]
    seeds = rng.choice(2**31, len(requests), replace=False).tolist()
    drawn: list[list[Call]] = [[] for _ in inputs]
    before = -1
    for (number, size), seed in zip(requests, seeds, strict=True):
        drawn[number].append(Call(seed, before, draw(inputs[number], size, seed)))
        before = number
    return list(map(Calls, range(len(inputs)), inputs, drawn))


def _classes(parts: Sequence[NDArray[Any]]) -> Classes:
    """Return classes of numbers.

    Few numbers have a class each; many have classes between cuts.
    """
    ordered = np.concatenate(parts)
    if ordered.size <= _FEW:
        codes = codes_of(ordered)
        return Classes(codes, np.bincount(codes))
    ordered.sort()
    edges = _edges(ordered)
    del ordered
    classes = []
    times = np.zeros(edges.size + 1, np.int64)
    for part in map(np.ascontiguousarray, parts):
        above = np.zeros(part.size, np.uint8)
        is_missing = np.isnan(part)
        for edge in edges:
            above += (part >= edge) | is_missing  # NaN, the last edge, is a class of its own
        classes.append(above)
        times += np.bincount(above, None, times.size)
    return Classes(np.concatenate(classes), times)


def _edges(ordered: NDArray[Any]) -> NDArray[Any]:
    """Return where all classes but the lowest begin: at even places, and at more near both ends."""
    last = ordered.size - 1
    evenly = np.linspace(0, last, _CUTS).astype(int)
    near_an_end = 4 ** np.arange(int(math.log(ordered.size / _CUTS, 4)))
    places = np.concatenate([evenly, near_an_end, last - near_an_end])
    return np.unique(ordered[places])[1:]


def _ranks(times: Counts) -> Floats:
    """Return the ranks in [0, 1] of classes in their order, of so many draws each."""
    return np.asarray((np.cumsum(times) - times / 2) / times.sum())
