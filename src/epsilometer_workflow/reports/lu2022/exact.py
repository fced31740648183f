"""Statements of lu2022 about privacy notions and spectra, worked out exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
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


def exact() -> pd.DataFrame:
    """Work out every check of this module: a row a point, its value beside what bounds it."""
    return table_of(globals())


def _both(law: Any, claim: float, x: Any, x_prime: Any) -> float:
    """Return the larger delta of both directions."""
    return max(
        *(float(spectrum(law, [claim], *sides)[0]) for sides in ((x, x_prime), (x_prime, x)))
    )


def _removed(rows: Sequence[int]) -> list[list[int]]:
    return [[*rows[:i], *rows[i + 1 :]] for i in range(len(rows))]


def _relative(claim: float, databases: Sequence[Sequence[int]]) -> float:
    """Return the delta of the counting exponential mechanism relative to databases."""
    law = ExactCountingExponential(CountingExponential(2.0))
    return max(_both(law, claim, rows, other) for rows in databases for other in _removed(rows))


def _laws() -> list[tuple[str, Floats, Floats]]:
    """Return pairs of finite laws."""
    exponential = ExactCountingExponential(CountingExponential(2.0))
    bits = ExactRandomizedBits(RandomizedBits(1.5, people=4))
    shuffled = ExactRandomizedBits(RandomizedBits(1.5, people=4, shuffled=True))
    laws: list[tuple[str, Any, Any, Any]] = [
        ("exponential", exponential, [0, 1, 1], [0, 1]),
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


def _smooth() -> Points:
    """Spread discrete outputs over an interval each, and compare the Bayes risks."""
    for (name, p, q), claim in product(_laws(), _CLAIMS):
        width = 0.25
        low = np.minimum(math.exp(-claim) * p / width, q / width)
        yield f"{name} {at(claim=claim)}", width * low.sum() / 2, _bayes_risk(claim, p, q)


def _fair_coins() -> Points:
    coin = np.array([0.5, 0.5])
    yield "claim=0", _delta(0.0, coin, coin), 0.0


def _one_against_a_coin() -> Points:
    """Compare M_D, 1 on D and a fair coin on its neighbours, with the delta that it is given."""
    certain, coin = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    for name, p, q in (("forward", certain, coin), ("reverse", coin, certain)):
        yield name, _delta(0.0, p, q), 1.0


def _all_databases() -> Points:
    """Compare delta relative to all databases with that over all neighbouring pairs."""
    law = ExactCountingExponential(CountingExponential(2.0))
    pairs = [
        (x, y)
        for x in _DATABASES
        for y in [*_DATABASES, []]
        if sorted(y) in map(sorted, _removed(x))
    ]
    for claim in _CLAIMS:
        largest = max(_both(law, claim, x, y) for x, y in pairs)
        yield at(claim=claim), _relative(claim, _DATABASES), largest


def _neighbours_removed() -> Points:
    """Compare neighbours by removal with those by removal or addition, of up to three rows."""
    law = ExactCountingExponential(CountingExponential(2.0))
    databases = [[], *_DATABASES]
    for claim in _CLAIMS:
        either = max(
            _both(law, claim, x, y)
            for x, y in product(databases, databases)
            if abs(len(x) - len(y)) == 1 and (x in _removed(y) or y in _removed(x))
        )
        yield at(claim=claim), _relative(claim, _DATABASES), either


def _union() -> Points:
    """Compare delta relative to a union with the largest of those of its parts."""
    first, second = _DATABASES[:6], _DATABASES[6:]
    for claim in _CLAIMS:
        parts = max(_relative(claim, first), _relative(claim, second))
        yield at(claim=claim), _relative(claim, [*first, *second]), parts


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


def _from_risk() -> Points:
    for (name, p, q), claim in product(_laws(), _CLAIMS):
        delta = float(delta_of_risk(claim, _bayes_risk(claim, p, q)))
        yield f"{name} {at(claim=claim)}", delta, _delta(claim, p, q)


def _both_directions() -> Points:
    """Compare the largest of all pairs' 1 - 2 exp(e) R*, both ways, with the mechanism's delta."""
    law = ExactCountingExponential(CountingExponential(2.0))
    pairs = [
        (law.probabilities(rows), law.probabilities(other))
        for rows in _DATABASES
        for other in _removed(rows)
    ]
    for claim in _CLAIMS:
        risk = min(_bayes_risk(claim, *sides) for p, q in pairs for sides in ((p, q), (q, p)))
        yield at(claim=claim), float(delta_of_risk(claim, risk)), _relative(claim, _DATABASES)


def _distance(claim: float, p: Floats, q: Floats) -> float:
    """Return the statistical distance of x, hidden with probability 1 - exp(-claim), and x'."""
    kept = math.exp(-claim)
    return float(np.abs(kept * p - q).sum() + (1 - kept)) / 2


def _from_distance() -> Points:
    for (name, p, q), claim in product(_laws(), _CLAIMS):
        delta = math.exp(claim) * (_distance(claim, p, q) - (1 - math.exp(-claim)))
        yield f"{name} {at(claim=claim)}", max(delta, 0.0), _delta(claim, p, q)


def _distance_from_risk() -> Points:
    for (name, p, q), claim in product(_laws(), _CLAIMS):
        distance = 2 * (0.5 - _bayes_risk(claim, p, q))
        yield f"{name} {at(claim=claim)}", distance, _distance(claim, p, q)


def _pairs() -> Points:
    for databases in ([[0, 1, 1], [0, 0, 1, 2]], _DATABASES):
        most = len(databases) * max(map(len, databases))
        yield at(t=len(databases)), sum(len(_removed(rows)) for rows in databases), most


def _rows_largest() -> Points:
    """Compare the noiseless count's delta at claim 0, the larger direction, with the binomial's."""
    law = ExactNoiselessCount(NoiselessCount(1.0))
    for m in (100, 900, 10_000, 49_000):
        largest = scipy.stats.binom((m - 1), 0.5).pmf((m - 1) // 2)
        yield at(m=m), _both(law, 0.0, [m, 0], [m, 1]), largest


def _laplace() -> Points:
    """Compare Lemma 2 with the integral of (p - exp(e) q)+."""

    def above(z: float, epsilon: float, claim: float) -> float:
        p, q = (epsilon / 2 * math.exp(-epsilon * abs(z - x)) for x in (0.0, 1.0))
        return max(p - math.exp(claim) * q, 0.0)

    for epsilon, claim in product((0.5, 1.0, 2.0), (0.0, 0.3, 0.9)):
        zero = (1 - claim / epsilon) / 2
        parts = [(-60 / epsilon, 0.0), (0.0, max(zero, 0.0))]
        under = partial(scipy.integrate.quad, above, epsabs=1e-12, limit=200)
        area = math.fsum(under(*ends, args=(epsilon, claim))[0] for ends in parts)
        lemma = 1 - math.exp((claim - epsilon) / 2) if claim < epsilon else 0.0
        yield at(epsilon=epsilon, claim=claim), area, lemma


def _laplace_zero() -> Points:
    def loss(z: float, epsilon: float, claim: float) -> float:
        return epsilon * (abs(z - 1) - abs(z)) - claim

    for epsilon, claim in product((0.5, 1.0, 2.0), (0.1, 0.3, 0.45)):
        zero = scipy.optimize.brentq(loss, 0, 1, args=(epsilon, claim))
        yield at(epsilon=epsilon, claim=claim), zero, (1 - claim / epsilon) / 2


def _laplace_distance() -> Points:
    """Compare delta at a distance with that at 1/20 more, up to 1."""
    for claim, distance in product((0.1, 0.5), np.linspace(0.05, 0.95, 19).tolist()):
        nearer, further = (
            float(laplace_deltas(np.array([claim]), d)[0]) for d in (distance, distance + 0.05)
        )
        yield at(claim=claim, distance=distance), nearer, further


def _gaussian() -> Points:
    """Compare the printed erf formula with ours."""
    for epsilon, claim in product((0.5, 1.0), (0.01, 0.3, 0.9)):
        s = Gaussian(epsilon).sigma
        zero = (1 - 2 * s**2 * claim) / 2
        p, q = (0.5 * (1 + float(erf((zero - x) / (s * math.sqrt(2))))) for x in (0.0, 1.0))
        printed = p - math.exp(claim) * q
        ours = float(gaussian_deltas(np.array([claim]), 1 / s)[0])
        yield at(epsilon=epsilon, claim=claim), printed, ours


def _gaussian_zero() -> Points:
    def loss(z: float, s: float, claim: float) -> float:
        return ((z - 1) ** 2 - z**2) / (2 * s**2) - claim

    for epsilon, claim in product((0.5, 1.0), (0.01, 0.3, 0.9)):
        s = Gaussian(epsilon).sigma
        zero = scipy.optimize.brentq(loss, -1e4, 1e4, args=(s, claim))
        yield at(epsilon=epsilon, claim=claim), zero, (1 - 2 * s**2 * claim) / 2


def _laplace_private() -> Points:
    for epsilon, dimension in product((0.5, 1.0, 2.0), (1, 50)):
        law = ExactLaplaceVector(LaplaceVector(epsilon, dimension=dimension))
        for name, x in (
            ("one", [1.0] + [0.0] * (dimension - 1)),
            ("all", [1 / dimension] * dimension),
        ):
            delta = spectrum(law, [epsilon], [0.0] * dimension, x)[0]
            yield f"{at(epsilon=epsilon, dimension=dimension)} {name}", delta, 0.0


def _gaussian_private() -> Points:
    law = ExactGaussianVector(GaussianVector(1.0, dimension=1))
    yield "epsilon=1", _both(law, 1.0, [0.0], [1.0]), 1e-5


def _density_factor() -> Points:
    """Integrate exp(-x^2/(2 sigma^2)) with the printed factor 1/sqrt(2 pi sigma)."""

    def bell(x: float, sigma: float) -> float:
        return math.exp(-(x**2) / (2 * sigma**2))

    for sigma in (0.5, 1.0, 4.84):
        area = scipy.integrate.quad(bell, -np.inf, np.inf, (sigma,))[0]
        printed, correct = (math.sqrt(2 * math.pi * s) for s in (sigma, sigma**2))
        yield at(sigma=sigma), area / printed, area / correct


def _noise_variance() -> Points:
    """Compare the noise's standard deviation, and its square, with 2 ln(1.25/delta)/e^2."""
    sigma = Gaussian(1.0).sigma
    yield "deviation", sigma, 2 * math.log(1.25 / 1e-5)
    yield "variance", sigma**2, 2 * math.log(1.25 / 1e-5)


def _gaussian_below() -> Points:
    """Compare delta of Gaussian (1, 1e-5) with that of Laplace (1, 0)."""
    distance = 1 / Gaussian(1.0).sigma
    for claim in [*np.linspace(0, 0.99, 100).tolist(), 0.999999, 1.0]:
        e = np.array([claim])
        yield at(claim=claim), gaussian_deltas(e, distance)[0], laplace_deltas(e, 1.0)[0]


def _rate() -> Points:
    for m in (100, 1000, 10_000, 49_000):
        largest = scipy.stats.binom(m - 1, 0.5).pmf((m - 1) // 2)
        yield at(m=m), largest * math.sqrt(m), math.sqrt(2 / math.pi)
