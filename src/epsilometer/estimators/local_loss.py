"""The local privacy loss of pairs of inputs: where it is largest, and how large (askin2022).

The loss at an output t is l(t) = |ln f_x(t) - ln f_x'(t)|, and the violation of the pair is its
supremum (Theorem 1). `screen` maximises the empirical loss on each pair (DPL, Algorithm 3) and
keeps the pair of the largest, the first half of MPL (Algorithm 4); what follows from fresh samples
of that pair is in `epsilometer.estimators.lower_bounds`.

Integers are outputs with atoms (relative frequencies), floats have a density (Gaussian kernels).
What is neither, an atom in a continuum, is refused: Theorem 1 does not apply to it.

Erratum: the appendix defines l* as |f - f'|; the proof and the main text mean the log ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from epsilometer import checks
from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.frequencies import frequencies
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError

Floats = NDArray[np.float64]
Sample = NDArray[Any]
Region = tuple[float, float]

_CANDIDATES = 200  # draws of each side at which a loss in several dimensions is evaluated
_QUANTILE = float(ndtri(0.975))  # both ends of an exact bound at alpha = 0.05
_TAIL = 0.01  # share of the draws that the default region leaves out at each end


@dataclass(frozen=True)
class LocalLoss:
    """DPL: the largest empirical loss of each pair of inputs.

    Parameters
    ----------
    floor
        tau, below which no density is believed.
    points
        Grid points on the region C, for real outputs.
    largest
        Answer for the pair with the largest loss only: an estimate of the level of the whole set of
        pairs, which is the data-centric level where they are an input's neighbourhood.
    """

    reads: ClassVar[Literal["losses"]] = "losses"
    symmetric: ClassVar[bool] = True
    precision: ClassVar[None] = None

    floor: float
    points: int = 1001
    largest: bool = False

    def __post_init__(self) -> None:
        checks.positive("floor", self.floor)
        checks.integer("points", self.points, minimum=2)
        if not isinstance(self.largest, bool):
            raise ArgumentError("largest", f"must be true or false, got {self.largest!r}")

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        check_applies(outputs, order)

    def screen(
        self,
        pairs: Iterable[tuple[Sample, Sample]],
        *,
        draws: int,
        region: Sequence[float] | None = None,
    ) -> tuple[int, list[Loss]]:
        """Return what `screen` does, at these parameters."""
        ends = None if region is None else (region[0], region[1])
        return screen(pairs, floor=self.floor, points=self.points, draws=draws, region=ends)


def check_applies(outputs: str, order: float) -> None:
    """Raise `ArgumentError` unless outputs are all discrete or continuous, at order infinity."""
    if outputs == "mixed":
        raise ArgumentError(
            "outputs",
            "are mixed, neither discrete nor continuous: the local loss does not apply "
            "(askin2022, Section III)",
        )
    if not math.isinf(order):
        raise ArgumentError("lambda", "must be inf: the local loss is the pure level")


@dataclass(frozen=True)
class Loss:
    """The largest empirical loss of one pair.

    ``output`` is where, of shape ``(d,)``; ``sign`` is 1 where x is likelier there, -1 where x' is.
    ``event`` is a set around it, chosen for an exact bound: outcomes of shape ``(k, d)`` for
    discrete outputs, disjoint rising intervals ``(k, 2)`` for real ones, the box ``(d, 2)`` for
    real vectors. Of many pairs, only the selected one has an event.
    """

    loss: float
    sign: int
    output: Floats
    event: Floats = field(default_factory=lambda: np.empty((0, 1)))


def screen(
    pairs: Iterable[tuple[Sample, Sample]],
    *,
    floor: float,
    draws: int,
    region: Region | None = None,
    points: int = 1001,
) -> tuple[int, list[Loss]]:
    """Run DPL on pairs of samples, and select the pair with the largest loss (the first of ties).

    Parameters
    ----------
    pairs
        Samples of both sides, of shape ``(n,)`` or ``(n, d)``, integers or floats. Each pair is
        looked at once, in order.
    floor
        tau.
    draws
        N, how many fresh draws a side the event is chosen for.
    region
        The closed region C of real outputs, for each dimension; see `default_region`.
    points
        Grid points on C.

    Returns
    -------
    The selected position, and a `Loss` for every pair.
    """
    checks.positive("floor", floor)
    best: tuple[int, _Look] | None = None
    losses: list[Loss] = []
    for k, (x, x_prime) in enumerate(pairs):
        look = _Look.at(x, x_prime, floor, region, points)
        losses.append(look.largest())
        if best is None or losses[k].loss > losses[best[0]].loss:
            best = k, look
    if best is None:
        raise ArgumentError("pairs", "must not be empty")
    chosen, look = best
    losses[chosen] = replace(losses[chosen], event=look.event(losses[chosen], draws, floor))
    return chosen, losses


class _Look:
    """One pair's loss over all candidates: what the three kinds of outputs share."""

    def __init__(self, outputs: NDArray[Any], p: Floats, q: Floats, floor: float) -> None:
        self.outputs, self.p, self.q = outputs, p, q
        self.signed = signed_loss(p, q, floor)

    @staticmethod
    def at(x: Sample, x_prime: Sample, floor: float, region: Region | None, points: int) -> _Look:
        if np.issubdtype(x.dtype, np.integer):
            return _Look(*frequencies(x, x_prime), floor)
        for side in (x, x_prime):
            refuse_atoms(side)
        if x.ndim == 1:
            return _Line(x, x_prime, floor, region or default_region(x, x_prime), points)
        return _Space(x, x_prime, floor, region)

    def largest(self) -> Loss:
        i = int(np.argmax(np.abs(self.signed)))
        output = np.atleast_1d(np.asarray(self.outputs[i], np.float64))
        return Loss(float(abs(self.signed[i])), 1 if self.signed[i] >= 0 else -1, output)

    def event(self, best: Loss, draws: int, floor: float) -> Floats:
        likelier, other = (self.p, self.q)[:: best.sign]
        chosen = self.outputs[best_set(likelier, other, draws, floor=floor)]
        return np.asarray(chosen, np.float64).reshape(len(chosen), -1)


class _Line(_Look):
    """Real outputs: densities on an even grid of the region."""

    def __init__(
        self, x: Floats, x_prime: Floats, floor: float, region: Region, points: int
    ) -> None:
        lower, upper = checks.interval("region", *region)
        p, q = (density_on_grid(side, lower, upper, points, nrd0(side)) for side in (x, x_prime))
        super().__init__(np.linspace(lower, upper, points), p, q, floor)
        self._sides = x, x_prime

    def event(self, best: Loss, draws: int, floor: float) -> Floats:
        """Choose among the cells around the grid points, and the two tails beyond them."""
        spacing = self.outputs[1] - self.outputs[0]
        edges = np.append(self.outputs - spacing / 2, self.outputs[-1] + spacing / 2)
        mass = []
        for side, density in zip(self._sides, (self.p, self.q), strict=True):
            tails = (side < edges[0]).mean(), (side >= edges[-1]).mean()
            mass.append(np.concatenate([tails[:1], density * spacing, tails[1:]]))
        likelier, other = mass[:: best.sign]
        chosen = best_set(likelier, other, draws, floor=floor * spacing)
        ends = np.concatenate([[-np.inf], edges, [np.inf]])
        turns = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
        return ends[turns].reshape(-1, 2)


class _Space(_Look):
    """Real vectors: densities at some draws of both sides, as a grid would be too large.

    These draws are not part of the estimates. One bandwidth serves all entries, as the paper's
    product kernel has it, so they should be in like units.
    """

    def __init__(self, x: Floats, x_prime: Floats, floor: float, region: Region | None) -> None:
        few = min(_CANDIDATES, len(x) // 4, len(x_prime) // 4)
        candidates = np.concatenate([x[:few], x_prime[:few]])
        if region is not None:
            lower, upper = checks.interval("region", *region)
            low, high = np.full(x.shape[1], lower), np.full(x.shape[1], upper)
        else:
            ends = [default_region(*columns) for columns in zip(x.T, x_prime.T, strict=True)]
            low, high = np.array(ends).T
        inside = ((candidates >= low) & (candidates <= high)).all(axis=1)
        if not inside.any():
            where = " x ".join(f"[{a:g}, {b:g}]" for a, b in zip(low, high, strict=True))
            raise ArgumentError("region", f"{where} holds none of the first {few} draws")
        at = candidates[inside]
        p, q = (density_at(side[few:], at, nrd0(side)) for side in (x, x_prime))
        super().__init__(at, p, q, floor)
        self._sides = x, x_prime

    def event(self, best: Loss, draws: int, floor: float) -> Floats:
        """Choose the size of a box around the output."""
        spread = np.concatenate(self._sides).std(axis=0)
        sizes = 2.0 ** np.arange(-3, 4)
        boxes = [best.output + np.outer([-size, size], spread) for size in sizes]
        likelier, other = self._sides[:: best.sign]
        p = np.array([in_box(likelier, box.T).mean() for box in boxes])
        q = np.array([in_box(other, box.T).mean() for box in boxes])
        return boxes[int(np.argmax(_promise(p, q, draws)))].T


def loss_on_grid(
    x: Floats, x_prime: Floats, region: Region, points: int, floor: float
) -> tuple[Floats, Floats]:
    """Return an even grid on the closed region C, and ln f_x - ln f_x' there, estimated.

    Densities are Gaussian-kernel estimates with each side's own nrd0 bandwidth, as the paper's.
    """
    line = _Line(x, x_prime, floor, region, points)
    return line.outputs, line.signed


def signed_loss(p: ArrayLike, q: ArrayLike, floor: float) -> Floats:
    """Return ln p - ln q with both floored at tau (Algorithms 1 and 2)."""
    loss: Floats = np.log(np.maximum(p, floor)) - np.log(np.maximum(q, floor))
    return loss


def default_region(x: Floats, x_prime: Floats) -> Region:
    """Return C where none is given: from the lowest 1 % quantile to the highest 99 % quantile.

    Further out, densities are estimated from few draws and their log ratio is noise.
    """
    low = min(np.quantile(x, _TAIL), np.quantile(x_prime, _TAIL))
    high = max(np.quantile(x, 1 - _TAIL), np.quantile(x_prime, 1 - _TAIL))
    return float(low), float(high)


def best_set(p: Floats, q: Floats, draws: int, *, floor: float = 0.0) -> NDArray[np.bool_]:
    """Choose the set {loss >= c} whose exact 95 % bound on ``draws`` fresh draws promises most.

    ``p`` and ``q`` are the first samples' probabilities of the same cells (atoms, or cells of a
    grid), ``p`` the side that is likelier where the loss is largest. Cells are taken in the order
    of their loss.
    """
    order = np.argsort(-signed_loss(p, q, max(floor, 1e-300)), kind="stable")
    promise = _promise(np.cumsum(p[order]), np.cumsum(q[order]), draws)
    chosen = np.zeros(p.size, bool)
    chosen[order[: int(np.argmax(promise)) + 1]] = True
    return chosen


def _promise(mass: Floats, other: Floats, draws: int) -> Floats:
    """Return about what the exact bound will be: by normal approximation, enough to choose by."""
    z = _QUANTILE
    one = 1 / draws  # a set that is not expected to be hit promises nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        low = mass - z * np.sqrt(np.maximum(mass * (1 - mass), 0) / draws)
        high = other + z * np.sqrt(np.maximum(other, one) / draws) + one
        return np.where(low > 0, np.log(low / high), -np.inf)


def in_event(sample: Sample, event: Floats) -> NDArray[np.bool_]:
    """Tell which draws lie in a set as `Loss` describes it."""
    if np.issubdtype(sample.dtype, np.integer):
        if sample.ndim == 1:
            return np.isin(sample, event[:, 0].astype(np.int64))
        wanted = {tuple(row) for row in event.astype(np.int64).tolist()}
        return np.fromiter((tuple(row) in wanted for row in sample.tolist()), bool, len(sample))
    if sample.ndim == 1:
        return np.asarray(np.searchsorted(event.ravel(), sample, side="right") % 2 == 1)
    return in_box(sample, event)


def in_box(sample: Floats, box: Floats) -> NDArray[np.bool_]:
    """Tell which of ``(n, d)`` draws lie in the box ``(d, 2)``."""
    return np.asarray(((sample >= box[:, 0]) & (sample < box[:, 1])).all(axis=1))
