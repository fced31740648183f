"""The local privacy loss of pairs of inputs: its maximum, and a bound for it (askin2022).

The loss at an output t is l(t) = |ln f_x(t) - ln f_x'(t)|, and the violation of the pair is its
supremum (Theorem 1). DPL (Algorithm 3) maximises the empirical loss of each pair. MPL (Algorithm 4)
keeps the pair of the largest and bounds the loss at its output t_hat from fresh samples:

    LB = l*(t_hat) + Phi^-1(alpha) sigma / c_N,

with sigma^2 = 1/f_x + 1/f_x' - 2 and c_N = sqrt(N) for outputs with atoms (relative frequencies),
and sigma^2 = (1/f_x + 1/f_x') int K^2, c_N = sqrt(N h^d) for densities. It holds asymptotically,
for an N fixed beforehand: repeated after each of eight doublings, it lies above the truth in 24 %
of the runs.

Integers are outputs with atoms, floats have a density (Gaussian kernels). An atom among floats is
refused: Theorem 1 does not apply to it.

The fresh samples' bandwidth has to undersmooth (C4), so that the bias at t_hat vanishes faster than
the standard deviation: h of the order N^(-1/(2 beta + d) - gamma) with gamma > nu/(6 (1 + nu)),
N = n^(1 + nu); the paper names no rule. Here both sides share the smaller of their nrd0, times
N^(-1/10): for d = 1 the order N^(-0.3), that is gamma = 0.1 where densities are smooth at t_hat
(beta = 2), enough for N < n^2.5. Where the densities are proportional around t_hat, as on the flat
parts of many losses, the bias of a common bandwidth cancels. At a kink (beta = 1, a Laplace density
at its peak) C4 needs less than N^(-1/3); there smoothing lowers the peak and with it the bound,
which is safe. Measured coverage is in ``docs/askin2022.md``.

Errata: the appendix defines l* as |f - f'|; the proof and the main text mean the log ratio. The
absolute value of MPL's l* counts losses of both signs, though the first sample has selected a sign:
on identical inputs LB > 0 in 10.6 % of the runs at alpha = 5 %. Here l* has the sign of the first
sample: 5.1 %.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.checks import Flag, Fractional, Positive, Several
from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.binned import quantiles
from epsilometer.densities.frequencies import frequencies
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Estimator, Loss, OutputEvidence, ScreeningMethod, check_pure
from epsilometer.numerics.arrays import Bools, Floats, Sample

Region = tuple[float, float]
Estimated = tuple[Sample, Floats, Floats]
"""Outputs, ``(k,)`` or ``(k, d)``, and the densities of both sides there, ``(k,)``."""

_CANDIDATES = 200  # draws of each side at which a loss in several dimensions is evaluated
_INT_K_SQUARED = 1 / (2 * math.sqrt(math.pi))  # of the Gaussian kernel, per dimension
_TAIL = 0.01  # share of the draws beyond each end of the default region


class _OfTheLoss(Estimator):
    """Methods of the local loss: outputs are all discrete or continuous, at order infinity."""

    def check(self, outputs: str, order: float) -> None:
        if outputs == "mixed":
            raise ArgumentError(
                "outputs",
                "are mixed, neither discrete nor continuous: the local loss does not apply "
                "(askin2022, Section III)",
            )
        check_pure(order, "the local loss is the pure level")


@dataclass(frozen=True)
class LocalLoss(_OfTheLoss, ScreeningMethod):
    """DPL (askin2022, Algorithm 3): the largest empirical loss of each pair, and its output.

    Parameters
    ----------
    floor
        tau, the floor of densities, in one over the unit of outputs.
    points
        Grid points on the region C, for real outputs.
    largest
        Return the result of the pair with the largest loss only: an estimate of the level of all
        pairs, the data-centric level where they are an input's neighbourhood.

    Laplace noise of scale 1 on two pairs of inputs, .1 and .7 apart, whose levels are these:

    >>> rng = np.random.default_rng(4)
    >>> pairs = [(rng.laplace(0, 1, 20_000), rng.laplace(d, 1, 20_000)) for d in (0.1, 0.7)]
    >>> selected, losses = LocalLoss(floor=1e-3).screen(pairs)
    >>> selected, round(losses[selected].loss, 1), losses[selected].target["sign"]
    (1, 0.8, -1)
    """

    floor: Positive
    points: Several = 1001
    largest: Flag = False

    def screen(
        self, pairs: Iterable[tuple[Sample, Sample]], region: Sequence[float] | None = None
    ) -> tuple[int, list[Loss]]:
        """Run DPL on pairs of samples, and select the pair with the largest loss.

        ``region`` is the closed region C of real outputs for each dimension; without it
        `default_region`. The selected pair has the output t_hat and the
        ``sign``, 1 where x is likelier there, -1 where x' is. Raise `ArgumentError` also for an
        atom among floats, or where no draw is in the region.
        """
        ends = None if region is None else (region[0], region[1])
        losses = []
        targets = []
        for x, x_prime in pairs:
            outputs, p, q = estimated(x, x_prime, ends, self.points)
            signed = signed_loss(p, q, self.floor)
            largest = int(np.argmax(np.abs(signed)))
            output = np.atleast_1d(outputs[largest]).tolist()
            targets.append({"output": output, "sign": 1 if signed[largest] >= 0 else -1})
            losses.append(Loss(float(abs(signed[largest]))))
        if not losses:
            raise ArgumentError("pairs", "must not be empty")
        selected = int(np.argmax([loss.loss for loss in losses]))
        losses[selected] = replace(losses[selected], target=targets[selected])
        return selected, losses

    def weigh(self, x: Sample, x_prime: Sample, target: Mapping[str, Any]) -> OutputEvidence:
        """Return the evidence about t_hat of fresh samples of shape ``(N,)`` or ``(N, d)``.

        The sides may differ in N.
        """
        bandwidth = None if np.issubdtype(x.dtype, np.integer) else undersmoothed(x, x_prime)
        output = np.asarray(target["output"], x.dtype)
        f, variance = _log_density(x, output, self.floor, bandwidth)
        g, variance_prime = _log_density(x_prime, output, self.floor, bandwidth)
        return OutputEvidence(f, g, variance, variance_prime, target["sign"])


@dataclass(frozen=True)
class MaximumPrivacyLoss(_OfTheLoss):
    """MPL (askin2022, Algorithm 4): the bound at t_hat, from fresh samples of DPL's pair.

    It is asymptotic. The loss has a sign, other than in the paper; see the module.

    Parameters
    ----------
    after
        In a configuration, the entry of the local loss that screens the pairs.
    alpha
        The share of the runs in which the bound may lie above the truth.

    The output 0 was chosen on other draws, as likelier on x, and the level is .7:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 20_000), rng.laplace(0.7, 1, 20_000)
    >>> evidence = LocalLoss(floor=1e-3).weigh(x, x_prime, {"output": [0.0], "sign": 1})
    >>> round(float(MaximumPrivacyLoss().bound(evidence)), 2)
    0.54
    """

    reads = "evidence"
    symmetric = True
    guarantee = "asymptotic"

    after: str = ""
    alpha: Fractional = 0.05

    def bound(self, evidence: OutputEvidence) -> Floats:
        """Return (26), with the sign of the first sample in place of the absolute value.

        It is in nats, a scalar or of shape ``(runs,)``, as the evidence.
        """
        from scipy.special import ndtri

        loss = np.log(evidence.density) - np.log(evidence.density_prime)
        variance = np.add(evidence.log_variance, evidence.log_variance_prime)
        bound: Floats = np.multiply(evidence.sign, loss) + ndtri(self.alpha) * np.sqrt(variance)
        return bound


def estimated(x: Sample, x_prime: Sample, region: Region | None, points: int) -> Estimated:
    """Return candidate outputs, and densities or frequencies of both sides there, ``(k,)``.

    Draws have shape ``(n,)`` or ``(n, d)``; without a region single reals are searched in
    `default_region`. Raise `ArgumentError` for an atom among floats.
    """
    if np.issubdtype(x.dtype, np.integer):
        return frequencies(x, x_prime)
    refuse_atoms(x, x_prime)
    if x.ndim == 1:
        return _on_line(x, x_prime, region or default_region(x, x_prime), points)
    return _at_draws(x, x_prime, region)


def _on_line(x: Floats, x_prime: Floats, region: Region, points: int) -> Estimated:
    """Return densities of real outputs on an even grid of the region."""
    lower, upper = checks.interval("region", *region)
    p = density_on_grid(x, lower, upper, points, nrd0(x))
    q = density_on_grid(x_prime, lower, upper, points, nrd0(x_prime))
    return np.linspace(lower, upper, points), p, q


def _at_draws(x: Floats, x_prime: Floats, region: Region | None) -> Estimated:
    """Return densities of real vectors at some draws, which are no part of the estimates."""
    n = min(_CANDIDATES, len(x) // 4, len(x_prime) // 4)
    candidates = np.concatenate([x[:n], x_prime[:n]])
    if region is None:
        ends = [default_region(*columns) for columns in zip(x.T, x_prime.T, strict=True)]
    else:
        ends = [checks.interval("region", *region)] * x.shape[1]
    low, high = np.array(ends).T
    inside = ((candidates >= low) & (candidates <= high)).all(axis=1)
    if not inside.any():
        box = " x ".join(f"[{a:g}, {b:g}]" for a, b in zip(low, high, strict=True))
        raise ArgumentError("region", f"{box} holds none of the first {n} draws")
    points = candidates[inside]
    p = density_at(x[n:], points, nrd0(x))
    q = density_at(x_prime[n:], points, nrd0(x_prime))
    return points, p, q


def densest(candidates: Estimated, share: float) -> Estimated:
    """Return the candidates of largest density that hold a share of the draws of both sides.

    Single reals are candidates at even distances, rows are draws themselves.
    """
    outputs, p, q = candidates
    order = np.argsort(-(p + q), kind="stable")
    mass = np.ones(len(order)) if outputs.ndim > 1 else (p + q)[order]
    held = np.cumsum(mass) <= share * mass.sum()
    held[0] = True
    kept = np.sort(order[held])
    return outputs[kept], p[kept], q[kept]


def densities_at(x: Sample, x_prime: Sample, outputs: Sample) -> tuple[Floats, Floats]:
    """Return densities or relative frequencies of both sides at given outputs, ``(k,)``.

    Draws and outputs have shape ``(n,)`` and ``(k,)``, or ``(n, d)`` and ``(k, d)``. Raise
    `ArgumentError` for an atom among floats.
    """
    if np.issubdtype(x.dtype, np.integer):
        p = np.array([_hits(x, output).mean() for output in outputs])
        q = np.array([_hits(x_prime, output).mean() for output in outputs])
        return p, q
    refuse_atoms(x, x_prime)
    return density_at(x, outputs, nrd0(x)), density_at(x_prime, outputs, nrd0(x_prime))


def signed_loss(p: ArrayLike, q: ArrayLike, floor: float) -> Floats:
    """Return ln p - ln q with both floored at tau (Algorithms 1 and 2), of their shape."""
    loss: Floats = np.log(np.maximum(p, floor)) - np.log(np.maximum(q, floor))
    return loss


def default_region(x: Floats, x_prime: Floats) -> Region:
    """Return C where none is given: from the lowest 1 % quantile to the highest 99 % quantile.

    Further out, densities are estimated from few draws and their log ratio is noise. Draws have
    shape ``(n,)``; C is in their unit.
    """
    low, high = quantiles(x, [_TAIL, 1 - _TAIL])
    low_prime, high_prime = quantiles(x_prime, [_TAIL, 1 - _TAIL])
    return min(low, low_prime), max(high, high_prime)


def _log_density(
    sample: Sample, output: Sample, floor: float, bandwidth: float | None
) -> tuple[float, float]:
    """Return the density at an output, floored, and the variance of its logarithm."""
    n = len(sample)
    if bandwidth is None:
        p = max(np.count_nonzero(_hits(sample, output)) / n, floor)
        return p, (1 / p - 1) / n
    f = max(float(density_at(sample, output[None, :], bandwidth)[0]), floor)
    return f, _INT_K_SQUARED**output.size / (f * n * bandwidth**output.size)


def _hits(sample: Sample, output: Sample) -> Bools:
    """Tell which draws are an output."""
    return np.asarray(sample == output if sample.ndim == 1 else (sample == output).all(axis=1))


def undersmoothed(x: Floats, x_prime: Floats) -> float:
    """Return the bandwidth of the second stage (C4), of both sides; see the module's text.

    Draws have shape ``(N,)`` or ``(N, d)``, and N is that of the smaller side; it is in their unit.
    """
    return min(nrd0(x), nrd0(x_prime)) * float(min(len(x), len(x_prime)) ** -0.1)
