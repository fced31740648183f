"""A score of several entries that was learned: a sum of products, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Sample = NDArray[Any]

_FAR = 8.0  # units of its spread, beyond which an entry says no more


@dataclass(frozen=True)
class Formula:
    """A sum of weighted products of entries in units of their spread.

    Parameters
    ----------
    entries
        Which entries of an output it reads, d of them.
    centres, scales
        What each is taken less, and divided by; what is further than 8 from 0 then is as if it
        were 8 away, and what is missing (NaN) as if it were in the centre.
    terms
        For each term the places among ``entries`` of its factors, one or two, and its weight.

    >>> product = Formula((0, 1), (0.0, 0.0), (1.0, 1.0), (((0, 1), 0.5), ((1,), 1.0)))
    >>> product.of(np.array([[2.0, 3.0], [np.nan, 1.0]])).tolist()
    [6.0, 1.0]
    """

    entries: tuple[int, ...]
    centres: tuple[float, ...]
    scales: tuple[float, ...]
    terms: tuple[tuple[tuple[int, ...], float], ...]

    def of(self, sample: Sample) -> Floats:
        """Return the score of each output ``(n, d')``, of shape ``(n,)``.

        It is summed up term by term, in this order, and so the same anywhere.
        """
        columns = standardised(sample, self.entries, self.centres, self.scales)
        total = np.zeros(len(sample))
        for factors, weight in self.terms:
            total += weight * product(columns, factors)
        return total

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "entries": list(self.entries),
            "centres": list(self.centres),
            "scales": list(self.scales),
            "terms": [[list(factors), weight] for factors, weight in self.terms],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Formula:
        """Return what `to_plain` was made of."""
        terms = tuple((tuple(factors), weight) for factors, weight in plain["terms"])
        entries, centres, scales = (tuple(plain[k]) for k in ("entries", "centres", "scales"))
        return cls(entries, centres, scales, terms)

    def words(self) -> str:
        """Name it."""
        return f"score of a logistic regression over {len(self.entries)} entries"


def standardised(
    sample: Sample, entries: Sequence[int], centres: Sequence[float], scales: Sequence[float]
) -> list[Floats]:
    """Return entries of outputs ``(n, d)`` as a formula reads them, each of shape ``(n,)``."""
    columns = []
    for entry, centre, scale in zip(entries, centres, scales, strict=True):
        with np.errstate(invalid="ignore", over="ignore"):
            column = (sample[:, entry] - centre) / scale
        columns.append(np.nan_to_num(np.clip(column, -_FAR, _FAR), nan=0.0))
    return columns


def product(columns: Sequence[Floats], factors: Sequence[int]) -> Floats:
    """Return the product of some columns, each of shape ``(n,)``."""
    found = columns[factors[0]]
    for i in factors[1:]:
        found = found * columns[i]
    return found
