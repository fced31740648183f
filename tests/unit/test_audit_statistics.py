"""The statistics of an audit: e-variables, claims, schedules, bounds, forecasts, curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

import epsilometer_audit as ea
from epsilometer.claims import Claim, Delta
from epsilometer.errors import ArgumentError
from epsilometer.events.choosing import choose_events
from epsilometer.events.exact_test import count, largest_bound
from epsilometer.events.looks import PastDraws
from epsilometer_audit.answer import conclusion
from epsilometer_audit.drawing import free_memory
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import (
    Concentrated,
    Renyi,
    approximate,
    gdp,
    pure,
    renyi,
    zcdp,
)
from epsilometer_audit.statistics import rounds
from epsilometer_audit.statistics.bets import Bet, PlacedBet, stake
from epsilometer_audit.statistics.power import detectable, samples_needed
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
from epsilometer_audit.statistics.wealth import PairBets, Wealth
from tests.benchmarks.power import sampler
from tests.sharing import FIVE, with_seconds
from tests.unit.audits import audited, seldom, single_claims

Floats = np.ndarray[Any, np.dtype[np.float64]]
laws = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda w: np.array(w) / sum(w))


def level_of(claim: Claim, p: Floats, q: Floats, order: float) -> float:
    """The exact level of two laws of few outcomes, from x to x': of an order, or of all events."""
    if claim.orders:
        divergence = math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
        return divergence / claim.divergence(1.0, order)
    events = np.array([*itertools.product([0.0, 1.0], repeat=p.size)])[1:-1]
    return float(claim.of(events @ p, events @ q).max())


CLAIMS = single_claims()
by_claim = pytest.mark.parametrize("claim", CLAIMS, ids=Claim.text)


@settings(max_examples=60, deadline=None)
@given(p=laws, q=laws, mean=st.floats(0.02, 0.98), ahead=st.integers(1, 10**6), data=st.data())
@by_claim
def test_no_bet_wins_on_average_where_the_claim_holds(claim, p, q, mean, ahead, data):
    """E[e] <= 1, by exact sums over the outcomes, for anything that was learned from the past."""
    if claim.events:
        event = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)), float)
        phi = psi = event
        order = math.nan
    else:
        g = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=4, max_size=4)))
        order = data.draw(st.sampled_from(claim.orders))
        phi, psi = np.exp((order - 1) * g), np.exp(order * g)
        mean *= float(psi.max())
    kappa, b = claim.null(np.array([max(level_of(claim, p, q, order), 0.0)]), mean, order)
    u = kappa * mean + b
    most = u - phi.min(), kappa * (psi.max() - mean)
    at = stake(np.array(1e9), u, most, 0.1 + 0.1 * kappa**2, ahead, 0.05)
    won, lost = 1 + at * (phi - u), 1 - at * kappa * (psi - mean)
    assert won.min() > 0
    assert lost.min() > 0
    assert (p @ won) * (q @ lost) <= 1 + 1e-9


@by_claim
def test_growth_is_the_sum_over_single_draws(claim):
    rng = np.random.default_rng(3)
    order = next(iter(claim.orders), math.nan)
    phi = psi = np.array([0.0, 1.0])
    if claim.orders:
        phi, psi = np.array([0.5, 2.0]), np.array([0.25, 4.0])
    bet = Bet(lambda s: s, phi, psi, False, float(phi.mean()) + 0.3, 0.4, 0.2, 0.2, order)
    x, y = rng.integers(2, size=50), rng.integers(2, size=50)
    sizes = Step(1, 50, 1000).blocks(50)
    levels = np.array([0.01, 0.2])
    rates = bet.on((x, y), sizes, 1000).growth(claim, levels, 0.05)
    kappa, b = claim.null(levels, 0.4, order)
    u = kappa * 0.4 + b
    most = u - phi.min(), kappa * (psi.max() - 0.4)
    at = stake(np.array(bet.mean_phi), u, most, 0.2 + kappa**2 * 0.2, 1000, 0.05)
    single = np.log1p(at * (phi[x][:, None] - u)) + np.log1p(-at * kappa * (psi[y][:, None] - 0.4))
    assert np.allclose(rates, np.add.reduceat(single, np.cumsum([0, *sizes[:-1]]), axis=0))


def test_a_dropped_pair_leaves_all_to_the_remaining_pairs():
    still = Bet(lambda s: s, np.array([0.0, 1.0]), np.array([0.0, 1.0]), False, 0, 0.5, 0.1, 0.1)
    counts = np.array([[5, 5]])
    placed = [PlacedBet(still, counts, counts, 10)] * 2
    wealth = Wealth(pure(1.0), pairs=3, alpha=0.05)
    for remaining in ([0, 1, 2], [0, 2], [2], [2, 3], [3, 4]):  # 3 and 4 join
        wealth.record(dict.fromkeys(remaining, PairBets(placed)))
    assert np.allclose(wealth.history, 0.0)
    assert np.allclose(wealth.log_wealth(wealth.claim, np.array([0.5, 1.0])), 0.0)


@dataclass(frozen=True)
class Multiplied:
    """Bets that multiply the wealth of each purse by these factors, ``(blocks, purses)``."""

    factors: Floats
    bets: tuple[int, ...] = ()

    def logs(self, claim, levels, alpha, by_block):
        return np.log(np.repeat(self.factors[:, :, None], levels.size, axis=2))


def test_the_wealth_of_pairs_and_purses_is_that_of_an_account():
    """In plain numbers: who is dropped leaves all to the others; who joins gets a tenth."""
    rng, claim = np.random.default_rng(0), pure(1.0)
    first = np.append(0.95, 0.05 * np.array(claim.bet_shares))
    later = np.append(0.5, 0.5 * np.array(claim.bet_shares))
    wealth, shares = Wealth(claim, pairs=3, alpha=0.05), first
    account = dict.fromkeys(range(3), first / 3)
    expected = []
    for number, pairs in enumerate([[0, 1, 2], [0, 2], [0, 2], [2], [2, 3, 4], [4]]):
        given = {pair: purses for pair, purses in account.items() if pair not in pairs}
        if not given and any(pair not in account for pair in pairs):
            given = {pair: 0.1 * purses for pair, purses in account.items()}
            account = {pair: 0.9 * purses for pair, purses in account.items()}
        inherited = sum(purses.sum() for purses in given.values()) / len(pairs)
        account = {pair: account.get(pair, 0 * first) + inherited * shares for pair in pairs}
        if number == 2:  # events are chosen
            shares = later
            account = {pair: purses.sum() * later for pair, purses in account.items()}
        blocks = rng.uniform(0.5, 2, (len(pairs), 3, first.size))
        step = dict(
            zip(pairs, (Multiplied(of, (1,) * (number >= 2)) for of in blocks), strict=True)
        )
        wealth.record(step)
        for block in range(3):
            for pair, factors in zip(pairs, blocks, strict=True):
                account[pair] = account[pair] * factors[block]
            expected.append(sum(purses.sum() for purses in account.values()))
    assert np.exp(wealth.history) == pytest.approx(expected)
    assert {pair: math.exp(log) for pair, log in wealth.of_pairs.items()} == pytest.approx(
        {pair: purses.sum() for pair, purses in account.items()}
    )


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_a_level_is_refuted_where_its_wealth_reaches_one_over_alpha(share):
    wealth = Wealth(pure(1.0), pairs=1, alpha=0.05, share=share)
    enough = math.log(1 / (0.05 * share))
    for log, refuted in ((enough, True), (enough - 1e-9, False), (enough + 1, True)):
        wealth.history = [0.3, log, -4.0]  # whether it ever was so large
        assert wealth.refuted == refuted
        assert wealth.p_value() == pytest.approx(math.exp(-log) / share)
    wealth.history = [-2.0]
    assert (wealth.p_value(), wealth.refuted) == (1.0, False)


# --- the last look --------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "share"), [(0.05, 1.0), (0.5, 0.25)])
@pytest.mark.parametrize("won", [-1.0, 0.0, 0.2, 0.51, 0.8, 1.0, 1.2])
def test_the_last_look_refutes_with_probability_alpha_times_the_wealth(alpha, share, won):
    """So it refutes a claim that holds with probability alpha at most: its mean wealth is 1."""
    needed = -math.log(alpha * share)
    wealth = Wealth(pure(1.0), pairs=1, alpha=alpha, share=share)
    wealth.history = [0.1 * needed, won * needed]  # won as a share of what is needed
    refutes = []
    uniforms = np.arange(0.0005, 1, 0.001)
    for uniform in uniforms:
        wealth.uniform = uniform
        refutes.append(wealth.refuted)
        assert wealth.refuted == (wealth.p_value() <= alpha * (1 + 1e-12))
    expected = min(math.exp(won * needed - needed), 1.0)
    if won < 0.5:  # no U decides for an audit that has won little
        expected = 0.0
    assert np.mean(refutes) == pytest.approx(expected, abs=0.001)
    assert refutes == sorted(refutes, reverse=True)


@pytest.mark.parametrize("uniform", [0.9, 0.3, 1e-6])
def test_all_levels_get_the_same_last_look(uniform):
    """A bound is that of a larger alpha for the last wealth, as large as U makes it."""
    wealth = with_hits(30, 35)
    levels = np.union1d(wealth.claim.grid, [wealth.claim.level])
    logs = wealth.log_wealth(wealth.claim, levels)
    needed = -math.log(0.05)
    refuted = (logs >= needed).any(axis=0)
    refuted |= logs[-1] >= needed - min(-math.log(uniform), needed / 2)
    wealth.uniform = uniform
    assert wealth.lower_bound(wealth.claim) == levels[max(refuted.argmin() - 1, 0)]


def test_a_last_look_has_a_number_of_its_own_that_the_draws_do_not_choose():
    """Uniform over audits of one seed, and the same whatever the last digits of the wealth."""
    steps = schedule(100, 1)
    uniforms = []
    for number in range(300):
        evidence = Evidence(pure(1.0), 1, 0.05)
        evidence.steps = list(steps)
        (wealth,) = evidence.wealths.values()
        wealth.history = [0.0, number / 7]
        uniforms.append(evidence.look_last(0, steps))
        wealth.history = [-1e-12, number / 7 + 1e-12]
        assert evidence.look_last(0, steps) == uniforms[-1] == wealth.uniform
        assert evidence.look_last(1, steps) != uniforms[-1]
    assert kstest(uniforms, "uniform").pvalue > 1e-3  # as often by chance
    evidence.steps = steps[:-1]
    assert evidence.look_last(0, steps) is None  # it ended before


def test_a_verdict_says_whether_the_last_look_decided(monkeypatch):
    at_end = SimpleNamespace(random=lambda: 1 - 1e-6)  # U refutes where half is won
    monkeypatch.setattr(rounds, "generator", lambda *_: at_end)
    decided = set()
    for seed in range(12):
        verdict = audited(laplace(1.3), pure(1.0), 400, seed)
        logs = [look["log10 e-value"] for look in verdict.evidence]
        before = max(logs) >= math.log10(20)
        last = logs[-1] >= math.log10(20) / 2
        assert (verdict.verdict == "violated") == (before or last)
        notes = [check["words"] for check in verdict.checks if check["name"] == "last look"]
        assert len(notes) == (last and not before)
        assert verdict.last_look == pytest.approx(1e-6)
        decided.add((before, last))
    assert len(decided) >= 3  # else no boundary was asked
    stopped = audited(laplace(5.0), pure(1.0), 4000, stop=True)
    assert (stopped.verdict, stopped.last_look) == ("violated", None)


EVENT_BET = Bet(lambda s: s, np.array([0.0, 1.0]), np.array([0.0, 1.0]), False, 0.7, 0.1, 0.2, 0.1)


def with_hits(*hits, draws=100):
    """Return the wealth of bets on an event with so many hits on x, by step, and a tenth on x'."""
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    for number in hits:
        few = draws // 10
        counts = np.array([[draws - number, number]]), np.array([[draws - few, few]])
        wealth.record({0: PairBets([PlacedBet(EVENT_BET, *counts, 4 * draws)])})
    return wealth


@pytest.mark.parametrize("hits", [(70, 70), (90, 5), (40,), (15, 15), (99, 99, 99), (10,)])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_a_bound_is_the_last_level_before_the_first_that_is_not_refuted(hits, share):
    """At whatever time: of all levels of the grid, one by one."""
    wealth, claim = with_hits(*hits), pure(0.2)
    grid = np.union1d(claim.grid, [claim.level])
    largest = wealth.log_wealth(claim, grid).max(axis=0)
    stands = largest < math.log(1 / (0.05 * share))
    first = int(stands.argmax()) if stands.any() else grid.size
    assert wealth.lower_bound(claim, share) == grid[max(first - 1, 0)]
    assert (wealth.lower_bound(claim) >= claim.level) == wealth.refuted


def test_a_bound_follows_each_round():
    wealth, all_hits = Wealth(pure(0.2), pairs=1, alpha=0.05), (40, 70, 70, 5)
    for number, step in enumerate(with_hits(*all_hits).steps, start=1):
        wealth.record(step)
        bound = wealth.lower_bound(wealth.claim)
        assert bound == with_hits(*all_hits[:number]).lower_bound(wealth.claim)


@pytest.mark.parametrize("claim", [pure(0.3), ea.profile({0.3: 0.01, 0.6: 0.001})])
def test_a_sharpened_bound_and_that_of_the_wealth_share_alpha(claim, monkeypatch):
    evidence, spent = evidence_of(laplace(2.0), claim, 4000, 0), []
    bounds, of_wealth = evidence.bounds(), Wealth.lower_bound

    def exact(counted, part, alpha, least):
        spent.append(alpha)
        return largest_bound(counted, part, alpha, least)

    def lower_bound(wealth, part, share=1.0):
        spent.append(share * wealth.share * wealth.alpha)
        return of_wealth(wealth, part, share)

    monkeypatch.setattr(rounds, "largest_bound", exact)
    monkeypatch.setattr(Wealth, "lower_bound", lower_bound)
    sharp, _ = evidence.sharpened(bounds)
    assert len(spent) == 2 * len(claim.parts)
    assert sum(spent) == pytest.approx(0.05)
    assert all(sharp[part] >= part.level for part in claim.parts)


def test_the_witness_is_the_bet_that_won_most():
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    bets = [replace(EVENT_BET, mean_phi=0.7 - i / 100) for i in range(3)]
    for i, hits in ((0, 30), (1, 80), (0, 40), (2, 75)):
        counts = np.array([[100 - hits, hits]]), np.array([[90, 10]])
        wealth.record({0: PairBets([PlacedBet(bets[i], *counts, 400)])})
    placed, portfolio_won = wealth.witness(0, 0.2)
    assert placed.bet is bets[1]
    assert not portfolio_won
    assert wealth.witness(0, 0.2)[0].counts.tolist() == [[20, 80]]
    both = Wealth(pure(0.2), pairs=1, alpha=0.05)
    for hits in (75, 70):
        counts = np.array([[100 - hits, hits]]), np.array([[90, 10]])
        both.record({0: PairBets([PlacedBet(bets[0], *counts, 400)])})
    assert sorted(both.witness(0, 1.0)[0].counts.tolist()) == [[25, 75], [30, 70]]


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_a_stake_reaches_one_over_alpha_within_the_draws_at_the_smallest_excess(alpha):
    """Its growth is l e - l^2 v / 2 a draw; it is largest at e = l v."""
    n, v = 5000, 0.3
    most = np.array(0.5), np.array(0.5)
    at = float(stake(1.0, np.array(0.9), most, v, n, alpha))
    assert n * (at * (at * v) - at**2 * v / 2) == pytest.approx(math.log(1 / alpha))
    for mean in (0.9, 0.8):  # the past shows no excess
        assert stake(mean, np.array(0.9), most, v, n, alpha) == 0
    few = stake(1.0, np.array(0.9), (np.array(2.0), np.array(0.5)), v, 1, alpha)
    assert 0 < 1 - few * 2.0 < 0.1  # no factor is 0
    assert few == stake(1.0, np.array(0.9), (np.array(0.5), np.array(2.0)), v, 1, alpha)


@pytest.mark.parametrize("v", [0.1, 0.9])
def test_no_draw_takes_more_than_most_of_the_wealth(v):
    """Where few draws are to come, the worst of them leaves a twentieth."""
    bet = replace(EVENT_BET, mean_phi=0.99, mean_psi=v)
    inside, outside = np.array([[0, 1]]), np.array([[1, 0]])
    nothing = np.array([[0, 0]])
    draws = [(inside, nothing), (outside, nothing), (nothing, inside), (nothing, outside)]
    levels = np.array([0.01, 0.05])
    logs = [PlacedBet(bet, *counts, 1).growth(pure(0.0), levels, 0.05) for counts in draws]
    assert np.exp(np.min(logs, axis=0))[0] == pytest.approx([0.05, 0.05])


@pytest.mark.parametrize("pairs", [2, 3, 4, 7, 30, 300])
def test_a_search_looks_at_no_more_pairs_than_it_has(pairs):
    """Those that are kept halve, until as many join: half of the pairs of a round at most."""
    steps = schedule(10**6, pairs, joining=True)
    before = steps[0]
    assert (before.pairs, before.new) == (pairs, 0)
    for step in steps[1:]:
        assert step.new <= step.pairs / 2
        kept = step.pairs - step.new
        assert kept <= before.pairs
        assert step.pairs <= max(2 * pairs if pairs < 40 else pairs, 1)
        before = step
    assert (before.pairs, before.new) == (1, 0)


@given(samples=st.integers(5000, 10**7), pairs=st.integers(1, 30), joining=st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_schedule_spends_the_budget(samples, pairs, joining):
    if samples < least_samples(pairs):
        with pytest.raises(ArgumentError, match="samples must be at least"):
            schedule(samples, pairs)
        return
    steps = schedule(samples, pairs, joining=joining)
    assert sum(step.pairs * step.draws + step.new * step.before for step in steps) == samples
    sizes = [step.pairs for step in steps][joining:]
    assert sizes == sorted(sizes, reverse=True)
    assert min(step.draws for step in steps) > 0
    assert all(step.new <= step.pairs / 2 and bool(step.new) == bool(step.before) for step in steps)
    assert steps[0].pairs == pairs
    assert steps[-1].pairs == 1
    assert steps[0].ahead == sum(step.draws for step in steps)
    for step, past in itertools.product(steps, (0, 100)):
        assert sum(blocks := step.blocks(past)) == step.draws
        assert min(blocks) > 0


@pytest.mark.parametrize(("times", "kept"), [(1, [0, 1, 2, 8, 9]), (4, [0, 1, 2, 7, 9])])
def test_pairs_are_kept_by_expected_levels_unless_a_side_alone_has_several_draws(times, kept):
    """A draw or two on one side only are there by chance; pair 7 has so many of them."""
    claim, x = ea.pure(1.0), np.array([0, 1] * 20)
    one = np.where(np.arange(40) < times, 5, x)
    evidence = SimpleNamespace(
        of_pairs={pair: -1.0 - pair for pair in range(10)},
        pasts={pair: SimpleNamespace(sides=(one if pair == 7 else x, x)) for pair in range(10)},
    )
    levels = {pair: {claim: [SimpleNamespace(expected=pair / 10)]} for pair in range(10)}
    assert sorted(kept_pairs(list(range(10)), levels, 5, evidence)) == kept


def laplace(distance: float) -> Callable[..., Any]:
    return lambda side, n, rng: rng.laplace(side * distance, 1, n)


def one_of_two(p: float, q: float) -> Callable[..., Any]:
    """Return a law of 1 with probability p, or q, and of 0 else."""
    return lambda side, n, rng: (rng.random(n) < (p, q)[side]).astype(np.int64)


def gaussian(side: int, n: int, rng: np.random.Generator) -> Any:
    return rng.normal(side, 1, n)


def four(side: int, n: int, rng: np.random.Generator) -> Any:
    """The most that errors of (.1, .8) or less allow: the concave hull of their power."""
    return rng.choice(4, n, p=np.array([[0, 3, 5, 1], [1, 5, 3, 0]][side]) / 9)


def error(alpha: float) -> float:
    """The error of type II of N(0, 1) against N(1, 1)."""
    return float(norm.cdf(norm.isf(alpha) - 1))


UNLIKELIER = 1 / (1 + math.e)
RESPONSE = one_of_two(UNLIKELIER, 1 - UNLIKELIER)  # epsilon is 1, and delta at 0 is .462
AT_THE_LEVEL: dict[str, tuple[Any, Callable[..., Any]]] = {
    "pure, Laplace": (pure(0.5), laplace(0.5)),
    "pure, coin": (
        pure(math.log(0.5 / (1 - math.exp(0.5) / 2))),
        one_of_two(0.5, math.exp(0.5) / 2),
    ),
    "delta, Laplace": (approximate(0.5, 1 - math.exp(-0.25)), laplace(1.0)),
    "GDP": (gdp(1.0), gaussian),
    "Rényi 2 and 4": (renyi({2: 1.0, 4: 2.0}), gaussian),
    "zCDP": (zcdp(0.5), gaussian),
    "profile": (ea.profile({0: math.tanh(0.5), 0.5: 0.2891, 1: 0}), RESPONSE),
    "tradeoff": (ea.tradeoff({0.1: error(0.1), 0.3: error(0.3)}), gaussian),
    "tradeoff, its lines": (ea.tradeoff({0.1: 0.8}), four),
    "identical": (pure(0.001), laplace(0.0)),
}


SLOW = {"tradeoff": 5, "profile": 4, "GDP": 3, "Rényi 2 and 4": 2, "delta, Laplace": 2}


@pytest.mark.parametrize("name", with_seconds(AT_THE_LEVEL, SLOW))
def test_a_claim_that_just_holds_is_refuted_in_alpha_of_audits(name):
    claim, law = AT_THE_LEVEL[name]
    assert seldom(lambda seed: evidence_of(law, claim, 600, seed, alpha=0.2).refuted(), 0.2)


def evidence_of(
    law: Callable[..., Any],
    claim: Any,
    samples: int,
    seed: int,
    *,
    alpha: float = 0.05,
    stops: Callable[[Evidence], bool] = lambda _: False,
) -> Evidence:
    rng = np.random.default_rng(seed)
    return run_rounds(
        lambda sides, size: [law(side, size, rng) for _, side in sides],
        schedule(samples, 1),
        Evidence(claim, 1, alpha, as_reals=True),
        stops,
    )


def refuted(law: Callable[..., Any], claim: Any, samples: int, seed: int) -> bool:
    return evidence_of(law, claim, samples, seed, stops=Evidence.refuted).refuted()


def anytime_bound(law: Callable[..., Any], claim: Any, draws: int, seed: int) -> float:
    return [*evidence_of(law, claim, draws, seed).bounds().values()][-1]


def exact_bound(law: Callable[..., Any], claim: Any, draws: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    x, x_prime = (law(side, draws // 5, rng) for side in (0, 1))
    past = PastDraws(x, x_prime, learn_layout(x, x_prime, as_reals=True))
    events = choose_events(past, claim.levels, 40_000)
    fresh = law(0, draws - draws // 5, rng), law(1, draws - draws // 5, rng)
    return largest_bound(count(events, *fresh), claim, 0.05)[0]


@pytest.mark.parametrize(
    ("bound_of", "claim", "law", "level", "least", "draws"),
    [
        (anytime_bound, pure(0.1), laplace(0.7), 0.7, 0.64, 20_000),
        (anytime_bound, gdp(0.1), gaussian, 1.0, 0.93, 20_000),
        (anytime_bound, Renyi(2, 0.1), gaussian, 1.0, 0.7, 20_000),
        (anytime_bound, Concentrated(0.1), gaussian, 0.5, 0.38, 10_000),
        (anytime_bound, approximate(0.5, 0.01), laplace(1.0), 1 - math.exp(-0.25), 0.18, 10_000),
        (anytime_bound, Renyi(5000.0, 0.1), gaussian, 2500.0, 0.1, 5000),
        (exact_bound, pure(0.1), laplace(0.7), 0.7, 0.66, 50_000),
        (exact_bound, approximate(0.1, 0.01), laplace(0.7), 0.69, 0.6, 50_000),
        (exact_bound, Delta(0.5, 0.01), laplace(1.0), 1 - math.exp(-0.25), 0.19, 50_000),
        (exact_bound, gdp(0.1), gaussian, 1.0, 0.95, 50_000),
    ],
)
def test_a_bound_is_near_the_level_and_below_it(bound_of, claim, law, level, least, draws):
    """Medians of three runs, of delta where it is claimed; at most one of them above the level."""
    bounds = [bound_of(law, claim, draws, seed) for seed in range(3)]
    assert least < np.median(bounds) < level
    assert sum(bound > level for bound in bounds) <= 1


def test_the_worst_pair_is_followed():
    distances, claim = np.full(8, 0.1), pure(0.3)
    distances[5] = 0.8
    rng = np.random.default_rng(5)
    evidence = run_rounds(
        lambda sides, n: [rng.laplace(side * distances[pair], 1, n) for pair, side in sides],
        schedule(20_000, 8),
        Evidence(claim, 8, 0.05, as_reals=True),
    )
    assert evidence.best == 5
    assert evidence.refuted()
    assert 0.6 < (bound := evidence.bounds()[claim]) < 0.8
    wealth, grid = evidence.wealths[claim], np.union1d(claim.grid, [claim.level])
    refuted = wealth.log_wealth(claim, grid).max(axis=0) >= wealth.needed  # all levels, naively
    assert bound == grid[np.argmin(refuted) - 1]


def test_each_draw_is_one_of_its_pair_and_side_and_of_one_round():
    """Bets count the draws of their round, which come after those that are past."""
    rng, claim, made = np.random.default_rng(2), pure(0.5), 0

    def draw(sides: Any, size: int) -> Any:
        nonlocal made
        made += size * len(sides)
        return [10 * pair + side + rng.random(size) / 2 for pair, side in sides]

    evidence = run_rounds(draw, schedule(2000, 3), Evidence(claim, 3, 0.05, as_reals=True))
    for pair, sides in enumerate(evidence.raw):
        for side, batches in enumerate(sides):
            assert (np.floor(np.concatenate(batches)) == 10 * pair + side).all()
        assert evidence.past(pair) == sum(map(len, sides[0])) == sum(map(len, sides[1]))
    assert made == 2 * sum(evidence.past(pair) for pair in range(3)) == 2 * evidence.drawn
    past = 0
    for step, bets in zip(evidence.steps, evidence.wealths[claim].steps, strict=True):
        for placed in bets[evidence.best].bets:
            assert placed.past == past
            assert placed.counts.sum() == placed.counts_prime.sum() == step.draws
        past += step.draws


# --- power ----------------------------------------------------------------------------------------


def test_a_rare_event_takes_the_draws_that_learning_it_takes():
    """An atom of probability .01 in Laplace noise at the claim, to be found in .9 of audits.

    Of ten 7 or more are with probability .987, and of one that is found in .4 with .05.
    """
    claim, level = pure(0.5), 1.5
    rare = sampler(claim, level, 0.01)
    samples = samples_needed(claim, detect=level, event=0.01)
    assert sum(refuted(rare, claim, samples, seed) for seed in range(10)) >= 7
    assert samples_needed(claim, detect=level) < samples_needed(claim, detect=level, pairs=4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"detect": 0.9}, "detect must be above the claim, 1, got 0.9"),
        ({"detect": 1.2, "power": 1.0}, "power must lie strictly between 0 and 1"),
        ({"detect": 1.2, "event": 0}, "event must lie strictly between 0 and 1"),
        ({"detect": 1.2, "pairs": 0}, "pairs must be at least 1"),
    ],
)
def test_bad_arguments_of_samples_needed_are_errors(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        samples_needed(pure(1.0), **arguments)


# --- recorded outputs -----------------------------------------------------------------------------


def test_each_recorded_output_is_handed_out_once():
    x = shuffled(list(range(100)), np.random.default_rng(0))
    draw = successive([(x, x)])
    (first,), (rest,) = draw([(0, 0)], 30), draw([(0, 0)], 70)
    assert sorted(first + rest) == list(range(100))
    assert draw([(0, 1)], 30) == [first]


# --- Rényi bets -----------------------------------------------------------------------------------

ORDERS = (1.01, 2.0, 20.0, 500.0)


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize(("p", "q", "enough"), [(0.0, 1.0, 4.9), (0.1, 0.9, 1.2)])
def test_bounds_of_no_order_fall_as_draws_grow(seed, p, q, enough):
    law, claim = one_of_two(p, q), renyi(dict.fromkeys(ORDERS, 3.0))
    bounds = [evidence_of(law, claim, n, seed).bounds() for n in (2000, 20_000, 200_000)]
    for order, low, middle, high in zip(ORDERS, *(of.values() for of in bounds), strict=True):
        assert enough < low <= middle <= high, order
        assert high <= np.log(9) if p else high > middle > low, order
        assert p or order != 20 or high > 10
    if not p:
        few, many = (anytime_bound(law, zcdp(0.5), n, seed) for n in (1000, 10_000))
        assert 2.5 < few < many


# --- forecasts ------------------------------------------------------------------------------------


def found_share(claim: Claim, level: float, samples: int, runs: int) -> float:
    """Return how often audits find noise of a level: Laplace for epsilon, else Gaussian.

    Twelve runs do where 11 of them or more find it: with probability .02 of what is found in .6.
    """
    hits, noise = 0, sampler(claim, level)
    for seed in range(runs):
        if seed == 12 and hits >= 11:
            return hits / 12
        hits += refuted(noise, claim, samples, seed)
    return hits / runs


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        (pure(1.0), 2.0),
        pytest.param(renyi({3: 2.0}), 8.0, marks=pytest.mark.examples),
        pytest.param(renyi({3: 2.0}), 5.0, marks=pytest.mark.examples),
        pytest.param(pure(0.01), 0.05, marks=pytest.mark.examples),
        pytest.param(gdp(1.0), 1.5, marks=pytest.mark.examples),
    ],
)
def test_levels_are_detected_as_often_as_forecast(claim, level):
    """.9 is forecast; of 24 audits that are found with .87, 15 or fewer are one in 300 times.

    A quarter of the draws finds it in 7 of 10 audits at most.
    """
    samples = ea.samples_needed(claim, detect=level)
    assert found_share(claim, level, samples, 24) >= 16 / 24
    assert found_share(claim, level, samples // 4, 10) <= 0.7


@pytest.mark.parametrize(
    "claim",
    [pure(0.01), pure(3.0), *CLAIMS]
    + [renyi({order: 3.0}) for order in (1.01, 2.0, 7.0, 20.0, 500.0)],
)
def test_every_claim_has_a_level_that_is_detectable(claim):
    few, many = (
        detectable(claim, schedule(n, 1), alpha=0.05, event=0.01) for n in (3000, 1_000_000)
    )
    assert many is not None
    assert claim.level < many < (np.inf if few is None else few)


def texts(x: float, size: int, rng: np.random.Generator) -> Any:
    return [f"{number:.1f}" for number in rng.laplace(x, 1, size)]


@pytest.mark.parametrize("mechanism", [laplace(1.0), texts, lambda x, rng: {"a": rng.normal(x)}])
def test_draws_beyond_the_memory_are_refused_before_they_are_made(monkeypatch, mechanism):
    monkeypatch.setattr("epsilometer_audit.drawing.free_memory", lambda: 1000)
    with pytest.raises(ArgumentError, match=r"must be fewer: 500 draws a side .* GB are free"):
        ea.audit(mechanism, [(0, 1)], ea.pure(1.0), samples=500)


@pytest.mark.parametrize(("kind", "names"), [("", "max current"), ("memory", "limit usage")])
def test_the_limit_of_a_container_or_a_job_is_less_free_memory(tmp_path, kind, names):
    def write(name: str, text: object) -> int:
        (file := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
        return free_memory(tmp_path) if name[:3] == "sys" else 0

    group, of = f"sys/fs/cgroup/{kind}", kind and "total_"
    limit, used = (f"memory.{name}{kind and '_in_bytes'}" for name in names.split())
    write("proc/meminfo", "MemAvailable:  8 kB")
    write("proc/self/cgroup", f"4:cpu:/\n3:{kind}:/job/step")
    for folder in ("job/step", "job", "."):
        write(f"{group}/{folder}/memory.stat", f"{of}active_file 0\n{of}inactive_file 1000")
        write(f"{group}/{folder}/{used}", 3000)
    assert write(f"{group}/job/step/{limit}", "max") == 8192
    assert write(f"{group}/job/{limit}", 6000) == 4000
    assert write(f"{group}/{limit}", 1000) == -1000


def test_without_a_level_that_is_detectable_the_verdict_is_undecided(monkeypatch):
    monkeypatch.setattr(conclusion, "detectable", lambda *_, **__: None)

    def verdict(scale: float) -> str:
        def mechanism(x: float, size: int, rng: np.random.Generator) -> Any:
            return rng.laplace(x, scale, size)

        options = {"samples": 2000, "as_reals": True}
        return ea.audit(mechanism, [(0, 1)], pure(1.0), **options).verdict

    assert (verdict(1.0), verdict(0.2)) == ("undecided", "violated")


# --- claims that are profiles or trade-off curves -------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "claim", "delta"),
    [
        (RESPONSE, ea.profile({0: 0.3, 1: 0.01, 2: 0}), 0.3),
        (RESPONSE, ea.profile({0: 0.47, 0.8: 0.02, 1: 0}), 0.02),
        (gaussian, ea.profile({0: 0.39, 2: 1e-3}), 1e-3),
    ],
)
def test_the_point_that_fails_is_named(mechanism, claim, delta):
    verdict = audited(mechanism, claim, 20_000, 0)
    assert verdict.verdict == "violated"
    assert f"epsilon at delta = {delta:g} is at least" in str(verdict).partition("\n")[0]
    assert verdict.worst.delta == delta
    assert [bound.claimed for bound in verdict.bounds] == [c.epsilon for c in claim.claims]


@pytest.mark.slow(seconds=2)
@pytest.mark.stored
def test_the_page_shows_the_verdicts_on_curves():
    page = " ".join(Path("docs/audit.md").read_text().split())
    for claim in ea.tradeoff({0.1: 0.8}), ea.profile({0: 0.383, 1: 0.13, 2: 0.011, 3: 0.00155}):
        assert ea.audit(gaussian, [(0, 1)], claim, as_reals=True).lines()[0] in page


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("point", [(0.1, 0.8), (0.8, 0.1)])
def test_the_points_of_a_trade_off_curve_are_tested(point, seed):
    verdict = audited(gaussian, ea.tradeoff([point]), 50_000, seed)  # at .1 it has .611
    alpha, beta = point
    claimed = f"VIOLATED: a trade-off curve, beta at alpha: {beta} at {alpha} is claimed"
    assert str(verdict).startswith(f"{claimed}, near alpha = {alpha} epsilon at delta = 0.111111")


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
