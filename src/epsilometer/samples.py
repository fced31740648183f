"""Arrays of outputs as users have them, of any library; one rule for estimates and audits.

Arrays and tensors on the CPU are read by ``__array__`` or DLPack, so no library is imported for
them. Masked entries are refused. Reals of two widths are compared at the lesser: a float32 among
float64 would show its side by its low bits. Missing entries, NaN and infinities are outcomes of
their own to audits, which compare outputs; what needs densities, distances or counts of `Pair`
refuses them, and says how many there are and where the first is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks, seeds
from epsilometer.errors import ArgumentError, one_line, shown
from epsilometer.numerics.arrays import Sample

_NAMES = "x", "x_prime", "outputs"
_LARGEST = 2**62  # its distances do not overflow
_TOO_LARGE = "must hold integers from -2^62 to 2^62; larger ones as strings"
_NUMBERS = bool, int, float, np.bool_, np.integer, np.floating


@dataclass(frozen=True, eq=False)
class Pair:
    """The draws of both sides, float64 or int64, of shape ``(n,)`` or ``(n, d)``.

    ``outputs`` are others of the same kind, ``(k,)`` or ``(k, d)``. Strings, or rows of them, are
    numbered: ``labels`` has them by their numbers. ``columns`` are the names of those of a data
    frame.
    """

    x: Sample
    x_prime: Sample
    outputs: Sample | None = None
    labels: Sample | None = None
    columns: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """Whether outputs are reals, not outcomes."""
        return self.x.dtype.kind == "f"

    @property
    def n(self) -> int:
        """The draws of the smaller side."""
        return min(len(self.x), len(self.x_prime))

    def named(self, output: Sample) -> Any:
        """Return one output as it was given: a number, a string, a list or a dictionary of them."""
        if self.labels is not None:
            output = self.labels[int(output)]
        given = output.tolist()
        if isinstance(given, list) and self.columns:
            return dict(zip(self.columns, given, strict=True))
        return given

    def shuffled(self) -> Pair:
        """Return the draws in another order, always the same: parts of sorted draws are biased."""
        rng = seeds.generator(0, "shuffled")  # not a stream that may have made the draws
        x = self.x[rng.permutation(len(self.x))]
        x_prime = self.x_prime[rng.permutation(len(self.x_prime))]
        return replace(self, x=x, x_prime=x_prime)

    def of_one_size(self) -> Pair:
        """Return the draws so that the first n of the larger side are a random part of it."""
        return self if len(self.x) == len(self.x_prime) else self.shuffled()

    def part(self, start: float, stop: float) -> Pair:
        """Return the draws between two shares of either side, in order."""
        return replace(
            self,
            x=_part(self.x, start, stop),
            x_prime=_part(self.x_prime, start, stop),
        )


def _part(side: Sample, start: float, stop: float) -> Sample:
    return side[int(start * len(side)) : int(stop * len(side))]


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

    Raise `ArgumentError` for arrays without such a shape, of other types or of different ones, of
    data frames with different columns, for missing numbers, NaN and infinity, below ``least`` draws
    of a side, and for ``rows`` of reals unless allowed.
    ``place`` is written before the names of arguments.
    """
    given = [x, x_prime] if outputs is None else [x, x_prime, outputs]
    arrays = [_array(place + name, a) for name, a in zip(_NAMES, given, strict=False)]
    arrays[:2] = of_one_width(arrays[:2])
    kinds = {array.dtype.kind for array in arrays}
    columns = _columns(x)
    for name, array, values in zip(_NAMES, arrays, given, strict=False):
        if columns and (other := _columns(values)) and other != columns:
            message = f"has columns {', '.join(other)}; x has {', '.join(columns)}"
            raise ArgumentError(place + name, f"{message:.150}")
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
        labels, arrays = _numbered(arrays)
    others = arrays[2] if outputs is not None else None
    return Pair(arrays[0], arrays[1], others, labels, columns)


def _numbered(arrays: Sequence[Sample]) -> tuple[Sample, list[Sample]]:
    """Return the different outcomes of arrays, and arrays of their positions among these."""
    labels, codes = np.unique(np.concatenate(arrays), axis=0, return_inverse=True)
    ends = np.cumsum([len(array) for array in arrays])[:-1]
    return labels, np.split(codes.ravel().astype(np.int64), ends)


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


def as_numpy(name: str, values: Any) -> Any:
    """Return an array of any library as one of NumPy, and anything else as it is.

    Raise `ArgumentError` for masked entries, and for an array that cannot be read: on another
    device, or of a type that NumPy does not have.
    """
    if isinstance(values, np.ma.MaskedArray):
        if (masked := np.argwhere(np.ma.getmaskarray(values))).size:
            message = f"must have no masked entries, has {len(masked)}, the first"
            raise ArgumentError(name, f"{message} {_place(masked[0])}")
        return values.data
    if hasattr(values, "detach"):  # a tensor of PyTorch, which may record gradients
        values = values.detach()
    try:
        if hasattr(values, "__array__"):
            return np.asarray(values)
        return np.from_dlpack(values) if hasattr(values, "__dlpack__") else values
    except Exception as error:
        message = f"is no array that NumPy can read: {one_line(error):.100}"
        raise ArgumentError(name, message) from None


def of_one_width(sides: Sequence[Any]) -> list[Any]:
    """Return both sides, rounded to the lesser width if they are arrays of reals of two widths."""
    kinds = {getattr(side, "dtype", np.dtype(object)) for side in sides}
    if len(kinds) == 1 or any(kind.kind != "f" for kind in kinds):
        return list(sides)
    less = min(kinds, key=lambda kind: kind.itemsize)
    with np.errstate(over="ignore"):
        return [side.astype(less) for side in sides]


def _columns(values: Any) -> tuple[str, ...]:
    """Return the names of the columns of a data frame of pandas or Polars."""
    return tuple(map(str, values.columns)) if hasattr(type(values), "columns") else ()


def _place(at: Iterable[Any], columns: Sequence[str] = ()) -> str:
    """Return where an entry is, as "in row 3, column 'age'"."""
    row, *column = map(int, at)
    if column and columns:
        return f"in row {row}, column {columns[column[0]]!r}"
    return f"in row {row}"


def _array(name: str, values: Any) -> Sample:
    """Return strings, int64 or reals of one or two dimensions."""
    columns = _columns(values)
    values = as_numpy(name, values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):  # ragged lists, and lists of tensors
        raise ArgumentError(name, "must have shape (n,) or (n, d)") from None
    read = array is not values  # from a list, of which NumPy makes texts if one entry is a text
    if array.ndim and array.dtype.kind == "O":
        array = _of_objects(name, array.tolist(), columns)
    elif array.ndim and read and array.dtype.kind in "US":
        array = _of_objects(name, values, columns)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or not array.size:
        raise ArgumentError(name, f"must have shape (n,) or (n, d), not empty, got {array.shape}")
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "backslashreplace")
    if array.dtype.kind == "U":
        return array
    if array.dtype.kind == "O" and array.ndim:
        raise ArgumentError(name, _TOO_LARGE)
    if array.dtype.kind not in "biuf":
        message = f"must hold numbers, or booleans or strings as outcomes, not {array.dtype}"
        raise ArgumentError(name, message)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            bad = np.argwhere(~np.isfinite(array))
            message = f"has {len(bad)} entries that are NaN or infinite, the first"
            raise ArgumentError(name, f"{message} {_place(bad[0], columns)}")
        return np.ascontiguousarray(array)
    if array.max() > _LARGEST or array.min() < -_LARGEST:
        raise ArgumentError(name, _TOO_LARGE)
    return np.ascontiguousarray(array, np.int64)


def _of_objects(name: str, values: Any, columns: Sequence[str]) -> Sample:
    """Return numbers, or strings, or raise `ArgumentError` at the first entry that is neither."""
    objects = np.array(values, object)
    entries = objects.ravel().tolist()
    kinds = set(map(type, entries))
    if all(issubclass(kind, _NUMBERS) for kind in kinds):
        return np.array(objects.tolist())
    if all(issubclass(kind, str | bytes) for kind in kinds):
        texts = [v if isinstance(v, str) else v.decode(errors="backslashreplace") for v in entries]
        return np.array(texts).reshape(objects.shape)
    wanted = (str, bytes) if kinds & {str, bytes, np.str_} else _NUMBERS
    others = [i for i, entry in enumerate(entries) if not isinstance(entry, wanted)]
    place = _place(np.unravel_index(others[0], objects.shape), columns)
    if all(_is_missing(entries[i]) for i in others):
        raise ArgumentError(name, f"has {len(others)} missing entries, the first {place}")
    found = shown(entries[others[0]], 40)
    raise ArgumentError(
        name, f"must hold numbers only, or strings only; an entry {place} is {found}"
    )


def _is_missing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas
    return missing or (isinstance(value, float) and math.isnan(value))


# --- columns --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """What is known of the columns of outputs, which are numbers.

    ``numbers`` are those of columns that are no codes, ``reals`` those of columns of reals, and
    ``groups`` those of columns that lie in one sequence, by row. With ``as_reals``, outputs stand
    for reals: their low bits are not looked at. A layout that was learned from outputs of any
    values has these attributes, too.
    """

    numbers: tuple[int, ...] = ()
    reals: tuple[int, ...] = ()
    groups: Sequence[Sequence[tuple[int, ...]]] = ()
    as_reals: bool = True


def columns_of(pair: Pair) -> Columns:
    """Return what is known of the columns of two arrays; strings are codes."""
    if pair.labels is not None:
        return Columns()
    size = 1 if pair.x.ndim == 1 else pair.x.shape[1]
    every = tuple(range(size))
    rows = tuple((i,) for i in every)
    return Columns(every, every if pair.real else (), (rows,) if size > 2 else ())
