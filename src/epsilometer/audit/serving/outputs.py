"""Outputs of a function: arrays where nothing is lost by it, plain values elsewhere."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import Broken, what_is
from .optional import np

ATOMS = (float, int, bool, str, type(None), bytes, complex)
_EXACT = 2**53  # whole numbers up to here are floats without loss


@dataclass(frozen=True)
class Failure:
    """An outcome: the mechanism failed, with an exception of this type."""

    type_name: str

    def __str__(self) -> str:
        return f"failed with {self.type_name}"


def of_array(array: Any) -> Any:
    """Return outputs that are an array of any shape and type as (n,), (n, d) or a list."""
    if isinstance(array, np.ma.MaskedArray):
        array = np.array(array.tolist(), object) if array.mask.any() else array.data
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    if array.ndim > 1 and array.size == 0:
        raise Broken("returned outputs without entries")
    if array.dtype.kind in "biuf":
        return array if array.ndim <= 2 else array.reshape(len(array), -1)
    return compact(array.tolist())


def compact(values: list[Any]) -> Any:
    """Return outputs as an array where nothing is lost by it, as a list of plain values otherwise.

    Plain are numbers, words, bytes, None, `Failure`, dictionaries, sets and tuples of these, and
    other objects that are equal by value.
    """
    if np is not None and values and all(type(value) is np.ndarray for value in values):
        shapes = {(value.shape, value.dtype) for value in values}
        if len(shapes) == 1 and values[0].ndim and not values[0].dtype.hasobject:
            return of_array(np.stack(values))
    kinds = {type(value) for value in values}
    if not kinds <= set(ATOMS):
        values = [value if type(value) in ATOMS else plain(value) for value in values]
        kinds = {type(value) for value in values}
    if np is None or not values:
        return values
    if kinds == {tuple}:
        lengths = set(map(len, values))
        if lengths != {0} and len(lengths) == 1:
            flat = _numbers(list(itertools.chain.from_iterable(values)))
            return values if flat is None else flat.reshape(len(values), -1)
        return values
    array = _numbers(values)
    return values if array is None else array


def _numbers(values: list[Any]) -> Any:
    """Return numbers as an array of floats, integers or truth values; None where that loses any."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, bool)
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return None
    if kinds == {int, float} and all(
        -_EXACT <= value <= _EXACT for value in values if type(value) is int
    ):
        return np.array(values, np.float64)
    return None


def plain(value: Any) -> Any:
    """Return one output as numbers, words, None, tuples, sets and dictionaries of these."""
    if type(value) in ATOMS or isinstance(value, Failure):
        return (value.real, value.imag) if type(value) is complex else value
    if np is not None and isinstance(value, (np.generic, np.ndarray)):
        item = value.tolist()
        return item if isinstance(item, np.generic) else plain(item)
    if np is not None and hasattr(value, "__array__"):
        return plain(np.asarray(value))
    for kinds, convert in _CONTAINERS:
        if isinstance(value, kinds):
            return convert(value)
    if isinstance(value, Iterator):
        raise Broken("returned a generator as one output; with a parameter 'size' it may yield all")
    if inspect.iscoroutine(value):
        value.close()
        raise Broken("returned a coroutine; it must return its outputs")
    if not isinstance(value, Hashable) or type(value).__hash__ is object.__hash__:
        raise Broken(
            f"returned {what_is(value)}; "
            "outputs are numbers, words, None, lists, tuples, dictionaries"
        )
    return value


_CONTAINERS: list[tuple[Any, Callable[[Any], Any]]] = [
    ((list, tuple), lambda value: tuple(plain(entry) for entry in value)),
    (dict, lambda value: {plain(key): plain(entry) for key, entry in value.items()}),
    ((set, frozenset), lambda value: frozenset(plain(member) for member in value)),
    (bytearray, bytes),
]


def as_json(value: Any) -> Any:
    """Return a plain output as JSON has it; sets, and keys that are no words, behind a ``$``."""
    if isinstance(value, Failure):
        return {"error": value.type_name}
    if isinstance(value, (list, tuple)):
        return [as_json(entry) for entry in value]
    if isinstance(value, frozenset):
        return {"$set": [as_json(member) for member in sorted(value, key=repr)]}
    if isinstance(value, dict):
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: as_json(entry) for key, entry in value.items()}
        return {"$items": [[as_json(key), as_json(entry)] for key, entry in value.items()]}
    return value if type(value) in (float, int, bool, str, type(None)) else str(value)


def from_json(found: dict[str, Any]) -> Any:
    """Return a set, or a dictionary, that `as_json` wrote as this object; others as they are."""
    with contextlib.suppress(ValueError, TypeError):  # somebody else's object
        if set(found) == {"$set"}:
            return frozenset(plain(member) for member in found["$set"])
        if set(found) == {"$items"}:
            return {plain(key): entry for key, entry in found["$items"]}
    return found
