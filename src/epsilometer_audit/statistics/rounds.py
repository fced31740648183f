"""The rounds of an audit: how draws are spread over pairs and rounds; draws in, evidence out.

Each round has as many draws as all rounds before, on which its bets are chosen. Many pairs start
with few draws; half of them, with the lowest expectation, are dropped at a time, until one is left
with half of the budget. The k-th of these rounds has a k-th of the draws of the first: a pair that
is dropped for lack of draws is lost, while the remaining pairs have more draws each. Before a
round, pairs may join that are near the best ones: they inherit wealth of those that are dropped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.claims import AnyClaim, Claim
from epsilometer.errors import ArgumentError
from epsilometer.events.exact_test import largest_bound
from epsilometer.events.looks import PastDraws
from epsilometer.seeds import generator
from epsilometer_audit.outputs.outcomes import Layout, learn_layout
from epsilometer_audit.outputs.shapes import joined
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics.bets import Bet, PlacedBet, learn_bets
from epsilometer_audit.statistics.portfolio import Portfolio
from epsilometer_audit.statistics.stakes import Plan
from epsilometer_audit.statistics.wealth import PairBets, Wealth
from epsilometer_audit.statistics.witnesses import (
    Chosen,
    EventCounts,
    count_event,
    first_visible,
)

_LEAST = 20  # draws of a side in a round
_FEWEST_CHOOSING = 5  # draws of a side that choose an event
_ODD = 4  # draws on one side only, of which a few pairs have as many by chance
_SURE = 8  # draws on one side only, which are hardly by chance where the claim holds
_END = 0.3  # what a draw beyond all of the other side counts
_COLUMNS = 64  # of outputs, in which such draws are looked for
_NEW = 8  # pairs that join a round at most
_SEARCHES = 3  # rounds in which pairs join
_BEST = 3  # pairs near which others are looked for
_SHARPENING = 0.1  # of alpha, for the bound of an event after "violated"
_CHOSEN = 50_000  # of the past draws of a side choose what a verdict names

Bets = Mapping[int, Mapping[Claim, list[Bet]]]  # of each pair
Draw = Callable[[Sequence[tuple[int, int]], int], list[Any]]
"""Fresh raw outputs of each pair (its number) and side (0 is x, 1 is x') at a time.

They are so many of each.
"""


@dataclass(frozen=True)
class Step:
    """A round: ``draws`` of each side of ``pairs`` pairs; ``ahead`` counts those to the end.

    ``new`` of the pairs join it, after so many draws of each ``before``, without bets on these.
    """

    pairs: int
    draws: int
    ahead: int
    new: int = 0
    before: int = 0

    @property
    def total(self) -> int:
        """The draws of a side, over all pairs."""
        return self.pairs * self.draws + self.new * self.before

    def blocks(self, past: int) -> list[int]:
        """Return the sizes of blocks, after each of which the wealth is computed.

        After ``past`` draws of a side they are even; the first ones are single, then grow.
        """
        if past:
            parts = min(16, self.draws)
            size, larger = divmod(self.draws, parts)
            return [size + 1] * larger + [size] * (parts - larger)
        sizes = []
        while past < self.draws:
            sizes.append(min(max(past // 32, 1), self.draws - past))
            past += sizes[-1]
        return sizes


def least_samples(pairs: int) -> int:
    """Return the smallest budget that gives each pair a round."""
    halvings = _halvings(pairs)
    if halvings == 0:
        return 10
    return math.ceil(_LEAST * pairs * halvings / _share(halvings)) + 1


def _halvings(pairs: int) -> int:
    return (pairs - 1).bit_length()


def _share(halvings: int) -> float:
    """Return the part of the budget with which many pairs are compared."""
    return min(0.1 * halvings, 0.5)


def schedule(samples: int, pairs: int, *, joining: bool = False) -> list[Step]:
    """Return the rounds that ``samples`` draws of a side, over all pairs, are spread over.

    With ``joining``, new pairs join after the first round.

    >>> [(step.pairs, step.draws) for step in schedule(6400, 1)]
    [(1, 100), (1, 100), (1, 200), (1, 400), (1, 800), (1, 1600), (1, 3200)]
    >>> [(step.pairs, step.draws) for step in schedule(6400, 4)]
    [(4, 213), (2, 213), (1, 426), (1, 852), (1, 1704), (1, 2140)]
    """
    least = least_samples(pairs)
    if samples < least:
        many = f" for {pairs} pairs" if pairs > 1 else ""
        fewer = "; of a domain, limit says how many pairs at most" if pairs > 10 else ""
        raise ArgumentError("samples", f"must be at least {least}{many}, got {samples}{fewer}")
    steps = _comparing(samples, _parts(pairs, joining), joining)
    past = sum(step.draws for step in steps)
    left = samples - sum(step.total for step in steps)
    while left > 0:  # one pair is left
        draws = past or max(left // 64, min(_LEAST, left // 2))
        if left < 2 * past:  # too few for two rounds
            draws = left
        steps.append(Step(1, draws, 0))
        left -= draws
        past += draws
    ahead = 0
    for i in reversed(range(len(steps))):
        ahead += steps[i].draws
        steps[i] = replace(steps[i], ahead=ahead)
    return steps


def _comparing(samples: int, parts: Sequence[int], joining: bool) -> list[Step]:
    """Return the rounds of many pairs, ``parts`` of them in turn, without the draws ahead."""
    harmonic = sum(1 / k for k in range(1, len(parts) + 1))
    steps: list[Step] = []
    for k, pairs in enumerate(parts, start=1):
        budget = samples * _share(len(parts)) / harmonic / k
        new = 0
        before = 0
        if joining and steps and pairs > min(_NEW // 2, parts[0]):
            new = min(_NEW, pairs // 2)
            before = min(steps[0].draws, int(budget / 2 / new))
        draws = int((budget - new * before) / pairs)
        steps.append(Step(pairs, draws, 0, new, before))
    return steps


def _parts(pairs: int, joining: bool) -> list[int]:
    """Return the numbers of pairs in each round until one is left."""
    parts = [math.ceil(pairs / 2**i) for i in range(_halvings(pairs))]
    if not joining or pairs < 2:
        return parts
    many = min(2 * _NEW, 2 * pairs)
    before = [part for part in parts[1:] if part > many]
    after = [many // 2**i for i in range(1, _halvings(many))]
    return [pairs, *before, *[many] * _SEARCHES, *after]


@dataclass
class Evidence:
    """The evidence of all rounds, for each part of the claim.

    With ``as_reals``, outputs stand for reals, so that their low bits are left out.
    """

    claim: AnyClaim
    pairs: int
    alpha: float
    as_reals: bool = False
    wealths: Mapping[Claim, Wealth] = field(init=False)
    looks: list[int] = field(default_factory=list)
    """The draws of a side, over all pairs, at each look at the wealth."""
    steps: list[Step] = field(default_factory=list)
    """The rounds so far."""
    raw: list[tuple[list[Any], list[Any]]] = field(init=False)
    """All outputs, by pair and side, in batches of which the last is the last round's."""
    pasts: dict[int, PastDraws] = field(default_factory=dict)
    """All draws before the last round, by pair."""
    last_look: float | None = None
    """The number U of the last look, if all planned draws are there."""

    def __post_init__(self) -> None:
        self.raw = [([], []) for _ in range(self.pairs)]
        claims = self.claim.parts
        share = share_of(1.0, len(claims))
        self.wealths = {claim: Wealth(claim, self.pairs, self.alpha, share) for claim in claims}
        self._portfolios: dict[tuple[Claim, int], Portfolio] = {}
        for claim, pair in itertools.product(claims, range(self.pairs)):
            self._portfolios[claim, pair] = Portfolio(claim, self.as_reals)
        self._unused = 0  # draws of a side, over all pairs, without bets

    @property
    def drawn(self) -> int:
        """The draws of a side, over all pairs."""
        return self._unused + (self.looks[-1] if self.looks else 0)

    def join(self, pair: int, outputs: tuple[Any, Any]) -> None:
        """Add a pair, with draws before its first bets."""
        assert pair == len(self.raw)
        self.raw.append(([outputs[0]], [outputs[1]]))
        self._unused += len(outputs[0])
        for claim in self.wealths:
            self._portfolios[claim, pair] = Portfolio(claim, self.as_reals)

    def record(
        self,
        outputs: Mapping[int, tuple[Any, Any]],
        bets: Bets,
        blocks: Sequence[int],
        ahead: int,
        *,
        to_end: bool = True,
    ) -> None:
        """Add fresh outputs of the pairs that are left, and the bets on them, in such blocks.

        If the audit goes on ``to_end``, for all draws ``ahead``, the portfolio of the last pair
        stakes by this plan. Of several pairs the wealth tells which go on: they bet for growth.
        """
        columns = {}  # of pairs with bets
        for pair in outputs if bets else ():
            encode = self.pasts[pair].layout.encode
            columns[pair] = [encode(side) for side in outputs[pair]]
        for size in blocks:
            self.looks.append(self.drawn + size * len(outputs))
            self._unused = 0
        for claim, wealth in self.wealths.items():
            step = {}
            for pair, (x, x_prime) in outputs.items():
                portfolio = self._portfolios[claim, pair]
                plan = None
                if to_end and len(outputs) == 1:
                    plan = Plan(ahead, np.array(portfolio.won + wealth.lacking(pair)))
                if pair not in columns:
                    step[pair] = PairBets((), portfolio.record(x, x_prime, blocks, plan))
                    continue
                layout = self.pasts[pair].layout
                past = self.past(pair)
                sides = columns[pair]
                counted = [bet.on(sides, blocks, ahead, layout, past) for bet in bets[pair][claim]]
                step[pair] = PairBets(counted, portfolio.bet(sides[0], sides[1], blocks, plan))
            wealth.record(step)

    def past(self, pair: int) -> int:
        """Return the draws of a side of a pair in all rounds before this one."""
        return sum(map(len, self.raw[pair][0]))

    def layout(self, pair: int) -> Layout:
        """Return the layout of all outputs of a pair."""
        return learn_layout(*itertools.chain(*self.raw[pair]), as_reals=self.as_reals)

    def learned(self, pair: int, step: Step) -> Mapping[Claim, list[Bet]]:
        """Choose bets on all past draws of a pair, for a round."""
        for side in self.raw[pair]:
            side[:] = [joined(side)]
        layout = self.layout(pair)
        columns = [layout.encode(side) for (side,) in self.raw[pair]]
        self.pasts[pair] = past = PastDraws(columns[0], columns[1], layout, self.pasts.get(pair))
        return {claim: learn_bets(past, claim, step.ahead, self.alpha) for claim in self.wealths}

    def choose(self, pairs: Sequence[int]) -> None:
        """Choose the views that portfolios of pairs bet through, on the past draws."""
        for (_, pair), portfolio in self._portfolios.items():
            if pair in pairs:
                portfolio.choose(self.pasts[pair])

    @property
    def of_pairs(self) -> dict[int, float]:
        """The log of the wealth of the pairs that are left, the largest over the claim's parts."""
        largest: dict[int, float] = {}
        for wealth in self.wealths.values():
            for pair, log in wealth.of_pairs.items():
                largest[pair] = max(log, largest.get(pair, -math.inf))
        return largest

    @property
    def best(self) -> int:
        """The pair that was kept to the end; of several, the one with the largest wealth."""
        of_pairs = self.of_pairs
        return max(of_pairs, key=of_pairs.__getitem__)

    def bounds(self) -> dict[Claim, float]:
        """Return the lower confidence bound for each level of the claim."""
        return {claim: self._wealth(claim).lower_bound(claim) for claim in self.claim.levels}

    def _wealth(self, claim: Claim) -> Wealth:
        """Return the wealth won against a level: its own, or that of the first part."""
        return self.wealths.get(claim) or self.wealths[self.claim.parts[0]]

    def sharpened(
        self, bounds: Mapping[Claim, float]
    ) -> tuple[dict[Claim, float], dict[Claim, PlacedBet]]:
        """Return bounds after an exact test of the last round, too, and the bets that raise any.

        All rounds before choose its events. The bets had all of alpha to refute a claim. If it
        holds, no bound above it may be shown, which is as probable. If it does not, the claim
        itself is below the level, so the bets' bound and that of the events share alpha.
        """
        sharp = dict(bounds)
        bets: dict[Claim, PlacedBet] = {}
        for claim, low in bounds.items():
            wealth = self._wealth(claim)
            last = wealth.steps[-1]
            if low < claim.level or len(last) > 1 or not claim.events:
                continue
            bound = max(wealth.lower_bound(claim, 1 - _SHARPENING), claim.level)
            alpha = self.alpha * wealth.share * _SHARPENING
            candidates = last[self.best].bets
            counted = [bet.counted() for bet in candidates]
            sharp[claim], best = largest_bound(counted, claim.events[0], alpha, bound)
            if best is not None:
                bets[claim] = candidates[counted.index(best)]
        return sharp, bets

    def bet(self, claim: Claim) -> PlacedBet | None:
        """Return the bet on the last pair that won most against a part of the claim."""
        return self.wealths[claim].witness(self.best, claim.level)[0]

    def witness(self, claim: Claim, lower: float, bet: PlacedBet | None) -> EventCounts | None:
        """Return the event of the bet that won most against the level ``lower``, with its counts.

        If that does not refute the claim, the event of ``bet`` comes first. There is none if no
        counts differ visibly. A portfolio's event is chosen on the first half of the draws.
        """
        level = max(lower, float(claim.grid[1]))
        best, portfolio_won = self.wealths[claim].witness(self.best, level)
        shown_claim = claim
        if claim.level > 0:
            shown_claim = claim.at(min(level, claim.level))
        of_best = partial(self.shown, best, shown_claim)
        of_bet = partial(self.shown, bet, shown_claim)
        predicted = partial(self._predicted, claim, level)
        if lower < claim.level:
            candidates = [of_bet, of_best]
        elif portfolio_won:
            candidates = [predicted, of_best, of_bet]
        else:
            candidates = [of_best, of_bet, predicted]
        return first_visible(count() for count in candidates)

    def shown(self, bet: PlacedBet | None, claim: Claim) -> EventCounts | None:
        """Return the event of a bet on the last pair, with its counts of fresh draws, if any."""
        if bet is None or bet.layout is None:
            return None
        event = bet.bet.event()
        if event is None:
            return None
        chosen = Chosen(event, bet.bet.swapped, bet.layout)
        end = bet.past + int(bet.counts.sum())
        return self._counted(chosen, claim, bet.past, end)

    def _predicted(self, claim: Claim, level: float) -> EventCounts | None:
        """Return the event that a portfolio predicts from half of the draws, counted in others."""
        half = self.past(self.best) // 2
        if half < _FEWEST_CHOOSING:
            return None
        x, x_prime = (_part(side, half - _CHOSEN, half) for side in self.raw[self.best])
        chosen = self._portfolios[claim, self.best].event(x, x_prime, level)
        return None if chosen is None else self._counted(chosen, claim, half)

    def _counted(
        self, chosen: Chosen, claim: Claim, start: int, end: int | None = None
    ) -> EventCounts:
        """Count an event in the draws from the ``start`` on; without an ``end``, a portfolio's."""
        before = []
        fresh = []
        for side in self.raw[self.best]:
            before.append(chosen.layout.encode(_part(side, start - _CHOSEN, start)))
            fresh.append(chosen.layout.encode(_part(side, start, end)))
        return count_event(chosen, before, fresh, claim, predicted=end is None)

    def look_last(self, seed: int) -> None:
        """Look once more at the wealth, after all planned draws.

        U follows from the seed and a hash of all wealth, in digits that every machine has. From the
        seed alone it would be one number for all audits with this seed, which is nearly all.
        """
        won = [np.round(wealth.history, 3) + 0.0 for wealth in self.wealths.values()]
        digest = sha256(np.concatenate(won).tobytes()).hexdigest()
        self.last_look = 1 - generator(seed, "last look", digest).random()
        for wealth in self.wealths.values():
            wealth.uniform = self.last_look

    def refuted(self) -> bool:
        """Tell whether any part of the claim is refuted."""
        return any(wealth.refuted for wealth in self.wealths.values())

    def refuted_by_last_look(self) -> bool:
        """Tell whether a part of the claim is refuted, and by the last look only."""
        before = any(wealth.highest >= wealth.needed for wealth in self.wealths.values())
        return self.refuted() and not before

    def violated(self, lower: Mapping[Claim, float] | None = None) -> bool:
        """Tell whether a part of the claim, above 0, and all levels below it are refuted."""
        if not self.refuted():
            return False
        bounds = lower or self.bounds()
        return any(bounds[claim] >= claim.level and bounds[claim] > 0 for claim in self.wealths)


def run_rounds(
    draw: Draw,
    steps: Sequence[Step],
    evidence: Evidence,
    stops: Callable[[Evidence], bool] = lambda _: False,
    *,
    join: Callable[[Sequence[int], int], Sequence[int]] = lambda *_: (),
    each_block: bool = False,
    seed: int = 0,
) -> Evidence:
    """Draw and bet, round by round, and return the evidence.

    ``evidence`` is extended by the rounds, ``steps``, until it ``stops`` after one, or after any
    block of draws if ``each_block``. After all planned draws it looks once more, by the ``seed``.
    """
    kept = list(range(evidence.pairs))
    bets: dict[int, Mapping[Claim, list[Bet]]] = {}  # the first round has none
    for i, step in enumerate(steps):
        if i:
            bets = {pair: evidence.learned(pair, step) for pair in kept}
            left = step.pairs - step.new
            if len(kept) > left:
                kept = kept_pairs(kept, bets, left, evidence)
            if step.new:
                by_level = sorted(kept, key=lambda pair: -_expected_share(bets[pair]))
                new = join(by_level[:_BEST], step.new)
                for pair, outputs in _fresh(draw, new, step.before).items():
                    evidence.join(pair, outputs)
                    bets[pair] = evidence.learned(pair, step)
                    kept.append(pair)
            evidence.choose(kept)
        sizes = step.blocks(evidence.past(kept[0]))
        blocks = [sizes]
        if each_block:
            blocks = [[size] for size in sizes]
        if _bet(draw, kept, step, blocks, bets, evidence, stops, to_end=not each_block):
            return evidence
    evidence.look_last(seed)
    return evidence


def _fresh(draw: Draw, pairs: Sequence[int], size: int) -> dict[int, tuple[Any, Any]]:
    """Return so many fresh outputs of both sides of each pair, x first."""
    if not pairs:
        return {}
    fresh = draw(list(itertools.product(pairs, (0, 1))), size)
    sides = zip(fresh[::2], fresh[1::2], strict=True)
    return dict(zip(pairs, sides, strict=True))


def _bet(
    draw: Draw,
    pairs: Sequence[int],
    step: Step,
    blocks: Sequence[Sequence[int]],
    bets: Bets,
    evidence: Evidence,
    stops: Callable[[Evidence], bool],
    *,
    to_end: bool,
) -> bool:
    """Draw and bet in a round, until it stops after some blocks of draws; tell whether it did."""
    batches: dict[int, tuple[list[Any], list[Any]]] = {pair: ([], []) for pair in pairs}
    over = False
    for sizes in blocks:
        outputs = _fresh(draw, pairs, sum(sizes))
        evidence.record(outputs, bets, sizes, step.ahead, to_end=to_end)
        for pair, (x, x_prime) in outputs.items():
            batches[pair][0].append(x)
            batches[pair][1].append(x_prime)
        over = stops(evidence)
        if over:
            break
    for pair, (parts_x, parts_prime) in batches.items():
        evidence.raw[pair][0].append(joined(parts_x))
        evidence.raw[pair][1].append(joined(parts_prime))
    drawn = len(evidence.raw[pairs[0]][0][-1])
    evidence.steps.append(replace(step, draws=drawn))
    return over


def _part(batches: Sequence[Any], start: int, end: int | None) -> Any:
    """Return the outputs of these numbers, from batches in a row."""
    if end is None:
        end = sum(map(len, batches))
    parts = []
    for batch in batches:
        parts.append(batch[max(start, 0) : max(end, 0)])
        start -= len(batch)
        end -= len(batch)
    return joined([part for part in parts if len(part)] or parts[:1])


def kept_pairs(pairs: list[int], bets: Bets, number: int, evidence: Evidence) -> list[int]:
    """Return so many pairs: half by wealth, others by one-sided draws or expected levels."""
    # Expected levels are cautious: a pair whose delta is too small comes after pairs that attain
    # the claim, while its wealth grows and theirs do not. What occurs on one side only may be
    # impossible on the other: up to a third are pairs with such draws, if there are more than by
    # chance. The last pair is that of the most such draws, if they are many, or that of the largest
    # expected level, if the wealth of none has grown.
    least = -math.log(len(pairs)) if number == 1 else -math.inf
    by_wealth = {pair: max(log, least) for pair, log in evidence.of_pairs.items()}
    by_expected: dict[int, float] = {}
    by_one_sided: dict[int, tuple[float, float]] = {}  # with the expected level, of equals
    for pair in pairs:
        by_expected[pair] = _expected_share(bets[pair])
        draws = _one_sided(*evidence.pasts[pair].sides)
        by_one_sided[pair] = (draws, by_expected[pair])
    if number == 1 and max(evidence.of_pairs.values()) <= 0:
        surest = max(pairs, key=by_one_sided.__getitem__)
        if by_one_sided[surest][0] >= _SURE:
            return [surest]
    ranked = sorted(pairs, key=by_expected.__getitem__, reverse=True)
    half = math.ceil(number / 2)
    last = max(half, number - number // 3)
    for start, ranking in ((0, by_wealth), (half, by_expected), (last, by_one_sided)):
        ranked[start:] = sorted(ranked[start:], key=ranking.__getitem__, reverse=True)
    return ranked[:number]


def _expected_share(bets: Mapping[Claim, list[Bet]]) -> float:
    """Return the largest expected level of any part of the claim, in units of its own level."""
    largest = -math.inf
    for claim, of_claim in bets.items():
        for bet in of_claim:
            largest = max(largest, bet.expected / max(claim.level, 1e-3))
    return largest


def _one_sided(x: NDArray[Any], x_prime: NDArray[Any]) -> float:
    """Return the most draws of a side in a value of which the other has none, or 0 if few."""
    most = 0.0
    size = len(x)
    pooled = np.concatenate([x, x_prime])
    for column in pooled.reshape(len(pooled), -1)[:, :_COLUMNS].T:
        values, codes = np.unique(column, return_inverse=True)
        ours = np.bincount(codes[:size], minlength=len(values))
        theirs = np.bincount(codes[size:], minlength=len(values))
        for counts, other in ((ours, theirs), (theirs, ours)):
            first, last = np.flatnonzero(other)[[0, -1]]
            at_ends = max(counts[:first].sum(), counts[last + 1 :].sum())  # as in any sample
            inside = counts[other == 0].max(initial=0)
            most = max(most, float(inside), _END * float(at_ends))
    return most if most >= _ODD else 0.0


def shuffled(outputs: Sequence[Any] | NDArray[Any], rng: np.random.Generator) -> Any:
    """Return recorded outputs in random order, in which they are exchangeable like fresh draws."""
    order = rng.permutation(len(outputs))
    if isinstance(outputs, np.ndarray):
        return outputs[order]
    values = list(outputs)
    return type(outputs)([values[i] for i in order.tolist()])  # type: ignore[call-arg]


def successive(recorded: Sequence[tuple[Any, Any]]) -> Draw:
    """Return a source that hands out recorded outputs, each once."""
    used = [[0, 0] for _ in recorded]

    def draw(sides: Sequence[tuple[int, int]], size: int) -> list[Any]:
        outputs = []
        for pair, side in sides:
            start = used[pair][side]
            used[pair][side] = start + size
            outputs.append(recorded[pair][side][start : start + size])
        return outputs

    return draw
