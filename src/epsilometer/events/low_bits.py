"""Low bits: which multiples of powers of two outputs are, as a computer holds them.

A floating-point number is an odd number times a power of two, its lowest bit. Noise that is drawn
as such a number, and added to another, leaves traces there of what it was added to: 1 + noise is a
multiple of 2^-53 near 0, where 0 + noise seldom is (mironov2012: *On Significance of the Least
Significant Bits for Differential Privacy*; haney2022: *Precision-based Attacks and Interval
Refining*). Such an event contradicts a claim like any other: it is the outputs themselves that are
released, and not the reals that they stand for.

What can be reached differs from place to place, so that the lowest bit is looked at alone and, too,
together with the range that an output lies in.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from epsilometer.events.candidates import Cells, Counts, Numbers, Sample, deviations
from epsilometer.events.events import LOWEST, NOT_FINITE, SPAN, ZERO, Event, View, lowest_bits

_FEW = 8  # draws of a lowest bit that is looked at by itself
_SURE = (3.0, 3.5, 4.25)  # standard deviations: of all together, of a lowest bit, of a cell


class LowBits(Cells):
    """A cell for each lowest bit that occurred in each range of outputs.

    Parameters
    ----------
    bits, bits_prime
        The lowest bits of both sides, each ``(n,)``; see `lowest_bits`.
    places, places_prime
        The number of the range that each output lies in.
    view
        Which output or entry they are of, and where the ranges start, but the first.
    """

    def __init__(
        self, bits: Counts, bits_prime: Counts, places: Counts, places_prime: Counts, view: View
    ) -> None:
        self.view = view
        finite, others = _levels(bits, bits_prime)
        # one that is not looked at by itself goes with the next below
        ends = [LOWEST, *finite[1:], ZERO + 1]
        self._firsts = np.array([*ends[:-1], *others])
        self._lasts = np.array([*(end - 1 for end in ends[1:]), *others])
        every = np.arange(LOWEST, NOT_FINITE + 1)
        self._level = np.searchsorted(self._firsts, every, side="right") - 1
        self._level[-1] = self._firsts.size - 1 if others else -1
        size = self._firsts.size * (len(view.starts) + 1)
        codes = self._codes(bits, places)
        super().__init__(codes, self._codes(bits_prime, places_prime), size)
        self._cells = np.arange(size)

    @property
    def telling(self) -> bool:
        """Whether lowest bits differ between the sides by more than chance, in the same range.

        In all ranges together by Pearson's test, for one lowest bit over the ranges by that of
        Mantel and Haenszel, or in one cell.
        """
        shape = -1, self._firsts.size
        ours, theirs = (side.reshape(shape) for side in (self._all, self._all_prime))
        excess, variance, free = deviations(ours, theirs)
        times = (ours + theirs) / np.maximum((ours + theirs).sum(axis=1, keepdims=True), 1)
        of_cells = excess**2 / variance
        of_bits = excess.sum(axis=0) ** 2 / np.maximum((variance * (1 - times)).sum(axis=0), 1e-300)
        pearson = (of_cells.sum() - free.sum()) / np.sqrt(2 * max(free.sum(), 1))
        return bool(
            pearson > _SURE[0] or of_bits.max() > _SURE[1] ** 2 or of_cells.max() > _SURE[2] ** 2
        )

    def alone(self) -> LowBits:
        """Return a cell for each lowest bit, wherever outputs lie."""
        found = copy(self)
        found.view = View("low bit", self.view.entry)
        found._cells = np.arange(self._firsts.size)
        found.ordered = self._firsts.size > 1
        of_levels = (folds.reshape(len(folds), -1, self._firsts.size) for folds in self.folds)
        found._take(*(counts.sum(axis=1) for counts in of_levels))
        return found

    def occupied(self) -> LowBits:
        """Return those cells only that hold any draws."""
        found = copy(self)
        found._cells = np.flatnonzero(self._all + self._all_prime)
        found._take(*(counts[:, found._cells] for counts in self.folds))
        return found

    def _codes(self, bits: Counts, places: Counts) -> Counts:
        """Return level and place as one number, below 0 where there is none."""
        levels = self._level[bits - LOWEST]
        return np.where(levels < 0, -1, levels + self._firsts.size * places)

    def coded(self, sample: Sample) -> Counts:
        """Return the cell of other outputs; ``size`` where they have none."""
        numbers = self.view.of(sample)
        places = (numbers + SPAN // 2) // SPAN
        codes = self._codes(numbers - SPAN * places, places)
        found = np.minimum(np.searchsorted(self._cells, codes), self.size - 1)
        return np.where(self._cells[found] == codes, found, self.size)

    def event(self, cells: Counts) -> Event:
        """Return the lowest bits of some cells, neighbours together."""
        ranges: list[tuple[int, int]] = []
        for cell in self._cells[np.sort(cells)].tolist():
            place, level = divmod(cell, self._firsts.size)
            first, last = (int(ends[level]) + SPAN * place for ends in (self._firsts, self._lasts))
            if ranges and ranges[-1][1] == first - 1 and self._firsts[level] != NOT_FINITE:
                ranges[-1] = ranges[-1][0], last
            else:
                ranges.append((first, last))
        return Event(tuple(ranges), view=self.view)


def low_bits(line: Numbers, x: Sample, x_prime: Sample) -> list[LowBits]:
    """Return the cells of lowest bits of reals: of these alone, and of these in each range.

    Parameters
    ----------
    line
        The cells of the reals themselves: outputs, or an entry of them.
    x, x_prime
        Both sides, of shape ``(n,)``.

    There are none of whole numbers, nor where each value that occurs has a cell of its own, nor
    where they say no more than the range does that an output lies in.
    """
    if line.repeats:
        return []
    bits, bits_prime = lowest_bits(x), lowest_bits(x_prime)
    if min(bits.min(), bits_prime.min()) >= 0:
        return []
    starts = line.starts[np.isfinite(line.starts)]  # infinity may be the last
    view = View("low bit", line.view.entry, starts=tuple(starts.tolist()))
    # what is no finite number has no place of its own, but no lowest bit either
    place, place_prime = (np.minimum(codes, len(view.starts)) for codes in line.codes)
    placed = LowBits(bits, bits_prime, place, place_prime, view)
    if not placed.telling:
        return []
    return [placed.alone(), placed.occupied()] if view.starts else [placed.alone()]


def _levels(bits: Counts, bits_prime: Counts) -> tuple[list[int], list[int]]:
    """Return the lowest bits that are looked at by themselves: finite ones, and others.

    Those at either end that hold a few draws together are one with the first that is not.
    """
    size = NOT_FINITE + 1 - LOWEST
    times = np.bincount(bits - LOWEST, None, size) + np.bincount(bits_prime - LOWEST, None, size)
    below, above = np.cumsum(times[:-1]), np.cumsum(times[-2::-1])[::-1]
    enough = (times[:-1] > 0) & (below >= _FEW) & (above >= _FEW)
    finite = (np.flatnonzero(enough) + LOWEST).tolist() or [LOWEST]
    return finite, [NOT_FINITE] if times[-1] else []
