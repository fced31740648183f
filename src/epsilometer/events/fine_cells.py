"""Cells of one number that quantiles do not show: its remainders, and its lowest bit.

Quantiles of wide noise hide small patterns: x + 2 round(noise) has the parity of x, and 31.37 plus
whole noise keeps the decimals, and a density may rise and fall a thousand times. To look for them
takes time, so a test on a few draws first tells whether the sides differ there.

A floating-point number is an odd number times a power of two, its lowest bit. Floating-point noise
that is added to a number leaves traces of this number in the lowest bit of the sum: 1 + noise is a
multiple of 2^-53 near 0, where 0 + noise seldom is (mironov2012: *On Significance of the Least
Significant Bits for Differential Privacy*; haney2022: *Precision-based Attacks and Interval
Refining*). Such an event refutes a claim like any other, because the outputs themselves are
released, and not the reals that they stand for. The possible lowest bits depend on the range of an
output, so they are looked at only if they differ within ranges.

What is seen here only chooses bets. Chance passes a threshold of 4.5 standard deviations once in
10^5 tests of one cell, in 10^4 of 64 cells together, and in 150 of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from epsilometer.events.candidates import deviations
from epsilometer.events.cells import Numbers
from epsilometer.events.events import Number, View, in_parts, lowest_bits, remainders
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import ratio

_DRAWS = 2048  # of either side for a test
_MODULI = 3  # moduli
_CELLS = 64  # of a remainder: each has 64 of 2 x 2048 draws
_SIGNIFICANT = 4.5  # standard deviations of a test
_SMOOTH = 16  # least spread, in moduli, for which remainders hide smooth densities
_SMOOTH_WHOLE = 4  # the same of whole numbers, whose remainders repeat exactly
_FOLDED = 1000  # the largest modulus of a tally
_COARSE = 1e-5  # of the spread, below which a modulus may come from the floating-point format
_LARGE = 1e150  # larger numbers, whose square is infinite, are left out
_TENS = tuple(float(f"1e{k}") for k in range(-6, 4))
_WHOLE = (*map(float, range(2, 65)), 97.0, 100.0, 1000.0)


def remainder_views(numbers: Numbers, cells: int, *, as_reals: bool) -> list[View]:
    """Return the remainders of numbers that differ between the sides, for a few moduli.

    Quantiles of a remainder make so many ``cells``. With ``as_reals``, moduli are at least 1e-5 of
    the spread.
    """
    x, x_prime = numbers.sides
    z_scores = suspicious_moduli(x, x_prime, cells, as_reals=as_reals)
    moduli = sorted(z_scores, key=lambda modulus: -z_scores[modulus])[:_MODULI]
    return [remainder_of(numbers.view, modulus) for modulus in moduli]


def remainder_of(view: View, modulus: Number) -> View:
    """Return the remainder of the number that a view makes of an output."""
    if view.kind in ("output", "entry"):
        return View("remainder", view.entry, modulus=modulus)
    return View("remainder", modulus=modulus, inner=view)


def suspicious_moduli(
    x: Sample, x_prime: Sample, cells: int, *, as_reals: bool
) -> dict[Number, float]:
    """Return the moduli for whose remainders the first draws of both sides differ, and how far.

    Sides have shape ``(n,)``. Other parameters are those of `remainder_views`; distances are in
    standard deviations.
    """
    z_scores = _z_scores_of_moduli(x[:_DRAWS], x_prime[:_DRAWS], cells, as_reals)
    suspicious: dict[Number, float] = {}
    for modulus, far in z_scores.items():
        if far > _SIGNIFICANT:
            suspicious[_divisor(modulus)] = far
    return suspicious


def _z_scores_of_moduli(
    x: Sample, x_prime: Sample, cells: int, as_reals: bool
) -> dict[float, float]:
    """Return how far the remainders of a few draws of both sides differ, by the modulus."""
    exact = bool(np.issubdtype(x.dtype, np.integer))
    origin = x[0] if exact else 0  # differences are exact
    reals = _usable(x, origin)
    reals_prime = _usable(x_prime, origin)
    if min(reals.size, reals_prime.size) < _DRAWS // 8:
        return {}
    pooled = np.concatenate([reals, reals_prime])
    some = pooled[::8]  # in less time
    low, high = np.quantile(some, (0.16, 0.84))
    spread = float(high - low)
    largest = float(np.abs(pooled).max())
    whole = largest < 2.0**53 and bool((pooled == np.rint(pooled)).all())
    least = 0.0
    if not exact:
        least = largest * 2.0**-44  # a modulus of reals needs 44 of 53 bits
    if as_reals and not whole:
        least = max(least, spread * _COARSE)
    usual = _WHOLE if whole or exact else _TENS
    most = spread / (_SMOOTH_WHOLE if whole else _SMOOTH)
    moduli = {modulus for modulus in usual if least <= modulus <= most}
    common = set()
    if whole:
        divisors = {_common_divisor(reals), _common_divisor(reals_prime)}
        common = {divisor for divisor in divisors if divisor > max(least, 1.0)}
    dividends = _Dividends(reals, reals_prime)
    if exact:
        dividends = _Dividends(reals, reals_prime, x, x_prime)
    elif whole:
        integers = reals.astype(np.int64), reals_prime.astype(np.int64)
        dividends = _Dividends(reals, reals_prime, *integers)
    z_scores: dict[float, float] = {}
    for modulus in sorted(common | moduli):
        z_scores[modulus] = dividends.z_score(modulus)
        if modulus in common:  # remainders may lie close together
            ours = remainders(reals, modulus)
            theirs = remainders(reals_prime, modulus)
            z_scores[modulus] = max(z_scores[modulus], z_score(ours, theirs, cells))
    shortest = 2.0 if whole else 0.0
    return z_scores | _period(reals, reals_prime, spread, shortest)


@np.errstate(invalid="ignore")  # of a NaN that signals
def _usable(numbers: Sample, origin: Any) -> Floats:
    """Return the differences from the origin whose squares are finite, as reals."""
    reals = (numbers - origin).astype(np.float64)
    return np.asarray(reals[np.abs(reals) < _LARGE])


def _common_divisor(whole: Floats) -> float:
    """Return the greatest common divisor of the differences of whole numbers."""
    return float(np.gcd.reduce(np.abs(np.diff(whole)).astype(np.int64)))


def _divisor(modulus: float) -> float | int:
    """Return a modulus as a whole number, if it is one: remainders of whole numbers are exact."""
    return int(modulus) if modulus.is_integer() else modulus


class _Dividends:
    """The numbers of both sides, as reals and, if they are whole, as integers."""

    def __init__(self, reals: Floats, reals_prime: Floats, *integers: Sample) -> None:
        self._reals = reals, reals_prime
        self._integers = integers
        self._tallies = _tallies(integers)

    def z_score(self, modulus: float) -> float:
        """Return how far the remainders differ."""
        if self._tallies and modulus <= _FOLDED:
            return _z_of_folds(self._tallies, int(modulus))
        if self._integers:
            return _z_of_remainders(self._integers[0], self._integers[1], modulus)
        return _z_of_remainders(*self._reals, modulus)


def _z_of_remainders(x: Sample, x_prime: Sample, modulus: float) -> float:
    """Return how far the remainders of two samples differ in equal cells."""
    divisor = _divisor(modulus)
    counts = []
    for side in (x, x_prime):
        cells = (remainders(side, divisor) / divisor * _CELLS).astype(np.int64)
        counts.append(np.bincount(cells, None, _CELLS + 1))
    return _z_score(counts[0], counts[1])


def _tallies(sides: Sequence[Sample]) -> list[Counts]:
    """Return how often each whole number from the least on occurs; nothing if they are far apart.

    Behind the largest number there are zeros.
    """
    if not sides:
        return []
    low = min(int(side.min()) for side in sides)
    size = max(int(side.max()) for side in sides) - low + _FOLDED
    if size > _FOLDED * _CELLS:
        return []
    return [np.bincount(side - low, None, size) for side in sides]


def _z_of_folds(tallies: Sequence[Counts], modulus: int) -> float:
    """Return how far the remainders of two tallies of whole numbers differ."""
    rows = tallies[0].size // modulus
    folds = [tally[: rows * modulus].reshape(rows, modulus).sum(axis=0) for tally in tallies]
    both = folds[0] + folds[1]
    share = folds[0].sum() / both.sum()
    squares = (folds[0] - share * both) ** 2 / np.maximum(both, 1)
    if squares.sum() < share * (1 - share) * np.count_nonzero(both):
        return 0.0  # less than by chance on average
    return _z_score(folds[0], folds[1])


def z_score(x: Sample, x_prime: Sample, cells: int) -> float:
    """Return how far two samples ``(n,)`` differ in so many cells, in standard deviations."""
    ours, theirs = Numbers(x, x_prime, cells, View(), values=False).folds
    return _z_score(ours.sum(axis=0), theirs.sum(axis=0))


def _z_score(ours: Counts, theirs: Counts) -> float:
    """Return how far counts differ, in all cells together or in one, in standard deviations."""
    excess, variance, free = deviations(np.atleast_2d(ours), np.atleast_2d(theirs))
    squares = ratio(excess**2, variance)
    degrees = int(free.sum())
    together = ratio(squares.sum() - degrees, math.sqrt(2 * degrees))
    return max(float(together), math.sqrt(squares.max()))


def _period(x: Floats, x_prime: Floats, spread: float, shortest: float) -> dict[float, float]:
    """Return the period of the difference of the sides, if any, and its standard deviations.

    It is not below the ``shortest``.
    """
    bins = 8192  # of a histogram
    padded = 8  # times as many, with zeros behind it
    if spread < 1 / _LARGE:
        return {}
    pooled = np.concatenate([x, x_prime])
    low, high = np.quantile(pooled, (0.01, 0.99))
    first = math.ceil(padded * _SMOOTH * (high - low) / spread)  # frequency that counts
    with np.errstate(over="ignore"):  # far tails
        cells = np.clip((pooled - low) / (high - low) * bins, -1, bins).astype(np.int64) + 1
    counts = np.bincount(cells[: x.size], None, bins + 2)
    counts_prime = np.bincount(cells[x.size :], None, bins + 2)
    waves = np.fft.rfft((counts - counts_prime)[1:-1], padded * bins)
    power = (waves.real**2 + waves.imag**2) / pooled.size
    last = power.size
    if shortest:  # at higher frequencies whole numbers repeat what lower ones show
        last = min(last, int(padded * (high - low) / shortest))
    if first >= last:
        return {}
    peak = first + int(np.argmax(power[first:last]))
    if power[peak] < _SIGNIFICANT**2:  # the largest of 32,768 exponential numbers
        return {}
    period = float((high - low) * padded / _top(power, peak))
    return {period: math.sqrt(2 * power[peak])} if period >= shortest else {}


def _top(heights: Floats, peak: int) -> float:
    """Return where the parabola through a peak and its two neighbours is highest."""
    if peak + 1 == heights.size:
        return peak
    before, at, after = heights[peak - 1 : peak + 2].tolist()
    bend = before - 2 * at + after
    return peak + (before - after) / (2 * bend) if bend < 0 else peak


# --- the lowest bit -------------------------------------------------------------------------------


def low_bit_views(numbers: Numbers) -> list[View]:
    """Return the lowest bits of reals if they differ significantly within ranges.

    ``numbers`` are the cells of the reals themselves, which are the ranges. There are none for
    whole numbers, and where each value has a cell of its own.
    """
    if numbers.repeats:
        return []
    x, x_prime = numbers.sides
    bits = lowest_bits(x)
    bits_prime = lowest_bits(x_prime)
    low = min(int(bits.min()), int(bits_prime.min()))
    if low >= 0:
        return []
    levels = max(int(bits.max()), int(bits_prime.max())) - low + 1
    ranges, ranges_prime = numbers.codes
    table = _crossed(ranges, numbers.size + 1, bits - low, levels)
    table_prime = _crossed(ranges_prime, numbers.size + 1, bits_prime - low, levels)
    occurs = (table + table_prime).any(axis=0)
    ours = table[:, occurs]
    theirs = table_prime[:, occurs]
    excess, variance, _ = deviations(ours, theirs)
    # Mantel and Haenszel's test for each lowest bit over the ranges
    both = ours + theirs
    times = ratio(both, both.sum(axis=1, keepdims=True))
    of_bits = ratio(excess.sum(axis=0) ** 2, (variance * (1 - times)).sum(axis=0))
    differ = max(_z_score(ours, theirs), math.sqrt(of_bits.max())) > _SIGNIFICANT
    return [View("low bit", numbers.view.entry)] if differ else []


def _crossed(ranges: Counts, size: int, bits: Counts, levels: int) -> Counts:
    """Return how often each range goes with each bit, ``(size, levels)``."""
    counts = np.zeros(size * levels, np.int64)
    for of_range, of_bit in zip(in_parts(ranges), in_parts(bits), strict=True):
        codes = of_range.astype(np.int64) * levels + of_bit
        counts += np.bincount(codes, None, counts.size)
    return counts.reshape(size, levels)
