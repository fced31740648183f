"""Exact privacy spectra: delta at given epsilons, for every kind of law.

delta(e) = P(S) - exp(e) Q(S) for the set S of outputs whose privacy loss exceeds e. It is the mean
under P of (1 - exp(e - loss))+, which is how every law works it out: the difference of two
probabilities has no digits left where delta is small.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.arrays import Floats
from epsilometer.errors import ArgumentError
from epsilometer.exact.base import Law

_ROUNDING = 1e-14  # of a level


def spectrum(law: Law, claims: ArrayLike, x: Any, x_prime: Any) -> Floats:
    """Return the hockey-stick divergence of x's law from x''s at each claim, of shape ``(m,)``."""
    at = np.atleast_1d(np.asarray(claims, float))
    if not hasattr(law, "spectrum"):
        raise ArgumentError("law", f"{type(law).__name__} has no spectrum")
    # where no loss exceeds the claim delta is 0, not what rounding of either leaves
    short = at < law.privacy_loss(x, x_prime) * (1 - _ROUNDING)
    found = np.zeros(at.size)
    if short.any():
        found[short] = law.spectrum(at[short], x, x_prime)
    return np.clip(found, 0.0, 1.0)
