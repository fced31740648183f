"""Thirty mechanisms that keep their claim exactly, in outputs as a computer holds them.

Whatever an audit looks at, it may call none of them violated more often than alpha allows.
"""

from __future__ import annotations

import datetime
import itertools
import math
import struct
from typing import Any

import numpy as np
from tests.benchmarks.scripts import Mechanism, Rng, gaussian, laplace

import epsilometer_audit as ea
from epsilometer.claims import AnyClaim

Case = tuple[Mechanism, Any, AnyClaim]

ONE, PURE = [(0, 1)], ea.pure(1.0)
GRID = 2.0**20
FAR = 1.5 * 2.0**20  # where floats are so coarse that all low bits are those of the noise
SIGMA = 2.0
STEPS = np.arange(-60, 61)
MASS = np.exp(-(STEPS**2) / (2 * SIGMA**2)) / np.exp(-(STEPS**2) / (2 * SIGMA**2)).sum()
SHARE, THRESHOLD = 0.2, 4
UTILITIES = {0: [1.0, 1, 1, 1, 1, 1], 1: [0.0, 2, 2, 2, 2, 2]}
ITEMS = tuple("abcdef")
WINDS = ("north", "east", "south", "west")
KEYS = [f"k{i}" for i in range(6)]
DAY = datetime.date(2024, 1, 1)
ORDERS = list(itertools.permutations(ITEMS[:3]))
PLACES = [[ITEMS.index(label) for label in order] for order in ORDERS]


def two_sided(rng: Rng, size: int | tuple[int, ...], epsilon: float = 1.0) -> Any:
    """Geometric noise, also called discrete Laplace."""
    stop = -math.expm1(-epsilon)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def on_a_grid(reals: Any) -> Any:
    return np.round(reals * GRID) / GRID


def grid_laplace(x: int, size: int, rng: Rng) -> Any:
    return on_a_grid(laplace(x, size, rng))


def grid_gaussian(x: Any, size: int, rng: Rng) -> Any:
    return on_a_grid(gaussian(x, size, rng))


def geometric(x: int, size: int, rng: Rng) -> Any:
    return x + two_sided(rng, size)


def response(x: int, size: int, rng: Rng) -> Any:
    return np.where(rng.random(size) < 1 / (1 + math.exp(-1)), x, 1 - x)


def four(x: int, size: int, rng: Rng) -> Any:
    """One of four numbers, the true one e times as likely as any other."""
    lie = (x + rng.integers(1, 4, size)) % 4
    return np.where(rng.random(size) < math.e / (math.e + 3), x, lie)


def bits(x: list[int], size: int, rng: Rng) -> Any:
    return np.array(x) ^ (rng.random((size, len(x))) < 1 / (1 + math.e))


def snapping(x: int, size: int, rng: Rng) -> Any:
    """Mironov's mechanism, scale 1 and bound 20."""
    inner = x + rng.choice([-1.0, 1.0], size) * np.log(1 - rng.random(size))
    return np.clip(np.round(inner), -20, 20)


def counts_above(x: dict[str, int], size: int, rng: Rng) -> list[dict[str, int]]:
    """Noisy counts of the groups that there are, where they exceed a threshold."""
    noisy = {key: (count + two_sided(rng, size)).tolist() for key, count in x.items()}
    return [
        {key: values[i] for key, values in noisy.items() if values[i] > THRESHOLD}
        for i in range(size)
    ]


def sum_with_its_part(x: int, size: int, rng: Rng) -> Any:
    """A random number, and it with a noisy answer."""
    first = np.round(rng.normal(0, 1e6, size))
    return np.stack([first, first + grid_laplace(x, size, rng)], axis=1)


def lists(x: int, size: int, rng: Rng) -> list[list[float]]:
    """As many entries as the noisy count, of noise that is independent of the input."""
    lengths = np.clip(geometric(x, size, rng), 0, 5).tolist()
    return [rng.random(length).tolist() for length in lengths]


def noisy_max(x: int, size: int, rng: Rng) -> Any:
    """The largest of six answers, each with Gumbel noise of scale 2."""
    return (np.array(UTILITIES[x]) + rng.gumbel(0, 2, (size, 6))).argmax(axis=1)


def exponential(x: list[float], size: int, rng: Rng) -> list[str]:
    weights = np.exp(np.array(x) / 2)
    return [ITEMS[i] for i in rng.choice(len(x), size, p=weights / weights.sum()).tolist()]


def sets(x: list[str], size: int, rng: Rng) -> list[frozenset[str]]:
    """Each item is there, or not, with a coin of its own."""
    there = bits([int(item in x) for item in ITEMS], size, rng)
    return [frozenset(i for i, t in zip(ITEMS, row, strict=True) if t) for row in there.tolist()]


def failing(x: int, rng: Rng, least: int = 0, message: str = "too few") -> int:
    noisy = int(geometric(x, 1, rng)[0])
    if noisy < least:
        raise ValueError(message.format(noisy))
    return noisy


def series(x: int, size: int, rng: Rng) -> list[Any]:
    """Noisy counts of three groups, with their names as labels, in a random order."""
    counts = np.stack([geometric(x, size, rng), two_sided(rng, size), two_sided(rng, size)], axis=1)
    orders = rng.integers(len(ORDERS), size=size).tolist()
    return [
        dict(zip(ORDERS[order], row[PLACES[order]].tolist(), strict=True))
        for row, order in zip(counts, orders, strict=True)
    ]


def many_keys(x: int, size: int, rng: Rng) -> list[dict[str, int]]:
    """Six noisy counts, of which the last depends on the input."""
    counts = two_sided(rng, (size, len(KEYS)))
    counts[:, -1] += x
    return [dict(zip(KEYS, row, strict=True)) for row in counts.tolist()]


def strings(x: int, size: int, rng: Rng) -> list[str]:
    """A number that never repeats, and a noisy count."""
    noisy, numbers = geometric(x, size, rng).tolist(), rng.integers(2**32, size=size).tolist()
    return [f"{number}-{count}" for number, count in zip(numbers, noisy, strict=True)]


# --- claims ---------------------------------------------------------------------------------------


def _discrete_gaussian_delta(epsilon: float) -> float:
    p, q = np.append(MASS, 0.0), np.append(0.0, MASS)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def _geometric_renyi(order: float) -> float:
    """Of noise with epsilon = .01 and a shift of 100."""
    k = np.arange(-20_000, 20_000)
    log_p, log_q = -0.01 * np.abs(k), -0.01 * np.abs(k - 100)
    mass = np.exp(log_p).sum()
    return float(np.log(np.exp(order * log_p + (1 - order) * log_q).sum() / mass) / (order - 1))


def _softmax_level(x: list[float], x_prime: list[float]) -> float:
    p, q = (np.exp(np.array(u) / 2) / np.exp(np.array(u) / 2).sum() for u in (x, x_prime))
    return float(np.abs(np.log(p / q)).max())


def case(mechanism: Mechanism, pairs: Any = ONE, claim: AnyClaim = PURE) -> Case:
    return mechanism, pairs, claim


HIGH, LOW = [1.0, 1, 1, 1, 1, 1], [2.0, 0, 0, 0, 0, 0]
ABOVE = math.exp(-THRESHOLD) / (1 + math.exp(-1))  # that a group of one is released
TEN = {f"{i}": (i, i + 1) for i in range(10)}
DOMAIN = ea.domain({"values": [0, 5000], "whole": True, "distance": 1})
RENYI = ea.renyi({a: _geometric_renyi(a) for a in (2.0, 4.0)})
DISCRETE = ea.approximate(0.5, _discrete_gaussian_delta(0.5))
GROUPS = [({"a": 5}, {"a": 5, "b": 1})]
VECTORS = [([0.0] * 5, [0.6, 0, 0.8, 0, 0])]
WALKS = [([0.0] * 8, [0.6, 0, 0.8] + [0.0] * 5)]
HONEST: dict[str, Case] = {
    "geometric, a domain": case(geometric, DOMAIN),
    "geometric of scale 100, Rényi": case(
        lambda x, size, rng: 100 * x + two_sided(rng, size, 0.01), ONE, RENYI
    ),
    "discrete Gaussian": case(
        lambda x, size, rng: x + rng.choice(STEPS, size, p=MASS), ONE, DISCRETE
    ),
    "randomised response": case(response),
    "randomised response, words": case(
        lambda x, size, rng: [WINDS[i] for i in four(x, size, rng)], [(0, 1), (1, 2), (2, 3)]
    ),
    "randomised response, ten bits": case(bits, [([0] * 10, [1] + [0] * 9)]),
    "Laplace on a grid, ten pairs": case(grid_laplace, TEN),
    "Gaussian on a grid, zCDP": case(grid_gaussian, ONE, ea.zcdp(0.5)),
    "Laplace far from 0": case(lambda x, size, rng: laplace(FAR + x, size, rng)),
    "Snapping": case(snapping, [(0, 1), (3, 4)]),
    "Laplace, clamped": case(lambda x, size, rng: np.clip(grid_laplace(x, size, rng), 0, 1)),
    "None where few": case(
        lambda x, size, rng: [v if v > 3 else None for v in geometric(x, size, rng).tolist()],
        [(3, 4)],
    ),
    "mappings above a threshold": case(counts_above, GROUPS, ea.approximate(1.0, ABOVE)),
    "lists of varying length": case(lists, [(3, 4)]),
    "noisy max": case(noisy_max, ONE, ea.pure(_softmax_level(*UTILITIES.values()))),
    "exponential mechanism, words": case(
        exponential, [(HIGH, LOW)], ea.pure(_softmax_level(HIGH, LOW))
    ),
    # a noisy count of the rows that a coin each has chosen
    "subsampled": case(
        lambda x, size, rng: rng.binomial(len(x), SHARE, size) + two_sided(rng, size),
        [([], [1])],
        ea.pure(math.log1p(SHARE * math.expm1(1.0))),
    ),
    "Gaussian vectors, GDP": case(grid_gaussian, VECTORS, ea.gdp(1.0)),
    "sets": case(sets, [(["a", "c"], ["a"])]),
    "failures": case(failing),
    "labels": case(series),
    "six keys": case(many_keys),
    "strings that never repeat": case(strings),
    "multiples of 60": case(
        lambda x, size, rng: 60 * (x + two_sided(rng, size, 0.001)), [(0, 1000)]
    ),
    "dates": case(
        lambda x, size, rng: [DAY + datetime.timedelta(d) for d in geometric(x, size, rng).tolist()]
    ),
    "messages of failures": case(lambda x, rng: failing(x, rng, 1, "{} are too few")),
    "a sum beside its part": case(sum_with_its_part),
    "random walk, GDP": case(
        lambda x, size, rng: on_a_grid(np.cumsum(gaussian(x, size, rng), axis=1)),
        WALKS,
        ea.gdp(1.0),
    ),
    "bytes": case(
        lambda x, size, rng: [struct.pack("<h", n) for n in x + two_sided(rng, size, 0.1)],
        [(0, 10)],
    ),
    "types of numbers": case(
        lambda x, size, rng: [1 if b else 2.0 for b in response(x, size, rng)]
    ),
}


# --- domains of several columns -------------------------------------------------------------------


def total_age(rows: list[Any], size: int, rng: Rng) -> Any:
    """Ages of neighbours differ by 1 at most, whatever else a row holds."""
    return sum(row["age"] for row in rows) + two_sided(rng, size)


def total_of_first(rows: list[Any], size: int, rng: Rng) -> Any:
    return sum(row[0] for row in rows) + two_sided(rng, size)


def total_vector(rows: list[Any], size: int, rng: Rng) -> Any:
    """Vectors of neighbours are at most 1 apart in L2: mu is 1."""
    total = np.sum([row["v"] for row in rows], axis=0)
    return on_a_grid(total + rng.normal(size=(size, 2)))


def ones(rows: list[Any], size: int, rng: Rng) -> Any:
    """One bit differs between neighbours."""
    return sum(sum(row["answers"]) for row in rows) + two_sided(rng, size)


def ages_of_users(rows: list[Any], size: int, rng: Rng) -> Any:
    """Each of the two rows of a user may hold another age, by 1."""
    return sum(row["age"] for row in rows) + two_sided(rng, size, 0.5)


def two_totals(rows: list[Any], size: int, rng: Rng) -> Any:
    """Either column has a half of epsilon, at its own distance."""
    near = sum(row["near"] for row in rows) + two_sided(rng, size, 0.5)
    far = sum(row["far"] for row in rows) + two_sided(rng, size, 1 / 6)
    return np.column_stack([near, far])


AGE = {"values": [0, 90], "whole": True, "distance": 1}
FAR_APART = {"values": [0, 90], "whole": True, "distance": 3}
SEX = {"choices": ["m", "f"]}
VECTOR = {"values": [-2, 2], "length": 2, "distance": 1, "norm": "L2"}
FLIPPED = {"bits": 3, "neighbours": "flip one"}
USERS = {"rows": {"age": AGE, "sex": SEX}, "length": 3, "user": "id", "per user": 2, "limit": 12}
SEVERAL_COLUMNS: dict[str, Case] = {
    "named columns": case(
        total_age, ea.domain({"rows": {"age": AGE, "sex": SEX}, "length": 5, "limit": 12})
    ),
    "a list of columns": case(
        total_of_first, ea.domain({"rows": [AGE, SEX], "length": 5, "limit": 12})
    ),
    "a vector beside a label": case(
        total_vector,
        ea.domain({"rows": {"v": VECTOR, "y": SEX}, "length": 3, "limit": 12}),
        ea.gdp(1.0),
    ),
    "bits beside a column": case(
        ones, ea.domain({"rows": {"answers": FLIPPED, "sex": SEX}, "length": 3, "limit": 12})
    ),
    "users": case(ages_of_users, ea.domain(USERS)),
    "two distances": case(
        two_totals, ea.domain({"rows": {"near": AGE, "far": FAR_APART}, "length": 4, "limit": 12})
    ),
}
