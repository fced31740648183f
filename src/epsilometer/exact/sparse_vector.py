"""Exact law of the Sparse Vector variants, by integration over the threshold noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epsilometer.exact import quadrature
from epsilometer.exact.base import Floats
from epsilometer.exact.finite import Enumerated
from epsilometer.mechanisms.sparse_vector import SparseVector


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
        density = weights * np.exp(-np.abs(rho) / rho_scale) / (2 * rho_scale)
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


def _above(u: Floats, scale: float) -> Floats:
    """Return P(u + nu >= 0)."""
    if scale == 0:
        return (u >= 0).astype(float)
    tail = 0.5 * np.exp(-np.abs(u) / scale)
    return np.where(u >= 0, 1 - tail, tail)


def _add(states: dict[tuple[int, int], Floats], key: tuple[int, int], weight: Floats) -> None:
    states[key] = states[key] + weight if key in states else weight
