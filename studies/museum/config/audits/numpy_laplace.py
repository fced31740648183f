"""NumPy's Laplace noise on a large count: there, low bits of floats do not differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def count(x: float, size: int, rng: np.random.Generator, epsilon: float = 1) -> NDArray[np.float64]:
    """Draw x, and a million others, with Laplace noise."""
    return 1_000_000 + x + rng.laplace(0, 1 / epsilon, size)
