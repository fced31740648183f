"""Tumult Core: wrappers of its measurements on numbers and on pandas, and what they claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pandas as pd
from tmlt.core.domains.collections import ListDomain
from tmlt.core.domains.numpy_domains import NumpyFloatDomain, NumpyIntegerDomain
from tmlt.core.domains.pandas_domains import PandasDataFrameDomain, PandasSeriesDomain
from tmlt.core.measurements.base import Measurement
from tmlt.core.measurements.chaining import ChainTM
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import (
    PureDPToApproxDP,
    PureDPToRhoZCDP,
    RhoZCDPToApproxDP,
)
from tmlt.core.measurements.interactive_measurements import (
    IndexQuery,
    MakeInteractive,
    MeasurementQuery,
    ParallelComposition,
    PrivacyAccountant,
    SequentialComposition,
    create_adaptive_composition,
)
from tmlt.core.measurements.noise_mechanisms import (
    AddDiscreteGaussianNoise,
    AddGaussianNoise,
    AddGeometricNoise,
    AddLaplaceNoise,
)
from tmlt.core.measurements.pandas_measurements.dataframe import AggregateByColumn
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries, NoisyQuantile
from tmlt.core.measurements.postprocess import NonInteractivePostProcess, PostProcess
from tmlt.core.measures import PureDP, RhoZCDP
from tmlt.core.metrics import AbsoluteDifference, SumOf
from tmlt.core.random.continuous_gaussian import gaussian
from tmlt.core.random.discrete_gaussian import sample_dgauss
from tmlt.core.random.laplace import laplace
from tmlt.core.transformations.chaining import ChainTT
from tmlt.core.transformations.identity import Identity
from tmlt.core.utils.exact_number import ExactNumber

FLOATS, WHOLE = NumpyFloatDomain(), NumpyIntegerDomain()
SCALES = (1, 2, 3)
"""The noise of the queries of a session."""


def exact(scale: float) -> ExactNumber:
    """Return the exact number of a float."""
    return ExactNumber.from_float(float(scale), round_up=True)


def noise(kind: str, scale: float) -> Measurement:
    """Return noise for a number; ``scale`` is the variance of a Gaussian."""
    if kind == "AddLaplaceNoise":
        return AddLaplaceNoise(FLOATS, exact(scale))
    if kind == "AddGaussianNoise":
        return AddGaussianNoise(FLOATS, exact(scale))
    if kind == "AddGeometricNoise":
        return AddGeometricNoise(exact(scale))
    return AddDiscreteGaussianNoise(exact(scale))


def quantile(level: float, epsilon: float, measure: str = "pure") -> Measurement:
    """Return a quantile of numbers from 0 to 10."""
    of = PandasSeriesDomain(FLOATS)
    output = RhoZCDP() if measure == "zcdp" else PureDP()
    return NoisyQuantile(of, output, float(level), 0.0, 10.0, exact(epsilon))


def columns(epsilon: float) -> Measurement:
    """Return the medians of two columns."""
    schema = {"a": PandasSeriesDomain(FLOATS), "b": PandasSeriesDomain(FLOATS)}
    medians = {name: quantile(0.5, epsilon) for name in schema}
    return AggregateByColumn(PandasDataFrameDomain(schema), medians)


BUILDERS: Mapping[str, Callable[..., Measurement]] = {
    "PureDPToRhoZCDP": lambda: PureDPToRhoZCDP(noise("AddLaplaceNoise", 1)),
    "PureDPToApproxDP": lambda: PureDPToApproxDP(noise("AddLaplaceNoise", 1)),
    "RhoZCDPToApproxDP": lambda: RhoZCDPToApproxDP(noise("AddDiscreteGaussianNoise", 1)),
    "PostProcess": lambda: PostProcess(noise("AddGeometricNoise", 1), abs),
    "NonInteractivePostProcess": lambda: NonInteractivePostProcess(
        sequence("AddGeometricNoise"), partial(answers_of, "AddGeometricNoise")
    ),
    "Composition": lambda: Composition(
        [noise("AddGeometricNoise", 1), noise("AddGeometricNoise", 2)]
    ),
    "CompositionGaussian": lambda: Composition(
        [noise("AddDiscreteGaussianNoise", 1), noise("AddDiscreteGaussianNoise", 2)]
    ),
    "ChainTM": lambda: ChainTM(
        Identity(AbsoluteDifference(), WHOLE), noise("AddGeometricNoise", 1)
    ),
    "ChainTT": lambda: (
        ChainTT(Identity(AbsoluteDifference(), WHOLE), Identity(AbsoluteDifference(), WHOLE))
        | noise("AddGeometricNoise", 1)
    ),
}


def built(feature: str, scale: float = 1) -> Measurement:
    """Return the measurement of a feature's name."""
    name = feature.rpartition(".")[2]
    return BUILDERS[name]() if name in BUILDERS else noise(name, scale)


def number(x: float, size: int, feature: str, scale: float = 1) -> list[Any]:
    """Draw a number with noise."""
    measurement = built(feature, scale)
    return [measurement(x) for _ in range(size)]


def level(feature: str, scale: float = 1, d_in: float = 1) -> float:
    """Return what the measurement claims for numbers at this distance."""
    return claimed(built(feature, scale), d_in)


def claimed(measurement: Measurement, d_in: float = 1) -> float:
    """Return the first number that a measurement claims."""
    answer = measurement.privacy_function(exact(d_in))
    return float((answer[0] if isinstance(answer, tuple) else answer).to_float(round_up=True))


def approximate_level(feature: str, delta: float) -> float:
    """Return the smallest epsilon, to 1/64, for which the relation to this delta holds."""
    relation, d = built(feature).privacy_relation, ExactNumber(Fraction(str(delta)))
    low, high = 0, 64 * 16
    while high - low > 1:
        middle = (low + high) // 2
        if relation(1, (ExactNumber(Fraction(middle, 64)), d)):
            high = middle
        else:
            low = middle
    return high / 64


def series(values: Sequence[float], size: int, kind: str, scale: float = 1) -> list[list[Any]]:
    """Draw a series of which each number has noise."""
    measurement = AddNoiseToSeries(noise(kind, scale))
    frame = pd.Series(values)
    return [measurement(frame).tolist() for _ in range(size)]


def series_level(kind: str, scale: float = 1) -> float:
    """Return what a series with noise claims where one number changes by 1."""
    return claimed(AddNoiseToSeries(noise(kind, scale)))


def quantiles(
    values: Sequence[float], size: int, level: float, epsilon: float, measure: str = "pure"
) -> list[float]:
    """Draw a quantile."""
    measurement, frame = quantile(level, epsilon, measure), pd.Series(values, dtype=float)
    return [measurement(frame) for _ in range(size)]


def quantile_level(level: float, epsilon: float, measure: str = "pure") -> float:
    """Return what a quantile claims."""
    return claimed(quantile(level, epsilon, measure))


def medians(rows: Sequence[Sequence[float]], size: int, epsilon: float) -> list[list[float]]:
    """Draw the medians of two columns."""
    frame, measurement = pd.DataFrame(rows, columns=["a", "b"], dtype=float), columns(epsilon)
    return [measurement(frame).iloc[0].tolist() for _ in range(size)]


def medians_level(epsilon: float) -> float:
    """Return what the medians of two columns claim."""
    return claimed(columns(epsilon))


def sequence(kind: str, scales: Sequence[float] = SCALES) -> SequentialComposition:
    """Return a session with a budget for noise of these scales."""
    total = [noise(kind, scale).privacy_function(1) for scale in scales]
    measure = PureDP() if kind in ("AddLaplaceNoise", "AddGeometricNoise") else RhoZCDP()
    return SequentialComposition(
        noise(kind, 1).input_domain, AbsoluteDifference(), measure, 1, sum(total, ExactNumber(0))
    )


def answers_of(kind: str, session: Any) -> tuple[Any, ...]:
    """Return all answers of a session."""
    ask = (MeasurementQuery(MakeInteractive(noise(kind, scale))) for scale in SCALES)
    return tuple(session(query)(None) for query in ask)


def sessions(x: float, size: int, kind: str) -> list[Any]:
    """Draw the answers of a session."""
    make = sequence(kind)
    return [answers_of(kind, make(x)) for _ in range(size)]


def adaptive(x: float, size: int, kind: str) -> list[Any]:
    """Draw answers where the sign of the first chooses the order of the others."""
    plan = sequence(kind)
    make = create_adaptive_composition(
        plan.input_domain, plan.input_metric, 1, plan.privacy_budget, plan.output_measure
    )
    draws = []
    for _ in range(size):
        session = make(x)
        first = session(MeasurementQuery(noise(kind, SCALES[0])))
        rest = SCALES[1:] if first > 0 else SCALES[:0:-1]
        answers = (session(MeasurementQuery(noise(kind, scale))) for scale in rest)
        draws.append((first, *answers))
    return draws


def accounted(x: float, size: int, kind: str) -> list[Any]:
    """Draw the answers to an accountant's measurements."""
    make, draws = sequence(kind), []
    for _ in range(size):
        accountant = PrivacyAccountant.launch(make, x)
        draws.append(tuple(accountant.measure(noise(kind, scale)) for scale in SCALES))
    return draws


def sessions_level(kind: str) -> float:
    """Return the budget of a session."""
    return claimed(sequence(kind))


def parallel(values: Sequence[int], size: int, scale: float) -> list[Any]:
    """Draw each of two numbers with noise, in a session for both."""
    make, draws = _parallel(scale), []
    query = MeasurementQuery(MakeInteractive(noise("AddGeometricNoise", scale)))
    for _ in range(size):
        both = make(list(values))
        draws.append(tuple(both(IndexQuery(i))(query)(None) for i in range(2)))
    return draws


def parallel_level(scale: float) -> float:
    """Return the budget of a session for two numbers."""
    return claimed(_parallel(scale))


def _parallel(scale: float) -> ParallelComposition:
    one = sequence("AddGeometricNoise", [scale])
    return ParallelComposition(
        ListDomain(WHOLE, length=2), SumOf(AbsoluteDifference()), PureDP(), [one, one]
    )


def sampled(x: float, size: int, feature: str, scale: float = 1) -> list[Any]:
    """Draw a number with noise of a sampler."""
    name = feature.rpartition(".")[2]
    if name == "sample_dgauss":
        return [int(x) + sample_dgauss(scale) for _ in range(size)]
    u, scale = float(x), float(scale)
    if name == "gaussian":
        return [gaussian(sigma_squared=scale, u=u) for _ in range(size)]
    return [laplace(u, scale) for _ in range(size)]
