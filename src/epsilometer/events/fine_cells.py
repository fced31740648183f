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

What is seen here only chooses bets. A threshold of 4.5 standard deviations is passed by chance once
in 10^5 tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from epsilometer.events.candidates import deviations
from epsilometer.events.cells import Numbers
from epsilometer.events.events import View, in_parts, lowest_bits, remainders
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import ratio

_DRAWS = 2048  # of either side for a test
_MODULI = 3  # moduli
_CELLS = 64  # of a remainder: each has 64 of 2 x 2048 draws
_SIGNIFICANT = 4.5  # standard deviations of a test
_SMOOTH = 16  # least spread, in moduli, for which remainders hide smooth densities
_COARSE = 1e-5  # of the spread, below which a modulus may come from the floating-point format
_LARGE = 1e150  # larger numbers, whose square is infinite, are left out
_TENS = tuple(float(f"1e{k}") for k in range(-6, 4))
_WHOLE = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 10.0, 100.0, 1000.0)


def remainder_views(numbers: Numbers, cells: int, *, as_reals: bool) -> list[View]:
    """Return the remainders of numbers that differ between the sides, for a few moduli.

    Quantiles of a remainder make so many ``cells``. With ``as_reals``, moduli are at least 1e-5 of
    the spread.
    """
    heads = (side[:_DRAWS].tobytes() for side in numbers.sides)
    z_scores = _suspicious(*heads, numbers.sides[0].dtype, cells, as_reals)
    moduli = sorted(z_scores, key=lambda modulus: -z_scores[modulus])[:_MODULI]
    divisors = (int(modulus) if modulus.is_integer() else modulus for modulus in moduli)
    return [View("remainder", numbers.view.entry, modulus=divisor) for divisor in divisors]


@lru_cache(maxsize=4)  # later rounds have the same first draws
def _suspicious(
    head: bytes, head_prime: bytes, dtype: np.dtype[Any], cells: int, as_reals: bool
) -> dict[float, float]:
    """Return the moduli for whose remainders the first draws of both sides differ, and how far."""
    sides = [np.frombuffer(side, dtype) for side in (head, head_prime)]
    exact = bool(np.issubdtype(dtype, np.integer))
    origin = sides[0][0] if exact else 0  # differences are exact
    with np.errstate(invalid="ignore"):  # of a NaN that signals
        reals = [(side - origin).astype(np.float64) for side in sides]
    reals = [side[np.abs(side) < _LARGE] for side in reals]
    if min(side.size for side in reals) < _DRAWS // 8:
        return {}
    pooled = np.concatenate(reals)
    low, high = np.quantile(pooled[::8], (0.16, 0.84))
    spread = float(high - low)
    largest = float(np.abs(pooled).max())
    whole = largest < 2.0**53 and bool((pooled == np.rint(pooled)).all())
    least = 0.0 if exact else largest * 2.0**-44  # a modulus of reals needs 44 of 53 bits
    if as_reals:
        least = max(least, spread * _COARSE)
    usual = _WHOLE if whole or exact else _TENS
    moduli = {modulus for modulus in usual if least <= modulus <= spread / _SMOOTH}
    common = _common_divisors(reals) if whole else set[float]()
    common = {divisor for divisor in common if divisor > max(least, 1.0)}
    z_scores: dict[float, float] = {}
    for modulus in sorted(common | moduli):
        divided = sides if exact and modulus.is_integer() else reals
        z_scores[modulus] = _z_of_remainders(divided, modulus)
        if modulus in common:  # remainders may lie close together
            ours, theirs = (remainders(side, modulus) for side in reals)
            z_scores[modulus] = max(z_scores[modulus], z_score(ours, theirs, cells))
    z_scores |= _period(reals[0], reals[1], spread)
    return {modulus: far for modulus, far in z_scores.items() if far > _SIGNIFICANT}


def _common_divisors(sides: Sequence[Floats]) -> set[float]:
    """Return the greatest common divisor of the differences of whole numbers, of each side."""
    differences = (np.abs(np.diff(side)).astype(np.int64) for side in sides)
    return {float(np.gcd.reduce(each)) for each in differences}


def _z_of_remainders(sides: Sequence[Sample], modulus: float) -> float:
    """Return how far the remainders of two samples differ in equal cells."""
    divisor = int(modulus) if modulus.is_integer() else modulus
    counts = []
    for side in sides:
        cells = (remainders(side, divisor) / divisor * _CELLS).astype(np.int64)
        counts.append(np.bincount(cells, None, _CELLS + 1))
    return _z_score(counts[0], counts[1])


def z_score(x: Sample, x_prime: Sample, cells: int) -> float:
    """Return how far two samples ``(n,)`` differ in so many cells, in standard deviations."""
    ours, theirs = Numbers(x, x_prime, cells, View(), values=False).folds
    return _z_score(ours.sum(axis=0), theirs.sum(axis=0))


def _z_score(*counts: Counts) -> float:
    """Return how far counts differ, in all cells together or in one, in standard deviations."""
    excess, variance, free = deviations(*map(np.atleast_2d, counts))
    squares = ratio(excess**2, variance)
    degrees = int(free.sum())
    together = ratio(squares.sum() - degrees, math.sqrt(2 * degrees))
    return max(float(together), math.sqrt(squares.max()))


def _period(x: Floats, x_prime: Floats, spread: float) -> dict[float, float]:
    """Return the period of the difference of the sides, if any, and its standard deviations."""
    bins = 8192  # of a histogram
    padded = 8  # times as many, with zeros behind it
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


# --- the lowest bit -------------------------------------------------------------------------------


def low_bit_views(numbers: Numbers) -> list[View]:
    """Return the lowest bits of reals if they differ significantly within ranges.

    ``numbers`` are the cells of the reals themselves, which are the ranges. There are none for
    whole numbers, and where each value has a cell of its own.
    """
    if numbers.repeats:
        return []
    bits = [lowest_bits(side) for side in numbers.sides]
    low = min(int(side.min()) for side in bits)
    if low >= 0:
        return []
    levels = max(int(side.max()) for side in bits) - low + 1
    counts = np.zeros((2, (numbers.size + 1) * levels), np.int64)
    for i, (side, ranges) in enumerate(zip(bits, numbers.codes, strict=True)):
        for part, inside in zip(in_parts(side), in_parts(ranges), strict=True):
            codes = inside.astype(np.int64) * levels + part - low
            counts[i] += np.bincount(codes, None, counts.shape[1])
    tables = counts.reshape(2, -1, levels)  # a row for each range, a column for each bit
    ours, theirs = tables[:, :, tables.any(axis=(0, 1))]
    excess, variance, _ = deviations(ours, theirs)
    # Mantel and Haenszel's test for each lowest bit over the ranges
    both = ours + theirs
    times = ratio(both, both.sum(axis=1, keepdims=True))
    of_bits = ratio(excess.sum(axis=0) ** 2, (variance * (1 - times)).sum(axis=0))
    differ = max(_z_score(ours, theirs), math.sqrt(of_bits.max())) > _SIGNIFICANT
    return [View("low bit", numbers.view.entry)] if differ else []
