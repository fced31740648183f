"""Bounds of p-values for exchangeable draws: all orders are equally likely.

- Given all draws before, the next output has a known probability: its remaining count over the
  remaining draws. A bet on the output of an earlier call at the same position is a test
  martingale, which reaches 1/alpha with probability alpha at most.
- So are the calls of all outputs of a value, given those of the values before, the rarest first.
  Bets that they are clustered, as in a Dirichlet-multinomial distribution, are a second test
  martingale.
- Sums of scores over a group that was fixed before the draws: it is a sample without replacement,
  for which Bennett's inequality holds (Hoeffding 1963, Section 6).
- So are sums of scores over pieces of calls, equally many draws each: permutations of the pieces
  show by how much the means of calls differ by chance.
- Other statistics: draws are cut into pieces, each of which is compared with 199 permutations of
  itself. The p-values of pieces are independent and are combined by Fisher's method. Where a normal
  law of the correlations does not come near the limit, the check passes without permutations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from epsilometer.numerics.arrays import Counts, Floats, Integers
from epsilometer.numerics.ratios import log_share, ratio

PIECES = 6
_PERMUTATIONS = 199
_FIRST = 19
_ODDS = (2.0, 10.0, 1000.0)  # of bets on an equal output, beside a bet of the whole wealth
_CLUSTERED = (0.1, 1.0, 10.0)  # overdispersion of the counts in calls
_VALUES = 4096  # the most frequent values
_STRETCHES = 12  # of all rows
_PARTS = 128  # of all draws, which calls are cut into
_AT_ONCE = 1000  # permutations
Statistic = Callable[[Floats], Floats]  # of scores (b, size), shape (b,); large is extreme


@dataclass(frozen=True)
class Matches:
    """The ``same`` outputs, of ``every``, as those ``lag`` before; a bound ``p``."""

    p: float = 1.0
    same: int = 0
    every: int = 0
    lag: int = 0

    @property
    def share(self) -> float:
        """The share of outputs that are the same."""
        return self.same / max(self.every, 1)


class Scores:
    """Scores of draws: ``values`` of ``classes`` that occur so many ``times``, of size 1 at most.

    They are changed to mean 0 and variance 1, and all are 0 if those of all draws are the same.
    Values and times have shape ``(k,)``, the class of each draw ``(n,)``.
    """

    def __init__(self, values: Floats, times: Counts, classes: Integers) -> None:
        centred = values - times @ values / classes.size
        spread = math.sqrt(times @ centred**2 / classes.size)
        self.classes = classes
        self.values = ratio(centred, spread, size=1.0)

    def __getitem__(self, at: Any) -> Floats:
        return np.asarray(self.values[self.classes[at]])


def agreement(codes: Integers, rows: Counts) -> Matches:
    """Return how rows of positions, ``(k, size)``, agree place by place with those before them.

    Stakes are equal on the row before and on those further back.
    """
    size = rows.shape[1]
    values = codes[rows.ravel()].astype(np.int64)
    n = codes.size
    positions = np.arange(values.size)
    known = np.sort(values * n + positions)
    times = np.bincount(codes)
    wealth = []
    best = Matches()
    for lag in range(size, values.size, size):
        guess = values[:-lag]
        place = positions[lag:]
        same = values[lag:] == guess
        first = np.searchsorted(known, guess * n)
        past = np.searchsorted(known, guess * n + place) - first
        chance = (times[guess] - past) / (n - place)
        match = Matches(1.0, int(np.count_nonzero(same)), same.size, lag)
        if match.share > best.share:
            best = match
        of_all = -np.inf  # of the bet of the whole wealth
        if same.all():
            of_all = -np.log(chance[same]).sum()
        wealth.append(of_all)
        for odds in _ODDS:
            losses = np.log1p(chance * (odds - 1)).sum()
            wealth.append(math.log(odds) * match.same - losses)
    mean = np.logaddexp.reduce(wealth) - math.log(len(wealth))
    return replace(best, p=math.exp(-max(float(mean), 0.0)))


def clustered(codes: Integers, times: Counts, sizes: Sequence[int]) -> float:
    """Return a bound of the p-value of equal outputs in few calls; see the module.

    ``codes`` are those of the outputs, ``times`` says how often each is there.

    There is no bet on a value with more than a fourth of the draws left, whose calls are known.
    """
    if times.max() == 1:
        return 1.0
    values = np.argsort(times, kind="stable")[-_VALUES:]  # the rarest first
    values = values[times[values] > 1]
    counts, left = _in_calls(codes, values, sizes)
    drawn = times[values]
    total = left.sum(axis=1)
    log_chance = _log_falling(left, counts).sum(axis=1) - _log_falling(total, drawn)
    wealth = []
    for overdispersion in _CLUSTERED:
        weight = drawn / overdispersion
        weights = np.where(left > 0, left, 1) * (weight / total)[:, None]
        log_bet = _log_rising(weights, counts).sum(axis=1) - _log_rising(weight, drawn)
        wealth.append(np.cumsum(np.where(4 * drawn <= total, log_bet - log_chance, 0.0)))
    means = np.logaddexp.reduce(wealth) - math.log(len(wealth))
    return math.exp(-float(means.max(initial=0.0)))


def _in_calls(codes: Integers, values: Counts, sizes: Sequence[int]) -> tuple[Counts, Counts]:
    """Return how often each value is in each call, and the draws of the call left before it.

    Both have shape ``(values, calls)``. All calls of one draw are one.
    """
    calls = np.where(np.array(sizes) == 1, len(sizes), np.arange(len(sizes)))
    numbers, call = np.unique(calls, return_inverse=True)
    rank = np.full(int(codes.max()) + 1, values.size, np.int16)  # the last one is for all others
    rank[values] = np.arange(values.size)
    times = np.zeros((numbers.size, values.size + 1), np.int64)
    for i, part in zip(call, np.split(codes, np.cumsum(sizes)[:-1]), strict=True):
        times[i] += np.bincount(rank[part], None, values.size + 1)
    counts = times[:, :-1].T
    return counts, times.sum(axis=1) - np.cumsum(counts, axis=0) + counts


def _log_falling(n: Counts, k: Counts) -> Floats:
    """Return the logarithm of n (n - 1) ... (n - k + 1)."""
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(n - k + 1))


def _log_rising(a: Floats, k: Counts) -> Floats:
    """Return the logarithm of a (a + 1) ... (a + k - 1)."""
    from scipy.special import gammaln

    return np.asarray(gammaln(a + k) - gammaln(a))


def unlikely(scores: Scores, sizes: Counts, sums: Floats) -> Floats:
    """Return Bennett's bounds of the p-values of groups: sizes ``(g,)``, sums of their scores.

    A group is a sample without replacement; so is its complement, which is used if smaller.
    """
    sizes = np.minimum(sizes, scores.classes.size - sizes)
    largest = np.abs(scores.values).max()
    u = ratio(largest * np.abs(sums), sizes)
    exponent = ratio(sizes, largest**2) * ((1 + u) * np.log1p(u) - u)
    return np.asarray(np.minimum(2 * np.exp(-exponent), 1.0))


def by_time(scores: Scores) -> float:
    """Return a bound of the p-value of a drift: some stretch, or all up to its end, differs."""
    ends = -(-np.arange(_STRETCHES + 1) * scores.classes.size // _STRETCHES)
    sums = np.array([scores[start:end].sum() for start, end in pairwise(ends.tolist())])
    from_the_start = slice(1, _STRETCHES - 2)
    sizes = np.concatenate([np.diff(ends), ends[1:][from_the_start]])
    sums = np.concatenate([sums, np.cumsum(sums)[from_the_start]])
    p_values = unlikely(scores, sizes, sums)
    return float(p_values.min()) * p_values.size


def pieces(scores: Iterable[Scores], sizes: Sequence[int]) -> tuple[Floats, Counts] | None:
    """Return sums of scores in equal pieces of calls, ``(pieces, scores)``, and pieces by call.

    None if there is one call only, or other numbers of draws.
    """
    piece = max(sum(sizes) // _PARTS, 1)
    numbers = np.array([size // piece for size in sizes if size >= piece], int)
    usable = [score for score in scores if score.classes.size == sum(sizes)]
    if numbers.size < 2 or not usable:
        return None
    columns = []
    for score in usable:
        sums = []
        start = 0
        for size in sizes:
            end = start + size // piece * piece
            sums.append(score[start:end].reshape(size // piece, piece).sum(axis=1))
            start += size
        columns.append(np.concatenate(sums))
    parts = np.array(columns).T
    return parts - parts.mean(axis=0), numbers


def calls_p(
    of_sides: Sequence[tuple[Floats, Counts] | None], rng: np.random.Generator, limit: float
) -> float:
    """Return the p-value of differences between calls, or 1 above the ``limit``.

    The statistic is the sum, over sides and scores, of the variance between calls; see `pieces`.
    """
    sides = [side for side in of_sides if side is not None]

    if not sides:
        return 1.0

    def statistic(orders: Sequence[Counts]) -> Floats:
        total = np.zeros(len(orders[0]))
        for (parts, numbers), order in zip(sides, orders, strict=True):
            begins = np.cumsum(numbers) - numbers
            means = np.add.reduceat(parts[order], begins, axis=1) / np.sqrt(numbers)[:, None]
            total += (means**2).sum(axis=(1, 2))
        return total

    unchanged = [np.arange(len(parts))[None] for parts, _ in sides]
    least = statistic(unchanged)[0] * (1 - 1e-9)
    reached = 1
    done = 1
    wanted = math.ceil(2 / limit)
    while done < wanted:
        number = _FIRST if done == 1 else done
        number = min(number, _AT_ONCE, wanted - done)
        orders = [rng.permuted(order.repeat(number, axis=0), axis=1) for order in unchanged]
        reached += int(np.count_nonzero(statistic(orders) >= least))
        done += number
        if reached > limit * wanted:
            return 1.0
    return reached / done


def _pieces_p(
    pieces: Sequence[Floats], statistic: Statistic, rng: np.random.Generator, limit: float
) -> float:
    """Return Fisher's p-value of pieces, each beside its permutations; 1 once above the limit."""
    from scipy.special import chdtrc

    p = 1.0
    reached = np.ones(len(pieces))  # how many permutations are as extreme; and itself
    for number in (_FIRST, _PERMUTATIONS - _FIRST):
        for i, piece in enumerate(pieces):
            others = rng.permuted(np.tile(piece, (number, 1)), axis=1)
            values = statistic(np.concatenate([piece[None], others]))
            least = values[0] * (1 - 1e-9)  # ties despite rounding
            reached[i] += np.count_nonzero(values[1:] >= least)
            p = float(chdtrc(2 * reached.size, -2 * np.log(reached / (_PERMUTATIONS + 1)).sum()))
            if p > limit:
                return 1.0
    return p


def serial_p(pieces: Sequence[Floats], rng: np.random.Generator, limit: float) -> float:
    """Return the p-value of serial dependence in pieces of the draws, or 1 above the ``limit``."""
    from scipy.special import chdtrc, erfc

    def largest(scores: Floats) -> Floats:
        """Return the largest circular autocorrelation at lags 1, ..., size / 2."""
        n = scores.shape[1]
        waves = np.fft.rfft(scores - scores.mean(axis=1, keepdims=True), axis=1)
        shifted = np.fft.irfft(waves.real**2 + waves.imag**2, n, axis=1)
        most = np.abs(shifted[:, 1 : waves.shape[1]]).max(axis=1)  # further lags mirror these
        return ratio(most, shifted[:, 0], size=1e-9)

    pieces = [piece for piece in pieces if piece.size >= 4]
    # most independent draws are told by a normal law of correlations, without permutations
    sizes = np.array([piece.size for piece in pieces])
    deviations = np.sqrt(sizes)
    for size in set(sizes.tolist()):
        of_size = np.array([piece for piece in pieces if piece.size == size])
        deviations[sizes == size] *= largest(of_size)
    p = np.minimum(sizes / 2 * erfc(deviations / math.sqrt(2)), 1.0)
    if chdtrc(2 * p.size, -2 * log_share(p).sum()) > math.sqrt(limit):
        return 1.0
    return _pieces_p(pieces, largest, rng, limit)


def places_p(rows: Floats, rng: np.random.Generator, pieces: int, limit: float) -> float:
    """Return the p-value of agreement between rows of scores, or 1 above the ``limit``."""
    parts = np.array_split(rows, min(pieces, rows.shape[1]), axis=1)

    def together(scores: Floats) -> Floats:
        means = scores.reshape(len(scores), len(rows), -1).mean(axis=1)
        return np.asarray((means**2).sum(axis=1))

    return _pieces_p([part.ravel() for part in parts], together, rng, limit)
