"""The methods of the four papers on two arrays: one function for each question.

``x`` and ``x_prime`` hold independent outputs of a mechanism on two inputs, of shape ``(n,)`` or
``(n, d)``; the sides may differ in n. Floats are real outputs. Integers, booleans and strings are
outcomes, of which only equality counts; to kNN, scikit-learn and the sets of `loss_lower_bound`
integers are numbers. A row of outcomes is one. Losses and epsilons are of both directions. A
divergence or delta is of x from x': exchange the arguments for the other direction. Where some
draws choose or train and the others confirm or test, they are shuffled first, always alike.

Functions raise `ArgumentError`, of one line, for arguments out of range. Results are frozen and
print in a line. Where draws do not give a number it is None, or 0 for a bound, and ``reason`` says
why. All levels are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks, plots
from epsilometer.claims import Pure
from epsilometer.classifiers.neighbours import MOST_ENTRIES
from epsilometer.densities.binned import quantiles
from epsilometer.densities.frequencies import joint_counts
from epsilometer.densities.histogram import histogram
from epsilometer.errors import ArgumentError
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims, OutputEvidence
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.local_loss import (
    LocalLoss,
    MaximumPrivacyLoss,
    densest,
    densities_at,
    estimated,
    signed_loss,
)
from epsilometer.estimators.renyi_bound import RenyiBound
from epsilometer.estimators.spectrum import Spectrum, Tested, epsilon_at
from epsilometer.events.choosing import ChosenEvent, choose_events
from epsilometer.events.events import Event
from epsilometer.events.looks import PastDraws
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.results import Holds, Result, Row
from epsilometer.samples import Pair, columns_of, ends_of, pair_of, pairs_of_arrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FLOOR = 1e-3  # askin2022's tau, for outputs in the unit of their spread;
_HITS = 30.0  # or the share of so many draws: with 10, MPL often chooses noise in the tails
_IQR = 1.349  # of a normal distribution, in standard deviations
_POINTS = 1001  # at which single reals are searched
_DENSEST = 0.8  # share of the draws in the region that is searched
_FEWEST_IN_A_PART = 5  # draws that choose or confirm, for a bandwidth and cells
_FEWEST_FOR_A_LOSS = 100  # fewest draws of a side for a local loss
_EVENTS = 32  # of a classifier, that share the confidence of a band: more make it wider
_RARE = 10  # draws in a set, below which the normal law of a bound is doubtful
_AT_FLOOR = 50  # expected draws on an outcome of probability tau (kutta2022)

Region = tuple[float, float]
EmptyCells = Literal["fail", "skip"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _OfTwoArrays(Result):
    n: int
    n_prime: int
    reason: str = ""

    def facts(self) -> dict[str, Any]:
        """Return the draws, and the position of the pair and the confidence, if it has them."""
        return {
            "pair": getattr(self, "pair", None),
            "n": self.n,
            "n_prime": self.n_prime,
            "confidence": getattr(self, "confidence", None),
        }

    def plot(self, ax: Axes | None = None, *, claim: float | None = None) -> Axes:
        """Draw a point for each number, with what its limits enclose; see `Result.plot`."""
        axes = plots.axes_of(ax)
        rows = list(self.rows())
        for number, row in enumerate(rows):
            plots.point(axes, number, row.estimate, row.low, row.high)
        axes.set_xticks(range(len(rows)), [row.quantity for row in rows])
        axes.set_xlim(-1, len(rows))
        axes.margins(y=0.2)
        axes.set_ylim(bottom=0)
        if claim is not None:
            plots.level(axes, claim, f"claim: {claim:g}")
        return plots.finished(axes, "", "nats")

    def _line(self, text: str) -> str:
        because = f"; {self.reason}" if self.reason else ""
        return f"{text}, from {self.n} draws of x and {self.n_prime} of x'{because}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LossCurve(_OfTwoArrays):
    """Estimates, without a confidence, of the local loss from n draws of x and n_prime of x'.

    ``losses`` are ln f_x - ln f_x' in nats, ``(k,)``, at the given ``outputs``, ``(k,)`` or
    ``(k, d)``: above 0 where x is likelier. They are NaN where a side is below the ``floor``, a
    density in one over the unit of outputs, or a probability: hardly a draw of it is near. There
    the loss is ``at_least``, ``(k,)``, or further from 0: 0 where both sides are below it.
    """

    outputs: Sample
    losses: Floats
    at_least: Floats
    floor: float

    def rows(self) -> Iterator[Row]:
        """Yield the loss at each output; without an estimate, the end of it that is known."""
        losses = zip(self.losses.tolist(), self.at_least.tolist(), strict=True)
        for output, (loss, at_least) in zip(self.outputs.tolist(), losses, strict=True):
            low = math.nan
            high = math.nan
            if math.isnan(loss) and at_least > 0:
                low = at_least
            if math.isnan(loss) and at_least < 0:
                high = at_least
            yield Row("loss", output, loss, low, high, method="askin2022")

    def plot(self, ax: Axes | None = None, *, claim: float | None = None) -> Axes:
        """Draw the loss against the outputs, rows of them by their number; see `Result.plot`."""
        axes = plots.axes_of(ax)
        outputs = np.arange(float(len(self.outputs)))
        if self.outputs.ndim == 1 and self.outputs.dtype.kind in "iuf":
            outputs = self.outputs.astype(float)
        plots.curve(axes, outputs, self.losses, "loss (askin2022)", marker=".")
        if claim is not None:
            plots.level(axes, claim, f"claim: {claim:g}")
            plots.level(axes, -claim, "")
        return plots.finished(axes, "output", "log ratio of densities")

    def __str__(self) -> str:
        known = self.losses[~np.isnan(self.losses)]
        text = f"losses at {len(known)} of {len(self.losses)} outputs"
        if known.size:
            text += f", from {known.min():.4g} to {known.max():.4g} nats"
        return self._line(f"{text}, an estimate without confidence")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LargestLoss(_OfTwoArrays):
    """The largest local loss that was seen, an estimate without a confidence.

    ``value`` is in nats, in the larger direction. It was seen at the ``output`` (a number, a
    string, or for d of them a list, or a dictionary by the columns of a data frame), which is
    ``likelier`` on ``x`` or on ``x'``. Where hardly a draw of the other side is near, the value is
    None: the loss is ``at_least`` so large. Single reals were searched in the ``region``, in their
    unit. The ``floor`` and numbers of draws are as in `LossCurve`.
    """

    value: float | None
    at_least: float
    output: Any
    likelier: str
    region: Region | None
    floor: float

    def rows(self) -> Iterator[Row]:
        """Yield the loss."""
        if self.value is None:
            yield Row("largest loss", self.output, low=self.at_least, method="askin2022")
        else:
            yield Row("largest loss", self.output, self.value, method="askin2022")

    def __str__(self) -> str:
        size = "has no estimate," if self.value is None else f"{self.value:.4g} nats"
        text = f"largest loss {size} at {self.output}, likelier on {self.likelier}"
        if self.region is not None:
            text += f", searched in [{self.region[0]:.4g}, {self.region[1]:.4g}]"
        return self._line(f"{text}, an estimate without confidence")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LowerBound(_OfTwoArrays):
    """A lower confidence bound: ``value``, in nats and at least 0, is at most the ``quantity``.

    So it is in a share ``confidence`` of repetitions, for large n. It rests on n draws of x and
    n_prime of x' of the ``pair`` at this position from 0; other draws may have chosen what it is
    about. ``reason`` says why it shows nothing, or what was left out.
    """

    quantity: str
    value: float
    confidence: float
    pair: int = 0

    def rows(self) -> Iterator[Row]:
        """Yield the bound."""
        yield Row(self.quantity, low=self.value, holds="large n")

    def __str__(self) -> str:
        sure = f"with confidence {self.confidence:g} for large n"
        return self._line(f"{self.quantity} >= {self.value:.4g} nats {sure}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DeltaCurve(_OfTwoArrays):
    """The privacy spectrum by a classifier: ``deltas`` of x from x' at ``epsilons``, in nats.

    They are non-increasing, and convex in exp(epsilon), as the pair's delta is. ``low`` and
    ``high`` enclose the classifier's delta, which is at most that of the pair, at all epsilons
    together with the ``confidence``, at every n; ``low`` is a lower bound for both. These arrays
    have shape ``(m,)``. n draws of x and n_prime of x' tested the ``classifier``, and others
    trained it.
    """

    epsilons: Floats
    deltas: Floats
    low: Floats
    high: Floats
    confidence: float
    classifier: str

    def rows(self) -> Iterator[Row]:
        """Yield delta at each epsilon."""
        numbers = np.column_stack([self.epsilons, self.deltas, self.low, self.high])
        for at, delta, low, high in numbers.tolist():
            yield Row("delta", at, delta, low, high, "every n", f"lu2022, {self.classifier}")

    def plot(self, ax: Axes | None = None, *, claim: float | None = None) -> Axes:
        """Draw delta at each epsilon with its band; the claim is an epsilon; see `Result.plot`."""
        axes = plots.axes_of(ax)
        sure = f"{100 * self.confidence:g} % confidence"
        number = plots.band(axes, self.epsilons, self.low, self.high, sure)
        name = f"lu2022, {self.classifier}"
        plots.curve(axes, self.epsilons, self.deltas, name, number=number)
        if claim is not None:
            plots.level(axes, claim, f"claim: epsilon = {claim:g}", vertical=True)
        return plots.finished(axes, "epsilon", "delta of x from x'")

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon, in nats, at which the estimate is ``delta`` at most.

        It is infinite where no epsilon of the curve is large enough.
        """
        return epsilon_at(delta, self.epsilons, self.deltas)

    def __str__(self) -> str:
        points = []
        for i in sorted({0, len(self.epsilons) // 2, len(self.epsilons) - 1}):
            band = f"[{self.low[i]:.4g}, {self.high[i]:.4g}]"
            points.append(f"{self.deltas[i]:.4g} in {band} at {self.epsilons[i]:g}")
        sure = f"{self.classifier}, with confidence {self.confidence:g} for all epsilons together"
        return self._line(f"delta {', '.join(points)} ({sure})")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HistogramLevel(_OfTwoArrays):
    """The level ``quantity`` from histograms of n draws of x and n_prime of x'.

    ``value`` is in nats, or None. By the theorem for the claims, its error is ``gamma`` nats at
    most with a chance of ``confidence`` or more; without that it is None, as are ``low`` and
    ``high``, the ends of ``value`` +- gamma. ``reason`` says why a number is missing. ``cells`` is
    the number of cells, or of outcomes.
    """

    quantity: str
    value: float | None
    confidence: float | None
    low: float | None
    high: float | None
    gamma: float
    cells: int

    def rows(self) -> Iterator[Row]:
        """Yield the level; it has an interval where there is a confidence."""
        holds: Holds = "no promise" if self.confidence is None else "every n"
        level = _or_nan(self.value)
        low = _or_nan(self.low)
        high = _or_nan(self.high)
        yield Row(self.quantity, None, level, low, high, holds, "gorla2022")

    def __str__(self) -> str:
        text = "no estimate" if self.value is None else f"{self.value:.4g} nats"
        if self.low is not None:
            text += f" in [{self.low:.4g}, {self.high:.4g}] with confidence {self.confidence:.3g}"
        return self._line(f"{self.quantity}: {text}, {self.cells} cells")


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number


# --- askin2022: the local privacy loss ------------------------------------------------------------


def local_loss(
    x: ArrayLike, x_prime: ArrayLike, outputs: ArrayLike, *, floor: float | None = None
) -> LossCurve:
    """Estimate the local privacy loss ln f_x - ln f_x' at given outputs (askin2022, Algorithm 1).

    ``x`` and ``x_prime`` have 100 draws or more, ``(n,)`` or ``(n, d)``; ``outputs``, ``(k,)`` or
    ``(k, d)``, are in their unit. Reals need a density (Gaussian kernels, Silverman's bandwidth):
    those with atoms are refused. Entries of rows share a bandwidth: their units should be similar.
    Where a side's density (in one over the unit of outputs) or probability is below the ``floor``,
    tau, there is no estimate. It is 0.001, or the share of 30 draws, over the spread where outputs
    are real, if not given.

    Laplace noise of scale 1 around 0 and .7 loses .7 left of both:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 20_000), rng.laplace(0.7, 1, 20_000)
    >>> local_loss(x, x_prime, [-1.0, 0.35, 2.0]).losses.round(1)
    array([ 0.7,  0. , -0.7])
    """
    pair = pair_of(x, x_prime, outputs, least=_FEWEST_FOR_A_LOSS)
    assert pair.outputs is not None
    tau = _floor(pair, floor)
    p, q = densities_at(pair.x, pair.x_prime, pair.outputs)
    at_least = signed_loss(p, q, tau)
    known = np.minimum(p, q) >= tau
    reason = ""
    if not known.all():
        far = np.abs(at_least[~known])
        reason = f"hardly an output of a side is near the other {far.size}: epsilon at least "
        reason += f"{far.max():.4g} nats there, no upper estimate"
    return LossCurve(
        outputs=np.asarray(outputs),
        losses=np.where(known, at_least, np.nan),
        at_least=at_least,
        floor=tau,
        reason=reason,
        **_sizes(pair),
    )


def largest_loss(
    x: ArrayLike, x_prime: ArrayLike, *, region: Region | None = None, floor: float | None = None
) -> LargestLoss:
    """Estimate the pure level of a pair, the largest local loss (DPL; askin2022, Algorithm 3).

    Single reals are searched between the ends of the ``region``, in their unit. If it is not given,
    they are searched where the sum of both densities is largest and holds 80 % of the draws: at the
    edge of the data few draws decide, so that the largest loss would be noise. ``region`` of the
    result has the ends of this set. Rows are searched at the densest 80 % of some draws, outcomes
    everywhere. Other arguments are as for `local_loss`.

    Of a bit that is kept with probability 3/4 the level is log 3, 1.10:

    >>> rng = np.random.default_rng(4)
    >>> kept, flipped = rng.random(10_000) < 0.75, rng.random(10_000) < 0.25
    >>> loss = largest_loss(kept, flipped)
    >>> round(loss.value, 2), loss.output, loss.likelier
    (1.07, 0, "x'")
    """
    pair = pair_of(x, x_prime, least=_FEWEST_FOR_A_LOSS)
    ends = _searched(region, pair)
    tau = _floor(pair, floor)
    found = estimated(pair.x, pair.x_prime, ends, _POINTS)
    if pair.real and ends is None:
        found = densest(found, _DENSEST)
    outputs, p, q = found
    losses = signed_loss(p, q, tau)
    k = int(np.argmax(np.abs(losses)))
    at_least = float(abs(losses[k]))
    known = min(p[k], q[k]) >= tau
    likelier = "x"
    other = "x'"
    if losses[k] < 0:
        likelier, other = other, likelier
    if pair.real and pair.x.ndim == 1 and ends is None:
        ends = float(outputs[0]), float(outputs[-1])
    return LargestLoss(
        value=at_least if known else None,
        at_least=at_least,
        output=pair.named(outputs[k]),
        likelier=likelier,
        region=ends,
        floor=tau,
        reason="" if known else _no_estimate(other, "it", at_least),
        **_sizes(pair),
    )


def loss_lower_bound(
    x: ArrayLike,
    x_prime: ArrayLike,
    *,
    confidence: float = 0.95,
    choosing: float = 0.3,
    region: Region | None = None,
) -> LowerBound:
    """Bound the pure level of a pair from below (MPL; askin2022, Algorithm 4, (26)).

    Some draws, a share ``choosing``, choose a set of outputs that is likelier on one side. The
    others bound the loss of this set by its relative frequencies: nothing is smoothed, and atoms do
    no harm. The loss keeps the sign that it had in the choosing draws, unlike the paper's, whose
    bound is too often above the truth where the sides are alike. The level is at least the bound in
    a share ``confidence`` of repetitions, for large n; that of `measure` is so at every n.

    With a ``region`` of single reals, as (-1, 2) in their unit, it is the paper's bound for one
    output, that of the largest loss there, by densities (Gaussian kernels).

    ``x`` and ``x_prime`` have 100 draws or more, ``(n,)`` or ``(n, d)``. Raise `ArgumentError` for
    others, and for reals with an atom if there is a region.

    Laplace noise of scale 1, .7 apart, whose level is .7:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 50_000), rng.laplace(0.7, 1, 50_000)
    >>> loss_lower_bound(x, x_prime)
    epsilon >= 0.6737 nats with confidence 0.95 for large n, from 35000 draws of x and 35000 of x'
    """
    pair = pair_of(x, x_prime, least=_FEWEST_FOR_A_LOSS)
    return _loss_lower_bound("epsilon", [pair], confidence, choosing, region)


def loss_lower_bound_of_pairs(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    confidence: float = 0.95,
    choosing: float = 0.3,
    region: Region | None = None,
) -> LowerBound:
    """Bound the largest pure level of several pairs from below (MPL; askin2022, Algorithm 4).

    The choosing draws choose the pair, too. Arguments and errors are as for `loss_lower_bound`.

    Two pairs of bits, of which the second has the level log 3, 1.10:

    >>> rng = np.random.default_rng(4)
    >>> bits = [rng.random(10_000) < chance for chance in (0.5, 0.4, 0.75, 0.25)]
    >>> bound = loss_lower_bound_of_pairs([bits[:2], bits[2:]])
    >>> bound.pair, round(bound.value, 2)
    (1, 1.05)
    """
    given = pairs_of_arrays(pairs, least=_FEWEST_FOR_A_LOSS)
    quantity = f"largest epsilon of {len(given)} pairs"
    return _loss_lower_bound(quantity, given, confidence, choosing, region)


def _loss_lower_bound(
    quantity: str,
    pairs: Sequence[Pair],
    confidence: float,
    choosing: float,
    region: Region | None,
) -> LowerBound:
    method = MaximumPrivacyLoss(alpha=_alpha(confidence))
    candidates = []
    checks.between_0_and_1("choosing", choosing)
    for pair in pairs:
        ends = _searched(region, pair)
        mixed = pair.shuffled()
        first = mixed.part(0, choosing)
        fresh = mixed.part(choosing, 1)
        if min(first.n, fresh.n) < _FEWEST_IN_A_PART:
            message = f"leaves {first.n} draws to choose and {fresh.n} to confirm"
            raise ArgumentError("choosing", f"{message}; {_FEWEST_IN_A_PART} or more are needed")
        if ends is None:
            candidates.append(_of_a_set(first, fresh))
        else:
            candidates.append(_of_an_output(first, fresh, ends))
    k = int(np.argmax([candidate.expected for candidate in candidates]))
    best = candidates[k]
    return LowerBound(
        quantity=quantity,
        value=max(float(method.bound(best.evidence)), 0.0),
        confidence=confidence,
        pair=k,
        reason=best.reason,
        n=best.n,
        n_prime=best.n_prime,
    )


@dataclass(frozen=True)
class _Candidate:
    """What the choosing draws of a pair expect, and what n fresh draws of x, n_prime of x' show."""

    expected: float
    evidence: OutputEvidence
    n: int
    n_prime: int
    reason: str = ""


def _of_a_set(first: Pair, fresh: Pair) -> _Candidate:
    """Return the candidate of a set of outputs, the event that the choosing draws suggest."""
    past = PastDraws(first.x, first.x_prime, columns_of(first))
    events = choose_events(past, [Pure(0.0)], fresh.n)
    if not events:  # all outputs are the same
        events = [ChosenEvent(Event(((None, None),)), False, 1.0, 1.0, -math.inf)]
    chosen = events[0]
    held = chosen.event.holds(fresh.x).astype(int)
    held_prime = chosen.event.holds(fresh.x_prime).astype(int)
    target = {"output": [1], "sign": -1 if chosen.swapped else 1}
    evidence = LocalLoss(1 / fresh.n).weigh(held, held_prime, target)
    reason = ""
    if min(held.sum(), held_prime.sum()) < _RARE:
        reason = "few draws of a side are in the chosen set: measure() holds at every n"
    return _Candidate(chosen.expected, evidence, len(fresh.x), len(fresh.x_prime), reason)


def _of_an_output(first: Pair, fresh: Pair, region: Region) -> _Candidate:
    """Return the candidate of the paper, the output of the largest loss in a region."""
    method = LocalLoss(_floor(first, None))
    _, (loss,) = method.screen([(first.x, first.x_prime)], region)
    assert loss.target is not None  # the selected pair has one
    evidence = method.weigh(fresh.x, fresh.x_prime, loss.target)
    return _Candidate(loss.loss, evidence, len(fresh.x), len(fresh.x_prime))


def _no_estimate(side: str, where: str, at_least: float) -> str:
    """Return the reason for a loss without an estimate, of which the floor shows so much."""
    if at_least == 0:
        return f"hardly a draw is near {where}"
    shows = f"epsilon at least {at_least:.4g} nats, no upper estimate"
    return f"hardly a draw of {side} is near {where}: {shows}"


def _floor(pair: Pair, floor: float | None) -> float:
    """Return tau, in one over the unit of outputs to the power d, or as a probability."""
    if floor is not None:
        return checks.positive("floor", floor)
    tau = max(_FLOOR, _HITS / pair.n)
    if pair.real:
        pooled = np.concatenate([pair.x, pair.x_prime])
        for column in pooled.reshape(len(pooled), -1).T:
            low, high = quantiles(column, [0.25, 0.75])
            tau *= _IQR / (high - low) if high > low else 1.0
    if not 1e-150 < tau < 1e150:
        raise ArgumentError("x", "has densities too large or small for numbers: use another unit")
    return tau


def _searched(region: Region | None, pair: Pair) -> Region | None:
    """Return the region; raise `ArgumentError` for other outputs, or without a draw there."""
    ends = ends_of("region", region)
    if ends is not None:
        if not pair.real or pair.x.ndim > 1:
            raise ArgumentError("region", "is for real outputs of shape (n,)")
        draws = np.concatenate([pair.x, pair.x_prime])
        if not ((draws >= ends[0]) & (draws <= ends[1])).any():
            raise ArgumentError("region", f"[{ends[0]:g}, {ends[1]:g}] holds no draw")
    return ends


def _alpha(confidence: float) -> float:
    """Return alpha, the share of repetitions in which a bound may fail."""
    return 1 - checks.between_0_and_1("confidence", confidence)


def _sizes(pair: Pair) -> dict[str, Any]:
    return {"n": len(pair.x), "n_prime": len(pair.x_prime)}


# --- kutta2022: lower bounds of Rényi divergences -------------------------------------------------


def renyi_lower_bound(
    x: ArrayLike, x_prime: ArrayLike, *, order: float, confidence: float = 0.95
) -> LowerBound:
    """Bound the Rényi divergence of x from x' from below (kutta2022, (16), without its bias).

    ``x`` and ``x_prime`` have more than 50 draws: ``(n,)``, or ``(n, d)`` of outcomes. Of unequal
    sides as many draws of the larger are used. Reals are counted in cells between quantiles:
    units, kinks, atoms and tails do not matter. The ``order`` lambda is above 1 and finite;
    ``confidence`` is the share of repetitions in which the divergence is above the bound, for large
    n.

    A bit that is kept with probability 3/4; the divergence of order 2 is log(7/3), .847:

    >>> rng = np.random.default_rng(4)
    >>> kept, flipped = rng.random(10_000) < 0.75, rng.random(10_000) < 0.25
    >>> bound = renyi_lower_bound(kept, flipped, order=2)
    >>> bound.quantity, round(bound.value, 2), bound.confidence
    ('Rényi divergence of order 2', 0.78, 0.95)
    """
    order = checks.order("order", order, finite=True)
    method = RenyiBound(_AT_FLOOR, _alpha(confidence))
    pair = pair_of(x, x_prime, least=_AT_FLOOR + 1, rows=False).of_one_size()
    (answer,) = answers(method, (pair.x, pair.x_prime), order=order)
    quantity = f"Rényi divergence of order {order:g}"
    forward = float(answer.forward)
    return _renyi(quantity, [pair], [forward if answer.trusted() else None], confidence)


def renyi_lower_bound_of_pairs(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    order: float,
    confidence: float = 0.95,
    own_samples: bool = False,
) -> LowerBound:
    """Bound the largest Rényi divergence of several pairs, in both directions (kutta2022, (8)).

    Arguments and errors are as for `renyi_lower_bound`; the ``confidence`` is of all pairs
    together. If no draws are in two pairs, ``own_samples`` gives a slightly larger bound: (8) for
    Bonferroni's correction.

    >>> rng = np.random.default_rng(4)
    >>> bits = [rng.random(10_000) < chance for chance in (0.5, 0.4, 0.75, 0.25)]
    >>> bound = renyi_lower_bound_of_pairs([bits[:2], bits[2:]], order=2)
    >>> bound.pair, round(bound.value, 2)
    (1, 0.8)
    """
    order = checks.order("order", order, finite=True)
    checks.flag("own_samples", own_samples)
    correction: Literal["independent", "bonferroni"]
    correction = "independent" if own_samples else "bonferroni"
    method = RenyiBound(_AT_FLOOR, _alpha(confidence), largest=True, correction=correction)
    given = [p.of_one_size() for p in pairs_of_arrays(pairs, least=_AT_FLOOR + 1, rows=False)]
    sides = []
    for pair in given:
        sides += [pair.x, pair.x_prime]
    bounds = [a.both if a.trusted() else None for a in answers(method, sides, order=order)]
    quantity = f"largest Rényi divergence of order {order:g} of {len(given)} pairs"
    return _renyi(quantity, given, bounds, confidence)


def _renyi(
    quantity: str, pairs: Sequence[Pair], bounds: Sequence[float | None], confidence: float
) -> LowerBound:
    """Return the largest bound; those of None are not trusted, so that D >= 0 is all they say."""
    k = int(np.argmax([-math.inf if bound is None else bound for bound in bounds]))
    reasons = []
    if few := bounds.count(None):
        whose = "" if len(pairs) == 1 else f" of {few} pairs"
        reasons.append(f"the draws{whose} are too few for this order: they show no more than >= 0")
    if cut := len(pairs[k].x) + len(pairs[k].x_prime) - 2 * pairs[k].n:
        reasons.append(f"{cut} draws of the larger side are not used")
    return LowerBound(
        quantity=quantity,
        value=max(bounds[k] or 0.0, 0.0),
        confidence=confidence,
        pair=k,
        reason="; ".join(reasons),
        n=pairs[k].n,
        n_prime=pairs[k].n,
    )


# --- lu2022: the privacy spectrum -----------------------------------------------------------------


def delta_curve(
    x: ArrayLike,
    x_prime: ArrayLike,
    *,
    epsilons: ArrayLike | None = None,
    confidence: float = 0.95,
    classifier: str | None = None,
    options: Mapping[str, Any] | None = None,
    rng: np.random.Generator | int | None = None,
) -> DeltaCurve:
    """Estimate delta of x from x' at every epsilon with a classifier (lu2022, Figure 1).

    ``x`` and ``x_prime`` have 2 draws or more, ``(n,)`` or ``(n, d)``. Half of the smaller side and
    as many draws of the other train the classifier; all others test it. ``epsilons`` rise from 0 or
    more, in nats, ``(m,)``; 0 to 3 by .01, if not given. At an epsilon delta is that of the best of
    the events that the classifier has for these (for 32 of them, if they are more). The ends of the
    band hold for all epsilons together, in a share ``confidence`` of repetitions, at every n.

    The ``classifier`` is ``counting`` (frequencies of outcomes, the default for them),
    ``nearest_neighbours`` (the default for reals, and for rows of up to 20 of them, in units of
    their spread), or a full name of scikit-learn, as ``sklearn.ensemble.RandomForestClassifier`` or
    ``sklearn.linear_model.LogisticRegression``, with its ``options``. ``rng`` is a generator or a
    seed, for what draws: seed 0, if not given.

    delta(0) of Laplace noise of scale 1, .5 apart, is 1 - exp(-1/4), .221; sides may differ in n:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 200_000), rng.laplace(0.5, 1, 50_000)
    >>> curve = delta_curve(x, x_prime, epsilons=[0.0, 0.25])
    >>> curve.deltas.round(2), curve.low.round(2), curve.high.round(2), curve.n_prime
    (array([0.22, 0.11]), array([0.21, 0.1 ]), array([0.23, 0.12]), 25000)
    """
    pair = pair_of(x, x_prime, least=2).shuffled()
    name = classifier
    if name is None:
        name = "nearest_neighbours" if pair.real else "counting"
    alpha = _alpha(confidence)
    generator = _generator(rng)
    with _renamed(claims="epsilons", name="classifier"):
        method = _spectrum(name, options or {}, epsilons)
        grid = method.grid
        at = np.unique(np.linspace(0, grid.size - 1, min(grid.size, _EVENTS)).astype(int))
        few = replace(method, claims=grid[at].tolist())
        tested = _tested(few, pair, name, generator)
    deltas, low, high = tested.band(grid, alpha)
    return DeltaCurve(
        epsilons=grid,
        deltas=deltas,
        low=low,
        high=high,
        confidence=confidence,
        classifier=name,
        n=int(tested.tested[0]),
        n_prime=int(tested.tested_prime[0]),
    )


def _spectrum(name: str, options: Mapping[str, Any], epsilons: ArrayLike | None) -> Spectrum:
    """Return the method with the classifier of this name, which may be a full one."""
    if isinstance(name, str) and name.startswith("sklearn."):
        options = {"name": name, "options": options}
        name = "scikit_learn"
    if epsilons is None:
        return Spectrum(name, options)
    return Spectrum(name, options, claims=np.ravel(np.asarray(epsilons)).tolist())


def _tested(method: Spectrum, pair: Pair, name: str, rng: np.random.Generator) -> Tested:
    """Return the tests of x from x'; raise `ArgumentError` if the classifier is for others."""
    try:
        if pair.labels is not None and name != "counting":
            raise ArgumentError("outputs", "are strings")
        (answer,) = answers(method, (pair.x, pair.x_prime), order=math.inf, rng=rng)
    except ArgumentError as error:
        if error.argument != "outputs":
            raise
        usual = "nearest_neighbours" if pair.real else "counting"
        if pair.real and pair.x.ndim > 1 and pair.x.shape[1] > MOST_ENTRIES:
            usual = "one of scikit-learn"
        message = f"must be for such outputs, as {usual} is, got {name!r}"
        raise ArgumentError("classifier", message) from None
    return answer.tested[0]


def _generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(0 if rng is None else rng)
    except (TypeError, ValueError):
        raise ArgumentError("rng", f"must be a generator of NumPy or a seed, got {rng!r}") from None


@contextmanager
def _renamed(**names: str) -> Iterator[None]:
    """Let errors name the arguments of these functions."""
    try:
        yield
    except ArgumentError as error:
        if error.argument not in names:
            raise
        message = str(error).removeprefix(f"{error.argument} ")
        raise ArgumentError(names[error.argument], message) from None


# --- gorla2022: histograms ------------------------------------------------------------------------


def histogram_level(
    x: ArrayLike,
    x_prime: ArrayLike,
    *,
    order: float = math.inf,
    gamma: float = 0.5,
    support: Region | None = None,
    lipschitz: float | None = None,
    outcomes: int | None = None,
    smallest_probability: float | None = None,
    cells: int | None = None,
    empty_cells: EmptyCells = "fail",
) -> HistogramLevel:
    """Estimate epsilon, or a Rényi divergence, by histograms (gorla2022, Algorithms 1 and 3).

    At ``order`` infinity it is epsilon, in its larger direction; else lambda is above 1, and it is
    the divergence of x from x'. Arrays have shape ``(n,)``, or ``(n, d)`` of outcomes (Remark 2).
    ``gamma`` is the precision, in nats.

    With claims of the provider, the result has the confidence that the theorem gives for n. For
    real outputs they are the ends of the ``support`` and the ``lipschitz`` constant C of densities,
    in one over the square of the outputs' unit, which set the number of cells; without C, give the
    number of ``cells``. For outcomes they are the number of ``outcomes`` and the
    ``smallest_probability`` of one. A cell that a side does not hit makes the estimate ``fail``, as
    in the paper, or is overlooked (``skip``), by ``empty_cells``.

    Densities 1/2 + z and 3/2 - z on [0, 1], with C = 1: their level is log 3, 1.10.

    >>> rng = np.random.default_rng(4)
    >>> x = np.sqrt(2 * rng.random(200_000) + 0.25) - 0.5
    >>> histogram_level(x, 1 - x, gamma=1.0, support=(0, 1), lipschitz=1.0)
    epsilon: 0.9983 nats in [0, 1.998] with confidence 1, 12 cells, from 200000 draws of x \
and 200000 of x'
    """
    checks.order("order", order)
    claims = Claims(ends_of("support", support), lipschitz, outcomes, smallest_probability)
    method = HistogramEstimator(gamma, empty_cells=empty_cells)
    pair = pair_of(x, x_prime, rows=False)
    counts, counts_prime = _counts(pair, method, claims, order, cells)
    level = method.estimate(counts, counts_prime, claims, order)
    m = counts.size
    value = None
    confidence = None
    low = None
    high = None
    reason = ""
    if level.failed:
        empty = int(((counts == 0) | (counts_prime == 0)).sum())
        reason = f"{empty} of {m} cells have no draw of a side: more draws, or empty_cells='skip'"
    else:
        value = float(level.both if math.isinf(order) else level.forward)
        if lipschitz is None and smallest_probability is None:
            missing = "lipschitz" if pair.real else "outcomes and smallest_probability"
            reason = f"no confidence without the claim of {missing}"
        else:
            confidence = method.confidence(pair.n, claims, order) or None
            if confidence is None:
                reason = "no confidence: n is far below that of planned_draws"
            else:
                low = max(value - gamma, 0.0)
                high = value + gamma
    return HistogramLevel(
        quantity="epsilon" if math.isinf(order) else f"Rényi divergence of order {order:g}",
        value=value,
        confidence=confidence,
        low=low,
        high=high,
        gamma=gamma,
        cells=m,
        reason=reason,
        **_sizes(pair),
    )


def _counts(
    pair: Pair, method: HistogramEstimator, claims: Claims, order: float, cells: int | None
) -> tuple[Counts, Counts]:
    """Return the counts of both sides, of shape ``(m,)``."""
    if not pair.real:
        if claims.support is not None or cells is not None:
            name = "cells" if claims.support is None else "support"
            raise ArgumentError(name, "is for real outputs: x has outcomes")
        _, counts, counts_prime = joint_counts(pair.x, pair.x_prime)
        unseen = (claims.outcomes or counts.size) - counts.size
        if unseen < 0:
            raise ArgumentError("outcomes", f"must be {counts.size} or more: so many were seen")
        return np.pad(counts, (0, unseen)), np.pad(counts_prime, (0, unseen))
    if claims.support is None:
        raise ArgumentError("support", "must be claimed for real outputs, as support=(0, 1)")
    if cells is not None and claims.lipschitz is not None:
        raise ArgumentError("cells", "must not be given with lipschitz, from which they follow")
    m = checks.integer("cells", cells) if cells is not None else method.cells(claims, order)
    with _renamed(sample="x"):
        of_x = histogram(pair.x, m, claims.support)[0]
    with _renamed(sample="x_prime"):
        return of_x, histogram(pair.x_prime, m, claims.support)[0]


def planned_draws(
    gamma: float,
    *,
    order: float = math.inf,
    confidence: float = 0.95,
    support: Region | None = None,
    lipschitz: float | None = None,
    outcomes: int | None = None,
    smallest_probability: float | None = None,
    as_published: bool = False,
) -> int:
    """Return n, the draws a side after which `histogram_level` errs by gamma at most.

    It is that of gorla2022, (7), of (16) at a finite order, and of Remark 2 for outcomes.
    ``confidence`` is the share of repetitions that err by so much at most, and do not fail; other
    arguments are as there.
    ``as_published`` gives the paper's smaller n, which breaks the promise where cells are many.

    The paper (Section III-E) prints 1863132, one more:

    >>> claims = {"support": (0, 1), "lipschitz": 1.58}
    >>> planned_draws(0.5, confidence=0.8, as_published=True, **claims)
    1863131
    >>> planned_draws(0.5, confidence=0.8, **claims)
    3798299
    """
    claims = Claims(ends_of("support", support), lipschitz, outcomes, smallest_probability)
    method = HistogramEstimator(gamma)
    delta = checks.between_0_and_1("confidence", confidence)
    checks.flag("as_published", as_published)
    order = checks.order("order", order)
    return method.planned_samples(claims, order, delta, as_published=as_published)


def planned_cells(
    gamma: float, *, order: float = math.inf, support: Region, lipschitz: float
) -> int:
    """Return m, the cells with which `histogram_level` errs by gamma at most.

    It is that of gorla2022, (6), and of (15) at a finite order. Arguments are as for
    `planned_draws`.

    Table III, epsilon = 1:

    >>> planned_cells(0.5, support=(0, 1), lipschitz=1.58198)
    91
    """
    claims = Claims(ends_of("support", support), lipschitz)
    return HistogramEstimator(gamma).cells(claims, checks.order("order", order))
