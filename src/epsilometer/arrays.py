"""Types of NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Indices = NDArray[np.int32]
Integers = NDArray[np.integer]
Bools = NDArray[np.bool_]
Sample = NDArray[Any]
"""Outputs: of shape ``(n,)``, or ``(n, d)`` where each has d entries."""
