"""Gauss-Legendre quadrature on the real line, and the distributions whose levels it integrates."""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.exact import levels
from epsilometer.exact.levels import Comparison
from epsilometer.numerics.arrays import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_TAIL = 2.0 ** np.arange(-4, 7)  # ends of the pieces of a tail, in scales


def nodes(kinks: ArrayLike, scale: float) -> tuple[Floats, Floats]:
    """Return nodes and weights: pieces end at the kinks, and at growing distances beyond them.

    An integrand that is smooth between kinks and falls off exponentially over ``scale``, or faster
    by a factor up to about 10, is integrated to about 1e-12.
    """
    inner = np.unique(np.asarray(kinks, float))
    pieces = [inner]
    for start, end in pairwise(inner):  # long gaps are cut as tails are
        middle = (start + end) / 2
        steps = _TAIL[_TAIL * scale < middle - start] * scale
        pieces += [start + steps, end - steps, np.array([middle])]
    pieces += [inner[0] - scale * _TAIL, inner[-1] + scale * _TAIL]
    ends = np.unique(np.concatenate(pieces))
    half = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half * (1 + _NODES)
    return z.ravel(), (half * _WEIGHTS).ravel()


class LineDistribution(ABC):
    """A density that is smooth except at kinks, and falls off over a scale."""

    @abstractmethod
    def log_pdf(self, z: Floats, x: Any) -> Floats:
        """Return the log density at ``z``; minus infinity where there is none."""

    @abstractmethod
    def pieces(self, x: Any, x_prime: Any) -> tuple[Floats, float]:
        """Return the kinks and ends of both densities, and the scale on which they change."""

    @abstractmethod
    def compare(self, z: Floats, x: Any, x_prime: Any) -> Comparison:
        """Return both log densities at ``z`` and the loss, accurate where it is small."""

    @abstractmethod
    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return the largest log ratio."""

    def pdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the density at ``z``."""
        return np.asarray(np.exp(self.log_pdf(np.asarray(z, float), x)))

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return the divergence by quadrature."""
        return levels.renyi(order, self._nodes(*self.pieces(x, x_prime), x, x_prime))

    def spectrum(self, claims: Floats, x: Any, x_prime: Any) -> Floats:
        """Integrate p (1 - exp(e - loss)) over where the loss exceeds e, for each claim e."""
        kinks, scale = self.pieces(x, x_prime)
        grid, _ = nodes(kinks, scale)
        log_p, log_q, loss = self.compare(grid, x, x_prime)
        possible = (log_p > -np.inf) & (log_q > -np.inf)
        grid = grid[possible]
        loss = loss[possible]
        deltas = np.zeros(claims.size)
        for i, claim in enumerate(claims):
            ends = np.append(kinks, self._crossings(grid, loss - claim, claim, x, x_prime))
            deltas[i] = levels.deltas(claims[i : i + 1], self._nodes(ends, scale, x, x_prime))[0]
        return deltas

    def _crossings(
        self, grid: Floats, excess: Floats, claim: float, x: Any, x_prime: Any
    ) -> list[float]:
        """Return where the loss crosses the claim; an error of it counts only squared."""
        from scipy.optimize import brentq  # slow to import, and rarely needed

        def excess_at(z: float) -> float:
            return float(self.compare(np.array([z]), x, x_prime).loss[0] - claim)

        change = np.flatnonzero(np.sign(excess[:-1]) * np.sign(excess[1:]) < 0)
        ends = zip(grid[change], grid[change + 1], strict=True)
        return [brentq(excess_at, a, b, xtol=1e-15 * (b - a)) for a, b in ends]

    def _nodes(self, kinks: Floats, scale: float, x: Any, x_prime: Any) -> Comparison:
        """Return the masses at the nodes of a quadrature."""
        z, weights = nodes(kinks, scale)
        return self.compare(z, x, x_prime).times(weights)
