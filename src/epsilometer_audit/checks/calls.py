"""Draws on an input, in the order of the calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from epsilometer.arrays import Bools, Counts, Floats
from epsilometer_audit.events.events import codes_of
from epsilometer_audit.formats import input_text
from epsilometer_audit.outcomes.outcomes import learn
from epsilometer_audit.outcomes.shapes import joined

Draw = Callable[[Any, int, int], Any]
"""A function of input, number and seed that returns raw outputs."""

_SHORT = 12  # short calls on an input
_PART = 40  # one draw in 40 is in each short call; one in 40 is a call of its own
_ENTRIES = 4  # entries that have a score of their own
_ADDED = 64  # entries that are added up


class Sample:
    """Outputs in some order, with codes of equal outputs and bounded scores.

    ``table`` has the encoded outputs, of shape ``(n,)`` or ``(n, d)``.
    """

    def __init__(self, batches: Sequence[Any], name: str) -> None:
        self.name, self.batches = name, [len(batch) for batch in batches]
        outputs = joined(batches)
        self.layout = learn(outputs)
        self.table = self.layout.encode(outputs)
        self.size = len(self.table)

    @cached_property
    def codes(self) -> Counts:
        """A number for each output, the same for equal outputs, of shape ``(n,)``."""
        return codes_of(self.table)

    @cached_property
    def times(self) -> Counts:
        """How often each of the different outputs is there."""
        return np.bincount(self.codes)

    @cached_property
    def scores(self) -> list[Floats]:
        """Scores that are not constant, with mean 0, of the outputs of each code, ``(k,)``.

        They are the ranks of some entries, and of the sum of all with random signs; the squared
        distance of that from the median; and a random sign for each value, if outputs repeat.
        """
        rng = np.random.default_rng(0)
        place, size = np.array(self.times), self.times.size  # of an output with each code
        place[self.codes] = np.arange(self.size)
        columns = self.table.reshape(self.size, -1)
        parts = [columns[place, i] for i in spread(columns.shape[1], _ADDED)]
        own = len(parts) == 1  # codes are in the order of numbers
        ranks = [_ranks(np.arange(size) if own else codes_of(p), self.times) for p in parts]
        ranks = [rank for rank in ranks if np.ptp(rank) > 0]
        if not ranks:
            return []
        scores = [ranks[i] for i in spread(len(ranks), _ENTRIES)]
        if len(ranks) > 1:
            whole = np.rint(2 * self.size * np.array(ranks)).astype(np.int64)  # sums are exact
            added = rng.choice([-1, 1], len(ranks)) @ whole
            scores.append(_ranks(codes_of(added), self.times))
        scores.append((scores[-1] - 0.5) ** 2)
        if size <= self.size // 2:
            scores.append(rng.choice([-1.0, 1.0], size))
        for score in scores:
            np.subtract(score, self.times @ score / self.size, out=score)
        return [score for score in scores if np.abs(score).max() > 1e-9]

    def scored(self) -> Iterator[Floats]:
        """Yield each score of all outputs, ``(n,)``."""
        return (score[self.codes] for score in self.scores)


class Calls(Sample):
    """All draws on one input, call by call: their seeds, the inputs of the calls before, outputs.

    An input is a number. ``short`` has the positions of the outputs of short calls, a row for each.
    """

    def __init__(self, number: int, x: Any, calls: Sequence[tuple[int, int, Any]]) -> None:
        super().__init__([outputs for *_, outputs in calls], f"on input {input_text(x)}")
        self.number, sizes = number, self.batches
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


def _ranks(codes: Counts, times: Counts) -> Floats:
    """Return ranks in [0, 1] of outputs with codes in their order, each there so many times."""
    all_times = np.bincount(codes, times)
    return np.asarray(((np.cumsum(all_times) - all_times / 2) / times.sum())[codes])
