"""Lower confidence bounds for the violation of a pair, from fresh samples of it (askin2022).

MPL (Algorithm 4) bounds the loss at the output t_hat where the first samples show it largest:

    LB = l*(t_hat) + Phi^-1(alpha) sigma / c_N,

with sigma^2 = 1/f_x + 1/f_x' - 2 and c_N = sqrt(N) for outputs with atoms (relative frequencies),
and sigma^2 = (1/f_x + 1/f_x') int K^2, c_N = sqrt(N h^d) for densities. It holds asymptotically.

Beside it, a bound that holds for every N: the event was chosen on the first samples, too; on the
fresh ones its two probabilities are bounded by Clopper and Pearson at 1 - alpha/2 each, and the
log ratio of these ends is a lower bound for the loss of the event, hence for the supremum, with
confidence 1 - alpha.

The fresh samples' bandwidth has to undersmooth (C4), so that the bias at t_hat vanishes faster than
the standard deviation: h of the order N^(-1/(2 beta + d) - gamma) with gamma > nu/(6 (1 + nu)),
N = n^(1 + nu); the paper names no rule. Here both sides share the smaller of their nrd0, times
N^(-1/10): for d = 1 the order N^(-0.3), that is gamma = 0.1 where densities are smooth at t_hat
(beta = 2), enough for N < n^2.5. Where the densities are proportional around t_hat, as on the flat
parts of many losses, one bandwidth for both lets the bias cancel altogether. At a kink (beta = 1, a
Laplace density at its peak) C4 would ask for less than N^(-1/3); there smoothing lowers the side
that peaks and with it the bound, which errs on the safe side. Measured coverage is in
``docs/askin2022.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from epsilometer import checks
from epsilometer.densities.kernel import density_at, nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Evidence
from epsilometer.estimators.local_loss import Loss, check_applies, in_event

Floats = NDArray[np.float64]

_INT_K_SQUARED = 1 / (2 * math.sqrt(math.pi))  # of the Gaussian kernel, a dimension


def weigh(x: NDArray[Any], x_prime: NDArray[Any], selected: Loss, *, floor: float) -> Evidence:
    """Reduce fresh samples of the selected pair, ``(N,)`` or ``(N, d)`` a side, to the evidence."""
    if len(x) != len(x_prime):
        raise ArgumentError("x_prime", f"has {len(x_prime)} draws, x has {len(x)}")
    bandwidth = None if np.issubdtype(x.dtype, np.integer) else undersmoothed(x, x_prime)
    (f, v), (g, w) = (
        _log_density(side, selected.output, floor, bandwidth) for side in (x, x_prime)
    )
    k, k_prime = (int(in_event(side, selected.event).sum()) for side in (x, x_prime))
    return Evidence(f, g, v, w, k, k_prime, len(x), selected.sign)


def _log_density(
    sample: NDArray[Any], output: Floats, floor: float, bandwidth: float | None
) -> tuple[float, float]:
    """Return the density at an output, floored, and the variance of its logarithm."""
    n = len(sample)
    if bandwidth is None:
        same = sample == (output[0] if sample.ndim == 1 else output)
        hits = same if sample.ndim == 1 else same.all(axis=1)
        p = max(np.count_nonzero(hits) / n, floor)
        return p, (1 / p - 1) / n
    f = max(float(density_at(sample, output[None, :], bandwidth)[0]), floor)
    return f, _INT_K_SQUARED**output.size / (f * n * bandwidth**output.size)


def undersmoothed(x: Floats, x_prime: Floats) -> float:
    """Return the bandwidth of the second stage, of both sides; see the module's text."""
    return min(nrd0(x), nrd0(x_prime)) * float(len(x) ** -0.1)


@dataclass(frozen=True)
class LowerBound:
    """What both bounds share.

    Parameters
    ----------
    after
        The entry of the local loss that screens the pairs.
    alpha
        The share of the runs in which the bound may lie above the truth.
    """

    reads: ClassVar[Literal["evidence"]] = "evidence"
    symmetric: ClassVar[bool] = True
    precision: ClassVar[None] = None

    after: str
    alpha: float = 0.05

    def __post_init__(self) -> None:
        checks.between_0_and_1("alpha", self.alpha)

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        check_applies(outputs, order)


class MaximumPrivacyLoss(LowerBound):
    """MPL: the asymptotic bound at t_hat."""

    def bound(self, evidence: Evidence) -> Floats:
        """Return (26)."""
        loss = np.abs(np.log(evidence.density) - np.log(evidence.density_prime))
        variance = np.add(evidence.log_variance, evidence.log_variance_prime)
        bound: Floats = loss + ndtri(self.alpha) * np.sqrt(variance)
        return bound


class ClopperPearson(LowerBound):
    """The bound for the event, which holds at every N; at least 0, which every pair satisfies."""

    def bound(self, evidence: Evidence) -> Floats:
        """Return ln(lower end / upper end), at least 0."""
        first, second, n = (
            np.asarray(values, np.float64)
            for values in (evidence.in_event, evidence.in_event_prime, evidence.draws)
        )
        k = np.where(np.asarray(evidence.sign) > 0, first, second)
        other = np.where(np.asarray(evidence.sign) > 0, second, first)
        if (n < 1).any() or (np.minimum(k, other) < 0).any() or (np.maximum(k, other) > n).any():
            raise ArgumentError("evidence", "must have 0 <= in_event <= draws, and a draw at least")
        tail = self.alpha / 2
        with np.errstate(invalid="ignore"):
            low = np.where(k > 0, betaincinv(k, n - k + 1, tail), 0.0)
            high = np.where(other < n, betaincinv(other + 1, n - other, 1 - tail), 1.0)
        with np.errstate(divide="ignore"):
            bound: Floats = np.maximum(np.log(low) - np.log(high), 0.0)
        return bound
