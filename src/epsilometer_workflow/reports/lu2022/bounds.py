"""Statements of lu2022 about its estimator: bounds of its error, and its use of draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy

from epsilometer.classifiers.base import neighbours
from epsilometer.estimators.spectrum import Spectrum
from epsilometer_workflow.reports.lu2022.accuracy import (
    accuracy,
    cones,
    estimate_error,
    neighbours_error,
    risk_error,
)
from epsilometer_workflow.reports.points import Points, at, table_of

_BETAS = (0.01, 0.05, 0.2)
_CLAIMS = (0.0, 0.1, 0.3, 0.5, 0.9, 1.5)
_alpha = partial(accuracy, 0.5, 10**6, 0.05)  # of a million points


def bounds() -> pd.DataFrame:
    """Work out every check: a row a point, its value beside what bounds it."""
    base, half, all_claims = (
        1 + 2 / math.sqrt(2 - math.sqrt(3)),
        _tested([0.0, 0.5]),
        _tested(_CLAIMS),
    )
    hidden = _tested([400.0], coin="drawn")
    checks: dict[str, Points] = {
        "small-delta": (  # delta = 1e-7, twice the standard deviation of its estimate
            (at(claim=e), 4 * math.exp(2 * e) * risk * (1 - risk) * (2 / 1e-7) ** 2, 1e13)
            for e in (0.1, 0.5, 1.0)
            for risk in [(1 - 1e-7) / (2 * math.exp(e))]
        ),
        "hoeffding": _hoeffding(),
        "cones": ((at(d=d), cones(d), base**d - 1) for d in range(1, 9)),
        "cones-number": ((at(d=d), base**d, 4.86371**d) for d in range(1, 9)),
        "neighbours": ((at(n=n), neighbours(n), math.isqrt(n)) for n in (100, 1000, 10**6)),
        "coin-answers": (  # 1/4 or 3/4 by a fair coin: how likely one is within 1/4 of delta
            (at(delta=d), sum(abs(answer - d) <= 0.25 + 1e-12 for answer in (0.25, 0.75)) / 2, 0.5)
            for d in np.linspace(0, 1, 21).tolist()
        ),
        "queries": _queries(),
        # alpha over so many pairs, beside that of one pair
        "logarithmic": (
            (at(tm=k), _alpha(directions=2 * k) / _alpha(), k) for k in (10, 100, 1000)
        ),
        "printed-corollary2": (
            (
                at(beta=b),
                2 * math.exp(0.5) * (_printed(b) + risk_error(2, b) * math.sqrt(2)),
                accuracy(0.5, 2, b) * math.sqrt(2),
            )
            for b in _BETAS
        ),
        "printed-excess": ((at(beta=b), _printed(b), neighbours_error(1, b)) for b in _BETAS),
        "corollary3": _corollary3(),
        # alpha, beside that of one dimension less
        "dimensions": ((at(d=d), _alpha(d) / _alpha(d - 1), 4.86371) for d in range(3, 11)),
        "samples": (
            (at(n=n), accuracy(0.5, n, 0.05) * math.sqrt(n), _alpha() * 1e3)
            for n in (10**3, 10**5, 10**7)
        ),
        "databases": (
            (
                at(tm=k),
                _alpha(directions=2 * k) / _alpha(directions=2),
                math.sqrt(math.log(8 * k / 0.05) / math.log(8 / 0.05)),
            )
            for k in (1, 8, 1000, 10**6)
        ),
        "corollary4": _corollary4(),
        "half": (
            (at(claim=float(e)), n + m, 1000)
            for e, n, m in zip(half.claims, half.tested, half.tested_prime, strict=True)
        ),
        "formula": (
            (at(claim=float(e)), delta, max(1 - 2 * math.exp(e) * risk, 0.0))
            for e, risk, delta in zip(
                all_claims.claims, all_claims.risk, all_claims.delta, strict=True
            )
        ),
        "disjoint": _disjoint(),
        # all draws of x hidden: null values are never classified wrong, nor are those of x'
        "null-wrong": [("all hidden", hidden.wrong[0] + hidden.wrong_prime[0], 0.0)],
        "null-share": _null_share(),
    }
    return table_of(checks)


def _hoeffding() -> Points:
    """Tell how likely the risk on m points is off by more than Theorem 1 allows, exactly."""
    for m, risk, gamma in product((100, 1000), (0.05, 0.2, 0.5), (0.01, 0.05, 0.2)):
        reach = math.sqrt(math.log(2 / gamma) / (2 * m))
        law = scipy.stats.binom(m, risk)
        low, high = math.ceil(m * (risk - reach)), math.floor(m * (risk + reach))
        yield at(m=m, risk=risk, gamma=gamma), law.cdf(low - 1) + law.sf(high), gamma


def _queries() -> Points:
    """Ask q of 2^n databases: M_D is told from M where D is among them; else one guesses."""
    rng = np.random.default_rng(2022)
    for n, q in ((10, 10), (16, 100), (24, 1000)):
        runs = 20_000
        hit = rng.integers(2**n, size=runs) < q
        won = np.where(hit, True, rng.random(runs) < 0.5)
        yield at(n=n, q=q), won.mean(), 0.5 + q / 2**n + 2.6 * 0.5 / math.sqrt(runs)


def _printed(beta: float) -> float:
    """Return 12 c_d sqrt(ln(4 beta)/n) at n = 1, as printed; NaN where it is undefined."""
    return 12 * cones(1) * math.sqrt(math.log(4 * beta)) if 4 * beta >= 1 else math.nan


def _corollary3() -> Points:
    """Compare the printed bound with Theorem 5 for the excess risk of kNN (5)."""
    for n, beta, tm, d in product((10**4, 10**7), (0.05, 0.2), (1, 8, 1000), (1, 2)):

        def excess(points: int, chance: float, d: int = d) -> float:
            return neighbours_error(2 * points, 2 * chance, d)

        theorem5 = estimate_error(excess, 0.5, n, beta, directions=2 * tm)
        root = math.sqrt(math.log(8 * tm / beta) / n)
        yield at(n=n, beta=beta, tm=tm, d=d), math.exp(0.5) * (24 * cones(d) + 2) * root, theorem5


def _corollary4() -> Points:
    """Compare the printed bound with a union over m t |U|^2 tests of a pair."""
    for m, t, values in ((10, 1, 2), (100, 5, 2), (50, 3, 10)):
        tests, n, beta = m * t * values**2, 10**7, 0.05
        root = math.sqrt(math.log(4 * tests / beta) / n)
        printed = math.exp(0.5) * (24 * cones(1) + 2) * root
        yield at(m=m, t=t, values=values), printed, accuracy(0.5, n, beta, directions=tests)


def _tested(claims: Sequence[float], **options: Any) -> Any:
    """Return what an estimator makes of small samples, forward."""
    rng = np.random.default_rng(2022)
    x, x_prime = rng.integers(3, size=1000), rng.integers(3, size=1000)
    return Spectrum("counting", claims=list(claims), **options).test(x, x_prime, rng)[0]


def _disjoint() -> Points:
    """Count the test draws that a classifier was trained on: of distinct numbers, so none is twice.

    Draws that training has not seen are even to a classifier that counts, and taken for x.
    """
    x, x_prime = np.arange(1000), np.arange(1000, 2000)
    tested, _ = Spectrum("counting", claims=[0.0]).test(x, x_prime, np.random.default_rng(1))
    yield "distinct draws", tested.tested_prime[0] - tested.wrong_prime[0], 0.0


def _null_share() -> Points:
    """Count the draws of x that are hidden, among outputs that are taken for x'."""
    rng = np.random.default_rng(2022)
    n = 200_000
    x, x_prime = np.zeros(n, int), np.zeros(n, int)  # alike: what is not hidden is taken for x'
    for claim in (0.1, 0.5, 1.0):
        tested, _ = Spectrum("counting", coin="drawn", claims=[claim]).test(x, x_prime, rng)
        hidden = 1 - tested.wrong[0] / tested.tested[0]
        expected = 1 - math.exp(-claim)
        error = math.sqrt(expected * (1 - expected) / tested.tested[0])
        yield at(claim=claim), abs(hidden - expected) / error, 3.0
