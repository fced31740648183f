"""The rounds of an audit: how draws are spread, which pairs stay, what is counted where."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer.events.events import Event
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import pure
from epsilometer_audit.statistics import rounds
from epsilometer_audit.statistics.portfolio import Portfolio
from epsilometer_audit.statistics.rounds import (
    Evidence,
    Step,
    kept_pairs,
    least_samples,
    run_rounds,
    schedule,
    shuffled,
    successive,
)
from epsilometer_audit.statistics.stakes import Plan
from epsilometer_audit.statistics.wealth import PairBets, Wealth
from epsilometer_audit.statistics.witnesses import Chosen


@pytest.mark.parametrize("samples", [10, 11, 45, 60, 100, 1279, 1281, 6400, 10**6])
def test_a_round_of_one_pair_has_as_many_draws_as_all_before_it(samples):
    """The first has a 64th, or 20 if that is less, or a half of fewer; the last the rest."""
    draws = [step.draws for step in schedule(samples, 1)]
    past = [*itertools.accumulate(draws)]
    assert draws[0] == max(samples // 64, min(20, samples // 2))
    assert draws[1:-1] == past[:-2]
    assert past[-2] / 2 <= draws[-1] < 2 * past[-2]


@pytest.mark.parametrize("joining", [False, True])
@pytest.mark.parametrize("pairs", [2, 16, 17, 100])
def test_the_kth_round_of_many_pairs_has_a_kth_of_the_draws_of_the_first(pairs, joining):
    """A tenth of all draws for each of these rounds, and a half at most.

    Half of the draws of a round at most are of pairs that join, before their first bets; each has
    no more than a pair of the first round.
    """
    steps = schedule(10**7, pairs, joining=joining)
    many = [step for step in steps if step.pairs > 1]
    kths = 1 / np.arange(1, len(many) + 1)
    budgets = 10**7 * min(0.1 * len(many), 0.5) * kths / kths.sum()
    assert [step.total for step in many] == pytest.approx(budgets, rel=1e-4)
    for step, budget in zip(many, budgets, strict=True):
        if step.new:
            assert joining
            assert step.before == min(many[0].draws, int(budget / 2 / step.new))
            assert step.pairs > min(4, pairs)


def test_the_pairs_halve_from_round_to_round():
    assert [step.pairs for step in schedule(10**6, 17)][:6] == [17, 9, 5, 3, 2, 1]


@pytest.mark.parametrize(("pairs", "new"), [(1, 0), (2, 6), (3, 9), (16, 28), (64, 36), (100, 44)])
def test_so_many_pairs_join_as_pages_say(pairs, new):
    """Those of a hundred join in six rounds."""
    joining = [step.new for step in schedule(10**6, pairs, joining=True) if step.new]
    assert sum(joining) == new
    assert pairs < 100 or len(joining) == 6


@pytest.mark.parametrize("pairs", [2, 3, 10, 11, 100])
def test_the_least_budget_has_twenty_draws_of_each_pair_in_each_round(pairs):
    """It is the first above these, of a tenth of the budget for each round, a half at most."""
    least = least_samples(pairs)
    many = [step.draws for step in schedule(least, pairs) if step.pairs > 1]
    assert min(many) >= 20
    assert (least - 1) * min(len(many), 5) == 20 * pairs * 10 * len(many)
    with pytest.raises(ArgumentError, match=f"must be at least {least} for {pairs} pairs") as error:
        schedule(least - 1, pairs)
    assert ("of a domain, limit says" in str(error.value)) == (pairs > 10)


def test_the_least_budget_of_a_pair_is_ten_draws():
    assert least_samples(1) == 10
    with pytest.raises(ArgumentError, match="must be at least 10, got 9"):
        schedule(9, 1)


@pytest.mark.parametrize("draws", [1, 15, 16, 17, 100, 1000])
def test_blocks_are_even_and_those_without_past_draws_grow_by_a_32nd(draws):
    step = Step(1, draws, draws)
    even = step.blocks(50)
    assert len(even) == min(16, draws)
    assert max(even) - min(even) <= 1
    sizes = step.blocks(0)
    grown = np.maximum(np.cumsum([0, *sizes[:-1]]) // 32, 1)
    assert (sizes[:-1] == grown[:-1]).all()
    assert sizes[-1] <= grown[-1]
    assert sum(sizes) == sum(even) == draws


@given(samples=st.integers(10_000, 10**7), pairs=st.integers(1, 30), joining=st.booleans())
@settings(max_examples=50)
def test_a_schedule_spends_the_budget(samples, pairs, joining):
    """No pair comes back, and half of the pairs of a round at most are new."""
    steps = schedule(samples, pairs, joining=joining)
    assert sum(step.total for step in steps) == samples
    assert (steps[0].pairs, steps[-1].pairs) == (pairs, 1)
    for before, step in itertools.pairwise(steps):
        assert step.draws > 0
        assert 2 * step.new <= step.pairs <= before.pairs + step.new
        assert joining or step.new == 0
    ends = itertools.accumulate(step.draws for step in reversed(steps))
    assert [step.ahead for step in reversed(steps)] == [*ends]


ONE = pure(1.0)


def evidence_of_past(wealth, times):
    """Return the evidence of pairs of this wealth, with so many draws on x only of each."""
    base = np.array([0, 1] * 20)
    sides = [(np.append(base, np.full(number, 0.5)), base) for number in times]
    return SimpleNamespace(
        of_pairs=dict(enumerate(wealth)),
        pasts={pair: SimpleNamespace(sides=of_pair) for pair, of_pair in enumerate(sides)},
    )


def expecting(levels, claim=ONE):
    """Return bets of pairs with these expected levels."""
    return {pair: {claim: [SimpleNamespace(expected=level)]} for pair, level in enumerate(levels)}


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("seed", range(5))
def test_half_are_kept_by_wealth_a_third_by_one_sided_draws_and_others_by_levels(seed, number):
    """Fewer than four draws on one side only are there by chance."""
    rng = np.random.default_rng(seed)
    wealth, levels, times = rng.permutation(12), rng.permutation(12), rng.integers(0, 12, 12)
    third = min(number // 3, number // 2)
    half = math.ceil(number / 2)
    left, kept = set(range(12)), []
    for count, key in (
        (half, lambda pair: wealth[pair]),
        (number - half - third, lambda pair: levels[pair]),
        (third, lambda pair: (times[pair] if times[pair] >= 4 else 0, levels[pair])),
    ):
        kept += sorted(left, key=key, reverse=True)[:count]
        left -= {*kept}
    evidence = evidence_of_past(wealth, times)
    assert sorted(kept_pairs([*range(12)], expecting(levels), number, evidence)) == sorted(kept)


@pytest.mark.parametrize(
    ("wealth", "levels", "times", "kept"),
    [
        ([-3, -5, -1.0], [3, 2, 1], [0, 0, 0], 2),
        ([-3, -5, -1.2], [1, 3, 2], [0, 0, 0], 1),  # none has more than its first part, 1/3
        ([-3, 0, -1.2], [1, 3, 2], [0, 0, 8], 2),  # none has grown beyond 1
        ([-3, 0, -1.2], [1, 3, 2], [0, 0, 7], 1),
        ([-3, 0.1, -1.2], [1, 3, 2], [0, 0, 20], 1),
        ([-3, 0, -1.2], [1, 3, 2], [9, 0, 9], 2),  # of equals the larger level
    ],
)
def test_the_last_pair_is_that_of_most_wealth_or_of_draws_that_are_not_by_chance(
    wealth, levels, times, kept
):
    evidence = evidence_of_past(wealth, times)
    assert kept_pairs([0, 1, 2], expecting(levels), 1, evidence) == [kept]


def test_expected_levels_are_in_units_of_their_claims():
    bets = {**expecting([0.2], pure(0.5))[0], **expecting([0.3], pure(1.0))[0]}
    assert rounds._expected_share(bets) == pytest.approx(0.4)
    assert rounds._expected_share(expecting([0.002], pure(0.0))[0]) == pytest.approx(2)
    assert rounds._expected_share({pure(1.0): []}) == -math.inf


def alone(ours, theirs):
    """Return the most draws in a value that the other side lacks, or .3 of those beyond it."""
    most = max(0.3 * np.sum(ours < theirs.min()), 0.3 * np.sum(ours > theirs.max()))
    for value in set(ours) - set(theirs):
        most = max(most, np.sum(ours == value))
    return most


@pytest.mark.parametrize("columns", [1, 3, 70])
def test_draws_on_one_side_only_are_counted_by_value_and_beyond_the_ends(columns):
    """In the first 64 columns; three or fewer are by chance."""
    found = []
    for seed in range(0, 30, 2):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 5 + seed, (2, 40, columns))
        beyond = np.arange(1, seed + 1)
        x[:seed, -1] = -beyond if seed % 4 else 99 + beyond
        most = 0
        for i in range(min(columns, 64)):
            most = max(most, alone(x[:, i], y[:, i]), alone(y[:, i], x[:, i]))
        found.append(rounds._one_sided(x.squeeze(), y.squeeze()))
        assert found[-1] == pytest.approx(most if most >= 4 else 0)
    assert columns > 1 or min(found) == 0


@pytest.mark.parametrize("joining", [False, True])
def test_each_draw_is_one_of_its_pair_and_side_and_of_one_round(joining):
    """Bets count the draws of their round, which come after those that are past.

    A pair that joins is drawn before, without bets. The wealth is looked at after each block.
    """
    rng, claim, made = np.random.default_rng(2), pure(0.5), 0
    steps = schedule(1500, 3, joining=joining)

    def draw(sides, size):
        nonlocal made
        made += size * len(sides)
        return [10 * pair + side + rng.random(size) / 2 for pair, side in sides]

    def join(near, number):
        assert len(near) == 3
        return range(len(evidence.raw), len(evidence.raw) + number)

    evidence = Evidence(claim, 3, 0.05, as_reals=True)
    assert run_rounds(draw, steps, evidence, join=join) is evidence
    assert evidence.steps == steps
    assert len(evidence.raw) == 3 + sum(step.new for step in steps)
    total = 0
    for pair, (x, y) in enumerate(evidence.raw):
        for side, batches in enumerate((x, y)):
            assert (np.floor(np.concatenate(batches)) == 10 * pair + side).all()
            assert sum(map(len, batches)) == evidence.past(pair)
        total += evidence.past(pair)
    assert made == 2 * total == 2 * evidence.drawn
    ends = itertools.accumulate(step.total for step in steps)
    assert {*ends} <= {*evidence.looks}
    assert evidence.looks == sorted(evidence.looks)
    wealth = evidence.wealths[claim]
    assert len(evidence.looks) == len(wealth.history)
    past = 0
    for step, bets in zip(steps, wealth.steps, strict=True):
        assert len(bets) == step.pairs
        for placed in bets[evidence.best].bets if evidence.best < 3 else ():
            assert (placed.past, placed.ahead) == (past, step.ahead)
            assert placed.counts.sum() == placed.counts_prime.sum() == step.draws
        past += step.draws


@pytest.mark.parametrize(("pairs", "each_block"), [(1, False), (1, True), (2, False)])
def test_in_the_first_round_only_portfolios_bet_with_nearly_all_of_the_wealth(pairs, each_block):
    """By a plan of one pair to the end; two equal ones win as much. No output comes twice."""
    rng, claim = np.random.default_rng(4), pure(0.5)
    x, y = rng.laplace(0, 1, 60), rng.laplace(3, 1, 60)
    step = Step(pairs, 60, 60)
    evidence = Evidence(claim, pairs, 0.05, as_reals=True)
    run_rounds(successive([(x, y)] * pairs), [step], evidence, each_block=each_block)
    plan = None
    if pairs == 1 and not each_block:
        plan = Plan(60, np.array(np.log(40)))  # to have 1/alpha when half goes to events
    growth = Portfolio(claim, as_reals=True).record(x, y, step.blocks(0), plan)
    won = np.cumsum(growth.at(claim, np.array([claim.level])))
    assert np.exp(evidence.wealths[claim].history) == pytest.approx(0.95 * np.exp(won) + 0.05)
    assert won[-1] > 3


@pytest.mark.parametrize(("pairs", "each_block"), [(1, False), (1, True), (2, False)])
def test_the_last_pair_has_a_plan_to_the_end(monkeypatch, pairs, each_block):
    """It counts the draws that are left. Who may stop at any time, or compares pairs, has none."""
    rng, seen, bet = np.random.default_rng(0), [], Portfolio.bet

    def noted(self, x, x_prime, sizes, plan=None):
        seen.append((self._draws, plan))
        return bet(self, x, x_prime, sizes, plan)

    monkeypatch.setattr(Portfolio, "bet", noted)
    steps = [Step(pairs, 50, 100), Step(pairs, 50, 50)]
    run_rounds(
        lambda sides, n: [rng.normal(0, 1, n) for _ in sides],
        steps,
        Evidence(pure(1.0), pairs, 0.05),
        each_block=each_block,
    )
    if pairs == 1 and not each_block:
        assert [draws + plan.left for draws, plan in seen] == [100] * len(seen)
    else:
        assert {plan for _, plan in seen} == {None}


@pytest.mark.parametrize("each_block", [False, True])
def test_rounds_stop_after_the_block_or_the_round_that_suffices(each_block):
    rng = np.random.default_rng(0)
    evidence = run_rounds(
        lambda sides, size: [rng.random(size) for _ in sides],
        schedule(400, 1),
        Evidence(pure(0.5), 1, 0.05, as_reals=True),
        lambda so_far: so_far.drawn >= 23,
        each_block=each_block,
    )
    drawn = 25 if each_block else 40  # blocks of 20 draws are of one or two
    assert evidence.drawn == evidence.past(0) <= drawn
    assert [step.draws for step in evidence.steps] == [20, evidence.drawn - 20]
    assert each_block or evidence.drawn == 40


def last_look_of(history, seed):
    """Return the number U of the last look at this course of the wealth."""
    evidence = Evidence(pure(1.0), 1, 0.05)
    (wealth,) = evidence.wealths.values()
    wealth.history = history
    evidence.look_last(seed)
    assert wealth.uniform == evidence.last_look
    return evidence.last_look


def test_a_last_look_has_a_number_of_its_own_that_the_draws_do_not_choose():
    """Uniform over audits of one seed, and the same whatever the last digits of the wealth."""
    uniforms = [last_look_of([0.0, number / 7], 0) for number in range(300)]
    assert kstest(uniforms, "uniform").pvalue > 1e-3  # as often by chance
    assert last_look_of([-1e-12, 1 / 7 + 1e-12], 0) == uniforms[1]
    assert last_look_of([0.0, 1 / 7], 1) != uniforms[1]


@pytest.mark.parametrize("stopped", [False, True])
def test_a_last_look_is_taken_after_all_planned_draws_only(stopped):
    rng = np.random.default_rng(0)
    evidence = run_rounds(
        lambda sides, size: [rng.random(size) for _ in sides],
        [Step(1, 20, 40), Step(1, 20, 20)],
        Evidence(pure(0.5), 1, 0.05, as_reals=True),
        lambda so_far: stopped and so_far.drawn >= 20,
        seed=3,
    )
    expected = None if stopped else last_look_of(evidence.wealths[pure(0.5)].history, 3)
    assert evidence.last_look == expected


@pytest.mark.parametrize("of_bets", [0.8, 1.1])
@pytest.mark.parametrize(
    ("claim", "low", "pairs", "sharpened"),
    [
        (pure(1.0), 1.0, 1, True),
        (pure(1.0), np.nextafter(1.0, 0), 1, False),  # not all levels up to the claim are refuted
        (pure(1.0), 1.2, 2, False),  # bets of two pairs are left
        (ea.renyi({2: 1.0}), 1.2, 1, False),  # no event has a level
    ],
)
def test_a_bound_of_the_last_pair_is_sharpened_where_its_claim_is_refuted(
    monkeypatch, claim, low, pairs, sharpened, of_bets
):
    """By events from the claim on, or from the bound of bets, with which they share alpha."""
    evidence, asked, shares = Evidence(claim, 1, 0.2), [], []
    wealth = evidence.wealths[claim]
    wealth.share = 0.5
    wealth.steps.append(dict.fromkeys(range(pairs), PairBets()))

    def lower_bound(_, claim, share=1.0):
        shares.append(0.2 * 0.5 * share)
        return of_bets

    def largest_bound(counted, part, alpha, least):
        asked.append(least)
        shares.append(alpha)
        return 7.0, None

    monkeypatch.setattr(Wealth, "lower_bound", lower_bound)
    monkeypatch.setattr(rounds, "largest_bound", largest_bound)
    bounds, bets = evidence.sharpened({claim: low})
    assert (bounds[claim], bets) == (7.0 if sharpened else low, {})
    assert asked == [max(of_bets, 1.0)] * sharpened
    assert shares == pytest.approx([0.09, 0.01] if sharpened else [])


@pytest.mark.parametrize(
    ("highest", "refuted", "late"), [(2.9, True, True), (2.9, False, False), (3, True, False)]
)
def test_a_last_look_refutes_what_the_looks_before_did_not(highest, refuted, late):
    evidence = Evidence(ONE, 1, 0.05)
    evidence.wealths = {ONE: SimpleNamespace(highest=highest, needed=3, refuted=refuted)}
    assert evidence.refuted_by_last_look() is late


def placed_on(event, layout, past, counts):
    """Return a bet on an event after so many draws, with as many draws as the counts sum to."""
    bet = SimpleNamespace(event=lambda: event, swapped=False)
    return SimpleNamespace(bet=bet, layout=layout, past=past, counts=np.array(counts))


LOW = Event(((None, 4),))


def evidence_in_batches(draws):
    """Return draws of both sides, their layout, and evidence that has them in three batches."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 9, draws), rng.integers(3, 12, draws)
    evidence = Evidence(ONE, 1, 0.05)
    evidence.raw[0] = tuple([side[:7], side[7:60], side[60:]] for side in (x, y))
    return x, y, learn_layout(x, y), evidence


def test_an_event_is_counted_in_the_draws_that_its_bet_was_on(monkeypatch):
    x, y, layout, evidence = evidence_in_batches(100)
    placed = placed_on(LOW, layout, 20, [[23, 7], [20, 5]])
    shown = evidence.shown(placed, ONE)
    assert shown.hits == (sum(x[20:75] <= 4), sum(y[20:75] <= 4))
    assert (shown.draws, shown.predicted) == ((55, 55), False)
    monkeypatch.setattr(rounds, "count_event", lambda _, before, *__, **___: before)
    before = evidence.shown(placed, ONE)
    assert np.array_equal(before, [x[:20], y[:20]])  # which choose its conditions
    for bet in (None, placed_on(None, layout, 20, [[3]]), placed_on(LOW, None, 20, [[3]])):
        assert evidence.shown(bet, ONE) is None


@pytest.mark.parametrize(("draws", "half"), [(10, 5), (11, 5), (99, 49)])
def test_a_portfolio_predicts_from_half_of_the_draws_what_is_counted_in_others(
    draws, half, monkeypatch
):
    x, y, layout, evidence = evidence_in_batches(draws)
    asked = []

    def predicted(_, *past):
        asked.extend(past)
        return Chosen(LOW, False, layout)

    monkeypatch.setattr(Portfolio, "event", predicted)
    shown = evidence._predicted(ONE, 0.7)
    assert np.array_equal(asked[:2], [x[:half], y[:half]])
    assert asked[2] == 0.7
    assert shown.hits == (sum(x[half:] <= 4), sum(y[half:] <= 4))
    assert (shown.draws, shown.predicted) == ((draws - half,) * 2, True)


@pytest.mark.parametrize(("draws", "predicts"), [(9, True), (10, False)])
def test_a_portfolio_predicts_no_event_of_few_draws_or_where_it_has_none(
    draws, predicts, monkeypatch
):
    _, _, layout, evidence = evidence_in_batches(draws)
    chosen = Chosen(LOW, False, layout) if predicts else None
    monkeypatch.setattr(Portfolio, "event", lambda *_: chosen)
    assert evidence._predicted(ONE, 0.7) is None


@pytest.mark.parametrize(
    ("level", "lower", "portfolio_won", "asked", "shown", "candidates"),
    [
        (1.0, 0.5, True, 0.5, 0.5, ["sharp", "won"]),
        (1.0, 1.0, True, 1.0, 1.0, ["predicted", "won", "sharp"]),
        (1.0, 1.5, False, 1.5, 1.0, ["won", "sharp", "predicted"]),
        (1.0, 0.0, False, 0.0025, 0.0025, ["sharp", "won"]),  # the first level above 0
        (0.0, 0.3, False, 0.3, 0.0, ["won", "sharp", "predicted"]),
    ],
)
def test_a_verdict_shows_the_event_of_the_bet_that_won(
    monkeypatch, level, lower, portfolio_won, asked, shown, candidates
):
    """One that refutes less than the claim shows that of the last test first."""
    evidence, claim = Evidence(pure(level), 1, 0.05), pure(level)
    seen = []

    def witness(_, pair, of_level):
        seen.append((pair, of_level))
        return "won", portfolio_won

    def counted(_, bet, of_claim):
        seen.append(of_claim.level)
        return bet

    monkeypatch.setattr(Wealth, "witness", witness)
    monkeypatch.setattr(Evidence, "shown", counted)
    monkeypatch.setattr(Evidence, "_predicted", lambda *_: "predicted")
    monkeypatch.setattr(rounds, "first_visible", list)
    assert evidence.witness(claim, lower, "sharp") == candidates
    assert seen == [(0, asked), shown, shown]


def test_the_wealth_of_a_pair_is_the_largest_over_the_parts_of_a_claim():
    """The parts share alpha, and the claim is refuted where one of them is."""
    claim = ea.profile({0.3: 0.01, 0.6: 0.001})
    evidence = Evidence(claim, 3, 0.05)
    assert [wealth.share for wealth in evidence.wealths.values()] == [0.5, 0.5]
    assert [evidence._wealth(part) for part in claim.parts] == [*evidence.wealths.values()]
    first, second = claim.parts
    evidence.wealths = {
        first: SimpleNamespace(of_pairs={0: 0.1, 1: 0.3, 2: -1.0}, refuted=False),
        second: SimpleNamespace(of_pairs={0: 0.2, 1: -0.3, 2: -2.0}, refuted=True),
    }
    assert evidence.of_pairs == {0: 0.2, 1: 0.3, 2: -1.0}
    assert evidence.best == 1
    assert evidence.refuted()


@pytest.mark.parametrize("outputs", [[0, 1, 2], (0, 1, 2), np.arange(3)])
def test_recorded_outputs_come_in_every_order(outputs):
    """All six in sixty shuffles, but for a chance of 1e-4."""
    orders = [shuffled(outputs, np.random.default_rng(seed)) for seed in range(60)]
    assert {type(order) for order in orders} == {type(outputs)}
    assert {tuple(order) for order in orders} == {*itertools.permutations(range(3))}


@pytest.mark.parametrize(
    ("level", "lower", "refuted", "violated"),
    [
        (1.0, 1.0, True, True),  # the claim is the last level that is refuted
        (1.0, 1.2, True, True),
        (1.0, np.nextafter(1.0, 0), True, False),
        (1.0, 1.2, False, False),  # the bound of a share of alpha, not of all
        (0.0, 0.0, True, False),  # no level is refuted
        (0.0, 1e-9, True, True),
    ],
)
def test_a_claim_is_violated_if_it_and_all_levels_below_are_refuted(
    monkeypatch, level, lower, refuted, violated
):
    claim = pure(level)
    evidence = Evidence(claim, 1, 0.05)
    monkeypatch.setattr(Evidence, "refuted", lambda _: refuted)
    assert evidence.violated({claim: lower}) is violated
