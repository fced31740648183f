"""The exact test of two counts, at every outcome of small n, and its bounds."""

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, norm

from epsilometer.claims import Delta, Gaussian, Pure
from epsilometer.errors import ArgumentError
from epsilometer.events import exact_test
from epsilometer.events.choosing import ChosenEvent
from epsilometer.events.events import Event
from epsilometer.events.exact_test import Counted, largest_bound, lower_bound, refutes
from epsilometer.numerics.bisection import bisected

GAMMA = 0.01  # share of alpha for the interval of q
NEARLY = 0.94, 0.951  # shares of the rest: below it claims are refuted, above it not


def plain_tails(k, n, k_prime, m, scale, delta, q, p=None):
    """Return tails by the definition: sums over all pairs of counts.

    P(S) is the largest that the claim allows, if it is not given.
    """
    p = np.minimum(scale * q + delta, 1.0) if p is None else p
    i, j = np.arange(n + 1), np.arange(m + 1)
    excess = i[:, None] / n - scale * (j / m) - delta
    with np.errstate(all="ignore"):
        pooled = (i[:, None] - n * delta + j) / (n * scale + m)
        pooled = np.clip(pooled, 0.0, (1 - delta) / scale)
        p_pooled = np.minimum(scale * pooled + delta, 1.0)
        variance = p_pooled * (1 - p_pooled) / n + scale * (scale * pooled) * (1 - pooled) / m
        scores = np.where(excess > 0, excess / np.sqrt(variance), 0.0)
    worse = scores >= scores[k, k_prime] * (1 - 1e-9)
    of_x = chances(i[:, None], n, p)
    return np.einsum("iq,ij,jq->q", of_x, worse.astype(float), chances(j[:, None], m, q))


def chances(k, n, p):
    """Return P(k of n), by logarithms: SciPy's `binom.pmf` overflows at p = 1e-306."""
    return np.exp(binom.logpmf(k, n, p))


def interval(hits, draws, gamma):
    """Return Clopper and Pearson's interval of a probability at 1 - gamma."""
    low = beta.ppf(gamma / 2, hits, draws - hits + 1) if hits > 0 else 0.0
    high = beta.ppf(1 - gamma / 2, hits + 1, draws - hits) if hits < draws else 1.0
    return low, high


def closely(low, high):
    """Return values from low to high, many of them near either end."""
    near = np.geomspace(1e-9, 1, 300)
    of_all = [np.linspace(low, high, 300), low + (high - low) * near, high - (high - low) * near]
    return np.concatenate(of_all)


@settings(max_examples=60)
@example(n=1, m=1, shares=(1.0, 0.0), epsilon=0.0, delta=0.0, alpha=0.3)
@example(n=14, m=14, shares=(1.0, 1.0), epsilon=0.0, delta=0.3, alpha=0.3)
@given(
    n=st.integers(1, 14),
    m=st.integers(1, 14),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    epsilon=st.floats(0, 3),
    delta=st.sampled_from([0.0, 0.01, 0.3]),
    alpha=st.floats(1e-4, 0.5),
)
def test_a_claim_is_refuted_where_no_q_of_the_interval_has_a_large_tail(
    n, m, shares, epsilon, delta, alpha
):
    k, k_prime = round(shares[0] * n), round(shares[1] * m)
    low, high = interval(k_prime, m, GAMMA * alpha)
    q = closely(low, max(low, min(high, (1 - delta) * math.exp(-epsilon))))
    tails = plain_tails(k, n, k_prime, m, math.exp(epsilon), delta, q)
    agrees = k / n <= math.exp(epsilon) * k_prime / m + delta
    worst = 1.0 if agrees else tails.max()
    found = refutes(k, n, k_prime, m, epsilon=epsilon, delta=delta, alpha=alpha)
    allowed = (1 - GAMMA) * alpha
    if worst > allowed * (1 + 1e-9):
        assert not found
    if worst < NEARLY[0] * allowed:
        assert found


@example(draws=(5, 7), shares=(1.0, 0.5), epsilon=0.5, delta=0.0, q=[1.0])  # where P(S) is 1
@example(draws=(3, 2), shares=(1.0, 1.0), epsilon=0.0, delta=0.0, q=[0.5])  # no excess, no variance
@example(draws=(20_000, 2), shares=(1.0, 0.0), epsilon=700.0, delta=0.0, q=[0.9])  # no variance
@example(draws=(1, 115), shares=(0.0, 0.0), epsilon=700.0, delta=0.0, q=[0.03])  # q = 3e-306
# with low values of q after high ones, at which other counts are likely
@example(draws=(300, 300), shares=(0.4, 0.1), epsilon=0.5, delta=0.1, q=[0.05, 0.9, 1e-9, 0.6])
@example(draws=(5, 300), shares=(0.4, 0.1), epsilon=0.4, delta=0.0, q=[0.1, 0.15])  # rare counts
@example(
    draws=(6, 6), shares=(0.17, 0.0), epsilon=0.0, delta=0.0, q=[0.5]
)  # equal but for rounding
@given(
    draws=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    epsilon=st.one_of(st.floats(0, 6), st.floats(0, 700)),
    delta=st.one_of(st.just(0.0), st.floats(0, 0.5)),
    q=st.lists(st.floats(1e-9, 1), min_size=1, max_size=5),
)
def test_a_tail_is_a_sum_over_all_pairs_of_counts(draws, shares, epsilon, delta, q):
    """Its bound from a low to a high q is that of P(S) at the high one and P'(S) at the low one."""
    n, m = draws
    scale = math.exp(epsilon)
    high = np.array(sorted(q)) * (1 - delta) / scale
    low = high * np.linspace(0, 1, len(q))
    counts = int(shares[0] * n), n, int(shares[1] * m), m
    claim = exact_test._Claim(n, m, np.float64(scale), delta)
    z = float(claim.score(np.array(counts[0]), np.array(counts[2])))
    if z > 0:
        at_high, between = exact_test._Tail(claim, z, 0.0, high[-1]).between(low, high)
        plain = plain_tails(*counts, scale, delta, high)
        assert at_high == pytest.approx(plain, rel=1e-9, abs=1e-14)
        plain = plain_tails(*counts, scale, delta, low, np.minimum(scale * high + delta, 1.0))
        assert between == pytest.approx(plain, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("n", [1, 300, 10**4, 10**8])
def test_counts_that_are_left_out_are_a_millionth_of_a_billionth_as_likely(n):
    for p in (1e-9, 1e-3, 0.1, 0.5, 0.99):
        mean, half = int(n * p), exact_test._half_width(n, p * (1 - p))
        for count in (mean - half - 1, mean + half + 1):
            assert binom.logpmf(count, n, p) < binom.logpmf(mean, n, p) + math.log(1e-15)


def random_counts(rng):
    """Return random numbers of draws, a claim, and counts whose score is above 0."""
    while True:
        n, m = (int(size) for size in 10 ** rng.uniform(0, 4, 2))
        m = rng.choice([n, m])
        epsilon = rng.choice([0.0, rng.uniform(0, 3), rng.uniform(0, 9)])
        delta = rng.choice([0.0, 1e-3, 0.1])
        q = (1 - delta) * math.exp(-epsilon) * rng.choice([rng.random(), 10 ** -rng.uniform(0, 4)])
        k = rng.binomial(n, math.exp(epsilon) * q + delta)
        k = min(k + int(4 * math.sqrt(k + 1) * rng.random()), n)
        k_prime = rng.binomial(m, q)
        if k / n > math.exp(epsilon) * k_prime / m + delta:
            return k, n, k_prime, m, epsilon, delta


@pytest.mark.parametrize(
    "case",
    [
        (10**6, 10**6, 0, 10**6, 12.7, 0.0),  # largest where P(S) = 1
        (580_532, 939_494, 286, 939_494, 7.56, 1e-6),  # ... where x' has no draw in S
        (50_028, 186_291, 211, 186_291, 5.397, 1e-6),
        (56, 96, 18_262, 38_311, 0.0, 0.0),  # ... near one of the counts of x
        (159, 166, 458_341, 585_277, 0.0, 0.0),
        *(random_counts(np.random.default_rng(seed)) for seed in range(100)),
    ],
)
def test_a_claim_is_refuted_where_its_largest_tail_is_a_little_smaller_than_alpha(case):
    """And not where it is larger. Tails are those of 900 values of q."""
    *counts, epsilon, delta = case
    k, n, k_prime, m = (int(count) for count in counts)
    claim = exact_test._Claim(n, m, np.float64(math.exp(epsilon)), delta)
    z = float(claim.score(np.array(k), np.array(k_prime)))

    def worst(alpha):
        low, high = interval(k_prime, m, GAMMA * alpha)
        tail = exact_test._Tail(claim, z, low, min(high, (1 - delta) * math.exp(-epsilon)))
        q = closely(tail.first, tail.last)
        return tail.between(q, q)[0].max() / (1 - GAMMA)

    counts = k, n, k_prime, m
    alpha = min(max(worst(0.05), 1e-6), 0.4)
    for factor in (0.5, 0.98, 1.02, 1 / 0.955, 1.07, 2.0):
        found = refutes(*counts, epsilon=epsilon, delta=delta, alpha=factor * alpha)
        if worst(factor * alpha) > NEARLY[1] * factor * alpha:
            assert not found
        elif worst(factor * alpha) < NEARLY[0] * factor * alpha:
            assert found


def largest_level(refuted, p, q):
    """Return the largest chance of the refuted of all pairs of counts, over chances p and q."""
    n, m = refuted.shape
    of_x = binom.pmf(np.arange(n)[:, None], n - 1, p)
    of_x_prime = binom.pmf(np.arange(m)[:, None], m - 1, q)
    return np.einsum("iq,ij,jq->q", of_x, refuted, of_x_prime)[p <= 1].max()


@pytest.mark.parametrize(
    ("n", "m", "alpha", "delta"),
    [(1, 1, 0.05, 0.0), (9, 9, 0.2, 0.0), (6, 20, 0.1, 0.0), (20, 6, 0.1, 0.0),
     (11, 11, 0.05, 0.05)],
)  # fmt: skip
def test_the_level_holds_for_every_pair_of_probabilities(n, m, alpha, delta):
    """All outcomes are enumerated: no seed, no error of a simulation."""
    bounds = np.zeros((n + 1, m + 1))
    for k, j in product(range(n + 1), range(m + 1)):
        bounds[k, j] = lower_bound(k, n, j, m, alpha=alpha, delta=delta)
    q = np.concatenate([[1e-3, 0.01, 0.02], np.linspace(0.03, 0.97, 95)])
    levels = []
    for epsilon in np.linspace(0, 3, 13):
        levels.append(largest_level(bounds > epsilon + 1e-9, math.exp(epsilon) * q + delta, q))
    assert max(levels) <= alpha
    assert max(levels) > 0 or n < 3  # no empty bound
    assert (np.diff(bounds, axis=0) > -1e-4).all()  # more evidence is never less bound
    assert (np.diff(bounds, axis=1) < 0.05).all()  # the interval of q may leave a peak behind


@pytest.mark.parametrize(
    ("n", "m", "alpha", "epsilon", "q"),
    [
        (35, 35, 0.0075, 0.542949, 0.324093),
        (20, 20, 0.3, 2.7728, 0.05683),
        (4000, 1, 0.0425, 0.0328, 0.9548),
    ],
)
def test_the_level_holds_where_a_hundred_values_of_q_missed_the_worst(n, m, alpha, epsilon, q):
    """Found by a search: with the largest tail of these values they were 1.004 to 1.054 alpha."""
    level = 0.0
    for j in range(m + 1):  # the smallest count of x that is too large for the claim
        refuted = partial(refutes, draws=n, hits_prime=j, draws_prime=m, alpha=alpha)
        _, least = bisected(lambda k, f=refuted: not f(k, epsilon=epsilon), 0, n + 1, 1)
        level += binom.pmf(j, m, q) * binom.sf(least - 1, n, math.exp(epsilon) * q)
    assert level <= alpha


CHANCES = {  # the largest chance on x, of an event of this chance on x', by the claim's definition
    Pure(0.5, 0.1): lambda q: np.exp(0.5) * q + 0.1,
    Delta(0.5, 0.2): lambda q: np.exp(0.5) * q + 0.2,
    Gaussian(1.0): lambda q: norm.cdf(norm.ppf(q) + 1.0),
}
SOME = ChosenEvent(None, swapped=False, share=0.6, share_prime=0.3, expected=0.0)
LIKELY = replace(SOME, share=0.95, share_prime=0.9)  # there a curve of mu has a slope below 1


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("claim", "chosen"), [*((claim, SOME) for claim in CHANCES), (Gaussian(1.0), LIKELY)]
)
def test_the_level_of_a_claim_holds_at_every_alpha(claim, chosen):
    """All outcomes of 6 draws a side, at so many alphas that one lies at a step of the p-values."""
    q = np.linspace(0.02, 0.98, 97)
    shares = []
    for alpha in np.geomspace(0.05, 0.6, 30):
        bounds = np.zeros((7, 7))
        for hits, hits_prime in product(range(7), repeat=2):
            counted = Counted(chosen, hits, hits_prime, 6)
            bounds[hits, hits_prime], _ = largest_bound([counted], claim, alpha, claim.level)
        shares.append(largest_level(bounds > claim.level, CHANCES[claim](q), q) / alpha)
    assert max(shares) <= 1
    assert max(shares) > 0.9 or chosen is LIKELY  # asking for a little less evidence is above alpha
    assert max(shares) > 0


class Twice(Delta):
    """A claim whose deltas are twice its levels."""

    def null(self, levels, mean, order):
        return super().null(2 * levels, mean, order)


def test_the_bound_of_delta_is_at_most_the_largest_level():
    counted = Counted(SOME, 200_000, 0, 200_000)
    top = float(Delta(0.5, 0.2).grid[-1])
    bound, _ = largest_bound([counted], Delta(0.5, 0.2), 0.05)
    assert top - 2e-5 <= bound <= top
    bound, _ = largest_bound([counted], Twice(0.5, 0.2), 0.05)
    assert bound == pytest.approx(0.5, abs=1e-4)  # more allows every event


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("claim", [Pure(0.5), Delta(0.5, 0.2)], ids=["epsilon", "delta"])
def test_what_events_may_spend_sums_to_alpha(claim, number, monkeypatch):
    """The most for the event of the claim: of a delta, it is the last."""
    spent = {}

    def spend(event, claim, alpha, least):
        spent[event] = alpha
        return least

    monkeypatch.setattr(exact_test, "_bound", spend)
    counted = [Counted(SOME, 30 + i, 10, 50) for i in range(number)]
    assert largest_bound(counted, claim, 0.1, 0.25) == (0.25, None)
    assert spent.keys() == {*counted}
    assert sum(spent.values()) == pytest.approx(0.1)
    assert max(spent, key=spent.get) is counted[-1 if claim.of_last_event else 0]
    assert max(spent.values()) >= 0.04
    assert min(spent.values()) >= 0.01  # no event is asked with hardly any


@pytest.mark.parametrize("draws", [40, 4000])
def test_the_bound_is_0_where_the_least_claim_is_not_refuted(draws):
    hits, hits_prime = draws // 2, draws // 8
    counts = hits, draws, hits_prime, draws
    bound = lower_bound(*counts)
    assert 0.4 < bound < math.log(4)
    for least in (0.0, bound - 1e-3):
        assert lower_bound(*counts, least=least) == pytest.approx(bound, abs=1e-4)
    for least in (bound + 1e-3, 3.0, 800.0):
        assert lower_bound(*counts, least=least) == 0


@pytest.mark.parametrize(
    ("counts", "delta"),
    [((0, 10, 5, 10), 0.0), ((10, 10, 10, 10), 0.0), ((5, 10, 5, 10), 0.0), ((5, 10, 0, 10), 0.5)],
)
def test_counts_that_agree_with_a_claim_have_no_bound(counts, delta):
    assert lower_bound(*counts, delta=delta) == 0.0
    assert not refutes(*counts, epsilon=0.0, delta=delta, alpha=0.999)


@pytest.mark.parametrize("n", [100, 1000, 10**6])
def test_without_noise_the_bound_is_the_logarithm_of_the_draws_less_that_of_three(n):
    """With 0 of n' draws the level is about ln(n' / -ln alpha)."""
    assert lower_bound(n, n, 0, n) == pytest.approx(math.log(n / 3), abs=0.1)
    assert not refutes(1, 2, 0, 2, epsilon=700.0)


def test_alpha_is_a_twentieth_if_not_given():
    counts = 9, 10, 0, 10
    bound = lower_bound(*counts)
    assert bound == lower_bound(*counts, alpha=0.05)
    assert refutes(*counts, epsilon=bound)
    assert not refutes(*counts, epsilon=bound + 1e-3)


@pytest.mark.parametrize("counts", [(11, 10, 1, 10), (1, 10, -1, 10), (0, 0, 0, 10)])
def test_hits_are_0_to_draws(counts):
    with pytest.raises(ArgumentError, match="hits must be 0 to draws"):
        lower_bound(*counts)


@pytest.mark.parametrize(
    ("option", "value"),
    [("alpha", 0.0), ("alpha", 1.0), ("delta", 1.0), ("delta", -0.1), ("epsilon", -1.0),
     ("epsilon", 701.0)],
)  # fmt: skip
def test_an_option_out_of_its_range_is_named(option, value):
    function = partial(refutes, epsilon=0.0) if option == "epsilon" else lower_bound
    with pytest.raises(ArgumentError, match=f"{option} must"):
        function(1, 2, 0, 2, **{option: value})


class Other(Pure):
    """A claim whose epsilon is bounded as the levels of other claims are."""

    fixed_delta = None


COUNTS = [(1200, 2000, 660), (90, 300, 60)]
NULLS = [Pure(0.5), Pure(0.5, 0.05), Delta(0.5, 0.2), Other(0.5)]


@pytest.mark.parametrize("claim", NULLS, ids=repr)
def test_a_bound_is_near_the_level_that_is_just_not_refuted(claim):
    """Within 2e-5, of other claims than epsilon relatively; a finer search would take longer."""
    below = []
    for alpha, (k, n, k_prime) in product((0.05, 0.2), COUNTS):

        def refuted(level, alpha=alpha, counts=(k, n, k_prime, n)):
            slope, delta = claim.null(np.array([level]), 0.3, math.nan)
            named = {"epsilon": math.log(slope[0]), "delta": delta[0], "alpha": alpha}
            return refutes(*counts, **named)

        edge, _ = bisected(refuted, 0.0, 0.9 if claim.of_last_event else 3.0, 1e-9)
        bound, _ = largest_bound([Counted(SOME, k, k_prime, n)], claim, alpha)
        unit = max(bound, 0.01) if claim.fixed_delta is None else 1.0
        below.append((edge - bound) / unit)
    assert min(below) > -2e-5
    assert max(below) < 2e-5


@dataclass(frozen=True)
class Line(Delta):
    """P(S) is at most a slope times Q(S) and the level, or so it is of the complements."""

    def null(self, levels, mean, order):
        slope = self.epsilon
        return np.full(np.shape(levels), slope), max(1 - slope, 0.0) + min(slope, 1.0) * levels


@pytest.mark.parametrize("slope", [0.4, 1.0, 1.5])
def test_the_bound_of_a_line_is_where_the_definition_refutes_it(slope):
    """Of a slope below 1, the limit is that of the complement, whose chance is larger on x'."""
    k, k_prime, n, alpha = 55, 20, 60, 0.1
    claim = Line(slope, 0.1)
    bound, _ = largest_bound([Counted(SOME, k, k_prime, n)], claim, alpha)

    def definition(level):
        _, (b,) = claim.null(np.array([level]), 0.3, math.nan)
        q = np.linspace(1e-3, 1, 1000) * min(1.0, (1 - b) / slope)
        if slope < 1:
            low, high = interval(n - k, n, GAMMA * alpha)
            of_complement = 1 - slope * q - b
            q = q[(of_complement >= low) & (of_complement <= high)]
        else:
            low, high = interval(k_prime, n, GAMMA * alpha)
            q = q[(q >= low) & (q <= high)]
        return plain_tails(k, n, k_prime, n, slope, b, q).max()

    assert bound > 0.1
    assert definition(bound - 0.002) <= (1 - GAMMA) * alpha < definition(bound + 0.004)


ANY_EPSILON = pytest.mark.parametrize("claim", [Pure(0.5), Other(0.5)], ids=repr)


@ANY_EPSILON
def test_few_draws_are_tested_again_below_a_bound_at_close_levels(claim, monkeypatch):
    """A claim that is not refuted, a little below others that are, ends the bound.

    There are 63 steps of a part of .3, of which each of these gaps is wider.
    """
    for gap in (0.72, 0.79, 0.84, 0.91, 0.94):

        def refuted(*_, epsilon, gap=gap, **__):
            return not (gap < epsilon < gap + 0.005 or epsilon > 1)

        monkeypatch.setattr(exact_test, "refutes", refuted)
        few = [(4000, 1000, 8000), (7000, 1001, 8000)]  # in the event, or outside
        many = [(4004, 1001, 8008)] if gap == 0.79 else []  # others find it by chance
        for hits, hits_prime, n in few + many:
            edge = 1.0 if (hits, hits_prime, n) in many else gap
            counted = Counted(SOME, hits, hits_prime, n)
            assert largest_bound([counted], claim, 0.05)[0] == pytest.approx(edge, abs=2.1e-5)


@pytest.mark.parametrize(
    ("hits", "draws", "alpha"),
    [(4, 2000, 0.0465), (3, 2000, 0.0902), (3, 10**5, 0.0902), (5, 2000, 0.0183797)],
)
def test_all_claims_below_a_bound_of_rare_counts_are_refuted(hits, draws, alpha):
    """The first three jumped over claims that are not: a level of 1.03 alpha."""
    counts = hits, draws, 0, draws
    bound = lower_bound(*counts, alpha=alpha)
    assert bound > 0.05
    for epsilon in np.linspace(0, bound * (1 - 1e-9), 200):
        assert refutes(*counts, epsilon=epsilon, alpha=alpha)
    assert lower_bound(*counts, alpha=alpha, least=0.08) <= bound + 1e-4  # nor from beyond a gap


@ANY_EPSILON
@pytest.mark.parametrize("too_high", [0.0, 1e-4, 0.2])
def test_a_bound_is_within_2e_5_of_the_last_claim_that_is_refuted(claim, too_high, monkeypatch):
    """Also where the first guess is too high. Of other claims than epsilon relatively.

    Hardly nearer: it would take longer.
    """
    below = []
    for edge in np.geomspace(0.003, 3, 100):

        def refuted(*_, epsilon, coarsely=False, edge=edge, **__):
            return epsilon < edge + too_high * coarsely

        monkeypatch.setattr(exact_test, "refutes", refuted)
        bound, _ = largest_bound([Counted(SOME, 2000, 500, 4000)], claim, 0.05)
        unit = max(edge, 0.01) if claim.fixed_delta is None else 1.0
        below.append((edge - bound) / unit)
    assert min(below) >= 0
    assert 1e-5 < max(below) <= 2e-5


def test_a_first_guess_refutes_all_that_the_test_does_and_hardly_more():
    claims = np.linspace(0, 1, 40)
    sure, coarse = set(), set()
    for epsilon, n in product(claims, (20, 500)):
        counts = n // 2, n, n // 4, n
        if refutes(*counts, epsilon=epsilon):
            sure.add((epsilon, n))
        if refutes(*counts, epsilon=epsilon, coarsely=True):
            coarse.add((epsilon, n))
    assert sure <= coarse
    assert 0 < len(coarse) <= len(sure) + 6


@pytest.mark.parametrize(("swapped", "hits"), [(False, 1), (True, 3)])
@pytest.mark.parametrize("more", [0, 1])
def test_hits_are_those_of_the_side_where_the_event_is_likelier(swapped, hits, more):
    """Of equally many draws a side."""
    x, x_prime = np.array([0, 0, 1, 0] + [1] * more), np.array([1, 1, 0, 1] + [1] * (1 - more))
    chosen = replace(SOME, event=Event(((1, 1),)), swapped=swapped)
    (counted,) = exact_test.count([chosen], x, x_prime)
    assert (counted.hits, counted.hits_prime, counted.draws) == (hits, 4 - hits, 4)
