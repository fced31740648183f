"""One run, Gaussian privacy: the bound of many epsilons, its level, its power and the ceiling."""

import math
from bisect import bisect_left

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

import epsilometer_audit as ea
from epsilometer_audit.canaries import profiles
from epsilometer_audit.canaries.guessing import Counted, Rule, detectable, refuted, rules_of
from epsilometer_audit.statistics.claims import Gaussian
from tests.benchmarks.one_run_ceiling import ceiling
from tests.benchmarks.one_run_levels import CASES, violated


def smallest(right, guesses, limits, costs):
    """Return the smallest a0 of the weights of `profiles`, by a linear program."""
    r, q = guesses, len(limits)
    rows = []
    for k in range(r + 1):
        weights = np.zeros((q, r))
        if k:
            weights[:, k - 1] += k
        if k < r:
            weights[:, k] -= costs * (r - k)
        rows.append([-1, *-weights.ravel()])
    above = [-float(k >= right) for k in range(r + 1)]
    bounds = [(0, None), *[(0, limit) for limit in np.repeat(limits, r)]]
    return linprog([1, *[0] * (q * r)], rows, above, bounds=bounds).fun


@pytest.mark.parametrize("scale", [0.003, 0.01, 0.03, 0.2])
@pytest.mark.parametrize(("right", "guesses"), [(1, 3), (9, 12), (12, 12), (33, 40)])
def test_no_weights_are_better_than_those_of_the_recursion(right, guesses, scale):
    limits, costs = scale * np.array([1.0, 2.0, 0.5]), np.exp([0.5, 1.0, 1.8])
    exact = smallest(right, guesses, limits, costs)
    assert exact - 1e-9 <= profiles._smallest(right, guesses, limits, costs) <= exact * 1.002 + 1e-6


@pytest.mark.parametrize("top", [20, 40])
def test_many_epsilons_are_at_least_as_good_as_one(top):
    rule = Rule(top, 40 - top)
    single, many = [], []
    for right in (34, 37, 40):
        counted = Counted(rule, right, 400, 1.0)
        single.append(counted.at_one_epsilon(0.3)[0])
        many.append(counted.p_value_of(Gaussian(0.3)))
    assert all(a <= b for a, b in zip(many, single, strict=True))
    assert many[0] > many[1] > many[2]


def test_the_bound_is_a_level_that_is_refuted_whatever_is_claimed():
    counted = [Counted(Rule(50, 50), 90, 1000, 1.0)]
    bounds = [refuted(counted, Gaussian(mu), 0.05) for mu in (0.2, 0.5, 3.0)]
    assert bounds == pytest.approx([bounds[0]] * 3, rel=0.01)
    assert counted[0].p_value_of(Gaussian(bounds[0])) <= 0.05
    assert counted[0].p_value_of(Gaussian(bounds[0] * 1.02)) > 0.05
    nothing = refuted([Counted(Rule(50, 50), 50, 1000, 1.0)], Gaussian(0.5), 0.05)
    assert nothing == -1.0


@pytest.mark.parametrize("name", CASES)
def test_private_mechanisms_are_violated_in_no_more_than_alpha_of_300_runs(name):
    """Among them some that tell everything at times, and canaries that share noise."""
    hits = sum(violated(name, 200, seed) for seed in range(300))
    assert hits <= binom.ppf(0.9999, 300, 0.05)


def test_the_yardstick_and_its_ceiling():
    """100,000 canaries, mu = 1: the median of the bound is .8, of 3.4 at delta = 1e-5."""
    m, claim = 100_000, Gaussian(0.75)
    (rule,) = rules_of(m, claim, 0.05)
    rng, rights = np.random.default_rng(0), []
    for _ in range(11):
        included = rng.random(m) < 0.5
        rising = included[np.argsort(included + rng.normal(0, 1, m))]
        rights.append(rising[-rule.top :].sum() + (~rising[: rule.bottom]).sum())
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


def test_a_detectable_level_is_that_of_gaussian_noise():
    m, rng, hits = 1000, np.random.default_rng(4), 0
    claim = Gaussian(0.4)
    rules = rules_of(m, claim, 0.05)
    level = detectable(rules, m, claim, 0.05)

    def enough(right):
        return Counted(rules[0], right, m, 1.0).p_value_of(claim) <= 0.05

    least = bisect_left(range(rules[0].guesses), True, key=enough)
    for _ in range(400):
        included = rng.random(m) < 0.5
        rising = included[np.argsort(level * included + rng.normal(0, 1, m))]
        right = rising[-rules[0].top :].sum() + (~rising[: rules[0].bottom]).sum()
        hits += right >= least
    assert math.isclose(hits / 400, 0.9, abs_tol=0.06)
