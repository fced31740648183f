"""Statements of lu2022 about privacy notions and spectra, worked out exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import erf

from epsilometer.arrays import Floats
from epsilometer.estimators.spectrum import delta_of_risk
from epsilometer.exact.base import spectrum
from epsilometer.exact.finite import (
    ExactCountingExponential,
    ExactNoiselessCount,
    ExactRandomizedBits,
    ExactRandomizedResponse,
)
from epsilometer.exact.real_line import (
    ExactGaussianVector,
    ExactLaplaceVector,
    gaussian_deltas,
    laplace_deltas,
)
from epsilometer.mechanisms.finite import (
    CountingExponential,
    NoiselessCount,
    RandomizedBits,
    RandomizedResponse,
)
from epsilometer.mechanisms.real_line import Gaussian, GaussianVector, LaplaceVector
from epsilometer_workflow.reports.points import Points, at, table_of

_CLAIMS = (0.0, 0.1, 0.3, 0.5, 0.9, 1.5)
_DATABASES = [list(x) for m in (1, 2, 3) for x in combinations_with_replacement(range(3), m)]
_COUNT = ExactNoiselessCount(NoiselessCount(1.0))


def exact() -> pd.DataFrame:
    """Work out every check: a row a point, its value beside what bounds it."""
    coin, certain = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    laws = [(f"{name} {at(claim=e)}", e, p, q) for (name, p, q), e in product(_laws(), _CLAIMS)]
    noise = [(epsilon, Gaussian(epsilon).sigma) for epsilon in (0.5, 1.0)]
    sigma, vector = Gaussian(1.0).sigma, ExactGaussianVector(GaussianVector(1.0, dimension=1))
    relative = {e: _relative(e, _DATABASES) for e in _CLAIMS}
    checks: dict[str, Points] = {
        "smooth": (  # discrete outputs spread over an interval each: the Bayes risks
            (
                name,
                0.25 * np.minimum(math.exp(-e) * p / 0.25, q / 0.25).sum() / 2,
                _bayes_risk(e, p, q),
            )
            for name, e, p, q in laws
        ),
        "fair-coins": [("claim=0", _delta(0.0, coin, coin), 0.0)],
        "one-against-a-coin": [  # M_D, 1 on D and a fair coin on its neighbours
            ("forward", _delta(0.0, certain, coin), 1.0),
            ("reverse", _delta(0.0, coin, certain), 1.0),
        ],
        # delta relative to all databases, beside that over all neighbouring pairs
        "all-databases": ((at(claim=e), relative[e], _over_pairs(e, added=False)) for e in _CLAIMS),
        # neighbours by removal, beside those by removal or addition
        "neighbours-removed": (
            (at(claim=e), relative[e], _over_pairs(e, added=True)) for e in _CLAIMS
        ),
        "union": (  # delta relative to a union, beside the largest of those of its parts
            (
                at(claim=e),
                relative[e],
                max(_relative(e, _DATABASES[:6]), _relative(e, _DATABASES[6:])),
            )
            for e in _CLAIMS
        ),
        "parallel": _parallel(),
        "sequential": _sequential(),
        "post-processed": _post_processed(),
        "from-risk": (
            (name, float(delta_of_risk(e, _bayes_risk(e, p, q))), _delta(e, p, q))
            for name, e, p, q in laws
        ),
        # the largest of all pairs' 1 - 2 exp(e) R*, both ways, beside the mechanism's delta
        "both-directions": ((at(claim=e), _from_least_risk(e), relative[e]) for e in _CLAIMS),
        "from-distance": (
            (
                name,
                max(math.exp(e) * (_distance(e, p, q) - (1 - math.exp(-e))), 0.0),
                _delta(e, p, q),
            )
            for name, e, p, q in laws
        ),
        "distance-from-risk": (
            (name, 2 * (0.5 - _bayes_risk(e, p, q)), _distance(e, p, q)) for name, e, p, q in laws
        ),
        "pairs": (
            (at(t=len(d)), sum(len(_removed(rows)) for rows in d), len(d) * max(map(len, d)))
            for d in ([[0, 1, 1], [0, 0, 1, 2]], _DATABASES)
        ),
        "rows-largest": (  # the noiseless count's delta at claim 0, beside the binomial's
            (at(m=m), _both(_COUNT, 0.0, [m, 0], [m, 1]), _binomial(m))
            for m in (100, 900, 10_000, 49_000)
        ),
        "laplace": _laplace(),
        "laplace-zero": (
            (at(epsilon=e, claim=c), _root(_laplace_loss, 0, 1, e, c), (1 - c / e) / 2)
            for e, c in product((0.5, 1.0, 2.0), (0.1, 0.3, 0.45))
        ),
        "laplace-distance": (  # delta at a distance, beside that at 1/20 more, up to 1
            (at(claim=e, distance=d), *(laplace_deltas(np.array([e]), x)[0] for x in (d, d + 0.05)))
            for e, d in product((0.1, 0.5), np.linspace(0.05, 0.95, 19).tolist())
        ),
        "gaussian": (  # the printed erf formula, beside ours
            (at(epsilon=e, claim=c), _printed(s, c), gaussian_deltas(np.array([c]), 1 / s)[0])
            for (e, s), c in product(noise, (0.01, 0.3, 0.9))
        ),
        "gaussian-zero": (
            (at(epsilon=e, claim=c), _root(_gaussian_loss, -1e4, 1e4, s, c), (1 - 2 * s**2 * c) / 2)
            for (e, s), c in product(noise, (0.01, 0.3, 0.9))
        ),
        "laplace-private": _laplace_private(),
        "gaussian-private": [("epsilon=1", _both(vector, 1.0, [0.0], [1.0]), 1e-5)],
        "density-factor": _density_factor(),
        # the noise's standard deviation, and its square, beside 2 ln(1.25/delta)/e^2
        "noise-variance": [
            ("deviation", sigma, 2 * math.log(1.25 / 1e-5)),
            ("variance", sigma**2, 2 * math.log(1.25 / 1e-5)),
        ],
        "gaussian-below": (  # Gaussian (1, 1e-5), beside Laplace (1, 0)
            (
                at(claim=e),
                gaussian_deltas(np.array([e]), 1 / sigma)[0],
                laplace_deltas(np.array([e]), 1.0)[0],
            )
            for e in [*np.linspace(0, 0.99, 100).tolist(), 0.999999, 1.0]
        ),
        "rate": (
            (at(m=m), _binomial(m) * math.sqrt(m), math.sqrt(2 / math.pi))
            for m in (100, 1000, 10_000, 49_000)
        ),
    }
    return table_of(checks)


def _both(law: Any, claim: float, x: Any, x_prime: Any) -> float:
    """Return the larger delta of both directions."""
    return max(
        *(float(spectrum(law, [claim], *sides)[0]) for sides in ((x, x_prime), (x_prime, x)))
    )


def _removed(rows: Sequence[int]) -> list[list[int]]:
    return [[*rows[:i], *rows[i + 1 :]] for i in range(len(rows))]


def _exponential() -> ExactCountingExponential:
    return ExactCountingExponential(CountingExponential(2.0))


def _relative(claim: float, databases: Sequence[Sequence[int]]) -> float:
    """Return the delta of the counting exponential mechanism relative to databases."""
    law = _exponential()
    return max(_both(law, claim, rows, other) for rows in databases for other in _removed(rows))


def _over_pairs(claim: float, *, added: bool) -> float:
    """Return the largest delta of neighbours by removal, or by removal or addition."""
    law, databases = _exponential(), [[], *_DATABASES]
    return max(
        _both(law, claim, x, y)
        for x, y in product(databases, databases)
        if y in _removed(x) or (added and x in _removed(y))
    )


def _laws() -> list[tuple[str, Floats, Floats]]:
    """Return pairs of finite laws."""
    bits = ExactRandomizedBits(RandomizedBits(1.5, people=4))
    shuffled = ExactRandomizedBits(RandomizedBits(1.5, people=4, shuffled=True))
    laws: list[tuple[str, Any, Any, Any]] = [
        ("exponential", _exponential(), [0, 1, 1], [0, 1]),
        ("bits", bits, [1, 0, 0, 0], [0, 0, 0, 0]),
        ("shuffled", shuffled, [1, 0, 0, 0], [0, 0, 0, 0]),
    ]
    return [(name, law.probabilities(x), law.probabilities(y)) for name, law, x, y in laws]


def _delta(claim: float, p: Floats, q: Floats) -> float:
    """Return the optimal delta from its definition, by the best event."""
    return float(np.maximum(p - math.exp(claim) * q, 0).sum())


def _bayes_risk(claim: float, p: Floats, q: Floats) -> float:
    """Return the Bayes risk of telling x, hidden with probability 1 - exp(-claim), from x'."""
    return float(np.minimum(math.exp(-claim) * p, q).sum() / 2)


def _responses(epsilon: float) -> tuple[Floats, Floats]:
    law = ExactRandomizedResponse(RandomizedResponse(epsilon, outcomes=2))
    return law.probabilities(0), law.probabilities(1)


def _joint(*parts: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the laws of independent outputs together."""
    p, q = np.ones(1), np.ones(1)
    for a, b in parts:
        p, q = np.multiply.outer(p, a).ravel(), np.multiply.outer(q, b).ravel()
    return p, q


def _parallel() -> Points:
    """Run two mechanisms on databases of their own, of which either is changed."""
    first, second = _responses(0.5), _responses(1.0)
    same = [(law[0], law[0]) for law in (first, second)]
    for claim in _CLAIMS:
        joint = _joint(first, same[1]), _joint(same[0], second)
        changed = max(_delta(claim, *laws) for laws in joint)
        yield at(claim=claim), changed, max(_delta(claim, *first), _delta(claim, *second))


def _sequential() -> Points:
    """Run two on one database: delta at the sum of two claims, beside the sum of deltas."""
    for a, b in product(_CLAIMS, _CLAIMS):
        claim = np.array([a + b])
        first, second = _responses(0.5), _responses(1.0)
        bound = _delta(a, *first) + _delta(b, *second)
        yield at(response=a, and_=b), _delta(a + b, *_joint(first, second)), bound
        laplace = ExactLaplaceVector(LaplaceVector(1.0, dimension=2))
        bound = float(laplace_deltas(np.array([a]), 1.0)[0] + laplace_deltas(np.array([b]), 1.0)[0])
        yield at(laplace=a, and_=b), laplace.spectrum(claim, [0, 0], [1, 1])[0], bound
        distance = 1 / Gaussian(1.0).sigma
        parts = [float(gaussian_deltas(np.array([e]), distance)[0]) for e in (a, b)]
        joint = float(gaussian_deltas(claim, math.sqrt(2) * distance)[0])
        yield at(gaussian=a, and_=b), joint, sum(parts)


def _post_processed() -> Points:
    """Merge outputs at random, ten times for each pair of laws."""
    rng = np.random.default_rng(2022)
    for (name, p, q), claim, turn in product(_laws(), _CLAIMS, range(10)):
        merged = rng.integers(max(p.size // 2, 2), size=p.size)
        fewer = [np.bincount(merged, weights=v).astype(float) for v in (p, q)]
        after = _delta(claim, fewer[0], fewer[1])
        yield f"{name} {at(claim=claim, turn=turn)}", after, _delta(claim, p, q)


def _from_least_risk(claim: float) -> float:
    law = _exponential()
    pairs = [
        (law.probabilities(rows), law.probabilities(other))
        for rows in _DATABASES
        for other in _removed(rows)
    ]
    risk = min(_bayes_risk(claim, *sides) for p, q in pairs for sides in ((p, q), (q, p)))
    return float(delta_of_risk(claim, risk))


def _distance(claim: float, p: Floats, q: Floats) -> float:
    """Return the statistical distance of x, hidden with probability 1 - exp(-claim), and x'."""
    kept = math.exp(-claim)
    return float(np.abs(kept * p - q).sum() + (1 - kept)) / 2


def _binomial(m: int) -> float:
    return float(scipy.stats.binom(m - 1, 0.5).pmf((m - 1) // 2))


def _laplace() -> Points:
    """Compare Lemma 2 with the integral of (p - exp(e) q)+."""

    def above(z: float, epsilon: float, claim: float) -> float:
        p, q = (epsilon / 2 * math.exp(-epsilon * abs(z - x)) for x in (0.0, 1.0))
        return max(p - math.exp(claim) * q, 0.0)

    for epsilon, claim in product((0.5, 1.0, 2.0), (0.0, 0.3, 0.9)):
        zero = (1 - claim / epsilon) / 2
        parts = [(-60 / epsilon, 0.0), (0.0, max(zero, 0.0))]
        options: Any = {"args": (epsilon, claim), "epsabs": 1e-12, "limit": 200}
        area = math.fsum(scipy.integrate.quad(above, *ends, **options)[0] for ends in parts)
        lemma = 1 - math.exp((claim - epsilon) / 2) if claim < epsilon else 0.0
        yield at(epsilon=epsilon, claim=claim), area, lemma


def _root(loss: Callable[..., float], low: float, high: float, *values: float) -> float:
    return float(scipy.optimize.brentq(loss, low, high, args=values))


def _laplace_loss(z: float, epsilon: float, claim: float) -> float:
    return epsilon * (abs(z - 1) - abs(z)) - claim


def _gaussian_loss(z: float, s: float, claim: float) -> float:
    return ((z - 1) ** 2 - z**2) / (2 * s**2) - claim


def _printed(s: float, claim: float) -> float:
    """Return the erf formula of Lemma 3."""
    zero = (1 - 2 * s**2 * claim) / 2
    p, q = (0.5 * (1 + float(erf((zero - x) / (s * math.sqrt(2))))) for x in (0.0, 1.0))
    return p - math.exp(claim) * q


def _laplace_private() -> Points:
    for epsilon, dimension in product((0.5, 1.0, 2.0), (1, 50)):
        law = ExactLaplaceVector(LaplaceVector(epsilon, dimension=dimension))
        for name, x in (
            ("one", [1.0] + [0.0] * (dimension - 1)),
            ("all", [1 / dimension] * dimension),
        ):
            delta = spectrum(law, [epsilon], [0.0] * dimension, x)[0]
            yield f"{at(epsilon=epsilon, dimension=dimension)} {name}", delta, 0.0


def _density_factor() -> Points:
    """Integrate exp(-x^2/(2 sigma^2)) with the printed factor 1/sqrt(2 pi sigma)."""

    def bell(x: float, sigma: float) -> float:
        return math.exp(-(x**2) / (2 * sigma**2))

    for sigma in (0.5, 1.0, 4.84):
        area = scipy.integrate.quad(bell, -np.inf, np.inf, (sigma,))[0]
        printed, correct = (math.sqrt(2 * math.pi * s) for s in (sigma, sigma**2))
        yield at(sigma=sigma), area / printed, area / correct
