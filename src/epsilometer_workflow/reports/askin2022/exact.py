"""Statements of askin2022 about losses and about its mechanisms, worked out exactly."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.arrays import Floats
from epsilometer.densities.kernel import nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss, undersmoothed
from epsilometer.exact.base import spectrum
from epsilometer.exact.finite import ExactRareMatch
from epsilometer.exact.noisy_max import ExactNoisyMaxIndex, ExactNoisyMaxValue
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.exact.sparse_vector import ExactSparseVector
from epsilometer.exact.truncated import ExactExponentialHalfLine
from epsilometer.mechanisms.finite import RareMatch
from epsilometer.mechanisms.noisy_max import ContinuousNoisyMax, ReportNoisyMax
from epsilometer.mechanisms.real_line import Laplace
from epsilometer.mechanisms.sparse_vector import SparseVector
from epsilometer.mechanisms.truncated import ExponentialHalfLine
from epsilometer_workflow.reports.points import Points, at, table_of

_LEVELS = (0.2, 0.7, 1.5)
_ONE, _TWO = [0.0] * 3, [1.0] * 3
_CENTRE = [0.5] * 3
_GRID = [list(x) for x in product((0, 0.5, 1), repeat=3) if list(x) != _CENTRE]
_SIZES = (("a-d", 20_000, 50_000), ("svt", 100_000, 500_000))  # n and N, without and with SVT
_PAIRS = [  # of the patterns of Table I, for six queries
    ([1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1]),
    ([1, 1, 1, 1, 1, 1], [0, 2, 2, 2, 2, 2]),
    ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]),
]


def exact() -> pd.DataFrame:
    """Work out every check of this module: a row a point, its value beside what bounds it."""
    return table_of(globals())


def _events() -> Points:
    """Count the events of d outputs one by one."""
    for d in (1, 3, 6, 10):
        yield at(d=d), sum(1 for _ in product((0, 1), repeat=d)), 2**d


def _reported(level: float) -> list[tuple[Floats, Floats]]:
    law = ExactNoisyMaxIndex(ReportNoisyMax(level))
    return [(law.probabilities(x), law.probabilities(y)) for x, y in _PAIRS]


def _loss(p: Floats, q: Floats, event: Floats) -> float:
    """Return |ln P(E) - ln Q(E)|."""
    return abs(math.log(p[event].sum()) - math.log(q[event].sum()))


def _all_events(size: int) -> list[Floats]:
    return [np.array(chosen, bool) for chosen in product((0, 1), repeat=size) if any(chosen)]


def _event_below_pair() -> Points:
    """Compare the losses of random events with the violation of the pair."""
    rng = np.random.default_rng(2022)
    for level in _LEVELS:
        for i, (p, q) in enumerate(_reported(level)):
            for event in rng.random((20, p.size)) < 0.5:
                if event.any():
                    loss = _loss(p, q, event)
                    yield at(level=level, pair=i), loss, np.abs(np.log(p / q)).max()


def _pair_below_promise() -> Points:
    for level in _LEVELS:
        for i, (p, q) in enumerate(_reported(level)):
            yield at(level=level, pair=i), np.abs(np.log(p / q)).max(), level


def _union() -> Points:
    """Compare the loss of a union of events without common outputs with the larger of both."""
    rng = np.random.default_rng(2022)
    p, q = _reported(1.5)[1]
    for turn in range(50):
        part = rng.integers(3, size=p.size)
        events = [part == 0, part == 1]
        if all(event.any() for event in events):
            losses = [_loss(p, q, event) for event in events]
            yield at(turn=turn), _loss(p, q, events[0] | events[1]), max(losses)


def _theorem1() -> Points:
    """Compare the largest loss of all 63 events with the largest of the six outputs."""
    for level in _LEVELS:
        for i, (p, q) in enumerate(_reported(level)):
            largest = max(_loss(p, q, event) for event in _all_events(p.size))
            yield at(level=level, pair=i), largest, np.abs(np.log(p / q)).max()


def _dilution() -> Points:
    """Add outputs to an event in the order of their losses: its own loss falls."""
    p, q = _reported(1.5)[1]
    order = np.argsort(-np.log(p / q))
    for size in range(1, p.size):
        small, large = (np.isin(np.arange(p.size), order[:k]) for k in (size, size + 1))
        signed = [math.log(p[event].sum() / q[event].sum()) for event in (small, large)]
        yield at(size=size), signed[1], signed[0]


def _lines(level: float = 1.5) -> list[tuple[str, Any, Any, Any, Floats]]:
    """Return mechanisms (a), (c) and (d), their furthest pairs and points of their regions."""
    largest = ExactNoisyMaxValue(ContinuousNoisyMax(level, queries=3))
    half_line = ExactExponentialHalfLine(ExponentialHalfLine(level))
    return [
        ("a", ExactLaplace(Laplace(level)), 0.0, 1.0, np.linspace(-1, 1, 2001)),
        ("c", largest, _ONE, _TWO, np.linspace(-1, 1, 2001)),
        ("d", half_line, 1.0, 2.0, np.linspace(0, 2, 2001)),
    ]


def _worst(law: Any, x: Any, others: Any) -> float:
    """Return the largest level of pairs with x, in both directions."""
    return float(max(max(law.privacy_loss(x, y), law.privacy_loss(y, x)) for y in others))


def _smooth() -> Points:
    """Take the steepest slope of each density; that at twice as many points is the same."""
    for name, law, x, _, _ in _lines():
        slopes = []
        for points in (20_001, 40_001):
            z = np.linspace(0.0, 6.0, points)
            slopes.append(np.abs(np.diff(law.pdf(z, x)) / np.diff(z)).max())
        yield name, slopes[0], slopes[1]


def _discretised() -> Points:
    grid = np.round(np.linspace(0, 1, 1000) * 999).astype(int)
    yield "unit interval", np.unique(grid).size, 1000


def _mixed_refused() -> Points:
    """Tell whether DPL and MPL refuse outputs that are neither discrete nor continuous."""
    for method in (LocalLoss(floor=1e-3), MaximumPrivacyLoss(after="dpl")):
        try:
            method.check("mixed", math.inf)
            refused = False
        except ArgumentError:
            refused = True
        yield type(method).__name__, refused, 1.0


def _floor() -> Points:
    """Compare the floors with ln n / sqrt n, condition (D)."""
    for tau, n in ((1e-3, 20_000), (1e-4, 100_000)):
        yield at(n=n), tau, math.log(n) / math.sqrt(n)


def _region() -> Points:
    """Compare the largest loss on C with that over all outputs."""
    for name, law, x, x_prime, z in _lines():
        loss = np.abs(np.log(law.pdf(z, x)) - np.log(law.pdf(z, x_prime)))
        yield name, loss.max(), _worst(law, x, [x_prime])


def _noisy_max_level() -> Points:
    for k, rate in product((1, 2, 3, 5), (0.2, 0.5)):
        law = ExactNoisyMaxValue(ContinuousNoisyMax(k * rate, queries=k))
        yield at(k=k, rate=rate), law.privacy_loss([0.0] * k, [1.0] * k), k * rate


def _noisy_max_where() -> Points:
    """Follow the loss between (0,0,0) and (1,1,1) from output to output, at lambda = 1/2."""
    law = ExactNoisyMaxValue(ContinuousNoisyMax(1.5, queries=3))
    for t in (-1.0, 0.0, 3.0, 100.0):
        loss = float(law.compare(np.array([t]), _ONE, _TWO).loss[0])
        yield at(t=t), abs(loss), 1.5


def _largest_density() -> Points:
    """Compare the density of the maximum with k f F^(k-1), and its integral with 1."""
    for k in (2, 3, 6):
        law = ExactNoisyMaxValue(ContinuousNoisyMax(float(k), queries=k))
        noise = ExactLaplace(Laplace(1.0))
        for z in (-2.0, 0.0, 0.5, 4.0):
            formula = k * float(noise.pdf(z, 0.0)) * float(noise.cdf(z, 0.0)) ** (k - 1)
            yield at(k=k, z=z), float(law.pdf(np.array([z]), [0.0] * k)[0]), formula
        grid = np.linspace(-40, 40, 160_001)
        density = k * noise.pdf(grid, 0.0) * noise.cdf(grid, 0.0) ** (k - 1)
        yield at(k=k, integral=1), float(np.trapezoid(density, grid)), 1.0


def _composition() -> Points:
    """Compare the level of the maximum with the sum of k levels."""
    for k in (2, 3, 6):
        law = ExactNoisyMaxValue(ContinuousNoisyMax(float(k), queries=k))
        yield at(k=k), law.privacy_loss([0.0] * k, [1.0] * k), k * 1.0


def _match_level() -> Points:
    for k in (3, 6, 12):
        yield at(k=k), ExactRareMatch(RareMatch(0.5, rarity=k)).privacy_loss(1, 0), math.inf


def _match_delta() -> Points:
    for k in (3, 6, 12):
        law = ExactRareMatch(RareMatch(0.5, rarity=k))
        yield at(k=k), spectrum(law, [0.0], 1, 0)[0], math.exp(-k)


def _fresh_share() -> Points:
    """Work out nu in N = n^(1 + nu)."""
    for name, n, fresh in _SIZES:
        yield name, math.log(fresh) / math.log(n) - 1, 0.1


def _undersmoothing() -> Points:
    """Compare gamma of our second bandwidth, N^(-1/5 - gamma), with what C4 asks for."""
    rng = np.random.default_rng(2022)
    x = rng.normal(size=100_000)
    slope = math.log(undersmoothed(x, x) / undersmoothed(x[:1000], x[:1000]))
    slope -= math.log((nrd0(x) / nrd0(x[:1000])) / (x.size / 1000) ** -0.2)
    gamma = -slope / math.log(x.size / 1000) - 1 / 5
    for name, n, fresh in _SIZES:
        nu = math.log(fresh) / math.log(n) - 1
        yield name, gamma, nu / (6 * (1 + nu))


def _second_floor() -> Points:
    """Compare the density at the output that has the largest loss with the floor."""
    floor = 1e-3
    for level in _LEVELS:
        for name, law, x, x_prime, z in _lines(level):
            p, q = law.pdf(z, x), law.pdf(z, x_prime)
            loss = np.abs(np.log(p) - np.log(q))
            best = loss > loss.max() - 1e-9
            yield f"{name} {at(level=level)}", np.minimum(p, q)[best].max(), floor
        for i, (p, q) in enumerate(_reported(level)):
            best = int(np.argmax(np.abs(np.log(p / q))))
            yield f"b {at(level=level, pair=i)}", min(p[best], q[best]), floor


def _noise_of_noisy_max() -> Points:
    for level in _LEVELS:
        yield at(level=level), ReportNoisyMax(level).scale, 2 / level


def _exponential_formula() -> Points:
    """Compare the level of the pair (1, 2) with the printed formula of lambda."""
    for level in _LEVELS:
        rate = ExponentialHalfLine(level).rate
        printed = rate + math.log(2 - math.exp(-2 * rate)) - math.log(2 - math.exp(-rate))
        law = ExactExponentialHalfLine(ExponentialHalfLine(level))
        yield at(level=level), _worst(law, 1.0, [2.0]), printed


def _exponential_promise() -> Points:
    for level in _LEVELS:
        yield at(level=level), level, 2 * ExponentialHalfLine(level).rate


def _small_exponential() -> Points:
    """Compare the level with 2 lambda as lambda falls."""
    for level in (1.5, 0.2, 0.02, 0.002):
        yield at(level=level), level / (2 * ExponentialHalfLine(level).rate), 1.0


def _variant4() -> Points:
    """Compare SVT4 as published with the corrected one at 7/4 of epsilon."""
    x, x_prime = [1, 1, 1], [2, 0, 0]
    for level in _LEVELS:
        levels = [
            ExactSparseVector(
                SparseVector(epsilon, variant=4, queries=3, corrected=corrected)
            ).privacy_loss(x, x_prime)
            for epsilon, corrected in ((level, False), (7 / 4 * level, True))
        ]
        yield at(level=level), levels[1], levels[0]


def _printed_star() -> Points:
    """Take the largest |f - f'| on C, as the appendix has it, and the largest log ratio."""
    for name, law, x, x_prime, z in _lines():
        p, q = law.pdf(z, x), law.pdf(z, x_prime)
        level = _worst(law, x, [x_prime])
        yield f"{name} difference", np.abs(p - q).max(), level
        yield f"{name} logarithms", np.abs(np.log(p) - np.log(q)).max(), level


def _differ_by_one() -> Points:
    for i, (x, x_prime) in enumerate(_PAIRS):
        yield at(pair=i), np.abs(np.subtract(x, x_prime)).max(), 1.0


def _centric() -> Points:
    """Work out the data-centric levels at epsilon = 1.5, of (0,...,0) and of (1/2,1/2,1/2)."""
    reported = ExactNoisyMaxIndex(ReportNoisyMax(1.5))
    others = [list(x) for x in product((0, 1), repeat=6) if any(x)]
    yield "report-noisy-max", _worst(reported, [0] * 6, others), 1.5
    largest = ExactNoisyMaxValue(ContinuousNoisyMax(1.5, queries=3))
    yield "continuous-noisy-max", _worst(largest, _CENTRE, _GRID), 1.5


def _corners() -> Points:
    """Compare the level of each corner against (1/2,1/2,1/2) with the largest of the grid."""
    law = ExactNoisyMaxValue(ContinuousNoisyMax(1.5, queries=3))
    largest = _worst(law, _CENTRE, _GRID)
    for x in (_ONE, _TWO):
        yield f"corner {x[0]:g}", _worst(law, _CENTRE, [x]), largest
    inner = [x for x in _GRID if x not in (_ONE, _TWO)]
    yield "others", _worst(law, _CENTRE, inner), largest


def _effort() -> Points:
    """Count the draws of one run of MPL, and what they are of the draws of DD-Search.

    Both shares that the paper prints, 0.05 % and 0.32 %, are of the same total.
    """
    for (name, n, fresh), printed in zip(_SIZES, (0.0005, 0.0032), strict=True):
        draws = 2 * 10 * n + 2 * fresh
        yield name, draws, draws / printed
