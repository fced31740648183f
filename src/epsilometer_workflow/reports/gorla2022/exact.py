"""Statements of gorla2022 that need no draw: formulas, lemmas and the numbers in its text.

On [0, 1] throughout, so that W = 1; B is the scale of the truncated Laplace mechanism.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import scipy

from epsilometer.arrays import Floats
from epsilometer.errors import NoGuaranteeError
from epsilometer.estimators import planner
from epsilometer.estimators.base import PairEstimates, maximum, pairs_of
from epsilometer.estimators.histogram import histogram_estimate
from epsilometer.exact.base import IntervalDistribution
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.exact.truncated import ExactTruncatedGaussian, ExactTruncatedLaplace
from epsilometer.mechanisms.finite import BernoulliPair
from epsilometer.mechanisms.real_line import Laplace
from epsilometer.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace
from epsilometer_workflow.reports.points import Points, at, refuses, table_of

_LEVELS = (0.2, 0.5, 0.7, 1.0)  # those of tables III and V at which C < 2
_ORDERS = (1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
_cells_of = planner.histogram_cells


def exact() -> pd.DataFrame:
    """Work out every check: a row a point, its value beside what bounds it."""
    law, z = _laplace(1.0), np.linspace(-5, 5, 1001)
    slope, level = law.lipschitz_output, law.privacy_loss(0.0, 1.0)
    plan = partial(planner.sample_size, union=False)
    checks: dict[str, Points] = {
        "infinite-order": ((at(order=o), law.renyi(o, 0.0, 1.0), level) for o in _ORDERS),
        "laplace-level": (
            (at(B=1 / e), np.log(noise.pdf(z, 0.0) / noise.pdf(z, 1.0)).max(), e)
            for e in (0.5, 1.0, 2.0)
            for noise in [ExactLaplace(Laplace(e))]
        ),
        "laplace-quantile": _laplace_quantile(),
        "normaliser": _normaliser(),
        "lemma1-low": ((name, p.min(), 1 - c / 2) for name, p, c in _densities()),
        "lemma1-high": ((name, p.max(), 1 + c / 2) for name, p, c in _densities()),
        "zeros": (
            (at(delta=delta, n0=n), (1 - pair.chances[0]) ** n, (1 - delta) ** (1 / 3))
            for delta, n in product((0.1, 0.5, 0.8, 0.99), (1, 10, 1000, 10**6))
            for pair in [BernoulliPair(epsilon=2.0, budget=n, delta=delta)]
        ),
        "tau": (  # whether the planner has a number of cells, and whether C < 2/W^2
            (
                at(W=w, C=c),
                not refuses(NoGuaranteeError, _cells_of, gamma=0.5, lipschitz=c, width=w),
                c < 2 / w**2,
            )
            for w, c in product((0.5, 1.0, 2.0), np.linspace(0.1, 9.9, 50).tolist())
        ),
        "last-edge": (  # m cells of width W/m, added up from a, as Algorithm 1 does
            (at(m=m), math.fsum([1 / m] * m), 1.0) for m in (6, 12, 46, 91, 455, 909)
        ),
        "f-in-samples": _f_in_samples(),
        "f-in-probability": _f_in_probability(),
        "lemma2": _lemma2(),
        "claim1": _claim1(),
        "cell-mean": _cell_mean(),
        "both-directions": _both_directions(),
        "finite-domain": (
            (at(size=n), len(pairs_of(n, "all")), n * (n - 1) / 2) for n in (2, 5, 39, 91)
        ),
        "failures-ignored": _failures_ignored(),
        "algorithm2-n": [  # the n of step 6 of Algorithm 2, beside that of (gamma, delta)
            (
                "B=1 gamma=0.5 delta=0.8",
                plan(gamma=0.5 / 3, delta=math.sqrt(0.8), lipschitz=slope),
                plan(gamma=0.5, delta=0.8, lipschitz=slope),
            )
        ],
        "buckets": _buckets(),
        "sampler": _sampler(),
        "paper-n": (  # with C rounded to 1.58, as printed, and with C as it is
            (at(C=c), plan(gamma=0.5, delta=0.8, lipschitz=c), 1863132) for c in (1.58, slope)
        ),
        "other-pairs": [("B=1 k=91", _largest_of_others(law), level)],
        "slack": (
            (at(C=c, m=m), planner.safety_slack(lipschitz=c, cells=m), c / m**2 / 2)
            for c, m in product((1.0, 1.58, 3.0), (6, 12))
        ),
        "theorem5-d": (
            (at(d=d, order=order), d ** (1 / order), d ** (1 / (order - 1)))
            for d, order in product((1e-6, 1e-3, 0.5), (1.5, 2.0, 5.0))
        ),
        "claim3": _claim3(),
    }
    return table_of(checks)


def _laplace(epsilon: float) -> ExactTruncatedLaplace:
    return ExactTruncatedLaplace(TruncatedLaplace(epsilon))


def _smooth_laws() -> list[tuple[str, IntervalDistribution]]:
    """Return the rows of Table I with C < 2."""
    laws: list[tuple[str, IntervalDistribution]] = [
        (f"B={b:g}", _laplace(1 / b)) for b in (1.0, 2.0, 5.0)
    ]
    for sigma in (0.6, 1.0, 2.0):
        gaussian = TruncatedGaussian(1 / (2 * sigma**2))
        laws.append((f"sigma={sigma:g}", ExactTruncatedGaussian(gaussian)))
    return laws


def _laplace_quantile() -> Points:
    law = ExactLaplace(Laplace(0.5))
    for p in np.linspace(0.001, 0.999, 37).tolist():
        z = 0.3 - 2.0 * np.sign(p - 0.5) * math.log(1 - 2 * abs(p - 0.5))
        yield at(p=p), float(law.cdf(z, 0.3)), p


def _normaliser() -> Points:
    for b, x in product((0.5, 1.0, 5.0), (0.0, 0.3, 1.0)):
        constant = 1 / (b * (2 - math.exp(-x / b) - math.exp(-(1 - x) / b)))
        unscaled = partial(lambda z, b, x: math.exp(-abs(z - x) / b), b=b, x=x)
        area = scipy.integrate.quad(unscaled, 0, 1, points=[x])[0]
        yield at(B=b, x=x), constant * area, 1.0


def _densities() -> list[tuple[str, Floats, float]]:
    z = np.linspace(0, 1, 401)
    return [
        (f"{name} x={x:g}", law.pdf(z, x), law.lipschitz_output)
        for name, law in _smooth_laws()
        for x in np.linspace(0, 1, 11).tolist()
    ]


def _f(x: float, y: float, z: float) -> float:
    """Return f of (8)."""
    above = math.exp(-x * y * math.expm1(z) ** 2 / (1 + math.exp(z)))
    below = math.exp(-x * y * math.expm1(-z) ** 2 / 2)
    return float((above + below) / (1 - (1 - y) ** x))


def _f_in_samples() -> Points:
    """Compare log f with half of it at twice as many samples: it falls, and by its own slope."""
    for y, z in product((0.01, 0.1), (0.05, 0.3)):
        start = 40 / (y * z**2)
        for x in (start, 2 * start, 4 * start):
            slope = math.log(_f(2 * x, y, z)) - math.log(_f(x, y, z))
            yield at(x=x, y=y, z=z), slope / x, -y * math.expm1(-z) ** 2 / 2


def _f_in_probability() -> Points:
    for x, z in product((1e5, 1e6), (0.05, 0.3)):
        start = 40 / (x * z**2)
        for y in (start, 2 * start, 4 * start):
            slope = math.log(_f(x, 2 * y, z)) - math.log(_f(x, y, z))
            yield at(x=x, y=y, z=z), slope / y, -x * math.expm1(-z) ** 2 / 2


def _lemma2() -> Points:
    """Compare the exact tail of log S_n around log np, given S_n > 0, with f."""
    for n, p, gamma in product((10, 100, 10_000), (0.001, 0.02, 0.3), (0.05, 0.3, 1.0)):
        law = scipy.stats.binom(n, p)
        low, high = n * p * math.exp(-gamma), n * p * math.exp(gamma)
        below = law.cdf(math.ceil(low) - 1) - law.pmf(0) if low > 0 else 0.0
        tail = max(below, 0.0) + law.sf(math.floor(high))
        yield at(n=n, p=p, gamma=gamma), tail / law.sf(0), _f(n, p, gamma)


def _cells(law: IntervalDistribution, m: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return cell numbers of fine points, p and q there, and of all cells."""
    z = np.linspace(0, 1, 40 * m + 1)
    edges = np.linspace(0, 1, m + 1)
    p, q = (np.diff(law.cdf(edges, x)) for x in (0.0, 1.0))
    return np.minimum((z * m).astype(int), m - 1), law.pdf(z, 0.0), law.pdf(z, 1.0), p, q


def _claim1() -> Points:
    for epsilon, gamma in product(_LEVELS, (1.0, 0.5, 0.1)):
        law = _laplace(epsilon)
        m = _cells_of(gamma=gamma, lipschitz=law.lipschitz_output)
        cell, p_z, q_z, p, q = _cells(law, m)
        error = np.abs(np.log(p / q)[cell] - np.log(p_z / q_z))
        yield at(epsilon=epsilon, gamma=gamma), error.max(), gamma / 6


def _cell_mean() -> Points:
    for (name, law), m in product(_smooth_laws(), (2, 6, 46)):
        cell, p_z, _, p, _ = _cells(law, m)
        error = np.abs(p[cell] - p_z / m)
        yield f"{name} m={m}", error.max(), law.lipschitz_output / m**2 / 2


def _both_directions() -> Points:
    """Compare -min log N/M with what the reverse direction answers."""
    rng = np.random.default_rng(2022)
    for m in (2, 10, 91):
        x, x_prime = rng.multinomial(10_000, np.full(m, 1 / m), 2)
        reverse = histogram_estimate(x, x_prime).reverse
        yield at(m=m), float(reverse), -np.log(x / x_prime).min()


def _failures_ignored() -> Points:
    """Take the maximum over pairs of which some failed; 1 where the answer is as it should be."""
    for failed in product((False, True), repeat=3):
        levels = np.where(failed, np.nan, [0.3, 0.9, 0.5])
        answers = {
            (i, i + 1): PairEstimates(*map(np.asarray, (level, level, lost)))
            for i, (level, lost) in enumerate(zip(levels, failed, strict=True))
        }
        best = maximum(answers)
        expected = max((v for v in levels if not math.isnan(v)), default=math.nan)
        same = np.array_equal(best.forward, expected, equal_nan=True)
        yield at(failed=failed), same and bool(best.failed) == all(failed), 1.0


def _buckets() -> Points:
    """Compare what the mid-points of k buckets lose of the level with a third of gamma."""
    for epsilon, gamma in product(_LEVELS, (1.0, 0.5)):
        law = _laplace(epsilon)
        k = planner.input_buckets(
            gamma=gamma, lipschitz=law.lipschitz_output, lipschitz_input=law.lipschitz_input
        )
        loss = law.privacy_loss(0.0, 1.0) - law.privacy_loss(0.5 / k, 1 - 0.5 / k)
        yield at(epsilon=epsilon, gamma=gamma, k=k), loss, gamma / 3


class _Given:
    """Stands for a random generator, and gives these numbers."""

    def __init__(self, numbers: Floats) -> None:
        self._numbers = numbers

    def random(self, size: int) -> Floats:
        """Return the numbers."""
        return self._numbers[:size].copy()


def _sampler() -> Points:
    """Invert: the distribution function of what the sampler makes of p is p."""
    p = np.linspace(0.001, 0.999, 37)
    for b, x in product((0.5, 1.0, 5.0), (0.0, 0.3, 1.0)):
        mechanism = TruncatedLaplace(1 / b)
        drawn = mechanism.sample(x, p.size, _Given(p))  # type: ignore[arg-type]
        error = np.abs(ExactTruncatedLaplace(mechanism).cdf(drawn, x) - p)
        yield at(B=b, x=x), error.max(), 0.0


def _largest_of_others(law: ExactTruncatedLaplace) -> float:
    """Return the largest level of the pairs of a grid but for its ends."""
    pairs = set(combinations(np.linspace(0, 1, 91).tolist(), 2)) - {(0.0, 1.0)}
    return max(max(law.privacy_loss(x, y), law.privacy_loss(y, x)) for x, y in pairs)


def _claim3() -> Points:
    """Move every cell's frequency by a factor of exp(gamma') up or down, and see the level move.

    gamma' is that of (14); the worst of 200 patterns of signs.
    """
    rng = np.random.default_rng(2022)
    order = 2.0
    for epsilon, gamma in product((1 / 5, 1 / 3, 1 / 2), (1.0, 0.5)):
        law = _laplace(epsilon)
        half = law.lipschitz_output / 2
        ratio = 2 * ((1 + half) / (1 - half)) ** (2 * order - 1)  # K / K' of (13)
        moved = min(gamma / ratio * (order - 1) / 2, math.log(2)) / (2 * order - 1)
        m = _cells_of(gamma=gamma, lipschitz=law.lipschitz_output, order=order)
        _, _, _, p, q = _cells(law, m)
        signs = rng.choice([-1.0, 1.0], (2, 200, m))
        sums = (p * np.exp(moved * signs[0])) ** order * (q * np.exp(moved * signs[1])) ** (
            1 - order
        )
        error = np.abs(np.log(sums.sum(axis=1)) / (order - 1) - law.renyi(order, 0.0, 1.0))
        yield at(epsilon=epsilon, gamma=gamma), error.max(), gamma
