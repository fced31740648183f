"""The local privacy loss of a pair of inputs, and lower confidence bounds for its maximum.

askin2022: the loss at an output t is l(t) = |ln f_x(t) - ln f_x'(t)|, and the violation of the pair
is its supremum (Theorem 1). DPL (Algorithm 3) maximises the empirical loss; MPL (Algorithm 4) does
so on several pairs, keeps the pair and the output t_hat of the largest, and bounds the loss there
from fresh samples of that pair:

    LB = l*(t_hat) + Phi^-1(alpha) sigma / c_N,

with sigma^2 = 1/f_x + 1/f_x' - 2 and c_N = sqrt(N) for outputs with atoms (relative frequencies),
and sigma^2 = (1/f_x + 1/f_x') int K^2, c_N = sqrt(N h) for densities.

The fresh samples' bandwidth has to undersmooth (C4): h of an order below N^(-1/(2 beta + d)), so
that the bias at t_hat vanishes faster than the standard deviation; the paper names no rule. Here it
is h = nrd0 N^(-1/10), of the order N^(-0.3); a density that is smooth at t_hat (beta = 2) asks
for less than N^(-0.2). At a kink (beta = 1, a Laplace density at its peak) C4 would ask for less
than N^(-1/3). Measured coverage at N = 12,000: 93 % for Laplace, 93 % for Report Noisy Max.

Erratum: the appendix defines l* as |f - f'|; the proof and the main text mean the log ratio.

Beside it, a bound that holds for every n: the set {t : loss near its maximum} is chosen on the
first samples; on the fresh ones both of its probabilities are bounded by Clopper and Pearson at
1 - alpha/2 each, and the log ratio of these ends is a lower bound for the loss of the set, hence
for the supremum, with confidence 1 - alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

from epsilometer import checks
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError

Floats = NDArray[np.float64]

_INT_K_SQUARED = 1 / (2 * math.sqrt(math.pi))  # of the Gaussian kernel, d = 1


@dataclass(frozen=True)
class Maximum:
    """Where an empirical loss is largest: the output, the loss, and which side is likelier."""

    output: float
    loss: float
    sign: int


def undersmoothed(sample: ArrayLike) -> float:
    """Return the bandwidth of the second stage: nrd0 n^(-1/10), see the module's text."""
    x = np.asarray(sample, np.float64)
    return float(nrd0(x) * x.size**-0.1)


def signed_loss(p: ArrayLike, q: ArrayLike, floor: float) -> Floats:
    """Return ln p - ln q with both floored at tau (Algorithms 1 and 2)."""
    tau = checks.positive("floor", floor)
    loss: Floats = np.log(np.maximum(p, tau)) - np.log(np.maximum(q, tau))
    return loss


def loss_on_grid(
    x: Floats, x_prime: Floats, region: tuple[float, float], points: int, floor: float
) -> tuple[Floats, Floats]:
    """Return a grid on the closed region C and the signed empirical loss there.

    Densities are Gaussian-kernel estimates with each side's own nrd0 bandwidth, as the paper's.
    """
    lower, upper = checks.interval("region", *region)
    p, q = (density_on_grid(side, lower, upper, points, nrd0(side)) for side in (x, x_prime))
    return np.linspace(lower, upper, points), signed_loss(p, q, floor)


def default_region(x: Floats, x_prime: Floats) -> tuple[float, float]:
    """Return C where none is given: what lies between the 1 % and 99 % quantiles of both sides.

    Further out, densities are estimated from few draws and their log ratio is noise.
    """
    low = min(np.quantile(x, 0.01), np.quantile(x_prime, 0.01))
    high = max(np.quantile(x, 0.99), np.quantile(x_prime, 0.99))
    return float(low), float(high)


def largest(outputs: ArrayLike, loss: ArrayLike) -> Maximum:
    """Return the output at which a signed loss is largest in absolute value (the first of ties)."""
    at, signed = np.asarray(outputs, np.float64), np.asarray(loss, np.float64)
    if at.shape != signed.shape or at.ndim != 1 or at.size == 0:
        raise ArgumentError("loss", f"has shape {signed.shape}, the outputs {at.shape}")
    i = int(np.argmax(np.abs(signed)))
    return Maximum(float(at[i]), float(abs(signed[i])), 1 if signed[i] >= 0 else -1)


def density_bound(
    x: Floats, x_prime: Floats, output: float, *, alpha: float = 0.05, floor: float
) -> float:
    """Return MPL's lower bound at an output, from fresh samples of both sides (densities)."""
    level = checks.between_0_and_1("alpha", alpha)
    densities, variance = [], 0.0
    for side in (x, x_prime):
        bandwidth = undersmoothed(side)
        densities.append(max(float(density_at(side, [output], bandwidth)[0]), floor))
        variance += _INT_K_SQUARED / (densities[-1] * side.size * bandwidth)
    loss = abs(math.log(densities[0] / densities[1]))
    return loss + float(ndtri(level)) * math.sqrt(variance)


def frequency_bound(
    successes: tuple[int, int], trials: tuple[int, int], *, alpha: float = 0.05, floor: float
) -> float:
    """Return MPL's lower bound at an atom, from how often each side shows it."""
    level = checks.between_0_and_1("alpha", alpha)
    p, q = (max(k / n, floor) for k, n in zip(successes, trials, strict=True))
    variance = (1 / p - 1) / trials[0] + (1 / q - 1) / trials[1]
    loss = abs(float(signed_loss(p, q, floor)))
    return loss + float(ndtri(level)) * math.sqrt(variance)


def exact_bound(likelier: tuple[int, int], other: tuple[int, int], *, alpha: float = 0.05) -> float:
    """Return a lower bound for the loss of a set that was chosen beforehand, valid for every n.

    ``likelier`` and ``other`` are (draws in the set, draws) of the two sides; the result is at
    least 0, which every pair satisfies.
    """
    tail = checks.between_0_and_1("alpha", alpha) / 2
    (k, n), (k_other, n_other) = likelier, other
    for count, draws in (likelier, other):
        if not 0 <= count <= draws or draws < 1:
            raise ArgumentError("counts", f"must have 0 <= {count} <= {draws} draws, at least one")
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k_other + 1, n_other - k_other, 1 - tail)) if k_other < n_other else 1.0
    return max(math.log(low / high), 0.0) if low > 0 else 0.0


def best_set(
    p: Floats, q: Floats, draws: int, *, alpha: float = 0.05, floor: float = 0.0
) -> NDArray[np.bool_]:
    """Choose the set {loss >= c} whose exact bound on ``draws`` fresh draws promises most.

    ``p`` and ``q`` are the first samples' probabilities of the same cells (atoms, or cells of a
    grid), ``p`` the side that is likelier where the loss is largest. Cells are taken in the order
    of their loss; the promise is that of the normal approximation, which is enough to choose by.
    """
    order = np.argsort(-signed_loss(p, q, max(floor, 1e-300)), kind="stable")
    mass, other = np.cumsum(p[order]), np.cumsum(q[order])
    z = -float(ndtri(alpha / 2))
    one = 1 / draws  # a set that is not expected to be hit promises nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        low = mass - z * np.sqrt(mass * (1 - mass) / draws)
        high = other + z * np.sqrt(np.maximum(other, one) / draws) + one
        promise = np.where(low > 0, np.log(low / high), -np.inf)
    chosen = np.zeros(p.size, bool)
    chosen[order[: int(np.argmax(promise)) + 1]] = True
    return chosen
