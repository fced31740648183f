"""Exact distribution of the Sparse Vector variants, by integration over the threshold noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.errors import ArgumentError
from epsilometer.exact import levels, quadrature
from epsilometer.exact.finite import Enumerated
from epsilometer.exact.levels import Comparison
from epsilometer.exact.noise import LaplaceNoise
from epsilometer.mechanisms.sparse_vector import SparseVector, SparseVectorBits, SparseVectorMixed

_LAPLACE = LaplaceNoise()
_CERTAIN = Comparison(np.zeros(()), np.zeros(()), np.zeros(()))  # of probability 1


class _GivenRho(Enumerated):
    """Answers that are independent given the threshold noise rho."""

    def __init__(self, mechanism: SparseVector) -> None:
        self._mechanism = mechanism

    def _answers(
        self, x: Sequence[float], x_prime: Sequence[float]
    ) -> tuple[Comparison, Comparison, Comparison]:
        """Return the masses of rho at quadrature nodes, and each answer's chances given rho.

        The chances are of shape (queries, nodes), to be above and to be below.
        """
        m = self._mechanism
        p, q = (np.asarray(y, float) - m.threshold for y in (x, x_prime))
        rho_scale, nu_scale = m.noise_scales
        rho, mass = _threshold_noise(p, q, rho_scale, nu_scale)
        above, below = (_chances(side, p, q, rho, nu_scale) for side in (1, -1))
        return mass, above, below


class ExactSparseVector(_GivenRho):
    """Given rho the answers are independent; the outputs are the 2^queries bit vectors."""

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log probabilities and the loss of every bit vector, bit i for query i."""
        m = self._mechanism
        rho, above, below = self._answers(x, x_prime)
        outcome = [Comparison(*np.array([-np.inf, -np.inf, 0.0]))] * (1 << len(x))
        # for the bits so far: the integrated part, and the masses over rho since
        states = {0: (_CERTAIN, rho)}
        for j in range(len(x)):
            following = {}
            for bits, (past, masses) in states.items():
                following[bits] = past, _both(masses, _query(below, j))
                hit, new = _both(masses, _query(above, j)), bits | 1 << j
                if new.bit_count() == m.most_positives:
                    outcome[new] = _both(past, levels.total(*hit))
                elif m.redraws:
                    following[new] = _both(past, levels.total(*hit)), rho
                else:
                    following[new] = past, hit
            states = following
        for bits, (past, masses) in states.items():
            outcome[bits] = _both(past, levels.total(*masses))
        return Comparison(*(np.array(values, float) for values in zip(*outcome, strict=True)))


class ExactSparseVectorFirst(_GivenRho):
    """Given rho, query j is the first positive if it is one and all before it are not.

    The last output is that there is none.
    """

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log probabilities and the loss of each first positive."""
        rho, above, below = self._answers(x, x_prime)
        none = np.zeros_like(rho.loss)
        chances = (
            mass + np.cumsum(np.vstack([none, down]), axis=0) + np.vstack([up, none])
            for mass, down, up in zip(rho, below, above, strict=True)
        )
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
        ends = np.unique(gaps)  # rho in (ends[i - 1], ends[i]] leaves the gaps from there on
        sets = [sum(1 << int(j) for j in np.flatnonzero(gaps >= end)) for end in ends]
        intervals = zip([-math.inf, *ends.tolist()], [*ends.tolist(), math.inf], strict=True)
        return dict(zip([*sets, 0], intervals, strict=True))

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probabilities of the atoms, in their order."""
        return np.exp([_log_mass(*interval) for interval in self.atoms(x).values()])

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both inputs' log probabilities of the same outputs, and the losses."""
        p, q = self.atoms(x), self.atoms(x_prime)
        empty = (0.0, 0.0)
        pairs = [(p.get(output, empty), q.get(output, empty)) for output in p | q]
        log_p, log_q = (np.array([_log_mass(*pair[i]) for pair in pairs]) for i in (0, 1))
        loss = levels.compared(log_p, log_q).loss
        for i, ((low, high), (low_prime, high_prime)) in enumerate(pairs):
            if low == low_prime == -math.inf:
                loss[i] = _log_cdf_gain(high, high_prime)
            elif high == high_prime == math.inf:
                loss[i] = _log_cdf_gain(-low, -low_prime)
        return Comparison(log_p, log_q, loss)


class ExactSparseVectorMixed:
    """Variant 3 with one positive: nothing released, or a query's noisy answer v.

    The joint density of query j and v is f_nu(v - x_j) times the chance that rho is at most
    v - threshold and all queries before were below.
    """

    def __init__(self, mechanism: SparseVectorMixed) -> None:
        if mechanism.positives != 1:
            raise ArgumentError("positives", "must be 1 for an exact distribution")
        self._threshold = mechanism.threshold
        self._rho, self._nu = mechanism.noise_scales

    def nothing(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log probabilities and the loss where no answer is released."""
        p, q = (np.asarray(y, float) - self._threshold for y in (x, x_prime))
        rho, mass = _threshold_noise(p, q, self._rho, self._nu)
        below = _chances(-1, p, q, rho, self._nu)
        return levels.total(*_both(mass, Comparison(*(c.sum(axis=0) for c in below))))

    def released(self, v: Floats, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log densities and the loss of releasing ``v``, of shape (queries, len(v))."""
        p, q = np.asarray(x, float)[:, None], np.asarray(x_prime, float)[:, None]
        u_p, u_q, shift = (v - p) / self._nu, (v - q) / self._nu, (p - q) / self._nu
        noise = Comparison(
            _LAPLACE.log_pdf(u_p) - math.log(self._nu),
            _LAPLACE.log_pdf(u_q) - math.log(self._nu),
            _LAPLACE.pdf_gain(u_p, u_q, shift),
        )
        gaps = (y[:, 0] - self._threshold for y in (p, q))
        return _both(noise, self._passed(v - self._threshold, *gaps))

    def _passed(self, u: Floats, p: Floats, q: Floats) -> Comparison:
        """Return P(rho <= u, all queries before j below), of shape (queries, len(u))."""
        inner = np.unique(np.concatenate([u, p, q, [0.0]]))
        steps = max(self._rho, self._nu) * 2.0 ** np.arange(6, -5, -1)
        ends = np.concatenate([inner[0] - steps, inner])
        half = np.diff(ends)[:, None] / 2
        nodes, weights = np.polynomial.legendre.leggauss(16)
        rho = ends[:-1, None] + half * (1 + nodes)
        mass = _LAPLACE.log_pdf(rho / self._rho) + np.log(half * weights / self._rho)
        masses = Comparison(mass, mass, np.zeros_like(mass))
        areas = []
        for j in range(p.size):  # one query at a time, as v may have many points
            areas.append(levels.total(*masses))
            below = _chances(-1, p[[j]], q[[j]], rho.ravel(), self._nu)
            masses = _both(masses, Comparison(*(c.reshape(rho.shape) for c in below)))
        rising = _running(Comparison(*(np.array(c) for c in zip(*areas, strict=True))))
        return Comparison(*(c[:, np.searchsorted(ends, u) - 1] for c in rising))

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio; below all kinks it is constant in v."""
        kinks = np.unique([*x, *x_prime, self._threshold])
        scale = max(self._rho, self._nu)
        v = np.unique(np.append(np.linspace(kinks[0] - 1, kinks[-1] + 40 * scale, 4001), kinks))
        losses = self.released(v, x, x_prime).loss
        return max(float(losses.max()), float(self.nothing(x, x_prime).loss))

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence: one atom, and a density for every query."""
        return levels.renyi(order, self.compare(x, x_prime))

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return the masses of the atom, and of each query's density at nodes of a quadrature."""
        kinks = np.unique([*x, *x_prime, self._threshold])
        v, weights = quadrature.nodes(kinks, max(self._rho, self._nu))
        areas = self.released(v, x, x_prime).times(weights)
        atom = self.nothing(x, x_prime)
        return Comparison(
            *(np.append(density, mass) for density, mass in zip(areas, atom, strict=True))
        )


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
        log_p, log_q = (
            np.where((gaps[:, None] >= rho) == (side > 0), 0.0, -np.inf) for gaps in (p, q)
        )
        return levels.compared(log_p, log_q)
    u, v = (side * (gaps[:, None] - rho) / scale for gaps in (p, q))
    gain = _LAPLACE.cdf_gain(u, v, side * (q - p)[:, None] / scale)
    return Comparison(_LAPLACE.log_cdf(u), _LAPLACE.log_cdf(v), gain)


def _both(a: Comparison, b: Comparison) -> Comparison:
    """Return the comparison of the intersection of two independent events."""
    with np.errstate(invalid="ignore"):
        loss = a.loss + b.loss  # NaN where neither input has both
    return Comparison(a.log_p + b.log_p, a.log_q + b.log_q, np.where(np.isnan(loss), -np.inf, loss))


def _query(chances: Comparison, j: int) -> Comparison:
    return Comparison(chances.log_p[j], chances.log_q[j], chances.loss[j])


def _running(areas: Comparison) -> Comparison:
    """Return the running sums of areas along the last axis; `levels.total` has the last.

    Gains and losses of p against q are summed apart, in logarithms.
    """
    log_p, log_q = (np.logaddexp.accumulate(c, axis=-1) for c in (areas.log_p, areas.log_q))
    with np.errstate(divide="ignore"):
        clipped = np.clip(areas.loss, -1, 1)
        gains, losses = (
            np.logaddexp.accumulate(
                areas.log_q + np.log(np.maximum(sign * np.expm1(clipped), 0.0)), axis=-1
            )
            for sign in (1, -1)
        )
    rise = np.exp(np.minimum(gains - log_q, 1.0)) - np.exp(losses - log_q)
    small = (np.abs(rise) < 0.5) & (np.maximum.accumulate(np.abs(areas.loss), axis=-1) < 1)
    loss = np.where(small, np.log1p(np.where(small, rise, 0)), log_p - log_q)
    return Comparison(log_p, log_q, loss)


def _log_mass(low: float, high: float) -> float:
    """Return the log probability that Laplace noise of scale 1 lies between two numbers."""
    if low >= high:
        return -math.inf
    if low >= 0:
        low, high = -high, -low
    if high <= 0:
        return high - math.log(2) + math.log(-math.expm1(low - high))
    return math.log(-(math.expm1(low) + math.expm1(-high)) / 2)


def _log_cdf_gain(u: float, v: float) -> float:
    """Return log F(u) - log F(v)."""
    return float(_LAPLACE.cdf_gain(*(np.array([value]) for value in (u, v, v - u)))[0])
