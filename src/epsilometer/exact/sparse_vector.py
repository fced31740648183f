"""Exact distribution of the Sparse Vector variants, by integration over the threshold noise."""

import math
from collections.abc import Sequence

import numpy as np

from epsilometer.errors import ArgumentError
from epsilometer.exact import levels, quadrature
from epsilometer.exact.finite import Enumerated
from epsilometer.exact.levels import Comparison
from epsilometer.exact.noise import LaplaceNoise
from epsilometer.mechanisms.sparse_vector import SparseVector, SparseVectorBits
from epsilometer.numerics.arrays import Floats

_LAPLACE = LaplaceNoise()


class _GivenRho(Enumerated):
    """Answers that are independent given the threshold noise rho."""

    def __init__(self, mechanism: SparseVector) -> None:
        self._mechanism = mechanism

    def _answers(
        self, x: Sequence[float], x_prime: Sequence[float]
    ) -> tuple[Comparison, Comparison, Comparison]:
        """Return the masses of rho at nodes, and each answer's chances given it."""
        m = self._mechanism
        p = np.asarray(x, float) - m.threshold
        q = np.asarray(x_prime, float) - m.threshold
        rho_scale, nu_scale = m.noise_scales
        rho, mass = _threshold_noise(p, q, rho_scale, nu_scale)
        above = _chances(1, p, q, rho, nu_scale)
        below = _chances(-1, p, q, rho, nu_scale)
        return mass, above, below


class ExactSparseVector(_GivenRho):
    """Given rho the answers are independent; the outputs are the 2^queries bit vectors."""

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log probabilities and the loss of every bit vector, bit i for query i."""
        rho, above, below = self._answers(x, x_prime)
        outcomes = np.array([[-np.inf], [-np.inf], [0.0]]).repeat(1 << len(x), axis=1)
        states = {0: rho}  # the masses over rho, for the bits so far
        for j in range(len(x)):
            following = {}
            for bits, masses in states.items():
                hit = _both(masses, above.row(j))
                new = bits | 1 << j
                if self._mechanism.stops:
                    outcomes[:, new] = levels.total(*hit)
                else:
                    following[new] = hit
                following[bits] = _both(masses, below.row(j))
            states = following
        for bits, masses in states.items():
            outcomes[:, bits] = levels.total(*masses)
        return Comparison(*outcomes)


class ExactSparseVectorFirst(_GivenRho):
    """Given rho, query j is the first positive if it is one and all before it are not.

    The last output is that there is none.
    """

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log probabilities and the loss of each first positive."""
        rho, above, below = self._answers(x, x_prime)
        none = np.zeros_like(rho.loss)
        chances = []
        for mass, down, up in zip(rho, below, above, strict=True):
            all_before_below = np.cumsum(np.vstack([none, down]), axis=0)
            chances.append(mass + all_before_below + np.vstack([up, none]))
        return levels.total(*Comparison(*chances))


class ExactSparseVectorBits(Enumerated):
    """Variant 5, without noise on the queries: the positives are those at or above one rho.

    So an input has few outputs, a set for every distinct answer, and one with no positive at all.
    """

    def __init__(self, mechanism: SparseVectorBits) -> None:
        if mechanism.variant != 5:
            raise ArgumentError("variant", "must be 5 for an exact distribution of bit vectors")
        self._threshold = mechanism.threshold
        self._scale = mechanism.noise_scales[0]

    def atoms(self, x: Sequence[float]) -> dict[int, tuple[float, float]]:
        """Return every possible output with the interval of rho / scale that gives it."""
        gaps = (np.asarray(x, float) - self._threshold) / self._scale
        atoms = {}
        below = -math.inf
        for end in np.unique(gaps).tolist():
            positives = 0  # of rho from the end below to this one
            for j in np.flatnonzero(gaps >= end).tolist():
                positives |= 1 << j
            atoms[positives] = below, end
            below = end
        return atoms | {0: (below, math.inf)}

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        p = self.atoms(x)
        q = self.atoms(x_prime)
        empty = (0.0, 0.0)
        intervals = [p.get(output, empty) for output in p | q]
        others = [q.get(output, empty) for output in p | q]
        log_p = np.array([_log_mass(low, high) for low, high in intervals])
        log_q = np.array([_log_mass(low, high) for low, high in others])
        loss = levels.compared(log_p, log_q).loss
        for i in np.flatnonzero(np.abs(loss) < 1):  # where one end moves, by the mass between
            (low, high), (low_prime, high_prime) = intervals[i], others[i]
            if low == low_prime:
                start, end = high_prime, high
            elif high == high_prime:
                start, end = low, low_prime
            else:
                continue
            moved = math.exp(_log_mass(min(start, end), max(start, end)) - log_q[i])
            loss[i] = math.log1p(math.copysign(moved, end - start))
        return Comparison(log_p, log_q, loss)


def _threshold_noise(
    p: Floats, q: Floats, scale: float, query_scale: float
) -> tuple[Floats, Comparison]:
    """Return nodes of rho for both inputs' gaps, and their masses."""
    rho, weights = quadrature.nodes(np.concatenate([p, q, [0.0]]), max(scale, query_scale))
    mass = _LAPLACE.log_pdf(rho / scale) + np.log(weights / scale)
    return rho, Comparison(mass, mass, np.zeros_like(mass))


def _chances(side: int, p: Floats, q: Floats, rho: Floats, scale: float) -> Comparison:
    """Return the chances of gap + nu >= rho for side 1, < for -1, of shape (queries, len(rho))."""
    if scale == 0:
        log_p = np.where((p[:, None] >= rho) == (side > 0), 0.0, -np.inf)
        log_q = np.where((q[:, None] >= rho) == (side > 0), 0.0, -np.inf)
        return levels.compared(log_p, log_q)
    u = side * (p[:, None] - rho) / scale
    v = side * (q[:, None] - rho) / scale
    gain = _LAPLACE.cdf_gain(u, v, side * (q - p)[:, None] / scale)
    return Comparison(_LAPLACE.log_cdf(u), _LAPLACE.log_cdf(v), gain)


def _both(a: Comparison, b: Comparison) -> Comparison:
    """Return the comparison of the intersection of two independent events."""
    with np.errstate(invalid="ignore"):
        loss = a.loss + b.loss  # NaN where neither input has both
    return Comparison(a.log_p + b.log_p, a.log_q + b.log_q, np.where(np.isnan(loss), -np.inf, loss))


def _log_mass(low: float, high: float) -> float:
    """Return the log probability that Laplace noise of scale 1 lies between two numbers."""
    if low >= high:
        return -math.inf
    if low >= 0:
        low, high = -high, -low
    if high <= 0:
        return high - math.log(2) + math.log(-math.expm1(low - high))
    return math.log(-(math.expm1(low) + math.expm1(-high)) / 2)
