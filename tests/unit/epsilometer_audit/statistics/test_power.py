"""Forecasts: model mechanisms, the growth of bets on events, and what is detected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from epsilometer.claims import Claim
from epsilometer.errors import ArgumentError
from epsilometer.events.scores import CELLS, SCREENED
from epsilometer_audit.question.claims import approximate, gdp, pure, renyi, zcdp
from epsilometer_audit.statistics import power
from epsilometer_audit.statistics.portfolio import Portfolio, against
from epsilometer_audit.statistics.power import detectable, samples_needed
from epsilometer_audit.statistics.predictors import Prediction
from epsilometer_audit.statistics.rounds import Step, least_samples, schedule
from limit.kl_inf.project import project
from tests.unit.audits import single_claims

CLAIMS = single_claims()
# What learning costs, as tests/benchmarks/power.py and tests/benchmarks/detectable.py measured it.
OF_AN_EVENT = 12.0  # nats
OF_RARITY = 1.2  # nats more, for an event whose probability is e times smaller
OF_A_FUNCTION = 35.0  # nats
KEPT = 3.5  # nats that a pair must have won where others are dropped
CHOSEN = 125.0  # of Pearson's statistic beyond its cells, for a table that is chosen
by_claim = pytest.mark.parametrize("claim", CLAIMS, ids=Claim.text)


def levels_of(claim):
    """Return two levels above a claim."""
    return claim.level + np.array([0.1, 0.4 if claim.quantity == "delta" else 1.0])


def two(share):
    return np.array([share, 1 - share])


@by_claim
def test_the_noise_of_a_forecast_attains_the_level_in_fine_cells(claim):
    levels = levels_of(claim)
    p, q = power._cells(claim, levels)
    assert p.sum(axis=1) == pytest.approx(1)
    assert q.sum(axis=1) == pytest.approx(1)
    distances = claim.noise(levels).distances
    for i in range(2):
        assert (np.diff(p[i] / q[i]) < 1e-9).all()  # x is below x'
        total_variation = np.abs(p[i] - q[i]).sum() / 2
        noise = stats.norm if claim.noise(levels).gaussian else stats.laplace
        exact = 2 * noise.cdf(distances[i] / 2) - 1
        assert total_variation == pytest.approx(exact, rel=0.01)
        assert (p[i, 0], q[i, -1]) == pytest.approx((noise.cdf(-3), noise.sf(3)))  # the ends


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


@by_claim
@pytest.mark.parametrize(("p", "q"), [(0.6, 0.1), (0.3, 0.02), (0.5, 0.4)])
def test_a_bet_on_an_event_grows_by_the_relative_entropy_to_the_claim(claim, p, q):
    """That of two cells, by the projection; its variance by the outcomes of both sides."""
    growth, variance = power._growth_of_event(claim, np.array([p]), np.array([q]))
    best = project(two(p), two(q), claim)
    if claim.orders:  # a few clips of powers
        assert 0.25 * best.growth <= growth[0] <= best.kl_inf + 1e-9
    else:
        assert growth[0] == pytest.approx(best.growth, rel=2e-4, abs=1e-7)
        assert variance[0] == pytest.approx(spread_at(claim, p, q), rel=0.05, abs=1e-3)
    nothing, _ = power._growth_of_event(claim, np.array([q]), np.array([q]))
    assert nothing[0] == pytest.approx(0, abs=1e-9)
    sure, _ = power._growth_of_event(claim, np.array([1.0]), np.array([q]))
    near, _ = power._growth_of_event(claim, np.array([1 - 1e-6]), np.array([q]))
    assert sure == pytest.approx(near, rel=0.01)


def spread_at(claim, p, q):
    """Return the variance of the log ratios at the nearest allowed pair, by a fine search."""
    shares = np.geomspace(q, p, 20_001)
    allowed = np.minimum(claim.likelier(shares, claim.level), p)
    both = []
    for share, others in ((p, allowed), (q, shares)):
        logs = np.array([np.log(share / others), np.log((1 - share) / (1 - others))])
        mean = two(share) @ logs
        both.append((mean, two(share) @ (logs - mean) ** 2))
    nearest = int(np.argmin(both[0][0] + both[1][0]))
    return both[0][1][nearest] + both[1][1][nearest]


@by_claim
def test_the_growth_of_a_bet_on_cells_is_its_mean_over_them(claim):
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(np.ones(5), (2, 8))
    means, variances = power._growth(claim, *laws, 0.0)
    bets = against(claim, np.array([claim.level]))
    for p, q, mean, variance in zip(*laws, means, variances, strict=True):
        f, g = (logs[:, 0] for logs in bets.best(Prediction(np.arange(4.0), p, q, 0.0)))
        assert mean == pytest.approx(p @ f + q @ g, abs=1e-5)
        assert variance == pytest.approx(p @ (f - p @ f) ** 2 + q @ (g - q @ g) ** 2, rel=1e-3)
    best = project(p, q, claim)
    assert best.growth - 0.12 <= mean <= best.kl_inf + 1e-9
    (half,), (spread,) = power._growth(
        claim, np.array([[*p / 2, *p / 2]]), np.array([[*q / 2, *q / 2]]), 0.0
    )
    assert (half, spread) == pytest.approx(
        (mean, variance), rel=1e-3
    )  # cells that are cut tell no more


def test_an_event_of_two_columns_is_chosen_by_pearsons_statistic():
    """Of as many draws a side as tables are looked at with; of few, some lie in another cell."""
    p, q = np.array([0.3, 0.17, 0.2]), np.array([0.1, 0.1, 0.2])
    shares, others, seen = power._in_table(p, q, 10**12)
    assert shares == pytest.approx(p, rel=1e-4)
    assert others == pytest.approx(q, rel=1e-4)
    assert seen.tolist() == [True, False, False]

    def beyond(p, least):
        counts = SCREENED * np.array([two(p), two(0.6)])
        return stats.chi2_contingency(counts, correction=False).statistic - least

    for times in (0.98, 1.02):
        share = brentq(beyond, 0.6, 0.9, args=(times * CHOSEN,))
        _, _, seen = power._in_table(np.array([share]), np.array([0.6]), 10**12)
        assert seen.tolist() == [times > 1]
    few, few_prime, seen = power._in_table(p, q, 400)
    for share, found in ((p, few), (q, few_prime)):  # so many leave, and enter as nearby
        moved = power._MOVED / 20
        assert found == pytest.approx(share - moved * share + moved * (1 - share) * (p + q) / 2)
    rare, _, _ = power._in_table(np.array([1e-3]), np.array([1e-3]), 40)  # half at most
    assert rare == pytest.approx(5e-4 + 0.5 * 0.999 / CELLS)
    assert few[2] == few_prime[2]
    assert not power._in_table(p, q, 40)[2].any()


def test_so_many_outputs_lie_in_another_cell_than_by_the_true_quantiles():
    """Of two columns: the mean errors of the ends of their cells, times the root of draws.

    An error is Gaussian, with the variance of a share. The measured number is near that sum.
    """
    shares = np.arange(1, CELLS) / CELLS
    errors = np.sqrt(shares * (1 - shares)) * math.sqrt(2 / math.pi)
    assert pytest.approx(2 * errors.sum(), rel=0.05) == power._MOVED


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
    assert claim.level < later < level < surer
    assert level < of_many


@by_claim
def test_a_detectable_level_lies_between_the_claim_and_the_highest_level(claim, monkeypatch):
    """It is above the claim by a twenty-fifth more than the first that is detected, at most."""
    low, top = claim.level, float(claim.grid[-1])
    for least in [*(low + np.geomspace(2e-3 * low + 1e-5, top - low, 7)[:-1]), top - 1e-9 * top]:
        monkeypatch.setattr(power, "_detected", lambda _, levels, *__, at=least: levels >= at)
        level = detectable(claim, [], alpha=0.05, event=0.1)
        assert least <= level <= low + 1.04 * (least - low)
    monkeypatch.setattr(power, "_detected", lambda _, levels, *__: levels > 1.001 * top)
    assert detectable(claim, [], alpha=0.05, event=0.1) is None


@pytest.mark.parametrize("goal", [0.5, 0.9])
@pytest.mark.parametrize("draws", [(4000,), (400, 400, 800), (60, 200, 4000)])
@pytest.mark.parametrize("pairs", [1, 4])
@pytest.mark.parametrize("joint", [False, True])
def test_an_event_is_detected_where_its_growth_pays_for_learning_it_and_for_alpha(
    goal, draws, pairs, joint
):
    """With the probability of a Gaussian; its pair must have won some nats when others go.

    One of two columns is found half way, in a table of half of the draws before: for several pairs
    of the first two rounds.
    """
    claim, levels, q = pure(0.5), np.linspace(0.55, 4, 60), 0.05
    left = [pairs, max(pairs // 2, 1), 1]
    steps = [Step(k, n, n) for k, n in zip(left, draws, strict=False)]
    p, rarer = np.minimum(q * np.exp(levels), 1 - q), np.full(60, q)
    seen, number = True, sum(draws)
    if joint:
        before = 2 * draws[0] if pairs > 1 else number
        p, rarer, seen = power._in_table(p, rarer, before // 4)
        number //= 2
    growth, variance = power._growth_of_event(claim, p, rarer)
    won = number * growth - stats.norm.ppf(goal) * np.sqrt(number * variance)
    learned = OF_AN_EVENT - OF_RARITY * np.log(rarer)
    expected = seen & (won >= learned + math.log(pairs / 0.05))
    for i in range(1, len(draws)):
        if left[i] < left[i - 1]:
            expected &= sum(draws[:i]) * growth >= KEPT
    valid = q * np.exp(levels) < 1 - q
    found = power._detected(claim, levels, steps, 0.05, goal, q, joint)
    assert (found == expected)[valid].all()
    assert found[valid].any() or joint
    assert not found.all()


@by_claim
@pytest.mark.parametrize("event", [None, 0.5, 0.01])
def test_a_claim_that_holds_is_detected_by_no_draws(claim, event):
    level = np.array([max(claim.level, 1e-9)])
    steps = schedule(10**12, 1)
    for joint in (False, event is not None):
        assert not power._detected(claim, level, steps, 0.5, 0.5, event, joint).any()


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (pure(1.0), {}),
        (gdp(0.5), {"power": 0.5, "alpha": 0.2}),
        (renyi({2: 1.0}), {"event": 0.01, "pairs": 3}),
        (zcdp(0.2), {"event": 0.1}),
    ],
)
def test_the_samples_that_are_needed_are_the_fewest_in_two_digits(claim, options):
    level = 2 * claim.level
    samples = samples_needed(claim, detect=level, **options)
    pairs, event = options.get("pairs", 1), options.get("event")
    assert len(str(samples).rstrip("0")) <= 2

    def enough(number):
        steps = schedule(max(round(number), least_samples(pairs)), pairs)
        alpha, goal = options.get("alpha", 0.05), options.get("power", 0.9)
        return power._detected(claim, np.array([level]), steps, alpha, goal, event)[0]

    assert enough(samples)
    assert not enough(0.85 * samples)
    assert pairs > 1 or samples_needed(claim, detect=level, **{**options, "power": 0.95}) > samples


def test_by_default_nine_in_ten_audits_of_a_pair_find_noise_at_an_alpha_of_a_twentieth():
    alike = {"power": 0.9, "alpha": 0.05, "pairs": 1, "event": None}
    assert samples_needed(pure(1.0), detect=2) == samples_needed(pure(1.0), detect=2, **alike)


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


@pytest.mark.parametrize(
    "claim", [pure(1.0), pure(4.0), gdp(4.0), renyi({2: 4.0}), renyi({20: 3.0})], ids=Claim.text
)
@np.errstate(all="ignore")
def test_noise_is_detected_by_the_best_of_bets_on_cells_functions_and_half_lines(claim):
    """Of half-lines, by the noise's distribution function at every fourth end of a cell."""
    draws = 20_000
    levels = claim.level + np.geomspace(0.05, 5, 16)
    model = claim.noise(levels)
    distances = model.distances[:, None]
    around = np.broadcast_to(np.linspace(-3, 3, 32), (16, 32))
    ends = np.sort(np.hstack([around, around + distances]), axis=1)[:, 3:60:4]
    noise = stats.norm if model.gaussian else stats.laplace
    p, q = power._cells(claim, levels)
    laws = [(*power._growth(claim, p, q, power.FLOOR), power._PREDICTING)]
    if claim.orders:
        laws.append((*power._growth(claim, p, q, 0.0), OF_A_FUNCTION))
    for i in range(ends.shape[1]):
        below, rarer = noise.cdf(ends[:, i]), noise.cdf(ends[:, i] - distances[:, 0])
        growths = power._growth_of_event(claim, below, rarer)
        learned = OF_AN_EVENT - OF_RARITY * np.log(np.maximum(rarer, 1e-300))
        laws.append((*growths, learned))
    needed = [
        draws * growth - stats.norm.ppf(0.9) * np.sqrt(draws * spread) - nats - math.log(20)
        for growth, spread, nats in laws
    ]
    clear = np.abs(np.max(needed, axis=0)) > 1e-6
    found = power._detected(claim, levels, [Step(1, draws, draws)], 0.05, 0.9, None)
    assert (found == (np.max(needed, axis=0) > 0))[clear].all()


def test_up_to_a_million_million_draws_are_forecast():
    """They are as many as the excess has to the power of -2, where it is small."""
    options = {"event": 0.1, "power": 0.5}
    times = samples_needed(pure(1.0), detect=1 + 1e-4, **options) * 1e-8
    samples = samples_needed(pure(1.0), detect=1 + math.sqrt(times / 9e11), **options)
    assert samples == pytest.approx(9e11, rel=0.1)
    with pytest.raises(ArgumentError, match=r"takes more than 1e\+12 draws"):
        samples_needed(pure(1.0), detect=1 + math.sqrt(times / 1.15e12), **options)


def test_a_budget_is_no_smaller_than_one_that_audits_accept():
    assert samples_needed(approximate(0.1, 0.1), detect=20.0, pairs=4) >= least_samples(4)
    assert samples_needed(pure(0.1), detect=20.0, pairs=10**6) >= least_samples(10**6)
    with pytest.raises(ArgumentError, match="pairs must be at most 1000000"):
        samples_needed(pure(0.1), detect=20.0, pairs=10**6 + 1)
