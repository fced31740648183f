"""Telling real outputs with atoms from those that have a density."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epsilometer.errors import ArgumentError

_ATOM = 0.01  # share of the draws on one value from which a float output counts as an atom
_LOOKED_AT = 1000  # draws among which an atom is looked for


def refuse_atoms(sample: NDArray[np.float64]) -> None:
    """Raise `ArgumentError` where one value holds more than 1 % of the first thousand draws."""
    looked = sample[:_LOOKED_AT]
    if np.isnan(looked).any():
        raise ArgumentError("outputs", "are mixed: some entries are no numbers")
    columns = looked[:, None] if looked.ndim == 1 else looked
    for column in columns.T:
        ends = np.flatnonzero(np.diff(np.sort(column), prepend=np.nan, append=np.nan))
        most = int(np.diff(ends).max())
        if most > max(2.0, _ATOM * column.size):
            raise ArgumentError(
                "outputs",
                f"are reals with an atom ({most} of {column.size} draws on one value): there is no "
                "density, so the method does not apply; discrete outputs are to be integers",
            )
