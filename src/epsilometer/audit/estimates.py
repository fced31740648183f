"""What the methods of the papers say about the draws of an audit, beside its verdict.

Each answer says what it is: an estimate, which promises nothing; a bound that holds for large
samples, or for every sample; an interval. A method that needs an event or output to be chosen
chooses it on the past and confirms it on fresh draws; whatever needs one sample gets fresh draws.

Densities are in one over the unit of outputs, and so is the floor below which none is believed
(askin2022); outputs are put in the unit of their own spread first. Whole numbers, and rows of them,
are outcomes: nothing counts but which are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit import fixed
from epsilometer.audit.claims import AnyClaim, Claim, EventClaim, Pure, parts
from epsilometer.errors import ArgumentError, one_line
from epsilometer.estimators.events import row_codes

if TYPE_CHECKING:
    from epsilometer.estimators.local_loss import LocalLoss

Sample = NDArray[Any]
Pair = tuple[Sample, Sample]
Kind = Literal["estimate", "asymptotic bound", "finite-sample bound", "interval", "does not apply"]

_MOST = 100_000  # draws of a side
_NUMBERS = 200_000  # numbers of a side, where outputs are vectors,
_LEAST = 2000  # and draws that there are in any case
_KERNELS = 10_000  # draws of vectors that have kernels
_FLOOR = 1e-3  # askin2022's tau, for outputs in the unit of their spread;
_SEEN = 10.0  # of few draws, where so many fall on an outcome;
_FEW = 100  # draws, below which there is nothing to see
_AT_FLOOR = 50.0  # draws on an outcome of kutta2022's tau
_IQR = 1.349  # of a normal law, in standard deviations


@dataclass(frozen=True)
class Estimate:
    """What one method says.

    Parameters
    ----------
    method, paper
        Its name, and where it is from.
    kind
        What it is, or that the method does not apply.
    quantity
        Of what: a level in nats, a delta or mu.
    value
        The estimate, or the bound itself.
    low, high
        The ends of the interval; of a lower bound the first is the bound.
    reason
        Why the method does not apply, or what to know of the value.
    """

    method: str
    paper: str
    kind: Kind
    quantity: str
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold; numbers that are not finite are None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def estimates(
    past: Pair,
    fresh: Pair,
    claim: AnyClaim,
    *,
    alpha: float,
    seed: int,
    outcomes: int | None = None,
) -> list[Estimate]:
    """Ask every method that there is.

    Parameters
    ----------
    past, fresh
        Draws of both sides, encoded, of shape ``(n,)`` or ``(n, d)``; what is chosen on the first
        is confirmed on the others. At most 100,000 a side are used, fewer of vectors.
    claim
        What is claimed, and so what is asked for.
    alpha
        How likely a bound may be to lie above the truth.
    seed
        Of methods that draw.
    outcomes
        How many outcomes there are, if the provider says so.

    >>> rng = np.random.default_rng(4)
    >>> def laplace(): return rng.laplace(0, 1, 20_000), rng.laplace(0.7, 1, 20_000)
    >>> from epsilometer.audit.claims import pure
    >>> for found in estimates(laplace(), laplace(), pure(0.5), alpha=0.05, seed=1):
    ...     print(found.method, found.kind, found.value and round(found.value, 1))
    local loss (DPL) estimate 0.8
    MPL asymptotic bound 0.5
    exact bound (Berger-Boos) finite-sample bound 0.7
    kNN spectrum interval 0.1
    Rényi bound does not apply None
    histogram does not apply None
    """
    draws = _Draws(past, fresh, alpha, seed)
    return [_answer(draws, method) for method in _methods(draws, claim, outcomes)]


# --- the draws, as the methods want them ----------------------------------------------------------


class _Draws:
    """Draws of both stages, cut, and in the forms that methods ask for."""

    def __init__(self, past: Pair, fresh: Pair, alpha: float, seed: int) -> None:
        self.alpha, self.seed = alpha, seed
        self.given = min(len(side) for side in fresh)
        entries = 1 if fresh[0].ndim == 1 else max(fresh[0].shape[1], 1)
        most = _MOST if entries == 1 else max(_NUMBERS // entries, _LEAST)
        self.past, self.fresh = _cut(past, most), _cut(fresh, most)
        self.whole = bool(np.issubdtype(fresh[0].dtype, np.integer))
        names = ("index", "tuple") if self.whole else ("scalar", "vector")
        self.kind = names[fresh[0].ndim - 1]

    def check(self) -> None:
        """Raise `ArgumentError` where draws chose what they are to confirm, or are too few."""
        sides = [*self.past, *self.fresh]
        if min(len(side) for side in sides) < 2:
            raise ArgumentError("draws", "are too few")
        stages = zip(self.past, self.fresh, strict=True)
        same = all(np.array_equal(a, b, equal_nan=not self.whole) for a, b in stages)
        if same and any((side != side[0]).any() for side in sides):
            raise ArgumentError("draws", "that confirm must be others than those that choose")

    @cached_property
    def outcomes(self) -> tuple[Pair, Pair]:
        """Numbers from 0 of the different outputs, past and fresh, of shape ``(n,)``."""
        sides = [*self.past, *self.fresh]
        together = np.concatenate(sides)
        codes = row_codes(together) if together.ndim > 1 else together
        codes = np.unique(codes, return_inverse=True)[1].ravel()
        a, b, c, d = np.split(codes, np.cumsum([len(side) for side in sides])[:-1])
        return (a, b), (c, d)

    @cached_property
    def outputs(self) -> tuple[Pair, Pair]:
        """Outcomes where outputs are whole, else outputs in the unit of their spread."""
        if self.whole:
            return self.outcomes
        most = _MOST if self.kind == "scalar" else _KERNELS
        past, fresh = _cut(self.past, most), _cut(self.fresh, most)
        if not all(np.isfinite(side).all() for side in (*past, *fresh)):
            raise ArgumentError("outputs", "must all be finite numbers")
        low, high = np.quantile(np.concatenate(past), [0.25, 0.75], axis=0)
        unit = np.where(high > low, (high - low) / _IQR, 1.0)
        (a, b), (c, d) = (((x - low) / unit, (y - low) / unit) for x, y in (past, fresh))
        return (a, b), (c, d)


def _cut(pair: Pair, most: int) -> Pair:
    """Return equally many draws of both sides."""
    n = min(most, *(len(side) for side in pair))
    return pair[0][:n], pair[1][:n]


# --- the methods ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answer:
    """What a method said, of so many draws a side."""

    value: float
    draws: int
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class _Method:
    name: str
    paper: str
    kind: Kind
    quantity: str
    ask: Callable[[], _Answer]


def _answer(draws: _Draws, method: _Method) -> Estimate:
    named = method.name, method.paper
    try:
        found = method.ask()
    except ArgumentError as error:
        return Estimate(*named, "does not apply", method.quantity, None, reason=one_line(error))
    cut = f"of {found.draws} draws a side" if found.draws < draws.given else ""
    reason = "; ".join(part for part in (found.reason, cut) if part)
    return Estimate(
        *named, method.kind, method.quantity, found.value, found.low, found.high, reason
    )


def _methods(draws: _Draws, claim: AnyClaim, outcomes: int | None) -> Iterator[_Method]:
    """Yield all methods, each for every quantity that is claimed and that it knows of."""
    claims = parts(claim)
    first = claims[0]
    orders = [(part, order) for part in claims for order in part.orders or (math.inf,)]
    epsilon = delta = first.quantity
    if isinstance(first, Pure):
        epsilon = f"epsilon at delta = {first.delta:g}" if first.delta else "epsilon"
        delta = f"delta at epsilon = {first.epsilon:g}"
    yield _Method(
        "local loss (DPL)",
        "askin2022, Algorithm 3",
        "estimate",
        "epsilon",
        partial(_dpl, draws, first),
    )
    yield _Method(
        "MPL", "askin2022, Algorithm 4", "asymptotic bound", "epsilon", partial(_mpl, draws, first)
    )
    yield _Method(
        "exact bound (Berger-Boos)",
        "Berger and Boos 1994",
        "finite-sample bound",
        epsilon,
        partial(_exact, draws, first),
    )
    yield _Method(
        "counting spectrum" if draws.whole else "kNN spectrum",
        "lu2022, Figure 1",
        "interval",
        delta,
        partial(_spectrum, draws, first),
    )
    for part, order in orders:
        yield _Method(
            "Rényi bound",
            "kutta2022, (16) without its bias",
            "asymptotic bound",
            "renyi epsilon" if math.isinf(order) else f"renyi epsilon of order {order:g}",
            partial(_renyi, draws, part, order),
        )
    for part, order in orders[: None if outcomes else 1]:
        yield _Method(
            "histogram",
            "gorla2022, Algorithm 1" if math.isinf(order) else "gorla2022, Algorithm 3",
            "estimate",
            part.quantity if math.isinf(order) else f"renyi epsilon of order {order:g}",
            partial(_histogram, draws, part, order, outcomes),
        )


def _check_pure(claim: Claim) -> None:
    if not (isinstance(claim, Pure) and claim.delta == 0):
        raise ArgumentError("method", f"is for pure epsilon, not for {claim.words()}")


def _local_loss(n: int) -> LocalLoss:
    from epsilometer.estimators.local_loss import LocalLoss

    if n < _FEW:
        raise ArgumentError("draws", f"must be {_FEW} or more a side, got {n}")
    return LocalLoss(max(_FLOOR, _SEEN / n))


def _dpl(draws: _Draws, claim: Claim) -> _Answer:
    _check_pure(claim)
    fresh = draws.outputs[1]
    _, (loss,) = _local_loss(len(fresh[0])).screen([fresh], draws=1)
    return _Answer(loss.loss, len(fresh[0]))


def _mpl(draws: _Draws, claim: Claim) -> _Answer:
    from epsilometer.estimators.local_loss import MaximumPrivacyLoss

    _check_pure(claim)
    draws.check()
    past, fresh = draws.outputs
    n = len(fresh[0])
    method = _local_loss(len(past[0]))
    _, (chosen,) = method.screen([past], draws=n)
    assert chosen.found is not None  # there is one pair
    evidence = method.weigh(*fresh, chosen.found)
    bound = max(float(MaximumPrivacyLoss("", draws.alpha).bound(evidence)), 0.0)
    return _Answer(bound, n, bound)


def _exact(draws: _Draws, claim: Claim) -> _Answer:
    if not isinstance(claim, EventClaim):
        raise ArgumentError("method", f"is for events, which do not bound {claim.words()}")
    draws.check()
    n = len(draws.fresh[0])
    pair, bets = fixed.choose([draws.past], claim, n, draws.alpha)
    bound = fixed.count(pair, bets, draws.fresh).lower_bound(claim, draws.alpha)
    return _Answer(bound, n, bound, reason="" if bets else "no event differs in the past")


def _spectrum(draws: _Draws, claim: Claim) -> _Answer:
    from epsilometer.estimators.spectrum import Spectrum

    if not isinstance(claim, Pure):
        raise ArgumentError("method", f"needs an epsilon, which {claim.words()} has not")
    classifier = "counting" if draws.whole else "nearest_neighbours"
    spectrum = Spectrum(classifier, claims=[claim.epsilon])
    spectrum.check(draws.kind, math.inf)
    rng = np.random.default_rng(draws.seed)
    fresh = draws.outputs[1]
    found = spectrum.test(*fresh, rng)
    ends = [one.interval("clopper-pearson", draws.alpha / 2, rng) for one in found]
    delta = max(float(one.delta[0]) for one in found)
    low, high = (max(float(end[i][0]) for end in ends) for i in (0, 1))
    reason = "the interval is for what the classifier achieves, which is at most delta"
    return _Answer(delta, len(fresh[0]), low, high, reason)


def _renyi(draws: _Draws, claim: Claim, order: float) -> _Answer:
    from epsilometer.densities.pair import reduced
    from epsilometer.estimators.renyi_bound import LargestRenyiBound

    if math.isinf(order):
        raise ArgumentError("method", f"is for finite orders, and {claim.words()} names none")
    method = LargestRenyiBound(draws_at_floor=_AT_FLOOR, alpha=draws.alpha)
    method.check(draws.kind, order)
    fresh = draws.outcomes[1] if draws.whole else draws.fresh
    n = len(fresh[0])
    densities = reduced(*fresh, method.reduction)
    bound = max(*method.bounds(densities, order=order, n=n, pairs=1), 0.0)
    trusted = method.trusted(densities, order=order, n=n)
    return _Answer(bound, n, bound, reason="" if trusted else "too few draws for what it rests on")


def _histogram(draws: _Draws, claim: Claim, order: float, outcomes: int | None) -> _Answer:
    from epsilometer.densities.histogram import finite_histogram
    from epsilometer.estimators.histogram import histogram_estimate

    if math.isinf(order):
        _check_pure(claim)
    if outcomes is None:
        raise ArgumentError("method", "needs the provider's word on how many outcomes there are")
    fresh = draws.outcomes[1]
    counts = [finite_histogram(side.astype(np.int32), outcomes)[0] for side in fresh]
    found = histogram_estimate(*counts, order=order)
    if found.failed:
        raise ArgumentError("method", "fails: some outcome was not drawn on a side")
    return _Answer(float(found.both), len(fresh[0]))
