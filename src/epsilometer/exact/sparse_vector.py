"""Exact law of the Sparse Vector variants, by integration over the threshold noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.exact import quadrature
from epsilometer.exact.base import Floats
from epsilometer.exact.finite import Enumerated
from epsilometer.mechanisms.sparse_vector import (
    SparseVector,
    SparseVectorBits,
    SparseVectorFirst,
    SparseVectorMixed,
)


class SparseVectorLaw(Enumerated):
    """Given rho the answers are independent; the outputs are the 2^queries bit vectors."""

    def __init__(self, mechanism: SparseVector) -> None:
        self._mechanism = mechanism

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probability of every bit vector, bit i for query i."""
        m = self._mechanism
        gaps = np.asarray(x, float) - m.threshold
        rho_scale, nu_scale = m.noise_scales
        rho, weights = quadrature.nodes(np.append(gaps, 0.0), max(rho_scale, nu_scale))
        density = weights * _laplace_pdf(rho, rho_scale)
        above = _above(gaps[:, None] - rho, nu_scale)
        total = np.zeros(1 << gaps.size)
        # a state is (bits so far, positives so far) with the density over rho that led there
        states = {(0, 0): density}
        for j in range(gaps.size):
            following: dict[tuple[int, int], Floats] = {}
            for (bits, found), weight in states.items():
                _add(following, (bits, found), weight * (1 - above[j]))
                hit = weight * above[j]
                key = (bits | 1 << j, found + 1)
                if found + 1 == m.most_positives:
                    total[key[0]] += hit.sum()
                else:
                    _add(following, key, density * hit.sum() if m.redraws else hit)
            states = following
        for (bits, _), weight in states.items():
            total[bits] += weight.sum()
        return total


class SparseVectorFirstLaw(Enumerated):
    """Given rho, query j is the first positive if it is one and all before it are not."""

    def __init__(self, mechanism: SparseVectorFirst) -> None:
        self._mechanism = mechanism

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probability of each first positive; the last is that there is none."""
        m = self._mechanism
        gaps = np.asarray(x, float) - m.threshold
        rho_scale, nu_scale = m.noise_scales
        rho, weights = quadrature.nodes(np.append(gaps, 0.0), max(rho_scale, nu_scale))
        below = _above(rho - gaps[:, None], nu_scale)
        above = _above(gaps[:, None] - rho, nu_scale)
        reached = np.cumprod(np.vstack([np.ones_like(rho), below]), axis=0)
        chances = reached * np.vstack([above, np.ones_like(rho)])
        total: Floats = chances @ (weights * _laplace_pdf(rho, rho_scale))
        return total


class SparseVectorBitsLaw(Enumerated):
    """Variant 5, without noise on the queries: the positives are those at or above one rho.

    So an input has few outputs, a set for every distinct answer, and one with no positive at all.
    """

    def __init__(self, mechanism: SparseVectorBits) -> None:
        if mechanism.variant != 5:
            raise ArgumentError("variant", "must be 5 for an exact law of bit vectors")
        self._threshold = mechanism.threshold
        self._scale = mechanism.noise_scales[0]

    def atoms(self, x: Sequence[float]) -> dict[int, float]:
        """Return the probability of every possible output."""
        gaps = np.asarray(x, float) - self._threshold
        levels = np.unique(gaps)  # rho in (levels[i - 1], levels[i]] leaves the gaps from there on
        below = _above(levels, self._scale)  # P(rho <= level)
        masses = np.diff(np.concatenate([[0.0], below, [1.0]]))
        sets = [sum(1 << int(j) for j in np.flatnonzero(gaps >= level)) for level in levels]
        return dict(zip([*sets, 0], masses.tolist(), strict=True))

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probabilities of the atoms, in their order."""
        return np.array(list(self.atoms(x).values()))

    def both(self, x: Sequence[float], x_prime: Sequence[float]) -> tuple[Floats, Floats]:
        """Return both inputs' probabilities of the same outputs, those of either."""
        p, q = self.atoms(x), self.atoms(x_prime)
        outputs = list(p | q)
        return (
            np.array([p.get(output, 0.0) for output in outputs]),
            np.array([q.get(output, 0.0) for output in outputs]),
        )


class SparseVectorMixedLaw:
    """Variant 3 with one positive: nothing released, or a query's noisy answer v.

    The joint density of query j and v is f_nu(v - x_j) times the chance that rho is at most
    v - threshold and all queries before were below.
    """

    def __init__(self, mechanism: SparseVectorMixed) -> None:
        if mechanism.positives != 1:
            raise ArgumentError("positives", "must be 1 for an exact law")
        self._threshold = mechanism.threshold
        self._rho, self._nu = mechanism.noise_scales

    def nothing(self, x: Sequence[float]) -> float:
        """Return the probability that no answer is released."""
        gaps = np.asarray(x, float) - self._threshold
        rho, weights = quadrature.nodes(np.append(gaps, 0.0), max(self._rho, self._nu))
        below = _above(rho - gaps[:, None], self._nu)
        return float((weights * _laplace_pdf(rho, self._rho)) @ below.prod(axis=0))

    def pdf(self, v: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the density of releasing ``v`` (rising), a row for every query j."""
        at, answers = np.asarray(v, float), np.asarray(x, float)
        noise = _laplace_pdf(at - answers[:, None], self._nu)
        density: Floats = noise * self._reached(at - self._threshold, answers - self._threshold)
        return density

    def _reached(self, u: Floats, gaps: Floats) -> Floats:
        """Return P(rho <= u, all queries before j below), of shape (queries, len(u))."""
        inner = np.unique(np.concatenate([u, gaps, [0.0]]))
        steps = max(self._rho, self._nu) * 2.0 ** np.arange(6, -5, -1)
        ends = np.concatenate([inner[0] - steps, inner])
        half = np.diff(ends)[:, None] / 2
        nodes, weights = np.polynomial.legendre.leggauss(16)
        rho = ends[:-1, None] + half * (1 + nodes)
        below = _above(rho - gaps[:, None, None], self._nu)  # keeps the lower tail's digits
        before = np.cumprod(np.concatenate([np.ones_like(below[:1]), below[:-1]]), axis=0)
        areas = (before * _laplace_pdf(rho, self._rho) * half * weights).sum(axis=-1)
        reached: Floats = np.cumsum(areas, axis=1)[:, np.searchsorted(ends, u) - 1]
        return reached

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio; below all kinks it is constant in v."""
        kinks = np.unique([*x, *x_prime, self._threshold])
        scale = max(self._rho, self._nu)
        v = np.unique(np.append(np.linspace(kinks[0] - 1, kinks[-1] + 40 * scale, 4001), kinks))
        losses = np.log(self.pdf(v, x)) - np.log(self.pdf(v, x_prime))
        return max(float(losses.max()), math.log(self.nothing(x) / self.nothing(x_prime)))

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence: one atom, and a density for every query."""
        a = checks.order("order", order, finite=True)
        kinks = np.unique([*x, *x_prime, self._threshold])
        v, weights = quadrature.nodes(kinks, max(self._rho, self._nu))
        densities = np.append(self.pdf(v, x), self.nothing(x))
        others = np.append(self.pdf(v, x_prime), self.nothing(x_prime))
        weight = np.append(np.tile(weights, len(x)), 1.0)
        seen = np.minimum(densities, others) > 1e-280  # further out, both lose their digits
        log_p, log_q = np.log(densities[seen]), np.log(others[seen])
        return float(logsumexp(a * log_p + (1 - a) * log_q, b=weight[seen])) / (a - 1)


def _laplace_pdf(u: Floats, scale: float) -> Floats:
    density: Floats = np.exp(-np.abs(u) / scale) / (2 * scale)
    return density


def _above(u: Floats, scale: float) -> Floats:
    """Return P(u + nu >= 0)."""
    if scale == 0:
        return (u >= 0).astype(float)
    tail = 0.5 * np.exp(-np.abs(u) / scale)
    return np.where(u >= 0, 1 - tail, tail)


def _add(states: dict[tuple[int, int], Floats], key: tuple[int, int], weight: Floats) -> None:
    states[key] = states[key] + weight if key in states else weight
