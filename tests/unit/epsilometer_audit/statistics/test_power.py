"""Forecasts: model mechanisms, the growth of bets on them, and what is detected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from epsilometer.claims import Claim
from epsilometer.errors import ArgumentError
from epsilometer.events.scores import CELLS, SCREENED
from epsilometer_audit.question.claims import gdp, pure, renyi
from epsilometer_audit.statistics import power
from epsilometer_audit.statistics.portfolio import Portfolio, against
from epsilometer_audit.statistics.power import detectable, samples_needed
from epsilometer_audit.statistics.predictors import FLOOR, Prediction
from epsilometer_audit.statistics.rounds import Step, least_samples, schedule
from limit.kl_inf.project import project
from tests.unit.audits import single_claims

CLAIMS = single_claims()
by_claim = pytest.mark.parametrize("claim", CLAIMS, ids=Claim.text)


def levels_of(claim):
    """Return two levels above a claim."""
    return claim.level + np.array([0.1, 0.4 if claim.quantity == "delta" else 1.0])


def two(share):
    return np.array([share, 1 - share])


# --- model mechanisms -----------------------------------------------------------------------------


@by_claim
def test_the_noise_of_a_forecast_attains_the_level_in_fine_cells(claim):
    """By its total variation; the ends have what lies beyond three scales."""
    levels = levels_of(claim)
    p, q = power._cells(claim, levels)
    noise = claim.noise(levels)
    law = stats.norm if noise.gaussian else stats.laplace
    for i, distance in enumerate(noise.distances):
        assert (p[i].sum(), q[i].sum()) == pytest.approx((1, 1))
        assert (np.diff(p[i] / q[i]) < 1e-9).all()  # x is below x'
        exact = 2 * law.cdf(distance / 2) - 1
        assert np.abs(p[i] - q[i]).sum() / 2 == pytest.approx(exact, rel=0.01)
        assert (p[i, 0], q[i, -1]) == pytest.approx((law.cdf(-3), law.sf(3)))


@by_claim
@pytest.mark.parametrize("share", [0.5, 0.1, 0.001])
def test_an_event_of_a_forecast_has_the_level_and_is_no_larger_than_the_rest(claim, share):
    levels = levels_of(claim)
    p, q = power._event(claim, levels, share)
    assert claim.of(p, q) == pytest.approx(levels, rel=1e-6)
    assert (p + q <= 1 + 1e-9).all()
    assert (q <= share).all()
    smaller = q < share * (1 - 1e-9)
    assert p[smaller] + q[smaller] == pytest.approx(1)


# --- the growth of bets on them -------------------------------------------------------------------


@by_claim
@pytest.mark.parametrize(("p", "q"), [(0.6, 0.1), (0.3, 0.02), (0.5, 0.4)])
def test_a_bet_on_an_event_grows_by_the_relative_entropy_to_the_claim(claim, p, q):
    """That of two cells, by the exact projection; of Rényi claims, a part of it."""
    growth, _ = power._growth_of_event(claim, np.array([p, q, 1.0, 1 - 1e-6]), np.array([q] * 4))
    best = project(two(p), two(q), claim)
    if claim.orders:
        assert 0.25 * best.growth <= growth[0] <= best.kl_inf + 1e-9
    else:
        assert growth[0] == pytest.approx(best.growth, rel=2e-4, abs=1e-7)
    assert growth[1] == pytest.approx(0, abs=1e-9)  # the event is as likely on both sides
    assert growth[2] == pytest.approx(growth[3], rel=0.01)  # it is certain on x


def test_the_variance_of_a_bet_on_an_event_is_that_of_its_log_ratios():
    """To the nearest pair of equal probabilities, which is their mean."""
    p, q, nearest = two(0.6), two(0.1), two(0.35)
    (growth,), (variance,) = power._growth_of_event(pure(0.0), p[:1], q[:1])
    of_p, of_q = np.log(p / nearest), np.log(q / nearest)
    assert growth == pytest.approx(p @ of_p + q @ of_q, rel=1e-3)
    spread = p @ (of_p - p @ of_p) ** 2 + q @ (of_q - q @ of_q) ** 2
    assert variance == pytest.approx(spread, rel=0.02)


@by_claim
def test_the_growth_of_a_bet_on_cells_is_its_mean_over_them(claim):
    """Cells that are cut in two tell no more."""
    laws = np.random.default_rng(1).dirichlet(np.ones(5), (2, 4))
    means, variances = power._growth(claim, *laws, 0.0)
    bets = against(claim, np.array([claim.level]))
    for i, (p, q) in enumerate(zip(*laws, strict=True)):
        f, g = (logs[:, 0] for logs in bets.best(Prediction(np.arange(4.0), p, q, 0.0)))
        assert means[i] == pytest.approx(p @ f + q @ g, abs=1e-5)
        spread = p @ (f - p @ f) ** 2 + q @ (g - q @ g) ** 2
        assert variances[i] == pytest.approx(spread, rel=1e-3)
    halves = np.repeat(laws / 2, 2, axis=2)
    assert power._growth(claim, *halves, 0.0)[0] == pytest.approx(means, rel=0.01, abs=1e-6)


# --- events of two columns ------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "is_seen"), [(0.98, False), (1.02, True)])
def test_an_event_of_two_columns_is_chosen_by_pearsons_statistic(times, is_seen):
    """Of as many draws a side as tables are looked at with."""

    def beyond(p):
        counts = SCREENED * np.array([two(p), two(0.6)])
        return stats.chi2_contingency(counts, correction=False).statistic - times * power._CHOSEN

    p, q = np.array([brentq(beyond, 0.6, 0.9)]), np.array([0.6])
    shares, others, (seen,) = power._in_table(p, q, 10**12)
    assert seen == is_seen
    assert (shares, others) == (pytest.approx(p, rel=1e-4), pytest.approx(q, rel=1e-4))
    assert not power._in_table(p, q, SCREENED // 8)[2].any()


def test_of_few_draws_outputs_of_an_event_lie_in_other_cells():
    """So many leave, and enter as nearby; a half at most."""
    moved = power._MOVED / 20
    (share,), (other,), _ = power._in_table(np.array([0.3]), np.array([0.1]), 400)
    assert share == pytest.approx(0.3 * (1 - moved) + moved * 0.7 * 0.2)
    assert other == pytest.approx(0.1 * (1 - moved) + moved * 0.9 * 0.2)
    (rare,), _, _ = power._in_table(np.array([1e-3]), np.array([1e-3]), 40)
    assert rare == pytest.approx(5e-4 + 0.5 * 0.999 / CELLS)


def test_so_many_outputs_lie_in_another_cell_than_by_the_true_quantiles():
    """Of two columns: the mean errors of the ends of their cells, times the root of draws.

    An error is Gaussian, with the variance of a share. The measured number is near that sum.
    """
    shares = np.arange(1, CELLS) / CELLS
    errors = np.sqrt(shares * (1 - shares)) * math.sqrt(2 / math.pi)
    assert pytest.approx(2 * errors.sum(), rel=0.05) == power._MOVED


# --- what is detected -----------------------------------------------------------------------------


@by_claim
@pytest.mark.parametrize("event", [0.5, 0.01])
def test_a_detectable_level_is_the_smallest_that_is_detected(claim, event):
    steps = schedule(30_000, 1)
    options = {"alpha": 0.05, "event": event}
    level = detectable(claim, steps, **options)
    above = claim.level + (level - claim.level) * np.array([0.95, 1.0001, 1.5])
    detected = power._detected(claim, above, steps, 0.05, 0.9, event)
    assert detected.tolist() == [False, True, True]
    later = detectable(claim, schedule(60_000, 1), **options)
    surer = detectable(claim, steps, alpha=0.001, event=event)
    of_many = detectable(claim, schedule(30_000, 8), **options)
    assert claim.level < later < level < min(surer, of_many)


@by_claim
def test_a_detectable_level_lies_between_the_claim_and_the_highest_level(claim, monkeypatch):
    """It is above the claim by a twenty-fifth more than the first that is detected, at most."""
    low, top = claim.level, float(claim.grid[-1])
    for least in (low + 2e-3 * low + 1e-5, (low + top) / 2, top - 1e-9 * top):
        monkeypatch.setattr(power, "_detected", lambda _, levels, *__, at=least: levels >= at)
        level = detectable(claim, [], alpha=0.05, event=0.1)
        assert least <= level <= low + 1.04 * (least - low)
    monkeypatch.setattr(power, "_detected", lambda _, levels, *__: levels > 1.001 * top)
    assert detectable(claim, [], alpha=0.05, event=0.1) is None


@pytest.mark.parametrize(
    "claim", [pure(0.01), pure(3.0), *map(renyi, ({1.01: 3.0}, {7: 3.0}, {500: 3.0}))]
)
def test_every_claim_has_a_level_that_is_detectable(claim):
    level = detectable(claim, schedule(1_000_000, 1), alpha=0.05, event=0.01)
    fewer = detectable(claim, schedule(3000, 1), alpha=0.05, event=0.01)
    assert claim.level < level < (fewer or math.inf)


def least_level(steps, alpha, goal, q, joint=False):
    """Return the least level of an event of this probability that is detected."""
    levels = np.linspace(0.5, 4, 10_000)
    return levels[power._detected(pure(0.5), levels, steps, alpha, goal, q, joint).argmax()]


def nats(steps, alpha, goal, q, before=0):
    """Return what bets on an event win in the draws that it takes to detect it, with its level.

    The growth of the draws, less so many standard deviations as the goal says. An event of two
    columns is in a table of half of the draws ``before``, of both sides, and has half of them.
    """
    level = least_level(steps, alpha, goal, q, joint=before > 0)
    p, rarer, draws = np.array([q * math.exp(level)]), np.array([q]), steps[0].ahead
    if before:
        p, rarer, _ = power._in_table(p, rarer, before // 4)
        draws = draws // 2
    (growth,), (variance,) = power._growth_of_event(pure(0.5), p, rarer)
    return draws * growth - stats.norm.ppf(goal) * math.sqrt(draws * variance)


@pytest.mark.parametrize("q", [0.05, 0.2])
@pytest.mark.parametrize("goal", [0.5, 0.9])
def test_an_event_is_detected_where_its_growth_pays_for_learning_it_and_for_alpha(q, goal):
    """With the probability of a Gaussian; all pairs share alpha."""
    one, three = [Step(1, 4000, 4000)], [Step(3, 4000, 4000)]
    learned = nats(one, 0.05, goal, q) - math.log(20)
    assert learned == pytest.approx(12 + 1.2 * math.log(1 / q), abs=0.1)  # as in whole audits
    assert nats(one, 1e-4, goal, q) - math.log(1e4) == pytest.approx(learned, abs=0.1)
    assert nats(three, 0.05, goal, q) - math.log(60) == pytest.approx(learned, abs=0.1)


def least_noise(claim, steps, alpha, goal):
    """Return the least level of noise that is detected."""
    low, high = claim.level, 30.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if power._detected(claim, np.array([middle]), steps, alpha, goal, None)[0]:
            high = middle
        else:
            low = middle
    return np.array([high])


@pytest.mark.parametrize(
    ("claim", "floor", "nats"),
    [(pure(0.5), FLOOR, 8), (pure(0.5).at(0.1), FLOOR, 8), (renyi({2: 0.5}), 0.0, 35)],
)
def test_noise_is_detected_where_the_growth_on_its_cells_pays_for_learning_it(
    monkeypatch, claim, floor, nats
):
    """Where events are too dear; functions of rare outputs show Renyi divergences."""
    monkeypatch.setattr(power, "_EVENT", math.inf)
    if claim.orders:
        monkeypatch.setattr(power, "_PREDICTING", math.inf)
    steps, alpha, goal = [Step(2, 500, 500)], 0.01, 0.8
    (p,), (q,) = power._cells(claim, least_noise(claim, steps, alpha, goal))
    guess = Prediction(np.arange(p.size - 1.0), p, q, floor)
    f, g = (logs[:, 0] for logs in against(claim, np.array([claim.level])).best(guess))
    spread = p @ (f - p @ f) ** 2 + q @ (g - q @ g) ** 2
    won = 500 * (p @ f + q @ g) - stats.norm.ppf(goal) * math.sqrt(500 * spread)
    assert won == pytest.approx(nats + math.log(2 / alpha), abs=0.01)


def test_noise_is_detected_where_a_half_line_pays_for_learning_an_event(monkeypatch):
    """Of those that end at any of the cells, none wins a tenth more."""
    monkeypatch.setattr(power, "_PREDICTING", math.inf)
    claim, steps, alpha = pure(0.5), [Step(1, 500, 500)], 0.01
    (p,), (q,) = power._cells(claim, least_noise(claim, steps, alpha, 0.5))
    below, below_prime = p.cumsum()[:-1], q.cumsum()[:-1]
    growth, _ = power._growth_of_event(claim, below, below_prime)
    needed = 12 - 1.2 * np.log(below_prime) + math.log(1 / alpha)
    assert 1 - 1e-3 < (500 * growth / needed).max() < 1.1


TWO_COLUMNS = pytest.mark.parametrize(
    ("steps", "before"),
    [
        ([Step(1, 30_000, 40_000), Step(1, 10_000, 10_000)], 40_000),
        ([Step(2, 2000, 40_000), Step(1, 38_000, 38_000)], 4000),  # which rank the pairs
    ],
)


@TWO_COLUMNS
def test_an_event_of_two_columns_pays_from_half_of_the_draws(steps, before):
    rarer = power._in_table(np.array([0.2]), np.array([0.05]), before // 4)[1].item()
    learned = nats(steps, 1e-250, 0.9, 0.05, before) - math.log(steps[0].pairs * 1e250)
    assert learned == pytest.approx(12 + 1.2 * math.log(1 / rarer), abs=1)


@TWO_COLUMNS
def test_an_event_of_two_columns_is_detected_once_its_table_is_chosen(steps, before):
    level = least_level(steps, 0.5, 0.5, 0.05, joint=True)
    p = 0.05 * np.exp([level - 4e-4, level])
    _, _, seen = power._in_table(p, np.array([0.05, 0.05]), before // 4)
    assert seen.tolist() == [False, True]


@pytest.mark.parametrize(("first", "drops", "growth"), [(40, True, 3.5 / 40), (40, False, None)])
def test_a_pair_must_have_won_some_nats_where_others_are_dropped(first, drops, growth):
    """3.5 nats, after as many draws as the first rounds have; of the two pairs one goes on."""
    claim, levels = pure(0.5), np.linspace(0.55, 2.9, 200)
    steps = [Step(2, first, 40_000), Step(1 if drops else 2, 40_000, 40_000)]
    detected = power._detected(claim, levels, steps, 0.05, 0.9, 0.05)
    growths, _ = power._growth_of_event(claim, 0.05 * np.exp(levels), np.full(200, 0.05))
    least = growths[detected.argmax()]
    if growth:
        assert least == pytest.approx(growth, rel=0.05)
    else:
        assert least < 1e-3


@by_claim
@pytest.mark.parametrize("event", [None, 0.5, 0.01])
def test_a_claim_that_holds_is_detected_by_no_draws(claim, event):
    level = np.array([max(claim.level, 1e-9)])
    steps = schedule(10**12, 1)
    for joint in (False, event is not None):
        assert not power._detected(claim, level, steps, 0.5, 0.5, event, joint).any()


# --- the draws that are needed --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "options"),
    [(gdp(0.5), {"power": 0.5, "alpha": 0.2}), (renyi({2: 1.0}), {"event": 0.01, "pairs": 3})],
)
def test_the_samples_that_are_needed_are_the_fewest_in_two_digits(claim, options):
    level = 2 * claim.level
    samples = samples_needed(claim, detect=level, **options)
    assert len(str(samples).rstrip("0")) <= 2
    options = {"pairs": 1, "event": None, "power": 0.9, "alpha": 0.05} | options
    for number, is_enough in ((samples, True), (round(0.85 * samples), False)):
        steps = schedule(number, options["pairs"])
        goal = options["alpha"], options["power"], options["event"]
        assert power._detected(claim, np.array([level]), steps, *goal) == [is_enough]


def test_few_samples_are_exact_and_many_a_fiftieth_and_two_digits_more(monkeypatch):
    for fewest in (37, 61, 97, *np.geomspace(101, 10**9, 20).astype(int).tolist()):
        monkeypatch.setattr(
            power, "_detected", lambda *of, n=fewest: [sum(step.draws for step in of[2]) >= n]
        )
        samples = samples_needed(pure(1.0), detect=2.0)
        unit = 10 ** (len(str(fewest)) - 2)
        assert fewest <= samples <= (fewest if fewest < 100 else 1.02 * fewest + 2 * unit)


def test_by_default_nine_in_ten_audits_of_a_pair_find_noise_at_an_alpha_of_a_twentieth():
    alike = {"power": 0.9, "alpha": 0.05, "pairs": 1, "event": None}
    assert samples_needed(pure(1.0), detect=2) == samples_needed(pure(1.0), detect=2, **alike)


def test_up_to_a_million_million_draws_are_forecast():
    """They are as many as the excess has to the power of -2, where it is small."""
    options = {"event": 0.1, "power": 0.5}
    times = samples_needed(pure(1.0), detect=1 + 1e-4, **options) * 1e-8
    samples = samples_needed(pure(1.0), detect=1 + math.sqrt(times / 9e11), **options)
    assert samples == pytest.approx(9e11, rel=0.1)
    with pytest.raises(ArgumentError, match=r"takes more than 1e\+12 draws"):
        samples_needed(pure(1.0), detect=1 + math.sqrt(times / 1.15e12), **options)


def test_a_budget_is_no_smaller_than_one_that_audits_accept():
    for pairs in (4, 10**6):
        assert samples_needed(pure(0.1), detect=20.0, pairs=pairs) >= least_samples(pairs)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"detect": 0.9}, "detect must be above the claim, 1, got 0.9"),
        ({"detect": 1.2, "power": 1.0}, "power must lie strictly between 0 and 1"),
        ({"detect": 1.2, "alpha": 0}, "alpha must lie strictly between 0 and 1"),
        ({"detect": 1.2, "event": 0}, "event must lie strictly between 0 and 1"),
        ({"detect": 1.2, "pairs": 0}, "pairs must be at least 1"),
        ({"detect": 1.2, "pairs": 10**6 + 1}, "pairs must be at most 1000000"),
    ],
)
def test_bad_arguments_of_samples_needed_are_errors(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        samples_needed(pure(1.0), **arguments)


# --- what forecasts are worth in audits -----------------------------------------------------------


@pytest.mark.parametrize(("claim", "level"), [(pure(0.5), 1.5), (pure(0.1), 1.0)])
def test_so_many_nats_are_lost_to_learn_noise(claim, level):
    """In nine of ten audits; half as many are too few for one of ten or more.

    They are what the best bet on cells of the true distributions wins more of the same draws.
    """
    distance = claim.noise(np.array([level])).distances[0]
    ends = np.linspace(-3, 3, 32)
    ends = np.sort(np.concatenate([ends, ends + distance]))
    (p,), (q,) = power._cells(claim, np.array([level]))
    levels = np.array([claim.level])
    f, g = against(claim, levels).best(Prediction(ends, p, q, 0.0))
    lost = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = rng.laplace(0, 1, 120), rng.laplace(distance, 1, 120)
        most = f[ends.searchsorted(x)].sum() + g[ends.searchsorted(y)].sum()
        grown = Portfolio(claim, as_reals=True).record(x, y, [30] * 4)
        lost.append(most - grown.at(claim, levels).sum())
    assert power._PREDICTING / 2 < np.sort(lost)[-2] <= power._PREDICTING
