"""Bets on all outputs of a pair from its first draws on: predictors, through several views.

A view (`epsilometer.events.events`) makes one number of each output: the output itself, an
entry, a score, the lowest bit. For each view, predictors bet against the claims that a level
implies (see `predictors`). The wealth is their mean with fixed shares, and so a test martingale.
Views are chosen anew as the draws grow, on past draws; the wealth is then spread over them. A score
is learned again from more past draws each time, and its predictors keep what they have won. Of many
views, those go on that have won most or that hold what a few draws suspect.

    portfolio = Portfolio(pure(1.0))
    growth = portfolio.record(x, x_prime, [1] * 150)  # 150 fresh draws a side, one by one
    growth.at(pure(1.0), np.array([0.5, 1.0]))  # ln factors of the wealth, (150, 2): by draw, level
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from epsilometer.claims import Claim
from epsilometer.events import looks
from epsilometer.events.events import Event, View
from epsilometer.events.scores import ENTRIES, ROWS, learned_score, linear_score, suspects
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample
from epsilometer_audit.outputs.outcomes import Layout, learn_layout
from epsilometer_audit.outputs.shapes import joined
from epsilometer_audit.statistics import predictors, projection
from epsilometer_audit.statistics.stakes import Plan
from epsilometer_audit.statistics.witnesses import Chosen, beyond

# Shares of the wealth, and draws from which views and levels are chosen. To compare others, run
# `make limit`.
_LOW_BITS = 0.15  # share of the views of lowest bits
_SCORES = 0.5  # share of the views of scores of all entries
_GIVEN = 0.2  # part of the wealth that goes to new views
_LINEAR = 8  # draws of a side until a linear score is learned
_SUMMED = 32  # draws of a side until other scores are learned
_AIMED = 32  # draws of a side until levels are chosen
_SELECTED = 60  # draws of a side, from which only some views of vectors go on
_RICH = 3  # of these, views that have won most
_SUSPECTS = 2  # of these, suspect entries with a view of their own
_PART = 1 << 16  # draws of a side, of which more are bet on block by block, in less memory
_ALWAYS = "linear", "sum", "signs", "steps", "learned"  # scores that do so
_NUMBERS = "number", "remainder"  # kinds of columns
_ENTRIES = 16  # single columns of a vector
_STEPS = 20  # of a score, from its smallest to its largest number
_LOOKED = 1000  # draws of a side that tell how many different numbers there are
_HIGHER = np.array([0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0])  # levels above the claim, times it
_AROUND = np.array([0.85, 0.92, 0.96, 0.98, 1.0, 1.02, 1.05, 1.1])  # levels, times the aim
_REFUTING = 5.0  # nats: ln(1/alpha), and 2 for the shares of the bets
_AROUND_SCORES = np.array([0.6, 0.7, 0.78, *np.geomspace(0.84, 1.2, 24), 1.28, 1.4])


@dataclass(frozen=True, eq=False)
class Growth:
    """Log factors of the wealth of a portfolio in blocks of draws, at some levels.

    Each piece has increasing levels by the claim's quantity, of shape ``(m,)``, and the factors,
    ``(blocks, m)``.
    """

    pieces: Sequence[tuple[Mapping[str, Floats], Mapping[str, Floats]]]

    def at(self, claim: Claim, levels: Floats, by_block: bool = True) -> Floats:
        """Return the factors of blocks, or of all, at levels of the claim, ``(blocks, k)``."""
        factors = []
        for grids, logs_of in self.pieces:
            # a bet against the next higher level is one against each level below it
            logs = logs_of[claim.quantity]
            if not by_block:
                logs = logs.sum(axis=0, keepdims=True)
            logs = np.pad(logs, ((0, 0), (0, 1)))  # none above all levels
            factors.append(logs[:, np.searchsorted(grids[claim.quantity], levels)])
        return np.concatenate(factors) if by_block else np.sum(factors, axis=0)


@dataclass(eq=False)
class Portfolio:
    """The bets on a pair of inputs against a claim, at its level and at a few others.

    The others are levels above, later those near the largest that the draws to come should refute.

    With ``as_reals``, outputs stand for reals, so that their low bits are left out.
    """

    claim: Claim
    as_reals: bool = False
    _levels: dict[str, Floats] = field(init=False)
    _bets: Callable[[predictors.Prediction], tuple[Floats, Floats]] = field(init=False)
    _initial: Floats = field(init=False)  # the log wealth, (m,)
    _raw: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    _draws: int = 0
    _next: float = 2  # draws of a side at which views are chosen, on raw outputs until then
    _past: looks.PastDraws | None = None
    _layout: Layout | None = None
    _views: dict[Any, _Viewed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        higher = _HIGHER[::2] if self.claim.orders else _HIGHER
        levels = self.claim.level + higher * max(self.claim.level, 0.1)
        self._bet_at(np.minimum(levels, self._top))

    @property
    def _top(self) -> float:
        """The highest level that is bet against."""
        return max(float(self.claim.grid[-1]), self.claim.level)

    def _bet_at(self, levels: Floats) -> None:
        """Bet at these levels, which include the claimed one."""
        claim = self.claim
        self._levels = {claim.quantity: levels}
        bets = against(claim, levels)
        for other in claim.levels[1:]:
            others = other.level ** np.linspace(1, 1 / 6, 6)
            self._levels[other.quantity] = others
            bets = bets.joined(against(other, others))
        self._bets = bets.best
        self._initial = np.zeros(len(bets.first))

    def record(
        self, x: Any, x_prime: Any, sizes: Sequence[int], plan: Plan | None = None
    ) -> Growth:
        """Bet on fresh raw outputs of both sides, in blocks of these sizes, by a plan if any."""
        pieces: list[Any] = []
        start = 0
        used = 0
        while start < len(sizes):
            end = start
            size = 0
            while end < len(sizes) and self._draws + size < self._next:
                size += sizes[end]
                end += 1
            fresh = [side[used : used + size] for side in (x, x_prime)]
            columns = fresh
            if self._layout is not None:
                columns = list(map(self._layout.encode, fresh))
            pieces += self.bet(columns[0], columns[1], sizes[start:end], plan).pieces
            if plan is not None:
                plan = plan.after(size)
            for raw, side in zip(self._raw, fresh, strict=True):
                raw.append(side)
            start = end
            used += size
            if self._draws >= self._next:
                self._past = self._choose_anew()
        return Growth(pieces)

    def _choose_anew(self) -> looks.PastDraws:
        """Choose the views on all raw outputs so far, until the draws have doubled; return them."""
        together = joined(self._raw[0]), joined(self._raw[1])  # read once, not by block
        self._raw = [together[0]], [together[1]]
        layout = learn_layout(*together, as_reals=self.as_reals)
        columns = list(map(layout.encode, together))
        past = looks.PastDraws(columns[0], columns[1], layout, self._past)
        self.choose(past)
        self._next = 2 * self._draws
        return past

    def bet(
        self, x: Sample, x_prime: Sample, sizes: Sequence[int], plan: Plan | None = None
    ) -> Growth:
        """Bet on the columns of fresh outputs of both sides, in blocks, by a plan if any."""
        if len(sizes) > 1 and sum(sizes) > _PART:
            pieces: list[Any] = []
            for a, b in pairwise([0, *np.cumsum(sizes).tolist()]):
                later = None if plan is None else plan.after(a)
                pieces += self.bet(x[a:b], x_prime[a:b], [b - a], later).pieces
            return Growth(pieces)
        before = self._wealth()
        paths = [viewed.record(x, x_prime, sizes, plan) for viewed in self._views.values()]
        after = np.broadcast_to(before, (len(sizes), len(before)))
        if paths:
            after = np.logaddexp.reduce(paths, axis=0)
        logs = np.diff(after, axis=0, prepend=before[None])
        ends = np.cumsum([levels.size for levels in self._levels.values()])[:-1]
        self._draws += sum(sizes)
        parts = zip(self._levels, np.split(logs, ends, axis=1), strict=True)
        return Growth([(self._levels, dict(parts))])

    def event(self, x: Any, x_prime: Any, level: float) -> Chosen | None:
        """Return the event of the bet that has won most against a level, or None.

        It holds the outputs that, together, exceed the claim most by what the view and the
        predictor of that bet predict from these raw past outputs alone.
        """
        if not self._views:
            return None
        levels = self._levels[self.claim.quantity]
        claim = min(int(np.searchsorted(levels, level)), levels.size - 1)
        key, best = max(self._views.items(), key=lambda item: item[1].wealth[claim])
        layout = learn_layout(x, x_prime, as_reals=self.as_reals)
        sides = layout.encode(x), layout.encode(x_prime)
        draws = looks.PastDraws(*sides, layout)
        for choice in _choices(draws, lambda other: other == key):
            viewed = choice.viewed
            past = predictors.Points().with_draws(*map(viewed.steps, choice.numbers()))
            for predictor, _ in best.mixture.ranked(claim):
                prediction = predictor(past)
                if prediction is not None:
                    event, swapped = _event_of(prediction, viewed, sides, self.claim)
                    return Chosen(event, swapped, layout)
        return None

    @property
    def won(self) -> float:
        """The log wealth at the claimed level."""
        return float(self._wealth()[self._claimed])

    @property
    def _claimed(self) -> int:
        """The number of the claimed level."""
        return int(np.searchsorted(self._levels[self.claim.quantity], self.claim.level))

    def _wealth(self) -> Floats:
        """Return the log wealth, of shape ``(m,)``."""
        logs = [viewed.wealth for viewed in self._views.values()] or [self._initial]
        return np.asarray(np.logaddexp.reduce(logs, axis=0))

    def choose(self, past: looks.PastDraws) -> None:
        """Choose the views on all past draws, and spread the wealth over them.

        From now on they are chosen by such calls only.
        """
        before = self._views
        same_layout = past.layout == self._layout
        self._next = math.inf
        self._past = None
        self._layout = past.layout
        self._views = {}
        goes_on: GoesOn = self._goes_on(before, past) if same_layout else bool
        for choice in _choices(past, goes_on):
            new = choice.viewed
            old = before.get(choice.key)
            if same_layout and old is not None and old.rule == new.rule:
                self._views[choice.key] = old
            else:
                self._views[choice.key] = new
                self._start(new, choice.numbers(), old)
        self._spread(before)
        self._aim()

    def _start(self, new: _Viewed, numbers: Sequence[Sample], old: _Viewed | None) -> None:
        """Let a view learn from past numbers of both sides, with the wealth of an old rule."""
        new.mixture = predictors.Mixture(self._initial.size, self._bets, new.shares)
        new.mixture.prime(new.steps(numbers[0]), new.steps(numbers[1]))
        new.start = self._initial if old is None else old.wealth
        if old is not None and old.shares == new.shares:  # predictors keep what they have won
            new.mixture.inherit(old.mixture)

    def _spread(self, before: Mapping[Any, _Viewed]) -> None:
        """Spread the wealth of views that are gone over new ones, with a part of the others'.

        Without new ones, it goes to those that are left.
        """
        spread = [old.wealth for key, old in before.items() if key not in self._views]
        if not before:
            spread.append(self._initial)
        heirs: dict[Any, float] = {}
        kept = []
        for key, viewed in self._views.items():
            if key in before:
                kept.append(viewed)
            else:
                heirs[key] = viewed.share
        if heirs:
            spread += [viewed.give(_GIVEN) for viewed in kept]
        else:
            heirs = dict.fromkeys(self._views, 1.0)
        if spread:
            inherited = np.logaddexp.reduce(spread, axis=0) - math.log(sum(heirs.values()))
            for key, share in heirs.items():
                self._views[key].take(inherited + math.log(share), only=key not in before)

    def _goes_on(self, views: Mapping[Any, _Viewed], past: looks.PastDraws) -> GoesOn:
        """Return a rule that tells by its key whether a view goes on."""
        if self._draws < _SELECTED or len(past.layout.columns) < _RICH:
            return bool
        won = {key: viewed.wealth[self._claimed] for key, viewed in views.items()}
        kept = {*sorted(won, key=won.__getitem__)[-_RICH:], *_ALWAYS}
        for i in suspects(*past.sides, range(len(past.layout.columns)), _SUSPECTS):
            kept |= {_key(View(kind, i), past.layout) for kind in ("entry", "low bit")}
        return kept.__contains__

    def _aim(self) -> None:
        """Bet at levels near the largest that the draws to come should refute."""
        if self._draws < _AIMED or self.claim.orders:
            return
        old = self._levels[self.claim.quantity]
        highest = self._claimed
        won = np.flatnonzero(self._wealth()[: old.size] > 1.0)
        if won.size:
            highest = int(won[-1])
        views = list(self._views.values())
        wealth = [viewed.wealth[highest] for viewed in views]
        best = views[int(np.argmax(wealth))].mixture
        _, prediction = best.ranked(highest)[0]
        aim = None if prediction is None else self._reached(prediction)
        if aim is None:
            return
        self._bet_at(self._levels_around(aim))
        index = np.searchsorted(old, self._levels[self.claim.quantity])
        index[index == old.size] = -1  # no bets so far
        others = len(self._initial) - index.size  # levels of delta, which stay
        index = np.append(index, np.arange(old.size, old.size + others))
        shares = np.exp(wealth - np.logaddexp.reduce(wealth))
        shares = (shares + 1 / shares.size) / 2
        for viewed, share in zip(views, shares, strict=True):
            viewed.change_levels(index, self._bets, math.log(share))

    def _reached(self, prediction: predictors.Prediction) -> float | None:
        """Return the largest level that twice the draws so far should refute, by a prediction."""
        levels = np.geomspace(0.05, 20.0, 64) * max(self.claim.level, 0.1)
        levels = np.minimum(levels, self._top)
        f, g = against(self.claim, levels).best(prediction)
        growth = prediction.p @ f + prediction.q @ g
        reached = np.flatnonzero(growth * 2 * self._draws >= _REFUTING)
        return float(levels[reached[-1]]) if reached.size else None

    def _levels_around(self, aim: float) -> Floats:
        """Return the claimed level, and levels around an aim."""
        level = self.claim.level
        scores = any(viewed.step for viewed in self._views.values())
        around = _AROUND_SCORES if scores else _AROUND
        aims = np.minimum(aim * around, self._top)
        if aim >= level or not scores:  # a refuted claim refutes all levels below it
            aims = aims[aims > level]
        return np.union1d(aims, [level])


@dataclass(frozen=True, eq=False)
class Bets:
    """Bets against claims of several levels: a function, and its two arguments, each ``(m, t)``."""

    factors: Callable[[predictors.Prediction, Floats, Floats], tuple[Floats, Floats]]
    first: Floats
    second: Floats

    def joined(self, other: Bets) -> Bets:
        """Return these bets and those against other levels."""
        first = np.concatenate([self.first, other.first])
        return Bets(self.factors, first, np.concatenate([self.second, other.second]))

    def best(self, prediction: predictors.Prediction) -> tuple[Floats, Floats]:
        """Return ln f and ln g, ``(k, m)``, of the bets whose predicted growth is the largest."""
        f, g = self.factors(prediction, self.first.ravel(), self.second.ravel())
        levels, bets = self.first.shape
        if bets == 1:
            return f, g
        growth = (prediction.p @ f + prediction.q @ g).reshape(levels, bets)
        best = np.arange(levels) * bets + growth.argmax(axis=1)
        return f[:, best], g[:, best]


def against(claim: Claim, levels: Floats) -> Bets:
    """Return the bets against levels of a claim."""
    if claim.events:
        return Bets(projection.factors, *claim.events[0].implied(levels))
    orders = np.array(claim.orders[:4:3])  # of zCDP two low ones, where few draws say most
    rhos = claim.divergence(levels[:, None], orders)
    return Bets(projection.renyi_factors, np.broadcast_to(orders, rhos.shape), rhos)


def _event_of(
    prediction: predictors.Prediction, viewed: _Viewed, sides: Sequence[Sample], claim: Claim
) -> tuple[Event, bool]:
    """Return the cells that together exceed the claim most, by their predicted probabilities."""
    inside, swapped = _exceeding(prediction, claim, [float(len(side)) for side in sides])
    edges = prediction.edges
    if viewed.step:
        edges = (np.floor(edges) + 0.5) * viewed.step
    whole = not viewed.step and viewed.view.of(sides[0][:1]).dtype.kind == "i"
    turns = np.flatnonzero(np.diff(inside, prepend=False, append=False)).tolist()
    ranges: list[tuple[Any, Any]] = []
    for first, last in zip(turns[::2], turns[1::2], strict=True):
        start: Any = None
        end: Any = None
        if first > 0:
            edge = float(edges[first - 1])
            start = math.floor(edge) + 1 if whole else math.nextafter(edge, math.inf) + 0.0
        if last < inside.size:
            edge = float(edges[last - 1])
            end = math.floor(edge) if whole else edge
        if start is None or end is None or start <= end:
            ranges.append((start, end))
    missing = bool(inside[-1]) and any(np.isnan(viewed.of(side)).any() for side in sides)
    return Event(tuple(ranges), missing, viewed.view), swapped


def _exceeding(
    prediction: predictors.Prediction, claim: Claim, draws: Sequence[float]
) -> tuple[Bools, bool]:
    """Tell of each cell whether it is in the event, and whether the event is likelier on x'."""
    best = -math.inf
    chosen = np.zeros(0, np.int64)
    swapped = False
    for turned in (False, True):
        p = prediction.p
        q = prediction.q
        if turned:
            p, q = q, p
        order = np.argsort(np.log(q) - np.log(p), kind="stable")
        excess = beyond(claim, np.cumsum(p[order])[:-1], np.cumsum(q[order])[:-1], draws)
        most = int(excess.argmax())
        if excess[most] > best:
            best = float(excess[most])
            chosen = order[: most + 1]
            swapped = turned
    inside = np.zeros(prediction.p.size, bool)
    inside[chosen] = True
    return inside, swapped


@dataclass(eq=False)
class _Viewed:
    """A view, and the bets through it; ``start`` is the log of their wealth when they started."""

    view: View
    share: float
    shares: predictors.Shares
    """Those of the predictors."""
    step: float = 0.0
    """Of a score, which is seen in whole steps."""
    mixture: predictors.Mixture = field(init=False)
    start: Floats = field(init=False)

    def steps(self, numbers: Sample) -> Sample:
        """Return numbers of outputs as they are bet on."""
        return np.rint(numbers / self.step) if self.step else numbers

    def of(self, sample: Sample) -> Sample:
        """Return the number of each output, ``(n,)``, that is bet on."""
        return self.steps(self.view.of(sample))

    @property
    def rule(self) -> Any:
        """All that makes bets, but for past draws."""
        return self.view, self.shares

    @property
    def wealth(self) -> Floats:
        """The log of their wealth now, of shape ``(m,)``."""
        return self.start + self.mixture.wealth

    def record(
        self, x: Sample, x_prime: Sample, sizes: Sequence[int], plan: Plan | None = None
    ) -> Floats:
        """Bet on fresh draws; return the log wealth after each block, ``(blocks, m)``."""
        if plan is not None:
            plan = replace(plan, goal=plan.goal - self.start)
        return self.start + self.mixture.record(self.of(x), self.of(x_prime), sizes, plan)

    def change_levels(self, index: Counts, bets: Any, new: float) -> None:
        """Take the levels of these numbers in place of all; -1 is one without bets so far.

        ``new`` is the log wealth at such a level.
        """
        self.start = np.append(self.start, new)[index]
        self.mixture.change_claims(index, bets)

    def give(self, part: float) -> Floats:
        """Give away a part of the wealth; return its log."""
        given = self.wealth + math.log(part)
        self.start = self.start + math.log1p(-part)
        return given

    def take(self, more: Floats, only: bool) -> None:
        """Add to the wealth; it is all there is if ``only``."""
        factor = more - self.wealth
        if not only:
            factor = np.logaddexp(0.0, factor)
        self.start = self.start + factor


def _key(view: View, layout: Layout) -> Any:
    column = layout.columns[view.entry]
    return view.kind, column.path, column.kind


GoesOn = Callable[[Any], bool]
"""Tells by its key whether a view is bet on."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """A view that past draws choose, and its look at these."""

    key: Any
    viewed: _Viewed
    look: looks.Look

    def numbers(self) -> tuple[Sample, Sample]:
        """Return the numbers of past draws of both sides, of the last ones if they are many."""
        return self.look.sides(ROWS)


def _choices(past: looks.PastDraws, goes_on: GoesOn) -> Iterator[_Choice]:
    """Yield the views that past draws choose, of keys that go on: columns, low bits, and scores."""
    entries = _entries(past)
    yield from _columns(past, entries, goes_on)
    yield from _low_bits(past, entries, goes_on)
    yield from _scores(past, goes_on)


def _entries(past: looks.PastDraws) -> Sequence[int]:
    """Return the entries that are bet on: of those that vary, the most suspect ones."""
    if past.x.ndim == 1:
        return [0]
    varies = np.zeros(past.x.shape[1], bool)
    for side in past.sides:
        varies |= (side[:ROWS] != past.x[0]).any(axis=0)
    varying = np.flatnonzero(varies).tolist() or range(varies.size)
    return suspects(*past.sides, varying, _ENTRIES)


def _columns(past: looks.PastDraws, entries: Sequence[int], goes_on: GoesOn) -> Iterator[_Choice]:
    """Yield single columns."""
    is_table = past.x.ndim > 1
    views = [View("entry", entry) for entry in entries] if is_table else [View()]
    views = [view for view in views if goes_on(_key(view, past.layout))]
    for view in views:
        share = 1 / len(views)
        if past.layout.columns[view.entry].kind in _NUMBERS:
            (predictor_shares,) = past.once(view, _LOOKED, partial(_kinds, view, past))
        else:
            predictor_shares = predictors.DISCRETE
            if is_table:
                share = 2 / len(views)  # codes are soon learned
        yield _choice(past, _Viewed(view, share, predictor_shares))


def _low_bits(past: looks.PastDraws, entries: Sequence[int], goes_on: GoesOn) -> Iterator[_Choice]:
    """Yield the lowest bits of reals."""
    if past.layout.as_reals:
        return
    views = [View("low bit", entry) for entry in past.layout.reals if entry in entries]
    views = [view for view in views if goes_on(_key(view, past.layout))]
    for view in views:
        yield _choice(past, _Viewed(view, _LOW_BITS / len(views), predictors.DISCRETE))


def _choice(past: looks.PastDraws, viewed: _Viewed) -> _Choice:
    """Return the choice of a view of a column."""
    return _Choice(_key(viewed.view, past.layout), viewed, looks.Look(viewed.view, past))


def _scores(past: looks.PastDraws, goes_on: GoesOn) -> Iterator[_Choice]:
    """Yield scores of all entries or bits, which are seen in whole steps."""
    learners = _learners(past)
    names = [name for name in learners if goes_on(name)]
    for name in names:
        score = past.score(name, learners[name])
        if score is None:
            continue
        step = float(np.ptp(np.concatenate(score.sides(ROWS)))) / _STEPS
        if step > 0:
            viewed = _Viewed(score.view, _SCORES / len(names), predictors.SCORES, step)
            yield _Choice(name, viewed, score)


def _kinds(view: View, past: looks.PastDraws) -> list[predictors.Shares]:
    """Return the predictors that bet on numbers that are not few by kind, and their shares."""
    numbers = np.concatenate([view.of(side[:_LOOKED]) for side in past.sides])
    different = np.unique(numbers).size
    if different <= min(8, numbers.size // 2):  # too few for a density
        return [predictors.DISCRETE]
    if different == numbers.size:
        return [predictors.DENSE]
    return [predictors.ATOMS]


def _bits(x: Sample, x_prime: Sample) -> int:
    """Return the number of bits of whole numbers that look like bits; 0 for others."""
    if x.dtype.kind != "i" or len(x) < 2 * _SUMMED:
        return 0
    low = min(x.min(), x_prime.min())
    high = max(x.max(), x_prime.max())
    size = int(high).bit_length()
    if low < 0 or size <= 2:
        return 0
    top = 1 << (size - 1)
    # the highest bit of noisy counts hardly varies, or is rarely set
    varies = high - low >= top
    often = (np.mean(x >= top) + np.mean(x_prime >= top)) / 2 >= 0.01
    return size if varies and often else 0


def _learners(past: looks.PastDraws) -> dict[str, looks.Learner]:
    """Return rules that learn a score from some draws of both sides, by name."""
    x, x_prime = past.sides
    if x.ndim == 1:
        size = 0
        if past.layout.columns[0].kind in _NUMBERS:
            size = _bits(x, x_prime)
        return looks.sums(x, size) if size else {}
    half = len(x) // 2
    entries = past.layout.numbers
    learners: dict[str, looks.Learner] = {}
    if half >= _LINEAR and len(entries) > 1:
        learners["linear"] = partial(linear_score, entries=entries[:ENTRIES])
    if half >= _SUMMED:
        learners |= looks.sums(x, len(x.T))
        if len(entries) > 1 and np.unique(x[:_LOOKED]).size > looks.SUMMED:  # many hardly differ
            learners["signs"] = partial(looks.learn_sum, size=len(x.T), cells=2)
    return learners | {"learned": partial(learned_score, entries=entries)}
