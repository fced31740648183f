"""The kinds of output that a mechanism may have, and how each is held and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Kind:
    """How outputs of a kind are held: the type of an entry, and what an output is made of.

    ``several`` entries make an output, or one. ``missing`` ones (NaN) may be among them.
    """

    dtype: type[np.generic]
    several: bool = False
    missing: bool = False

    @property
    def real(self) -> bool:
        """Whether entries are real numbers, not whole ones."""
        return issubclass(self.dtype, np.floating)

    @property
    def bytes(self) -> int:
        """What an entry takes, in memory and in a file."""
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
