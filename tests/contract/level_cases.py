"""Pairs of laws on which lower bounds go wrong, each with its exact levels.

Levels are computed here, from closed forms, sums and quadrature, and not by the library: a fault
that a law shares with an estimator would stay unseen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad

from epsilometer import seeds

Sample = NDArray[Any]
Sampler = Callable[[int, np.random.Generator], Sample]
LogDensity = Callable[[float], float]

ROOT = 2022
EPSILON = 0.7


@dataclass(frozen=True)
class Line:
    """A part of the outputs that has densities: their logarithms, and where to cut the integral."""

    log_p: LogDensity
    log_q: LogDensity
    cuts: tuple[float, ...] = (-math.inf, 0.0, math.inf)

    def total(self, integrand: Callable[[float, float], float]) -> float:
        """Integrate a function of both log densities."""

        def at(z: float) -> float:
            return integrand(self.log_p(z), self.log_q(z))

        ends = zip(self.cuts[:-1], self.cuts[1:], strict=True)
        return math.fsum(quad(at, a, b, epsabs=1e-12, epsrel=1e-10, limit=400)[0] for a, b in ends)


@dataclass(frozen=True, eq=False)
class Pair:
    """Both sides of a pair, and what is true of them.

    Parameters
    ----------
    x, x_prime
        How so many outputs are drawn.
    pure
        The pure level, the larger of both directions.
    atoms
        Probabilities of x and of x' of outputs, or of sets on which their ratio is constant.
    line
        What else there is.
    """

    x: Sampler
    x_prime: Sampler
    pure: float
    atoms: tuple[ArrayLike, ArrayLike] = ((), ())
    line: Line | None = None

    def _sides(self, reverse: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, q = (np.asarray(side, float) for side in self.atoms[:: -1 if reverse else 1])
        return p, q

    def _integral(self, term: Callable[[float, float], float], reverse: bool) -> float:
        if self.line is None:
            return 0.0
        return self.line.total((lambda a, b: term(b, a)) if reverse else term)

    @cache  # noqa: B019
    def renyi(self, order: float, *, reverse: bool = False) -> float:
        """Return the divergence of x from x', or the other way."""
        p, q = self._sides(reverse)
        if ((p > 0) & (q == 0)).any():
            return math.inf
        p, q = p[p > 0], q[p > 0]
        with np.errstate(under="ignore"):
            total = float(np.exp(order * np.log(p) + (1 - order) * np.log(q)).sum())
        total += self._integral(lambda a, b: math.exp(order * a + (1 - order) * b), reverse)
        return max(math.log(total) / (order - 1), 0.0)

    @cache  # noqa: B019
    def delta(self, claim: float, *, reverse: bool = False) -> float:
        """Return the hockey-stick divergence of x from x', or the other way."""
        p, q = self._sides(reverse)
        total = float(np.maximum(p - math.exp(claim) * q, 0).sum())
        return total + self._integral(
            lambda a, b: max(math.exp(a) - math.exp(claim + b), 0), reverse
        )


@dataclass(frozen=True, eq=False)
class Case:
    """One or several pairs, and how many draws there are of them, first and fresh."""

    name: str
    group: str
    outputs: str
    pairs: tuple[Pair, ...] = field(repr=False)
    n: int = 2000
    fresh: int = 4000

    def drawn(self, seed: int, stage: str, pair: int | None = None) -> Iterator[tuple[Sample, ...]]:
        """Yield samples of all pairs, or of one: ``first`` ones or ``fresh`` ones."""
        size = self.fresh if stage == "fresh" else self.n
        for k in range(len(self.pairs)) if pair is None else [pair]:
            rng = seeds.generator(ROOT, self.name, stage, seed, k)
            yield self.pairs[k].x(size, rng), self.pairs[k].x_prime(size, rng)


def shifted(draw: Sampler, unit: float = 1.0, shift: float = 0.0) -> Sampler:
    """Return draws in another unit, from another origin."""
    return lambda n, rng: draw(n, rng) * unit + shift


def laplace(at: float = 0.0) -> Sampler:
    return lambda n, rng: rng.laplace(at, 1.0, n)


def constant(value: float) -> Sampler:
    return lambda n, rng: np.full(n, value)


def atoms(p: Sequence[float] | NDArray[np.float64]) -> Sampler:
    """Return whole numbers 0, 1, ... of such probabilities."""
    edges = np.cumsum(p)[:-1]
    return lambda n, rng: np.searchsorted(edges, rng.random(n), side="right").astype(np.int32)


def geometric(n: int, rng: np.random.Generator) -> Sample:
    """Draw two-sided geometric noise of level EPSILON."""
    chance = -math.expm1(-EPSILON)
    return rng.geometric(chance, n) - rng.geometric(chance, n)


def mixture(draw: Sampler, other: Sampler, share: float) -> Sampler:
    """Return draws of which so large a share are of the other law."""
    return lambda n, rng: np.where(rng.random(n) < share, other(n, rng), draw(n, rng))


def columns(*draws: Sampler, dtype: type = float) -> Sampler:
    return lambda n, rng: np.stack([draw(n, rng) for draw in draws], axis=1).astype(dtype)


def log_laplace(at: float = 0.0) -> LogDensity:
    return lambda z: -abs(z - at) - math.log(2)


LAPLACE = Line(
    log_laplace(), log_laplace(EPSILON), (-math.inf, 0.0, EPSILON / 2, EPSILON, math.inf)
)
EQUAL = ([1.0], [1.0])  # both sides alike: their ratio is 1 everywhere
ONLY = ([1.0, 0.0], [0.0, 1.0])  # nothing in common
RESPONSE = np.array([1.0, math.exp(-EPSILON)]) / (1 + math.exp(-EPSILON))


def alike(draw: Sampler) -> Pair:
    return Pair(draw, draw, 0.0, EQUAL)


def laplace_pair(at: float = EPSILON, **how: float) -> Pair:
    line = Line(log_laplace(), log_laplace(at), (-math.inf, 0.0, at / 2, at, math.inf))
    return Pair(shifted(laplace(), **how), shifted(laplace(at), **how), at, line=line)


def discrete(p: NDArray[np.float64], q: NDArray[np.float64]) -> Pair:
    return Pair(atoms(p), atoms(q), float(np.abs(np.log(p / q)).max()), (p, q))


def response_pair(epsilon: float = EPSILON) -> Pair:
    truthful = 1 / (1 + math.exp(-epsilon))
    p = np.array([truthful, 1 - truthful])
    return discrete(p, p[::-1])


def clamped(at: float) -> Sampler:
    return lambda n, rng: np.clip(rng.laplace(at, 1.0, n), 0.0, 1.0)


def clamped_pair() -> Pair:
    half, far = 0.5, 0.5 * math.exp(-1)
    line = Line(lambda z: -z - math.log(2), lambda z: z - 1 - math.log(2), (0.0, 0.5, 1.0))
    return Pair(clamped(0.0), clamped(1.0), 1.0, ([half, far], [far, half]), line)


def rounded(at: float) -> Sampler:
    return lambda n, rng: np.round(rng.laplace(at, 1.0, n), 1)


def rounded_law(at: float) -> NDArray[np.float64]:
    """Return the probabilities of -40, -39.9, ..., 40."""
    distance = np.abs(np.arange(-400, 401) - round(10 * at)) / 10
    return np.where(distance == 0, -math.expm1(-0.05), math.sinh(0.05) * np.exp(-distance))


def cauchy(at: float) -> Sampler:
    return lambda n, rng: rng.standard_cauchy(n) + at


def log_cauchy(at: float) -> LogDensity:
    return lambda z: -math.log(math.pi) - math.log1p((z - at) ** 2)


def lomax(scale: float) -> Sampler:
    """Return draws of the Lomax law of index 1/2, which has no mean."""
    return lambda n, rng: scale * rng.pareto(0.5, n)


def log_lomax(scale: float) -> LogDensity:
    # at e^u, with du: the tail is a hundred decades long
    return lambda u: math.log(0.5 / scale) - 1.5 * np.logaddexp(0.0, u - math.log(scale)) + u


def uniform(low: float, high: float) -> Sampler:
    return lambda n, rng: rng.uniform(low, high, n)


def normal_pair(at: float) -> Pair:
    def log_normal(centre: float) -> LogDensity:
        return lambda z: -((z - centre) ** 2) / 2 - math.log(2 * math.pi) / 2

    line = Line(log_normal(0.0), log_normal(at), (-math.inf, -6.0, 0.0, at / 2, at, 6.0, math.inf))
    draw = [lambda n, rng, c=c: rng.normal(c, 1.0, n) for c in (0.0, at)]
    return Pair(*draw, math.inf, line=line)


def bits(value: int, noisy: Sequence[int]) -> Sampler:
    """Return bit vectors of which some bits are flipped, at level EPSILON each."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        drawn = np.full(n, value, np.int64)
        for bit in noisy:
            drawn ^= (rng.random(n) < RESPONSE[1]).astype(np.int64) << bit
        return drawn

    return draw


def released(share: float) -> Sampler:
    """Return two entries of noise, the first missing unless it is released."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        outputs = rng.laplace(0.0, 1.0, (n, 2))
        outputs[rng.random(n) >= share, 0] = np.nan
        return outputs

    return draw


def _reals() -> Iterator[Case]:
    few = {"n": 5, "fresh": 5}
    yield Case("laplace, identical", "identical", "scalar", (alike(laplace()),))
    yield Case("laplace", "smooth", "scalar", (laplace_pair(),))
    yield Case("laplace, n = 10000", "smooth", "scalar", (laplace_pair(),), 10_000, 20_000)
    yield Case("normal", "smooth", "scalar", (normal_pair(EPSILON),))
    yield Case("laplace, identical, n = 5", "few", "scalar", (alike(laplace()),), **few)
    yield Case("laplace, n = 5", "few", "scalar", (laplace_pair(),), **few)
    for unit in (1e-9, 1e-5, 1e-3, 1e3, 1e9):
        yield Case(f"laplace, unit {unit:g}", "units", "scalar", (laplace_pair(unit=unit),))
    yield Case("laplace, shift 1e8", "units", "scalar", (laplace_pair(shift=1e8),))
    at_1e8 = alike(shifted(laplace(), shift=1e8))
    yield Case("laplace, identical, shift 1e8", "units", "scalar", (at_1e8,))

    golden = (1 + math.sqrt(5)) / 2
    cuts = (-math.inf, 1 - golden, 0.0, 0.5, 1.0, golden, math.inf)
    line = Line(log_cauchy(0.0), log_cauchy(1.0), cuts)
    pair = Pair(cauchy(0.0), cauchy(1.0), 2 * math.log(golden), line=line)
    yield Case("cauchy", "tails", "scalar", (pair,))
    yield Case("cauchy, identical", "tails", "scalar", (alike(cauchy(0.0)),))
    line = Line(log_lomax(1.0), log_lomax(2.0), (-40.0, -5.0, 0.0, math.log(2), 5.0, 20.0, 80.0))
    pair = Pair(lomax(1.0), lomax(2.0), math.log(2), line=line)
    yield Case("lomax", "tails", "scalar", (pair,))
    yield Case("lomax, identical", "tails", "scalar", (alike(lomax(1.0)),))

    pair = Pair(uniform(0, 1), uniform(2, 3), math.inf, ONLY)
    yield Case("uniforms, disjoint", "disjoint", "scalar", (pair,))
    overlap = ([0.98, 0.02, 0.0], [0.0, 0.02, 0.98])
    pair = Pair(uniform(0, 1), uniform(0.98, 1.98), math.inf, overlap)
    yield Case("uniforms, overlapping by 2 %", "disjoint", "scalar", (pair,))
    sides = uniform(0, 1), uniform(1, 2)
    draws = mixture(*sides, 0.01), mixture(*sides[::-1], 0.01)
    pair = Pair(*draws, math.log(99), ([0.99, 0.01], [0.01, 0.99]))
    yield Case("uniforms, nearly disjoint", "disjoint", "scalar", (pair,))


def _reals_with_atoms() -> Iterator[Case]:
    yield Case("clamped", "ties", "scalar", (clamped_pair(),))
    yield Case("clamped, identical", "ties", "scalar", (alike(clamped(0.0)),))
    law = rounded_law(0.0), rounded_law(EPSILON)
    pair = Pair(rounded(0.0), rounded(EPSILON), EPSILON, law)
    yield Case("rounded", "ties", "scalar", (pair,))
    yield Case("rounded, identical", "ties", "scalar", (alike(rounded(0.0)),))
    count = [lambda n, rng, c=c: (geometric(n, rng) + c).astype(float) for c in (0, 1)]
    law = geometric_law(0), geometric_law(1)
    yield Case("integers as floats", "ties", "scalar", (Pair(*count, EPSILON, law),))
    yield Case("integers as floats, identical", "ties", "scalar", (alike(count[0]),))

    yield Case("no noise, 0 and 0", "no noise", "scalar", (alike(constant(0.0)),))
    pair = Pair(constant(0.0), constant(1.0), math.inf, ONLY)
    yield Case("no noise, 0 and 1", "no noise", "scalar", (pair,))
    pair = Pair(constant(0.0), laplace(), math.inf, ONLY)
    yield Case("no noise and laplace", "no noise", "scalar", (pair,))
    hit = -math.expm1(-0.05)
    pair = Pair(constant(0.0), rounded(0.0), math.inf, ([1.0, 0.0], [hit, 1 - hit]))
    yield Case("no noise and rounded", "no noise", "scalar", (pair,))

    for share, share_prime in ((0.005, 0.0), (0.005, 0.0025), (0.005, 0.005)):
        draws = [mixture(laplace(), constant(5.0), s) for s in (share, share_prime)]
        pure = math.log(share / share_prime) if share_prime else math.inf
        law = ([share, 1 - share], [share_prime, 1 - share_prime])
        name = f"atom of {share:g} and {share_prime:g} in laplace"
        yield Case(name, "rare", "scalar", (Pair(*draws, pure, law),), 10_000, 10_000)


def _discrete() -> Iterator[Case]:
    for k, n in ((10, 2000), (100, 2000), (100, 10_000), (1000, 10_000)):
        pair = alike(atoms(np.full(k, 1 / k)))
        yield Case(f"{k} atoms, identical, n = {n}", "identical", "index", (pair,), n, 2 * n)
    even = np.exp(EPSILON * (np.arange(100) % 2))
    pair = discrete(even / even.sum(), np.full(100, 0.01))
    yield Case("100 atoms, half of them likelier", "atoms", "index", (pair,), 10_000, 20_000)
    ranks = np.arange(1.0, 101.0)
    zipf = [ranks**-power / (ranks**-power).sum() for power in (1.0, 1.2)]
    yield Case("100 atoms, rarer and rarer", "atoms", "index", (discrete(*zipf),), 10_000, 20_000)
    yield Case("randomised response", "atoms", "index", (response_pair(),))
    yield Case("randomised response, n = 5", "few", "index", (response_pair(),), 5, 5)
    yield Case("randomised response, epsilon = 3", "atoms", "index", (response_pair(3.0),))
    for p, q in ((0.005, 0.0), (0.005, 0.0025), (0.005, 0.005)):
        pure = math.log(p / q) if q else math.inf
        pair = Pair(atoms([1 - p, p]), atoms([1 - q, q]), pure, ([1 - p, p], [1 - q, q]))
        yield Case(f"answer of {p:g} and {q:g}", "rare", "index", (pair,))
    fixed = [atoms([1.0]), atoms([0.0, 1.0])]
    yield Case("no noise, answers 0 and 0", "no noise", "index", (alike(fixed[0]),))
    pair = Pair(*fixed, math.inf, ONLY)
    yield Case("no noise, answers 0 and 1", "no noise", "index", (pair,))

    noisy, high = (0, 1, 2, 60), 2**60
    law = (RESPONSE, RESPONSE[::-1])
    for name, value in (("bit 60", 0), ("bit 0 below bit 60", high + 1)):
        pair = Pair(bits(high, noisy), bits(value, noisy), EPSILON, law)
        yield Case(f"bits, {name}", "bits", "bits", (pair,))
    yield Case("bits near 2^60, identical", "bits", "bits", (alike(bits(high, noisy)),))


def geometric_law(at: int) -> NDArray[np.float64]:
    """Return the probabilities of -100, ..., 100."""
    return math.tanh(EPSILON / 2) * np.exp(-EPSILON * np.abs(np.arange(-100.0, 101.0) - at))


def _several_numbers() -> Iterator[Case]:
    law, few = (geometric_law(0), geometric_law(1)), {"n": 500, "fresh": 1000}
    for name, base in (("tuples", 0), ("tuples near 2^31", 2**31 - 2000)):
        entries = [lambda n, rng, c=base + c: geometric(n, rng) + c for c in (0, 1)]
        draws = [columns(entries[0], entry, entries[0], dtype=np.int32) for entry in entries]
        yield Case(name, "tuples", "tuple", (Pair(*draws, EPSILON, law),))
        yield Case(f"{name}, identical", "tuples", "tuple", (alike(draws[0]),))
    for name, units in (("vectors", (1.0, 1.0)), ("vectors, units 1e-9 and 1e9", (1e-9, 1e9))):
        first = shifted(laplace(), units[0])
        draws = [columns(first, shifted(laplace(at), units[1])) for at in (0.0, EPSILON)]
        pair = Pair(*draws, EPSILON, line=LAPLACE)
        yield Case(name, "vectors", "vector", (pair,), **few)
        yield Case(f"{name}, identical", "vectors", "vector", (alike(draws[0]),), **few)
    draws = [columns(laplace(), clamped(at)) for at in (0.0, 1.0)]
    clipped = clamped_pair()
    pair = Pair(*draws, 1.0, clipped.atoms, clipped.line)
    yield Case("vectors, an entry clamped", "ties", "vector", (pair,))
    pair = Pair(released(0.6), released(0.4), math.log(1.5), ([0.6, 0.4], [0.4, 0.6]))
    yield Case("mixed, some missing", "mixed", "mixed", (pair,))
    yield Case("mixed, identical", "mixed", "mixed", (alike(released(0.6)),))


def _many_pairs() -> Iterator[Case]:
    many = {"n": 1000, "fresh": 2000}
    for name, outputs, pair_of in (
        ("laplace", "scalar", laplace_pair),
        ("randomised response", "index", response_pair),
    ):
        pairs = [pair_of(0.2)] * 100
        pairs[57] = pair_of(EPSILON)
        yield Case(f"one among a hundred, {name}", "many", outputs, tuple(pairs), **many)
    pair = alike(atoms(np.full(30, 1 / 30)))
    yield Case("ten pairs, 30 atoms, identical", "many", "index", (pair,) * 10)


CASES = {
    case.name: case
    for part in (_reals, _reals_with_atoms, _discrete, _several_numbers, _many_pairs)
    for case in part()
}
