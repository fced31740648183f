"""The refusal of real outputs that have atoms, and so no density."""

import math

import numpy as np

from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.compiled import compiled

_SHARE = 5e-4  # smallest share of the draws in an atom
_DRAWS_OF_AN_ATOM = 10  # smallest number of draws in an atom
_SHARE_NEAR_ATOMS = 0.1  # smallest share of the draws within a bandwidth of an atom
_CLEAR = 4.0  # standard deviations by which an atom exceeds that share
_SLOTS = 2**14  # of the hash table
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Fibonacci hashing)


def refuse_atoms(*sides: Floats) -> None:
    """Raise `ArgumentError` where one value holds draws that a density cannot explain.

    Draws of all sides, of shape ``(n,)`` or ``(n, d)``, are counted together, each entry of a
    vector apart. An atom is a value with ten draws or more, 0.05 % of all draws or more, and more
    than a tenth of the draws within a bandwidth of it; a smaller one changes no answer. So a
    density may be rounded to a fifth of a bandwidth, and smoothing hides a small atom. NaN is
    refused, too.
    """
    tables = [side[:, None] if side.ndim == 1 else side for side in sides]
    total = sum(len(table) for table in tables)
    for entry in range(tables[0].shape[1]):
        draws = [np.ascontiguousarray(table[:, entry], np.float64) for table in tables]
        counts = np.zeros(_SLOTS, np.int32)
        if not all(_count(counts, side, side.view(np.uint64)) for side in draws):
            raise ArgumentError("outputs", "are mixed: some entries are not numbers")
        least = max(_DRAWS_OF_AN_ATOM, _SHARE * total)
        if counts.max() < least:
            continue
        if most := _largest_atom(np.concatenate(draws), least, total / len(sides)):
            raise ArgumentError(
                "outputs",
                f"are reals with an atom ({most} of {total} draws on one value): they have no "
                "density, so the method does not apply; discrete outputs must be integers",
            )


def _largest_atom(draws: Floats, least: float, n: float) -> int:
    """Return the size of the largest atom of ``least`` draws or more; ``n`` is a side's size."""
    draws.sort()
    begins = np.flatnonzero(np.diff(draws, prepend=np.nan) != 0)
    counts = np.diff(begins, append=draws.size)
    values = draws[begins[counts >= least]]
    counts = counts[counts >= least]
    width = _bandwidth(draws, n)
    nearby = draws.searchsorted(values + width, "right") - draws.searchsorted(values - width)
    explained = _SHARE_NEAR_ATOMS * nearby + _CLEAR * np.sqrt(_SHARE_NEAR_ATOMS * nearby)
    return int(counts[counts >= explained].max(initial=0))


def _bandwidth(draws: Floats, n: float) -> float:
    """Return a bandwidth for normal draws by their quartiles, which are robust to outliers."""
    low, high = np.quantile(draws, [0.25, 0.75])
    return float(0.9 * (high - low) / 1.349 * n**-0.2)


@compiled
def _count(counts, draws, bits):  # type: ignore[no-untyped-def]
    """Count draws by a hash of their bits, which equal draws share; tell if all are numbers."""
    # the slot's bits
    numbers = True
    high = np.uint64(64 - math.log2(counts.size))
    for i in range(draws.size):
        numbers &= draws[i] == draws[i]
        word = bits[i] if draws[i] != 0.0 else np.uint64(0)  # -0.0 is 0.0
        counts[(word * _MULTIPLIER) >> high] += 1
    return numbers
