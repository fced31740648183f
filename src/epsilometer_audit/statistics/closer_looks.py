"""Closer looks at one number: its remainders, and narrow cells.

Quantiles of wide noise hide small patterns: x + 2 round(noise) has the parity of x, 31.37 plus
whole noise keeps the decimals, and a density may rise and fall a thousand times. Both looks take
time, so Pearson's test on a few draws first tells whether the sides differ there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample
from epsilometer_audit.events.candidates import Cells, Numbers, deviations
from epsilometer_audit.events.events import View, remainders

_DRAWS = 2048  # of either side for a test; of narrow cells, four times as many
_BLOCK, _BLOCKS = 4, 128  # draws of a block whose common divisor is sought; number of blocks
_SHARE = 5  # one block in so many must have the common divisor
_EQUAL, _REPEATS = 1e-9, 4  # reals this close are equal; so many repeats are rare by chance
_SIGNIFICANT = 4.5  # standard deviations of a test
_CELLS = 64  # of a remainder, and in a row of narrow cells
_SMOOTH = 16  # least ratio of spread and modulus: remainders then hide smooth densities
_MODULI = 3  # most moduli
_BINS, _PADDED = 8192, 8  # of a Fourier transform; factor of its frequencies
_DIGITS = 44  # bits of a real that a modulus may need
_COARSE = 1e-5  # of the spread, below which a modulus may come from the floating-point format
_NARROW = ((20, 5000), (160, 640))  # draws of both sides in a cell, and the most cells
_KEPT = 4  # answers about first draws
_LARGE = 1e150  # larger numbers, whose square is infinite, are left out
_TENS = tuple(float(f"1e{k}") for k in range(-6, 4))
_WHOLE = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 10.0, 100.0, 1000.0)


def remainder_cells(
    entry: int, x: Sample, x_prime: Sample, cells: int, *, as_reals: bool
) -> Iterator[Cells]:
    """Yield the cells of remainders that differ between the sides, for up to three moduli.

    Sides are an ``entry`` of outputs, each ``(n,)``, NaN where a number is missing. Quantiles of a
    remainder make so many ``cells``. With ``as_reals``, moduli are at least 1e-5 of the spread.
    """
    heads = (side[:_DRAWS].tobytes() for side in (x, x_prime))
    for modulus in _doubtful(*heads, x.dtype, cells, as_reals):
        divisor = int(modulus) if modulus.is_integer() else modulus
        view = View("remainder", entry, modulus=divisor)
        ours, theirs = (remainders(side, divisor) for side in (x, x_prime))
        yield from Numbers(ours, theirs, cells, view, fine=True).choices()


@lru_cache(_KEPT)  # later rounds have the same first draws
def _doubtful(
    head: bytes, head_prime: bytes, dtype: np.dtype[Any], cells: int, as_reals: bool
) -> list[float]:
    """Return the moduli for whose remainders the first draws of both sides differ."""
    x, x_prime = (np.frombuffer(side, dtype) for side in (head, head_prime))
    exact = np.issubdtype(dtype, np.integer)
    origin = x[0] if exact else 0  # differences are exact
    with np.errstate(invalid="ignore"):  # of a NaN that signals
        few = [_finite(side - origin) for side in (x, x_prime)]
    if min(side.size for side in few) < _BLOCK * _BLOCKS // 2:
        return []
    pooled = np.concatenate(few)
    low, high = np.quantile(pooled[::8], (0.16, 0.84))
    spread, largest = float(high - low), float(np.abs(pooled).max())
    whole = largest < 2.0**53 and bool((pooled == np.rint(pooled)).all())
    least = max(0 if exact else largest * 2.0**-_DIGITS, spread * _COARSE * as_reals)
    divisors = (_common_divisor(side, spread, whole) for side in few)
    common = {divisor for divisor in divisors if divisor is not None and least <= divisor}
    doubts: dict[float, float] = {}  # by modulus
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
    largest_first = sorted(doubts, key=lambda modulus: -doubts[modulus])
    return [modulus for modulus in largest_first[:_MODULI] if doubts[modulus] > _SIGNIFICANT]


def narrow_cells(view: View, x: Sample, x_prime: Sample) -> Iterator[Cells]:
    """Yield narrow cells of a number, if the sides, each ``(n,)``, differ within wider cells."""
    ours, theirs = (np.sort(_finite(side[: 4 * _DRAWS])) for side in (x, x_prime))
    starts = np.unique(np.sort(np.concatenate([ours, theirs]))[::4])
    rows = starts.size // _CELLS
    if not rows or min(ours.size, theirs.size) < _DRAWS // 2:
        return
    starts = starts[: rows * _CELLS]
    counts = (np.diff(np.searchsorted(side, starts), append=side.size) for side in (ours, theirs))
    if _doubt(*(side.reshape(rows, -1) for side in counts)) > _SIGNIFICANT:
        for draws, most in _NARROW:
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


def _period(x: Floats, x_prime: Floats, spread: float) -> dict[float, float]:
    """Return the period of the difference of the sides, if any, and its standard deviations.

    It is the peak of the Fourier transform of the difference of fine histograms.
    """
    pooled = np.concatenate([x, x_prime])
    low, high = np.quantile(pooled, (0.01, 0.99))
    if high - low < 1 / _LARGE:
        return {}
    with np.errstate(over="ignore"):  # far tails
        cells = np.clip((pooled - low) / (high - low) * _BINS, -1, _BINS).astype(np.int64) + 1
    counts = [np.bincount(side, None, _BINS + 2) for side in np.split(cells, [x.size])]
    apart = (counts[0] - counts[1])[1:-1]
    waves = np.fft.rfft(apart, _PADDED * _BINS)
    power = (waves.real**2 + waves.imag**2) / pooled.size
    least = _PADDED * _SMOOTH * (high - low)  # over the spread: the first frequency that counts
    first = math.ceil(least / spread) if spread * power.size > least else power.size
    peak = first + int(np.argmax(power[first:])) if first < power.size else 0
    if not peak or power[peak] < _SIGNIFICANT**2:
        return {}
    return {float((high - low) * _PADDED / peak): math.sqrt(2 * power[peak])}


def _finite(side: Sample) -> Floats:
    reals = side.astype(np.float64)
    return reals[np.abs(reals) < _LARGE]


def _common_divisor(side: Floats, spread: float, whole: bool) -> float | None:
    """Return the common divisor of differences, if a fifth of all blocks of draws agree on it."""
    if not whole and (np.diff(np.sort(side)) < spread * _EQUAL).sum() < _REPEATS:
        return None  # reals without repetition
    blocks = side[: min(_BLOCKS, side.size // _BLOCK) * _BLOCK].reshape(-1, _BLOCK)
    apart = np.abs(np.diff(blocks, axis=1))
    least = 1.0 if whole else spread * _COARSE
    divisors = apart[:, 0]
    for others in apart.T[1:]:
        divisors = _divisors(divisors, others, least / 10)
    divisors, enough = np.sort(divisors[divisors > least]), len(blocks) // _SHARE
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
