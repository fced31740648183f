"""Low bits: the powers of two that floating-point outputs are multiples of.

A floating-point number is an odd number times a power of two, its lowest bit. Floating-point noise
that is added to a number leaves traces of this number in the lowest bit of the sum: 1 + noise is a
multiple of 2^-53 near 0, where 0 + noise seldom is (mironov2012: *On Significance of the Least
Significant Bits for Differential Privacy*; haney2022: *Precision-based Attacks and Interval
Refining*). Such an event refutes a claim like any other, because the outputs themselves are
released, and not the reals that they stand for.

The possible lowest bits depend on the range of an output. So lowest bits are looked at alone, and
in each range.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from epsilometer.arrays import Counts, Sample
from epsilometer_audit.events.candidates import Cells, Numbers, deviations
from epsilometer_audit.events.events import LOWEST, NOT_FINITE, SPAN, ZERO, Event, View, lowest_bits

_FEW = 8  # draws of a lowest bit that has a cell of its own
_SIGNIFICANT = (3.0, 3.5, 4.25)  # standard deviations: of all together, of a lowest bit, of a cell


class LowBits(Cells):
    """A cell for each lowest bit that occurred in each range of outputs.

    ``bits`` are the lowest bits of either side, ``intervals`` the numbers of the outputs' ranges,
    each ``(n,)``; ``view`` has the output or entry, and the starts of the ranges but the first.
    """

    def __init__(
        self,
        bits: Counts,
        bits_prime: Counts,
        intervals: Counts,
        intervals_prime: Counts,
        view: View,
    ) -> None:
        self.view = view
        finite, others = _levels(bits, bits_prime)
        # a bit without a cell of its own belongs to the next below
        ends = [LOWEST, *finite[1:], ZERO + 1]
        self._firsts = np.array([*ends[:-1], *others])
        self._lasts = np.array([*(end - 1 for end in ends[1:]), *others])
        every = np.arange(LOWEST, NOT_FINITE + 1)
        self._level = np.searchsorted(self._firsts, every, side="right") - 1
        self._level[-1] = self._firsts.size - 1 if others else -1
        size = self._firsts.size * (len(view.starts) + 1)
        codes = self._codes(bits, intervals)
        super().__init__(codes, self._codes(bits_prime, intervals_prime), size)
        self._cells = np.arange(size)

    @property
    def significant(self) -> bool:
        """Whether lowest bits differ significantly between the sides, within ranges.

        The tests: Pearson's in all ranges together, Mantel and Haenszel's for each lowest bit over
        the ranges, and the excess in each cell.
        """
        shape = -1, self._firsts.size
        ours, theirs = (side.reshape(shape) for side in (self._all, self._all_prime))
        excess, variance, free = deviations(ours, theirs)
        times = (ours + theirs) / np.maximum((ours + theirs).sum(axis=1, keepdims=True), 1)
        of_cells = excess**2 / variance
        of_bits = excess.sum(axis=0) ** 2 / np.maximum((variance * (1 - times)).sum(axis=0), 1e-300)
        pearson = (of_cells.sum() - free.sum()) / np.sqrt(2 * max(free.sum(), 1))
        all_ranges, bit, cell = _SIGNIFICANT
        return bool(pearson > all_ranges or of_bits.max() > bit**2 or of_cells.max() > cell**2)

    def alone(self) -> LowBits:
        """Return a cell for each lowest bit, in all ranges together."""
        cells, size = copy(self), self._firsts.size
        cells.view = View("low bit", self.view.entry)
        cells._cells = np.arange(size)
        cells.ordered = size > 1
        cells._set_folds(*(f.reshape(len(f), -1, size).sum(axis=1) for f in self.folds))
        return cells

    def occupied(self) -> LowBits:
        """Return only the cells that hold any draws."""
        cells = copy(self)
        cells._cells = np.flatnonzero(self._all + self._all_prime)
        cells._set_folds(*(counts[:, cells._cells] for counts in self.folds))
        return cells

    def _codes(self, bits: Counts, intervals: Counts) -> Counts:
        """Return lowest bit and range as one number, below 0 where there is none."""
        levels = self._level[bits - LOWEST]
        return np.where(levels < 0, -1, levels + self._firsts.size * intervals)

    def coded(self, sample: Sample) -> Counts:
        """Return the cell of other outputs; ``size`` where they have none."""
        numbers = self.view.of(sample)
        intervals = (numbers + SPAN // 2) // SPAN
        codes = self._codes(numbers - SPAN * intervals, intervals)
        cells = np.minimum(np.searchsorted(self._cells, codes), self.size - 1)
        return np.where(self._cells[cells] == codes, cells, self.size)

    def event(self, cells: Counts) -> Event:
        """Return the lowest bits of some cells; adjacent cells are one range."""
        ranges: list[tuple[int, int]] = []
        for cell in self._cells[np.sort(cells)].tolist():
            interval, i = divmod(cell, self._firsts.size)
            first, last = (int(ends[i]) + SPAN * interval for ends in (self._firsts, self._lasts))
            if ranges and ranges[-1][1] == first - 1 and self._firsts[i] != NOT_FINITE:
                ranges[-1] = ranges[-1][0], last
            else:
                ranges.append((first, last))
        return Event(tuple(ranges), view=self.view)


def low_bits(numbers: Numbers) -> list[LowBits]:
    """Return the cells of lowest bits of reals: in all ranges together, and in each range.

    ``numbers`` are the cells of the reals themselves. The list is empty for whole numbers, where
    each value has a cell of its own, and where lowest bits do not differ significantly within
    ranges.
    """
    if numbers.repeats:
        return []
    bits, bits_prime = map(lowest_bits, numbers.sides)
    if min(bits.min(), bits_prime.min()) >= 0:
        return []
    starts = numbers.starts[np.isfinite(numbers.starts)]  # infinity may be the last
    view = View("low bit", numbers.view.entry, starts=tuple(starts.tolist()))
    # numbers that are not finite have no range of their own, but no lowest bit either
    interval, interval_prime = (np.minimum(codes, len(view.starts)) for codes in numbers.codes)
    by_range = LowBits(bits, bits_prime, interval, interval_prime, view)
    if not by_range.significant:
        return []
    return [by_range.alone(), by_range.occupied()] if view.starts else [by_range.alone()]


def _levels(bits: Counts, bits_prime: Counts) -> tuple[list[int], list[int]]:
    """Return the lowest bits that have cells of their own: finite ones, and others.

    The rarest at either end share a cell.
    """
    size = NOT_FINITE + 1 - LOWEST
    times = np.bincount(bits - LOWEST, None, size) + np.bincount(bits_prime - LOWEST, None, size)
    below, above = np.cumsum(times[:-1]), np.cumsum(times[-2::-1])[::-1]
    enough = (times[:-1] > 0) & (below >= _FEW) & (above >= _FEW)
    finite = (np.flatnonzero(enough) + LOWEST).tolist() or [LOWEST]
    return finite, [NOT_FINITE] if times[-1] else []
