"""Cells of one number that quantiles do not show: its remainders, narrow cells, its lowest bit.

Quantiles of wide noise hide small patterns: x + 2 round(noise) has the parity of x, 31.37 plus
whole noise keeps the decimals, and a density may rise and fall a thousand times. To look for them
takes time, so a test on a few draws first tells whether the sides differ there.

A floating-point number is an odd number times a power of two, its lowest bit. Floating-point noise
that is added to a number leaves traces of this number in the lowest bit of the sum: 1 + noise is a
multiple of 2^-53 near 0, where 0 + noise seldom is (mironov2012: *On Significance of the Least
Significant Bits for Differential Privacy*; haney2022: *Precision-based Attacks and Interval
Refining*). Such an event refutes a claim like any other, because the outputs themselves are
released, and not the reals that they stand for. The possible lowest bits depend on the range of an
output, so they are looked at alone, and in each range.

What is seen here only chooses bets. A threshold of 4.5 standard deviations is passed by chance once
in 10^5 tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample
from epsilometer_audit.events.candidates import Cells, Numbers, deviations
from epsilometer_audit.events.events import (
    LOWEST,
    NOT_FINITE,
    SPAN,
    ZERO,
    Event,
    View,
    lowest_bits,
    remainders,
)

_DRAWS = 2048  # of either side for a test; of narrow cells, four times as many
_CELLS = 64  # of a remainder, and in a row of narrow cells: each has 64 of 2 x 2048 draws
_SIGNIFICANT = 4.5  # standard deviations of a test
_SMOOTH = 16  # least spread, in moduli, for which remainders hide smooth densities
_COARSE = 1e-5  # of the spread, below which a modulus may come from the floating-point format
_LARGE = 1e150  # larger numbers, whose square is infinite, are left out
_TENS = tuple(float(f"1e{k}") for k in range(-6, 4))
_WHOLE = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 10.0, 100.0, 1000.0)


def remainder_cells(
    entry: int, x: Sample, x_prime: Sample, cells: int, *, as_reals: bool, most: int = 3
) -> Iterator[Cells]:
    """Yield the cells of remainders that differ between the sides, for a few moduli at ``most``.

    Sides are an ``entry`` of outputs, each ``(n,)``, NaN where a number is missing. Quantiles of a
    remainder make so many ``cells``. With ``as_reals``, moduli are at least 1e-5 of the spread.
    """
    heads = (side[:_DRAWS].tobytes() for side in (x, x_prime))
    doubts = _doubtful(*heads, x.dtype, cells, as_reals)
    for modulus in sorted(doubts, key=lambda modulus: -doubts[modulus])[:most]:
        divisor = int(modulus) if modulus.is_integer() else modulus
        view = View("remainder", entry, modulus=divisor)
        ours, theirs = (remainders(side, divisor) for side in (x, x_prime))
        yield from Numbers(ours, theirs, cells, view, fine=True).choices()


@lru_cache(maxsize=4)  # later rounds have the same first draws
def _doubtful(
    head: bytes, head_prime: bytes, dtype: np.dtype[Any], cells: int, as_reals: bool
) -> dict[float, float]:
    """Return the moduli for whose remainders the first draws of both sides differ, and how far."""
    x, x_prime = (np.frombuffer(side, dtype) for side in (head, head_prime))
    exact = np.issubdtype(dtype, np.integer)
    origin = x[0] if exact else 0  # differences are exact
    with np.errstate(invalid="ignore"):  # of a NaN that signals
        few = [_finite(side - origin) for side in (x, x_prime)]
    if min(side.size for side in few) < _DRAWS // 8:
        return {}
    pooled = np.concatenate(few)
    low, high = np.quantile(pooled[::8], (0.16, 0.84))
    spread, largest = float(high - low), float(np.abs(pooled).max())
    whole = largest < 2.0**53 and bool((pooled == np.rint(pooled)).all())
    # of a real, a modulus needs 44 of 53 bits
    least = max(0 if exact else largest * 2.0**-44, spread * _COARSE * as_reals)
    divisors = (_common_divisor(side, spread, whole) for side in few)
    common = {divisor for divisor in divisors if divisor is not None and least <= divisor}
    doubts: dict[float, float] = {}
    for modulus in sorted({*common, *(_WHOLE if whole or exact else _TENS)}):
        if modulus in common or least <= modulus <= spread / _SMOOTH:
            sides = (x, x_prime) if exact and modulus.is_integer() else few
            divisor = int(modulus) if modulus.is_integer() else modulus
            shares = (remainders(side, divisor) / divisor for side in sides)
            codes = ((share * _CELLS).astype(np.int64) for share in shares)
            doubts[modulus] = _doubt(*(np.bincount(code, None, _CELLS + 1) for code in codes))
        if modulus in common:  # remainders may lie close together
            ours, theirs = (remainders(side, modulus) for side in few)
            doubts[modulus] = max(doubts[modulus], doubt(ours, theirs, cells))
    doubts |= _period(few[0], few[1], spread)
    return {modulus: far for modulus, far in doubts.items() if far > _SIGNIFICANT}


def narrow_cells(view: View, x: Sample, x_prime: Sample) -> Iterator[Cells]:
    """Yield narrow cells of a number, if the sides, each ``(n,)``, differ within wider cells.

    They are of 20 and of 160 draws of both sides, and at most 5,000 and 640.
    """
    ours, theirs = (np.sort(_finite(side[: 4 * _DRAWS])) for side in (x, x_prime))
    starts = np.unique(np.sort(np.concatenate([ours, theirs]))[::4])
    rows = starts.size // _CELLS
    if not rows or min(ours.size, theirs.size) < _DRAWS // 2:
        return
    starts = starts[: rows * _CELLS]
    counts = (np.diff(np.searchsorted(side, starts), append=side.size) for side in (ours, theirs))
    if _doubt(*(side.reshape(rows, -1) for side in counts)) > _SIGNIFICANT:
        for draws, most in ((20, 5000), (160, 640)):
            cells = min((len(x) + len(x_prime)) // draws, most)
            yield Numbers(x, x_prime, cells, view, values=False, fine=True)


def doubt(x: Sample, x_prime: Sample, cells: int) -> float:
    """Return how far two samples ``(n,)`` differ in so many cells, in standard deviations."""
    ours, theirs = Numbers(x, x_prime, cells, View(), values=False).folds
    return _doubt(ours.sum(axis=0), theirs.sum(axis=0))


def _doubt(*counts: Counts) -> float:
    """Return how far counts differ, in all cells together or in one, in standard deviations."""
    excess, variance, free = deviations(*map(np.atleast_2d, counts))
    squares, degrees = excess**2 / variance, int(free.sum())
    return max(
        float((squares.sum() - degrees) / np.sqrt(2 * max(degrees, 1))),
        float(np.sqrt(squares.max())),
    )


def _period(
    x: Floats, x_prime: Floats, spread: float, bins: int = 8192, padded: int = 8
) -> dict[float, float]:
    """Return the period of the difference of the sides, if any, and its standard deviations.

    It is the peak of the Fourier transform of the difference of histograms of so many ``bins``,
    ``padded`` with zeros to so many times their number.
    """
    pooled = np.concatenate([x, x_prime])
    low, high = np.quantile(pooled, (0.01, 0.99))
    if high - low < 1 / _LARGE:
        return {}
    with np.errstate(over="ignore"):  # far tails
        cells = np.clip((pooled - low) / (high - low) * bins, -1, bins).astype(np.int64) + 1
    counts = [np.bincount(side, None, bins + 2) for side in np.split(cells, [x.size])]
    waves = np.fft.rfft((counts[0] - counts[1])[1:-1], padded * bins)
    power = (waves.real**2 + waves.imag**2) / pooled.size
    least = padded * _SMOOTH * (high - low)  # over the spread: the first frequency that counts
    first = math.ceil(least / spread) if spread * power.size > least else power.size
    peak = first + int(np.argmax(power[first:])) if first < power.size else 0
    if not peak or power[peak] < _SIGNIFICANT**2:  # the largest of 32,768 exponential numbers
        return {}
    return {float((high - low) * padded / peak): math.sqrt(2 * power[peak])}


def _finite(side: Sample) -> Floats:
    reals = side.astype(np.float64)
    return reals[np.abs(reals) < _LARGE]


def _common_divisor(side: Floats, spread: float, whole: bool, block: int = 4) -> float | None:
    """Return the common divisor of differences, if a fifth of all blocks of draws agree on it."""
    if not whole and (np.diff(np.sort(side)) < spread * 1e-9).sum() < 4:
        return None  # reals without repetition: so many are rare by chance
    blocks = side[: side.size // block * block].reshape(-1, block)
    apart = np.abs(np.diff(blocks, axis=1))
    least = 1.0 if whole else spread * _COARSE
    divisors = apart[:, 0]
    for others in apart.T[1:]:
        divisors = _divisors(divisors, others, least / 10)
    divisors, enough = np.sort(divisors[divisors > least]), len(blocks) // 5
    if divisors.size <= enough:
        return None
    ratios = divisors[enough:] / divisors[:-enough]
    first = int(np.argmin(ratios))
    far = apart[apart > spread / 4]
    divisor = float(np.median(divisors[first : first + enough]))
    if ratios[first] > 1.001 or not far.size or divisor > far.min():
        return None
    divisor = float(np.median(far / np.rint(far / divisor)))
    short = (float(f"{divisor:.{digits}g}") for digits in range(1, 13))
    return next((number for number in short if abs(number - divisor) <= 1e-11 * divisor), divisor)


def _divisors(a: Floats, b: Floats, tolerance: float) -> Floats:
    """Return the greatest common divisors of reals by Euclid's algorithm, up to a tolerance."""
    while (b > tolerance).any():
        by = np.where(b > tolerance, b, 1.0)
        rest = np.abs(a - by * np.rint(a / by))
        a, b = np.where(b > tolerance, b, a), np.where(b > tolerance, rest, b)
    return a


# --- the lowest bit -------------------------------------------------------------------------------


class LowBits(Cells):
    """A cell for each lowest bit that occurred in each range of outputs.

    ``bits`` are the lowest bits of either side, ``intervals`` the numbers of the outputs' ranges,
    each ``(n,)``; ``view`` has the output or entry, and the starts of the ranges but the first.
    """

    def __init__(
        self,
        bits: tuple[Counts, Counts],
        intervals: tuple[Counts, Counts],
        view: View,
    ) -> None:
        self.view = view
        finite, others = _levels(*bits)
        # a bit without a cell of its own belongs to the next below
        ends = [LOWEST, *finite[1:], ZERO + 1]
        self._firsts = np.array([*ends[:-1], *others])
        self._lasts = np.array([*(end - 1 for end in ends[1:]), *others])
        every = np.arange(LOWEST, NOT_FINITE + 1)
        self._level = np.searchsorted(self._firsts, every, side="right") - 1
        self._level[-1] = self._firsts.size - 1 if others else -1
        size = self._firsts.size * (len(view.starts) + 1)
        codes, codes_prime = map(self._codes, bits, intervals)
        super().__init__(codes, codes_prime, size)
        self._cells = np.arange(size)

    @property
    def significant(self) -> bool:
        """Whether lowest bits differ significantly between the sides, within ranges.

        The tests: that of counts in all ranges, and Mantel and Haenszel's for each lowest bit over
        the ranges.
        """
        shape = -1, self._firsts.size
        ours, theirs = (side.reshape(shape) for side in (self._all, self._all_prime))
        excess, variance, _ = deviations(ours, theirs)
        times = (ours + theirs) / np.maximum((ours + theirs).sum(axis=1, keepdims=True), 1)
        of_bits = excess.sum(axis=0) ** 2 / np.maximum((variance * (1 - times)).sum(axis=0), 1e-300)
        return bool(max(_doubt(ours, theirs), np.sqrt(of_bits.max())) > _SIGNIFICANT)

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
    by_range = LowBits((bits, bits_prime), (interval, interval_prime), view)
    if not by_range.significant:
        return []
    return [by_range.alone(), by_range.occupied()] if view.starts else [by_range.alone()]


def _levels(bits: Counts, bits_prime: Counts, few: int = 8) -> tuple[list[int], list[int]]:
    """Return the lowest bits that have cells of their own: finite ones, and others.

    The rarest at either end share a cell, of at least a ``few`` draws.
    """
    size = NOT_FINITE + 1 - LOWEST
    times = np.bincount(bits - LOWEST, None, size) + np.bincount(bits_prime - LOWEST, None, size)
    below, above = np.cumsum(times[:-1]), np.cumsum(times[-2::-1])[::-1]
    enough = (times[:-1] > 0) & (below >= few) & (above >= few)
    finite = (np.flatnonzero(enough) + LOWEST).tolist() or [LOWEST]
    return finite, [NOT_FINITE] if times[-1] else []
