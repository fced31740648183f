"""Bets from the first draws on, through several views: all kinds of outputs and claims."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer.claims import Delta
from epsilometer.events.events import View
from epsilometer.events.looks import PastDraws
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.statistics import portfolio as portfolios
from epsilometer_audit.statistics.portfolio import Portfolio
from epsilometer_audit.statistics.predictors import (
    ATOMS,
    DENSE,
    DISCRETE,
    SCORES,
    Prediction,
)
from epsilometer_audit.statistics.stakes import Plan
from epsilometer_audit.statistics.witnesses import beyond
from limit.kl_inf.project import project
from tests.unit.audits import single_claims
from tests.unit.epsilometer_audit.statistics.examples import law


def words(side, n, rng):
    law = [(0.96, 0.02, 0.02), (0.02, 0.96, 0.02)][side]
    return rng.choice(["yes", "no", "never"], n, p=law).tolist()


def numbers(side, n, rng):
    return rng.laplace(3 * side, 1, n)


def vectors(side, n, rng):
    return rng.normal([0, 3 * side, 0], 1, (n, 3))


def dictionaries(side, n, rng):
    keys = rng.random(n) < (0.97, 0.03)[side]
    return [{"a": 1.5, "b": 2} if key else {"a": 1.5} for key in keys]


KINDS = [words, numbers, vectors, dictionaries]


@pytest.mark.parametrize(
    ("claim", "draw"),
    [(claim, numbers) for claim in [ea.pure(0.0), *single_claims()]]
    + [(ea.pure(0.5), draw) for draw in KINDS],
)
def test_wealth_grows_on_all_kinds_of_outputs(claim, draw):
    rng = np.random.default_rng(0)
    portfolio = Portfolio(claim)
    sizes = [1] * 30 + [10] * 12
    growth = portfolio.record(draw(0, 150, rng), draw(1, 150, rng), sizes)
    at_claim = growth.at(claim, np.array([claim.level]))
    assert at_claim.shape == (42, 1)
    assert at_claim.sum() > math.log(20)
    assert (at_claim[:2] == 0).all()  # nothing is known yet


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("draw", [words, vectors], ids=lambda draw: draw.__name__)
def test_wealth_does_not_depend_on_how_draws_come(draw):
    rng = np.random.default_rng(1)
    x, y = draw(0, 60, rng), draw(1, 60, rng)
    claim = ea.approximate(0.5, 1e-5)
    levels = np.array([0.3, 0.5, 0.6, 0.9])
    whole = Portfolio(claim).record(x, y, [1] * 60).at(claim, levels)
    portfolio, pieces = Portfolio(claim), []
    for i in range(60):
        piece = portfolio.record(x[i : i + 1], y[i : i + 1], [1])
        pieces.append(piece.at(claim, levels)[0])
    assert np.array(pieces) == pytest.approx(whole)
    blocks = Portfolio(claim).record(x, y, [2, 2, 4, 8, 16, 28]).at(claim, levels)
    assert blocks.sum(axis=0) == pytest.approx(whole.sum(axis=0), abs=1e-9)


def test_a_bet_on_a_level_counts_for_lower_levels_and_for_no_higher_one():
    rng, claim = np.random.default_rng(2), ea.approximate(1.0, 1e-3)
    growth = Portfolio(claim).record(rng.normal(0, 1, 60), rng.normal(9, 1, 60), [1] * 60)
    levels = np.array([0.0, 0.7, 1.0, 1e6])
    at = growth.at(claim, levels).sum(axis=0)
    assert growth.at(claim, levels, by_block=False)[0] == pytest.approx(at)
    assert at[0] == at[1] == at[2] > 0 == at[3]
    deltas = growth.at(Delta(1.0, 1e-3), np.array([0.0, 1e-3, 0.9, 1.0])).sum(axis=0)
    assert deltas[0] == deltas[1] > 0 == deltas[2] == deltas[3]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("claim", [ea.pure(0.5), ea.approximate(0.5, 1e-5), ea.renyi({2: 0.5})])
def test_the_wealth_that_views_share_is_what_they_have_won(draw, claim):
    """Choosing other views and levels keeps it; a level above all others starts with 1.

    A level between two others has won what the next higher one has. Those of Rényi claims stay.
    """
    rng = np.random.default_rng(4)
    x, y = draw(0, 100, rng), draw(1, 100, rng)
    portfolio = Portfolio(claim)
    changed = False
    levels = portfolio._levels[claim.quantity]
    won = np.zeros(levels.size)
    for i in range(100):
        growth = portfolio.record(x[i : i + 1], y[i : i + 1], [1])
        won = won + growth.at(claim, levels)[0]
        new = portfolio._levels[claim.quantity]
        if new is not levels:
            changed = True
            won = np.append(won, 0.0)[np.searchsorted(levels, new)]
            levels = new
        assert portfolio._wealth()[: new.size] == pytest.approx(won, abs=1e-9)
    assert won[np.searchsorted(levels, claim.level)] > 1
    assert changed != bool(claim.orders)


def most_exceeding(guess, claim, draws):
    """Of the sets of cells with the largest ratios on a side, the one that exceeds the claim most.

    And whether that is x'.
    """
    best, inside, swapped = -math.inf, None, False
    for turned in (False, True):
        p, q = (guess.q, guess.p) if turned else (guess.p, guess.q)
        for least in np.unique(p / q)[1:]:
            cells = p / q >= least
            sums = (np.array([side[cells].sum()]) for side in (p, q))
            (excess,) = beyond(claim, *sums, draws)
            if excess > best:
                best, inside, swapped = excess, cells, turned
    return inside, swapped


@pytest.mark.parametrize("claim", single_claims())
@pytest.mark.parametrize("outputs", ["reals", "whole", "in steps"])
def test_the_event_of_a_bet_has_the_cells_that_exceed_the_claim_most(claim, outputs):
    """To the last number below and above each edge, and where a number is missing."""
    step = 0.5 if outputs == "in steps" else 0.0
    viewed = portfolios._Viewed(View(), 1.0, DISCRETE, step)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        guess = Prediction(np.array([-2.0, 0.0, 0.5, 1.0, 4.0]), law(rng, 6), law(rng, 6))
        sides = [np.append(rng.normal(0, 3, n), [-2, 0, 0.5, 7]) for n in (40, 60)]
        sides[seed % 2][3] = np.nan
        numbers = np.concatenate([*sides, guess.edges, np.nextafter(guess.edges, 9)])
        if outputs == "whole":
            sides = [np.arange(-9, 9), np.arange(3)]
            numbers = sides[0]
        inside, swapped = most_exceeding(guess, claim, [float(len(side)) for side in sides])
        event, is_swapped = portfolios._event_of(guess, viewed, sides, claim)
        seen = numbers
        if step:
            numbers = numbers[np.abs(numbers / step % 1 - 0.5) > 1e-6]  # ties of rounding
            seen = np.rint(numbers / step)
        expected = inside[np.searchsorted(guess.edges, seen)]
        assert (event.holds(numbers) == expected).all()
        assert is_swapped == swapped
        if outputs == "whole":
            assert "." not in repr(event.ranges)


LARGEST = np.finfo(float).max


@pytest.mark.parametrize(
    ("edges", "inside", "ranges"),
    [
        ([-5e-324, 0.0], [0.25, 0.5, 0.25], "((0.0, 0.0),)"),  # it has no sign
        ([LARGEST], [0.2, 0.8], "((inf, None),)"),  # a warning would fail it
    ],
)
def test_an_event_may_start_after_any_float(edges, inside, ranges):
    p = np.array(inside)
    q = (1 - p) / (1 - p).sum()
    viewed = portfolios._Viewed(View(), 1.0, DISCRETE)
    guess = Prediction(np.array(edges), p, q)
    event, _ = portfolios._event_of(guess, viewed, [np.zeros(99)] * 2, ea.pure(0.1))
    assert repr(event.ranges) == ranges


@pytest.mark.parametrize(
    ("numbers", "shares"),
    [
        ([*range(8)] * 2, DISCRETE),
        ([*range(9)] * 2, ATOMS),
        ([0, 1, 2, 3, 4, 5, 5, 5, 5, 5], ATOMS),  # six of ten: more than half
        ([0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5], DISCRETE),
        ([0, 1], DENSE),
    ],
)
def test_the_predictors_of_numbers_follow_from_how_many_differ(numbers, shares):
    x, y = np.array(numbers, float).reshape(2, -1)
    past = PastDraws(x, y, learn_layout(x, y))
    assert portfolios._kinds(View(), past) == [shares]


BITS = np.arange(64) % 16
RARELY = np.where(np.arange(100) % 72 == 27, 8, np.arange(100) % 8)  # the bit 8 in a hundredth


@pytest.mark.parametrize(
    ("x", "y", "bits"),
    [
        (BITS, BITS % 8, 4),  # on one side only
        (BITS % 8, BITS, 4),
        (BITS, BITS - 1, 0),  # below 0
        (BITS - 1, BITS, 0),
        (BITS[:63], BITS, 0),  # few
        (BITS.astype(float), BITS, 0),
        (BITS % 4, BITS % 4, 0),  # two bits
        (BITS % 8, BITS % 8, 3),
        (BITS % 8 + 8, BITS % 8 + 8, 0),  # the highest does not vary
        (RARELY[:64], BITS % 8, 0),  # it is rarely set: in one of 128
        (RARELY, np.arange(100) % 8, 4),
        (np.arange(100) % 8, RARELY, 4),
    ],
)
def test_whole_numbers_have_bits_where_their_highest_varies(x, y, bits):
    learners = portfolios._learners(PastDraws(x, y, learn_layout(x, y)))
    assert len(learners["sum"](x, y).tables if learners else ()) == bits


# The mean of an e-variable is at most 1: a law that just meets the claim, summed exactly over all
# outcomes of the next draws, for portfolios that learned from draws of another law.
@pytest.mark.parametrize(
    ("claim", "one"),  # and the probability of 1 on x, and of 0 on x'
    [
        (ea.pure(1.0), 1 / (1 + math.exp(-1.0))),
        (ea.approximate(0.5, 0.1), 0.1 + 0.9 / (1 + math.exp(-0.5))),
        (ea.gdp(1.0), norm.cdf(0.5)),
        (ea.renyi({2: 0.7}), 0.55),  # its divergences are far below the claim
        (ea.zcdp(0.1), 0.55),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_the_mean_factor_is_at_most_one_where_the_claim_holds(claim, one, seed):
    p, q = (one, 1 - one), (1 - one, one)
    rng = np.random.default_rng(seed)
    past = rng.random(40) < 0.9, rng.random(40) < 0.1  # another law, which violates the claim
    (part,) = claim.parts
    mean = 0.0
    for i, j in itertools.product((0, 1), repeat=2):
        portfolio = Portfolio(part)
        portfolio.record(*(side.astype(float) for side in past), [40])
        growth = portfolio.record(np.array([float(i)]), np.array([float(j)]), [1])
        factor = math.exp(growth.at(part, np.array([part.level]))[0, 0])
        mean += p[1 - i] * q[1 - j] * factor
    assert mean <= 1 + 1e-9


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(("start", "finds"), [(0, True), (3000, False)])
def test_bits_of_whole_numbers_have_a_score(start, finds):
    """Four bits rise from x to x', four fall: each has a level of .2, all together of 1.6.

    The order of the numbers shows high bits only; so do numbers whose highest bit does not vary.
    """
    rng, claim = np.random.default_rng(5), ea.pure(0.4)
    falling = np.arange(8) < 4
    x = rng.random((4000, 8)) < np.where(falling, 0.55, 0.45)
    y = rng.random((4000, 8)) < np.where(falling, 0.45, 0.55)
    places = 1 << np.arange(8)
    growth = Portfolio(claim).record(start + x @ places, start + y @ places, [10] * 400)
    refuted = growth.at(claim, np.array([0.65])).sum() >= math.log(20)
    assert refuted == finds


@pytest.mark.parametrize("claim", [ea.pure(299.9), ea.pure(300.0), ea.gdp(30.0)])
def test_the_largest_claims_are_bet_against(claim):
    """And hold of Laplace noise."""
    x, y = np.random.default_rng(0).laplace([[0], [1]], 1, (2, 200))
    growth = Portfolio(claim, as_reals=True).record(x, y, [20] * 10)
    assert growth.at(claim, np.array([claim.level])).sum() < math.log(20)


# --- which views and levels are bet on ------------------------------------------------------------


def chosen(x, y, **options):
    """Return the views of past draws: kind, entry, share and predictors, by key."""
    layout = learn_layout(x, y, **options)
    past = PastDraws(layout.encode(x), layout.encode(y), layout)
    found = {}
    for choice in portfolios._choices(past, lambda key: key != "sum"):
        viewed = choice.viewed
        found[choice.key] = viewed.view.kind, viewed.view.entry, viewed.share, viewed.shares
        if viewed.step:  # a score is seen in 20 whole steps
            numbers = np.concatenate(choice.numbers())
            assert np.ptp(numbers) == pytest.approx(20 * viewed.step)
            assert (viewed.of(past.x) == np.rint(viewed.view.of(past.x) / viewed.step)).all()
    return found


def columns_of(x, y):
    """Return the entries of views of single columns of tables."""
    return [entry for kind, entry, *_ in chosen(x, y).values() if kind == "entry"]


def test_an_output_has_a_view_and_one_of_its_low_bit_if_it_is_no_real():
    x, y = np.random.default_rng(0).normal(0, 1, (2, 70))
    output, low_bit = ("output", 0, 1.0, DENSE), ("low bit", 0, 0.15, DISCRETE)
    assert [*chosen(x, y).values()] == [output, low_bit]
    assert [*chosen(x, y, as_reals=True).values()] == [output]
    assert [*chosen(["a", "b"] * 10, ["a", "c"] * 10).values()] == [("output", 0, 1.0, DISCRETE)]


def test_all_columns_share_the_wealth_with_their_low_bits_and_scores():
    """Columns have equal shares, words twice as much; low bits .15 of that, and scores a half."""
    rng = np.random.default_rng(0)
    found = chosen(rng.normal(0, 1, (70, 3)), rng.normal(1, 1, (70, 3)))
    views = [*found.values()]
    assert views[:3] == [("entry", i, 1 / 3, DENSE) for i in range(3)]
    assert views[3:6] == [("low bit", i, 0.15 / 3, DISCRETE) for i in range(3)]
    assert [*found][6:] == ["linear", "signs"]  # "learned" has no score
    assert [view[2:] for view in views[6:]] == [(0.5 / 3, SCORES)] * 2
    mixed = [[{"a": 1.5 * i, "b": "xyz"[i % n]} for i in range(40)] for n in (2, 3)]
    assert [*chosen(*mixed).values()] == [
        ("entry", 0, 0.5, ATOMS),
        ("entry", 1, 1.0, DISCRETE),
        ("low bit", 0, 0.15, DISCRETE),
    ]


def test_of_many_columns_sixteen_that_vary_are_bet_on():
    wide = np.random.default_rng(0).normal(0, 1, (2, 40, 50))
    assert len(columns_of(*wide)) == 16
    wide[:, :, 3:] = 1.0
    assert columns_of(*wide) == [0, 1, 2]
    assert columns_of(*np.ones((2, 20, 3))) == [0, 1, 2]


def learners(x, y):
    """Return the names of the scores that are learned."""
    return list(portfolios._learners(PastDraws(x, y, learn_layout(x, y))))


@pytest.mark.parametrize(
    ("draws", "names"),
    [
        (15, ["learned"]),
        (16, ["linear", "learned"]),  # eight draws teach it, as many try it
        (63, ["linear", "learned"]),
        (64, ["linear", "sum", "signs", "learned"]),
    ],
)
def test_scores_are_learned_of_enough_draws(draws, names):
    x, y = np.random.default_rng(0).normal(0, 1, (2, draws, 3))
    assert learners(x, y) == learners(x[:, :2], y[:, :2]) == names
    of_one = [name for name in names if name not in ("linear", "signs")]
    assert learners(x[:, :1], y[:, :1]) == of_one
    assert learners(x[:, 0], y[:, 0]) == []


def portfolio_with(wealths, claim=None):
    """Return a portfolio whose views have this wealth, ``(levels,)``, by key."""
    portfolio = Portfolio(claim or ea.pure(1.0))
    portfolio._views = {key: viewed_with(wealth) for key, wealth in wealths.items()}
    return portfolio


def viewed_with(wealth, share=1.0):
    viewed = portfolios._Viewed(View(), share, DISCRETE)
    won = np.full(np.shape(wealth), 2.0)
    viewed.mixture = SimpleNamespace(wealth=np.log(won))
    viewed.start = np.log(np.array(wealth) / won)
    return viewed


A, B, C = np.random.default_rng(0).uniform(0.1, 2, (3, 8))  # the wealth of views, by level


@pytest.mark.parametrize(
    ("kept", "new", "expected"),  # in plain numbers
    [
        ("bc", "de", {"b": 0.8 * B, "c": 0.8 * C, "d": (A + (B + C) / 5) / 4}),
        ("bc", "", {"b": B + A / 2, "c": C + A / 2}),
        ("", "de", {"d": (A + B + C) / 4, "e": (A + B + C) * 3 / 4}),
    ],
)
def test_new_views_have_the_wealth_of_those_that_are_gone_and_a_fifth_of_the_others(
    kept, new, expected
):
    """By their shares; without new ones, it goes to those that are left."""
    portfolio = portfolio_with({"a": A, "b": B, "c": C})
    before = portfolio._views
    views = {key: before[key] for key in kept}
    views |= {key: viewed_with(A, {"d": 0.5, "e": 1.5}[key]) for key in new}
    portfolio._views = views
    portfolio._spread(before)
    wealth = {key: np.exp(viewed.wealth) for key, viewed in views.items()}
    assert sum(wealth.values()) == pytest.approx(A + B + C)
    for key, of_key in expected.items():
        assert wealth[key] == pytest.approx(of_key)


@pytest.mark.parametrize(
    ("draws", "columns", "all_go"),
    [(59, 6, True), (60, 6, False), (90, 2, True), (90, 3, False)],
)
def test_of_many_views_the_richest_scores_and_suspects_go_on(monkeypatch, draws, columns, all_go):
    """The three that have won most against the claimed level, and two suspects, after 60 draws."""
    x = np.random.default_rng(0).normal(0, 1, (20, columns))
    layout = learn_layout(x, x)
    monkeypatch.setattr(portfolios, "suspects", lambda *of: [0, 1][: of[3]])
    keys = [portfolios._key(View("entry", i), layout) for i in range(columns)]
    portfolio = portfolio_with({key: np.full(8, 99.0 - i) for i, key in enumerate(keys)})
    for i, viewed in enumerate(portfolio._views.values()):
        viewed.start[portfolio._claimed] = i
    portfolio._draws = draws
    goes_on = portfolio._goes_on(portfolio._views, PastDraws(x, x, layout))
    bits = [portfolios._key(View("low bit", i), layout) for i in range(columns)]
    goes = [all_go or i < 2 or i >= columns - 3 for i in range(columns)]
    assert [goes_on(key) for key in keys] == goes
    assert [goes_on(key) for key in bits] == [all_go or i < 2 for i in range(columns)]
    assert all(goes_on(name) for name in ("linear", "sum", "signs", "steps", "learned"))


@pytest.mark.parametrize("level", [0.0, 0.5, 3.0])
def test_levels_above_the_claim_are_bet_on_from_a_twentieth_to_five_times_it(level):
    """Each is at most two and a half times as far as the one before; fewer of Rényi claims."""
    levels = Portfolio(ea.pure(level))._levels["epsilon"]
    off = (levels[1:] - level) / max(level, 0.1)
    assert levels[0] == level
    assert (off[0], off[-1]) == pytest.approx((0.05, 5))
    assert (off[1:] / off[:-1] <= 2.5 + 1e-9).all()


def test_levels_of_renyi_claims_are_fewer_and_at_most_the_highest():
    claim = ea.renyi({2: 270.0})
    levels = Portfolio(claim)._levels[claim.quantity]
    assert levels.size == 4
    assert levels.max() == claim.grid[-1]


@pytest.mark.parametrize(
    ("step", "ends", "near"), [(0.0, (0.85, 1.1), 1.03), (0.1, (0.6, 1.4), 1.017)]
)
def test_levels_around_an_aim_are_the_denser_the_nearer_to_it(step, ends, near):
    """And the claimed level is among them; those below it are of scores only."""
    portfolio = portfolio_with({"a": np.ones(8)})
    portfolio._views["a"].step = step
    claimed, *around = portfolio._levels_around(10.0) / 10
    assert claimed == 0.1
    assert (around[0], around[-1]) == pytest.approx(ends)
    times = [high / low for low, high in itertools.pairwise(around)]
    assert max(times) <= 1.17
    assert len(times) < 30  # each costs time
    middle = int(np.searchsorted(around, 0.99))
    assert np.diff(times[:middle]).max() < 1e-9
    assert np.diff(times[middle:]).min() > -1e-9
    assert max(times[middle - 1 : middle + 1]) <= near
    assert portfolio._levels_around(1e9).max() == portfolio._top
    assert (portfolio._levels_around(0.9) < 1.0).any() == bool(step)
    assert portfolio._levels_around(1.0).min() == 1.0  # a refuted claim refutes all below it


def test_a_level_above_all_others_starts_without_winnings():
    portfolio = Portfolio(ea.pure(0.1))
    before = portfolio._levels["epsilon"].max()
    portfolio.record(np.zeros(32), np.ones(32), [1] * 32)
    is_new = portfolio._levels["epsilon"] > before
    assert is_new.any()
    assert portfolio._wealth()[is_new] == pytest.approx(0)
    assert portfolio.won > 5


@pytest.mark.parametrize("highest", [0, 1, 4, 7])
@pytest.mark.parametrize("won", [5.0, 2.6])  # more than one nat, or less
def test_an_aim_is_that_of_the_view_that_won_most_against_the_highest_level_that_lost(highest, won):
    """Of the predictor that did; where no level has lost a nat, the claimed one counts."""
    richer = np.where(np.arange(8) < highest, 0.8, 0.2)
    wealth = np.where(np.arange(8) <= highest, won, 1.0)
    portfolio = portfolio_with({"a": richer * wealth, "b": (1 - richer) * wealth})
    asked = []
    for key, viewed in portfolio._views.items():
        viewed.mixture.ranked = lambda level, key=key: asked.append((key, level)) or [(None, None)]
    for portfolio._draws in (31, 32):
        portfolio._aim()
    poorer = won < math.e and highest > 0
    assert asked == [("a", 0) if poorer else ("b", highest)]


@pytest.mark.parametrize("claim", [ea.pure(0.3), ea.pure(0.0)])
@pytest.mark.parametrize("p", [0.3, 0.6, 0.95, 0.999])
def test_the_aim_is_the_level_that_twice_the_draws_should_refute(claim, p):
    """Its growth is 5 nats: by the projection of two cells, to the next of 64 levels."""
    shares = np.array([p, 1 - p]), np.array([0.2, 0.8])
    portfolio = Portfolio(claim)
    portfolio._draws = 100
    found = portfolio._reached(Prediction(np.zeros(1), *shares, 0.0))

    def growth(level):
        return 200 * project(*shares, claim.at(level)).growth

    unit = max(claim.level, 0.1)
    if found is None:
        assert growth(0.05 * unit) < 5.01
    else:
        assert growth(found) > 4.99
        assert found <= 20 * unit
        assert growth(1.1 * found) < 5 or found > 19.9 * unit


@pytest.mark.parametrize("shares", [DISCRETE, DENSE])
def test_a_new_rule_has_the_wealth_of_the_old_one_and_like_predictors_what_they_have_won(shares):
    """But for a fifth, which is spread anew."""
    x, y = np.random.default_rng(0).integers([[0], [1]], [[3], [4]], (2, 60)).astype(float)
    portfolio = Portfolio(ea.pure(0.5))
    old = portfolios._Viewed(View(), 1.0, DISCRETE)
    portfolio._start(old, (x[:20], y[:20]), None)
    old.record(x[20:], y[20:], [40])
    new = portfolios._Viewed(View("entry", 0), 1.0, shares)
    portfolio._start(new, (x, y), old)
    assert new.wealth == pytest.approx(old.wealth)
    kept = 0.8 * np.exp(old.mixture.logs - old.mixture.wealth) + 0.2
    assert np.exp(new.mixture.logs) == pytest.approx(kept if shares is DISCRETE else 1)


def test_a_view_with_a_part_of_the_wealth_stakes_for_the_rest_of_the_goal():
    x, y = np.random.default_rng(0).integers([[0], [1]], [[3], [4]], (2, 60)).astype(float)
    portfolio = Portfolio(ea.pure(0.5))
    part = np.log(np.linspace(0.1, 0.9, portfolio._initial.size))
    paths = []
    for start, goal in ((part, 3.0), (0 * part, 3.0 - part), (0 * part, 3.0)):
        viewed = portfolios._Viewed(View(), 1.0, DISCRETE)
        portfolio._start(viewed, (x[:20], y[:20]), None)
        viewed.start = start
        paths.append(viewed.record(x[20:], y[20:], [10] * 4, Plan(40, goal)) - start)
    assert paths[0] == pytest.approx(paths[1])
    assert np.abs(paths[0] - paths[2]).max() > 0.1


def test_a_plan_has_the_draws_that_are_left(monkeypatch):
    """Whether they are bet on together, until views are chosen, or part by part."""
    record, left = portfolios._Viewed.record, []

    def noted(viewed, x, y, sizes, plan):
        left.append(plan.left + portfolio._draws)
        return record(viewed, x, y, sizes, plan)

    monkeypatch.setattr(portfolios._Viewed, "record", noted)
    monkeypatch.setattr(portfolios, "_PART", 15)
    x, y = np.random.default_rng(0).integers(0, 2, (2, 90)).astype(float)
    portfolio = Portfolio(ea.pure(0.5), as_reals=True)
    portfolio.record(x[:20], y[:20], [1] * 20, Plan(200, np.array(3.0)))
    portfolio.record(x[20:], y[20:], [4] * 10 + [10] * 3, Plan(180, np.array(3.0)))
    assert len(left) > 12
    assert {*left} == {200}


def test_views_go_on_where_the_layout_stays():
    """Else their columns could be others; new views have what the old ones have won."""
    x, y = np.random.default_rng(0).integers([[0], [1]], [[3], [4]], (2, 40)).astype(float)
    portfolio = Portfolio(ea.pure(0.5))
    for sides in ((x[:20], y[:20]), (x, y)):
        portfolio.choose(PastDraws(*sides, learn_layout(x, y, as_reals=True)))
        if sides[0] is not x:
            (first,) = portfolio._views.values()
            portfolio.bet(x[20:], y[20:], [20])
    assert [*portfolio._views.values()] == [first]
    won = portfolio.won
    tables = np.column_stack([x, x]), np.column_stack([y, y])
    portfolio.choose(PastDraws(*tables, learn_layout(*tables, as_reals=True)))
    assert first not in portfolio._views.values()
    assert portfolio.won == pytest.approx(won)


def test_views_are_chosen_anew_as_draws_double(monkeypatch):
    """From 32 draws on, levels are near an aim."""
    sizes = []
    choose = Portfolio.choose

    def noted(portfolio, past):
        sizes.append(len(past.x))
        choose(portfolio, past)

    monkeypatch.setattr(Portfolio, "choose", noted)
    x, y = np.random.default_rng(0).normal(0, 1, (2, 150))
    portfolio = Portfolio(ea.pure(0.5))
    levels = portfolio._levels
    portfolio.record(x[:31], y[:31] + 3, [1] * 31)
    assert portfolio._levels is levels
    portfolio.record(x[31:], y[31:] + 3, [1] * 119)
    assert portfolio._levels is not levels
    assert sizes == [2, 4, 8, 16, 32, 64, 128]


def test_many_draws_are_bet_on_part_by_part_in_vain(monkeypatch):
    """They win as much."""
    rng, claim = np.random.default_rng(0), ea.pure(0.5)
    x, y = rng.normal(0, 1, 90), rng.normal(2, 1, 90)
    sizes = [1] * 30 + [20, 20, 20]
    levels = np.array([0.2, 0.5, 1.0])
    whole = Portfolio(claim).record(x, y, sizes).at(claim, levels)
    monkeypatch.setattr(portfolios, "_PART", 15)
    parts = Portfolio(claim).record(x, y, sizes).at(claim, levels)
    assert parts == pytest.approx(whole, abs=1e-9)
    assert whole.sum(axis=0)[1] > 3


@pytest.mark.parametrize(
    "claim", [ea.pure(1.0), ea.gdp(1.0), ea.approximate(0.3, 0.1), ea.zcdp(0.3)]
)
def test_of_the_bets_against_a_level_that_is_made_which_should_grow_most(claim):
    rng = np.random.default_rng(2)
    bets = portfolios.against(claim, np.array([0.5, 1.0, 2.0]) * claim.level)
    for _ in range(5):
        guess = Prediction(np.arange(4.0), law(rng, 5), law(rng, 5))
        f, g = bets.best(guess)
        for i in range(3):
            one, other = bets.factors(guess, bets.first[i], bets.second[i])
            growths = guess.p @ one + guess.q @ other
            assert guess.p @ f[:, i] + guess.q @ g[:, i] == pytest.approx(growths.max(), abs=2e-4)


def test_an_event_is_of_the_view_that_has_won_most_against_the_next_level(monkeypatch):
    """Against the highest that is bet on, where there is none."""
    levels = Portfolio(ea.pure(1.0))._levels["epsilon"]
    richest = np.arange(levels.size) % 3
    portfolio = portfolio_with({key: 1.0 + (richest == key) for key in range(3)})
    asked = []

    def choices(_, goes_on):
        asked.extend(key for key in range(3) if goes_on(key))
        return []

    monkeypatch.setattr(portfolios, "_choices", choices)
    for level in [*levels, *(levels - 1e-9), 1e6]:
        assert portfolio.event(np.zeros(2), np.ones(2), level) is None
    assert asked == [*richest, *richest, richest[-1]]


@pytest.mark.parametrize("a", ["a", 1])
@pytest.mark.parametrize("c", ["c", 3])
def test_an_event_is_of_the_values_of_both_sides(a, c):
    x, y, portfolio = [a, 2] * 30, [2, c] * 30, Portfolio(ea.pure(0.5))
    assert portfolio.event(x, y, 0.5) is None
    portfolio.record(x, y, [60])
    for level in (0.5, 1e6):  # also above all that are bet on
        chosen = portfolio.event(x, y, level)
        held = [chosen.event.holds(chosen.layout.encode([value])).item() for value in (a, 2, c)]
        assert held == [not chosen.swapped, False, chosen.swapped]
