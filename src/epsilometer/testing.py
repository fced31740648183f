"""Contract tests for packages that add to epsilometer (docs/extending.md).

Each function raises `AssertionError` for the first promise of a protocol that an object breaks.
Random checks have fixed seeds, and are wrong about a correct object in less than one of 10,000.
"""

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import distribution
from typing import Any

import numpy as np
from scipy import stats

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims
from epsilometer.exact import EXACT
from epsilometer.exact.base import Distribution, divergence, spectrum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of

_REGISTRIES = {r.group: r for r in (MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS)}
_ORDERS = (1.01, 2.0, 10.0, math.inf)
_RARE = 1e-5  # probability of a false alarm
_BEYOND = 0.02  # how much more often than alpha a bound for large n may be above, at the n of cases


@dataclasses.dataclass(frozen=True)
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
        assert point.group in (*_REGISTRIES, "epsilometer.reports"), f"unknown group {point.group}"
        loaded, registry = point.load(), _REGISTRIES.get(point.group)
        assert registry is None or registry.load(point.name) is loaded, point.name
        assert registry is not EXACT or point.name in MECHANISMS, f"{point.name} is no mechanism"


def check_mechanism(
    mechanism: Mechanism, inputs: Sequence[Any], outside: Iterable[Any] = ()
) -> None:
    """Check a mechanism: its epsilon, its domain, and the type and randomness of its draws."""
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
        states = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        for size in (1, 7, 2000):
            first, again, other = (_drawn(mechanism, x, size, seed) for seed in (0, 0, 1))
            assert first.shape == ((size,) if d is None else (size, d)), f"shape {first.shape}"
            assert np.issubdtype(first.dtype, np.floating if kind.real else np.integer), first.dtype
            assert kind.missing or np.isfinite(first).all(), "outputs must be finite"
            assert np.array_equal(first, again, equal_nan=kind.real), "draws differ for one seed"
        constant = len(np.unique(first, axis=0)) == 1
        assert constant or (first != other).any(), "draws do not depend on the generator"
        after = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        assert states == after, "a global generator was used"


def check_exact(exact: Distribution, mechanism: Mechanism, inputs: Sequence[Any]) -> None:
    """Check an exact distribution: its levels, its spectrum, and the mechanism's draws."""
    pairs = [(x, y) for i, x in enumerate(inputs) for j, y in enumerate(inputs) if i != j]
    for order in (1, 0.5, math.nan):
        _refuses(f"order {order}", exact.renyi, order, *pairs[0])
    for x in inputs:
        level = max(abs(divergence(exact, order, x, x)) for order in _ORDERS)
        assert level < 1e-9, f"level {level} of equal inputs {x!r}"
        p = _p_value(exact, mechanism.outputs, x, _drawn(mechanism, x, 20_000, seed=2))
        assert p > _RARE, f"draws at {x!r} do not follow the distribution (p = {p:.1g})"
    for x, y in pairs:
        levels = [divergence(exact, order, x, y) for order in _ORDERS]
        assert levels == sorted(levels), f"levels {levels} do not rise with the order"
        if hasattr(exact, "spectrum"):
            first, *_, last = deltas = spectrum(exact, [0, 0.1, 1, max(levels[-1], 1)], x, y)
            assert (np.diff(deltas) <= 1e-12).all(), f"deltas {deltas} rise"
            assert math.isinf(levels[-1]) or abs(last) < 1e-9, f"delta {last} at the pure level"
            differs = abs(first - spectrum(exact, [0], y, x)[0]) > 1e-9
            assert not differs, "delta at epsilon = 0 differs between the directions"


def _p_value(exact: Any, outputs: str, x: Any, drawn: Any) -> float:
    """Return the p-value of draws; 1 for outputs without a distribution function."""
    if outputs == "scalar":
        return float(stats.kstest(drawn, lambda z: exact.cdf(z, x)).pvalue)
    if outputs != "index":
        return 1.0
    probabilities = np.asarray(exact.probabilities(x))
    assert abs(probabilities.sum() - 1) < 1e-9, "probabilities do not sum to 1"
    counts, possible = np.bincount(drawn, minlength=probabilities.size), probabilities > 0
    if counts[~possible].any() or possible.sum() == 1:
        return float(not counts[~possible].any())
    return float(stats.chisquare(counts[possible], drawn.size * probabilities[possible]).pvalue)


def check_estimator(
    estimator: Any, cases: Iterable[Case] = (), *, screen: Any = None, n: int = 2000, runs: int = 60
) -> None:
    """Check an estimator of a level: its attributes, and its guarantee where levels are known.

    ``screen`` is the method that selects a pair, for an estimator that reads evidence. Cases that
    it refuses are left out; without ``cases`` they are Laplace noise and randomised response.
    """
    kinds = ("histograms", "densities", "losses", "evidence", "samples")
    assert estimator.reads in kinds, f"reads must be one of {kinds}; else test its classifier"
    assert isinstance(estimator.symmetric, bool), "symmetric must be true or false"
    assert estimator.guarantee in ("finite-sample", "asymptotic", "none"), estimator.guarantee
    assert estimator.precision is None or estimator.precision > 0, "precision must be positive"
    limit = getattr(estimator, "alpha", 0.05) + _BEYOND * (estimator.guarantee == "asymptotic")
    tried = 0
    for case in cases or _cases():
        for order in (math.inf, 2.0):
            try:
                estimator.check(case.mechanism.outputs, order)
                produced = [_answer(estimator, case, order, n, screen, run) for run in range(runs)]
            except ArgumentError:
                continue
            tried += 1
            again = _answer(estimator, case, order, n, screen, 0)
            assert np.array_equal(again, produced[0], equal_nan=True), "answers differ for one seed"
            ways = ((case.x, case.x_prime), (case.x_prime, case.x))
            truths = [divergence(case.exact, order, *way) for way in ways]
            truths = [max(truths)] * 2 if estimator.symmetric else truths
            for truth, answer in zip(truths, np.transpose(produced), strict=True):
                above = int((answer > truth * (1 + 1e-9) + 1e-12).sum())
                rare = stats.binom.sf(above - 1, runs, limit) < _RARE
                text = f"{above} of {runs} bounds are above the level {truth:.4g} of {case}"
                assert estimator.guarantee == "none" or not rare, text
    assert tried, "the estimator refuses every case; give cases"


def _answer(
    estimator: Any, case: Case, order: float, n: int, screen: Any, run: int
) -> tuple[float, float]:
    rng = np.random.default_rng(run)

    def sides(_: object = None) -> list[Any]:
        return [case.mechanism.sample(x, n, rng) for x in (case.x, case.x_prime)]

    given: dict[str, Any] = {"order": order, "claims": case.claims, "screen": screen, "rng": rng}
    (answer,) = answers(estimator, sides(), fresh=sides, outputs=case.mechanism.outputs, **given)
    return float(answer.forward), float(answer.reverse)


def _cases() -> list[Case]:
    known = {
        "laplace": Claims(),
        "truncated_laplace": Claims(support=(0.0, 1.0), lipschitz=1.0),
        "randomized_response": Claims(outcomes=2),
    }
    made = {name: MECHANISMS.load(name)(0.7) for name in known}
    laws = {name: EXACT.load(name)(mechanism) for name, mechanism in made.items()}
    return [Case(made[name], laws[name], 0, y, known[name]) for name in known for y in (1, 0)]


def check_classifier(classifier: Any, n: int = 2000) -> None:
    """Check a classifier: its votes for each output, by seed, for distributions far apart."""
    rng, tried = np.random.default_rng(0), 0
    samples: dict[str, list[Any]] = {
        "scalar": [rng.normal(x, 1.0, (2, n)) for x in (0.0, 3.0)],
        "index": [rng.binomial(9, p, (2, n)).astype(np.int32) for p in (0.2, 0.8)],
    }
    for outputs, (x, x_prime) in samples.items():
        try:
            classifier.check(outputs)
        except ArgumentError:
            continue
        tried += 1
        fitted = [classifier.fit(x[0], x_prime[0], 2 * n, 0) for _ in range(2)]
        for side, sign in ((x[1], -1), (x_prime[1], 1)):
            votes, again = (fit.votes(side) for fit in fitted)
            assert votes.counts.sum() == n, "counts must sum to the number of outputs"
            assert np.array_equal(votes.log_odds, again.log_odds), "votes differ, or are NaN"
            right = votes.counts[sign * votes.log_odds > 0].sum() / n
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
