"""Closer looks at one number: what it leaves when it is divided, and cells as narrow as can be.

Quantiles of wide noise hide what repeats on a small scale: x + 2 round(noise) has the parity of x,
31.37 plus whole noise its decimals, and a density may rise and fall a thousand times. Both looks
take time, so that a test of Pearson's on a few draws says first whether there is anything to see.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.events.candidates import Cells, Counts, Floats, Numbers, deviations
from epsilometer.events.events import View, remainders

Sample = NDArray[Any]

_DRAWS = 2048  # of either side, that a test takes; of narrow cells it takes four times as many
_BLOCK, _BLOCKS = 4, 128  # draws whose differences are divided by each other
_SHARE = 5  # one block of so many agrees on what differences have in common
_EQUAL, _AGREE = 1e-9, 4  # reals so close are the same; so many are seldom by chance
_SURE = 4.5  # standard deviations of a test
_CELLS = 64  # of a remainder, and in a row of narrow cells
_SMOOTH = 16  # times a modulus is the spread, at least: no smooth density tells remainders then
_MODULI = 3  # that are looked at
_BINS, _PADDED = 8192, 8  # of a Fourier transform, and how many times as many frequencies
_DIGITS = 44  # bits of a real that a modulus may need
_COARSE = 1e-5  # of the spread, below which a modulus is about how reals are held
_NARROW = ((20, 5000), (160, 640))  # draws of both sides in a cell, and how many cells at most
_LARGE = 1e150  # whose square is finite; larger numbers are not divided
_TENS = tuple(float(f"1e{k}") for k in range(-6, 4))
_WHOLE = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 10.0, 100.0, 1000.0)


def remainder_cells(
    line: Numbers, x: Sample, x_prime: Sample, cells: int, *, as_reals: bool
) -> Iterator[Cells]:
    """Yield the cells of remainders that differ between the sides, by up to three numbers.

    Parameters
    ----------
    line
        The cells of outputs, or of an entry of them, where not every value has one of its own.
    x, x_prime
        Both sides, of shape ``(n,)``, NaN where there is no number.
    cells
        How many cells quantiles of a remainder make.
    as_reals
        Whether only numbers are divided by that are no smaller than 1e-5 of the spread.
    """
    origin = x[0] if np.issubdtype(x.dtype, np.integer) else 0  # then differences are exact
    with np.errstate(invalid="ignore"):  # of a NaN that signals
        few = [_finite(side[:_DRAWS] - origin) for side in (x, x_prime)]
    if min(side.size for side in few) < _BLOCK * _BLOCKS // 2:
        return
    pooled = np.concatenate(few)
    low, high = np.quantile(pooled[::8], (0.16, 0.84))
    spread, largest = float(high - low), float(np.abs(pooled).max())
    whole = largest < 2.0**53 and bool((pooled == np.rint(pooled)).all())
    exact = np.issubdtype(x.dtype, np.integer)
    least = max(0 if exact else largest * 2.0**-_DIGITS, spread * _COARSE * as_reals)
    common = {part for side in few for part in _common(side, spread, whole) if least <= part}
    found: dict[float, float] = {}
    for modulus in sorted({*common, *(_WHOLE if whole or exact else _TENS)}):
        if modulus in common or least <= modulus <= spread / _SMOOTH:
            sides = (x[:_DRAWS], x_prime[:_DRAWS]) if exact and modulus.is_integer() else few
            divisor = int(modulus) if modulus.is_integer() else modulus
            shares = (remainders(side, divisor) / divisor for side in sides)
            codes = ((share * _CELLS).astype(np.int64) for share in shares)
            found[modulus] = _doubt(*(np.bincount(code, None, _CELLS + 1) for code in codes))
        if modulus in common:  # what is close to each other, too
            ours, theirs = (remainders(side, modulus) for side in few)
            found[modulus] = max(found[modulus], doubt(ours, theirs, cells))
    found |= _period(few[0], few[1], spread)
    for modulus in sorted(found, key=lambda modulus: -found[modulus])[:_MODULI]:
        if found[modulus] > _SURE:
            divisor = int(modulus) if modulus.is_integer() else modulus
            view = View("remainder", line.view.entry, modulus=divisor)
            ours, theirs = (remainders(side, divisor) for side in (x, x_prime))
            yield from Numbers(ours, theirs, cells, view, fine=True).choices()


def narrow_cells(line: Numbers, x: Sample, x_prime: Sample) -> Iterator[Cells]:
    """Yield narrow cells of a number, if draws differ within wider ones; sides are ``(n,)``."""
    ours, theirs = (np.sort(_finite(side[: 4 * _DRAWS])) for side in (x, x_prime))
    starts = np.unique(np.sort(np.concatenate([ours, theirs]))[::4])
    rows = starts.size // _CELLS
    if not rows or min(ours.size, theirs.size) < _DRAWS // 2:
        return
    starts = starts[: rows * _CELLS]
    counts = (np.diff(np.searchsorted(side, starts), append=side.size) for side in (ours, theirs))
    if _doubt(*(side.reshape(rows, -1) for side in counts)) > _SURE:
        for draws, most in _NARROW:
            cells = min((len(x) + len(x_prime)) // draws, most)
            yield Numbers(x, x_prime, cells, line.view, values=False, fine=True)


def doubt(x: Sample, x_prime: Sample, cells: int) -> float:
    """Return by how many standard deviations two samples ``(n,)`` differ in so many cells."""
    ours, theirs = Numbers(x, x_prime, cells, View(), values=False).folds
    return _doubt(ours.sum(axis=0), theirs.sum(axis=0))


def _doubt(*counts: Counts) -> float:
    """Return by how many standard deviations both sides differ in all cells, or in one."""
    excess, variance, free = deviations(*map(np.atleast_2d, counts))
    squares, degrees = excess**2 / variance, int(free.sum())
    return max(
        float((squares.sum() - degrees) / np.sqrt(2 * max(degrees, 1))),
        float(np.sqrt(squares.max())),
    )


def _period(x: Floats, x_prime: Floats, spread: float) -> dict[float, float]:
    """Return the period with which the sides differ, and by how many standard deviations, if any.

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
    power = np.abs(np.fft.rfft(apart, _PADDED * _BINS)) ** 2 / pooled.size
    least = _PADDED * _SMOOTH * (high - low)  # over the spread: the first frequency that counts
    first = math.ceil(least / spread) if spread * power.size > least else power.size
    peak = first + int(np.argmax(power[first:])) if first < power.size else 0
    if not peak or power[peak] < _SURE**2:
        return {}
    return {float((high - low) * _PADDED / peak): math.sqrt(2 * power[peak])}


def _finite(side: Sample) -> Floats:
    reals = side.astype(np.float64)
    return reals[np.abs(reals) < _LARGE]


def _common(side: Floats, spread: float, whole: bool) -> list[float]:
    """Return what differences are multiples of, if a fifth of all blocks of draws agree on it."""
    if not whole and (np.diff(np.sort(side)) < spread * _EQUAL).sum() < _AGREE:
        return []  # reals without repetition
    blocks = side[: min(_BLOCKS, side.size // _BLOCK) * _BLOCK].reshape(-1, _BLOCK)
    apart = np.abs(np.diff(blocks, axis=1))
    least = 1.0 if whole else spread * _COARSE
    parts = apart[:, 0]
    for others in apart.T[1:]:
        parts = _divisors(parts, others, least / 10)
    parts, enough = np.sort(parts[parts > least]), len(blocks) // _SHARE
    if parts.size <= enough:
        return []
    ratios = parts[enough:] / parts[:-enough]
    first = int(np.argmin(ratios))
    far = apart[apart > spread / 4]
    part = float(np.median(parts[first : first + enough]))
    if ratios[first] > 1.001 or not far.size or part > far.min():
        return []
    part = float(np.median(far / np.rint(far / part)))
    short = (float(f"{part:.{digits}g}") for digits in range(1, 13))
    return [next((number for number in short if abs(number - part) <= 1e-11 * part), part)]


def _divisors(a: Floats, b: Floats, tolerance: float) -> Floats:
    """Return the greatest common divisors of reals, by Euclid; what is below tolerance is 0."""
    while (b > tolerance).any():
        by = np.where(b > tolerance, b, 1.0)
        rest = np.abs(a - by * np.rint(a / by))
        a, b = np.where(b > tolerance, b, a), np.where(b > tolerance, rest, b)
    return a
