"""Guesses about canaries: no private mechanism lets more be right, and rules are fixed before."""

import itertools
import math
from bisect import bisect_left

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

from epsilometer.claims import Gaussian, Pure
from epsilometer.errors import ArgumentError
from epsilometer_audit.statistics import guessing
from epsilometer_audit.statistics.guessing import (
    Counted,
    Rule,
    count,
    detectable,
    independent_mu,
    refuted,
    requested_rules,
    rules_of,
)
from tests.benchmarks.one_run_ceiling import ceiling
from tests.benchmarks.one_run_levels import CASES, violated

# --- the theorem ----------------------------------------------------------------------------------


def p_value(right, guesses, canaries, epsilon, delta=0.0):
    return Counted(Rule(guesses, 0), right, canaries, share=1.0).p_value(epsilon, delta)


def most_right(canaries, guesses, right, epsilon, delta):
    """Return the largest probability of so many right guesses, over all private mechanisms.

    A linear program: the probability of each guess given each input, and slacks of the constraints
    sum_t max(P(t | s) - e^epsilon P(t | s'), 0) <= delta of neighbours s and s'.
    """
    inputs = np.array([*itertools.product((-1, 1), repeat=canaries)])
    guessed = np.array([*itertools.product((-1, 0, 1), repeat=canaries)])
    outputs = guessed[np.abs(guessed).sum(axis=1) == guesses]
    n, k = len(inputs), len(outputs)
    pairs = np.argwhere((inputs[:, None] != inputs).sum(axis=2) == 1)
    loss = np.eye(n)[pairs[:, 0]] - math.exp(epsilon) * np.eye(n)[pairs[:, 1]]
    slack = np.eye(len(pairs))
    each, all_of = np.eye(k), np.ones((1, k))
    above = np.block(
        [
            [np.kron(loss, each), -np.kron(slack, each)],
            [np.kron(0 * loss, all_of), np.kron(slack, all_of)],
        ]
    )
    limits = np.repeat([0.0, delta], [len(pairs) * k, len(pairs)])
    sums = np.kron(np.eye(n, n + len(pairs)), all_of)
    wins = inputs @ outputs.T + guesses >= 2 * right
    gain = np.pad(wins.ravel() / n, (0, len(pairs) * k))
    solution = linprog(-gain, above, limits, sums, np.ones(n), bounds=(0, 1))
    assert solution.success
    return -solution.fun


@pytest.mark.parametrize(("canaries", "guesses"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.3])
def test_no_private_mechanism_lets_more_be_guessed_and_some_as_much(
    canaries, guesses, epsilon, delta
):
    for right in range(1, guesses + 1):
        most = most_right(canaries, guesses, right, epsilon, delta)
        bound = p_value(right, guesses, canaries, epsilon, delta)
        assert most <= bound + 1e-8
        if delta <= 1e-3:
            assert most == pytest.approx(bound, abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 20.0])
@pytest.mark.parametrize(("guesses", "right"), [(1, 1), (400, 310), (400, 400), (7, 0)])
def test_without_delta_it_is_a_binomial_tail(epsilon, guesses, right):
    tail = binom.sf(right - 1, guesses, expit(epsilon))
    assert p_value(right, guesses, 1000, epsilon) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize(("right", "guesses"), [(950, 1000), (1400, 1400), (3900, 4000)])
def test_far_in_the_tail_the_second_term_is_a_sum_of_quotients(right, guesses, epsilon):
    """P[W >= v] / P[W = v]; P[W = v] may be no number any more."""
    quotient, total = 1.0, 0.0
    for k in range(right, guesses + 1):
        total += quotient
        quotient *= (guesses - k) / (k + 1) * math.exp(epsilon)
    found = p_value(right, guesses, 5000, epsilon, 1e-5)
    assert found == pytest.approx(5000 * 1e-5 / right * total, rel=1e-4)


def test_a_level_at_which_all_guesses_may_be_right_has_the_p_value_1():
    assert p_value(10, 20, 50, 200.0, 1e-5) == 1


@pytest.mark.parametrize("claim", [Pure(0.3), Pure(0.3, 0.01), Gaussian(0.4)])
def test_a_rule_with_a_part_of_alpha_has_a_p_value_over_it(claim):
    whole = Counted(Rule(20, 20), 34, 100, 1.0).p_value_of(claim)
    part = Counted(Rule(20, 20), 34, 100, 0.25).p_value_of(claim)
    assert 0 < whole < 0.2
    assert part == pytest.approx(4 * whole, rel=1e-9)
    assert Counted(Rule(20, 20), 20, 100, 0.25).p_value_of(claim) == 1


# --- what is refuted ------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("claimed", [0.0, 0.5, 5.0])
def test_the_bound_is_the_largest_level_that_is_refuted(delta, claimed):
    counted = [Counted(Rule(200, 200), 300, 400, 0.5), Counted(Rule(200, 0), 110, 400, 0.5)]

    def p(epsilon):
        return np.minimum(*(score.p_value(epsilon, delta) for score in counted))

    level = refuted(counted, Pure(claimed, delta), 0.05)
    assert (p(np.linspace(0, level, 100)) <= 0.05).all()
    assert p(level * 1.01 + 0.01) > 0.05
    assert (level >= claimed) == (p(claimed) <= 0.05)


@pytest.mark.parametrize("claim", [Pure(0.5), Pure(0.5, 1e-3), Gaussian(0.5)])
def test_no_level_is_refuted_by_as_many_right_guesses_as_wrong_ones(claim):
    assert refuted([Counted(Rule(50, 50), 50, 1000, 1.0)], claim, 0.05) == -1.0


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize(("right", "epsilon"), [(80, 0.0), (80, 0.5), (99, 2.0)])
def test_the_largest_refuted_delta_is_that_whose_p_value_is_alpha(right, epsilon, share):
    counted = Counted(Rule(50, 50), right, 400, share)
    delta = counted.delta(epsilon, 0.05)
    assert 0 < delta < 1
    assert counted.p_value(epsilon, delta) == pytest.approx(0.05)


def test_no_delta_is_refuted_where_the_epsilon_without_it_is_not():
    counted = Counted(Rule(50, 50), 80, 400, 1.0)
    assert counted.p_value(1.0, 0.0) > 0.05
    assert counted.delta(1.0, 0.05) == 0


@pytest.mark.parametrize(
    "claim", [Gaussian(0.4), Pure(0.5), Pure(0.5, 1e-3)], ids=lambda claim: claim.text()
)
def test_a_level_whose_p_value_is_alpha_is_refuted(claim):
    (only,) = counted = [Counted(Rule(20, 20), 34, 400, 1.0)]
    alpha = only.p_value_of(claim)
    assert 0.0 < alpha < 0.1
    assert refuted(counted, claim, alpha) >= claim.level
    assert refuted(counted, claim, alpha * (1 - 1e-12)) < claim.level
    lowest = claim.grid[0] if claim.fixed_delta is not None else claim.grid[1]
    assert refuted(counted, claim, only.p_value_of(claim.at(lowest))) == lowest


# --- Gaussian privacy -----------------------------------------------------------------------------


def delta_of(mu, epsilon):
    """Return delta of N(0, 1) against N(mu, 1) (Balle and Wang 2018)."""
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(
    ("mu", "counted"),
    [
        (0.3, Counted(Rule(100, 100), 150, 1000, 1.0)),
        (1.5, Counted(Rule(5, 5), 10, 10, 0.5)),
        (2.0, Counted(Rule(500_000, 500_000), 10**6, 10**6, 1.0)),
    ],
)
def test_the_best_single_epsilon_of_a_gaussian_claim(mu, counted):
    """None of a finer and longer grid gives a p-value that is smaller by a hundredth."""
    best = counted.at_one_epsilon(mu)
    others = [counted.p_value(e, delta_of(mu, e)) for e in np.linspace(1e-3, 9 * mu, 500)]
    at_its_delta = counted.p_value(best.epsilon, delta_of(mu, best.epsilon))
    assert best.p_value < 0.9
    assert best.p_value == pytest.approx(at_its_delta, rel=1e-6)
    assert best.p_value <= 1.01 * min(others)


def test_the_bound_is_a_level_that_is_refuted_whatever_is_claimed():
    counted = [Counted(Rule(50, 50), 90, 1000, 1.0)]
    bounds = [refuted(counted, Gaussian(mu), 0.05) for mu in (0.2, 0.5, 3.0)]
    assert bounds == pytest.approx([bounds[0]] * 3, rel=0.01)
    assert counted[0].p_value_of(Gaussian(bounds[0])) <= 0.05
    assert counted[0].p_value_of(Gaussian(bounds[0] * 1.02)) > 0.05


def refuted_noise(rule):
    """Return the mu of noise that a rule refutes with probability 1/2, where mu = .5 is claimed."""

    def refutes(right):
        return Counted(rule, right, 500, 1.0).at_one_epsilon(0.5).p_value <= 0.05

    least = bisect_left(range(rule.guesses + 1), True, key=refutes)
    return guessing._gaussian_level(rule, 500, least, 0.5)


def test_the_rule_of_a_gaussian_claim_refutes_the_least_noise():
    """But for a tenth of it; of rules with less guesses by the root of 2 in turn, the least."""
    (chosen,) = rules_of(500, Gaussian(0.5), 0.05)
    finer = [Rule.even(guesses) for guesses in range(20, 500, 180)]
    assert refuted_noise(chosen) < 1.1 * min(map(refuted_noise, finer))
    rules = [Rule.even(int(500 / 2 ** (k / 2))) for k in range(12)]
    assert abs(chosen.guesses - min(rules, key=refuted_noise).guesses) <= 1


@pytest.mark.parametrize(
    ("rule", "least"),
    [(Rule(50, 50), 70), (Rule(30, 30), 54), (Rule(30, 30), 60), (Rule(60, 0), 45)],
)
def test_noise_of_a_detectable_level_has_so_many_right_guesses_with_this_chance(rule, least):
    """Scores above a threshold are guessed as in, and for an even rule those below as out."""
    level = guessing._gaussian_level(rule, 100, least, 0.9)
    right = brentq(lambda q: binom.sf(least - 1, rule.guesses, q) - 0.9, 0, 1)
    guessed = rule.guesses / (100 if rule.bottom else 50)
    threshold = brentq(lambda t: ndtr(level - t) + ndtr(-t) - guessed, -30, 30)
    assert ndtr(level - threshold) / guessed == pytest.approx(right)


def test_no_noise_makes_more_guesses_right_than_there_are_canaries_of_a_kind():
    assert guessing._gaussian_level(Rule(60, 0), 100, 59, 0.9) == math.inf
    assert guessing._gaussian_level(Rule(100, 0), 100, 30, 0.9) == -math.inf
    assert guessing._gaussian_level(Rule(30, 30), 100, 61, 0.5) == math.inf


# --- rules ----------------------------------------------------------------------------------------


def test_from_one_guess_to_all_are_accepted():
    for number in (1, 300):
        assert requested_rules(number, 300, Pure(1.0), 0.05)[0].guesses == number
    for number in (0, 301, (0, 0)):
        with pytest.raises(ArgumentError, match=r"guesses must be (1 to 300|at least 1)"):
            requested_rules(number, 300, Pure(1.0), 0.05)
    with pytest.raises(ArgumentError, match="guesses must be one number or two, got 3"):
        requested_rules((1, 2, 3), 300, Pure(1.0), 0.05)


def test_rules_halve_as_long_as_all_guesses_right_refute_with_their_part_of_alpha():
    rules = rules_of(1000, Pure(1.0, 1e-5), 0.05)
    assert [rule.guesses for rule in rules] == [1000, 500, 250, 125, 62, 31]
    assert (rules[0], rules[3]) == (Rule(500, 500), Rule(63, 62))
    assert p_value(31, 31, 1000, 1.0, 1e-5) <= 0.05 / 7 < p_value(15, 15, 1000, 1.0, 1e-5)
    assert rules_of(80, Pure(20.0), 0.05) == [Rule(40, 40)]  # which cannot refute it


def test_the_last_rule_has_ten_guesses_and_may_refute_at_alpha_itself():
    assert [rule.guesses for rule in rules_of(80, Pure(0.0), 0.5)] == [80, 40, 20, 10]
    alpha = Counted(Rule(5, 5), 10, 20, 0.5).p_value_of(Pure(0.0))
    assert alpha == pytest.approx(2 * 0.5**10)
    assert [rule.guesses for rule in rules_of(20, Pure(0.0), alpha)] == [20, 10]
    assert [rule.guesses for rule in rules_of(20, Pure(0.0), alpha * (1 - 1e-9))] == [20]


def test_guesses_are_counted_by_hand():
    scores = np.array([5.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 0.0])

    def right(rule, included):
        (counted,) = count(scores, included, [rule], 0)
        return counted.right

    assert right(Rule(3, 0), scores > 4.5) == 3
    assert right(Rule(4, 2), scores < 4.5) == 0
    assert right(Rule(4, 6), scores > 7.5) == 2 + 6
    assert right(Rule.even(5), scores > 7.5) == 2 + 2  # the odd one at the top


def test_several_rules_share_alpha_evenly():
    both = count(np.arange(10.0), np.arange(10) > 4, [Rule(5, 5), Rule(1, 0)], 0)
    assert [(each.right, each.share) for each in both] == [(10, 0.5), (1, 0.5)]


@pytest.mark.parametrize("included", [np.arange(1000) < 500, np.arange(1000) >= 500])
def test_equal_scores_carry_no_information_in_any_order(included):
    """A file may list those that were in first; 4 standard deviations: chance 6e-5."""
    (counted,) = count(np.zeros(1000), included, [Rule(200, 200)], 0)
    assert abs(counted.right - 200) < 4 * math.sqrt(400) / 2


# --- detectable levels ----------------------------------------------------------------------------


@pytest.mark.parametrize("claim", [Pure(1.0), Pure(0.3, 1e-4)])
def test_a_detectable_level_is_a_quantile_of_the_binomial(claim):
    level = detectable([Rule(60, 40)], 400, claim, 0.05)
    p = [Counted(Rule(60, 40), right, 400, 1.0).p_value_of(claim) for right in range(101)]
    least = sum(each > 0.05 for each in p)
    assert binom.sf(least - 1, 100, expit(level)) == pytest.approx(0.9)
    assert detectable([Rule(3, 0)], 400, claim, 0.05) is None


def test_of_several_rules_the_least_level_is_detectable_with_its_part_of_alpha():
    rules, claim = [Rule(60, 40), Rule(20, 20)], Pure(0.5)
    alone = [detectable([rule], 400, claim, 0.025) for rule in rules]
    assert detectable(rules, 400, claim, 0.05) == min(alone) < max(alone)


def test_where_all_guesses_must_be_right_they_are_with_probability_nine_tenths():
    level = detectable([Rule(5, 0)], 400, Pure(0.0), 0.05)
    assert expit(level) == pytest.approx(0.9 ** (1 / 5))


@pytest.mark.parametrize("claim", [Pure(0.1, 1e-4), Gaussian(0.1)])
def test_a_rule_whose_p_value_is_alpha_with_all_guesses_right_detects_something(claim):
    alpha = Counted(Rule(5, 0), 5, 400, 1.0).p_value_of(claim)
    assert detectable([Rule(5, 0)], 400, claim, alpha) > claim.level
    assert detectable([Rule(5, 0)], 400, claim, alpha * (1 - 1e-12)) is None


# --- levels of mechanisms at their claim ----------------------------------------------------------


@pytest.mark.parametrize("guesses", [200, None])
def test_randomised_response_at_its_level_is_violated_in_no_more_than_alpha_of_400_runs(guesses):
    """Of one rule or of all; the chance of a false alarm is 1e-4."""
    rng, alpha, wrong = np.random.default_rng(8), 0.1, 0
    rules = requested_rules(guesses, 400, Pure(1.0), alpha)
    for _ in range(400):
        included = rng.random(400) < 0.5
        right = rng.random(400) < expit(1.0)
        scores = np.where(right == included, 1, -1) * rng.uniform(0.5, 1, 400)
        counted = count(scores, included, rules, 0)
        wrong += min(rule.p_value_of(Pure(1.0)) for rule in counted) <= alpha
    assert wrong <= binom.ppf(0.9999, 400, alpha)
    if guesses:
        assert wrong >= 400 * 0.02  # it does use its alpha, but for the steps of the binomial


@pytest.mark.parametrize("name", CASES)
def test_private_mechanisms_are_violated_in_no_more_than_alpha_of_300_runs(name):
    """Among them some that tell everything at times, and canaries that share noise: chance 1e-4."""
    hits = sum(violated(name, 200, seed) for seed in range(300))
    assert hits <= binom.ppf(0.9999, 300, 0.05)


@pytest.mark.slow(seconds=2)
def test_the_yardstick_and_its_ceiling():
    """100,000 canaries, mu = 1: the median of the bound is .8, of 3.4 at delta = 1e-5."""
    m, claim = 100_000, Gaussian(0.75)
    rules = rules_of(m, claim, 0.05)
    rng, right = np.random.default_rng(0), []
    for _ in range(11):
        included = rng.random(m) < 0.5
        right.append(count(included + rng.normal(0, 1, m), included, rules, 0)[0].right)
    counted = Counted(rules[0], int(np.median(right)), m, 1.0)
    most = ceiling(1.0, m)
    assert 0.79 < refuted([counted], claim, 0.05) < most < 0.88


# --- the estimate for independent canaries --------------------------------------------------------


@pytest.mark.parametrize("right", [70, 84, 40])
def test_the_estimate_for_independent_canaries_is_a_quantile(right):
    """Of so many right guesses about all canaries, which are a binomial number; 0 of fewer."""
    included = np.arange(100) < 50
    wrong = np.tile(np.arange(50) < (100 - right) / 2, 2)
    mu = independent_mu(1.0 * (included ^ wrong), included, 0.05, 0)
    chance = brentq(lambda q: binom.sf(right - 1, 100, q) - 0.05, 1e-9, 1)
    assert mu == pytest.approx(max(2 * ndtri(chance), 0.0))


def test_the_estimate_is_no_bound_where_canaries_share_the_leak():
    """It attains its level for Gaussian scores. The chance of a false alarm is 1e-4 for each."""
    rng, wrong, too_large = np.random.default_rng(3), 0, 0
    for _ in range(200):
        included = rng.random(200) < 0.5
        own = rng.normal(0, 1, 200)
        wrong += independent_mu(0.8 * included + own, included, 0.05, 0) > 0.8
        shared = 0.3 if rng.random() < 0.1 else 3.0  # one noise for all, at random
        too_large += independent_mu(included + shared * own, included, 0.05, 0) > 1.5
    assert wrong <= binom.ppf(0.9999, 200, 0.05)
    assert too_large >= binom.ppf(1e-4, 200, 0.1)
