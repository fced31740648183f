"""Contract tests for packages that add to epsilometer (docs/extending.md).

Each function raises `AssertionError` for the first promise of a protocol that an object breaks.
Random checks have fixed seeds, and are wrong about a correct object in less than one of 10,000.
"""

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import distribution
from itertools import permutations
from typing import Any

import numpy as np
from scipy import special, stats

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims
from epsilometer.exact import EXACT, quadrature
from epsilometer.exact.base import Distribution, divergence, spectrum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of
from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.numerics.bisection import reached

_REGISTRIES = {r.group: r for r in (MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS)}
_ORDERS = (1.01, 2.0, 10.0, math.inf)
_RARE = 1e-5  # probability of a false alarm
_CLAIMS = (0.0, 0.1, 1.0)  # epsilons of compared deltas
_LOGITS = np.linspace(-28, 28, 113)  # of quantiles: to a chance of 1e-12, as far as cdf has digits
_PANEL = 0.01  # more than the mass of a node between two of these quantiles
_FARTHEST = 1e100  # output, beyond which there is nothing to integrate
_EXACT = 1e-6  # relative error of levels from probabilities
_GRID = 0.01  # the same from densities
_UNDERFLOW = -460.0  # log of masses, below which those of the other input may not be a number
_DEEPEST = 200.0  # nats: the levels of densities that do not underflow
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
        known = (*_REGISTRIES, "epsilometer.reports", "epsilometer.claims")
        assert point.group in known, f"unknown group {point.group}"
        loaded = point.load()
        registry = _REGISTRIES.get(point.group)
        assert registry is None or registry.load(point.name) is loaded, point.name
        assert registry is not EXACT or point.name in MECHANISMS, f"{point.name} is no mechanism"


def check_mechanism(
    mechanism: Mechanism, inputs: Sequence[Any], outside: Iterable[Any] = ()
) -> None:
    """Check a mechanism: its epsilon, its domain, and the type and randomness of its draws."""
    assert dataclasses.is_dataclass(mechanism), "must be a dataclass"
    assert dataclasses.fields(mechanism)[0].name == "epsilon", "epsilon must be its first field"
    assert mechanism.outputs in OUTPUT_KINDS, f"outputs must be one of {list(OUTPUT_KINDS)}"
    kind = OUTPUT_KINDS[mechanism.outputs]
    d = dimension_of(mechanism)
    for epsilon in (0, -1.0, math.nan, "1"):
        _refuses(f"epsilon = {epsilon!r}", dataclasses.replace, mechanism, epsilon=epsilon)
    for x in outside:
        _refuses(f"input {x!r}", mechanism.check_input, x)
    for x in inputs:
        mechanism.check_input(x)
        states = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        for size in (1, 7, 2000):
            first = _drawn(mechanism, x, size, 0)
            again = _drawn(mechanism, x, size, 0)
            other = _drawn(mechanism, x, size, 1)
            assert first.shape == ((size,) if d is None else (size, d)), f"shape {first.shape}"
            assert np.issubdtype(first.dtype, np.floating if kind.real else np.integer), first.dtype
            assert kind.missing or np.isfinite(first).all(), "outputs must be finite"
            assert np.array_equal(first, again, equal_nan=kind.real), "draws differ for one seed"
        constant = len(np.unique(first, axis=0)) == 1
        assert constant or (first != other).any(), "draws do not depend on the generator"
        after = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        assert states == after, "a global generator was used"


def check_exact(exact: Distribution, mechanism: Mechanism, inputs: Sequence[Any]) -> None:
    """Check an exact distribution: its levels, its spectrum, and the mechanism's draws.

    Levels and deltas are compared with those of the probabilities of outputs, of a quadrature of
    densities, or of the independent entries of a vector, whose distribution is ``exact.entry``.
    Other outputs of several numbers have no densities: then levels need only rise with the order.
    Levels above 200 nats are not compared. A finite loss of densities must be reached where that of
    x is above 1e-200: take an epsilon for which it is.
    """
    pairs = list(permutations(inputs, 2))
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
        _check_levels(exact, mechanism.outputs, x, y)
        if hasattr(exact, "spectrum"):
            deltas = spectrum(exact, [0, 0.1, 1, max(levels[-1], 1)], x, y)
            assert (np.diff(deltas) <= 1e-12).all(), f"deltas {deltas} rise"
            last = deltas[-1]
            assert math.isinf(levels[-1]) or abs(last) < 1e-9, f"delta {last} at the pure level"
            reverse = spectrum(exact, [0], y, x)[0]
            differs = abs(deltas[0] - reverse) > 1e-9
            assert not differs, "delta at epsilon = 0 differs between the directions"


def _check_levels(exact: Any, outputs: str, x: Any, y: Any) -> None:
    """Check levels and deltas of a pair by its densities or probabilities, if it has any."""
    if outputs == "scalar":
        _check_masses(exact, x, y, _at_nodes(exact, x, y))
    elif outputs == "index":
        p = np.asarray(exact.probabilities(x), float)
        q = np.asarray(exact.probabilities(y), float)
        size = max(p.size, q.size)
        p = np.pad(p, (0, size - p.size))
        q = np.pad(q, (0, size - q.size))
        _check_masses(exact, x, y, _Masses(_log(p), _log(q)))
    elif hasattr(exact, "entry"):
        _check_entries(exact, x, y)
    elif hasattr(exact, "compare"):
        pair = exact.compare(x, y)
        _check_masses(exact, x, y, _Masses(pair.log_p, pair.log_q))


@dataclasses.dataclass(frozen=True)
class _Masses:
    """Logarithms of the masses of the same outputs at both inputs, of shape ``(k,)``.

    Of real outputs they are those at the nodes of a quadrature, of which some are ``far`` out.
    """

    log_p: Floats
    log_q: Floats
    far: Bools | None = None


def _at_nodes(exact: Any, x: Any, y: Any) -> _Masses:
    """Return the masses of real outputs, whose density must add up to the distribution function."""
    ends = np.concatenate([_quantiles(exact, x), _quantiles(exact, y)])
    z, weights = quadrature.nodes(ends, float(np.ptp(ends)))

    def log_masses(side: Any) -> Floats:
        density = exact.log_pdf(z, side) if hasattr(exact, "log_pdf") else _log(exact.pdf(z, side))
        masses: Floats = density + np.log(weights)
        gap = float(np.abs(np.cumsum(np.exp(masses)) - exact.cdf(z, side)).max())
        assert gap < _PANEL, f"the density at {side!r} adds up to {gap:.2g} more or less than cdf"
        return masses

    return _Masses(log_masses(x), log_masses(y), (z < ends.min()) | (z > ends.max()))


def _quantiles(exact: Any, x: Any) -> Floats:
    """Return quantiles of both tails and between, by bisection of the distribution function."""
    chances = special.expit(_LOGITS)
    reach = 1.0
    while exact.cdf(-reach, x) > chances[0] or exact.cdf(reach, x) < chances[-1]:
        reach *= 2
        assert reach < _FARTHEST, f"cdf does not rise from 0 to 1 at {x!r}"
    most = np.full(chances.size, 2 * reach)
    return reached(lambda distance: exact.cdf(distance - reach, x), chances, most) - reach


def _check_masses(exact: Any, x: Any, y: Any, masses: _Masses) -> None:
    """Check levels and deltas of a pair by its masses."""
    likely = masses.log_p > _UNDERFLOW
    log_p = masses.log_p[likely]
    log_q = masses.log_q[likely]
    far = None if masses.far is None else masses.far[likely]
    precision = _EXACT if far is None else _GRID
    pair = f"from {x!r} to {y!r}"
    _check_loss(f"privacy_loss {pair}", exact.privacy_loss(x, y), log_p - log_q, far)
    totals = special.logsumexp(masses.log_p), special.logsumexp(masses.log_q)
    for order in _ORDERS[:-1]:
        claimed = exact.renyi(order, x, y)
        if max(order - 1, 1) * claimed < _DEEPEST or (math.isinf(claimed) and far is None):
            area = special.logsumexp(order * log_p + (1 - order) * log_q)
            area -= order * totals[0] + (1 - order) * totals[1]  # to first order, its own error
            _check_equal(f"renyi {pair} of order {order}", claimed, area / (order - 1), precision)
    if hasattr(exact, "spectrum"):
        for claim, delta in zip(_CLAIMS, spectrum(exact, _CLAIMS, x, y), strict=True):
            excess = np.maximum(np.exp(log_p) - np.exp(claim + log_q), 0.0).sum()
            assert abs(delta - excess) < precision / 10, f"spectrum {pair} at {claim} is {delta}"


def _check_loss(name: str, claimed: float, loss: Floats, far: Bools | None) -> None:
    """Check the largest loss: an infinite one of densities may only grow with the distance."""
    largest = float(loss.max())
    if math.isinf(claimed) and far is not None:
        near = float(loss[~far].max())
        grows = largest > near * (1 + _GRID) or math.isinf(largest)
        assert grows, f"{name} is inf, and at most {near:.6g} by densities"
    elif claimed < _DEEPEST or math.isinf(claimed):
        _check_equal(name, claimed, largest, _EXACT if far is None else _GRID)
        assert largest <= claimed + _EXACT * (1 + claimed), f"{name} is below {largest:.6g}"


def _check_entries(exact: Any, x: Any, y: Any) -> None:
    """Check the levels of independent entries, which add up, and those of each entry."""
    entries = [(a, b) for a, b in zip(x, y, strict=True) if a != b]
    for a, b in set(entries):
        _check_levels(exact.entry, "scalar", a, b)
    for order in _ORDERS:
        total = math.fsum(divergence(exact.entry, order, a, b) for a, b in entries)
        name = f"level of order {order} from {x!r} to {y!r}"
        _check_equal(name, divergence(exact, order, x, y), total, _EXACT)
    if hasattr(exact, "spectrum") and len(entries) == 1:
        deltas = spectrum(exact, _CLAIMS, x, y)
        of_entry = spectrum(exact.entry, _CLAIMS, *entries[0])
        near = np.allclose(deltas, of_entry, rtol=_EXACT)
        assert near, f"spectrum {deltas} is {of_entry} of its entry"


def _check_equal(name: str, claimed: float, found: float, precision: float) -> None:
    near = math.isclose(claimed, found, rel_tol=precision, abs_tol=1e-9)
    assert near, f"{name} is {claimed:.6g}, and {found:.6g} by densities or probabilities"


def _log(masses: Any) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(masses))


def _p_value(exact: Any, outputs: str, x: Any, drawn: Any) -> float:
    """Return the p-value of draws; 1 for outputs without a distribution function."""
    if outputs == "scalar":
        return float(stats.kstest(drawn, lambda z: exact.cdf(z, x)).pvalue)
    if outputs != "index":
        return 1.0
    probabilities = np.asarray(exact.probabilities(x))
    assert abs(probabilities.sum() - 1) < 1e-9, "probabilities do not sum to 1"
    counts = np.bincount(drawn, minlength=probabilities.size)
    possible = probabilities > 0
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
    cases = []
    for name, claims in known.items():
        mechanism = MECHANISMS.load(name)(0.7)
        exact = EXACT.load(name)(mechanism)
        cases += [Case(mechanism, exact, 0, 1, claims), Case(mechanism, exact, 0, 0, claims)]
    return cases


def check_classifier(classifier: Any, n: int = 2000) -> None:
    """Check a classifier: its votes for each output, by seed, for distributions far apart."""
    rng = np.random.default_rng(0)
    tried = 0
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
            votes = fitted[0].votes(side)
            again = fitted[1].votes(side)
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
