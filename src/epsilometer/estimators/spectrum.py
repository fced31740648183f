"""The privacy spectrum of a pair of inputs, delta at every epsilon, from classifiers (lu2022).

delta(e) = max over S of P(M(x) in S) - exp(e) P(M(x') in S), floored at 0: the hockey-stick
divergence of x from x'. By Theorem 4 it is 1 - 2 exp(e) R, with R the Bayes risk of separating x,
whose outputs are replaced by a null value with probability 1 - exp(-e) (label 0), from x' (label
1).

A classifier is trained on half of the draws of both sides, with equally many of either label, and
tested on the others, where both labels have the same weight: the fair coin of Definition 12 at its
expectation. The coin that
replaces outputs by the null value is ``drawn``, with a training for every e and direction as in
Figure 1 of the paper; or it is ``expected``: outputs of x count exp(-e) in training and in testing,
so one classifier serves the whole curve and both directions, with less variance. The null value is
always classified right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.checks import Flag, Fractional
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.classifiers.base import Classifier
from epsilometer.errors import ArgumentError, UnknownNameError, suggest
from epsilometer.estimators.base import Estimator, Guarantee, check_pure
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.proportions import clopper_pearson

_FINE = {"from": 0.0, "to": 3.0, "by": 0.01}
_RESAMPLES = 2000
_MOST_CLAIMS = 100_000
_SEEDS = 2**31
_LARGEST = 500  # largest claim: its exponential is far from overflow


@dataclass(frozen=True)
class Tested:
    """The errors of a classifier on the test draws of one direction, at each claim.

    All arrays have shape ``(m,)``: ``claims`` e in nats; ``wrong`` of the ``tested`` outputs of x
    are classified as those of x', and ``wrong_prime`` of ``tested_prime`` the other way. With a
    drawn coin ``tested`` includes null values and ``weight`` is 1; with an expected one ``weight``
    is exp(-e), the chance that an output of x is kept.
    """

    claims: Floats
    wrong: Counts
    tested: Counts
    wrong_prime: Counts
    tested_prime: Counts
    weight: Floats

    @property
    def risk(self) -> Floats:
        """r, the share of test points classified wrong (Figure 1, step 4), ``(m,)``."""
        wrong = self.weight * self.wrong / self.tested + self.wrong_prime / self.tested_prime
        return np.asarray(wrong / 2)

    @property
    def delta(self) -> Floats:
        """The estimate 1 - 2 exp(e) r, at least 0 (Figure 1, step 5), ``(m,)``."""
        return _clipped(1 - 2 * np.exp(self.claims) * self.risk)

    def interval(self, kind: str, alpha: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return ends ``(m,)`` of an interval for the classifier's delta, at each claim by itself.

        It is at most the delta of the pair: the lower end is a lower bound for that, the upper end
        bounds the classifier only. ``clopper-pearson`` bounds both error rates at alpha / 2 each
        and holds at every n: the chance that the lower end is above delta is at most alpha / 2.
        ``bootstrap`` resamples the test points without a
        promise: without errors its interval is [1, 1], and where the sides' outputs are almost
        disjoint its lower end is often above delta.
        """
        scale = np.exp(self.claims)
        if kind == "bootstrap":
            size = (_RESAMPLES, self.claims.size)
            errors = rng.binomial(self.tested, self.wrong / self.tested, size) / self.tested
            rate_prime = self.wrong_prime / self.tested_prime
            errors_prime = rng.binomial(self.tested_prime, rate_prime, size) / self.tested_prime
            resampled = 1 - scale * (self.weight * errors + errors_prime)
            low, high = np.quantile(resampled, [alpha / 2, 1 - alpha / 2], axis=0)
            return _clipped(low), _clipped(high)
        low, high = clopper_pearson(self.wrong, self.tested, 1 - alpha / 2)
        low_prime, high_prime = clopper_pearson(self.wrong_prime, self.tested_prime, 1 - alpha / 2)
        return (
            _clipped(1 - scale * (self.weight * high + high_prime)),
            _clipped(1 - scale * (self.weight * low + low_prime)),
        )

    def band(self, epsilons: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
        """Return the delta of the best event at each epsilon, and the ends of its band, ``(k,)``.

        The event of a claim is that an output is taken for one of x; P and P' are its probabilities
        on either side. The largest of the lines P - exp(epsilon) P' is convex in exp(epsilon),
        non-increasing, and at most the delta of the pair. All P and P' are in their intervals
        (Clopper and Pearson) with probability 1 - alpha, at every n: so the band encloses the curve
        at all epsilons together. The chance that its lower end is anywhere above the delta of the
        pair is alpha / 2 at most. The coin must be expected: a drawn one trains for each claim.
        """
        level = 1 - alpha / (2 * self.claims.size)
        low, high = clopper_pearson(self.wrong, self.tested, level)
        low_prime, high_prime = clopper_pearson(self.wrong_prime, self.tested_prime, level)
        scale = np.exp(epsilons)[:, None]

        def largest(wrong: Floats, wrong_prime: Floats) -> Floats:
            return _clipped((1 - wrong - scale * wrong_prime).max(axis=1))

        deltas = largest(self.wrong / self.tested, self.wrong_prime / self.tested_prime)
        return deltas, largest(high, high_prime), largest(low, low_prime)


def epsilon_at(delta: float, claims: ArrayLike, deltas: ArrayLike) -> float:
    """Return the smallest claim at which a curve is at most delta: the curve, inverted.

    The curve is linear between claims, and its running minimum, as estimates may rise by noise.
    Return infinity if no claim is large enough. Claims, in nats, and deltas have shape ``(m,)``;
    raise `ArgumentError` unless claims rise and ``delta`` lies in [0, 1].
    """
    if not 0 <= checks.real("delta", delta) <= 1:
        raise ArgumentError("delta", f"must lie in [0, 1], got {delta!r}")
    e = np.asarray(claims, float)
    d = np.minimum.accumulate(np.asarray(deltas, float))
    if e.shape != d.shape or e.ndim != 1 or e.size == 0 or (np.diff(e) <= 0).any():
        raise ArgumentError("claims", "must rise, with a delta for each")
    if np.isnan(d).any():
        return math.nan
    if d[-1] > delta:
        return math.inf
    i = int(np.argmax(d <= delta))
    if i == 0:
        return float(e[0])
    share = (d[i - 1] - delta) / (d[i - 1] - d[i])
    return float(e[i - 1] + share * (e[i] - e[i - 1]))


@dataclass(frozen=True)
class Spectrum(Estimator):
    """A_C^B (lu2022, Figure 1): the whole curve for each pair, in both directions.

    Parameters
    ----------
    classifier
        A registered classifier.
    options
        Its parameters.
    coin
        ``expected`` or ``drawn``, see the module.
    claims
        The epsilons at which delta is estimated, in nats: a rising list, or from, to and by.
    interval
        ``clopper-pearson`` or ``bootstrap``, see `Tested.interval`.
    alpha
        The interval's error probability, at each claim, pair and direction by itself.
    largest
        Return the largest of all pairs and directions at each claim, for databases from which each
        row is removed in turn (relative privacy, Figure 2), or for distributions (Figure 3).
        Intervals are at alpha over the number of these; their largest ends enclose the classifiers'
        largest delta, at each claim by itself, with the `guarantee`.

    A fair coin on x against one that always shows 0 on x': delta is .5 at every claim, and in the
    other direction 1 - e^epsilon / 2.

    >>> rng = np.random.default_rng(4)
    >>> spectrum = Spectrum("counting", claims=[0.0, 0.5, 1.0])
    >>> x, x_prime = rng.integers(2, size=20_000), np.zeros(20_000, np.int64)
    >>> forward, reverse = spectrum.test(x, x_prime, rng)
    >>> forward.delta.round(2), reverse.delta.round(2)
    (array([0.5, 0.5, 0.5]), array([0.5 , 0.18, 0.  ]))
    >>> low, high = forward.interval("clopper-pearson", 0.05, rng)
    >>> bool((low <= 0.5).all()), bool((high >= 0.5).all())
    (True, True)
    """

    reads = "verdicts"
    TRAINING: ClassVar[tuple[str, ...]] = ("classifier", "options", "coin", "claims")
    """The parameters that verdicts depend on; the others concern the estimate only."""

    classifier: str
    options: Mapping[str, Any] = field(default_factory=dict)
    coin: Literal["expected", "drawn"] = "expected"
    claims: Sequence[float] | Mapping[str, float] = field(default_factory=lambda: dict(_FINE))
    interval: Literal["clopper-pearson", "bootstrap"] = "clopper-pearson"
    alpha: Fractional = 0.05
    largest: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.classifier, str):
            raise ArgumentError("classifier", f"must be a name, got {self.classifier!r}")
        _ = self.grid, self.method

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether it answers for both directions at once."""
        return self.largest

    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        """The promise of intervals: their level at every n; the bootstrap has none."""
        return "none" if self.interval == "bootstrap" else "finite-sample"

    @cached_property
    def method(self) -> Classifier:
        """The classification algorithm; raise `ArgumentError` for unknown names and options."""
        try:
            cls = CLASSIFIERS.load(self.classifier)
        except UnknownNameError as error:
            raise ArgumentError("classifier", f"is an {error}") from None
        if not isinstance(self.options, Mapping):
            raise ArgumentError("options", f"must be a mapping, got {self.options!r}")
        known = [part.name for part in fields(cls)]
        for option in self.options:
            if option not in known:
                message = f"has unknown {option!r} of {self.classifier}{suggest(option, known)}"
                raise ArgumentError("options", message)
        classifier: Classifier = cls(**self.options)
        return classifier

    @cached_property
    def grid(self) -> Floats:
        """The claims, of shape ``(m,)``; raise `ArgumentError` unless they rise from 0 or more."""
        if isinstance(self.claims, Mapping):
            if set(self.claims) != {"from", "to", "by"}:
                raise ArgumentError("claims", "must be a list, or have from, to and by")
            low = checks.real("claims.from", self.claims["from"])
            high = self.claims["to"]
            by = checks.positive("claims.by", self.claims["by"])
            steps = math.floor((checks.real("claims.to", high) - low) / by + 1e-9)
            if steps > _MOST_CLAIMS:
                raise ArgumentError("claims", f"must be at most {_MOST_CLAIMS}, got {steps}")
            grid = np.round(low + by * np.arange(steps + 1), 12)
        elif isinstance(self.claims, Sequence) and not isinstance(self.claims, str):
            grid = np.array([checks.real("claims", claim) for claim in self.claims])
        else:
            message = f"must be a list, or have from, to and by, got {self.claims!r}"
            raise ArgumentError("claims", message)
        if grid.size == 0 or grid[0] < 0 or (np.diff(grid) <= 0).any():
            raise ArgumentError("claims", f"must rise from 0 or more, got {self.claims!r}")
        if grid[-1] > _LARGEST:
            raise ArgumentError("claims", f"must be at most {_LARGEST}, got {grid[-1]}")
        return grid

    def check(self, outputs: str, order: float) -> None:
        self.method.check(outputs)
        check_pure(order, "a spectrum ends at the pure level")

    @staticmethod
    def tested(verdicts: Mapping[str, Any]) -> Tested:
        """Return one direction of `test` from its columns."""
        return Tested(**{name: np.asarray(verdicts[name]) for name in Tested.__dataclass_fields__})

    def test(self, x: Sample, x_prime: Sample, rng: np.random.Generator) -> tuple[Tested, Tested]:
        """Train and test on samples of both sides, and return both directions (Figure 1).

        Samples have shape ``(n,)`` or ``(n, d)``. Half of the smaller side, and as many draws of
        the other, train: votes count both sides alike. All others test. Raise `ArgumentError` where
        a side has fewer than 2 draws.
        """
        half = min(len(x), len(x_prime)) // 2
        if half < 1:
            raise ArgumentError("n", "must be at least 2, a draw to train on and one to test")
        halves = [(side[:half], side[half:]) for side in (x, x_prime)]
        if self.coin == "expected":
            return self._expected(halves, rng)
        return self._drawn(halves, rng), self._drawn(halves[::-1], rng)

    def _expected(
        self, halves: list[tuple[Sample, Sample]], rng: np.random.Generator
    ) -> tuple[Tested, Tested]:
        (train, test), (train_prime, test_prime) = halves
        seed = int(rng.integers(_SEEDS))
        fitted = self.method.fit(train, train_prime, len(train) + len(train_prime), seed)
        votes = fitted.votes(test)
        votes_prime = fitted.votes(test_prime)
        grid = self.grid
        weight = np.exp(-self.grid)
        n = np.full(grid.size, len(test))
        m = np.full(grid.size, len(test_prime))
        above = votes.above(-grid)
        above_prime = votes_prime.above(-grid)
        below = votes.below(grid)
        below_prime = votes_prime.below(grid)
        return (
            Tested(grid, above, n, m - above_prime, m, weight),
            Tested(grid, below_prime, m, n - below, n, weight),
        )

    def _drawn(self, halves: list[tuple[Sample, Sample]], rng: np.random.Generator) -> Tested:
        (train, test), (train_prime, test_prime) = halves
        wrong, wrong_prime = np.zeros((2, self.grid.size), np.int64)
        even = np.zeros(1)
        for i, claim in enumerate(self.grid):
            kept = train[rng.random(len(train)) < math.exp(-claim)]
            tested = test[rng.random(len(test)) < math.exp(-claim)]
            seed = int(rng.integers(_SEEDS))
            if not len(kept):  # only null values: all others are from x'
                wrong[i] = len(tested)
                continue
            fitted = self.method.fit(kept, train_prime, len(train) + len(train_prime), seed)
            wrong[i] = fitted.votes(tested).above(even)[0] if len(tested) else 0
            wrong_prime[i] = len(test_prime) - fitted.votes(test_prime).above(even)[0]
        n = np.full(self.grid.size, len(test))
        m = np.full(self.grid.size, len(test_prime))
        return Tested(self.grid, wrong, n, wrong_prime, m, np.ones(self.grid.size))


def _clipped(values: ArrayLike) -> Floats:
    """Return deltas clipped to [0, 1]; rounding errors above 0 are 0."""
    deltas = np.asarray(values, np.float64)
    return np.where(deltas < 1e-12, 0.0, np.minimum(deltas, 1.0))
