"""Additive noise, found by replay: outputs that are numbers plus multiples of recorded draws.

Over runs with other noise, such outputs are linear in the noise: the intercept is the output
without noise, and the slopes are the final scales of the noise. Both are exact, as only the noise
is random, and it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit, ndtri

from epsilometer.arrays import Floats
from epsilometer_audit.explaining.traces import Call, Run, Trace, Unit, as_numbers, same

_EXACT = 1e-7  # largest residual, in units of the spread of outputs
_LEAST = 3  # points of a line
_MOST = 64  # entries

_DISTRIBUTIONS = {
    "laplace": "Laplace",
    "normal": "normal",
    "standard_normal": "normal",
    "logistic": "logistic",
}


@dataclass(frozen=True)
class Additive:
    """Outputs that are numbers with additive noise."""

    distribution: str  # Laplace, discrete Laplace, normal or logistic
    call: Call  # the first that draws the noise
    count: int  # numbers of noise
    scales: Floats  # of the noise in each entry on x, (d,); standard deviations of normal noise
    scales_prime: Floats  # on x'
    shift: Floats  # outputs on x' minus those on x with the same noise, (d,)
    differ: bool  # whether the noise has other factors on x than on x'
    loss: float  # the privacy loss at this shift, infinite without a bound

    @property
    def unit(self) -> Unit:
        """The unit of the loss."""
        return "mu" if self.distribution == "normal" else "epsilon"

    @property
    def distance(self) -> float:
        """The length of the shift: in L2 for normal noise, in L1 for the others."""
        return float(np.linalg.norm(self.shift, _norm(self.distribution)))


def additive(runs: Sequence[Run]) -> Additive | None:
    """Return the additive noise of all outputs; None if they have another form."""
    sides = [[run.x for run in runs], [run.x_prime for run in runs]]
    outputs, outputs_prime = map(_outputs, sides)
    if outputs is None or outputs_prime is None or outputs.shape != outputs_prime.shape:
        return None
    noises, noises_prime = map(_noises, sides)
    for name, (call, noise) in noises.items():
        other = noises_prime.get(name, (call, np.zeros(0)))[1]
        if noise.shape != other.shape:
            continue
        distribution = name.partition(" by ")[0]
        for fit in (_each, _mixed):
            fit_x, fit_x_prime = fit(noise, outputs), fit(other, outputs_prime)
            if fit_x is not None and fit_x_prime is not None:
                result = _compared(distribution, call, fit_x, fit_x_prime)
                if result is not None:
                    return result
    return None


_Fit = tuple[Floats, Floats]  # intercepts, (d,), and slopes, (d, k)


def _compared(distribution: str, call: Call, x: _Fit, x_prime: _Fit) -> Additive | None:
    """Return the noise of two fits; None where no loss follows."""
    (start, slopes), (start_prime, slopes_prime) = x, x_prime
    shift = start_prime - start
    rounding = 1e-7 * (np.abs(start) + np.abs(slopes).max(axis=1))
    shift[np.abs(shift) < rounding] = 0.0
    differ = not np.allclose(slopes, slopes_prime, rtol=1e-6, atol=1e-9 * np.abs(slopes).max())
    loss = math.inf if differ else _loss(distribution, slopes, shift)
    if loss is None:
        return None
    norm = 2 if distribution == "normal" else np.inf
    scales = [np.linalg.norm(side, norm, axis=1) for side in (slopes, slopes_prime)]
    return Additive(distribution, call, slopes.shape[1], scales[0], scales[1], shift, differ, loss)


def _loss(distribution: str, slopes: Floats, shift: Floats) -> float | None:
    """Return the loss at a shift of noise of scale 1 that is multiplied by the slopes."""
    if not shift.any():
        return 0.0
    entries, count = slopes.shape
    if count == entries and not (slopes - np.diag(np.diag(slopes))).any():
        return float(np.linalg.norm(shift / np.diag(slopes), _norm(distribution)))
    noise, _, rank, _ = np.linalg.lstsq(slopes, shift)
    if np.abs(slopes @ noise - shift).max() > 1e-6 * np.abs(shift).max():
        return math.inf  # a combination of entries has no noise
    if distribution == "normal" or rank == count:
        return float(np.linalg.norm(noise, _norm(distribution)))
    return float(np.abs(shift[0]) / np.abs(slopes).max()) if entries == 1 else None


def _norm(distribution: str) -> int:
    return 2 if distribution == "normal" else 1


def _outputs(traces: Sequence[Trace]) -> Floats | None:
    """Return outputs as numbers of shape ``(runs, d)``."""
    if any(trace.failed is not None for trace in traces):
        return None
    return _table([as_numbers(trace.output) for trace in traces])


def _table(rows: Sequence[Floats]) -> Floats | None:
    """Return rows of one size as a table, if all are finite and there are not too many columns."""
    sizes = {row.size for row in rows}
    if len(sizes) != 1 or not 0 < min(sizes) <= _MOST:
        return None
    table = np.array(rows)
    return table if np.isfinite(table).all() else None


def _each(noise: Floats, outputs: Floats) -> _Fit | None:
    """Return the lines on which outputs lie, each in its own noise; None unless all do."""
    if noise.shape != outputs.shape:
        return None
    spread = np.ptp(noise, axis=0)
    if len(noise) < _LEAST or not (spread > 0).all():
        return None
    centre, middle = noise.mean(axis=0), outputs.mean(axis=0)
    slope = ((noise - centre) * (outputs - middle)).sum(axis=0) / ((noise - centre) ** 2).sum(0)
    start = middle - slope * centre
    if not slope.all() or not _exact(outputs, start + slope * noise):
        return None
    return start, np.diag(slope)


def _mixed(noise: Floats, outputs: Floats) -> _Fit | None:
    """Return the plane on which outputs lie, in all noise together; None unless they do."""
    runs, count = noise.shape
    if runs < count + _LEAST:
        return None
    design = np.column_stack([np.ones(runs), noise])
    fitted, _, rank, _ = np.linalg.lstsq(design, outputs)
    plane: Floats = np.asarray(fitted, np.float64)
    if rank <= count or not _exact(outputs, design @ plane):
        return None
    slopes = plane[1:].T
    slopes[np.abs(slopes) < 1e-9 * np.abs(slopes).max()] = 0.0
    return (plane[0], slopes) if slopes.any() else None


def _exact(outputs: Floats, fitted: Floats) -> bool:
    """Tell whether a fit is exact up to rounding."""
    most = _EXACT * np.ptp(outputs, axis=0) + 1e-12 * np.abs(outputs).max(axis=0)
    return bool((np.abs(outputs - fitted).max(axis=0) <= most).all())


# --- noise of scale 1 -----------------------------------------------------------------------------


def _noises(traces: Sequence[Trace]) -> dict[str, tuple[Call, Floats]]:
    """Return candidates for the noise by distribution: a call, and ``(runs, k)`` of scale 1."""
    candidates: dict[str, tuple[Call, list[Floats]]] = {}
    for trace in traces:
        for distribution, call, noise in _of_trace(trace):
            candidates.setdefault(distribution, (call, []))[1].append(noise)
    return {
        distribution: (call, table)
        for distribution, (call, rows) in candidates.items()
        if len(rows) == len(traces) and (table := _table(rows)) is not None
    }


def _of_trace(trace: Trace) -> Iterator[tuple[str, Call, Floats]]:
    groups: dict[str, list[Call]] = {}
    for call in trace.draws:
        family = "random" if call.family == "uniform" else call.family
        groups.setdefault(_DISTRIBUTIONS.get(family, family), []).append(call)
    for distribution in dict.fromkeys(_DISTRIBUTIONS.values()):
        if distribution in groups:
            yield distribution, groups[distribution][0], _values(groups[distribution], _unit)
    for family, combine in _COMBINED.items():
        units = _values(groups.get(family, []), _unit)
        for distribution, size, function in combine:
            if units.size and units.size % size == 0:
                with np.errstate(all="ignore"):
                    yield distribution, groups[family][0], function(units.reshape(-1, size).T)
    yield from _of_geometric(groups.get("geometric", []))


def _of_geometric(calls: Sequence[Call]) -> Iterator[tuple[str, Call, Floats]]:
    """Yield the differences of geometric numbers of one p, in units of their scale."""
    p = calls[0].numbers("p") if calls else np.zeros(0)
    if p.size != 1 or not 0 < p[0] < 1:
        return
    units = _values(calls)
    if units.size % 2 == 0 and all(same(call.arguments.get("p"), float(p[0])) for call in calls):
        pairs = units.reshape(-1, 2)
        yield "discrete Laplace", calls[0], (pairs[:, 0] - pairs[:, 1]) * -math.log1p(-p[0])


def _values(calls: Sequence[Call], unit: Callable[[Call, Floats], Floats] | None = None) -> Floats:
    """Return the results of calls, in order and in units; none if some were not recorded."""
    results = []
    for call in calls:
        values = as_numbers(call.values)
        if values.size != call.count:
            return np.zeros(0)
        results.append(unit(call, values) if unit else values)
    return np.concatenate(results) if results else np.zeros(0)


def _unit(call: Call, values: Floats) -> Floats:
    """Return the results of a call as of scale 1 around 0; of a uniform distribution, in [0, 1]."""
    if call.family == "uniform":
        low, high = call.numbers("low", "a"), call.numbers("high", "b")
        return _divided(values, low, high - low if low.size == high.size else high)
    if call.family == "exponential" and "lambd" in call.arguments:
        rate = call.numbers("lambd")
        return _divided(values, np.zeros(1), 1 / rate if rate.size and rate.all() else rate)
    if call.family == "exponential":
        return _divided(values, np.zeros(1), call.numbers("scale"))
    if call.family in _DISTRIBUTIONS and call.family != "standard_normal":
        return _divided(values, call.numbers("loc", "mu"), call.numbers("scale", "sigma"))
    return values


def _divided(values: Floats, start: Floats, scale: Floats) -> Floats:
    if not {start.size, scale.size} <= {1, values.size} or not scale.all():
        return np.full(values.size, np.nan)
    return np.asarray((values - start) / scale, float)


def _laplace(u: Floats) -> Floats:
    return np.asarray(-np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)), float)


def _half(u: Floats, v: Floats) -> Floats:
    """Return half of a Laplace number by the method of Holohan and Braghin (2021)."""
    return np.asarray(np.log1p(-u) * np.cos(np.pi * v), float)


_Combined = Sequence[tuple[str, int, Callable[[Any], Any]]]
_COMBINED: Mapping[str, _Combined] = {
    "random": (
        ("Laplace by inversion", 1, lambda u: _laplace(u[0])),
        ("normal by inversion", 1, lambda u: ndtri(u[0])),
        ("logistic by inversion", 1, lambda u: logit(u[0])),
        ("Laplace by four", 4, lambda u: _half(u[0], u[1]) + _half(u[2], u[3])),
    ),
    "exponential": (("Laplace by a difference", 2, lambda e: e[0] - e[1]),),
}
