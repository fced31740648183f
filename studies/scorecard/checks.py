"""Numbers of the papers that need no draw: each is worked out from the library at some points.

A check gives, for each point, its name, a value, and what the paper compares it with (``bound``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy

from epsilometer.estimators import planner
from epsilometer.estimators.accuracy import cones
from epsilometer.estimators.renyi_bound import Divergence, divergence
from epsilometer.estimators.spectrum import Spectrum
from epsilometer.exact.base import spectrum
from epsilometer.exact.finite import ExactNoiselessCount, ExactRandomizedBits, ExactRareMatch
from epsilometer.exact.noisy_max import ExactNoisyMaxIndex, ExactNoisyMaxValue
from epsilometer.exact.noisy_sum import ExactNoisySum
from epsilometer.exact.real_line import ExactLaplace, ExactNoisyGradientDescent
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms.finite import NoiselessCount, RandomizedBits, RareMatch
from epsilometer.mechanisms.noisy_max import ContinuousNoisyMax, ReportNoisyMax
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.mechanisms.real_line import Laplace, NoisyGradientDescent
from epsilometer.mechanisms.sparse_vector import SparseVector
from epsilometer.mechanisms.truncated import TruncatedLaplace

Points = Iterable[tuple[Any, ...]]
"""What a point is called, a value, and what bounds it."""

_CLAIMS = (0.0, 0.1, 0.3, 0.5, 0.9, 1.5)
_FIRST, _NOBODY = [1] + [0] * 9, [0] * 10  # the databases of kutta2022
_DRAWS = 5_000_000


def tables() -> dict[str, pd.DataFrame]:
    """Return the checks of each paper, by the names of tables that criteria read."""
    papers = {"gorla2022": gorla2022, "askin2022": askin2022}
    papers |= {"kutta2022": kutta2022, "lu2022": lu2022}
    return {f"scorecard/{paper}-exact": _table(checks()) for paper, checks in papers.items()}


def _table(checks: Mapping[str, Points]) -> pd.DataFrame:
    """Return the points of all checks, with columns check, at, value and bound.

    >>> _table({"square-root": [("x=4", 2.0, 2.0)]}).to_dict("records")
    [{'check': 'square-root', 'at': 'x=4', 'value': 2.0, 'bound': 2.0}]
    """
    rows = [
        (name, at, float(value), float(bound))
        for name, points in checks.items()
        for at, value, bound in points
    ]
    return pd.DataFrame(rows, columns=["check", "at", "value", "bound"])


def gorla2022() -> dict[str, Points]:
    """Work out numbers of gorla2022."""
    laws = {b: ExactTruncatedLaplace(TruncatedLaplace(1 / b)) for b in (1.0, 3.5)}
    slope = laws[1.0].lipschitz_output
    return {
        # at the scales B that the text names, beside Table I
        "laplace-D": [(b, law.lipschitz_input, math.nan) for b, law in laws.items()],
        "laplace-C": [(b, law.lipschitz_output, math.nan) for b, law in laws.items()],
        "laplace-level": [(1.0, laws[1.0].privacy_loss(0.0, 1.0), 1.0)],
        "paper-n": (  # with C rounded to 1.58, as printed, and with C as it is
            (c, planner.sample_size(gamma=0.5, delta=0.8, lipschitz=c, union=False), 1863132)
            for c in (1.58, slope)
        ),
        "slack": (
            ((c, m), planner.safety_slack(lipschitz=c, cells=m), c / m**2 / 2)
            for c, m in product((1.0, 1.58, 3.0), (6, 12))
        ),
    }


def askin2022() -> dict[str, Points]:
    """Work out numbers of askin2022."""
    maximum = ExactNoisyMaxValue(ContinuousNoisyMax(1.5, queries=3))
    index = ExactNoisyMaxIndex(ReportNoisyMax(1.5))
    grid = [list(x) for x in product((0, 0.5, 1), repeat=3) if list(x) != [0.5] * 3]
    matches = {k: ExactRareMatch(RareMatch(0.5, rarity=k)) for k in (3, 6, 12)}
    return {
        "noisy-max-level": (
            ((k, rate), _level_of_maximum(k * rate, k), k * rate)
            for k, rate in product((1, 2, 3, 5), (0.2, 0.5))
        ),
        "largest-density": _largest_density(),
        # the level of the maximum, beside the sum of k levels
        "composition": ((k, _level_of_maximum(float(k), k), k * 1.0) for k in (2, 3, 6)),
        "match-level": ((k, law.privacy_loss(1, 0), math.inf) for k, law in matches.items()),
        "match-delta": (
            (k, spectrum(law, [0.0], 1, 0)[0], math.exp(-k)) for k, law in matches.items()
        ),
        # the most positives in an output, of bits
        "positives": [("svt2", _most_positives(SparseVector(0.7, 2)), 1.0)],
        "centric": [  # the data-centric levels of (0,...,0) and of (1/2,1/2,1/2)
            ("report", _worst(index, [0] * 6, [*product((0, 1), repeat=6)][1:]), 1.5),
            ("continuous", _worst(maximum, [0.5] * 3, grid), 1.5),
        ],
    }


def _most_positives(mechanism: SparseVector) -> int:
    drawn = mechanism.sample([1] * mechanism.queries, 1000, np.random.default_rng(0))
    return max(map(int.bit_count, drawn.tolist()))


def kutta2022() -> dict[str, Points]:
    """Work out numbers of kutta2022, by the numerals of its Section IV."""
    descent = NoisyGradientDescent(1.0)
    laws: dict[str, Any] = {
        "i": ExactNoisyGradientDescent(descent),
        "ii": ExactNoisySum(NoisySum(0.2, noise="gaussian", included=0.5)),
        "iii": ExactNoisySum(NoisySum(0.2, noise="laplace", included=0.5)),
        "iv": ExactNoisySum(NoisySum(0.2, noise="gaussian")),
        "v": ExactNoisySum(NoisySum(0.2, noise="laplace")),
        "vi": ExactRandomizedBits(RandomizedBits(1.5)),
        "vii": ExactRandomizedBits(RandomizedBits(1.5, shuffled=True)),
    }
    return {
        "noise-scale": [
            ("sums", NoisySum(0.2).scale, 5.0),
            ("descent", descent.step_noise / math.sqrt(2 * 0.2), 1.0),
        ],
        # if nobody pulls the descent it ends, on average, where it has begun: at 0
        "starts-at-zero": [("nobody", laws["i"].mean(_NOBODY), 0.0)],
        "deviation": (  # sigma_n / (sqrt(n) D) at the paper's floor and n, and D(p, q_tau) / D
            (f"{m} order={o:g}", math.sqrt(d.variance / _DRAWS) / level, d.value / level)
            for (m, law), o in product(laws.items(), (2.0, 5.0, 7.0))
            for d, level in [(_floored(law, o, 1e-5), law.renyi(o, _FIRST, _NOBODY))]
        ),
    }


def lu2022() -> dict[str, Points]:
    """Work out numbers of lu2022."""
    rng = np.random.default_rng(2022)
    x, x_prime = rng.integers(3, size=1000), rng.integers(3, size=1000)
    tested = Spectrum("counting", claims=list(_CLAIMS)).test(x, x_prime, rng)[0]
    count = ExactNoiselessCount(NoiselessCount(1.0))
    return {
        "cones-number": ((d, cones(d), 4.86371**d) for d in range(1, 9)),
        "half": (
            (e, n + m, 1000)
            for e, n, m in zip(tested.claims, tested.tested, tested.tested_prime, strict=True)
        ),
        "formula": (
            (e, delta, max(1 - 2 * math.exp(e) * risk, 0.0))
            for e, risk, delta in zip(tested.claims, tested.risk, tested.delta, strict=True)
        ),
        "rows-largest": (  # the noiseless count's delta at claim 0, beside the binomial's
            (
                m,
                max(
                    spectrum(count, [0.0], *pair)[0]
                    for pair in ([[m, 0], [m, 1]], [[m, 1], [m, 0]])
                ),
                scipy.stats.binom(m - 1, 0.5).pmf((m - 1) // 2),
            )
            for m in (100, 900, 10_000, 49_000)
        ),
    }


def _level_of_maximum(level: float, k: int) -> float:
    law = ExactNoisyMaxValue(ContinuousNoisyMax(level, queries=k))
    return law.privacy_loss([0.0] * k, [1.0] * k)


def _worst(law: Any, x: Any, others: Iterable[Any]) -> float:
    """Return the largest level of pairs with x, in both directions."""
    return float(max(max(law.privacy_loss(x, y), law.privacy_loss(y, x)) for y in others))


def _largest_density() -> Points:
    """Compare the density of the maximum with k f F^(k-1), and its integral with 1."""
    noise, grid = ExactLaplace(Laplace(1.0)), np.linspace(-40, 40, 160_001)
    for k in (2, 3, 6):
        law = ExactNoisyMaxValue(ContinuousNoisyMax(float(k), queries=k))
        points = np.array([-2.0, 0.0, 0.5, 4.0])
        at_points, on_grid = (
            k * noise.pdf(z, 0.0) * noise.cdf(z, 0.0) ** (k - 1) for z in (points, grid)
        )
        yield from zip(points, law.pdf(points, [0.0] * k), at_points, strict=True)
        yield "integral", np.trapezoid(on_grid, grid), 1.0


def _floored(law: Any, order: float, tau: float) -> Divergence:
    """Return D(p, q_tau) with beta = 1/tau, and sigma_n^2 of (18), of the exact densities."""
    if hasattr(law, "probabilities"):
        p, q, spacing = law.probabilities(_FIRST), law.probabilities(_NOBODY), 1.0
    else:
        ends = [law.window(x) for x in (_FIRST, _NOBODY)]
        z = np.linspace(min(e[0] for e in ends), max(e[1] for e in ends), 40_001)
        p, q, spacing = law.pdf(z, _FIRST), law.pdf(z, _NOBODY), float(z[1] - z[0])
    return divergence(p, q, order=order, tau=tau, beta=1 / tau, spacing=spacing)
