"""NumPy, where it is installed; None elsewhere."""

from __future__ import annotations

__all__ = ["np"]

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]
