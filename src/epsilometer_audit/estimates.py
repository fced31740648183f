"""Estimates by the methods of the papers, from the draws of an audit, beside its verdict.

Each has a kind: an estimate without a guarantee; a bound that holds for large samples, or for every
sample; an interval. A method that must choose an event or output chooses it on past draws and
confirms it on fresh draws; a method of one sample gets fresh draws.

Densities, and the floor below which they are not used (askin2022), depend on the unit of outputs;
so outputs are scaled by their own spread first. Whole numbers, and rows of them, are outcomes: only
their equality counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer.densities.binned import quantiles
from epsilometer.errors import ArgumentError, one_line
from epsilometer.events.events import codes_of
from epsilometer_audit.formats import as_plain
from epsilometer_audit.statistics import exact_test as fixed
from epsilometer_audit.statistics.claims import AnyClaim, Claim, EventClaim, Pure, parts

if TYPE_CHECKING:
    from epsilometer.estimators.answering import Answer
    from epsilometer.estimators.local_loss import LocalLoss

Sample = NDArray[Any]
Sides = tuple[Sample, Sample]
Kind = Literal["estimate", "asymptotic bound", "finite-sample bound", "interval", "does not apply"]

_MOST = 100_000  # draws of a side
_NUMBERS = 200_000  # most entries of a side where outputs are vectors;
_LEAST = 2000  # but at least this many vectors
_KERNELS = 10_000  # draws of vectors for kernel estimates
_FLOOR = 1e-3  # askin2022's tau, for outputs in the unit of their spread;
_HITS = 10.0  # with few draws: this number of draws, as a share
_FEW = 100  # fewest draws for densities
_AT_FLOOR = 50.0  # expected draws on an outcome of probability tau (kutta2022)
_IQR = 1.349  # of a normal distribution, in standard deviations


@dataclass(frozen=True)
class Estimate:
    """The result of a method."""

    method: str
    paper: str
    kind: Kind  # its guarantee, or that the method does not apply
    quantity: str  # a level in nats, a delta or mu
    value: float | None  # the estimate, or the bound itself
    low: float | None = None  # an end of the interval, or a lower bound
    high: float | None = None
    reason: str = ""  # why the method does not apply, or a note on the value

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values; None for numbers that are not finite."""
        return as_plain(asdict(self))  # type: ignore[no-any-return]


def estimates(
    past: Sides,
    fresh: Sides,
    claim: AnyClaim,
    *,
    alpha: float,
    seed: int,
    outcomes: int | None = None,
) -> list[Estimate]:
    """Return the results of all methods, for the quantities of a claim.

    ``past`` and ``fresh`` are encoded draws of both sides, of shape ``(n,)`` or ``(n, d)``: methods
    choose on the first and confirm on the others. At most 100,000 a side are used, fewer of
    vectors. A bound lies above the truth with probability ``alpha`` at most; ``seed`` is of methods
    that draw, ``outcomes`` the declared number of outcomes.

    >>> rng = np.random.default_rng(4)
    >>> def laplace(): return rng.laplace(0, 1, 20_000), rng.laplace(0.7, 1, 20_000)
    >>> from epsilometer_audit.statistics.claims import pure
    >>> for result in estimates(laplace(), laplace(), pure(0.5), alpha=0.05, seed=1):
    ...     print(result.method, result.kind, result.value and round(result.value, 1))
    local loss (DPL) estimate 0.8
    MPL asymptotic bound 0.5
    exact bound (Berger-Boos) finite-sample bound 0.7
    kNN spectrum interval 0.1
    Rényi bound does not apply None
    histogram does not apply None
    """
    draws = _Draws(past, fresh, alpha, seed, outcomes)
    return [_estimate(draws, *question) for question in _questions(draws, claim)]


# --- the draws, in the forms of the methods -------------------------------------------------------


class _Draws:
    """Draws of both stages, cut, and in the forms of the methods."""

    def __init__(
        self, past: Sides, fresh: Sides, alpha: float, seed: int, number: int | None
    ) -> None:
        self.alpha, self.seed, self.number = alpha, seed, number
        self.available = min(len(side) for side in fresh)
        entries = 1 if fresh[0].ndim == 1 else max(fresh[0].shape[1], 1)
        most = _MOST if entries == 1 else max(_NUMBERS // entries, _LEAST)
        self.past, self.fresh = _cut(past, most), _cut(fresh, most)
        self.whole = bool(np.issubdtype(fresh[0].dtype, np.integer))
        names = ("index", "tuple") if self.whole else ("scalar", "vector")
        self.kind = names[fresh[0].ndim - 1]

    def check(self) -> None:
        """Raise `ArgumentError` if past and fresh draws are the same, or too few."""
        sides = [*self.past, *self.fresh]
        if min(len(side) for side in sides) < 2:
            raise ArgumentError("draws", "are too few")
        stages = zip(self.past, self.fresh, strict=True)
        same = all(np.array_equal(a, b, equal_nan=not self.whole) for a, b in stages)
        if same and any((side != side[0]).any() for side in sides):
            raise ArgumentError("draws", "that confirm must be others than those that choose")

    @cached_property
    def outcomes(self) -> tuple[Sides, Sides]:
        """Codes from 0 of the different outputs, past and fresh, of shape ``(n,)``."""
        sides = [*self.past, *self.fresh]
        codes = codes_of(np.concatenate(sides))
        a, b, c, d = np.split(codes, np.cumsum([len(side) for side in sides])[:-1])
        return (a, b), (c, d)

    @cached_property
    def outputs(self) -> tuple[Sides, Sides]:
        """Outcomes where outputs are whole, else outputs in the unit of their spread."""
        if self.whole:
            return self.outcomes
        most = _MOST if self.kind == "scalar" else _KERNELS
        past, fresh = _cut(self.past, most), _cut(self.fresh, most)
        if not all(np.isfinite(side).all() for side in (*past, *fresh)):
            raise ArgumentError("outputs", "must all be finite numbers")
        low, high = np.apply_along_axis(quantiles, 0, np.concatenate(past), [0.25, 0.75])
        unit = np.where(high > low, (high - low) / _IQR, 1.0)
        (a, b), (c, d) = (((x - low) / unit, (y - low) / unit) for x, y in (past, fresh))
        return (a, b), (c, d)


def _cut(pair: Sides, most: int) -> Sides:
    """Return equally many draws of both sides."""
    n = min(most, *(len(side) for side in pair))
    return pair[0][:n], pair[1][:n]


# --- the methods ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answer:
    """The result of a method on so many draws a side."""

    value: float
    draws: int
    low: float | None = None
    high: float | None = None
    reason: str = ""


def _estimate(
    draws: _Draws, method: str, quantity: str, claim: Claim, order: float = math.inf
) -> Estimate:
    paper, kind, estimate = _METHODS[method]
    if paper == "gorla2022":
        paper += ", Algorithm 1" if math.isinf(order) else ", Algorithm 3"
    try:
        result = estimate(draws, claim, order)
    except ArgumentError as error:
        return Estimate(method, paper, "does not apply", quantity, None, reason=one_line(error))
    cut = f"of {result.draws} draws a side" if result.draws < draws.available else ""
    reason = "; ".join(filter(None, (result.reason, cut)))
    return Estimate(method, paper, kind, quantity, result.value, result.low, result.high, reason)


def _questions(draws: _Draws, claim: AnyClaim) -> Iterator[tuple[Any, ...]]:
    """Yield every method, with each claimed quantity that it estimates."""
    claims = parts(claim)
    first = claims[0]
    orders = [
        (part, order, "" if math.isinf(order) else f"renyi epsilon of order {order:g}")
        for part in claims
        for order in part.orders or (math.inf,)
    ]
    epsilon = delta = first.quantity
    if isinstance(first, Pure):
        epsilon = f"epsilon at delta = {first.delta:g}" if first.delta else "epsilon"
        delta = f"delta at epsilon = {first.epsilon:g}"
    yield "local loss (DPL)", "epsilon", first
    yield "MPL", "epsilon", first
    yield "exact bound (Berger-Boos)", epsilon, first
    yield "counting spectrum" if draws.whole else "kNN spectrum", delta, first
    for part, order, quantity in orders:
        yield "Rényi bound", quantity or "renyi epsilon", part, order
    for part, order, quantity in orders[: None if draws.number else 1]:
        yield "histogram", quantity or part.quantity, part, order


def _check_pure(claim: Claim) -> None:
    if not (isinstance(claim, Pure) and claim.delta == 0):
        raise ArgumentError("method", f"is for pure epsilon, not for {claim.text()}")


def _local_loss(n: int) -> LocalLoss:
    from epsilometer.estimators.local_loss import LocalLoss

    if n < _FEW:
        raise ArgumentError("draws", f"must be {_FEW} or more a side, got {n}")
    return LocalLoss(max(_FLOOR, _HITS / n))


def _only_answer(estimator: Any, sides: Sides, **options: Any) -> Answer:
    from epsilometer.estimators.answering import answers

    (answer,) = answers(estimator, sides, **{"order": math.inf, **options})
    return answer


def _dpl(draws: _Draws, claim: Claim, _: float) -> _Answer:
    _check_pure(claim)
    fresh = draws.outputs[1]
    n = len(fresh[0])
    return _Answer(_only_answer(_local_loss(n), fresh).both, n)


def _mpl(draws: _Draws, claim: Claim, _: float) -> _Answer:
    from epsilometer.estimators.local_loss import MaximumPrivacyLoss

    _check_pure(claim)
    draws.check()
    past, fresh = draws.outputs
    method, screen = MaximumPrivacyLoss("", draws.alpha), _local_loss(len(past[0]))
    bound = max(_only_answer(method, past, screen=screen, fresh=lambda _: fresh).both, 0.0)
    return _Answer(bound, len(fresh[0]), bound)


def _exact(draws: _Draws, claim: Claim, _: float) -> _Answer:
    if not isinstance(claim, EventClaim):
        raise ArgumentError("method", f"is for events, which do not bound {claim.text()}")
    draws.check()
    n = len(draws.fresh[0])
    _, bets = fixed.choose([draws.past], claim, n, draws.alpha)
    bound = fixed.largest_bound(fixed.count(bets, draws.fresh), claim, draws.alpha)[0]
    return _Answer(bound, n, bound, reason="" if bets else "no event differs in the past")


def _spectrum(draws: _Draws, claim: Claim, _: float) -> _Answer:
    from epsilometer.estimators.spectrum import Spectrum

    if not isinstance(claim, Pure):
        raise ArgumentError("method", f"needs an epsilon, and {claim.text()} has none")
    classifier = "counting" if draws.whole else "nearest_neighbours"
    spectrum = Spectrum(classifier, claims=[claim.epsilon])
    spectrum.check(draws.kind, math.inf)
    rng = np.random.default_rng(draws.seed)
    fresh = draws.outputs[1]
    answer = _only_answer(spectrum, fresh, rng=rng)
    ends = [side.interval("clopper-pearson", draws.alpha / 2, rng) for side in answer.tested]
    low, high = (max(float(end[i][0]) for end in ends) for i in (0, 1))
    reason = "the interval is for the delta of the classifier, which is at most the true delta"
    return _Answer(answer.both, len(fresh[0]), low, high, reason)


def _renyi(draws: _Draws, claim: Claim, order: float) -> _Answer:
    from epsilometer.estimators.renyi_bound import LargestRenyiBound

    if math.isinf(order):
        raise ArgumentError("method", f"is for finite orders, and {claim.text()} names none")
    method = LargestRenyiBound(draws_at_floor=_AT_FLOOR, alpha=draws.alpha)
    method.check(draws.kind, order)
    fresh = draws.outcomes[1] if draws.whole else draws.fresh
    answer = _only_answer(method, fresh, order=order)
    bound = max(answer.both, 0.0)
    reason = "" if answer.trusted() else "too few draws for its approximations"
    return _Answer(bound, len(fresh[0]), bound, reason=reason)


def _histogram(draws: _Draws, claim: Claim, order: float) -> _Answer:
    from epsilometer.estimators.base import Claims
    from epsilometer.estimators.histogram import HistogramEstimator

    if math.isinf(order):
        _check_pure(claim)
    if draws.number is None:
        raise ArgumentError("method", "needs the declared number of outcomes")
    fresh, claims = draws.outcomes[1], Claims(outcomes=draws.number)
    answer = _only_answer(HistogramEstimator(gamma=1.0), fresh, order=order, claims=claims)
    if math.isnan(answer.both):
        raise ArgumentError("method", "fails: some outcome was not drawn on a side")
    return _Answer(answer.both, len(fresh[0]))


_METHODS: dict[str, tuple[str, Kind, Callable[[_Draws, Claim, float], _Answer]]] = {
    "local loss (DPL)": ("askin2022, Algorithm 3", "estimate", _dpl),
    "MPL": ("askin2022, Algorithm 4", "asymptotic bound", _mpl),
    "exact bound (Berger-Boos)": ("Berger and Boos 1994", "finite-sample bound", _exact),
    "counting spectrum": ("lu2022, Figure 1", "interval", _spectrum),
    "kNN spectrum": ("lu2022, Figure 1", "interval", _spectrum),
    "Rényi bound": ("kutta2022, (16) without its bias", "asymptotic bound", _renyi),
    "histogram": ("gorla2022", "estimate", _histogram),
}
