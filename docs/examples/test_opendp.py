"""Thirty measurements of OpenDP against what their own privacy maps claim.

    pip install opendp==0.16.0 pytest ../..    # in this folder of a clone
    pytest -o privacy_alpha=1e-6 test_opendp.py

docs/library-authors.md says what is tested and how often it raises a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import epsilometer_audit as ea

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib", "idealized-numerics")

INTEGERS = dp.atom_domain(T=int), dp.absolute_distance(T=int)
REALS = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
VECTORS = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
SCORES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
TABLES = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
COUNTS = (
    dp.map_domain(dp.atom_domain(T=str), REALS[0]),
    dp.l01inf_distance(dp.absolute_distance(T=float)),
)
PURE, CONCENTRATED = dp.max_divergence(), dp.zero_concentrated_divergence()

WHOLE = {"values": [-3, 3], "whole": True, "distance": 1}
REAL = {"values": [-3, 3], "distance": 1}
ROWS = {"rows": {"values": [0, 4], "whole": True}, "length": [0, 5], "limit": 20}


def words(*choices: str) -> dict[str, Any]:
    """Return the domain of people who say one of some words."""
    return {"choices": list(choices)}


def vectors(size: int) -> dict[str, Any]:
    """Return the domain of so many whole numbers, one of which may be one larger."""
    one_up = [[int(i == at) for i in range(size)] for at in range(size)]
    return {"pairs": [([0] * size, up) for up in one_up]}


@dataclass(frozen=True)
class Case:
    """A measurement, which inputs it takes, and at which distance neighbours are."""

    measurement: Any
    inputs: dict[str, Any]
    distance: Any = 1
    release: Callable[[Any, Any], Any] = lambda measurement, x: measurement(x)

    @property
    def claim(self) -> Any:
        """The claim of the library's own map for neighbours."""
        level = self.measurement.map(self.distance)
        if isinstance(level, tuple):
            return ea.approximate(*level)
        concentrated = self.measurement.output_measure == CONCENTRATED
        return ea.zcdp(level) if concentrated else ea.pure(level)

    @property
    def pairs(self) -> Any:
        """Neighbours, from the declared domain."""
        return self.inputs.get("pairs") or ea.domain(self.inputs)

    def draw(self, x: Any, size: int) -> list[Any]:
        """Release so many times."""
        return [self.release(self.measurement, x) for _ in range(size)]


def summed(clamp: tuple[int, int]) -> Any:
    """Return a transformation: the sum of clamped rows."""
    clamped = TABLES >> dp.t.then_clamp(clamp)
    return clamped >> dp.t.then_sum()


CASES = {
    # noise of several scales and kinds
    "laplace, whole": Case(dp.m.make_laplace(*INTEGERS, 1.0), WHOLE),
    "laplace, whole, little": Case(dp.m.make_laplace(*INTEGERS, 0.3), WHOLE),
    "laplace, whole, much": Case(dp.m.make_laplace(*INTEGERS, 10.0), WHOLE),
    "laplace, real": Case(dp.m.make_laplace(*REALS, 1.0), REAL, 1.0),
    "laplace, real, coarse": Case(dp.m.make_laplace(*REALS, 1.0, k=-3), REAL, 1.0),
    "laplace, real, much": Case(dp.m.make_laplace(*REALS, 50.0), REAL, 1.0),
    "geometric": Case(dp.m.make_geometric(*INTEGERS, 1.0), WHOLE),
    "geometric, bounded": Case(dp.m.make_geometric(*INTEGERS, 1.0, bounds=(-5, 5)), WHOLE),
    "gaussian, whole": Case(dp.m.make_gaussian(*INTEGERS, 1.0), WHOLE),
    "gaussian, whole, much": Case(dp.m.make_gaussian(*INTEGERS, 7.5), WHOLE),
    "gaussian, real": Case(dp.m.make_gaussian(*REALS, 1.0), REAL, 1.0),
    "gaussian, real, coarse": Case(dp.m.make_gaussian(*REALS, 1.0, k=-2), REAL, 1.0),
    "canonical noise": Case(dp.m.make_canonical_noise(*REALS, 1.0, (1.0, 1e-2)), REAL, 1.0),
    "canonical noise, small delta": Case(
        dp.m.make_canonical_noise(*REALS, 1.0, (0.5, 1e-6)), REAL, 1.0
    ),
    "laplace, vector": Case(dp.m.make_laplace(*VECTORS, 1.0), vectors(4)),
    # answers
    "response, yes or no": Case(
        dp.m.make_randomized_response_bool(0.75), {"choices": [True, False]}
    ),
    "response, nearly a coin": Case(
        dp.m.make_randomized_response_bool(0.51), {"choices": [True, False]}
    ),
    "response, three words": Case(
        dp.m.make_randomized_response(["a", "b", "c"], 0.8), words("a", "b", "c")
    ),
    "response, another word": Case(
        dp.m.make_randomized_response(["a", "b", "c"], 0.5), words("a", "b", "other")
    ),
    "response, bits": Case(
        dp.m.make_randomized_response_bitvec(
            dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5
        ),
        {"choices": [[0] * 8, *([int(i == at) for i in range(8)] for at in range(8))]},
        release=lambda measurement, x: _bits(measurement(_byte(x))),
    ),
    # choices among scores
    "noisy max": Case(dp.m.make_noisy_max(*SCORES, PURE, 1.0), vectors(4)),
    "noisy max, gumbel": Case(dp.m.make_noisy_max(*SCORES, CONCENTRATED, 1.0), vectors(4)),
    "noisy min": Case(dp.m.make_noisy_max(*SCORES, PURE, 1.0, negate=True), vectors(4)),
    "noisy top 2": Case(dp.m.make_noisy_top_k(*SCORES, PURE, 2, 1.0), vectors(4)),
    # tables
    "count": Case(TABLES >> dp.t.then_count() >> dp.m.then_laplace(1.0), ROWS),
    "sum": Case(summed((0, 3)) >> dp.m.then_laplace(3.0), ROWS),
    "histogram": Case(
        TABLES >> dp.t.then_count_by_categories([0, 1, 2]) >> dp.m.then_laplace(1.0), ROWS
    ),
    "median": Case(dp.m.make_private_quantile(*TABLES, PURE, [0, 1, 2, 3, 4], 0.5, 1.0), ROWS),
    "two answers": Case(
        dp.c.make_composition(
            [
                TABLES >> dp.t.then_count() >> dp.m.then_laplace(2.0),
                summed((0, 1)) >> dp.m.then_laplace(2.0),
            ]
        ),
        ROWS,
    ),
    "threshold": Case(
        dp.m.make_laplace_threshold(*COUNTS, scale=1.0, threshold=4.0),
        {"counts": [0, 2], "keys": ["a", "b"]},
        (1, 1.0, 1.0),
        lambda measurement, x: measurement({key: float(count) for key, count in x.items()}),
    ),
}


def _byte(bits: list[int]) -> bytes:
    return bytes([sum(bit << i for i, bit in enumerate(bits))])


def _bits(released: bytes) -> list[int]:
    return [released[0] >> i & 1 for i in range(8)]


@pytest.mark.parametrize("name", CASES)
def test_keeps_what_its_map_claims(name: str, audit: Any) -> None:
    """Outputs on neighbours differ at most as much as the library claims."""
    case = CASES[name]
    audit(case.draw, pairs=case.pairs, claim=case.claim, samples=10_000)
