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
from epsilometer_workflow.reports.points import Points, at, refuses, table_of

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
    """Work out every check: a row a point, its value beside what bounds it."""
    rng = np.random.default_rng(2022)
    reported = [(e, i, p, q) for e in _LEVELS for i, (p, q) in enumerate(_reported(e))]
    events = [np.array(chosen, bool) for chosen in product((0, 1), repeat=6) if any(chosen)]
    lines, maximum = _lines(1.5), _maximum(1.5, 3)
    rates = {e: ExponentialHalfLine(e).rate for e in (*_LEVELS, 0.02, 0.002)}
    at_centre = _worst(maximum, _CENTRE, _GRID)
    inner = [x for x in _GRID if x not in (_ONE, _TWO)]
    checks: dict[str, Points] = {
        # the events of d outputs, counted
        "events": ((at(d=d), len([*product((0, 1), repeat=d)]), 2**d) for d in (1, 3, 6, 10)),
        "event-below-pair": (  # random events, beside the violation of the pair
            (at(level=e, pair=i), _loss(p, q, event), _violation(p, q))
            for e, i, p, q in reported
            for event in rng.random((20, p.size)) < 0.5
            if event.any()
        ),
        "pair-below-promise": (
            (at(level=e, pair=i), _violation(p, q), e) for e, i, p, q in reported
        ),
        "union": _union(),
        "theorem1": (  # all 63 events, beside the six outputs
            (at(level=e, pair=i), max(_loss(p, q, event) for event in events), _violation(p, q))
            for e, i, p, q in reported
        ),
        "dilution": _dilution(),
        # the steepest slope of each density; that at twice as many points is the same
        "smooth": (
            (name, *(_steepest(law, x, k) for k in (20_001, 40_001))) for name, law, x, *_ in lines
        ),
        "discretised": [
            ("unit interval", np.unique(np.round(np.linspace(0, 1, 1000) * 999)).size, 1000)
        ],
        "mixed-refused": (  # outputs that are neither discrete nor continuous, by DPL and MPL
            (type(method).__name__, refuses(ArgumentError, method.check, "mixed", math.inf), 1.0)
            for method in (LocalLoss(floor=1e-3), MaximumPrivacyLoss(after="dpl"))
        ),
        "floor": (  # condition (D)
            (at(n=n), tau, math.log(n) / math.sqrt(n))
            for tau, n in ((1e-3, 20_000), (1e-4, 100_000))
        ),
        "region": (  # the largest loss on C, beside that over all outputs
            (name, _losses(law, z, x, x_prime).max(), _worst(law, x, [x_prime]))
            for name, law, x, x_prime, z in lines
        ),
        "noisy-max-level": (
            (at(k=k, rate=rate), _level_of_maximum(k * rate, k), k * rate)
            for k, rate in product((1, 2, 3, 5), (0.2, 0.5))
        ),
        "noisy-max-where": (  # the loss between (0,0,0) and (1,1,1), at lambda = 1/2
            (at(t=t), abs(float(maximum.compare(np.array([t]), _ONE, _TWO).loss[0])), 1.5)
            for t in (-1.0, 0.0, 3.0, 100.0)
        ),
        "largest-density": _largest_density(),
        # the level of the maximum, beside the sum of k levels
        "composition": ((at(k=k), _level_of_maximum(float(k), k), k * 1.0) for k in (2, 3, 6)),
        "match-level": ((at(k=k), _match(k).privacy_loss(1, 0), math.inf) for k in (3, 6, 12)),
        "match-delta": (
            (at(k=k), spectrum(_match(k), [0.0], 1, 0)[0], math.exp(-k)) for k in (3, 6, 12)
        ),
        "fresh-share": ((name, _nu(n, fresh), 0.1) for name, n, fresh in _SIZES),
        "undersmoothing": _undersmoothing(),
        "second-floor": _second_floor(1e-3),
        "noise-of-noisy-max": ((at(level=e), ReportNoisyMax(e).scale, 2 / e) for e in _LEVELS),
        "exponential-formula": (  # the level of the pair (1, 2), beside the printed formula
            (
                at(level=e),
                _worst(ExactExponentialHalfLine(ExponentialHalfLine(e)), 1.0, [2.0]),
                rates[e]
                + math.log(2 - math.exp(-2 * rates[e]))
                - math.log(2 - math.exp(-rates[e])),
            )
            for e in _LEVELS
        ),
        "exponential-promise": ((at(level=e), e, 2 * rates[e]) for e in _LEVELS),
        # the level beside 2 lambda, as lambda falls
        "small-exponential": (
            (at(level=e), e / (2 * rates[e]), 1.0) for e in (1.5, 0.2, 0.02, 0.002)
        ),
        # SVT4 corrected, at 7/4 of epsilon, beside SVT4 as published
        "variant4": ((at(level=e), _svt4(7 / 4 * e, True), _svt4(e, False)) for e in _LEVELS),
        "printed-star": _printed_star(lines),
        "differ-by-one": (
            (at(pair=i), np.abs(np.subtract(*pair)).max(), 1.0) for i, pair in enumerate(_PAIRS)
        ),
        "centric": [  # the data-centric levels of (0,...,0) and of (1/2,1/2,1/2)
            ("report-noisy-max", _level_of_zeros(), 1.5),
            ("continuous-noisy-max", at_centre, 1.5),
        ],
        "corners": [  # each corner against (1/2,1/2,1/2), beside the largest of the grid
            *((f"corner {x[0]:g}", _worst(maximum, _CENTRE, [x]), at_centre) for x in (_ONE, _TWO)),
            ("others", _worst(maximum, _CENTRE, inner), at_centre),
        ],
        # the draws of one run of MPL, and of DD-Search: both printed shares are of the same total
        "effort": (
            (name, 20 * n + 2 * fresh, (20 * n + 2 * fresh) / printed)
            for (name, n, fresh), printed in zip(_SIZES, (0.0005, 0.0032), strict=True)
        ),
    }
    return table_of(checks)


def _reported(level: float) -> list[tuple[Floats, Floats]]:
    law = ExactNoisyMaxIndex(ReportNoisyMax(level))
    return [(law.probabilities(x), law.probabilities(y)) for x, y in _PAIRS]


def _loss(p: Floats, q: Floats, event: Floats) -> float:
    """Return |ln P(E) - ln Q(E)|."""
    return abs(math.log(p[event].sum()) - math.log(q[event].sum()))


def _violation(p: Floats, q: Floats) -> float:
    return float(np.abs(np.log(p / q)).max())


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


def _dilution() -> Points:
    """Add outputs to an event in the order of their losses: its own loss falls."""
    p, q = _reported(1.5)[1]
    order = np.argsort(-np.log(p / q))
    for size in range(1, p.size):
        small, large = (np.isin(np.arange(p.size), order[:k]) for k in (size, size + 1))
        signed = [math.log(p[event].sum() / q[event].sum()) for event in (small, large)]
        yield at(size=size), signed[1], signed[0]


def _maximum(level: float, k: int) -> ExactNoisyMaxValue:
    return ExactNoisyMaxValue(ContinuousNoisyMax(level, queries=k))


def _level_of_maximum(level: float, k: int) -> float:
    return _maximum(level, k).privacy_loss([0.0] * k, [1.0] * k)


def _lines(level: float) -> list[tuple[str, Any, Any, Any, Floats]]:
    """Return mechanisms (a), (c) and (d), their furthest pairs and points of their regions."""
    half_line = ExactExponentialHalfLine(ExponentialHalfLine(level))
    return [
        ("a", ExactLaplace(Laplace(level)), 0.0, 1.0, np.linspace(-1, 1, 2001)),
        ("c", _maximum(level, 3), _ONE, _TWO, np.linspace(-1, 1, 2001)),
        ("d", half_line, 1.0, 2.0, np.linspace(0, 2, 2001)),
    ]


def _losses(law: Any, z: Floats, x: Any, x_prime: Any) -> Floats:
    return np.asarray(np.abs(np.log(law.pdf(z, x)) - np.log(law.pdf(z, x_prime))))


def _worst(law: Any, x: Any, others: Any) -> float:
    """Return the largest level of pairs with x, in both directions."""
    return float(max(max(law.privacy_loss(x, y), law.privacy_loss(y, x)) for y in others))


def _level_of_zeros() -> float:
    others = [list(x) for x in product((0, 1), repeat=6) if any(x)]
    return _worst(ExactNoisyMaxIndex(ReportNoisyMax(1.5)), [0] * 6, others)


def _steepest(law: Any, x: Any, points: int) -> float:
    z = np.linspace(0.0, 6.0, points)
    return float(np.abs(np.diff(law.pdf(z, x)) / np.diff(z)).max())


def _largest_density() -> Points:
    """Compare the density of the maximum with k f F^(k-1), and its integral with 1."""
    noise, grid = ExactLaplace(Laplace(1.0)), np.linspace(-40, 40, 160_001)
    for k in (2, 3, 6):
        for z in (-2.0, 0.0, 0.5, 4.0):
            formula = k * float(noise.pdf(z, 0.0)) * float(noise.cdf(z, 0.0)) ** (k - 1)
            exactly = float(_maximum(float(k), k).pdf(np.array([z]), [0.0] * k)[0])
            yield at(k=k, z=z), exactly, formula
        density = k * noise.pdf(grid, 0.0) * noise.cdf(grid, 0.0) ** (k - 1)
        yield at(k=k, integral=1), float(np.trapezoid(density, grid)), 1.0


def _match(k: int) -> ExactRareMatch:
    return ExactRareMatch(RareMatch(0.5, rarity=k))


def _nu(n: int, fresh: int) -> float:
    """Return nu in N = n^(1 + nu)."""
    return math.log(fresh) / math.log(n) - 1


def _undersmoothing() -> Points:
    """Compare gamma of our second bandwidth, N^(-1/5 - gamma), with what C4 asks for."""
    rng = np.random.default_rng(2022)
    x = rng.normal(size=100_000)
    slope = math.log(undersmoothed(x, x) / undersmoothed(x[:1000], x[:1000]))
    slope -= math.log((nrd0(x) / nrd0(x[:1000])) / (x.size / 1000) ** -0.2)
    gamma = -slope / math.log(x.size / 1000) - 1 / 5
    for name, n, fresh in _SIZES:
        nu = _nu(n, fresh)
        yield name, gamma, nu / (6 * (1 + nu))


def _second_floor(floor: float) -> Points:
    """Compare the density at the output that has the largest loss with the floor."""
    for level in _LEVELS:
        for name, law, x, x_prime, z in _lines(level):
            loss = _losses(law, z, x, x_prime)
            best = loss > loss.max() - 1e-9
            smaller = np.minimum(law.pdf(z, x), law.pdf(z, x_prime))
            yield f"{name} {at(level=level)}", smaller[best].max(), floor
        for i, (p, q) in enumerate(_reported(level)):
            best = int(np.argmax(np.abs(np.log(p / q))))
            yield f"b {at(level=level, pair=i)}", min(p[best], q[best]), floor


def _svt4(level: float, corrected: bool) -> float:
    mechanism = SparseVector(level, variant=4, queries=3, corrected=corrected)
    return ExactSparseVector(mechanism).privacy_loss([1, 1, 1], [2, 0, 0])


def _printed_star(lines: list[tuple[str, Any, Any, Any, Floats]]) -> Points:
    """Take the largest |f - f'| on C, as the appendix has it, and the largest log ratio."""
    for name, law, x, x_prime, z in lines:
        level = _worst(law, x, [x_prime])
        yield f"{name} difference", np.abs(law.pdf(z, x) - law.pdf(z, x_prime)).max(), level
        yield f"{name} logarithms", _losses(law, z, x, x_prime).max(), level
