"""The methods of the four papers on two arrays: one function for each question.

``x`` and ``x_prime`` hold independent outputs of a mechanism on two inputs, of shape ``(n,)`` or
``(n, d)``; the sides may differ in n. Floats are real outputs. Integers, booleans and strings are
outcomes, of which only equality counts (to kNN and scikit-learn integers are numbers); a row of
them is one outcome. Losses and epsilons are of both directions. A divergence or delta is of x from
x': exchange the arguments for the other direction. Where some draws choose or train and the others
confirm or test, they are shuffled first, always alike.

Functions raise `ArgumentError`, of one line, for arguments out of range. Results are frozen and
print in a line. Where draws do not give a number it is None, or 0 for a bound, and ``reason`` says
why. All levels are in nats.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.arrays import Floats, Sample
from epsilometer.densities.binned import quantiles
from epsilometer.densities.frequencies import joint_counts
from epsilometer.densities.histogram import histogram
from epsilometer.errors import ArgumentError
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss, default_region, loss_at
from epsilometer.estimators.renyi_bound import RenyiBound
from epsilometer.estimators.spectrum import Spectrum, epsilon_at
from epsilometer.samples import Pair, ends_of, pair_of, pairs_of_arrays

_FLOOR = 1e-3  # askin2022's tau, for outputs in the unit of their spread;
_HITS = 30.0  # or the share of so many draws: with 10, MPL often chooses noise in the tails
_IQR = 1.349  # of a normal distribution, in standard deviations
_FEW = 100  # fewest draws of a side for a local loss
_AT_FLOOR = 50  # expected draws on an outcome of probability tau (kutta2022)

Region = tuple[float, float]
EmptyCells = Literal["fail", "skip"]
Interval = Literal["clopper-pearson", "bootstrap"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Result:
    n: int
    n_prime: int
    reason: str = ""

    def __repr__(self) -> str:
        return str(self)

    def _line(self, text: str) -> str:
        because = f"; {self.reason}" if self.reason else ""
        return f"{text}, from {self.n} draws of x and {self.n_prime} of x'{because}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LossCurve(_Result):
    """Estimates, without a confidence, of the local loss from n draws of x and n_prime of x'.

    ``losses`` are ln f_x - ln f_x' in nats, ``(k,)``, at the given ``outputs``, ``(k,)`` or
    ``(k, d)``: above 0 where x is likelier, and 0 where both sides are below the ``floor``, a
    density in one over the unit of outputs, or a probability.
    """

    outputs: Sample
    losses: Floats
    floor: float

    def __str__(self) -> str:
        low, high = self.losses.min(), self.losses.max()
        text = f"losses from {low:.4g} to {high:.4g} nats at {len(self.losses)} outputs"
        return self._line(f"{text}, an estimate without confidence")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LargestLoss(_Result):
    """The largest local loss that was seen, an estimate without a confidence.

    ``value`` is in nats, in the larger direction. It was seen at the ``output`` (a number, a string
    or a list of d of them), which is ``likelier`` on ``x`` or on ``x'``. Single reals were searched
    in the ``region``, in their unit. The ``floor`` and numbers of draws are as in `LossCurve`.
    """

    value: float
    output: Any
    likelier: str
    region: Region | None
    floor: float

    def __str__(self) -> str:
        ends = f", searched in [{self.region[0]:.4g}, {self.region[1]:.4g}]" if self.region else ""
        text = f"largest loss {self.value:.4g} nats at {self.output}, likelier on {self.likelier}"
        return self._line(f"{text}{ends}, an estimate without confidence")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LowerBound(_Result):
    """A lower confidence bound: ``value``, in nats and at least 0, is at most the ``quantity``.

    So it is in a share ``confidence`` of repetitions, for large n. It rests on n draws of x and
    n_prime of x' of the ``pair`` at this position from 0; other draws may have chosen what it is
    about. ``reason`` says why it shows nothing, or what was left out.
    """

    quantity: str
    value: float
    confidence: float
    pair: int = 0

    def __str__(self) -> str:
        sure = f"with confidence {self.confidence:g} for large n"
        return self._line(f"{self.quantity} >= {self.value:.4g} nats {sure}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DeltaCurve(_Result):
    """The privacy spectrum by a classifier: ``deltas`` of x from x' at ``epsilons``, in nats.

    ``low`` and ``high`` are the ends of an interval for the classifier's delta, which is at most
    that of the pair: ``low`` is a lower bound for both. Each holds at its epsilon with the
    ``confidence``; the bootstrap has none. These arrays have shape ``(m,)``. n draws of x and
    n_prime of x' tested the ``classifier``, and others trained it.
    """

    epsilons: Floats
    deltas: Floats
    low: Floats
    high: Floats
    confidence: float | None
    classifier: str

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon, in nats, at which the estimate is ``delta`` at most.

        It is infinite where no epsilon of the curve is large enough.
        """
        return epsilon_at(delta, self.epsilons, self.deltas)

    def __str__(self) -> str:
        shown = sorted({0, len(self.epsilons) // 2, len(self.epsilons) - 1})
        rows = zip(self.epsilons, self.deltas, self.low, self.high, strict=True)
        points = [f"{d:.4g} in [{a:.4g}, {b:.4g}] at {e:g}" for e, d, a, b in rows]
        sure = f"with confidence {self.confidence:g} each" if self.confidence else "no confidence"
        return self._line(
            f"delta {', '.join(points[i] for i in shown)} ({self.classifier}, {sure})"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HistogramLevel(_Result):
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

    def __str__(self) -> str:
        text = "no estimate" if self.value is None else f"{self.value:.4g} nats"
        if self.low is not None:
            text += f" in [{self.low:.4g}, {self.high:.4g}] with confidence {self.confidence:.3g}"
        return self._line(f"{self.quantity}: {text}, {self.cells} cells")


# --- askin2022: the local privacy loss ------------------------------------------------------------


def local_loss(
    x: ArrayLike, x_prime: ArrayLike, outputs: ArrayLike, *, floor: float | None = None
) -> LossCurve:
    """Estimate the local privacy loss ln f_x - ln f_x' at given outputs (askin2022, Algorithm 1).

    ``x`` and ``x_prime`` have 100 draws or more, ``(n,)`` or ``(n, d)``; ``outputs``, ``(k,)`` or
    ``(k, d)``, are in their unit. Reals need a density (Gaussian kernels, Silverman's bandwidth):
    those with atoms are refused. Entries of rows share a bandwidth: their units should be similar.
    Smaller densities (in one over the unit of outputs) or probabilities count as ``floor``, tau; if
    not given, 0.001 or the share of 30 draws, over the spread where outputs are real.

    Laplace noise of scale 1 around 0 and .7 loses .7 left of both:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 20_000), rng.laplace(0.7, 1, 20_000)
    >>> local_loss(x, x_prime, [-1.0, 0.35, 2.0]).losses.round(1)
    array([ 0.7,  0. , -0.7])
    """
    pair = pair_of(x, x_prime, outputs, least=_FEW)
    assert pair.outputs is not None
    tau = _floor(pair, floor)
    losses = loss_at(pair.x, pair.x_prime, pair.outputs, tau)
    return LossCurve(outputs=np.asarray(outputs), losses=losses, floor=tau, **_sizes(pair))


def largest_loss(
    x: ArrayLike, x_prime: ArrayLike, *, region: Region | None = None, floor: float | None = None
) -> LargestLoss:
    """Estimate the pure level of a pair, the largest local loss (DPL; askin2022, Algorithm 3).

    Single reals are searched between the ends of the ``region``, in their unit; if not given, from
    the lowest 1 % quantile to the highest 99 % quantile of the sides. Rows are searched at some
    draws. Other arguments are as for `local_loss`.

    Of a bit that is kept with probability 3/4 the level is log 3, 1.10:

    >>> rng = np.random.default_rng(4)
    >>> kept, flipped = rng.random(10_000) < 0.75, rng.random(10_000) < 0.25
    >>> loss = largest_loss(kept, flipped)
    >>> round(loss.value, 2), loss.output, loss.likelier
    (1.07, 0, "x'")
    """
    pair = pair_of(x, x_prime, least=_FEW)
    region = _searched(region, pair)
    if pair.real and pair.x.ndim == 1:
        region = region or default_region(pair.x, pair.x_prime)
    tau = _floor(pair, floor)
    _, (loss,) = LocalLoss(tau).screen([(pair.x, pair.x_prime)], region)
    assert loss.target is not None  # the selected pair has one
    output, side = loss.target["output"], "x" if loss.target["sign"] > 0 else "x'"
    if pair.labels is not None:
        output = [pair.labels[int(output[0])].tolist()]
    return LargestLoss(
        value=loss.loss,
        output=output[0] if len(output) == 1 else output,
        likelier=side,
        region=region,
        floor=tau,
        **_sizes(pair),
    )


def loss_lower_bound(
    x: ArrayLike,
    x_prime: ArrayLike,
    *,
    alpha: float = 0.05,
    choosing: float = 0.3,
    region: Region | None = None,
    floor: float | None = None,
) -> LowerBound:
    """Bound the pure level of a pair from below (MPL; askin2022, Algorithm 4, (26)).

    Some draws choose the output of the largest loss; the others bound the loss there. The loss
    keeps the sign that it had in the choosing draws, unlike the paper's, whose bound is too often
    above the truth where the sides are alike. ``alpha`` is the share of repetitions in which the
    bound may lie above the level, for large n; ``choosing`` the share of the draws that choose.
    Other arguments are as for `largest_loss`.

    Laplace noise of scale 1, .7 apart, whose level is .7, searched where there are many draws:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 50_000), rng.laplace(0.7, 1, 50_000)
    >>> loss_lower_bound(x, x_prime, region=(-1, 2))
    epsilon >= 0.643 nats with confidence 0.95 for large n, from 35000 draws of x and 35000 of x'
    """
    pair = pair_of(x, x_prime, least=_FEW)
    return _loss_lower_bound("epsilon", [pair], alpha, choosing, region, floor)


def loss_lower_bound_of_pairs(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    alpha: float = 0.05,
    choosing: float = 0.3,
    region: Region | None = None,
    floor: float | None = None,
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
    given = pairs_of_arrays(pairs, least=_FEW)
    quantity = f"largest epsilon of {len(given)} pairs"
    return _loss_lower_bound(quantity, given, alpha, choosing, region, floor)


def _loss_lower_bound(
    quantity: str,
    pairs: Sequence[Pair],
    alpha: float,
    choosing: float,
    region: Region | None,
    floor: float | None,
) -> LowerBound:
    checks.between_0_and_1("choosing", choosing)
    method, k, best = MaximumPrivacyLoss(alpha=alpha), 0, -math.inf
    for number, pair in enumerate(pairs):
        ends, mixed = _searched(region, pair), pair.shuffled()
        first = mixed.part(0, choosing)
        candidate = LocalLoss(_floor(first, floor))
        _, (found,) = candidate.screen([(first.x, first.x_prime)], ends)
        if number == 0 or found.loss > best:
            k, best, screen, loss = number, found.loss, candidate, found
            fresh = mixed.part(choosing, 1)
    assert loss.target is not None  # the selected pair has one
    bound = float(method.bound(screen.weigh(fresh.x, fresh.x_prime, loss.target)))
    return LowerBound(
        quantity=quantity, value=max(bound, 0.0), confidence=1 - alpha, pair=k, **_sizes(fresh)
    )


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
        inside = [(side >= ends[0]) & (side <= ends[1]) for side in (pair.x, pair.x_prime)]
        if not np.concatenate(inside).any():
            raise ArgumentError("region", f"[{ends[0]:g}, {ends[1]:g}] holds no draw")
    return ends


def _sizes(pair: Pair) -> dict[str, Any]:
    return {"n": len(pair.x), "n_prime": len(pair.x_prime)}


# --- kutta2022: lower bounds of Rényi divergences -------------------------------------------------


def renyi_lower_bound(
    x: ArrayLike, x_prime: ArrayLike, order: float, *, alpha: float = 0.05
) -> LowerBound:
    """Bound the Rényi divergence of x from x' from below (kutta2022, (16), without its bias).

    ``x`` and ``x_prime`` have more than 50 draws: ``(n,)``, or ``(n, d)`` of outcomes. Of unequal
    sides as many draws of the larger are used. Reals are counted in cells between quantiles:
    units, kinks, atoms and tails do not matter. The ``order`` lambda is above 1 and finite;
    ``alpha`` is the share of repetitions in which the bound may lie above the divergence, for large
    n.

    A bit that is kept with probability 3/4; the divergence of order 2 is log(7/3), .847:

    >>> rng = np.random.default_rng(4)
    >>> kept, flipped = rng.random(10_000) < 0.75, rng.random(10_000) < 0.25
    >>> bound = renyi_lower_bound(kept, flipped, 2)
    >>> bound.quantity, round(bound.value, 2), bound.confidence
    ('Rényi divergence of order 2', 0.78, 0.95)
    """
    order = checks.order("order", order, finite=True)
    method = RenyiBound(draws_at_floor=_AT_FLOOR, alpha=alpha)
    pair = pair_of(x, x_prime, least=_AT_FLOOR + 1, rows=False).of_one_size()
    (answer,) = answers(method, (pair.x, pair.x_prime), order=order)
    quantity, forward = f"Rényi divergence of order {order:g}", float(answer.forward)
    return _renyi(quantity, [pair], [forward if answer.trusted() else None], alpha)


def renyi_lower_bound_of_pairs(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]],
    order: float,
    *,
    alpha: float = 0.05,
    own_samples: bool = False,
) -> LowerBound:
    """Bound the largest Rényi divergence of several pairs, in both directions (kutta2022, (8)).

    Arguments and errors are as for `renyi_lower_bound`; ``alpha`` is of all pairs together. If no
    draws are in two pairs, ``own_samples`` gives a slightly larger bound: (8) for Bonferroni's
    correction.

    >>> rng = np.random.default_rng(4)
    >>> bits = [rng.random(10_000) < chance for chance in (0.5, 0.4, 0.75, 0.25)]
    >>> bound = renyi_lower_bound_of_pairs([bits[:2], bits[2:]], 2)
    >>> bound.pair, round(bound.value, 2)
    (1, 0.8)
    """
    order = checks.order("order", order, finite=True)
    checks.flag("own_samples", own_samples)
    correction: Literal["independent", "bonferroni"]
    correction = "independent" if own_samples else "bonferroni"
    method = RenyiBound(_AT_FLOOR, alpha, largest=True, correction=correction)
    given = [p.of_one_size() for p in pairs_of_arrays(pairs, least=_AT_FLOOR + 1, rows=False)]
    sides = [side for pair in given for side in (pair.x, pair.x_prime)]
    bounds = [a.both if a.trusted() else None for a in answers(method, sides, order=order)]
    quantity = f"largest Rényi divergence of order {order:g} of {len(given)} pairs"
    return _renyi(quantity, given, bounds, alpha)


def _renyi(
    quantity: str, pairs: Sequence[Pair], bounds: Sequence[float | None], alpha: float
) -> LowerBound:
    """Return the largest bound; those of None are not trusted, so that D >= 0 is all they say."""
    k = int(np.argmax([-math.inf if bound is None else bound for bound in bounds]))
    reasons = []
    if few := bounds.count(None):
        whose = "" if len(pairs) == 1 else f" of {few} pairs"
        reasons.append(f"the draws{whose} are too few for this order: they show no more than >= 0")
    if cut := len(pairs[k].x) + len(pairs[k].x_prime) - 2 * pairs[k].n:
        reasons.append(f"{cut} draws of the larger side are not used")
    value, n = max(bounds[k] or 0.0, 0.0), pairs[k].n
    about: dict[str, Any] = {"pair": k, "n": n, "n_prime": n, "reason": "; ".join(reasons)}
    return LowerBound(quantity=quantity, value=value, confidence=1 - alpha, **about)


# --- lu2022: the privacy spectrum -----------------------------------------------------------------


def delta_curve(
    x: ArrayLike,
    x_prime: ArrayLike,
    epsilons: ArrayLike | None = None,
    *,
    classifier: str | None = None,
    options: Mapping[str, Any] | None = None,
    interval: Interval = "clopper-pearson",
    alpha: float = 0.05,
    rng: np.random.Generator | int | None = None,
) -> DeltaCurve:
    """Estimate delta of x from x' at every epsilon with a classifier (lu2022, Figure 1).

    ``x`` and ``x_prime`` have 2 draws or more, ``(n,)`` or ``(n, d)``. Half of the smaller side and
    as many draws of the other train the classifier; all others test it. ``epsilons`` rise from 0 or
    more, in nats, ``(m,)``; 0 to 3 by .01, if not given.

    The ``classifier`` is ``counting`` (frequencies of outcomes, the default for them),
    ``nearest_neighbours`` (kNN of numbers, the default for reals), or a full name of scikit-learn,
    as ``sklearn.ensemble.RandomForestClassifier`` or ``sklearn.linear_model.LogisticRegression``,
    with its ``options``. The ``interval`` is ``clopper-pearson``, which holds at every n, or
    ``bootstrap``; ``alpha`` is its error probability at each epsilon by itself. ``rng``
    is a generator or a seed, for what draws: seed 0, if not given.

    delta(0) of Laplace noise of scale 1, .5 apart, is 1 - exp(-1/4), .221; sides may differ in n:

    >>> rng = np.random.default_rng(4)
    >>> x, x_prime = rng.laplace(0, 1, 200_000), rng.laplace(0.5, 1, 50_000)
    >>> curve = delta_curve(x, x_prime, [0.0, 0.25])
    >>> curve.deltas.round(2), curve.low.round(2), curve.high.round(2), curve.n_prime
    (array([0.22, 0.11]), array([0.21, 0.1 ]), array([0.23, 0.12]), 25000)
    """
    pair = pair_of(x, x_prime, least=2).shuffled()
    usual = "nearest_neighbours" if pair.real else "counting"
    name = usual if classifier is None else classifier
    parameters: dict[str, Any] = {"interval": interval, "alpha": alpha, "options": options or {}}
    if epsilons is not None:
        parameters["claims"] = np.ravel(np.asarray(epsilons)).tolist()
    registered = name
    if isinstance(name, str) and name.startswith("sklearn."):
        registered, parameters["options"] = "scikit_learn", {"name": name, "options": options or {}}
    generator = _generator(rng)
    with _renamed(claims="epsilons", name="classifier"):
        method = Spectrum(registered, **parameters)
        try:
            if pair.labels is not None and name != "counting":
                raise ArgumentError("outputs", "are strings")
            (answer,) = answers(method, (pair.x, pair.x_prime), order=math.inf, rng=generator)
        except ArgumentError as error:
            if error.argument != "outputs":
                raise
            usual = "one of scikit-learn" if pair.real and pair.x.ndim > 1 else usual
            message = f"must be for such outputs, as {usual} is, got {name!r}"
            raise ArgumentError("classifier", message) from None
    tested = answer.tested[0]
    low, high = tested.interval(interval, alpha, generator)
    return DeltaCurve(
        epsilons=tested.claims,
        deltas=tested.delta,
        low=low,
        high=high,
        confidence=None if method.guarantee == "none" else 1 - alpha,
        classifier=name,
        n=int(tested.tested[0]),
        n_prime=int(tested.tested_prime[0]),
    )


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
    order: float = math.inf,
    *,
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
    level, m = method.estimate(counts, counts_prime, claims, order), counts.size
    value, confidence, reason = None, None, ""
    if level.failed:
        empty = int(((counts == 0) | (counts_prime == 0)).sum())
        reason = f"{empty} of {m} cells have no draw of a side: more draws, or empty_cells='skip'"
    else:
        value = float(level.both if math.isinf(order) else level.forward)
        if lipschitz is not None or smallest_probability is not None:
            confidence = method.confidence(pair.n, claims, order) or None
            reason = "" if confidence else "no confidence: n is far below that of planned_draws"
        else:
            missing = "lipschitz" if pair.real else "outcomes and smallest_probability"
            reason = f"no confidence without the claim of {missing}"
    return HistogramLevel(
        quantity="epsilon" if math.isinf(order) else f"Rényi divergence of order {order:g}",
        value=value,
        confidence=confidence,
        low=max(value - gamma, 0.0) if value is not None and confidence else None,
        high=value + gamma if value is not None and confidence else None,
        gamma=gamma,
        cells=m,
        reason=reason,
        **_sizes(pair),
    )


def _counts(
    pair: Pair, method: HistogramEstimator, claims: Claims, order: float, cells: int | None
) -> list[Sample]:
    """Return the counts of both sides, of shape ``(m,)``."""
    if not pair.real:
        if claims.support is not None or cells is not None:
            name = "cells" if claims.support is None else "support"
            raise ArgumentError(name, "is for real outputs: x has outcomes")
        _, *counted = joint_counts(pair.x, pair.x_prime)
        m = claims.outcomes or counted[0].size
        if counted[0].size > m:
            raise ArgumentError("outcomes", f"must be {counted[0].size} or more: so many were seen")
        return [np.pad(side, (0, m - side.size)) for side in counted]
    if claims.support is None:
        raise ArgumentError("support", "must be claimed for real outputs, as support=(0, 1)")
    if cells is not None and claims.lipschitz is not None:
        raise ArgumentError("cells", "must not be given with lipschitz, from which they follow")
    m = checks.integer("cells", cells) if cells is not None else method.cells(claims, order)
    counts = []
    for name, side in (("x", pair.x), ("x_prime", pair.x_prime)):
        with _renamed(sample=name):
            counts.append(histogram(side, m, claims.support)[0])
    return counts


def planned_draws(
    gamma: float,
    order: float = math.inf,
    *,
    alpha: float = 0.05,
    support: Region | None = None,
    lipschitz: float | None = None,
    outcomes: int | None = None,
    smallest_probability: float | None = None,
    as_published: bool = False,
) -> int:
    """Return n, the draws a side after which `histogram_level` errs by gamma at most.

    It is that of gorla2022, (7), of (16) at a finite order, and of Remark 2 for outcomes. ``alpha``
    is the share of repetitions that may err by more, or fail; other arguments are as there.
    ``as_published`` gives the paper's smaller n, which breaks the promise where cells are many.

    The paper (Section III-E) prints 1863132, one more:

    >>> claims = {"support": (0, 1), "lipschitz": 1.58}
    >>> planned_draws(0.5, alpha=0.2, as_published=True, **claims)
    1863131
    >>> planned_draws(0.5, alpha=0.2, **claims)
    3798299
    """
    claims = Claims(ends_of("support", support), lipschitz, outcomes, smallest_probability)
    method, delta = HistogramEstimator(gamma), 1 - checks.between_0_and_1("alpha", alpha)
    checks.flag("as_published", as_published)
    order = checks.order("order", order)
    return method.planned_samples(claims, order, delta, as_published=as_published)


def planned_cells(
    gamma: float, order: float = math.inf, *, support: Region, lipschitz: float
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
