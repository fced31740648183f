"""What exact limits of a few probabilities say of two distributions, at every number of draws.

Sets of outputs are chosen on other draws. Fresh draws count them, and Clopper and Pearson's limits
hold for all their probabilities together by a union bound. What follows from these limits alone
holds with the same confidence, however much of it is read off.

`NestedLimits` are those of P(T) and Q(T) for sets T that rise. Every set of outputs S says
delta(epsilon) >= P(S) - e^epsilon Q(S), and so does its complement with P and Q exchanged. A test
that says "x" on S has the errors Q(S) and 1 - P(S).

`least_divergences` takes limits of cells that divide the outputs. No function of the outputs
increases a divergence: that between the cells' probabilities is a lower bound, and its least value
within the limits is one that we know. Among pairs of distributions within such limits there is one,
the least favourable, at which every divergence of a convex function is least (Huber and Strassen
1973). It is found by turns: for a fixed Q the closest P is c Q, cut off at the limits. A tangent at
the pair found certifies the bound: the sum that it minimises is convex, hence above its tangent,
whose least value within the limits is known exactly.

Of 1,000 draws a side, 600 and 400 of x in two cells, and 400 and 600 of x',

    box = box_of(np.array([600, 400]), 1000, np.array([400, 600]), 1000, alpha=0.05)
    box.low, box.high  # [.56, .36] and [.64, .44]: where the probabilities under x are
    least_divergences(box, [2.0])  # [.06]; between the shares themselves it is .15
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilometer.numerics.arrays import Counts, Floats
from epsilometer.numerics.proportions import clopper_pearson

_TURNS = 100  # at most; two are enough as a rule
_HALVINGS = 100  # of an interval of log factors, to the last digit
_LARGEST_FACTOR = 700.0  # of its logarithm
_ROUNDING = 1e-14  # relative error of a term of a sum, times the order
_SETTLED = 1e-14  # difference of probabilities after which turns end


@dataclass(frozen=True, eq=False)
class Box:
    """Limits of the probabilities of k sets, under P and under Q, each of shape ``(k,)``."""

    low: Floats
    high: Floats
    low_prime: Floats
    high_prime: Floats


def box_of(hits: Counts, draws: int, hits_prime: Counts, draws_prime: int, alpha: float) -> Box:
    """Return limits that hold for all of k sets together with confidence 1 - alpha.

    ``hits`` are the draws in each set, ``(k,)``; sets may overlap.
    """
    level = 1 - alpha / (2 * len(hits))
    low, high = clopper_pearson(hits, draws, level)
    low_prime, high_prime = clopper_pearson(hits_prime, draws_prime, level)
    return Box(low, high, low_prime, high_prime)


@dataclass(frozen=True, eq=False)
class NestedLimits:
    """What limits of rising sets say of delta at every epsilon, and of tests of x against x'."""

    box: Box

    def deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Return limits of the largest delta that these sets show, each ``(m,)``, at ``epsilons``.

        The lower one is also one of delta of the pair, in its larger direction. Both fall with
        epsilon and are convex in e^epsilon.
        """
        box = self.box
        factor = np.exp(epsilons)[:, None]
        return (
            _largest_delta(factor, box.low, box.high_prime),
            _largest_delta(factor, box.high, box.low_prime),
        )

    def errors(self) -> tuple[Floats, Floats]:
        """Return errors of type I and of type II, each ``(k,)``, that tests do not exceed.

        The null hypothesis is x'.
        """
        return self.box.high_prime, 1 - self.box.low


def _largest_delta(factor: Floats, p: Floats, q: Floats) -> Floats:
    """Return the largest delta, ``(m,)``, of sets with these probabilities, ``(k,)``.

    Their complements, with the sides exchanged, count as well.
    """
    of_sets = p - factor * q
    of_complements = (1 - q) - factor * (1 - p)
    largest = np.maximum(of_sets, of_complements).max(axis=1)
    return np.asarray(np.maximum(largest, 0.0))


def least_divergences(box: Box, orders: Sequence[float]) -> Floats:
    """Return the least Rényi divergence of each order within the limits of cells, in nats.

    Of P from Q, or of Q from P if that is larger; of shape ``(k,)`` for k finite orders above 1.
    """
    p, q = _least_favourable(box)
    swapped = Box(box.low_prime, box.high_prime, box.low, box.high)
    both = [(_certified(box, p, q, a), _certified(swapped, q, p, a)) for a in orders]
    return np.array([max(pair) for pair in both])


def _least_favourable(box: Box) -> tuple[Floats, Floats]:
    """Return the two distributions within the limits that are hardest to tell apart."""
    q = _closest((box.low_prime + box.high_prime) / 2, box.low_prime, box.high_prime)
    for _ in range(_TURNS):
        before = q
        p = _closest(q, box.low, box.high)
        q = _closest(p, box.low_prime, box.high_prime)
        if np.abs(q - before).max() <= _SETTLED:
            break
    return p, q


def _closest(weights: Floats, low: Floats, high: Floats) -> Floats:
    """Return a multiple of the weights, cut off at the limits, that sums to 1."""
    below = -_LARGEST_FACTOR
    above = _LARGEST_FACTOR
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if np.clip(np.exp(middle) * weights, low, high).sum() < 1:
            below = middle
        else:
            above = middle
    return np.asarray(np.clip(np.exp(above) * weights, low, high))


def _certified(box: Box, p: Floats, q: Floats, order: float) -> float:
    """Return a lower bound of the divergence within the limits, by the tangent at ``p`` and ``q``.

    The sum of p^a q^(1-a) is convex in both.
    """
    log_ratio = np.log(p) - np.log(q)
    scale = order * max(float(log_ratio.max()), 0.0)  # exponentials stay finite
    slopes = order * np.exp((order - 1) * log_ratio - scale)
    slopes_prime = (1 - order) * np.exp(order * log_ratio - scale)
    # the tangent has no constant, as the sum is homogeneous: slopes . p + slopes' . q is its value
    least = _least_sum(slopes, box.low, box.high)
    least += _least_sum(slopes_prime, box.low_prime, box.high_prime)
    least *= 1 - _ROUNDING * order * p.size
    return float(max((np.log(least) + scale) / (order - 1), 0.0)) if least > 0 else 0.0


def _least_sum(slopes: Floats, low: Floats, high: Floats) -> float:
    """Return the least sum of slopes times a distribution within the limits."""
    shares = low.copy()
    left = 1 - float(low.sum())
    for cell in np.argsort(slopes):
        more = min(float(high[cell] - low[cell]), left)
        shares[cell] += more
        left -= more
    return float(slopes @ shares)
