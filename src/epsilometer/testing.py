"""Contract tests for packages that add to epsilometer (docs/extending.md).

Each function raises `AssertionError` for the first promise of a protocol that an object breaks.
Random checks have fixed seeds, and are wrong about a correct object in less than one of 10,000.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from typing import Any

import numpy as np
from scipy import stats

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import Answer, answers
from epsilometer.estimators.base import Claims
from epsilometer.exact import EXACT
from epsilometer.exact.base import Distribution, divergence, spectrum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of

__all__ = [
    "Case",
    "check_classifier",
    "check_estimator",
    "check_exact",
    "check_mechanism",
    "check_registered",
]

_REGISTRIES = dict(
    zip(
        [f"epsilometer.{group}" for group in ("mechanisms", "exact", "estimators", "classifiers")],
        (MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS),
        strict=True,
    )
)
_REPORTS = "epsilometer.reports"
_ORDERS = (1.01, 2.0, 10.0, math.inf)
_RARE = 1e-5  # probability of a false alarm
_BEYOND = 0.02  # how much more often than alpha a bound for large n may be above, at the n of cases


@dataclass(frozen=True)
class Case:
    """A pair of inputs of a mechanism whose distribution is known, for estimators."""

    mechanism: Mechanism
    exact: Distribution
    x: Any
    x_prime: Any
    claims: Claims = dataclasses.field(default_factory=Claims)


def check_registered(package: str) -> None:
    """Check that everything that an installed package registers can be imported by its name."""
    points = [p for p in distribution(package).entry_points if p.group.startswith("epsilometer.")]
    assert points, f"{package} has no entry points epsilometer.*"
    for point in points:
        assert point.group in (*_REGISTRIES, _REPORTS), f"unknown group {point.group}"
        loaded = point.load()
        if point.group != _REPORTS:
            assert _REGISTRIES[point.group].load(point.name) is loaded, f"{point.name} is another's"
        if point.group == "epsilometer.exact":
            assert point.name in MECHANISMS, f"{point.name} is not the name of a mechanism"


def check_mechanism(
    mechanism: Mechanism, inputs: Sequence[Any], outside: Iterable[Any] = ()
) -> None:
    """Check a mechanism: its epsilon, its domain, and the type and independence of its draws."""
    assert dataclasses.is_dataclass(mechanism), "must be a dataclass"
    assert dataclasses.fields(mechanism)[0].name == "epsilon", "epsilon must be its first field"
    assert mechanism.outputs in OUTPUT_KINDS, f"outputs must be one of {list(OUTPUT_KINDS)}"
    kind, d = OUTPUT_KINDS[mechanism.outputs], dimension_of(mechanism)
    for epsilon in (0, -1.0, math.nan, "1"):
        _refuses(f"epsilon = {epsilon!r}", dataclasses.replace, mechanism, epsilon=epsilon)
    for x in outside:
        _refuses(f"input {x!r}", mechanism.check_input, x)
    for x in inputs:
        mechanism.check_input(x)
        states = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002
        for size in (1, 7, 2000):
            first, again, other = (_drawn(mechanism, x, size, seed) for seed in (0, 0, 1))
            assert first.shape == ((size,) if d is None else (size, d)), f"shape {first.shape}"
            assert np.issubdtype(first.dtype, np.floating if kind.real else np.integer), first.dtype
            assert kind.missing or np.isfinite(first).all(), "outputs must be finite"
            assert np.array_equal(first, again, equal_nan=kind.real), "draws differ for one seed"
        if len(np.unique(first, axis=0)) > 1:
            assert not np.array_equal(first, other), "draws do not depend on the generator"
        after = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002
        assert states == after, "a global generator was used"


def check_exact(exact: Distribution, mechanism: Mechanism, inputs: Sequence[Any]) -> None:
    """Check an exact distribution: its levels, its spectrum, and the mechanism's draws."""
    pairs = [(x, y) for i, x in enumerate(inputs) for j, y in enumerate(inputs) if i != j]
    for order in (1, 0.5, math.nan):
        _refuses(f"order {order}", exact.renyi, order, *pairs[0])
    for x in inputs:
        for order in _ORDERS:
            level = divergence(exact, order, x, x)
            assert abs(level) < 1e-9, f"level {level} of equal inputs {x!r}"
        _check_draws(exact, mechanism, x)
    for x, y in pairs:
        levels = [divergence(exact, order, x, y) for order in _ORDERS]
        assert levels == sorted(levels), f"levels {levels} do not rise with the order"
        if hasattr(exact, "spectrum"):
            claims = [0.0, 0.3, 1.0, min(levels[-1], 500.0)]
            deltas = spectrum(exact, sorted(claims), x, y)
            assert (np.diff(deltas) <= 1e-12).all(), f"deltas {deltas} rise"
            same = np.isclose(deltas[0], spectrum(exact, [0.0], y, x)[0], rtol=0, atol=1e-9)
            assert same, "delta at epsilon = 0 differs between the directions"
            end = spectrum(exact, [levels[-1]], x, y)[0] if math.isfinite(levels[-1]) else 0.0
            assert abs(end) < 1e-9, f"delta {end} at the pure level"


def _check_draws(exact: Any, mechanism: Mechanism, x: Any, n: int = 20_000) -> None:
    drawn = _drawn(mechanism, x, n, seed=2)
    if mechanism.outputs == "scalar":
        p = float(stats.kstest(drawn, lambda z: exact.cdf(z, x)).pvalue)
    elif mechanism.outputs == "index":
        probabilities = np.asarray(exact.probabilities(x))
        assert abs(probabilities.sum() - 1) < 1e-9, "probabilities do not sum to 1"
        counts = np.bincount(drawn, minlength=probabilities.size)
        possible = probabilities > 0
        assert not counts[~possible].any(), f"impossible outputs at {x!r}"
        p = float(stats.chisquare(counts[possible], n * probabilities[possible]).pvalue)
        p = p if possible.sum() > 1 else 1.0
    else:  # no general distribution function
        return
    assert p > _RARE, f"draws at {x!r} do not follow the distribution (p = {p:.1g})"


def check_estimator(
    estimator: Any,
    cases: Iterable[Case] | None = None,
    *,
    screen: Any = None,
    draws: int = 2000,
    runs: int = 60,
) -> None:
    """Check an estimator of a level: its attributes, and its guarantee on cases with known levels.

    ``screen`` is the method that selects a pair, for an estimator that reads evidence. Cases that
    it refuses are left out; without ``cases`` they are Laplace noise and randomised response.
    """
    kinds = ("histograms", "densities", "losses", "evidence")
    assert estimator.reads in kinds, f"reads must be one of {kinds}, or test its classifier"
    assert isinstance(estimator.symmetric, bool)
    assert estimator.guarantee in ("finite-sample", "asymptotic", "none"), estimator.guarantee
    assert estimator.precision is None or estimator.precision > 0
    alpha = getattr(estimator, "alpha", 0.05)
    limit = alpha + (_BEYOND if estimator.guarantee == "asymptotic" else 0.0)
    tried = 0
    for case in _cases() if cases is None else cases:
        for order in (math.inf, 2.0):
            try:
                estimator.check(case.mechanism.outputs, order)
                found = [_answer(estimator, case, order, draws, screen, r) for r in range(runs)]
            except ArgumentError:
                continue
            tried += 1
            ways = ((case.x, case.x_prime), (case.x_prime, case.x))
            truths = [divergence(case.exact, order, *way) for way in ways]
            truths = [max(truths)] * 2 if estimator.symmetric else truths
            for truth, name in zip(truths, ("forward", "reverse"), strict=True):
                values = np.array([getattr(answer, name) for answer in found], float).ravel()
                above = int((values > truth * (1 + 1e-9) + 1e-12).sum())
                if estimator.guarantee != "none":
                    chance = stats.binom.sf(above - 1, runs, limit)
                    text = f"{above} of {runs} bounds are above the level {truth:.4g}: {case}"
                    assert chance > _RARE, text
    assert tried, "the estimator refuses every case; give cases"


def _answer(estimator: Any, case: Case, order: float, draws: int, screen: Any, run: int) -> Answer:
    rng = np.random.default_rng(run)

    def sides(_: object = None) -> list[Any]:
        return [case.mechanism.sample(x, draws, rng) for x in (case.x, case.x_prime)]

    options: dict[str, Any] = {"order": order, "claims": case.claims, "screen": screen}
    (answer,) = answers(estimator, sides(), draws=draws, fresh=sides, rng=rng, **options)
    return answer


def _cases() -> list[Case]:
    laplace, response = MECHANISMS.load("laplace")(0.7), MECHANISMS.load("randomized_response")(0.7)
    interval = MECHANISMS.load("truncated_laplace")(0.7)
    laws = [
        (laplace, "laplace", (0.0, 1.0), Claims()),
        (interval, "truncated_laplace", (0.0, 1.0), Claims(support=(0.0, 1.0), lipschitz=1.0)),
        (response, "randomized_response", (0, 1), Claims(outcomes=response.outcomes)),
    ]
    return [
        Case(mechanism, EXACT.load(name)(mechanism), x, y, claims)
        for mechanism, name, (x, other), claims in laws
        for y in (other, x)
    ]


def check_classifier(classifier: Any, draws: int = 2000) -> None:
    """Check a classifier: the votes for each output, for one seed, and far apart distributions."""
    rng = np.random.default_rng(0)
    samples = {
        "scalar": [rng.normal(x, 1.0, (2, draws)) for x in (0.0, 3.0)],
        "index": [rng.binomial(9, p, (2, draws)).astype(np.int32) for p in (0.2, 0.8)],
    }
    tried = 0
    for outputs, (x, x_prime) in samples.items():
        try:
            classifier.check(outputs)
        except ArgumentError:
            continue
        tried += 1
        fitted = [classifier.fit(x[0], x_prime[0], 2 * draws, 0) for _ in range(2)]
        for side, sign in ((x[1], -1), (x_prime[1], 1)):
            votes, again = (fit.votes(side) for fit in fitted)
            assert votes.counts.sum() == draws, "counts must sum to the number of outputs"
            assert not np.isnan(votes.log_odds).any(), "log odds must be numbers"
            assert np.array_equal(votes.log_odds, again.log_odds), "votes differ for one seed"
            right = votes.counts[sign * votes.log_odds > 0].sum() / draws
            assert right > 0.75, f"only {right:.0%} of {outputs} outputs are classified right"
    assert tried, "the classifier refuses scalar and index outputs"


def _drawn(mechanism: Mechanism, x: Any, size: int, seed: int) -> Any:
    return np.asarray(mechanism.sample(x, size, np.random.default_rng(seed)))


def _refuses(what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    try:
        function(*arguments, **named)
    except ArgumentError:
        return
    raise AssertionError(f"{what} must raise ArgumentError")
