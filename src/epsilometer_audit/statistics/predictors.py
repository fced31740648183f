"""Bets from the first few draws on: predicted distributions, and the wealth that they share.

The null hypothesis of a claim is a convex set N of pairs (P', Q') of distributions on x and x'. Let
p and q be predicted probabilities of the cells of a partition of the outputs, chosen before a pair
of fresh draws X of P and Y of Q. With (p*, q*), the pair of N that minimises KL(p || p*) +
KL(q || q*), and f = p/p*, g = q/q*, the pair of draws multiplies the wealth by

    E(X, Y) = f(X) g(Y).

**Validity.** At a minimum over a convex set the directional derivative is not negative, so that
E_P'[f] + E_Q'[g] <= 2 for all (P', Q') in N (Larsson, Ramdas and Ruf, arXiv 2402.18810, for the
pair as a single distribution). So the product of the two means, which is E's mean as X and Y are
independent, is at most 1. `epsilometer_audit.statistics.projection` finds f and g, and divides them
by a sum for which this holds in any rounding.

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
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from epsilometer.events.events import PART
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample
from epsilometer_audit.statistics.stakes import Plan, staked

# To compare other numbers, run `make limit`.
POINTS = 1024  # of both sides
_OFTEN = 500  # draws until which each sixth more is learned from, later each half
_FEW_SORTED = 64  # draws, below which they are sorted together with those before
_MANY_SORTED = 2000  # draws, above which blocks are sorted before their cells are counted
_FEWEST_LEARNED = 2  # draws a side that are learned from
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
# of Gaussian and of Laplace noise
_LOG_STEPS = np.array([math.sqrt(0.5), 1.0])  # standard errors of log scales, times root n
_UNIT_DENSITY = -np.log([math.sqrt(2 * math.pi), 2])  # the log density at the centre, of scale 1
_POWERS = np.array([-2.0, -1.0])[:, None, None]  # of the scale, by which a deviation counts
_STEPS = np.arange(-2.0, 3.0)  # nodes of locations and of log scales, in standard errors
_NEGLIGIBLE = 3e-4  # posterior weight of a node
_NOTHING = 1e-12  # probability, in place of 0

_EDGES = 6.0 * np.sinh(np.linspace(-2.2, 2.2, _SIDE)) / math.sinh(2.2)
_PLACES = np.arange(64)
_NEAR = np.maximum(3 - np.abs(np.subtract.outer(_PLACES, _PLACES)), 0) / 9
_MEDIAN = np.array([0.4999999999995, 0.5000000000005])  # shares of draws up to it, but for rounding
# Of a split of the tree: the prior probabilities that both sides have the same share of draws on
# the left, similar ones or any; and how many draws of the mean the last two have beside their own.
_PRIOR_SHARES = np.array([0.3, 0.2, 0.5])
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
    width = 2 * pooled.sum() / POINTS
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
    in common, and favours a difference in either locations or scales. Sums over 25 nodes a
    side are in place of integrals. None if a draw is infinite, or if all are equal.
    """
    if not _finite(past):
        return None
    fits = _fits(past)
    variances = (fits.spread**2).sum(axis=1) / 2  # of both sides
    if not (variances.min() > 1e-290 and variances.max() < 1e290):
        return None
    scale = np.sqrt(fits.spread**2 + variances[:, None] / fits.draws.min())
    step = 1 / np.sqrt(fits.draws)  # of locations, in scales
    narrow = step * _LOG_STEPS[:, None]
    nodes = fits.centre[..., None] + _STEPS * (step * scale)[..., None]
    logs = np.log(scale)[..., None] + _STEPS * narrow[..., None]
    likelihoods = _log_likelihoods(past, fits, nodes, logs)
    units = likelihoods.max(axis=(2, 3))
    weights = np.exp(likelihoods - units[..., None, None])
    units += fits.draws * _UNIT_DENSITY[:, None] + np.log(step * scale * narrow)
    posterior = _posterior(nodes, logs, weights)
    with np.errstate(divide="ignore"):  # one family, or both, may be out of the question
        evidence = units.sum(axis=1) + np.log(posterior[:, 0].sum(axis=(1, 2)))
    if evidence.max() == -math.inf:
        return None
    posterior *= np.exp(units.sum(axis=1) - evidence.max())[:, None, None, None]
    edges = np.sort(fits.centre[1][:, None] + scale[1][:, None] * _EDGES, axis=None)
    cells = np.stack([_mean_noise(nodes[:, i], logs[:, i], posterior[:, i], edges) for i in (0, 1)])
    cells /= np.add.reduce(cells, axis=1, keepdims=True)
    return Prediction(edges, cells[0], cells[1])


@dataclass(frozen=True, eq=False)
class _Fits:
    """Of Gaussian (0) and Laplace noise (1) on either side; all have shape ``(2, 2)``.

    Centres are means and medians; spreads are standard deviations from the mean, and mean absolute
    deviations from the median.
    """

    draws: Floats
    centre: Floats
    spread: Floats


def _fits(past: Points) -> _Fits:
    values = past.values
    weights = past.weights
    below = weights.cumsum(axis=1)
    n = below[:, -1]
    means = values[0] + weights @ (values - values[0]) / n
    medians = np.empty(2)
    for i in range(2):  # the median may lie between two draws
        low, high = below[i].searchsorted(n[i] * _MEDIAN)
        medians[i] = values[low] + (values[high] - values[low]) / 2
    squares = weights * (values - means[:, None]) ** 2
    far = weights * np.abs(values - medians[:, None])
    spreads = np.stack([np.sqrt(squares.sum(axis=1) / n), far.sum(axis=1) / n])
    return _Fits(np.stack([n, n]), np.stack([means, medians]), spreads)


def _log_likelihoods(past: Points, fits: _Fits, nodes: Floats, logs: Floats) -> Floats:
    """Return log likelihoods of locations and log scales, but for a constant, ``(2, 2, 5, 5)``.

    The nodes of locations and those of log scales have shape ``(2, 2, 5)``: family, side, node.
    """
    draws = fits.draws[..., None]
    off = nodes[0] - fits.centre[0][:, None]
    squares = 0.5 * draws[0] * (fits.spread[0][:, None] ** 2 + off**2)
    far = np.abs(past.values - nodes[1][..., None]) @ past.weights[..., None]
    lost = np.stack([squares, far[..., 0]])
    inverse = np.exp(_POWERS * logs)
    return np.asarray(-(draws * logs)[:, :, None] - lost[..., None] * inverse[:, :, None])


def _posterior(nodes: Floats, logs: Floats, weights: Floats) -> Floats:
    """Return the posterior weights of each side's nodes, but for a factor of each family.

    ``weights`` are likelihoods of locations and log scales. Both have shape ``(2, 2, 5, 5)``:
    family, side, location, scale.
    """
    r = (logs[:, 0, :, None] - logs[:, 1, None]) / _NARROW  # family, scale of x, scale of x'
    near = 1 / ((1 + r * r) ** 2 * _NARROW)
    r *= _NARROW / _WIDE_LOG
    far = r * r / ((1 + r * r) ** 2 * _WIDE_LOG)
    inverse = np.exp(-0.5 * (logs[:, 0, :, None] + logs[:, 1, None]))
    same = (_SCALE * far + _NEITHER * near) * inverse / _NARROW
    other = (_LOCATION * near + _BOTH * far) * inverse
    # family, location of x, location of x', scale of x, scale of x'
    off = nodes[:, 0, :, None] - nodes[:, 1, None]
    u = (off[..., None, None] * inverse[:, None, None]) ** 2
    prior = other[:, None, None] * u / (1 + u) ** 2
    prior += same[:, None, None] / (1 + u / _NARROW**2) ** 2
    both = prior * weights[:, 0, :, None, :, None] * weights[:, 1, None, :, None]
    return np.stack([both.sum(axis=(2, 4)), both.sum(axis=(1, 3))], axis=1)


def _mean_noise(nodes: Floats, logs: Floats, weights: Floats, edges: Floats) -> Floats:
    """Return the probabilities of cells under a side's noise, ``(2, 5)`` nodes by their weights."""
    from scipy.special import ndtr

    below = np.zeros(edges.size)
    total = 0.0
    for a in range(2):
        location, scale = np.nonzero(weights[a] > _NEGLIGIBLE)
        weight = weights[a, location, scale]
        z = (edges - nodes[a, location, None]) * np.exp(-logs[a, scale, None])
        if a == 0:
            shares = ndtr(z)
        else:
            tail = 0.5 * np.exp(-np.abs(z))
            shares = np.where(z < 0, tail, 1 - tail)
        below += weight @ shares
        total += weight.sum()
    return np.diff(below, prepend=0.0, append=total) + _NOTHING


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
    p, q = _pooled_tree(p, q)
    return Prediction(np.where(repeats[last], low, edges), p, q)


def _pooled_tree(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities that a Pólya tree predicts from counts in cells.

    It cuts ranges of cells in two, as nearly in half as it can, until each is a cell.
    """
    if p.size == 1:
        return np.ones(1), np.ones(1)
    below = np.zeros((2, p.size + 1))  # counts before each cell
    np.stack([p, q]).cumsum(axis=1, out=below[:, 1:])
    pooled = below.sum(axis=0).tolist()
    ranges = [(0, p.size)]
    cuts = []
    for start, end in ranges:
        cut = _cut(pooled, start, end)
        cuts.append((start, cut, end))
        for part in ((start, cut), (cut, end)):
            if part[1] - part[0] > 1:
                ranges.append(part)
    starts, middles, ends = np.array(cuts).T
    left = below[:, middles] - below[:, starts]
    right = below[:, ends] - below[:, middles]
    shares = _left_shares(left, right)
    predicted = np.ones((2, p.size))
    for i, (start, cut, end) in enumerate(cuts):
        predicted[:, start:cut] *= shares[:, i, None]
        predicted[:, cut:end] *= 1 - shares[:, i, None]
    return predicted[0], predicted[1]


def _cut(below: list[float], start: int, end: int) -> int:
    """Return the cell between start and end before which most nearly half of the draws are."""
    half = 0.5 * (below[start] + below[end])
    cut = bisect_left(below, half, start, end)
    if half - below[cut - 1] < below[cut] - half:
        return cut - 1
    return cut


def _left_shares(left: Floats, right: Floats) -> Floats:
    """Return the predicted shares of the left part of ranges, from counts; all are ``(2, k)``.

    They are means over three hypotheses: both sides have the same share, they have similar ones, or
    any. The weight of each is its prior probability times its likelihood.
    """
    total = left + right
    mean = (left.sum(axis=0) + 0.5) / (total.sum(axis=0) + 1)
    same = left.sum(axis=0) * np.log(mean) + right.sum(axis=0) * np.log(1 - mean)
    near = _log_likelihood(left, right, mean, _NEAR_DRAWS).sum(axis=0)
    far = _log_likelihood(left, right, mean, _FAR_DRAWS).sum(axis=0)
    logs = np.stack([same, near, far])
    weights = _PRIOR_SHARES[:, None] * np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    shares = weights[0] * mean
    shares = shares + weights[1] * (left + _NEAR_DRAWS * mean) / (total + _NEAR_DRAWS)
    return np.asarray(shares + weights[2] * (left + _FAR_DRAWS * mean) / (total + _FAR_DRAWS))


def _log_likelihood(left: Floats, right: Floats, mean: Floats, draws: float) -> Floats:
    """Return log likelihoods of counts whose share has a Beta prior of so many draws."""
    from scipy.special import betaln

    a = draws * mean
    b = draws * (1 - mean)
    return np.asarray(betaln(left + a, right + b) - betaln(a, b))


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
        cells = np.where(is_atom, side[atom], side[-1] * (of_others / parts)[wide])
        shares.append(cells / cells.sum())
    return Prediction(edges, shares[0], shares[1])


def _finite(past: Points) -> bool:
    return bool(-math.inf < past.values[0] and past.values[-1] < math.inf)


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

    def record(
        self,
        x: Sample,
        x_prime: Sample,
        sizes: Sequence[int] | None = None,
        plan: Plan | None = None,
    ) -> Floats:
        """Bet on fresh draws of both sides, ``(n,)``, in blocks of ``sizes``, or one by one.

        Return the log wealth after each block, of shape ``(blocks, m)``.
        """
        x = _numbers(x)
        x_prime = _numbers(x_prime)
        n = len(x)
        if sizes is None:
            sizes = [1] * n
        ends = np.cumsum(sizes)
        path = [self.logs[None]]
        done = [0]
        start = 0
        while start < n:
            self._learn()
            if not self._bets:
                for prediction in self._predictions:
                    self._bets.append(None if prediction is None else self.bets(prediction))
            end = min(n, start + max(self._fitted + self._wait() - self._draws, 1))
            within = slice(*ends.searchsorted([start + 1, end]))
            cuts = [0, *(ends[within] - start).tolist(), end - start]
            fresh = x[start:end], x_prime[start:end]
            if end - start > _MANY_SORTED:
                for a, b in pairwise(cuts):
                    fresh[0][a:b].sort()  # blocks, to count the draws below each edge
                    fresh[1][a:b].sort()
            bets = self._bets
            if plan is not None:
                bets = self._staked(plan.after(start))
            path.append(self.logs + self._growth(bets, fresh, cuts).cumsum(axis=0))
            self.logs = path[-1][-1]
            self.prime(*fresh)
            done += [start + cut for cut in cuts[1:]]
            start = end
        logs = np.concatenate(path)[np.searchsorted(done, ends)]
        return _log_mean(logs, self._log_shares)

    def _staked(self, plan: Plan) -> list[tuple[Floats, Floats] | None]:
        """Return the bets of each predictor with the stakes of a plan."""
        wealth = self.wealth
        bets = list[tuple[Floats, Floats] | None]()
        for prediction, best in zip(self._predictions, self._bets, strict=True):
            if prediction is None or best is None:
                bets.append(None)
                continue
            growth = prediction.p @ best[0] + prediction.q @ best[1]
            bets.append(staked(*best, plan.stakes(wealth, growth)))
        return bets

    def _growth(
        self,
        bets: Sequence[tuple[Floats, Floats] | None],
        fresh: tuple[Sample, Sample],
        cuts: Sequence[int],
    ) -> Floats:
        """Return the log factors of the wealth between the cuts, ``(cuts - 1, predictors, m)``."""
        grown = np.zeros((len(cuts) - 1, *self.logs.shape))
        for i, (prediction, of_cells) in enumerate(zip(self._predictions, bets, strict=True)):
            if prediction is not None and of_cells is not None:
                for side, logs in zip(fresh, of_cells, strict=True):
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
