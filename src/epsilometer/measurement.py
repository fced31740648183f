"""What two samples show of a mechanism's privacy, in every notion at once, and how sure that is.

One split of the draws serves all: the first part chooses events, and the rest confirms them, as in
`events.exact_test` and `events.limits`. So these bounds hold at every number of draws:

- epsilon and mu, each by an exact test of events that were chosen for it;
- delta at every epsilon, and the errors of tests, by limits of sets that rise with the loss;
- Rényi divergences of all orders, by limits of a few cells.

Together they have one confidence: each of the four has a fourth of alpha. Beside them stand the
estimates of three papers, without a promise or for large n only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from epsilometer import checks, estimates, plots
from epsilometer.claims import EventClaim, Gaussian, Pure
from epsilometer.errors import ArgumentError, shown, suggest
from epsilometer.events.candidates import SHRINKAGES, Cells
from epsilometer.events.choosing import ChosenEvent, cells_of, choose_events
from epsilometer.events.digits import in_few_digits
from epsilometer.events.events import Event, equality_text, parity_text, range_texts
from epsilometer.events.exact_test import CHOOSING, Counted, count, largest_bound
from epsilometer.events.limits import NestedLimits, box_of, least_divergences
from epsilometer.events.looks import PastDraws
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.results import Result, Row
from epsilometer.samples import Pair, columns_of, pair_of
from epsilometer.seeds import generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 50  # draws of a side
_FAMILIES = 4  # of bounds, with equal shares of alpha: epsilon, mu, curves, Rényi divergences
_SEVERAL = 1.5  # times as many draws choose events of several columns, which have more to tell
_CHOOSERS = 6_000  # such draws of a side at most: more take longer, and suggest the same events
_PARTITIONS = (
    (0.5,),
    (0.1, 0.5, 0.9),
    (0.01, 0.06, 0.2, 0.5, 0.8, 0.94, 0.99),
    (0.002, 0.01, 0.03, 0.08, 0.16, 0.28, 0.4, 0.5, 0.6, 0.72, 0.84, 0.92, 0.97, 0.99, 0.998),
)
"""Shares of both sides' draws below the cuts between cells that are ordered by their log ratio."""
_LEARNERS = 3_000  # draws of a side for a classifier of vectors, which take longer than numbers
_CONFIDENCES = 1e-6, 1 - 1e-9  # the least and the largest
_MOST_ORDER = 1e4  # its bound hardly differs from that of epsilon
_MOST_EPSILON = 500.0
_LONGEST = 40  # letters of an outcome
_NAMED = 3  # values, rows or ranges of an event in words
_SHOWN = (0.0, 0.5, 1.0)  # shares of the epsilons and orders that are printed
ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True, eq=False)
class Witness:
    """The event that shows the largest epsilon, and the draws that confirm it.

    ``hits`` of them lie in the event on the side where it is likelier, x' if ``swapped``, and
    ``hits_prime`` on the other; ``text`` says the event in words.
    """

    event: Event
    text: str
    swapped: bool
    hits: int
    hits_prime: int

    def __str__(self) -> str:
        likelier, other = ("x'", "x") if self.swapped else ("x", "x'")
        counts = f"{self.hits} draws of {likelier} and {self.hits_prime} of {other}"
        return f"event: {self.text}, {counts}"


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Result):
    """What the draws of a pair show; see `measure`.

    ``n`` draws of either side confirm what ``chosen_on`` others suggested. Of several pairs,
    ``pair`` is the name of the one that seemed to differ most. All that follows but estimates holds
    with the ``confidence``, all ``together`` or each alone.

    ``epsilon`` and ``mu`` are lower bounds, and so are ``delta_low`` at ``epsilons``, ``(m,)``, of
    delta in its larger direction, and ``renyi_low`` at ``orders``, ``(k,)``, in nats, likewise.
    ``delta_high`` limits from above what the events show that were chosen; another event may show
    more. Tests of the null hypothesis x' have errors of type I and II below those at the same place
    of ``type_1`` and ``type_2``, ``(c,)``. ``delta_estimate`` is that of lu2022's classifier,
    ``renyi_large_n`` the bound of kutta2022, and ``largest_loss`` that of askin2022: NaN or None
    where the draws are too few, or ``reasons`` say why there is none. They are of the larger
    direction, too.

    The ``witness`` is the event that shows epsilon, None if no event differs.
    """

    n: int
    chosen_on: int
    pair: str | None
    confidence: float
    together: bool
    epsilon: float
    mu: float
    epsilons: Floats
    delta_low: Floats
    delta_high: Floats
    delta_estimate: Floats
    type_1: Floats
    type_2: Floats
    orders: Floats
    renyi_low: Floats
    renyi_large_n: Floats
    largest_loss: estimates.LargestLoss | None
    witness: Witness | None
    reasons: tuple[str, ...]

    def rows(self) -> Iterator[Row]:
        """Yield bounds and estimates, in the order of the fields."""
        yield Row("epsilon", low=self.epsilon, holds="every n", method="exact test")
        yield Row("mu", low=self.mu, holds="every n", method="exact test")
        method = "limits of rising sets"
        deltas = np.column_stack(
            [self.epsilons, self.delta_estimate, self.delta_low, self.delta_high]
        )
        for at, estimate, low, high in deltas.tolist():
            yield Row("delta", at, low=low, holds="every n", method=method)
            yield Row("delta of the chosen events", at, math.nan, low, high, "every n", method)
            if not math.isnan(estimate):
                yield Row("delta", at, estimate, method="lu2022")
        for error, other in zip(self.type_1.tolist(), self.type_2.tolist(), strict=True):
            yield Row("type II error", error, high=other, holds="every n", method=method)
        for at, low, theirs in zip(self.orders, self.renyi_low, self.renyi_large_n, strict=True):
            name = "Rényi divergence"
            yield Row(name, float(at), low=float(low), holds="every n", method="limits of cells")
            if not math.isnan(theirs):
                yield Row(name, float(at), low=float(theirs), holds="large n", method="kutta2022")
        if self.largest_loss is not None:
            yield from self.largest_loss.rows()

    def facts(self) -> dict[str, Any]:
        """Return the pair, the draws and the confidence."""
        return {
            "pair": self.pair,
            "n": self.n,
            "n_prime": self.n,
            "confidence": self.confidence,
            "together": self.together,
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        claim: float | None = None,
        of: Literal["delta", "errors", "renyi"] = "delta",
    ) -> Axes:
        """Draw delta at each epsilon, the errors of tests, or divergences, and return the axes.

        ``claim`` is a claimed epsilon, or for ``renyi`` a divergence; see `Result.plot`.
        """
        drawers = {
            "delta": self._draw_delta,
            "errors": self._draw_errors,
            "renyi": self._draw_renyi,
        }
        if not isinstance(of, str) or of not in drawers:
            raise ArgumentError("of", f"is not known: {of!r}{suggest(str(of), drawers)}")
        return drawers[of](plots.axes_of(ax), claim)

    def _draw_delta(self, ax: Axes, claim: float | None) -> Axes:
        limits = self.delta_low, self.delta_high
        number = plots.band(ax, self.epsilons, *limits, "of the chosen events")
        least = f"at least ({_sure(self.confidence)})"
        plots.curve(ax, self.epsilons, self.delta_low, least, number=number)
        estimates_of = self.epsilons, self.delta_estimate, "estimate (lu2022)"
        plots.curve(ax, *estimates_of, number=1, linestyle=":")
        if claim is not None:
            plots.level(ax, claim, f"claim: epsilon = {claim:g}", vertical=True)
        return plots.finished(ax, "epsilon", "delta")

    def _draw_errors(self, ax: Axes, claim: float | None) -> Axes:
        ends = np.array([0.0, 1.0])
        reached = np.concatenate([ends[:1], self.type_1, ends[1:]])
        others = np.concatenate([ends[1:], self.type_2, ends[:1]])
        plots.curve(ax, reached, others, "a test reaches", marker=".")
        plots.curve(ax, ends, 1 - ends, "a guess", number=4, linestyle=":")
        if claim is not None:
            claim = checks.within("claim", claim, 0.0, _MOST_EPSILON)
            alphas = np.linspace(0, 1, 201)
            least = np.maximum(1 - np.exp(claim) * alphas, np.exp(-claim) * (1 - alphas))
            label = f"claim: epsilon = {claim:g}"
            ax.plot(alphas, np.maximum(least, 0), "--", color=plots.TRUTH, label=label)
        return plots.finished(ax, "type I error", "type II error")

    def _draw_renyi(self, ax: Axes, claim: float | None) -> Axes:
        plots.curve(ax, self.orders, self.renyi_low, _sure(self.confidence), marker="o")
        theirs = self.orders, self.renyi_large_n, "for large n (kutta2022)"
        plots.curve(ax, *theirs, number=1, linestyle=":", marker=".")
        ax.set_xscale("log")
        ax.set_xticks(self.orders, [f"{order:g}" for order in self.orders])
        ax.minorticks_off()
        if claim is not None:
            plots.level(ax, claim, f"claim: {claim:g}")
        return plots.finished(ax, "order", "Rényi divergence at least")

    def __str__(self) -> str:
        of = "" if self.pair is None else f" of {self.pair}"
        each = "all together" if self.together else "each alone"
        lines = [
            f"epsilon >= {_down(self.epsilon, 4)}, mu >= {_down(self.mu, 4)}",
            _row("delta", "epsilon", self.epsilons, self.delta_low, "lu2022", self.delta_estimate),
            _row(
                "Rényi divergence",
                "order",
                self.orders,
                self.renyi_low,
                "kutta2022, for large n",
                self.renyi_large_n,
            ),
            f"bounds{of} hold at every n with confidence {self.confidence:.10g}, {each}, from"
            f" {self.n} draws a side; {self.chosen_on} others chose events",
        ]
        if self.witness is not None and self.epsilon > 0:
            lines.append(str(self.witness))
        if self.largest_loss is not None:
            lines.append(_line_of_loss(self.largest_loss))
        if self.reasons:
            lines.append(f"not said: {'; '.join(self.reasons)}")
        return "\n".join(lines)


def _line_of_loss(loss: estimates.LargestLoss) -> str:
    """Return a line about the largest loss, shorter than its own."""
    output = f"{loss.output:.4g}" if isinstance(loss.output, float) else str(loss.output)
    if loss.value is None:
        return f"largest loss (askin2022) at {output}: {loss.reason}"
    return f"largest loss (askin2022) {loss.value:.4g} at {output}, an estimate without confidence"


def _sure(confidence: float) -> str:
    return f"{100 * confidence:.10g} % confidence, every n"


def _down(bound: float, digits: int) -> str:
    """Return a lower bound in so many digits, which is not above it."""
    rounded = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(float(bound))
    return f"{float(rounded):.{digits}g}"


def _row(name: str, of: str, at: Floats, bounds: Floats, paper: str, estimated: Floats) -> str:
    """Return a line with a few bounds, and a paper's numbers at the same places."""
    places = sorted({round(share * (len(at) - 1)) for share in _SHOWN})
    least = ", ".join(f"{_down(bounds[i], 3)} at {of} {at[i]:g}" for i in places)
    line = f"{name} >= {least}"
    if np.isfinite(estimated[places]).any():
        few = "too few draws"
        theirs = [few if np.isnan(estimated[i]) else f"{estimated[i]:.3g}" for i in places]
        line += f" ({paper}: {', '.join(theirs)})"
    return line


def measure(
    x: Any,
    x_prime: Any = None,
    *,
    confidence: float = 0.95,
    orders: Sequence[float] = ORDERS,
    epsilons: Sequence[float] | None = None,
    together: bool = True,
    seed: int = 0,
) -> Measurement:
    """Say what draws show of epsilon, delta, mu, trade-offs and Rényi divergences.

    To draw from a mechanism, as long as it takes, and to test a claim: `epsilometer_audit.audit`.

    Parameters
    ----------
    x, x_prime
        Independent outputs on two inputs, 50 or more of each: ``(n,)`` or ``(n, d)``, of reals,
        whole numbers, booleans or strings. Of several pairs, ``x`` is a mapping of their names to
        ``(x, x_prime)``; they may share arrays if all have as many draws. Reals are compared by
        their values, whatever floating-point numbers stand for them: their low bits are not looked
        at, which an audit does.
    confidence
        Of all bounds together: each of the four kinds (epsilon; mu; delta and errors; Rényi
        divergences) has a fourth of alpha. Or of each alone, without ``together``.
    orders
        Rényi orders above 1, at most 10,000.
    epsilons
        In nats, from 0 on; if not given, 31 up to 1.5 times the bound of epsilon, at least to 1.
        Bounds of delta hold at all of them together.
    seed
        Of the random order in which draws are used, 0 or more, chosen before a look at results.

    Raises
    ------
    ArgumentError
        For arguments of other shapes, types or ranges.

    Examples
    --------
    >>> x, x_prime = np.random.default_rng(1).laplace([[0], [1]], 1, (2, 20_000))
    >>> shown = measure(x, x_prime)  # epsilon is 1
    >>> round(shown.epsilon, 2), round(shown.mu, 2)
    (0.96, 1.0)
    """
    confidence = checks.within("confidence", confidence, *_CONFIDENCES)
    alpha = (1 - confidence) / (_FAMILIES if checks.flag("together", together) else 1)
    given = _numbers("orders", orders)
    known_orders = [checks.order("orders", order, finite=True) for order in given]
    if max(known_orders) > _MOST_ORDER:
        raise ArgumentError("orders", f"must be at most {_MOST_ORDER:g}, got {max(known_orders):g}")
    seed = checks.integer("seed", seed, minimum=0)
    splits = [_split(name, pair, seed) for name, pair in _pairs_of(x, x_prime).items()]
    split = _widest(splits)
    best, epsilon = _bound(split, split.chosen, Pure(0.0), alpha)
    claim = Gaussian(1.0)
    _, mu = _bound(split, choose_events(split.past, [claim], split.n), claim, alpha)
    scored = _scored(split)
    curve = NestedLimits(box_of(*_nested(scored, split.n), alpha))
    at = _epsilons(epsilons, epsilon)
    low, high = curve.deltas(at)
    type_1, type_2 = curve.errors()
    reasons: list[str] = []
    return Measurement(
        n=split.n,
        chosen_on=len(split.past.x),
        pair=split.name,
        confidence=confidence,
        together=together,
        epsilon=epsilon,
        mu=mu,
        epsilons=at,
        delta_low=low,
        delta_high=high,
        delta_estimate=_classified(split.pair, at, reasons),
        type_1=type_1,
        type_2=type_2,
        orders=np.array(known_orders),
        renyi_low=_divergences(split, scored, known_orders, alpha),
        renyi_large_n=_for_large_n(split.pair, known_orders, confidence, reasons),
        largest_loss=_largest_loss(split.pair, reasons),
        witness=None if best is None else _witness(best, split),
        reasons=tuple(reasons),
    )


# --- one split of the draws -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Split:
    """The draws of a pair in random order: those that choose events, and those that confirm them.

    ``chosen`` are the events for epsilon. Strings have numbers here, whose ``labels`` are those of
    the draws that choose events, and one for all others; ``pair`` has the draws in the same order.
    """

    name: str | None
    pair: Pair
    past: PastDraws
    x: Sample
    x_prime: Sample
    chosen: list[ChosenEvent]
    labels: Sequence[str] = ()

    @property
    def n(self) -> int:
        """The draws of a side that confirm events."""
        return len(self.x)

    @property
    def promise(self) -> float:
        """The epsilon that past draws promise, minus infinity where nothing differs."""
        return self.chosen[0].expected if self.chosen else -math.inf


def _pairs_of(x: Any, x_prime: Any) -> dict[str | None, Pair]:
    if not isinstance(x, Mapping) or x_prime is not None:
        if x_prime is None:
            raise ArgumentError("x_prime", "must be given, or x a mapping of names to (x, x_prime)")
        return {None: pair_of(x, x_prime, least=LEAST)}
    if not x:
        raise ArgumentError("x", "must hold at least one pair")
    pairs: dict[str | None, Pair] = {}
    for name, sides in x.items():
        if not isinstance(sides, Sequence | np.ndarray) or len(sides) != 2:
            raise ArgumentError(f"x[{name!r}]", "must be two arrays, (x, x_prime)")
        if str(name) in pairs:
            raise ArgumentError("x", f"must have different names of pairs, got {str(name)!r} twice")
        pairs[str(name)] = pair_of(*sides, least=LEAST, place=f"pair {name!r}: ")
    return pairs


def _split(name: str | None, pair: Pair, seed: int) -> _Split:
    # the same for all pairs: of arrays that several pairs share, the same draws choose events
    rng = generator(seed, "measure")
    x = pair.x[rng.permutation(len(pair.x))[: pair.n]]
    x_prime = pair.x_prime[rng.permutation(len(pair.x_prime))[: pair.n]]
    used = replace(pair, x=x, x_prime=x_prime)
    first = int(pair.n * CHOOSING)
    if pair.x.ndim > 1:
        first = min(int(pair.n * CHOOSING * _SEVERAL), _CHOOSERS)
    labels: list[str] = []
    if pair.labels is not None:  # of the past draws only: what comes later chooses no event
        known = np.unique(np.concatenate([x[:first], x_prime[:first]]))
        numbers = np.full(len(pair.labels), known.size)
        numbers[known] = np.arange(known.size)
        x = numbers[x]
        x_prime = numbers[x_prime]
        labels = [*map(_in_words, pair.labels[known]), "any other output"]
    past = PastDraws(x[:first], x_prime[:first], columns_of(pair))
    fresh = x[first:]
    chosen = choose_events(past, [Pure(0.0)], len(fresh))
    return _Split(name, used, past, fresh, x_prime[first:], chosen, labels)


def _widest(splits: Sequence[_Split]) -> _Split:
    """Return the pair whose past draws promise the largest epsilon, the first of equals."""
    return max(splits, key=lambda split: split.promise)


def _bound(
    split: _Split, chosen: Sequence[ChosenEvent], claim: EventClaim, alpha: float
) -> tuple[Counted | None, float]:
    """Return the event with the largest bound of the claim's level, and the bound."""
    counted = count(chosen, split.x, split.x_prime)
    bound, best = largest_bound(counted, claim, alpha)
    return best or next(iter(counted), None), bound


# --- sets that rise with the privacy loss ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Scored:
    """Cells of outputs, and the log ratio of each, ``(cells + 1,)``, from past draws; 0 outside.

    ``shares`` are those of past draws of either side in the cells, ``(2, cells + 1)``.
    """

    cells: Cells | None
    log_ratios: Floats
    shares: Floats
    counts: tuple[Counts, Counts]


def _scored(split: _Split) -> _Scored:
    """Return the cells whose log ratio separates past draws best, with counts of fresh draws."""
    of_numbers, of_scores = cells_of(split.past, split.n, None)
    best = max([*of_numbers, *of_scores], key=_separation, default=None)
    if best is None:
        n = np.array([split.n])
        return _Scored(None, np.zeros(1), np.ones((2, 1)), (n, n))
    past = np.sum(best.folds, axis=1)  # of either side, (2, cells)
    log_ratios = np.append(_log_ratio(past[0], past[1]), 0.0)
    shares = np.pad(past / past.sum(axis=1, keepdims=True), ((0, 0), (0, 1)))
    counts = np.bincount(best.coded(split.x), None, best.size + 1)
    counts_prime = np.bincount(best.coded(split.x_prime), None, best.size + 1)
    return _Scored(best, log_ratios, shares, (counts, counts_prime))


def _separation(cells: Cells) -> float:
    """Return the mean log ratio of x less that of x', each learned on other fifths of the draws."""
    ours, theirs = cells.folds
    learned = _log_ratio(ours.sum(axis=0) - ours, theirs.sum(axis=0) - theirs)
    return float((ours * learned).sum() / ours.sum() - (theirs * learned).sum() / theirs.sum())


def _log_ratio(counts: Counts, counts_prime: Counts) -> Floats:
    """Return the log ratio of shares in cells, the last axis, of the counts' shape.

    As much is added to the shares of both sides: it shrinks the ratios of rare cells.
    """
    n = counts.sum(axis=-1, keepdims=True)
    m = counts_prime.sum(axis=-1, keepdims=True)
    more = SHRINKAGES[0] / n
    return np.asarray(np.log(counts / n + more) - np.log(counts_prime / m + more))


def _groups(scored: _Scored, cuts: Sequence[float]) -> Counts:
    """Return a number for each cell: cells are cut into few groups that rise with the log ratio."""
    order = np.argsort(scored.log_ratios, kind="stable")
    pooled = scored.shares.mean(axis=0)[order]
    middles = np.cumsum(pooled) - pooled / 2
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.searchsorted(cuts, middles)
    return np.unique(numbers, return_inverse=True)[1]  # those of empty groups go


def _nested(scored: _Scored, n: int) -> tuple[Counts, int, Counts, int]:
    """Return the counts of both sides in sets that rise, each of all groups from one on."""
    groups = _groups(scored, _PARTITIONS[-1])
    rising = []
    for side in scored.counts:
        of_groups = _sums(groups, side)
        from_each_on = of_groups[::-1].cumsum()[::-1]
        rising.append(from_each_on[1:] if of_groups.size > 1 else from_each_on)
    return rising[0], n, rising[1], n


def _sums(groups: Counts, values: Any) -> Any:
    """Return the sums of the values of cells in each group."""
    return np.bincount(groups, values)


def _divergences(split: _Split, scored: _Scored, orders: Sequence[float], alpha: float) -> Floats:
    """Return the bounds at all orders, by the partition that promises most on past draws."""
    n = split.n
    partitions = [_groups(scored, cuts) for cuts in _PARTITIONS]
    expected = n * scored.shares
    promised = [_least(groups, expected, n, orders, alpha) for groups in partitions]
    relative = promised / np.maximum(np.max(promised, axis=0), 1e-12)
    groups = partitions[int(relative.sum(axis=1).argmax())]
    return _least(groups, scored.counts, n, orders, alpha)


def _least(groups: Counts, counts: Any, n: int, orders: Sequence[float], alpha: float) -> Floats:
    """Return the bounds of divergences from both sides' counts in cells, which are grouped."""
    hits = _sums(groups, counts[0])
    hits_prime = _sums(groups, counts[1])
    return least_divergences(box_of(hits, n, hits_prime, n, alpha), orders)


# --- the papers' estimates ------------------------------------------------------------------------


def _epsilons(epsilons: Sequence[float] | None, bound: float) -> Floats:
    if epsilons is None:
        return np.linspace(0.0, max(1.0, math.ceil(2 * 1.5 * bound) / 2), 31)
    given = _numbers("epsilons", epsilons)
    return np.array([checks.within("epsilons", each, 0.0, _MOST_EPSILON) for each in given])


def _numbers(argument: str, values: Any) -> list[float]:
    """Return one number or several as a list; raise `ArgumentError` for anything else."""
    try:
        numbers: list[float] = np.ravel(np.asarray(values, float)).tolist()
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"must be numbers, got {shown(values)}") from None
    if not numbers:
        raise ArgumentError(argument, "must hold at least one number")
    return numbers


def _classified(pair: Pair, epsilons: Floats, reasons: list[str]) -> Floats:
    """Return delta in its larger direction by lu2022's classifier, NaN where it has none."""
    x = pair.x
    x_prime = pair.x_prime
    if x.ndim > 1 and pair.real:
        x = x[:_LEARNERS]
        x_prime = x_prime[:_LEARNERS]
    rising, places = np.unique(epsilons, return_inverse=True)
    try:
        forward = estimates.delta_curve(x, x_prime, epsilons=rising)
        reverse = estimates.delta_curve(x_prime, x, epsilons=rising)
    except ArgumentError as error:
        reasons.append(f"no delta of lu2022: {_without_place(error)}")
        return np.full(epsilons.shape, math.nan)
    return np.maximum(forward.deltas, reverse.deltas)[places]


def _for_large_n(
    pair: Pair, orders: Sequence[float], confidence: float, reasons: list[str]
) -> Floats:
    """Return kutta2022's bounds in the larger direction, NaN where the draws are too few."""
    bounds = np.full(len(orders), math.nan)
    if pair.real and pair.x.ndim > 1:
        reasons.append("no bound of kutta2022: it is for numbers and outcomes, not for vectors")
        return bounds
    sides = [(pair.x, pair.x_prime)]
    try:
        for i, order in enumerate(orders):
            bound = estimates.renyi_lower_bound_of_pairs(sides, order=order, confidence=confidence)
            if not bound.reason:  # else the draws are too few for this order
                bounds[i] = bound.value
    except ArgumentError as error:
        reasons.append(f"no bound of kutta2022: {_without_place(error)}")
    return bounds


def _largest_loss(pair: Pair, reasons: list[str]) -> estimates.LargestLoss | None:
    if pair.real and pair.x.ndim > 1:
        reasons.append("no largest loss: densities of vectors need far more draws")
        return None
    x = pair.x
    x_prime = pair.x_prime
    if pair.labels is not None:
        x = pair.labels[x]
        x_prime = pair.labels[x_prime]
    try:
        loss = estimates.largest_loss(x, x_prime)
    except ArgumentError as error:
        reasons.append(f"no largest loss: {_without_place(error)}")
        return None
    if pair.columns and isinstance(loss.output, list):
        loss = replace(loss, output=dict(zip(pair.columns, loss.output, strict=True)))
    return loss


def _without_place(error: ArgumentError) -> str:
    """Return what is wrong, without the names of arguments that `measure` does not have."""
    return str(error).removeprefix("pairs[0]: ")


# --- words ----------------------------------------------------------------------------------------


def _witness(counted: Counted, split: _Split) -> Witness:
    """Return an event in words, whose ends have few digits, and its counts."""
    chosen = counted.chosen
    text = _text(in_few_digits(chosen.event, [split.x, split.x_prime]), split)
    return Witness(chosen.event, text, chosen.swapped, counted.hits, counted.hits_prime)


def _text(event: Event, split: _Split) -> str:
    """Return an event in words."""
    view = event.view
    pair = split.pair
    if split.labels:
        inside = np.flatnonzero(event.holds(np.arange(len(split.labels)))).tolist()
        return f"output is {_listed([split.labels[i] for i in inside])}"
    if view.kind == "row":
        return f"output is {_listed([_in_words(list(row)) for row in view.rows])}"
    if view.kind == "all":
        return " and ".join(_text(part, split) for part in view.parts)
    if view.kind == "parity":
        return parity_text(event, [_text(part, split) for part in view.parts])
    names = ["output"]
    if pair.x.ndim > 1:
        names = list(pair.columns) or [f"entry {i}" for i in range(pair.x.shape[1])]
    if view.kind == "equal":
        return equality_text(event, names)
    return _listed(range_texts(view.text(names), event.ranges))


def _in_words(output: Any) -> str:
    """Return an outcome in one line of few letters."""
    plain = output.tolist() if isinstance(output, np.ndarray) else output
    return shown(str(plain) if isinstance(plain, str) else plain, _LONGEST).strip("'")


def _listed(texts: Sequence[str]) -> str:
    """Return a few texts, and how many more there are."""
    more = len(texts) - _NAMED
    if more <= 0:
        return " or ".join(texts)
    return f"{' or '.join(texts[:_NAMED])} or {more} other{'s' if more > 1 else ''}"
