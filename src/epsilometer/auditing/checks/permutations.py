"""How likely it is at most that draws are as strange where they are as likely in any order.

- Whatever came before, the next output is a certain one with a probability that is known: how often
  that is yet to come over how many draws are. Who bets on the output of an earlier call at the same
  place has a test martingale, which reaches 1/alpha with probability alpha at most.
- Equal outputs are put into pairs at random, the rarest first. Which calls the outputs of a pair
  come from is as likely in any order, too: bets that it is one are a test martingale again.
- So are the calls of all outputs of a value, given those of the values before. Bets that they are
  clustered, as those of a Dirichlet-multinomial distribution are, are a third martingale.
- Sums of scores over a group that was chosen before it was drawn: a sample without replacement,
  for which Bennett's inequality holds (Hoeffding 1963, Section 6).
- Whatever else: draws are cut into pieces, each of which is compared with 199 permutations of
  itself. The p-values of pieces are independent and put together as Fisher did.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Bools = NDArray[np.bool_]
Statistic = Callable[[Floats], Floats]
"""``(b,)`` numbers of scores ``(b, size)``; the larger, the stranger."""

PIECES = 6
_PERMUTATIONS = 199
_PAIRS = 10_000  # of equal outputs
_ODDS = (2.0, 10.0, 1000.0)  # of bets on an equal output, beside all that one has
_CLUSTERED = (0.1, 1.0, 10.0)  # by how much counts in calls vary more, over what is usual
_VALUES = 4096  # the most frequent, whose calls are looked at
_STRETCHES = 12  # of all rows


@dataclass(frozen=True)
class Matches:
    """How many of so many outputs equal the one a lag before, and a bound of the p-value."""

    p: float = 1.0
    count: int = 0
    of: int = 0
    lag: int = 0


def agreement(codes: Counts, rows: Counts) -> Matches:
    """Return how rows agree place by place with those before them; see the module.

    ``codes`` are those of all draws; ``rows`` say where some of them stand, of shape ``(k, size)``.
    Half of the stakes are on the row before, the rest evenly on those further back.
    """
    part, size = rows.ravel(), rows.shape[1]
    values, n = codes[part], codes.size
    places = np.arange(part.size)
    known = np.sort(values * n + places)
    times = np.bincount(codes)
    wealth, best = [], Matches()
    for lag in range(size, part.size, size):
        guess, same = values[:-lag], values[lag:] == values[:-lag]
        seen = np.searchsorted(known, guess * n + places[lag:]) - np.searchsorted(known, guess * n)
        chance = (times[guess] - seen) / (n - places[lag:])
        found = Matches(1.0, int(np.count_nonzero(same)), same.size, lag)
        best = max(best, found, key=lambda matches: matches.count / max(matches.of, 1))
        all_in = -np.log(chance[same]).sum() if same.all() else -np.inf
        won = [math.log(odds) * found.count for odds in _ODDS]
        lost = [np.log1p(chance * (odds - 1)).sum() for odds in _ODDS]
        wealth.append([all_in, *np.subtract(won, lost)])
    share = np.full(len(wealth), 0.5 / max(len(wealth) - 1, 1))
    share[0] = 0.5
    stakes = np.log(share / (len(_ODDS) + 1))[:, None]
    p = float(np.exp(-max(np.logaddexp.reduce(np.add(wealth, stakes), axis=None), 0.0)))
    return replace(best, p=p)


def shared(codes: Counts, sizes: Sequence[int]) -> Matches:
    """Return how pairs of equal outputs lie within calls of these sizes; see the module."""
    size, times = codes.size, np.bincount(codes)
    if times.max() == 1:
        return Matches()
    rng = np.random.default_rng(zlib.crc32(codes.tobytes()))  # in another order for other outputs
    order = rng.permutation(size)
    kinds = codes[order]
    order = order[np.argsort(times[kinds] * times.size + kinds, kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(codes[order])) + 1, size)
    place = np.arange(size) - np.repeat(np.append(0, ends[:-1]), np.diff(ends, prepend=0))
    first = np.flatnonzero((place % 2 == 0) & (np.append(place[1:], 0) % 2 == 1))[:_PAIRS]
    pairs = np.repeat(np.arange(len(sizes)), sizes)[order][first + np.array([[0], [1]])]
    used = (pairs[:, :, None] == np.arange(len(sizes))).sum(axis=0)
    left = np.array(sizes) - np.cumsum(used, axis=0) + used  # in each call, before each pair
    chance = (left * (left - 1)).sum(axis=1) / (left.sum(axis=1) * (left.sum(axis=1) - 1))
    same = pairs[0] == pairs[1]
    wealth = [np.cumsum(math.log(odds) * same - np.log1p(chance * (odds - 1))) for odds in _ODDS]
    most = float(np.logaddexp.reduce(wealth).max()) - math.log(len(_ODDS))
    return Matches(math.exp(-max(most, 0.0)), int(np.count_nonzero(same)), first.size)


def clustered(codes: Counts, sizes: Sequence[int]) -> float:
    """Return how likely it is at most that equal outputs are in so few calls; see the module.

    Values are looked at from the rarest to the most frequent. Nothing is bet on one that has more
    than a fourth of the draws that are left, whose calls are nearly known.
    """
    from scipy.special import gammaln

    calls = np.where(np.array(sizes) > 1, np.arange(len(sizes)), -1)  # those of one draw together
    call = np.unique(np.repeat(calls, sizes), return_inverse=True)[1].ravel()
    number, times = int(call.max()) + 1, np.bincount(codes)
    values = np.argsort(times, kind="stable")[-_VALUES:]
    values = values[times[values] > 1]
    place = np.full(times.size, values.size)
    place[values] = np.arange(values.size)
    counts = np.bincount(place[codes] * number + call, None, (values.size + 1) * number)
    counts = counts.reshape(-1, number)[:-1]
    left = np.bincount(call) - np.cumsum(counts, axis=0) + counts  # of each call, before each value
    drawn, total = times[values], left.sum(axis=1)
    usual = (gammaln(left + 1) - gammaln(left - counts + 1)).sum(axis=1)
    usual -= gammaln(total + 1) - gammaln(total - drawn + 1)
    wealth = []
    for more in _CLUSTERED:
        size = drawn / more
        share = np.where(left > 0, left, 1) * (size / total)[:, None]
        bet = (gammaln(share + counts) - gammaln(share)).sum(axis=1)
        bet += gammaln(size) - gammaln(size + drawn)
        wealth.append(np.cumsum(np.where(4 * drawn <= total, bet - usual, 0.0)))
    most = float(np.logaddexp.reduce(wealth).max(initial=0.0)) - math.log(len(_CLUSTERED))
    return math.exp(-max(most, 0.0))


def unlikely(scores: Floats, group: Bools) -> float:
    """Return how likely it is at most that scores of a group add up to as much: Bennett's bound.

    The group is a sample without replacement; so are all others, where these are fewer.
    """
    size = int(min(group.sum(), (~group).sum()))
    if not size:
        return 1.0
    most, spread = float(np.abs(scores).max()), size * float((scores**2).mean())
    u = most * abs(float(scores[group].sum())) / spread
    return min(2 * math.exp(-spread / most**2 * ((1 + u) * math.log1p(u) - u)), 1.0)


def by_time(scores: Floats) -> float:
    """Return how likely it is at most that some stretch, or all up to its end, stands out so."""
    parts = np.arange(scores.size) * _STRETCHES // scores.size
    looks = [unlikely(scores, parts == i) for i in range(_STRETCHES)]
    looks += [unlikely(scores, parts <= i) for i in range(1, _STRETCHES - 2)]
    return min(looks) * len(looks)


def _pieces_p(
    pieces: Sequence[Floats], statistics: Sequence[Statistic], rng: np.random.Generator
) -> float:
    """Return Fisher's p-value of all pieces, each compared with permutations of itself."""
    from scipy.special import chdtrc

    total = 0.0
    for piece, statistic in zip(pieces, statistics, strict=True):
        others = rng.permuted(np.tile(piece, (_PERMUTATIONS, 1)), axis=1)
        found = statistic(np.concatenate([piece[None], others]))
        total -= 2 * math.log(np.mean(found >= found[0] * (1 - 1e-9)))  # ties, however rounded
    return float(chdtrc(2 * len(pieces), total))


def autocovariances(scores: Floats) -> Floats:
    """Return those at lags from 1 to the half, in a circle: ``(b, size // 2)``, up to scale."""
    power = np.abs(np.fft.rfft(scores - scores.mean(axis=1, keepdims=True), axis=1)) ** 2
    return np.asarray(np.fft.irfft(power, scores.shape[1], axis=1)[:, 1 : scores.shape[1] // 2 + 1])


def serial_p(pieces: Sequence[Floats], rng: np.random.Generator) -> float:
    """Return the p-value of serial dependence in pieces of the draws."""

    def largest(scores: Floats) -> Floats:
        return np.asarray(np.abs(autocovariances(scores)).max(axis=1))

    pieces = [piece for piece in pieces if piece.size >= 4]
    return _pieces_p(pieces, [largest] * len(pieces), rng)


def places_p(rows: Floats, rng: np.random.Generator, pieces: int = PIECES) -> float:
    """Return the p-value of agreement between rows of scores of one law, place by place."""
    parts = np.array_split(rows, min(pieces, rows.shape[1]), axis=1)

    def together(scores: Floats) -> Floats:
        means = scores.reshape(len(scores), len(rows), -1).mean(axis=1)
        return np.asarray((means**2).sum(axis=1))

    return _pieces_p([part.ravel() for part in parts], [together] * len(parts), rng)


def correlation_p(scores: Floats, others: Floats, rng: np.random.Generator) -> float:
    """Return the p-value of a correlation between as many scores of two laws."""

    def with_(other: Floats) -> Statistic:
        return lambda scores: np.abs(scores @ (other - other.mean()))

    pieces, other_pieces = (np.array_split(side, PIECES) for side in (scores, others))
    return _pieces_p(pieces, [with_(other) for other in other_pieces], rng)
