"""One run: the bounds hold for every private mechanism, exactly; rules are fixed; mistakes."""

import itertools
import json
import math
from bisect import bisect_left
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom, mannwhitneyu, norm

import epsilometer_audit as ea
from epsilometer.claims import Gaussian, Pure
from epsilometer.errors import ArgumentError, ConfigError, MechanismError
from epsilometer.seeds import generator
from epsilometer_audit.answer.one_run import draw_canaries
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.cli.running import audited
from epsilometer_audit.outputs import callables as sources
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
    counted = Counted(Rule(guesses, 0), right, canaries, share=1.0)
    return counted.p_value(epsilon, delta)


def most_right(canaries, guesses, right, epsilon, delta):
    """Return the largest probability of so many right guesses, over all private mechanisms.

    A linear program: the probability of each guess given each input, and slacks of the constraints
    sum_t max(P(t | s) - e^epsilon P(t | s'), 0) <= delta of neighbours s and s'.
    """
    inputs = list(itertools.product((-1, 1), repeat=canaries))
    guessed = itertools.product((-1, 0, 1), repeat=canaries)
    outputs = [t for t in guessed if np.abs(t).sum() == guesses]
    n, k = len(inputs), len(outputs)
    pairs = [
        (i, j)
        for i, j in itertools.permutations(range(n), 2)
        if np.count_nonzero(np.subtract(inputs[i], inputs[j])) == 1
    ]
    above = np.zeros((len(pairs), k + 1, n + len(pairs), k))  # rows of a pair, then the numbers
    each = np.arange(k)
    for number, (i, j) in enumerate(pairs):
        above[number, each, i, each], above[number, each, j, each] = 1, -math.exp(epsilon)
        above[number, each, n + number, each] = -1
        above[number, k, n + number] = 1
    limits = np.tile([0.0] * k + [delta], len(pairs))
    equal = np.zeros((n, n + len(pairs), k))
    equal[np.arange(n), np.arange(n)] = 1
    gain = np.zeros((n + len(pairs), k))
    for i, s in enumerate(inputs):
        gain[i] = [-float(np.equal(s, guess).sum() >= right) / n for guess in outputs]
    rows = above.reshape(len(limits), gain.size)
    sums = equal.reshape(n, gain.size)
    solution = linprog(gain.ravel(), rows, limits, sums, np.ones(n), bounds=(0, 1))
    assert solution.success
    return -solution.fun


@pytest.mark.parametrize(("canaries", "guesses"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_no_private_mechanism_lets_more_be_guessed_and_some_as_much(canaries, guesses, epsilon):
    for right in range(1, guesses + 1):
        for delta in (0.0, 1e-3, 0.05, 0.3):
            most = most_right(canaries, guesses, right, epsilon, delta)
            bound = p_value(right, guesses, canaries, epsilon, delta)
            assert most <= bound + 1e-8
            if delta <= 1e-3:
                assert most == pytest.approx(bound, abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 4.0, 20.0])
def test_without_delta_it_is_a_binomial_tail(epsilon):
    for r, v in ((1, 1), (20, 15), (400, 310), (400, 400), (7, 0)):
        tail = binom.sf(v - 1, r, expit(epsilon))
        assert p_value(v, r, 1000, epsilon) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize(
    ("right", "guesses"), [(950, 1000), (990, 1000), (1400, 1400), (3900, 4000), (4000, 4000)]
)
def test_far_in_the_tail_the_second_term_is_a_sum_of_quotients(right, guesses, epsilon):
    """P[W >= v] / P[W = v]; P[W = v] may be no number any more."""
    quotient, total = 1.0, 0.0
    for k in range(right, guesses + 1):
        total += quotient
        quotient *= (guesses - k) / (k + 1) * math.exp(epsilon)
    found = p_value(right, guesses, 5000, epsilon, 1e-5)
    assert found == pytest.approx(
        5000 * 1e-5 / right * total, rel=1e-4 if right in (990, 3900) else 1e-9
    )
    assert p_value(10, 20, 50, 200.0, 1e-5) == 1


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.02])
@pytest.mark.parametrize("right", [160, 250, 390])
def test_the_bound_is_the_largest_level_that_is_refuted(delta, right):
    counted = [Counted(Rule(200, 200), right, 400, 0.5), Counted(Rule(200, 0), 110, 400, 0.5)]

    def p(epsilon):
        return min(score.p_value(epsilon, delta) for score in counted)

    for claimed in (0.0, 0.5, 2.0, 5.0):
        level = refuted(counted, Pure(claimed, delta), 0.05)
        if level < 0:
            assert p(0.0) > 0.05
            continue
        assert all(p(below) <= 0.05 for below in np.linspace(0, level, 100))
        assert p(level * 1.01 + 0.01) > 0.05
        assert (level >= claimed) == (p(claimed) <= 0.05)


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("right", [60, 80, 99])
def test_the_largest_refuted_delta_is_that_whose_p_value_is_alpha(right, share):
    counted = Counted(Rule(50, 50), right, 400, share)
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        delta = counted.delta(epsilon, 0.05)
        if delta:
            assert counted.p_value(epsilon, delta) == pytest.approx(0.05)
            assert 0 < delta < 1
        else:
            assert counted.p_value(epsilon, 0.0) >= 0.05


@pytest.mark.parametrize(
    "claim", [Gaussian(0.4), Pure(0.5), Pure(0.5, 1e-3)], ids=lambda claim: claim.text()
)
def test_a_level_whose_p_value_is_alpha_is_refuted(claim):
    counted = [Counted(Rule(20, 20), 34, 400, 1.0)]
    alpha = counted[0].p_value_of(claim)
    assert 0.0 < alpha < 0.1
    assert refuted(counted, claim, alpha) >= claim.level
    assert refuted(counted, claim, alpha * (1 - 1e-12)) < claim.level
    lowest = claim.grid[0] if claim.fixed_delta is not None else claim.grid[1]
    alpha = counted[0].p_value_of(claim.at(lowest))
    assert refuted(counted, claim, alpha) == lowest


def test_the_best_single_epsilon_of_a_gaussian_claim():
    """None of a finer and longer grid gives a p-value that is smaller by a hundredth."""
    several = Counted(Rule(100, 100), 150, 1000, 1.0)
    few = Counted(Rule(5, 5), 10, 10, 1.0)
    many = Counted(Rule(500_000, 500_000), 10**6, 10**6, 1.0)
    for mu, counted in ((0.3, several), (0.5, several), (1.5, few), (2.0, many)):
        best = counted.at_one_epsilon(mu)
        others = [counted.p_value(e, delta_of(mu, e)) for e in np.linspace(1e-3, 9 * mu, 500)]
        at_its_delta = counted.p_value(best.epsilon, delta_of(mu, best.epsilon))
        assert best.p_value < 0.9
        assert best.p_value == pytest.approx(at_its_delta, rel=1e-6)
        assert best.p_value <= 1.01 * min(others)


# --- rules ----------------------------------------------------------------------------------------


def test_from_one_guess_to_all_are_accepted():
    for number in (1, 300):
        assert requested_rules(number, 300, Pure(1.0), 0.05)[0].guesses == number
    for number in (0, 301):
        with pytest.raises(ArgumentError, match="guesses"):
            requested_rules(number, 300, Pure(1.0), 0.05)


@pytest.mark.parametrize(("claimed", "delta"), [(1.0, 0.0), (0.3, 1e-4)])
def test_a_detectable_level_is_a_quantile_of_the_binomial(claimed, delta):
    rule, claim = Rule(60, 40), Pure(claimed, delta)
    level = detectable([rule], 400, claim, 0.05)
    p = [Counted(rule, right, 400, 1.0).p_value_of(claim) for right in range(101)]
    least = next(right for right in range(101) if p[right] <= 0.05)
    assert binom.sf(least - 1, 100, expit(level)) == pytest.approx(0.9)
    assert detectable([Rule(3, 0)], 400, claim, 0.05) is None


def test_the_rule_of_a_gaussian_claim_refutes_the_least_noise():
    """With probability 1/2: of all rules of a finer grid, none a level lower by a tenth of it.

    And of those that have so many guesses, less by a factor of the root of 2 in turn, none at all.
    """
    m, claim, alpha = 500, Gaussian(0.5), 0.05
    (chosen,) = rules_of(m, claim, alpha)
    levels = {}

    def refutes(right):
        return Counted(rule, right, m, 1.0).at_one_epsilon(0.5).p_value <= alpha

    tried = [int(m / 2 ** (k / 2)) for k in range(14)]
    for guesses in {chosen.guesses, *tried, *range(20, m, 180)}:
        rule = Rule.even(guesses)
        least = bisect_left(range(guesses + 1), True, key=refutes)
        if least <= guesses:
            share = median_share(least, guesses)
            high, low = share * guesses / m, (1 - share) * guesses / m
            levels[guesses] = norm_quantile(high) - norm_quantile(low)
    assert levels[chosen.guesses] < 1.1 * min(levels.values())
    assert abs(chosen.guesses - min(levels.keys() & tried, key=levels.__getitem__)) <= 1


def median_share(least, guesses):
    """Return the chance of a right guess at which so many are right with probability 1/2."""
    return brentq(lambda q: binom.sf(least - 1, guesses, q) - 0.5, 0, 1)


def norm_quantile(p):
    return ndtri(min(p, 1.0))


def test_rules_depend_on_no_score_and_none_is_idle():
    rules = rules_of(1000, Pure(1.0, 1e-5), 0.05)
    assert rules[0] == Rule(500, 500)
    assert {rule.guesses for rule in rules} == {1000, 500, 250, 125, 62, 31}
    for rule in rules:
        r = rule.guesses
        assert p_value(r, r, 1000, 1.0, 1e-5) <= 0.05 / len(rules)
    assert rules_of(80, Pure(20.0), 0.05) == [Rule(40, 40)]
    assert all(rule.top == rule.bottom or rule.guesses % 2 for rule in rules)


def test_rules_halve_down_to_ten_guesses_that_all_right_refute():
    """Each has an equal share of alpha; one that refutes at alpha itself is among them."""
    assert [rule.guesses for rule in rules_of(80, Pure(0.0), 0.5)] == [80, 40, 20, 10]
    alpha = Counted(Rule(5, 5), 10, 20, 0.5).p_value_of(Pure(0.0))
    assert alpha == pytest.approx(2 * 0.5**10)
    assert [rule.guesses for rule in rules_of(20, Pure(0.0), alpha)] == [20, 10]
    assert [rule.guesses for rule in rules_of(20, Pure(0.0), 0.99 * alpha)] == [20]
    scores = np.arange(20.0)
    counted = count(scores, scores > 9, rules_of(20, Pure(0.0), 0.05), 0)
    assert [(each.right, each.share) for each in counted] == [(20, 0.5), (10, 0.5)]


@pytest.mark.parametrize("claim", [Pure(0.3), Pure(0.3, 0.01), Gaussian(0.4)])
def test_a_rule_with_a_part_of_alpha_has_a_p_value_over_it(claim):
    right = 34
    whole = Counted(Rule(20, 20), right, 100, 1.0).p_value_of(claim)
    part = Counted(Rule(20, 20), right, 100, 0.25).p_value_of(claim)
    assert part == pytest.approx(min(4 * whole, 1), rel=1e-9)
    assert 0 < whole < 0.2
    if isinstance(claim, Gaussian):
        single = [Counted(Rule(20, 20), right, 100, of).at_one_epsilon(0.4) for of in (1, 0.25)]
        assert single[1].p_value == pytest.approx(min(4 * single[0].p_value, 1))
        assert whole < single[0].p_value
    assert Counted(Rule(20, 20), 20, 100, 0.25).p_value_of(claim) == 1


def test_of_several_rules_the_least_level_is_detectable_with_its_part_of_alpha():
    rules, claim = [Rule(60, 40), Rule(20, 20)], Pure(0.5)
    levels = []
    for rule in rules:
        r = rule.guesses
        tails = binom.sf(np.arange(-1, r), r, expit(0.5))
        least = int(np.argmax(tails <= 0.025))
        levels.append(
            brentq(lambda e, of=(least, r): binom.sf(of[0] - 1, of[1], expit(e)) - 0.9, 0, 9)
        )
    assert detectable(rules, 400, claim, 0.05) == pytest.approx(min(levels))
    # where all five guesses must be right
    assert expit(detectable([Rule(5, 0)], 400, Pure(0.0), 0.05)) == pytest.approx(0.9 ** (1 / 5))
    alpha = Counted(Rule(5, 0), 5, 400, 1.0).p_value_of(Gaussian(0.1))
    level = detectable([Rule(5, 0)], 400, Gaussian(0.1), alpha)
    share = 0.9 ** (1 / 5) / 40  # of the canaries that are in: half of all
    assert level == pytest.approx(ndtri(share) - ndtri((1 - 0.9 ** (1 / 5)) / 40))


@pytest.mark.parametrize("rule", [Rule(50, 50), Rule(30, 30), Rule(60, 0), Rule(100, 0)])
def test_a_level_of_noise_has_so_many_right_guesses_with_this_chance(rule):
    """Scores above a threshold are guessed as in, and for an even rule those below as out."""
    r, m = rule.guesses, 100
    ends = 1 if rule.bottom else 0.5
    for least, chance in ((int(0.7 * r), 0.5), (int(0.9 * r), 0.05), (r, 0.9), (r // 3, 0.9)):
        level = guessing._gaussian_level(rule, m, least, chance)
        wanted = brentq(lambda q, v=least, c=chance: binom.sf(v - 1, r, q) - c, 1e-9, 1)
        if wanted * r >= ends * m:  # more canaries are guessed as in than are
            assert level == math.inf
        elif (1 - wanted) * r >= ends * m:
            assert level == -math.inf
        else:
            guessed = r / m / ends
            threshold = brentq(lambda t, s=level, g=guessed: ndtr(s - t) + ndtr(-t) - g, -30, 30)
            assert ndtr(level - threshold) / guessed == pytest.approx(wanted)
    assert guessing._gaussian_level(rule, m, r + 1, 0.5) == math.inf


@pytest.mark.parametrize("right", [70, 84, 40])
def test_the_estimate_for_independent_canaries_is_a_quantile(right):
    """Of so many right guesses about all canaries, which are a binomial number; 0 of fewer."""
    included = np.arange(100) < 50
    wrong = np.concatenate([np.arange(50) < (100 - right) / 2] * 2)
    mu = independent_mu(np.where(included ^ wrong, 1.0, 0.0), included, 0.05, 0)
    chance = brentq(lambda q: binom.sf(right - 1, 100, q) - 0.05, 1e-9, 1)
    assert mu == pytest.approx(max(2 * ndtri(chance), 0.0))
    assert (mu > 0) == (right > 50)


def counts(rows, **options):
    guessed = ea.audit_one_run(*rows, ea.pure(1.0), **options).guesses
    return guessed["right"], guessed["guesses"]


def test_guesses_are_counted_by_hand():
    scores = np.array([5.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 0.0])
    rows = scores, scores > 4.5
    assert counts(rows, guesses=10) == (10, 10)
    assert counts(rows, guesses=(3, 0)) == (3, 3)
    assert counts((scores, scores < 4.5), guesses=(4, 2)) == (0, 6)
    assert counts((scores, scores > 7.5), guesses=(4, 6)) == (2 + 6, 10)
    assert counts((scores, scores > 7.5), guesses=5) == (2 + 2, 5)  # the odd one at the top
    assert counts((np.where(scores < 4.5, -np.inf, 1.0), scores > 4.5), guesses=10) == (10, 10)


def test_equal_scores_carry_no_information_in_any_order():
    """A file may list those that were in first."""
    included = np.repeat([1, 0], 500)
    for rows in ((np.zeros(1000), included), (np.zeros(1000), included[::-1])):
        right, total = counts(rows, guesses=400)
        assert abs(right - total / 2) < 4 * math.sqrt(total) / 2
        assert ea.audit_one_run(*rows, ea.pure(0.1)).verdict == "not refuted"


# --- level and power ------------------------------------------------------------------------------


def response(rng, m, epsilon):
    """Return whether guesses about m canaries are right: as often as epsilon allows."""
    return rng.random(m) < expit(epsilon)


def scored(rng, right, included):
    """Return scores whose sign is the guess."""
    return np.where(right == included, 1, -1) * rng.uniform(0.5, 1, included.size)


def delta_of(mu, epsilon):
    """Return delta of N(0, 1) against N(mu, 1) (Balle and Wang 2018)."""
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def of_response(epsilon):
    return lambda rng, included: scored(rng, response(rng, included.size, epsilon), included)


def of_noise(rng, included):
    return 0.8 * included + rng.normal(0, 1, included.size)


def given_away(rng, included):
    """Reveal each canary with probability .002, and else by randomised response."""
    revealed = rng.random(included.size) < 0.002
    right = response(rng, included.size, 0.5) | revealed
    return scored(rng, right, included) * np.where(revealed, 9, 1)


LEVELS = {  # scores at the very level of the claim, and how many are guessed
    "response": (of_response(1.0), ea.pure(1.0), 200),
    "response by all rules": (of_response(1.0), ea.pure(1.0), None),
    "noise": (of_noise, ea.approximate(0.3, delta_of(0.8, 0.3)), None),
    "given away": (given_away, ea.approximate(0.5, 0.002), None),
}


def refuted_by(scores, included, claim, guesses, alpha, known=None):
    """Whether scores refute a claim; ``known`` are answers for the same counts."""
    counted = count(scores, included, requested_rules(guesses, scores.size, claim, alpha), 0)
    known, key = {} if known is None else known, tuple(rule.right for rule in counted)
    if key not in known:
        known[key] = min(rule.p_value_of(claim) for rule in counted) <= alpha
    return known[key]


@pytest.mark.parametrize("name", LEVELS)
def test_the_level_of_mechanisms_at_their_claim(name):
    """A violation comes in no more than alpha of 400 runs."""
    (scores, claim, guesses), rng, alpha, wrong = LEVELS[name], np.random.default_rng(8), 0.1, 0
    known = {}
    for _ in range(400):
        included = rng.random(400) < 0.5
        rows = scores(rng, included), included
        wrong += refuted_by(*rows, claim, guesses, alpha, known)
    assert wrong <= binom.ppf(0.9999, 400, alpha)
    if name == "response":
        assert wrong >= 400 * 0.02  # it does use its alpha, but for the steps of the binomial
    verdict = ea.audit_one_run(*rows, claim, alpha=alpha, guesses=guesses)
    assert (verdict.verdict == "violated") == refuted_by(*rows, claim, guesses, alpha)
    assert (verdict.bound > claim.epsilon) <= (verdict.verdict == "violated")


def test_the_estimate_for_independent_canaries_is_one():
    """It attains its level for Gaussian scores, and fails where canaries share the leak."""
    rng, wrong, too_large, violated = np.random.default_rng(3), 0, 0, 0
    for _ in range(200):
        included = rng.random(200) < 0.5
        scores = 0.8 * included + rng.normal(0, 1, 200)
        wrong += independent_mu(scores, included, 0.05, 0) > 0.8
        shared = 0.3 if rng.random() < 0.1 else 3.0  # one noise for all, at random
        scores = included + shared * rng.normal(0, 1, 200)
        too_large += independent_mu(scores, included, 0.05, 0) > 1.5
        violated += refuted_by(scores, included, ea.approximate(1.8, 0.11), None, 0.05)
    assert wrong <= binom.ppf(0.9999, 200, 0.05)
    assert binom.ppf(1e-4, 200, 0.1) <= too_large
    assert violated <= binom.ppf(0.9999, 200, 0.05)
    verdict = ea.audit_one_run(scores, included, ea.gdp(0.8))
    assert verdict.guesses["independent_mu"] == independent_mu(scores, included, 0.05, 0)
    assert "not tested, no bound, no part of the verdict" in str(verdict)


# --- verdicts and errors --------------------------------------------------------------------------


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    included = rng.random(300) < 0.5
    return included + rng.normal(0, 0.4, 300), included


def test_a_verdict_as_every_other(rows):
    verdict = ea.audit_one_run(*rows, ea.pure(0.5), guesses=100)
    assert (verdict.verdict, verdict.exit_code, verdict.method) == ("violated", 1, "one run")
    text = str(verdict)
    assert "  guesses     100 of 100 are right: the 50 highest scores as in, the 50 lowest" in text
    assert f"  canaries    300, of which {rows[1].sum()} were in" in text
    plain = json.loads(verdict.to_json())
    assert (plain["guesses"]["right"], plain["bound"]) == (100, verdict.bound)
    assert plain["bound"] > 3


INCLUDED = np.random.default_rng(1).random(300) < 0.5
BIASED = np.random.default_rng(2).random(300) < 0.2


@pytest.mark.parametrize(
    ("scores", "included", "epsilon", "verdict", "words"),
    [
        (
            INCLUDED,
            BIASED,
            1.0,
            "invalid",
            f"{BIASED.sum()} of 300 canaries were in, by fair coins",
        ),
        (np.arange(300), np.repeat([1, 0], [180, 120]), 1.0, "not refuted", "180 of 300 canaries"),
        (INCLUDED, INCLUDED, 8.0, "undecided", "no guesses would have refuted it"),
        (-1.0 * INCLUDED, INCLUDED, 1.0, "not refuted", "give the scores another sign"),
        (np.zeros(300), INCLUDED, 1.0, "not refuted", "all scores are equal"),
    ],
)
def test_a_fault_of_coins_scores_or_a_claim_is_told(scores, included, epsilon, verdict, words):
    answer = ea.audit_one_run(scores, included, ea.pure(epsilon), guesses=100)
    assert answer.verdict == verdict
    assert words in str(answer)
    right = str(ea.audit_one_run(INCLUDED, INCLUDED, ea.pure(1.0)))
    assert not any(fault in right for fault in ("another sign", "fair coins with", "are equal"))


def checked(scores, included):
    """Return the results of the checks by name."""
    answer = ea.audit_one_run(scores, included, ea.pure(1.0), guesses=10)
    return {check["name"]: check["result"] for check in answer.checks}


@pytest.mark.parametrize("m", [40, 301])
def test_coins_are_doubted_below_a_thousandth_and_invalid_below_a_millionth(m):
    """By the two-sided probability of so many canaries that were in, of all counts."""
    results = set()
    for k in range(m + 1):
        no_less_likely = binom.pmf(np.arange(m + 1), m, 0.5)
        chance = no_less_likely[no_less_likely <= no_less_likely[k] * (1 + 1e-9)].sum()
        wanted = "failed" if chance < 1e-6 else "note" if chance < 1e-3 else "passed"
        if m == 40 or abs(k - m / 2) < 60:
            rows = np.arange(m), np.arange(m) < k
            assert checked(*rows)["fair coins"] == wanted
            results.add(wanted)
    assert results == {"failed", "note", "passed"}


def test_scores_are_said_to_be_reversed_below_five_standard_deviations():
    """Of the sum of ranks of the canaries that were in, by the test of Mann and Whitney."""
    rng, results = np.random.default_rng(0), set()
    for shift in np.linspace(0.3, 1.3, 60):
        included = np.arange(200) < 90
        scores = np.round(rng.normal(0, 1, 200) - shift * included, 1)  # with equal ones
        z = norm.isf(mannwhitneyu(scores[included], scores[~included], False, "less").pvalue)
        results.add(z > 5)
        assert ("direction" in checked(scores, included)) == (z > 5)
    assert results == {False, True}


@pytest.mark.parametrize(
    ("right", "epsilon", "detect", "verdict"),
    [
        (300, 1.0, None, "violated"),
        (300, 1.0, 100.0, "violated"),  # whatever else would have been found
        (150, 1.0, None, "not refuted"),
        (150, 1.0, 100.0, "not refuted"),
        (150, 1.0, 1.001, "undecided"),
        (150, 9.0, None, "undecided"),
    ],
)
def test_a_verdict_on_one_run(right, epsilon, detect, verdict):
    included = np.arange(300) % 2
    guesses = np.where(np.arange(300) < right, included, 1 - included)
    options = {} if detect is None else {"detect": detect}
    answer = ea.audit_one_run(guesses, included, ea.pure(epsilon), guesses=300, **options)
    assert answer.verdict == verdict
    assert bool(answer.reasons) == (verdict == "undecided")


@pytest.mark.parametrize(("below", "verdict"), [(0.0, "violated"), (1e-12, "not refuted")])
def test_a_claim_is_violated_where_its_own_level_is_refuted(below, verdict, monkeypatch):
    monkeypatch.setattr(guessing, "refuted", lambda *_: 1.0 - below)
    included = np.arange(300) % 2
    assert ea.audit_one_run(included, included, ea.pure(1.0)).verdict == verdict


class Source:
    description = "f(coins)"

    def draw(self, coins, size, seed):
        self.seed = seed
        return [coins]


def test_coins_and_training_have_seeds_of_their_own():
    seeds = set()
    for seed in range(20):
        source = Source()
        coins, scores = draw_canaries(source, 50, seed)
        assert scores.tolist() == coins.tolist()
        of_coins = generator(seed, "one run", "coins")
        assert source.seed != int(of_coins.integers(2**31))
        assert not (np.random.default_rng(source.seed).integers(0, 2, 50) == coins).all()
        seeds.add(source.seed)
    assert len(seeds) == 20
    assert 2**30 <= max(seeds) < 2**31  # all are below 2^30 with probability 2^-20


def test_of_several_rules_the_largest_delta_is_the_bound():
    rng = np.random.default_rng(2)
    included = rng.random(1000) < 0.5
    rows = 1.5 * included + rng.normal(0, 1, 1000), included
    claim = ea.approximate(0.2, 1e-3)
    answer = ea.audit_one_run(*rows, claim)
    deltas = [rule.delta(0.2, 0.05) for rule in count(*rows, rules_of(1000, claim, 0.05), 0)]
    assert answer.bounds[1].lower == max(deltas) > min(deltas)
    assert answer.p_value == min(
        rule.p_value_of(claim) for rule in count(*rows, rules_of(1000, claim, 0.05), 0)
    )


def test_a_level_that_is_just_detectable_is_enough():
    included = np.arange(300) % 2
    rows = np.zeros(300), included
    level = ea.audit_one_run(*rows, ea.pure(1.0)).detectable
    for detect, verdict in ((level, "not refuted"), (level - 1e-9, "undecided")):
        answer = ea.audit_one_run(*rows, ea.pure(1.0), detect=detect)
        assert answer.verdict == verdict


def test_ten_canaries_are_enough_and_a_million_are_the_most():
    canaries = np.arange(10)
    assert ea.audit_one_run(canaries, canaries % 2, ea.pure(1.0)).guesses["canaries"] == 10
    with pytest.raises(ArgumentError, match="must be of 10 canaries or more, got 9"):
        ea.audit_one_run(canaries[:9], canaries[:9] % 2, ea.pure(1.0))
    for number in (10, 10**6):
        assert draw_canaries(Source(), number, 0)[1].size == number
    for number, words in ((9, "at least 10"), (10**6 + 1, "at most 1000000")):
        with pytest.raises(ArgumentError, match=f"canaries must be {words}, got {number}"):
            draw_canaries(Source(), number, 0)


def test_coins_may_be_written_in_three_ways():
    for included in ([True, False], [1, 0], [1, -1], [1.0, -1.0]):
        answer = ea.audit_one_run(np.arange(40), np.tile(included, 20), ea.pure(1.0))
        assert answer.guesses["included"] == 20
    for none in ([1, 0, -1, 1], [2, 1, 2, 1], ["a", "b", "a", "b"]):
        with pytest.raises(ArgumentError, match="must be true or false, 1 or 0, or 1 or -1"):
            ea.audit_one_run(np.arange(40), np.tile(none, 10), ea.pure(1.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim": ea.zcdp(1.0)}, "claim must be of epsilon or gdp"),
        ({"scores": np.zeros((5, 2))}, r"scores must have shape \(m,\), got \(5, 2\)"),
        ({"scores": [math.nan, *range(299)]}, "scores hold nan, at place 0"),
        ({"scores": range(299)}, "included must be as many as the scores, 299, got 300"),
        ({"guesses": 301}, "guesses must be 1 to 300, as many as there are canaries, got 301"),
        ({"guesses": (0, 0)}, "guesses must be 1 to 300"),
        ({"guesses": (1, 2, 3)}, "guesses must be one number or two, got 3"),
        ({"detect": 0.5}, "detect must be above the claim, 1"),
    ],
)
def test_a_mistake_is_a_line(rows, change, message):
    arguments = {"scores": rows[0], "included": rows[1], "claim": ea.pure(1.0), **change}
    with pytest.raises(ArgumentError, match=message):
        ea.audit_one_run(**arguments)


# --- coins of our own, files and the command line -------------------------------------------------

MECHANISM = """
import numpy as np
def scores(included, rng): return np.array(included) + rng.normal(0, 0.5, len(included))
def many(included, size, rng): return np.array(included) + rng.normal(0, 0.5, (size, len(included)))
def plain(included, rng): return [bit + rng.normal(0, 0.5) for bit in included]
def few(included): return [1.0, 2.0]
def word(included): return "a"
def nan(included): return [float("nan")] * len(included)
def array(included: np.ndarray, rng): return included - 0.5 + rng.normal(0, 0.5, included.shape)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MECHANISM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("function", ["scores", "many", "plain", "array"])
def test_the_mechanism_gets_coins_once(here, function):
    source = sources.load(f"own.py:{function}")
    coins, scores = draw_canaries(source, 400, seed=3)
    assert scores.shape == coins.shape == (400,)
    assert set(coins) == {0, 1}
    assert np.array_equal(draw_canaries(source, 400, seed=3)[1], scores)
    assert not np.array_equal(draw_canaries(source, 400, seed=4)[0], coins)
    verdict = ea.audit_one_run(scores, coins, ea.pure(1.0), guesses=100)
    assert verdict.verdict == "violated"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("few", "own.py:few returned 2 scores of 50 canaries"),
        ("word", "own.py:word returned no numbers"),
        ("nan", "own.py:nan returned a score that is not a number"),
    ],
)
def test_invalid_scores_are_reported(here, function, message):
    with pytest.raises(MechanismError, match=message):
        draw_canaries(sources.load(f"own.py:{function}"), 50, seed=0)


def command(capsys, *words):
    code = main(["audit", *words])
    return code, *capsys.readouterr()


@pytest.fixture
def file(here, rows):
    """The same rows in files of every kind."""
    scores, included = rows
    lines = [f"{i},{s},{str(bool(b)).lower()}" for i, (s, b) in enumerate(zip(*rows, strict=True))]
    (here / "c.csv").write_text("\n".join(["canary,score,included", *lines]))
    (here / "signs.csv").write_text(
        "\n".join(f"{s},{2 * b - 1}" for s, b in zip(*rows, strict=True))
    )
    np.save(here / "c.npy", np.column_stack([scores, included]))
    return here


@pytest.mark.parametrize(
    "words", [["c.csv", "--columns", "score", "included"], ["signs.csv"], ["c.npy"]]
)
def test_files_of_canaries(file, rows, capsys, words):
    code, out, _ = command(capsys, "--one-run", *words, "--epsilon", "1", "--json", "-")
    answer = json.loads(out)
    wanted = ea.audit_one_run(*rows, ea.pure(1.0))
    assert (code, answer["verdict"], answer["bound"]) == (1, "violated", wanted.bound)
    assert answer["guesses"] == wanted.guesses
    assert answer["provenance"]["made of"] == {words[0]: answer["provenance"]["made of"][words[0]]}


def test_a_mechanism_at_the_command_line(here, capsys):
    words = ["own.py:scores", "--canaries", "500", "--epsilon", "1", "--seed", "3"]
    code, out, _ = command(capsys, *words)
    assert code == 1
    assert out.startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least")
    assert command(capsys, *words)[1] == out
    assert command(capsys, "own.py:few", *words[1:])[::2] == (
        4,
        "epsilometer: own.py:few returned 2 scores of 500 canaries\n",
    )


# --- files of audits ------------------------------------------------------------------------------

ENTRY = """
alpha: 0.05
audits:
  one:
    mechanism: {mechanism}
    claim: {{epsilon: 1}}
    {more}
"""
RECORDED = "{one_run: c.csv, columns: [score, included]}"


def case_of(mechanism, more):
    """Return the only case of a file of audits."""
    Path("small.yaml").write_text(ENTRY.format(mechanism=mechanism, more=more))
    (case,) = AuditsFile(Path("small.yaml"), seed=1).cases.values()
    return case


def test_canaries_of_a_file_of_audits(file):
    case = case_of("own.py:scores", "canaries: 300\n    guesses: [30, 30]")
    answer = audited(case.request(), ".", lambda _: None)
    source = sources.load("own.py:scores")
    coins, scores = draw_canaries(source, 300, seed=case.seed)
    options = {"seed": case.seed, "alpha": 0.05, "guesses": (30, 30)}
    wanted = ea.audit_one_run(scores, coins, ea.pure(1.0), **options)
    assert (answer.verdict, answer.bounds) == ("violated", wanted.bounds)
    assert answer.guesses == wanted.guesses
    assert answer.source == source.description
    assert answer.provenance["made of"] == source.digest()


def test_recorded_canaries_of_a_file_of_audits(file, rows):
    answer = audited(case_of(RECORDED, "guesses: 100").request(), ".", lambda _: None)
    wanted = ea.audit_one_run(*rows, ea.pure(1.0), guesses=100)
    assert (answer.verdict, answer.bounds) == ("violated", wanted.bounds)
    assert answer.source == "recorded in c.csv"
    case = case_of(RECORDED.replace("included", "canary"), "")
    answer = audited(case.request(), ".", lambda _: None)
    assert answer.verdict == "failed"
    assert answer.reasons[0].startswith("included must be true or false")


@pytest.mark.parametrize(
    ("mechanism", "more", "message"),
    [
        ("own.py:scores", "", "one.pairs: must be given"),
        ("own.py:scores", "guesses: 3\n    pairs: [[0, 1]]", "guesses: cannot be used with draws"),
        ("own.py:scores", "canaries: 90\n    pairs: [[0, 1]]", "pairs: cannot be used with canar"),
        (RECORDED, "canaries: 90", "one.canaries: cannot be used with what is recorded"),
    ],
)
def test_a_mistake_in_a_file_is_a_line_with_file_and_key(here, mechanism, more, message):
    with pytest.raises(ConfigError, match=f"small.yaml: audits.*{message}"):
        case_of(mechanism, more)


# --- Gaussian privacy -----------------------------------------------------------------------------


def test_the_bound_is_a_level_that_is_refuted_whatever_is_claimed():
    counted = [Counted(Rule(50, 50), 90, 1000, 1.0)]
    bounds = [refuted(counted, Gaussian(mu), 0.05) for mu in (0.2, 0.5, 3.0)]
    assert bounds == pytest.approx([bounds[0]] * 3, rel=0.01)
    assert refuted(counted, Gaussian(bounds[0]), 0.05) == bounds[0]  # a claim that is the last
    assert counted[0].p_value_of(Gaussian(bounds[0])) <= 0.05
    assert counted[0].p_value_of(Gaussian(bounds[0] * 1.02)) > 0.05
    nothing = refuted([Counted(Rule(50, 50), 50, 1000, 1.0)], Gaussian(0.5), 0.05)
    assert nothing == -1.0


@pytest.mark.parametrize("name", CASES)
def test_private_mechanisms_are_violated_in_no_more_than_alpha_of_300_runs(name):
    """Among them some that tell everything at times, and canaries that share noise."""
    hits = sum(violated(name, 200, seed) for seed in range(300))
    assert hits <= binom.ppf(0.9999, 300, 0.05)


def right_guesses(rng, m, mu, rule):
    """Return how many guesses are right of scores with Gaussian noise."""
    included = rng.random(m) < 0.5
    rising = included[np.argsort(mu * included + rng.normal(0, 1, m))]
    return rising[m - rule.top :].sum() + (~rising[: rule.bottom]).sum()


@pytest.mark.slow(seconds=2)
def test_the_yardstick_and_its_ceiling():
    """100,000 canaries, mu = 1: the median of the bound is .8, of 3.4 at delta = 1e-5."""
    m, claim = 100_000, Gaussian(0.75)
    (rule,) = rules_of(m, claim, 0.05)
    rng = np.random.default_rng(0)
    rights = [right_guesses(rng, m, 1.0, rule) for _ in range(11)]
    counted = Counted(rule, int(np.median(rights)), m, 1.0)
    most = ceiling(1.0, m)
    assert 0.79 < refuted([counted], claim, 0.05) < most < 0.88
    at_most = Gaussian(most)
    level = detectable(rules_of(m, at_most, 0.05), m, at_most, 0.05)
    assert level is not None
    assert level > 1


def test_a_verdict_on_gaussian_privacy():
    rng = np.random.default_rng(1)
    included = rng.random(1000) < 0.5
    scores = included + rng.normal(0, 1, 1000)
    verdict = ea.audit_one_run(scores, included, ea.gdp(0.3))
    assert (verdict.verdict, verdict.claim["notion"]) == ("violated", "gdp")
    assert 0.3 < verdict.bound < 1
    assert verdict.p_value < 0.05
    assert ea.audit_one_run(scores, included, ea.gdp(1.0)).verdict == "not refuted"
    few = ea.audit_one_run(scores, included, ea.gdp(1.0), guesses=4)
    assert (few.verdict, few.detectable) == ("undecided", None)
