"""Additive noise, found by replay: outputs that are numbers plus multiples of what was drawn.

Over runs with other noise, such outputs are linear in the noise: where that is zero they are what
they would be without noise, and the slopes are the scales that the noise has in the end, whatever
was done with it. Both are exact, as nothing is random but the noise, which is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit, ndtri

from epsilometer.auditing.explain.traces import Call, Run, Trace, Unit, as_numbers, same
from epsilometer.events.arrays import Floats

_EXACT = 1e-7  # of the spread of outputs, by which they may lie beside the line
_LEAST = 3  # points of a line that is one
_MOST = 64  # entries

_LAWS = {
    "laplace": "Laplace",
    "normal": "normal",
    "standard_normal": "normal",
    "logistic": "logistic",
}


@dataclass(frozen=True)
class Additive:
    """Outputs that are numbers with additive noise."""

    law: str  # Laplace, discrete Laplace, normal or logistic
    call: Call  # the first that draws the noise
    count: int  # numbers of noise
    scales: Floats  # of the noise in each entry on x, (d,); of a normal law standard deviations
    scales_prime: Floats  # on x'
    shift: Floats  # by how much outputs on x' exceed those on x with the same noise, (d,)
    differ: bool  # whether the noise is multiplied by other numbers on x and on x'
    loss: float  # the level of privacy at this shift, infinite without a bound

    @property
    def unit(self) -> Unit:
        """What the loss is told in."""
        return "mu" if self.law == "normal" else "epsilon"

    @property
    def distance(self) -> float:
        """The distance that counts: of L2 for the normal law, of L1 for the others."""
        return float(np.linalg.norm(self.shift, _norm(self.law)))


def additive(runs: Sequence[Run]) -> Additive | None:
    """Return the additive noise of all outputs; None where they are anything else."""
    sides = [[run.x for run in runs], [run.x_prime for run in runs]]
    outputs, outputs_prime = map(_outputs, sides)
    if outputs is None or outputs_prime is None or outputs.shape != outputs_prime.shape:
        return None
    noises, noises_prime = map(_noises, sides)
    for name, (call, noise) in noises.items():
        other = noises_prime.get(name, (call, np.zeros(0)))[1]
        if noise.shape != other.shape:
            continue
        law = name.partition(" by ")[0]
        for fit in (_each, _mixed):
            ours, theirs = fit(noise, outputs), fit(other, outputs_prime)
            if ours is not None and theirs is not None:
                found = _compared(law, call, ours, theirs)
                if found is not None:
                    return found
    return None


_Fit = tuple[Floats, Floats]  # outputs without noise, (d,), and slopes, (d, k)


def _compared(law: str, call: Call, x: _Fit, x_prime: _Fit) -> Additive | None:
    """Return what two fits say; None where no loss follows."""
    (start, slopes), (start_prime, slopes_prime) = x, x_prime
    shift = start_prime - start
    rounding = 1e-7 * (np.abs(start) + np.abs(slopes).max(axis=1))
    shift[np.abs(shift) < rounding] = 0.0
    differ = not np.allclose(slopes, slopes_prime, rtol=1e-6, atol=1e-9 * np.abs(slopes).max())
    loss = math.inf if differ else _loss(law, slopes, shift)
    if loss is None:
        return None
    norm = 2 if law == "normal" else np.inf
    scales = [np.linalg.norm(each, norm, axis=1) for each in (slopes, slopes_prime)]
    return Additive(law, call, slopes.shape[1], scales[0], scales[1], shift, differ, loss)


def _loss(law: str, slopes: Floats, shift: Floats) -> float | None:
    """Return the loss at a shift of what numbers of noise of scale 1 are mapped to by slopes."""
    if not shift.any():
        return 0.0
    entries, count = slopes.shape
    if count == entries and not (slopes - np.diag(np.diag(slopes))).any():
        return float(np.linalg.norm(shift / np.diag(slopes), _norm(law)))
    noise, _, rank, _ = np.linalg.lstsq(slopes, shift)
    if np.abs(slopes @ noise - shift).max() > 1e-6 * np.abs(shift).max():
        return math.inf  # a combination of entries has no noise
    if law == "normal" or rank == count:
        return float(np.linalg.norm(noise, _norm(law)))
    return float(np.abs(shift[0]) / np.abs(slopes).max()) if entries == 1 else None


def _norm(law: str) -> int:
    return 2 if law == "normal" else 1


def _outputs(traces: Sequence[Trace]) -> Floats | None:
    """Return outputs as numbers of shape ``(runs, d)``."""
    if any(trace.failed is not None for trace in traces):
        return None
    found = [as_numbers(trace.output) for trace in traces]
    sizes = {row.size for row in found}
    if len(sizes) != 1 or not 0 < min(sizes) <= _MOST:
        return None
    table = np.array(found)
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
    found: Floats = np.asarray(fitted, np.float64)
    if rank <= count or not _exact(outputs, design @ found):
        return None
    slopes = found[1:].T
    slopes[np.abs(slopes) < 1e-9 * np.abs(slopes).max()] = 0.0
    return (found[0], slopes) if slopes.any() else None


def _exact(outputs: Floats, fitted: Floats) -> bool:
    """Tell whether a fit is exact, but for rounding."""
    most = _EXACT * np.ptp(outputs, axis=0) + 1e-12 * np.abs(outputs).max(axis=0)
    return bool((np.abs(outputs - fitted).max(axis=0) <= most).all())


# --- noise of scale 1 -----------------------------------------------------------------------------


def _noises(traces: Sequence[Trace]) -> dict[str, tuple[Call, Floats]]:
    """Return what may be the noise of outputs, by its law: a call, and ``(runs, k)`` of scale 1."""
    found: dict[str, tuple[Call, list[Floats]]] = {}
    for trace in traces:
        for law, call, noise in _of_one(trace):
            found.setdefault(law, (call, []))[1].append(noise)
    tables = {}
    for law, (call, rows) in found.items():
        sizes = {row.size for row in rows}
        if len(rows) == len(traces) and len(sizes) == 1 and 0 < min(sizes) <= _MOST:
            table = np.array(rows)
            if np.isfinite(table).all():
                tables[law] = call, table
    return tables


def _of_one(trace: Trace) -> Iterator[tuple[str, Call, Floats]]:
    groups: dict[str, list[Call]] = {}
    for call in trace.draws:
        family = "random" if call.family == "uniform" else call.family
        groups.setdefault(_LAWS.get(family, family), []).append(call)
    for law in dict.fromkeys(_LAWS.values()):
        if law in groups:
            yield law, groups[law][0], _values(groups[law], _unit)
    for family, combine in _COMBINED.items():
        units = _values(groups.get(family, []), _unit)
        for law, each, function in combine:
            if units.size and units.size % each == 0:
                with np.errstate(all="ignore"):
                    yield law, groups[family][0], function(units.reshape(-1, each).T)
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
    """Return all that calls returned, in order and in units; none if not all of it was told."""
    found = []
    for call in calls:
        values = as_numbers(call.values)
        if values.size != call.count:
            return np.zeros(0)
        found.append(unit(call, values) if unit else values)
    return np.concatenate(found) if found else np.zeros(0)


def _unit(call: Call, values: Floats) -> Floats:
    """Return what a call returned as of scale 1 around 0; of a uniform law, in [0, 1]."""
    if call.family == "uniform":
        low, high = call.numbers("low", "a"), call.numbers("high", "b")
        return _divided(values, low, high - low if low.size == high.size else high)
    if call.family == "exponential" and "lambd" in call.arguments:
        rate = call.numbers("lambd")
        return _divided(values, np.zeros(1), 1 / rate if rate.size and rate.all() else rate)
    if call.family == "exponential":
        return _divided(values, np.zeros(1), call.numbers("scale"))
    if call.family in _LAWS and call.family != "standard_normal":
        return _divided(values, call.numbers("loc", "mu"), call.numbers("scale", "sigma"))
    return values


def _divided(values: Floats, start: Floats, scale: Floats) -> Floats:
    if any(each.size not in (1, values.size) for each in (start, scale)) or not scale.all():
        return np.full(values.size, np.nan)
    return np.asarray((values - start) / scale, float)


def _laplace(u: Floats) -> Floats:
    return np.asarray(-np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)), float)


def _half(u: Floats, v: Floats) -> Floats:
    """Return half of a Laplace number, of Holohan and Braghin 2021, as diffprivlib draws it."""
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
