"""What is known of the columns of outputs, before events are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from epsilometer.samples import Pair


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
