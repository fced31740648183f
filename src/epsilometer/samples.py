"""Arrays of outputs as users have them: lists, booleans, strings and numbers of any type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks, seeds
from epsilometer.arrays import Sample
from epsilometer.errors import ArgumentError

_NAMES = "x", "x_prime", "outputs"
_LARGEST = 2**62  # its distances do not overflow


@dataclass(frozen=True, eq=False)
class Pair:
    """The draws of both sides, float64 or int64, of shape ``(n,)`` or ``(n, d)``.

    ``outputs`` are others of the same kind, ``(k,)`` or ``(k, d)``. Strings, or rows of them, are
    numbered: ``labels`` has them by their numbers.
    """

    x: Sample
    x_prime: Sample
    outputs: Sample | None = None
    labels: Sample | None = None

    @property
    def real(self) -> bool:
        """Whether outputs are reals, not outcomes."""
        return self.x.dtype.kind == "f"

    @property
    def n(self) -> int:
        """The draws of the smaller side."""
        return min(len(self.x), len(self.x_prime))

    def shuffled(self) -> Pair:
        """Return the draws in another order, always the same: parts of sorted draws are biased."""
        rng = seeds.generator(0, "shuffled")  # not a stream that may have made the draws
        x, x_prime = (side[rng.permutation(len(side))] for side in (self.x, self.x_prime))
        return Pair(x, x_prime, self.outputs, self.labels)

    def of_one_size(self) -> Pair:
        """Return n draws of either side: all of the smaller, and a random part of the larger."""
        return self if len(self.x) == len(self.x_prime) else self.shuffled()

    def part(self, start: float, stop: float) -> Pair:
        """Return the draws between two shares of either side, in order."""
        x, x_prime = (s[int(start * len(s)) : int(stop * len(s))] for s in (self.x, self.x_prime))
        return Pair(x, x_prime, self.outputs, self.labels)


def pair_of(
    x: ArrayLike,
    x_prime: ArrayLike,
    outputs: ArrayLike | None = None,
    *,
    least: int = 1,
    rows: bool = True,
    place: str = "",
) -> Pair:
    """Check and convert the arrays of a pair; integers among reals are reals.

    Raise `ArgumentError` for arrays without such a shape, of other types or of different ones, for
    NaN and infinity, below ``least`` draws of a side, and for ``rows`` of reals unless allowed.
    ``place`` is written before the names of arguments.
    """
    given = [x, x_prime] if outputs is None else [x, x_prime, outputs]
    arrays = [_array(place + name, a) for name, a in zip(_NAMES, given, strict=False)]
    kinds = {array.dtype.kind for array in arrays}
    for name, array in zip(_NAMES, arrays, strict=False):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise ArgumentError(place + name, f"has shape {array.shape}, x has {arrays[0].shape}")
        if (array.dtype.kind == "U") != (arrays[0].dtype.kind == "U"):
            raise ArgumentError(place + name, "must hold strings or numbers, as the others do")
    for name, array in zip(_NAMES[:2], arrays, strict=False):
        if len(array) < least:
            raise ArgumentError(place + name, f"has {len(array)} draws; {least} or more are needed")
    labels = None
    if "f" in kinds:
        arrays = [np.asarray(array, np.float64) for array in arrays]
        if arrays[0].ndim > 1 and not rows:
            message = "has rows of reals, for which there are local_loss and delta_curve only"
            raise ArgumentError(f"{place}x", message)
    elif "U" in kinds:
        labels, codes = np.unique(np.concatenate(arrays), axis=0, return_inverse=True)
        ends = np.cumsum([len(array) for array in arrays])[:-1]
        arrays = np.split(codes.ravel().astype(np.int64), ends)
    return Pair(arrays[0], arrays[1], arrays[2] if outputs is not None else None, labels)


def ends_of(name: str, ends: Any) -> tuple[float, float] | None:
    """Return the two ends of an interval, or None; raise `ArgumentError` for anything else."""
    if ends is None:
        return None
    if not _are_two(ends):
        raise ArgumentError(name, f"must have two ends, as (0, 1), got {ends!r}")
    return checks.interval(name, *ends)


def pairs_of_arrays(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]], *, least: int, rows: bool = True
) -> list[Pair]:
    """Check and convert several pairs, as `pair_of`; raise `ArgumentError` where there is none."""
    made = []
    if not isinstance(pairs, Iterable):
        raise ArgumentError("pairs", f"must be pairs of arrays, got {pairs!r}")
    for k, sides in enumerate(pairs):
        if not _are_two(sides):
            raise ArgumentError(f"pairs[{k}]", "must be two arrays, (x, x_prime)")
        made.append(pair_of(*sides, least=least, rows=rows, place=f"pairs[{k}]: "))
    if not made:
        raise ArgumentError("pairs", "must not be empty")
    return made


def _are_two(parts: Any) -> bool:
    listed = isinstance(parts, Sequence | np.ndarray) and not isinstance(parts, str)
    return listed and len(parts) == 2


def _array(name: str, values: ArrayLike) -> Sample:
    """Return strings, int64 or float64 of one or two dimensions."""
    if np.ma.is_masked(values):
        raise ArgumentError(name, "must have no masked entries")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.array(array.tolist())
    except (TypeError, ValueError):  # ragged lists
        raise ArgumentError(name, "must have shape (n,) or (n, d)") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or not array.size:
        raise ArgumentError(name, f"must have shape (n,) or (n, d), not empty, got {array.shape}")
    if array.dtype.kind == "U":
        return array
    if array.dtype.kind not in "biuf":
        message = f"must hold numbers, or booleans or strings as outcomes, not {array.dtype}"
        raise ArgumentError(name, message)
    if array.dtype.kind == "f":
        if bad := array.size - np.count_nonzero(np.isfinite(array)):
            raise ArgumentError(name, f"has {bad} entries that are NaN or infinite")
        return np.ascontiguousarray(array, np.float64)
    if array.max() > _LARGEST or array.min() < -_LARGEST:
        raise ArgumentError(name, "must hold integers from -2^62 to 2^62; larger ones as strings")
    return np.ascontiguousarray(array, np.int64)
