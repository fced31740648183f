"""What a simple tester finds, an audit finds: `python -m tests.benchmarks.seen`, twenty minutes.

Each mechanism leaks by a joint law, which a statistic of one line shows. The simple tester chooses
a threshold of it on half of the draws, and bounds the event by Clopper and Pearson on the others;
an audit of the same draws knows nothing of the statistic. Every other run exchanges x and x'. It
prints the table of docs/audit.md: medians of bounds, and in how many runs the audit's is .85 of the
simple tester's. With ``--honest``, both sides draw from x, and it prints how often a claim of
almost 0 is refuted.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tests.benchmarks.scripts import Rng, head, line, parsed

import epsilometer_audit as ea
from epsilometer.claims import Claim
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule

ALPHA, ENOUGH, ONE = 0.05, 0.85, ea.pure(1.0)
Draw = Callable[[int, int, Rng], Any]
WORDS = np.array(["red", "green", "blue", "black"])
NAMES = [f"name {i}" for i in range(200)]
PAIRS = [(i, j) for i in range(20) for j in range(i)]


@dataclass(frozen=True)
class Leak:
    """A mechanism, a statistic of an output, a claim, and draws of a side."""

    draw: Draw
    statistic: Callable[[Any], Any]
    draws: int = 20_000
    claim: Claim = ONE


LEAKS: dict[str, Leak] = {}


def leak(name: str, statistic: Callable[[Any], Any], *more: Any) -> Callable[[Draw], Draw]:
    """Add a mechanism to the leaks, with its statistic, draws and claim."""
    return lambda draw: LEAKS.setdefault(name, Leak(draw, statistic, *more)).draw


def coin(side: int, n: int, rng: Rng, level: float) -> Any:
    """Return bits whose probability is of a level: mostly 1 on x, mostly 0 on x'."""
    return (rng.random(n) < 1 / (1 + math.exp(-level * (1 - 2 * side)))).astype(np.int64)


def rows(*columns: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))


@leak("a word and a number, beside 6 columns", lambda z: (z[0] in WORDS[:2]) == (z[1] > 0))
def word_and_number(side: int, n: int, rng: Rng) -> Any:
    word, same = rng.integers(4, size=n), coin(side, n, rng, 3.0)
    number = np.where((word < 2) == (same == 1), rng.random(n), -rng.random(n))
    return rows(WORDS[word], number, *rng.normal(size=(n, 6)).T)


@leak("two fields missing together, beside 6", lambda z: (z[2] is None) == (z[5] is None))
def missing_together(side: int, n: int, rng: Rng) -> Any:
    first, same = rng.random(n) < 0.5, coin(side, n, rng, 2.2) == 1
    second = first == same
    numbers = rng.normal(size=(n, 8)).astype(object)
    numbers[first, 2], numbers[second, 5] = None, None
    return rows(*numbers.T)


@leak("a place on a board of 6 x 6, beside 6", lambda z: (z[3] + z[7]) % 2)
def board(side: int, n: int, rng: Rng) -> Any:
    row, column = rng.integers(6, size=(2, n))
    column = column // 2 * 2 + (row + coin(side, n, rng, 2.2)) % 2
    return np.column_stack([rng.normal(size=(n, 3)), row, rng.normal(size=(n, 3)), column])


@leak("two words, beside 21", lambda z: (z[0] in WORDS[::2]) == (z[2] in WORDS[::2]))
def two_words(side: int, n: int, rng: Rng) -> Any:
    first, second = rng.integers(4, size=(2, n))
    second = second // 2 * 2 + (first + coin(side, n, rng, 2.2)) % 2
    return rows(WORDS[first], rng.integers(9, size=n), WORDS[second], *rng.normal(size=(n, 20)).T)


@leak("the sign of a product, beside 28", lambda z: z[11] * z[23] > 0)
def product_of_two(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 30))
    z[:, 11] = np.abs(z[:, 11]) * np.sign(z[:, 23]) * (2 * coin(side, n, rng, 2.2) - 1)
    return z


@leak("a ring, beside 28", lambda z: abs(math.hypot(z[8], z[9]) - 1))
def number_of_parts(side: int, n: int, rng: Rng) -> Any:
    """A ring in two columns of thirty: neither a mean nor a product shows it."""
    z, angle = rng.normal(size=(n, 30)), rng.random(n) * 2 * math.pi
    radius = np.where(coin(side, n, rng, 2.2) == 1, 1.0, rng.choice([0.5, 1.5], n))
    z[:, 8], z[:, 9] = radius * np.cos(4 * angle), radius * np.sin(4 * angle)
    return z + rng.normal(0, 0.05, z.shape)


@leak("two members together, of 30", lambda z: (NAMES[4] in z) == (NAMES[17] in z), 6000)
def members(side: int, n: int, rng: Rng) -> Any:
    there = rng.random((n, 30)) < 0.5
    there[:, 4] = there[:, 17] == (coin(side, n, rng, 2.2) == 1)
    return [{NAMES[i] for i in np.flatnonzero(row)} for row in there]


@leak("the order of two entries of 10", lambda z: z[3] < z[7])
def order_of_two(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 10))
    swap = (z[:, 3] < z[:, 7]) != (coin(side, n, rng, 2.2) == 1)
    z[np.ix_(swap, [3, 7])] = z[np.ix_(swap, [7, 3])]
    return z


@leak("three signs", lambda z: z.prod())
def three_signs(side: int, n: int, rng: Rng) -> Any:
    signs = rng.integers(2, size=(n, 3))
    signs[:, 2] = (signs[:, 0] + signs[:, 1] + coin(side, n, rng, 2.2)) % 2
    return 2 * signs - 1


@leak("a chirp", lambda z: math.sin(80 * math.pi * z**2) > 0)
def chirp(side: int, n: int, rng: Rng) -> Any:
    u = rng.random(20 * n + 100)
    wave = (np.sin(80 * math.pi * u**2) > 0) == (coin(side, u.size, rng, 2.2) == 1)
    return u[wave][:n]


@leak("eight sums, one larger", lambda z: z.max(), 100_000, ea.approximate(2.85, 0.001))
def eight_sums(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(0, 0.8, (n, 8))
    z[np.arange(n), rng.integers(8, size=n)] += 1 + side
    return z


@leak("one of 500 larger by 6", lambda z: z.max(), 6000)
def one_larger(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 500))
    z[np.arange(n), rng.integers(500, size=n)] += 6.0 * side
    return z


@leak("50 reals with an exact total", lambda z: z.sum())
def exact_total(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 50))
    return z - z.mean(axis=1, keepdims=True) + (10 + side) / 50


@leak("lists of 5 to 120 reals", lambda z: sum(z) / math.sqrt(len(z)), 20_000, ea.gdp(0.4))
def lists(side: int, n: int, rng: Rng) -> Any:
    lengths = rng.integers(5, 121, size=n)
    return [rng.normal(0.9 * side / math.sqrt(k), 1, k).tolist() for k in lengths]


@leak("300 rows of 2, correlated", lambda z: z[:, 0] @ z[:, 1], 5000, ea.gdp(0.3))
def correlated_table(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 300, 2))
    z[..., 1] += 0.06 * side * z[..., 0]
    return z


@leak("the number of distinct entries", lambda z: len(set(z.tolist())), 20_000, ea.pure(0.5))
def distinct(side: int, n: int, rng: Rng) -> Any:
    return (rng.integers((40, 25)[side], size=(n, 12)) + rng.integers(40, size=(n, 1))) % 40


@leak("two equal entries of 10", lambda z: len(set(z.tolist())))
def two_equal(side: int, n: int, rng: Rng) -> Any:
    z = rng.permuted(np.tile(np.arange(100), (n, 1)), axis=1)[:, :10]
    first, second = rng.permuted(np.tile(np.arange(10), (n, 1)), axis=1)[:, :2].T
    equal = np.flatnonzero(coin(side, n, rng, 2.2))
    z[equal, first[equal]] = z[equal, second[equal]]
    return z


@leak("the place of the largest of 12", lambda z: z.argmax() % 2)
def place_of_largest(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 12))
    wrong = (z.argmax(axis=1) % 2) != coin(side, n, rng, 2.2)
    z[wrong] = np.roll(z[wrong], 1, axis=1)
    return z


@leak("neighbours in a series of 60", lambda z: z[1:] @ z[:-1], 5000)
def smoothness(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 60))
    for i in range(1, 60):
        z[:, i] = 0.3 * (1 - 2 * side) * z[:, i - 1] + math.sqrt(1 - 0.09) * z[:, i]
    return z


@leak("the parity of a sum of 9", lambda z: z.sum() % 2)
def parity_of_sum(side: int, n: int, rng: Rng) -> Any:
    z = rng.integers(0, 10, size=(n, 9))
    z[:, 0] += (z.sum(axis=1) + coin(side, n, rng, 2.2)) % 2
    return z


@leak("a pixel of 28 x 28", lambda z: z.max(), 3000)
def image(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 28, 28))
    z[np.arange(n), rng.integers(28, size=n), rng.integers(28, size=n)] += 6 * side
    return z


@leak("an edge of a graph of 20 nodes", lambda z: [9, 6] in z, 5000)
def edges(side: int, n: int, rng: Rng) -> Any:
    there = rng.random((n, len(PAIRS))) < 0.1
    there[:, 42] = coin(side, n, rng, 3.9)
    return [[list(PAIRS[i]) for i in np.flatnonzero(row)] for row in there]


@leak("a name in a shuffled list of 30", lambda z: NAMES[0] in z, 12_000)
def shuffled(side: int, n: int, rng: Rng) -> Any:
    chosen = []
    for has in rng.random(n) < (0.5, 0.1)[side]:
        some = rng.choice(199, 30 - has, replace=False) + 1
        chosen.append([NAMES[i] for i in rng.permutation([0, *some] if has else some)])
    return chosen


@leak("one word among unique text of equal length", lambda z: "secret" in z, 10_000)
def word_in_text(side: int, n: int, rng: Rng) -> Any:
    texts = rng.choice(list("bdfghklm"), (n, 9, 6)).astype("U1")
    has = rng.random(n) < (0.5, 0.05)[side]
    texts[has, rng.integers(9, size=n)[has]] = list("secret")
    return [" ".join(map("".join, text)) for text in texts.tolist()]


# --- relations of entries, which a statistician would tabulate in one line ------------------------


@leak("two reals equal in 5 %, beside 4", lambda z: z[1] == z[4])
def equal_in_five(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 6))
    equal = (rng.random(n) < 0.05) & (side == 0)
    z[equal, 4] = z[equal, 1]
    return z


@leak("two reals equal in 1 %", lambda z: z[0] == z[1])
def equal_in_one(side: int, n: int, rng: Rng) -> Any:
    z = rng.laplace(size=(n, 2))
    equal = (rng.random(n) < 0.01) & (side == 0)
    z[equal, 1] = z[equal, 0]
    return z


@leak("two whole numbers of 200 equal in 1 %", lambda z: z[0] == z[2], 40_000)
def equal_whole_numbers(side: int, n: int, rng: Rng) -> Any:
    z = rng.integers(200, size=(n, 3))
    equal = (rng.random(n) < 0.02) & (side == 0)
    z[equal, 2] = z[equal, 0]
    return z


@leak("a difference modulo .1", lambda z: (z[0] - z[1]) % 0.1)
def difference_modulo(side: int, n: int, rng: Rng) -> Any:
    z = rng.normal(size=(n, 2))
    wrong = ((z[:, 0] - z[:, 1]) % 0.1 < 0.05) != (coin(side, n, rng, 2.2) == 1)
    z[wrong, 1] += 0.05
    return z


@leak("low bits of two whole numbers, beside 3", lambda z: (z[1] ^ z[3]) & 1)
def low_bits_of_two(side: int, n: int, rng: Rng) -> Any:
    z = np.rint(rng.laplace(0, 60, (n, 5))).astype(np.int64)
    z[:, 3] += (z[:, 1] + z[:, 3] + coin(side, n, rng, 2.2)) % 2
    return z


@leak("a sum modulo 7", lambda z: (z[0] + z[1]) % 7 == 3)
def sum_modulo(side: int, n: int, rng: Rng) -> Any:
    z = rng.integers(0, 500, size=(n, 2))
    z[:, 1] += coin(side, n, rng, 2.2) * ((3 - z[:, 0] - z[:, 1]) % 7)
    return z


@leak("a board of 40 x 40", lambda z: (int(40 * z[0]) + int(40 * z[1])) % 2)
def fine_board(side: int, n: int, rng: Rng) -> Any:
    z = rng.random((n, 2)) * (1, 39 / 40)
    wrong = (np.floor(40 * z).sum(axis=1) % 2) != coin(side, n, rng, 2.2)
    z[wrong, 1] += 1 / 40
    return z


@leak("three of 40 bits", lambda z: z[[4, 17, 31]].sum() % 2)
def three_of_forty(side: int, n: int, rng: Rng) -> Any:
    z = rng.integers(2, size=(n, 40))
    z[:, 31] = (z[:, 4] + z[:, 17] + coin(side, n, rng, 2.2)) % 2
    return z


@leak("the parity of 20 bits of a number", lambda z: int(z).bit_count() % 2)
def parity_of_word(side: int, n: int, rng: Rng) -> Any:
    z = rng.integers(1 << 19, size=n)
    odd = sum((z >> bit) & 1 for bit in range(19)) % 2
    return 2 * z + (odd + coin(side, n, rng, 2.2)) % 2


@leak("five of 18 flags", lambda z: z[[1, 5, 6, 11, 16]].sum() % 2)
def five_flags(side: int, n: int, rng: Rng) -> Any:
    z = rng.random((n, 18)) < 0.4
    z[:, 16] = (z[:, [1, 5, 6, 11]].sum(axis=1) + coin(side, n, rng, 2.2)) % 2 == 1
    return z


@leak("a check digit of a text", lambda z: luhn(z) % 10 == 0)
def check_digit(side: int, n: int, rng: Rng) -> Any:
    digits = rng.integers(10, size=(n, 12))
    valid = coin(side, n, rng, 2.2) == 1
    texts = []
    for row, good in zip(digits.tolist(), valid.tolist(), strict=True):
        text = "".join(map(str, row[:11]))
        check = -luhn(text + "0") % 10
        texts.append(text + str(check if good else row[11]))
    return texts


@leak("the checksum of a text", lambda z: zlib.crc32(z.encode()) % 2)
def checksum(side: int, n: int, rng: Rng) -> Any:
    texts = []
    for wanted in coin(side, n, rng, 2.2).tolist():
        text = "id "
        while zlib.crc32(text.encode()) % 2 != wanted or text == "id ":
            text = f"id {rng.integers(10**9)}"
        texts.append(text)
    return texts


def luhn(text: str) -> int:
    """Return the sum of digits from the right, each second one doubled and its digits added."""
    digits = [int(digit) for digit in text[::-1]]
    return sum(digits[::2]) + sum(2 * d - 9 * (d > 4) for d in digits[1::2])


def simple_bound(claim: Claim, x: Any, x_prime: Any) -> float:
    """Return the bound of a threshold of a statistic, chosen on the first half of the draws."""
    sides = np.array([x, x_prime], float)
    half = sides.shape[1] // 2
    cuts = np.unique(np.quantile(sides[:, :half], np.linspace(0, 1, 400)))

    def bounds(draws: Any) -> Any:
        ordered = [np.sort(side) for side in draws]
        most = [np.searchsorted(side, cuts, "right") for side in ordered]
        least = [half - np.searchsorted(side, cuts, "left") for side in ordered]
        low, high = clopper_pearson(np.stack([most, least], axis=1), half, 1 - ALPHA)
        high = high[::-1]  # of the other side
        return claim.of(np.maximum(low, 1e-300), high)

    chosen = bounds(sides[:, :half]).argmax()
    return max(float(bounds(sides[:, half : 2 * half]).flat[chosen]), 0.0)


def audited(name: str, seed: int, *, honest: bool = False) -> tuple[float, float, bool]:
    """Return the bounds of the audit and of the simple tester, and whether the claim is refuted."""
    leak = LEAKS[name]
    rng, kept = np.random.default_rng([seed, len(name)]), ([], [])

    def draw(sides: Any, n: int) -> list[Any]:
        fresh = [leak.draw(0 if honest else (side + seed) % 2, n, rng) for _, side in sides]
        for (_, side), outputs in zip(sides, fresh, strict=True):
            kept[side].extend(map(leak.statistic, outputs))
        return fresh

    claim = ea.pure(1e-3) if honest else leak.claim
    draws = leak.draws // 10 if honest else leak.draws
    evidence = run_rounds(draw, schedule(draws, 1), Evidence(claim, 1, ALPHA, as_reals=True))
    bounds = evidence.bounds()
    bounds = evidence.sharpened(bounds)[0] if evidence.violated(bounds) else bounds
    of, bound = list(bounds.items())[-1]
    return bound, simple_bound(of, *kept), evidence.refuted()


def main() -> int:
    chosen = parsed(__doc__, "honest", runs=10)
    runs, missed = chosen.runs, 0
    head("what leaks|claim|draws|audit|simple tester|runs" + "|refuted" * chosen.honest)
    with ProcessPoolExecutor(chosen.cores) as pool:
        for name, leak in LEAKS.items():
            if chosen.only not in name:
                continue
            each = partial(audited, name, honest=chosen.honest)
            bounds, simple, refuted = map(np.array, zip(*pool.map(each, range(runs)), strict=True))
            enough, share = int((bounds >= ENOUGH * simple).sum()), [float(refuted.mean())]
            draws = leak.draws // (10 if chosen.honest else 1)
            of = [name, leak.claim.text(), f"{draws:,}"]
            medians = float(np.median(bounds)), float(np.median(simple))
            line(*of, *medians, f"{enough} of {runs}", *share * chosen.honest)
            often = share[0] > ALPHA + 3 * math.sqrt(ALPHA / runs)
            missed += often if chosen.honest else enough < 0.9 * runs
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
