"""Kinds of output of a mechanism, and their types in memory and in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Kind:
    """A kind of output: the type of an entry, and whether an output has ``several`` of them.

    Entries may be ``missing`` (NaN).
    """

    dtype: type[np.generic]
    several: bool = False
    missing: bool = False

    @property
    def real(self) -> bool:
        """Whether entries are real numbers, not integers."""
        return issubclass(self.dtype, np.floating)

    @property
    def bytes(self) -> int:
        """The size of an entry, in memory and in a file."""
        return np.dtype(self.dtype).itemsize


KINDS: Mapping[str, Kind] = {
    "scalar": Kind(np.float64),
    "index": Kind(np.int32),
    "bits": Kind(np.int64),
    "vector": Kind(np.float64, several=True),
    "tuple": Kind(np.int32, several=True),
    "mixed": Kind(np.float64, several=True, missing=True),
}
"""By the names of `epsilometer.mechanisms.base.Outputs`."""
