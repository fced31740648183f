"""Whatever OpenDP constructs from an expression, and what its maps claim.

An expression `make` has `dp` (opendp.prelude), `np`, and the domains below. `given` makes the
argument of a call from an input x, and `released` the output from what the call returns, y.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import opendp.prelude as dp

try:
    import polars as pl
except ImportError:  # in the environment without it
    pl = None

warnings.simplefilter("ignore")
dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")


def atoms(kind: Any, **about: Any) -> Any:
    """Return the domain of a number or text; floats are not NaN unless it is said."""
    floats = {"nan": False} if kind in (float, "f32") else {}
    return dp.atom_domain(T=kind, **{**floats, **about})


def rows(kind: Any, size: int | None = None, **about: Any) -> Any:
    """Return the domain of lists of numbers or texts."""
    return dp.vector_domain(atoms(kind, **about), size=size)


def frame(rows: Any, names: str) -> Any:
    """Return the lazy frame of rows, which are mappings, with these columns; see `plan`."""
    types = {"key": pl.String, "x": pl.Float64}
    schema = {name: types.get(name, pl.Int64) for name in names.split()}
    return pl.LazyFrame(rows, schema=schema, orient="row")


def plan(
    query: Any,
    names: str = "key v",
    metric: Any = None,
    measure: Any = None,
    margin: Mapping[str, Any] = {},
    **options: Any,
) -> Any:
    """Return a measurement of frames with these columns: what `query` makes of a plan.

    They are a word `key`, whole numbers `v` and `w`, floats `x` that may be missing, and users
    `id`. By default, rows are protected, by pure differential privacy.
    """
    kinds = {"key": str, "v": "i64", "w": "i64", "id": "i64"}
    domain = dp.lazyframe_domain(
        [
            dp.series_domain(
                name, dp.option_domain(atoms("f64")) if name == "x" else atoms(kinds[name])
            )
            for name in names.split()
        ]
    )
    if margin:
        domain = dp.with_margin(domain, dp.polars.Margin(**{"by": [], **margin}))
    return dp.m.make_private_lazyframe(
        domain,
        metric or dp.symmetric_distance(),
        measure or dp.max_divergence(),
        query(frame([], names)),
        **{"global_scale": 1.0, **options},
    )


def users() -> Any:
    """Return the metric of frames that differ in all rows of a user."""
    return dp.symmetric_id_distance(identifier=pl.col("id"))


@cache
def evaluated(text: str) -> Any:
    """Return the value of an expression."""
    return eval(text, globals())  # noqa: S307


def draw(x: Any, make: str, given: str = "x", released: str = "y") -> Any:
    """Draw once, or transform x."""
    y = evaluated(make)(evaluated(f"lambda x: {given}")(x))
    return evaluated(f"lambda y: {released}")(y)


def draws(
    x: Any,
    size: int,
    make: str,
    given: str = "x",
    released: str = "y",
    d_in: Any = None,  # noqa: ARG001
) -> list[Any]:
    """Draw from one measurement; ``d_in`` is the distance of inputs that its claim is about."""
    return [draw(x, make, given, released) for _ in range(size)]


def _map(make: str, d_in: Any) -> Any:
    made = evaluated(make)
    if isinstance(d_in, str):
        return made.map(evaluated(d_in))
    return made.map(float(d_in) if made.input_distance_type == "f64" else int(d_in))


def level(make: str, d_in: Any = 1) -> float:
    """Return the claim: an epsilon, a rho, or a distance of outputs; of 0 a tiny level."""
    claim = _map(make, d_in)
    return float(claim[0] if isinstance(claim, tuple) else claim) or 1e-9


def noised(
    x: Any,
    size: int,
    rng: np.random.Generator,
    make: str,
    metric: str,
    d_in: Any = 1,
    given: str = "x",
    released: str = "y",
) -> Any:
    """Transform x, and add noise in proportion to the distance of outputs that the map allows.

    If the map is right, epsilon is 1, or mu for ``L2``. Rows are counted, in 8 kinds: no distance
    of lists is smaller than that of the counts. So is the L1 distance of mappings.
    """
    add, scale = rng.normal if metric == "L2" else rng.laplace, level(make, d_in)
    drawn = []
    for _ in range(size):
        values = numbers(draw(x, make, given, released), metric)
        noise = add(0, scale, len(values)).tolist()
        noisy = [
            value + (round(more) if isinstance(value, int) else more)
            for value, more in zip(values, noise)  # noqa: B905
        ]
        drawn.append(noisy if len(noisy) > 1 else noisy[0])
    return drawn


def numbers(y: Any, metric: str, kinds: int = 8) -> list[Any]:
    """Return a number or a vector as it is, and of rows or a mapping the count of each kind."""
    if metric in ("absolute", "L1", "L2") and not isinstance(y, Mapping):
        return list(y) if isinstance(y, list) else [y]
    counts = [0] * kinds
    for row, number in y.items() if isinstance(y, Mapping) else [(row, 1) for row in y]:
        counts[crc32(repr(row).encode()) % kinds] += number
    return counts


def delta(make: str, d_in: Any = 1) -> float:
    """Return the delta of the claim."""
    return float(_map(make, d_in)[1])


def scored(scale: float) -> Any:
    """Return a measurement of a noisy score and a noisy candidate."""
    noise = dp.m.make_laplace(atoms(float), dp.absolute_distance(T=float), 2 * scale)
    return dp.m.make_user_measurement(
        atoms(float),
        dp.absolute_distance(T=float),
        dp.max_divergence(),
        lambda x: (noise(x), int(noise(x))),
        lambda d: d / scale,
        TO="(f64, ExtrinsicObject)",
    )


def answers(session: Any, make: str, number: int) -> list[Any]:
    """Ask a session until it refuses."""
    drawn: list[Any] = []
    for _ in range(number):
        try:
            drawn.append(session(evaluated(make)))
        except dp.OpenDPException:
            drawn.append(None)
    return drawn


class Spent:
    """An odometer that answers some queries; its claim is the loss that it reports for them."""

    def __init__(self, odometer: Any, query: Any, number: int) -> None:
        self.odometer, self.query, self.number = odometer, query, number

    def __call__(self, x: Any) -> list[Any]:
        """Return the answers."""
        session = self.odometer(x)
        return [session(self.query) for _ in range(self.number)]

    def map(self, d_in: Any) -> Any:
        """Return what the odometer says after the queries."""
        session = self.odometer(0)
        for _ in range(self.number):
            session(self.query)
        return session.privacy_loss(d_in)
