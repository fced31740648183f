"""Records of draws with the same noise, and their differences, call by call."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np

from epsilometer.arrays import Floats
from epsilometer_audit.serving.errors import shortened

Unit = Literal["epsilon", "mu"]
Kind = Literal["call", "number", "seed", "argument", "data"]

_CLOSE = 1e-9  # relative difference below which numbers count as the same
_SCALES = ("scale", "sigma", "cov")
_SIZES = ("size", "k")
_DATA = ("x", "seq", "population", "sequence", "items")
_FAMILIES = {
    name: family
    for family, names in {
        "normal": "gauss norm normalvariate",
        "standard_normal": "randn",
        "exponential": "expovariate expon",
        "random": "random_sample rand ranf sample",
        "binomial": "binomialvariate bernoulli binom",
    }.items()
    for name in names.split()
}
_BOUNDLESS = frozenset(
    (
        *("exponential", "gamma", "geometric", "gumbel", "poisson", "uniform", "integers"),
        *("randint", "randrange", "randbelow", "randbits", "getrandbits", "standard_gamma"),
        *("chisquare", "beta", "betavariate", "gammavariate", "negative_binomial", "weibull"),
        *("planck", "geom", "dlaplace", "t", "standard_t"),
    )
)
"""Distributions whose likelihood ratio has no bound where a parameter differs."""


@dataclass(frozen=True)
class Frame:
    """A line of a calling function, and its single numbers."""

    function: str
    file: str
    line: int
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """File and line in short."""
        return f"{Path(self.file).name}:{self.line}"

    @property
    def text(self) -> str:
        """The line itself, "" where its file cannot be read."""
        return source_line(self.file, self.line)


@dataclass(frozen=True)
class Call:
    """A call into a source of randomness; ``frames``, the innermost first, may be none.

    ``source`` is a number of the generator, where it is known.
    """

    kind: Literal["draw", "seed"]
    name: str
    arguments: Mapping[str, Any]
    count: int
    values: Any = None
    frames: tuple[Frame, ...] = ()
    source: int | None = None

    @property
    def place(self) -> str:
        """File and line, "" where there is none."""
        return self.frames[0].place if self.frames else ""

    @property
    def text(self) -> str:
        """The line that called."""
        return self.frames[0].text if self.frames else ""

    @property
    def family(self) -> str:
        """The distribution, by NumPy's name."""
        parts = [part for part in self.name.split(".") if part != "rvs"]
        return _FAMILIES.get(parts[-1], parts[-1])

    def numbers(self, *names: str) -> Floats:
        """Return an argument of one of these names as numbers of shape ``(n,)``, or of none."""
        for name in names:
            if name in self.arguments:
                return as_numbers(self.arguments[name])
        return np.zeros(0)

    def text_with_arguments(self) -> str:
        """Return its name with its arguments."""
        passed = [f"{k}={value_text(v)}" for k, v in self.arguments.items() if v is not None]
        return f"{self.name}({', '.join(passed)})"


@dataclass(frozen=True)
class Trace:
    """A draw: its calls, its lines in the order of their first run, its output.

    ``second`` is the output of a draw after it, in the same process; ``changed`` tells whether two
    more draws with the same noise differ.
    """

    calls: tuple[Call, ...]
    lines: Mapping[tuple[str, int], None]
    output: Any
    failed: str | None
    second: Any = None
    changed: bool = False

    @property
    def draws(self) -> tuple[Call, ...]:
        """The calls that drew."""
        return tuple(call for call in self.calls if call.kind == "draw")

    @cached_property
    def result(self) -> Any:
        """The output; how it failed, where it did."""
        return {"failure": self.failed} if self.failed is not None else self.output


@dataclass(frozen=True)
class Run:
    """Draws on x, on x' and, if that differed, on x again, at the same seed."""

    x: Trace
    x_prime: Trace
    again: Trace | None


@dataclass(frozen=True)
class Difference:
    """A call that is not the same on x and on x'.

    ``kind``: another ``call``, or one on one side only; another ``number`` of values; another
    ``seed``, ``argument`` (the ``parameter``), or ``data`` to draw from. ``loss`` is that of the
    call's result, infinite without a bound, None if unknown.
    """

    kind: Kind
    index: int
    x: Call | None
    x_prime: Call | None
    parameter: str = ""
    loss: float | None = None
    unit: Unit = "epsilon"

    @property
    def call(self) -> Call:
        """The call, that on x where there is one."""
        call = self.x or self.x_prime
        assert call is not None
        return call

    @property
    def identity(self) -> tuple[Any, ...]:
        """A key of the difference, equal in all runs."""
        sides = self.x is None, self.x_prime is None
        return self.kind, self.call.name, self.call.place, self.parameter, sides


def runs_of(replay: Mapping[str, Any]) -> list[Run]:
    """Return the runs of what was `replayed`."""

    def trace(record: Mapping[str, Any]) -> Trace:
        lines = dict.fromkeys((file, line) for file, line in record.get("lines", ()))
        fields = {key: record.get(key) for key in ("output", "failed", "second")}
        changed = record.get("changed", False)
        return Trace(calls_of(record.get("calls", ())), lines, **fields, changed=changed)

    return [
        Run(**{side: record and trace(record) for side, record in run.items()})
        for run in replay["runs"]
    ]


def calls_of(records: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    """Return calls as they were recorded."""
    return tuple(
        Call(**{**record, "frames": tuple(Frame(**frame) for frame in record["frames"])})
        for record in records
    )


# --- differences ----------------------------------------------------------------------------------


def differences(x: Trace, x_prime: Trace) -> Iterator[Difference]:
    """Yield the calls that are not the same, until the sequences of calls diverge."""
    for i, (a, b) in enumerate(zip_longest(x.calls, x_prime.calls)):
        if a is None or b is None or (a.name, a.place) != (b.name, b.place):
            yield Difference("call", i, a, b)
            return
        names = [
            name
            for name in dict.fromkeys([*a.arguments, *b.arguments])
            if not same(a.arguments.get(name), b.arguments.get(name))
        ]
        if a.kind == "seed":
            if names:
                yield Difference("seed", i, a, b, names[0])
                return
        elif names and not (a.count != b.count and set(names) <= set(_SIZES)):
            name = next((name for name in names if name in _SCALES), names[0])
            if name in _DATA or (name == "a" and not isinstance(a.arguments.get("a"), int)):
                yield Difference("data", i, a, b, name)
            else:
                loss, unit = loss_of(a, b)
                yield Difference("argument", i, a, b, name, loss, unit)
        if a.count != b.count:
            yield Difference("number", i, a, b, "count")
            return


def loss_of(x: Call, x_prime: Call) -> tuple[float | None, Unit]:
    """Return the privacy loss of a call's result, where its arguments differ, and its unit.

    The unit is epsilon; for normal noise mu, of Gaussian differential privacy. None if unknown.
    """
    family = x.family
    if family in ("laplace", "normal", "logistic"):
        return _of_shift(x, x_prime), "mu" if family == "normal" else "epsilon"
    if family == "binomial":
        return _of_binomial(x, x_prime), "epsilon"
    if family in ("choice", "choices", "multinomial"):
        return _of_choice(x, x_prime), "epsilon"
    return (math.inf if family in _BOUNDLESS else None), "epsilon"


def _of_shift(x: Call, x_prime: Call) -> float | None:
    scale, scale_prime = (call.numbers("scale", "sigma") for call in (x, x_prime))
    shift = _broadcast(x.numbers("loc", "mu"), -x_prime.numbers("loc", "mu"))
    ratio = _broadcast(shift, scale, np.divide)
    if not scale.size or not scale_prime.size or not ratio.size:
        return None
    if not same(scale.tolist(), scale_prime.tolist()):
        return math.inf
    times = x.count / ratio.size
    if x.family == "normal":
        return math.sqrt(float((ratio**2).sum() * times))
    return float(np.abs(ratio).sum() * times)


def _of_binomial(x: Call, x_prime: Call) -> float | None:
    p, q, n = x.numbers("p"), x_prime.numbers("p"), x.numbers("n")
    if not p.size == q.size == n.size == 1 or n != x_prime.numbers("n"):
        return None
    return float(n[0] * x.count * max(_ratio(p, q), _ratio(1 - p, 1 - q)))


def _of_choice(x: Call, x_prime: Call) -> float | None:
    p, q = (call.numbers("p", "pvals", "weights") for call in (x, x_prime))
    if p.size and p.size == q.size and p.sum() and q.sum():
        return _ratio(p / p.sum(), q / q.sum()) * max(x.count, 1)
    return None if same(x.arguments.get("a"), x_prime.arguments.get("a")) else math.inf


def _ratio(p: Floats, q: Floats) -> float:
    """Return the largest logarithm of a ratio of probabilities, either way."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.abs(np.log(p) - np.log(q))
    return float(np.nanmax(logs, initial=0.0))


def _broadcast(a: Floats, b: Floats, operation: Any = np.add) -> Floats:
    """Return an operation on arrays of one size, or on a number and an array; else empty."""
    if not a.size or not b.size or (a.size != b.size and 1 not in (a.size, b.size)):
        return np.zeros(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(operation(a, b), float)


def same(a: Any, b: Any) -> bool:
    """Tell whether two recorded values are the same up to the rounding of floats."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float) or isinstance(b, float):
        if not (isinstance(a, int | float) and isinstance(b, int | float)):
            return False
        return math.isclose(a, b, rel_tol=_CLOSE) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and bool(a == b)


def as_numbers(value: Any) -> Floats:
    """Return a value as numbers of shape ``(n,)``; of shape ``(0,)`` if it has other parts."""
    try:
        return np.ravel(np.asarray([] if isinstance(value, str | bool | None) else value, float))
    except (TypeError, ValueError, OverflowError):
        return np.zeros(0)


# --- lines ----------------------------------------------------------------------------------------


def source_line(file: str, line: int) -> str:
    """Return a line of a file in short."""
    return shortened(" ".join(linecache.getline(file, line).split()), 100)


# --- texts ----------------------------------------------------------------------------------------


def value_text(value: Any) -> str:
    """Return a recorded value in short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        first, rest = (value, "") if len(value) <= 8 else (value[:3], f", ... of {len(value)}")
        return f"[{', '.join(map(value_text, first))}{rest}]"
    if not isinstance(value, dict):
        return shortened(repr(value))
    if "keys" in value:
        inside = [f"{value_text(key)}: {value_text(part)}" for key, part in value["keys"][:8]]
        return shortened(f"{{{', '.join(inside)}}}")
    if "digest" in value:
        return f"{value_text(value['first'])} ... of shape {value['shape']}"
    known = (value[key] for key in ("failure", "value", "type") if key in value)
    return shortened(str(next(known, value)), 80)


ABSENT = {"value": "absent"}


def entries(output: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of an output by name, and their number."""
    of, start = (f" of {name}", f"{name}, ") if name else ("", "")
    if isinstance(output, list):
        yield f"length{of}", len(output)
        for i, part in enumerate(output[:64]):
            yield from entries(part, f"{start}entry {i}")
    elif isinstance(output, dict) and "keys" in output:
        keys = sorted(value_text(key) for key, _ in output["keys"])
        yield f"keys{of}", {"value": f"{{{', '.join(keys)}}}"}
        for key, part in output["keys"][:64]:
            yield from entries(part, f"{start}key {value_text(key)}")
    else:
        yield name, output
