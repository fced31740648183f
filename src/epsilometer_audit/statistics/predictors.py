"""Bets from the first few draws on: predicted distributions, and the wealth that they share.

The null hypothesis of a claim is a convex set N of pairs (P', Q') of distributions on x and x'. Let
p and q be predicted probabilities of the cells of a partition of the outputs, chosen before a pair
of fresh draws X of P and Y of Q. With (p*, q*), the pair of N that minimises KL(p || p*) +
KL(q || q*), and f = p/p*, g = q/q*, the pair of draws multiplies the wealth by

    E(X, Y) = f(X) g(Y).

**Validity.** At a minimum over a convex set the directional derivative is not negative, so that
E_P'[f] + E_Q'[g] <= 2 for all (P', Q') in N (Larsson, Ramdas and Ruf, arXiv 2402.18810, for the
pair as a single distribution). So the product of the two means, which is E's mean as X and Y are
independent, is at most 1. Here it holds whatever f and g are, as they are divided by S/2, where

    S = (1 - delta) (A + B)/(1 + e) + delta (F + G),    F = max f,  G = max g,
    A = max(e f + g),  B = max(f + e g),  e = exp(epsilon),

is at least E_P'[f] + E_Q'[g] for all (P', Q') in N. Proof for e > 1: let (a, b) solve e a + b = A,
a + e b = B, so that a + b = (A + B)/(1 + e). Where f > a, g - b <= -e (f - a), so that P' (f - a) +
Q' (g - b) <= (f - a) (P' - e Q'); alike where g > b; elsewhere it is at most 0. The sum over the
cells is at most (F - a) delta + (G - b) delta: F >= a, as f + e g <= B where e f + g = A, and
G >= b alike. For e = 1, take any a + b = A with a <= F, b <= G. So neither rounding nor a poor
minimum matters.

Probabilities of cells satisfy the claim where the distributions do, so that any cells chosen before
the draws will do, and so will any p and q. The wealth is a mean of products of such factors with
fixed weights, a test martingale: it reaches 1/alpha with probability alpha at most, at whatever
times it is looked at (Ville's inequality).

**Growth.** With the true probabilities as p and q, the mean of ln E is KL_inf of the cells: no bet
grows faster. A predictor that must learn d numbers loses about (d/2) ln n. So the first predictor,
`families`, is a Bayesian mean of location-scale families, whose prior is wide for what the sides
have in common and prefers differences in few numbers. `tree` knows no family. It is a Pólya tree,
which weighs at each split whether the sides differ (Holmes and others, Bayesian Analysis 10(2),
2015). `histogram` and `spikes` are for values that repeat.

**Data.** Past draws 0, 0, 1 of x and 1, 2, 2 of x' are points, and a predictor makes cells of them:

    past = Points().with_draws([0, 0, 1], [1, 2, 2])
    past.values, past.weights  # [0, 1, 2], [[2, 1, 0], [0, 1, 2]]
    guess = histogram(past)    # a Prediction
    guess.edges, guess.p       # [0.5, 1.5], probabilities of the three cells on x

Distributions are refitted after each pair of draws at first, later as the number of draws grows by
a sixth, and by a half. Past draws are kept as at most `POINTS` weighted points a side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from epsilometer.events.events import PART
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample
from epsilometer.numerics.compiled import compiled, compiled_part

# To compare other numbers, run `make limit`.
POINTS = 1024  # of both sides
_OFTEN = 500  # draws until which each sixth more is learned from, later each half
_FEW_SORTED = 64  # draws, below which they are sorted together with those before
_MANY_SORTED = 2000  # draws, above which blocks are sorted before their cells are counted
_FEWEST_LEARNED = 2  # draws a side that are learned from
_NODES = 5  # of locations and of log scales, a standard error apart
_SIDE = 16  # edges of cells a side, up to 6 mean absolute deviations away
_LEAVES = 32  # of the tree, besides values that repeat
FLOOR = 0.03  # share of both sides' mean in each probability
_SMALL_FLOOR = 0.006  # the same in the probabilities of a histogram
# prior of what differs between the sides
_LOCATION = 0.4
_SCALE = 0.3
_BOTH = 0.2
_NEITHER = 0.1
_NARROW = 0.3  # a small difference, in scales
_WIDE_LOG = 0.7  # a wide difference of log scales

_EDGES = 6.0 * np.sinh(np.linspace(-2.2, 2.2, _SIDE)) / math.sinh(2.2)
_NEAR = np.maximum(3 - np.abs(np.subtract.outer(np.arange(64), np.arange(64))), 0) / 9
_MEDIAN = np.array([0.4999999999995, 0.5000000000005])  # shares of draws up to it, but for rounding
# Of a split of the tree: the prior probabilities that both sides have the same share of draws on
# the left, similar ones or any; and how many draws of the mean the last two have beside their own.
_SAME_SHARE = 0.3
_NEAR_SHARE = 0.2
_FAR_SHARE = 0.5
_NEAR_DRAWS = 10.0
_FAR_DRAWS = 1.0


@dataclass(frozen=True, eq=False)
class Points:
    """Past draws of both sides: increasing values, ``(k,)``, and how many draws each is.

    The numbers of draws have shape ``(2, k)``; x is first.
    """

    values: Floats = field(default_factory=lambda: np.empty(0))
    weights: Floats = field(default_factory=lambda: np.empty((2, 0)))

    def with_draws(self, x: Sample, x_prime: Sample) -> Points:
        """Return these draws and further ones of both sides, ``(n,)``; NaN is infinite."""
        values, counts = _different(x)
        values_prime, counts_prime = _different(x_prime)
        start = self.values.size
        start_prime = start + values.size
        values = _numbers(np.concatenate([self.values, values, values_prime]))
        weights = np.zeros((2, values.size))
        weights[:, :start] = self.weights
        weights[0, start:start_prime] = counts
        weights[1, start_prime:] = counts_prime
        order = values.argsort(kind="stable")
        values = values[order]
        weights = weights.take(order, axis=1)
        new = np.append(True, values[1:] != values[:-1])
        if not new.all():
            starts = new.nonzero()[0]
            values = values[starts]
            weights = np.add.reduceat(weights, starts, axis=1)
        if values.size > POINTS:
            return _thinned(values, weights)
        return Points(values, weights)


def _different(draws: Sample) -> tuple[Sample, Floats | Counts]:
    """Return different draws in increasing order, and how many each is; few draws as they are."""
    if draws.size < _FEW_SORTED:
        return draws, np.ones(draws.size)
    values, counts = np.unique(draws, return_counts=True)
    return values, counts


def _thinned(values: Floats, weights: Floats) -> Points:
    """Return at most about `POINTS` points: light neighbours are joined in their mean."""
    pooled = weights[0] + weights[1]
    ends = pooled.cumsum()
    width = 2 * ends[-1] / POINTS
    heavy = (pooled > width) | ~np.isfinite(values)
    group = (ends - pooled / 2) // width
    new = heavy[1:] | heavy[:-1] | (group[1:] > group[:-1])
    starts = np.concatenate([[0], 1 + new.nonzero()[0]])
    centre = values[starts]
    sizes = np.diff(starts, append=values.size)
    with np.errstate(invalid="ignore", over="ignore"):
        shifts = np.where(heavy, 0.0, values - centre.repeat(sizes))
        weights = np.add.reduceat(weights, starts, axis=1)
        means = centre + np.add.reduceat(pooled * shifts, starts) / weights.sum(axis=0)
    return Points(np.where(np.isfinite(means), means, centre), weights)


def _numbers(draws: Sample) -> Floats:
    numbers = np.asarray(draws, dtype=np.float64)
    return np.where(np.isnan(numbers), np.inf, numbers) + 0.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted probabilities of the cells between increasing edges.

    ``edges`` has shape ``(k - 1,)``; cell i holds the outputs above edge i - 1 up to edge i. ``p``
    and ``q`` are the probabilities on x and x', of shape ``(k,)``, each above 0, of sum 1. Bets mix
    them with a part, ``floor``, of their mean.
    """

    edges: Floats
    p: Floats
    q: Floats
    floor: float = FLOOR


Predictor = Callable[[Points], Prediction | None]
"""Predicts from past draws of both sides; None if they do not say enough."""

Shares = Mapping[Predictor, float]
"""Of the initial wealth."""


@np.errstate(over="ignore", invalid="ignore")  # numbers may be very large
def families(past: Points) -> Prediction | None:
    """Predict by the posterior of Gaussian and of Laplace noise.

    Each side has a location and a scale. Their prior is that of invariance for what the sides have
    in common, and favours a difference in either locations or scales. Sums over ``_NODES`` **2
    nodes a side are in place of integrals. None if a draw is infinite, or if all are equal.
    """
    if not _finite(past):
        return None
    fits = _fits(past)
    draws, centres, spreads, scales = fits
    variances = (spreads**2).sum(axis=1) / 2  # of both sides
    if not (variances.min() > 1e-290 and variances.max() < 1e290):
        return None
    scales[:] = np.sqrt(spreads**2 + variances[:, None] / draws.min())
    edges = np.sort(centres[1][:, None] + scales[1][:, None] * _EDGES, axis=None)
    cells = np.full((2, edges.size + 1), 1e-12)
    work = *np.zeros((2, 2, 2, _NODES)), np.zeros((2, 2, _NODES, 2 * _NODES)), np.zeros(2)
    if not _families(past.values, past.weights, fits, edges, *work, cells):
        return None
    cells /= np.add.reduce(cells, axis=1, keepdims=True)
    return Prediction(edges, cells[0], cells[1])


def _fits(past: Points) -> Floats:
    """Return draws, centres and spreads of Gaussian (0) and Laplace noise (1) on either side.

    They have shape ``(4, 2, 2)``; the last is for scales. Centres are means and medians; spreads
    are standard deviations from the mean, and mean absolute deviations from the median.
    """
    values = past.values
    weights = past.weights
    below = weights.cumsum(axis=1)
    fits = np.empty((4, 2, 2))
    fits[0] = n = below[:, -1]
    fits[1, 0] = means = values[0] + weights @ (values - values[0]) / n
    for i in range(2):  # the median may lie between two draws
        low, high = below[i].searchsorted(n[i] * _MEDIAN)
        fits[1, 1, i] = values[low] + (values[high] - values[low]) / 2
    squares = weights * (values - means[:, None]) ** 2
    far = weights * np.abs(values - fits[1, 1][:, None])
    fits[2, 0] = np.sqrt(squares.sum(axis=1) / n)
    fits[2, 1] = far.sum(axis=1) / n
    return fits


@np.errstate(invalid="ignore", over="ignore")  # numbers may be very large
def tree(past: Points) -> Prediction | None:
    """Predict by a Pólya tree on cells of both sides' quantiles, and values that repeat."""
    values = past.values
    pooled = past.weights[0] + past.weights[1]
    if values.size < 2:
        return None
    repeats = _repeat(pooled)
    leaf = max(pooled.sum() / _LEAVES, 2.0)  # draws
    group = (np.where(repeats, 0.0, pooled).cumsum() - 1e-9) // leaf
    new = (group[1:] > group[:-1]) | repeats[1:] | repeats[:-1]
    last = new.nonzero()[0]  # values of cells
    low = values[last]
    high = values[last + 1]
    middle = low + (high - low) / 2
    edges = np.where((low <= middle) & (middle < high), middle, low)
    edges = np.where(repeats[last + 1], np.nextafter(high, -math.inf), edges)
    p, q = np.add.reduceat(past.weights, np.concatenate([[0], last + 1]), axis=1)
    ranges = np.zeros((2 * p.size, 2), np.int64)
    parts = np.zeros((2 * p.size, 2))
    _split(p, q, np.zeros((3, p.size + 1)), ranges, parts)
    return Prediction(np.where(repeats[last], low, edges), p, q)


def _repeat(masses: Floats) -> Bools:
    """Tell which values have a cell of their own."""
    return np.asarray(masses >= max(2.0, masses.sum() / (2 * _LEAVES)))


def histogram(past: Points) -> Prediction | None:
    """Predict by the frequencies of few values, each a cell; None if there are many.

    A few draws more in each cell have the shares of both sides near it, so that order matters.
    """
    values = past.values
    counts = past.weights
    if not (_finite(past) and 1 < values.size <= len(_NEAR)):
        return None
    nearby = counts @ _NEAR[: values.size, : values.size] + 0.01
    counts = counts + 12.0 * nearby / (nearby[0] + nearby[1])
    p, q = counts / np.add.reduce(counts, axis=1, keepdims=True)
    return Prediction((values[1:] + values[:-1]) / 2, p, q, _SMALL_FLOOR)


def spikes(past: Points) -> Prediction | None:
    """Predict values that repeat by their frequencies, and the other draws by `families`.

    None if there are few draws, if no value repeats, or if a draw is infinite.
    """
    values = past.values
    weights = past.weights
    repeats = _repeat(weights.sum(axis=0))
    atoms = values[repeats]
    if not (weights.sum() >= 16 and atoms.size and _finite(past)):
        return None
    others = weights.compress(~repeats, axis=1)  # a fifth of a draw more in each
    counts = np.column_stack([weights[:, repeats], others.sum(axis=1)]) + 0.2
    prediction = None  # of the other draws
    if np.count_nonzero(others, axis=1).min() >= _FEWEST_LEARNED:
        prediction = families(Points(values[~repeats], others))
    if prediction is None:
        prediction = Prediction(np.empty(0), np.ones(1), np.ones(1))
    with np.errstate(over="ignore"):  # one may be infinite
        below = np.nextafter(atoms, -math.inf)
    edges = np.unique(np.concatenate([prediction.edges, below, atoms]))
    ends = np.append(edges, math.inf)
    atom = np.searchsorted(atoms[:-1], ends)
    wide = np.searchsorted(prediction.edges, ends)
    is_atom = atoms[atom] == ends
    parts = np.maximum(np.bincount(wide, ~is_atom), 1.0)  # of a cell that atoms cut
    shares = []
    for side, of_others in zip(counts, (prediction.p, prediction.q), strict=True):
        cells = np.where(is_atom, side[atom], side[-1] * (of_others / parts)[wide]) + 1e-12
        shares.append(cells / cells.sum())
    return Prediction(edges, shares[0], shares[1])


def _finite(past: Points) -> bool:
    return bool(-math.inf < past.values[0] and past.values[-1] < math.inf)


def factors(prediction: Prediction, epsilons: Floats, deltas: Floats) -> tuple[Floats, Floats]:
    """Return ln f and ln g of the cells, of shape ``(k, m)``, for m claims (epsilon, delta).

    It is the projection, in a hundredth of the time of a solver that bounds its error. The clips of
    a delta are found in turn, so that for a delta above .01 the growth may lack up to .04 nats.
    """
    shares, ratios, sums = _in_order(prediction)
    fs, gs = np.empty((2, ratios.size, epsilons.size))
    _factors(shares, ratios, sums, epsilons, deltas, np.empty(3), fs, gs)
    return fs, gs


def _in_order(prediction: Prediction) -> tuple[Floats, Floats, Floats]:
    """Return the shares of p and q in each cell, and ratios and sums in the order of p/q.

    They have shape ``(2, k)``, ``(k,)`` and ``(2, k + 1)``; sums are the probabilities before each
    cell. Both p and q take a part of the other first, so that none is 0.
    """
    part = prediction.floor / 2
    p = (1 - part) * prediction.p + part * prediction.q + 1e-12
    q = (1 - part) * prediction.q + part * prediction.p + 1e-12
    both = np.stack([p, q])
    ratios = p / q
    order = ratios.argsort(kind="stable")
    sums = np.zeros((2, order.size + 1))
    both[:, order].cumsum(axis=1, out=sums[:, 1:])
    return both / (p + q), ratios[order], sums


def renyi_factors(prediction: Prediction, orders: Floats, rhos: Floats) -> tuple[Floats, Floats]:
    """Return ln f and ln g of the cells, ``(k, m)``, for m claims D_a <= rho, either way round.

    For a clipped power r of p/q, phi = r^(a-1) and psi = r^a, f = 1 + l (phi - u) and g = 1 - l
    kappa (psi - v) are those of `epsilometer_audit.statistics.wealth`, where v is the mean of psi
    under q. So E_P'[f] + E_Q'[g] <= 2. A bet on D_a(Q' || P') is added to both, which the sum
    allows. With r = p*/q* and the best l, this is the projection; here a few clips are tried.
    """
    part = prediction.floor / 2
    p = (1 - part) * prediction.p + part * prediction.q + 1e-12
    q = (1 - part) * prediction.q + part * prediction.p + 1e-12
    fs, gs = np.zeros((2, p.size, orders.size))
    clips = np.array([0.5, 1.0, 2.0, 4.0])
    _renyi_factors(p, q, orders, rhos, clips, np.empty((7, p.size)), fs, gs)
    return fs, gs


DISCRETE: Shares = {histogram: 0.7, tree: 0.3}  # for few numbers
ATOMS: Shares = {families: 0.3, spikes: 0.4, tree: 0.3}  # where numbers repeat
DENSE: Shares = {families: 0.65, tree: 0.35}
SCORES: Shares = {families: 0.5, histogram: 0.5}


@dataclass(eq=False)
class Mixture:
    """The wealth of bets of several predictors against m claims, from 1.

    Outputs are numbers. ``bets`` returns ln f and ln g, ``(k, m)``, of predicted cells; ``shares``
    are the predictors' shares of the initial wealth, of sum 1.
    """

    claims: int
    bets: Callable[[Prediction], tuple[Floats, Floats]]
    shares: Shares = field(default_factory=lambda: DENSE)
    logs: Floats = field(init=False)
    """The logs of the wealth of each predictor and claim, of shape ``(predictors, m)``."""
    _past: Points = field(default_factory=Points)
    _fresh: list[tuple[Sample, Sample]] = field(default_factory=list)  # not in the past so far
    _draws: int = 0
    _fitted: int = 0

    def __post_init__(self) -> None:
        self.logs = np.zeros((len(self.shares), self.claims))
        self._log_shares = np.log([*self.shares.values()])
        self._predictions: list[Prediction | None] = [None] * len(self.shares)
        self._bets: list[tuple[Floats, Floats] | None] = []

    def record(self, x: Sample, x_prime: Sample, sizes: Sequence[int] | None = None) -> Floats:
        """Bet on fresh draws of both sides, ``(n,)``, in blocks of ``sizes``, or one by one.

        Return the log wealth after each block, of shape ``(blocks, m)``.
        """
        x = _numbers(x)
        x_prime = _numbers(x_prime)
        if sizes is None:
            sizes = [1] * len(x)
        ends = np.cumsum(sizes)
        grown = [self.logs[None]]
        done = [0]
        start = 0
        while start < len(x):
            self._learn()
            if not self._bets:
                for prediction in self._predictions:
                    self._bets.append(None if prediction is None else self.bets(prediction))
            end = min(len(x), start + max(self._fitted + self._wait() - self._draws, 1))
            within = slice(*ends.searchsorted([start + 1, end]))
            cuts = [0, *(ends[within] - start).tolist(), end - start]
            fresh = x[start:end], x_prime[start:end]
            if end - start > _MANY_SORTED:
                for a, b in pairwise(cuts):
                    fresh[0][a:b].sort()  # blocks, to count the draws below each edge
                    fresh[1][a:b].sort()
            grown.append(self._growth(fresh, cuts))
            self.prime(*fresh)
            done += [start + cut for cut in cuts[1:]]
            start = end
        path = np.concatenate(grown).cumsum(axis=0)
        self.logs = path[-1].copy()
        return _log_mean(path[np.searchsorted(done, ends)], self._log_shares)

    def _growth(self, fresh: tuple[Sample, Sample], cuts: Sequence[int]) -> Floats:
        """Return the log factors of the wealth between the cuts, ``(cuts - 1, predictors, m)``."""
        grown = np.zeros((len(cuts) - 1, *self.logs.shape))
        for i, (prediction, bets) in enumerate(zip(self._predictions, self._bets, strict=True)):
            if prediction is not None and bets is not None:
                for side, logs in zip(fresh, bets, strict=True):
                    grown[:, i] += _sums(side, cuts, prediction.edges, logs)
        return grown

    def prime(self, x: Sample, x_prime: Sample) -> None:
        """Add past draws of both sides, ``(n,)``, without bets on them."""
        self._draws += x.size
        parts = -(-x.size // PART)
        for i in range(parts):
            self._fresh.append((x[i::parts], x_prime[i::parts]))
        while parts > 1 and self._fresh:  # in less memory
            self._past = self._past.with_draws(*self._fresh.pop(0))

    def _learn(self) -> None:
        """Predict from the past draws, if there are enough new ones."""
        if self._draws < _FEWEST_LEARNED:
            return
        if self._fitted and self._draws < self._fitted + self._wait():
            return
        if self._fresh:
            x, x_prime = map(np.concatenate, zip(*self._fresh, strict=True))
            self._past = self._past.with_draws(x, x_prime)
            self._fresh = []
        self._fitted = self._draws
        self._bets = []
        self._predictions = [predictor(self._past) for predictor in self.shares]

    def inherit(self, other: Mixture) -> None:
        """Spread the initial wealth over the predictors as another mixture does, but for a part."""
        self.logs = np.logaddexp(other.logs - other.wealth + math.log(0.8), math.log(0.2))

    def ranked(self, claim: int) -> list[tuple[Predictor, Prediction | None]]:
        """Return the predictors and what they predict; those with most wealth against it first."""
        self._learn()
        order = np.argsort(-(self.logs[:, claim] + self._log_shares), kind="stable")
        predictors = list(zip(self.shares, self._predictions, strict=True))
        return [predictors[i] for i in order.tolist()]

    def change_claims(
        self, index: Counts, bets: Callable[[Prediction], tuple[Floats, Floats]]
    ) -> None:
        """Bet against other claims, which take the wealth of those of these numbers; -1 has 1."""
        logs = np.concatenate([self.logs, np.zeros((len(self.logs), 1))], axis=1)
        self.logs = logs.take(index, axis=1)
        self.bets = bets
        self._bets = []

    @property
    def wealth(self) -> Floats:
        """The log of the wealth, of shape ``(m,)``."""
        return _log_mean(self.logs, self._log_shares)

    def _wait(self) -> int:
        """Return the number of draws between the last fit and the next."""
        part = 6 if self._fitted < _OFTEN else 2
        return max(self._fitted // part, 1)


def _sums(draws: Floats, cuts: Sequence[int], edges: Floats, logs: Floats) -> Floats:
    """Return the sums of logs of cells of draws by block, ``(blocks, m)``; many are sorted."""
    if draws.size > _MANY_SORTED:
        below = [draws[a:b].searchsorted(edges, "right") for a, b in pairwise(cuts)]
        counts = np.diff(below, prepend=0, append=np.diff(cuts)[:, None])
        return np.asarray(counts @ logs)
    logs = logs.take(edges.searchsorted(draws), axis=0)
    if len(cuts) > len(logs):
        return logs
    return np.add.reduceat(logs, cuts[:-1], axis=0)


def _log_mean(logs: Floats, log_shares: Floats) -> Floats:
    """Return the log of the mean wealth over the last axis but one of logs."""
    return np.asarray(np.logaddexp.reduce(logs + log_shares[:, None], axis=-2))


# --- loops ----------------------------------------------------------------------------------------


@compiled_part
def _likelihoods(a, side, values, weights, fits, nodes, logs, work):  # type: ignore[no-untyped-def]
    """Set the nodes of a family and a side, and likelihoods there; return the log of a unit."""
    n = fits[0, a, side]
    centre = fits[1, a, side]
    spread = fits[2, a, side]
    scale = fits[3, a, side]
    size = nodes.shape[2]
    most = -math.inf
    step = 1 / math.sqrt(n)
    narrow = step if a else step * 0.7071067811865476
    for j in range(size):
        nodes[a, side, j] = centre + (j - (size - 1) / 2) * step * scale
        logs[a, side, j] = math.log(scale) + narrow * (j - (size - 1) / 2)
    for j in range(size):
        lost = 0.0
        off = nodes[a, side, j] - centre
        if a == 0:
            lost = 0.5 * n * (spread * spread + off * off)
        else:
            for i in range(values.size):
                lost += weights[side, i] * abs(values[i] - nodes[a, side, j])
        for k in range(size):
            log = logs[a, side, k]
            work[a, side, j, k] = -n * log - lost * math.exp((a - 2) * log)
            most = max(most, work[a, side, j, k])
    for j in range(size):
        for k in range(size):
            work[a, side, j, k] = math.exp(work[a, side, j, k] - most)
    constant = -0.6931471805599453 if a else -0.9189385332046727
    return most + n * constant + math.log(step * scale * narrow)


@compiled_part
def _posterior(a, nodes, logs, work):  # type: ignore[no-untyped-def]
    """Set the posterior weights of each side's nodes, 0 before, but for a factor; return it."""
    size = nodes.shape[2]
    total = 0.0
    for k in range(size):
        for h in range(size):
            r = (logs[a, 0, k] - logs[a, 1, h]) / _NARROW
            near = 1 / ((1 + r * r) * (1 + r * r) * _NARROW)
            r *= _NARROW / _WIDE_LOG
            far = r * r / ((1 + r * r) * (1 + r * r) * _WIDE_LOG)
            inverse = math.exp(-0.5 * (logs[a, 0, k] + logs[a, 1, h]))
            same = (_SCALE * far + _NEITHER * near) * inverse / _NARROW
            other = (_LOCATION * near + _BOTH * far) * inverse
            for j in range(size):
                for i in range(size):
                    u = (nodes[a, 0, j] - nodes[a, 1, i]) * inverse
                    u *= u
                    v = 1 + u
                    t = 1 + u / (_NARROW * _NARROW)
                    w = other * u / (v * v) + same / (t * t)
                    w *= work[a, 0, j, k] * work[a, 1, i, h]
                    work[a, 0, j, size + k] += w
                    work[a, 1, i, size + h] += w
                    total += w
    return total


@compiled
def _families(values, weights, fits, edges, nodes, logs, work, units, cells):  # type: ignore[no-untyped-def]
    """Add predicted probabilities to those of the cells; return whether there are any."""
    # by family, side and location: likelihoods at each scale, then posteriors
    top = -math.inf
    size = nodes.shape[2]
    for a in range(2):
        units[a] = _likelihoods(a, 0, values, weights, fits, nodes, logs, work)
        units[a] += _likelihoods(a, 1, values, weights, fits, nodes, logs, work)
        total = _posterior(a, nodes, logs, work)
        if total > 0:
            top = max(top, units[a] + math.log(total))
    if top == -math.inf:
        return False
    for a in range(2):
        for side in range(2):
            for j in range(size):
                for k in range(size):
                    weight = work[a, side, j, size + k] * math.exp(units[a] - top)
                    if weight > 3e-4:
                        inverse = math.exp(-logs[a, side, k])
                        _add_noise(a, weight, nodes[a, side, j], inverse, edges, cells[side])
    return True


@compiled_part
def _add_noise(a, weight, centre, inverse, edges, cells):  # type: ignore[no-untyped-def]
    """Add Gaussian (0) or Laplace noise (1), with one over its scale, to probabilities of cells."""
    before = 0.0
    for i in range(edges.size):
        z = (edges[i] - centre) * inverse
        tail = 0.5 * (math.exp(-abs(z)) if a else math.erfc(abs(z) * 0.7071067811865476))
        below = 1 - tail if z >= 0 else tail
        cells[i] += weight * (below - before)
        before = below
    cells[edges.size] += weight * (1 - before)


@compiled
def _split(p, q, below, ranges, parts):  # type: ignore[no-untyped-def]
    """Replace counts in cells by the probabilities that a Pólya tree predicts.

    It cuts ranges of cells in two, until each is a cell. Row i of ``ranges`` is the start and the
    end of one, and row i of ``parts`` its probabilities on x and on x'. ``below`` takes the counts
    before each cell: on x, on x', and on both.
    """
    for i in range(p.size):
        below[0, i + 1] = below[0, i] + p[i]
        below[1, i + 1] = below[1, i] + q[i]
        below[2, i + 1] = below[2, i] + p[i] + q[i]
    ranges[0, 0], ranges[0, 1] = 0, p.size
    parts[0, 0], parts[0, 1] = 1.0, 1.0
    done = 0
    size = 1
    while done < size:
        start = ranges[done, 0]
        end = ranges[done, 1]
        part = parts[done, 0]
        part_prime = parts[done, 1]
        done += 1
        if end - start == 1:
            p[start], q[start] = part, part_prime
            continue
        cut = _cut(below[2], start, end)
        left = below[0, cut] - below[0, start]
        right = below[0, end] - below[0, cut]
        left_prime = below[1, cut] - below[1, start]
        right_prime = below[1, end] - below[1, cut]
        share, share_prime = _left_shares(left, right, left_prime, right_prime)
        ranges[size, 0], ranges[size, 1] = start, cut
        parts[size, 0], parts[size, 1] = part * share, part_prime * share_prime
        ranges[size + 1, 0], ranges[size + 1, 1] = cut, end
        parts[size + 1, 0], parts[size + 1, 1] = part * (1 - share), part_prime * (1 - share_prime)
        size += 2


@compiled_part
def _cut(below, start, end):  # type: ignore[no-untyped-def]
    """Return the cell between start and end before which most nearly half of the draws are."""
    half = 0.5 * (below[start] + below[end])
    cut = start + 1
    while cut < end - 1 and below[cut] < half:
        cut += 1
    if cut - 1 > start and half - below[cut - 1] < below[cut] - half:
        cut -= 1
    return cut


@compiled_part
def _left_shares(left, right, left_prime, right_prime):  # type: ignore[no-untyped-def]
    """Return the predicted shares of the left part of a range on x and on x'.

    They are means over three hypotheses: both sides have the same share, they have similar ones, or
    any. The weight of each is its prior probability times its likelihood.
    """
    total = left + right + left_prime + right_prime
    mean = (left + left_prime + 0.5) / (total + 1)
    log = (left + left_prime) * math.log(mean) + (right + right_prime) * math.log(1 - mean)
    near = _log_likelihood(left, right, mean, _NEAR_DRAWS)
    near += _log_likelihood(left_prime, right_prime, mean, _NEAR_DRAWS)
    far = _log_likelihood(left, right, mean, _FAR_DRAWS)
    far += _log_likelihood(left_prime, right_prime, mean, _FAR_DRAWS)
    top = max(log, near, far)
    same = _SAME_SHARE * math.exp(log - top)
    near = _NEAR_SHARE * math.exp(near - top)
    far = _FAR_SHARE * math.exp(far - top)
    share = same * mean
    share_prime = same * mean
    share += near * (left + _NEAR_DRAWS * mean) / (left + right + _NEAR_DRAWS)
    share += far * (left + _FAR_DRAWS * mean) / (left + right + _FAR_DRAWS)
    share_prime += (
        near * (left_prime + _NEAR_DRAWS * mean) / (left_prime + right_prime + _NEAR_DRAWS)
    )
    share_prime += far * (left_prime + _FAR_DRAWS * mean) / (left_prime + right_prime + _FAR_DRAWS)
    total = same + near + far
    return share / total, share_prime / total


@compiled_part
def _log_likelihood(left, right, mean, draws):  # type: ignore[no-untyped-def]
    """Return the log likelihood of counts whose share has a Beta prior of so many draws."""
    a = draws * mean
    b = draws * (1 - mean)
    prior = math.lgamma(draws) - math.lgamma(a) - math.lgamma(b)
    return (
        prior + math.lgamma(left + a) + math.lgamma(right + b) - math.lgamma(left + right + draws)
    )


@compiled_part
def _below(ratios, ratio):  # type: ignore[no-untyped-def]
    """Return how many of the increasing ratios are smaller."""
    start = 0
    end = ratios.size
    while start < end:
        half = (start + end) >> 1
        if ratios[half] < ratio:
            start = half + 1
        else:
            end = half
    return start


# A bet against (epsilon, delta) has three numbers, ``bet``: a, the largest f and the largest g.
# With b = 2 - a, let the cells be in the order of p/q. In the middle f = a and g = b. Behind, p/q
# is large and e f + g = e a + b, so that f rises with p/q up to the largest f; before, f + e g =
# a + e b, so that g rises up to the largest g. ``sums`` are the probabilities before each cell,
# those of p first.


@compiled_part
def _slope_of_a(ratios, sums, e, bet):  # type: ignore[no-untyped-def]
    """Return the derivative of the growth of a bet by a, and minus the second one."""
    p = sums[0]
    q = sums[1]
    a = bet[0]
    b = 2 - bet[0]
    top = a * e + b
    top_prime = a + b * e
    least = _least_other(e, top, bet[1])
    least_prime = _least_other(e, top_prime, bet[2])
    # ratios in the middle
    first = a / (e * b)
    last = e * a / b
    i = _below(ratios, first)
    j = _below(ratios, last)
    i_most = _below(ratios, min(least_prime / (e * bet[2]), first))
    j_most = _below(ratios, max(e * bet[1] / least, last))
    middle = (p[j] - p[i]) / a
    middle_prime = (q[j] - q[i]) / b
    behind = (p[j_most] - p[j] + q[j_most] - q[j]) / top
    before = (p[i] - p[i_most] + q[i] - q[i_most]) / top_prime
    at_end = (q[ratios.size] - q[j_most]) / least
    at_start = p[i_most] / least_prime
    slope = (behind + at_end - before - at_start) * (e - 1) + middle - middle_prime
    bend = behind / top + at_end / least + before / top_prime + at_start / least_prime
    return slope, bend * (e - 1) * (e - 1) + middle / a + middle_prime / b


@compiled_part
def _slope_of_largest(ratios, sums, e, delta, bet, which):  # type: ignore[no-untyped-def]
    """Return the same by the largest f (1) or by the largest g (2)."""
    p = sums[0]
    q = sums[1]
    a = bet[0]
    b = 2 - bet[0]
    largest = bet[which]
    if which == 1:
        least = _least_other(e, a * e + b, largest)
        j = _below(ratios, max(e * largest / least, e * a / b))
        gain = p[ratios.size] - p[j]
        loss = q[ratios.size] - q[j]
    else:
        least = _least_other(e, a + b * e, largest)
        i = _below(ratios, min(least / (e * largest), a / (e * b)))
        gain = q[i]
        loss = p[i]
    lost = 2 * delta / (2 * (1 - delta) + delta * (bet[1] + bet[2]))
    gain = gain / largest
    loss = e * loss / least
    return gain - loss - lost, gain / largest + e * loss / least - 0.5 * lost * lost


@compiled_part
def _least_other(e, top, largest):  # type: ignore[no-untyped-def]
    """Return the other factor where one is the largest."""
    return max(top - e * largest, 1e-100)


@compiled_part
def _solve(ratios, sums, e, delta, bet, which):  # type: ignore[no-untyped-def]
    """Set number ``which`` of a bet where the growth has no slope, by Newton's method."""
    low = max(2 - bet[2], 0.0)
    high = min(bet[1], 2.0)
    if which > 0:  # the largest f is at least a, the largest g at least b
        low = bet[0] if which == 1 else 2 - bet[0]
        high = low + (2 - low) / e
    if not low < bet[which] < high:
        bet[which] = 0.5 * (low + high)
    for _ in range(64):
        if which == 0:
            slope, bend = _slope_of_a(ratios, sums, e, bet)
        else:
            slope, bend = _slope_of_largest(ratios, sums, e, delta, bet, which)
        if slope > 0:
            low = bet[which]
        else:
            high = bet[which]
        step = slope / bend if bend > 0 else high - low
        if not low < bet[which] + step < high:
            step = 0.5 * (low + high) - bet[which]
        bet[which] += step
        if abs(step) < 1e-10:
            break


@compiled_part
def _factors_of_cell(share, other, e, bet):  # type: ignore[no-untyped-def]
    """Return f and g of a cell, whose p and q are ``share`` and ``other`` of their sum."""
    a = bet[0]
    b = 2 - bet[0]
    if share * b > e * other * a:
        top = a * e + b
        f = share * top / e
        return (bet[1], top - e * bet[1]) if f > bet[1] else (f, other * top)
    if other * a > e * share * b:
        top = a + b * e
        g = other * top / e
        return (top - e * bet[2], bet[2]) if g > bet[2] else (share * top, g)
    return a, b


@compiled
def _factors(shares, ratios, sums, epsilons, deltas, bet, fs, gs):  # type: ignore[no-untyped-def]
    """Set ln f and ln g, of shape ``(k, m)``, for each claim (epsilon, delta)."""
    for m in range(epsilons.size):
        e = math.exp(epsilons[m])
        delta = deltas[m]
        bet[0], bet[1], bet[2] = 1.0, 1e300, 1e300
        for step in range(13 if delta > 1e-4 else 1):  # less hardly changes the bet
            _solve(ratios, sums, e, delta, bet, step % 3)
        most = 0.0  # A
        most_prime = 0.0  # B
        largest = 0.0  # F
        largest_prime = 0.0  # G
        for i in range(shares.shape[1]):
            f, g = _factors_of_cell(shares[0, i], shares[1, i], e, bet)
            fs[i, m], gs[i, m] = f, g
            most = max(most, e * f + g)
            most_prime = max(most_prime, f + e * g)
            largest = max(largest, f)
            largest_prime = max(largest_prime, g)
        total = (1 - delta) * (most + most_prime) / (1 + e) + delta * (largest + largest_prime)
        scale = math.log(2 / total)
        for i in range(shares.shape[1]):
            fs[i, m] = math.log(fs[i, m]) + scale
            gs[i, m] = math.log(gs[i, m]) + scale


@compiled_part
def _renyi_bet(q, ratio, clip, sign, order, rho, gain, loss):  # type: ignore[no-untyped-def]
    """Set phi - u and kappa (psi - v) for D_a <= rho, up to a factor; q is below the ratio.

    The log of the clipped ratio is ``sign`` times that of ``ratio``.
    """
    top = -math.inf
    for i in range(q.size):
        loss[i] = sign * min(max(ratio[i], -clip), clip)
        top = max(top, loss[i])
    v = 0.0
    for i in range(q.size):
        gain[i] = math.exp((order - 1) * (loss[i] - top))  # phi
        loss[i] = math.exp(order * (loss[i] - top))  # psi
        v += q[i] * loss[i]
    s = math.exp(rho * (order - 1) / order)
    u = s * v ** ((order - 1) / order)
    kappa = s * (order - 1) / order * v ** (-1 / order)
    for i in range(q.size):
        gain[i] -= u
        loss[i] = kappa * (loss[i] - v)


@compiled_part
def _best_stake(p, q, f, g, up, down):  # type: ignore[no-untyped-def]
    """Add l up to f and -l down to g, with l >= 0 of the largest growth, by bisection."""
    low = 0.0
    high = 1e300
    for i in range(p.size):
        if up[i] < 0:
            high = min(high, -0.98 * f[i] / up[i])
        if down[i] > 0:
            high = min(high, 0.98 * g[i] / down[i])
    for _ in range(10):
        middle = 0.5 * (low + high)
        slope = 0.0
        for i in range(p.size):
            slope += p[i] * up[i] / (f[i] + middle * up[i])
            slope -= q[i] * down[i] / (g[i] - middle * down[i])
        if slope > 0:
            low = middle
        else:
            high = middle
    for i in range(p.size):
        f[i] += low * up[i]
        g[i] -= low * down[i]
    return low


@compiled
def _renyi_factors(p, q, orders, rhos, clips, work, fs, gs):  # type: ignore[no-untyped-def]
    """Set ln f and ln g, of shape ``(k, m)``, for each claim D_a <= rho; 0 if no bet grows."""
    ratio = work[0]
    gain = work[1]
    loss = work[2]
    gain_prime = work[3]
    loss_prime = work[4]
    f = work[5]
    g = work[6]
    for i in range(p.size):
        ratio[i] = 0.85 * math.log(p[i] / q[i])  # less than predicted, which is overfitted
    for m in range(orders.size):
        best = 0.0
        for clip in clips:
            _renyi_bet(q, ratio, clip, 1.0, orders[m], rhos[m], gain, loss)
            _renyi_bet(p, ratio, clip, -1.0, orders[m], rhos[m], gain_prime, loss_prime)
            for i in range(p.size):
                f[i] = 1.0
                g[i] = 1.0
            for _ in range(2):
                stake = _best_stake(p, q, f, g, gain, loss)
                other = _best_stake(q, p, g, f, gain_prime, loss_prime)
                if stake + other == 0:
                    break
            grown = 0.0
            grown_prime = 0.0
            for i in range(p.size):
                grown += p[i] * math.log(f[i])
                grown_prime += q[i] * math.log(g[i])
            if grown + grown_prime > best:
                best = grown + grown_prime
                for i in range(p.size):
                    fs[i, m] = math.log(f[i])
                    gs[i, m] = math.log(g[i])
