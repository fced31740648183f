"""How likely it is at most that draws are as strange where they are as likely in any order.

- Whatever came before, the next output is a certain one with a probability that is known: how often
  that is yet to come over how many draws are. Who bets on the output of an earlier call at the same
  place has a test martingale, which reaches 1/alpha with probability alpha at most.
- Matches at a lag, among the first t of n draws: that probability is (c - 1) / (n - t) at most,
  where no value occurs more than c times. So their number is at most a binomial one. Frequent
  values hide rare ones, so only values that occur at most 2, 4, 8, ... times are counted, too.
- Sums of scores over a group that was chosen before it was drawn: a sample without replacement,
  for which Bennett's inequality holds (Hoeffding 1963, Section 6).
- Whatever else: draws are cut into pieces, each of which is compared with 199 permutations of
  itself. The p-values of pieces are independent and put together as Fisher did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Bools = NDArray[np.bool_]
Statistic = Callable[[Floats], Floats]
"""``(b,)`` numbers of scores ``(b, size)``; the larger, the stranger."""

LAGS = 4096
PIECES = 6
_PERMUTATIONS = 199
_ODDS = (2.0, 10.0, 1000.0)  # of bets on an equal output, beside all that one has
_RARE = (2, 4, 8, 16, 32, 64)
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


def matches(codes: Counts, most: int) -> Matches:
    """Return the most striking matches at a lag among the first ``most`` draws; see the module."""
    from scipy.special import bdtrc

    times = np.bincount(codes)
    rarity = np.searchsorted(_RARE, times)
    classes = np.arange(len(_RARE) + 1)
    limits = np.array([times[rarity <= i].max(initial=1) for i in classes])
    chances = np.minimum((limits - 1) / (codes.size - most), 1.0)
    lags = range(1, most)[:LAGS]
    values, kinds = codes[:most], rarity[codes[:most]]
    best = Matches()
    for lag in lags:
        same = values[lag:] == values[:-lag]
        counts = np.cumsum(np.bincount(kinds[lag:][same], minlength=classes.size))
        if counts[-1]:
            tails = np.where(counts > 0, bdtrc(np.maximum(counts - 1, 0), same.size, chances), 1.0)
            p = float(tails.min()) * len(lags) * classes.size
            best = min(best, Matches(p, int(counts[-1]), same.size, lag), key=lambda found: found.p)
    return best


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
