"""Exact privacy spectra: delta at given epsilons, for every kind of law.

delta(e) = P(S) - exp(e) Q(S) for the set S of outputs whose privacy loss exceeds e. A law that
knows better has a method ``spectrum(claims, x, x')`` of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.errors import ArgumentError
from epsilometer.exact.base import Floats, Law

_GRID = 4001  # points among which a loss is looked at for crossings


def spectrum(law: Law, claims: ArrayLike, x: Any, x_prime: Any) -> Floats:
    """Return the hockey-stick divergence of x's law from x''s at each claim, of shape ``(m,)``."""
    at = np.atleast_1d(np.asarray(claims, float))
    if hasattr(law, "spectrum"):
        return np.asarray(law.spectrum(at, x, x_prime), np.float64)
    if hasattr(law, "pdf") and hasattr(law, "cdf"):
        return np.array([_on_the_line(law, e, x, x_prime) for e in at])
    raise ArgumentError("law", f"{type(law).__name__} has no spectrum")


def _on_the_line(law: Any, claim: float, x: Any, x_prime: Any) -> float:
    """Integrate over the intervals of S, between the crossings of the loss with the claim.

    An error of a crossing counts only squared: the integrand is 0 there.
    """
    from scipy.optimize import brentq  # slow to import, and rarely needed

    windows = [law.window(y) for y in (x, x_prime)]
    low, high = min(w[0] for w in windows), max(w[1] for w in windows)
    places = np.concatenate([np.ravel(np.asarray(y, float)) for y in (x, x_prime)])
    grid = np.unique(np.append(np.linspace(low, high, _GRID), places.clip(low, high)))

    def excess(z: Any) -> Any:
        """Return p - exp(e) q, whose sign is that of loss - e."""
        return law.pdf(z, x) - np.exp(claim) * law.pdf(z, x_prime)

    sign = np.sign(excess(grid))
    change = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    roots = [brentq(lambda z: float(excess(z)), grid[i], grid[i + 1], xtol=1e-14) for i in change]
    ends = np.concatenate([[low], roots, grid[sign == 0], [high]])
    ends = np.unique(ends)
    inside = excess((ends[:-1] + ends[1:]) / 2) > 0
    mass = [np.diff(law.cdf(ends, y))[inside].sum() for y in (x, x_prime)]
    return max(float(mass[0] - np.exp(claim) * mass[1]), 0.0)
