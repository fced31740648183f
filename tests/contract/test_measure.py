"""The promises of `measure`: confidence, use of draws, and what it says where it cannot."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import linprog, minimize
from scipy.stats import binomtest

import epsilometer as em
from epsilometer import estimates, measurement
from epsilometer.errors import ArgumentError
from epsilometer.events.limits import Box, NestedLimits, box_of, least_divergences
from epsilometer.samples import pair_of
from epsilometer.seeds import generator
from tests.contract.measured import FAMILIES, MEASURED, counted, most


@pytest.fixture
def without_estimates(monkeypatch):
    """Leave out what has no confidence."""
    monkeypatch.setattr(measurement, "_classified", lambda _, at, __: np.full(at.shape, np.nan))
    monkeypatch.setattr(
        measurement, "_for_large_n", lambda _, orders, *__: np.full(len(orders), np.nan)
    )
    monkeypatch.setattr(measurement, "_largest_loss", lambda *_: None)


def pairs_of_boxes(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        n = int(rng.integers(20, 2000))
        yield box_of(rng.multinomial(n, p), n, rng.multinomial(n, q), n, 0.05)


# --- confidence -----------------------------------------------------------------------------------


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("every", [32, 8])
@pytest.mark.parametrize("together", [False, True])
def test_bounds_are_above_the_truth_in_a_share_alpha_of_the_runs(
    together, every, without_estimates
):
    """At confidence .5: each family by itself, or any of all. A false alarm: one in a million."""
    cases, runs = MEASURED[together::every], 15
    times = Counter()
    for case in cases:
        times.update(counted(case, range(runs), confidence=0.5, together=together))
    judged = ["any"] if together else FAMILIES
    for family in judged:
        assert times[family] <= most(runs * len(cases), 0.5), times


def test_limits_of_sets_hold_together():
    """Of five probabilities of either side, all within the limits in half of the runs or more."""
    rng, runs, n = np.random.default_rng(0), 400, 300
    p, q = np.array([0.02, 0.1, 0.3, 0.5, 0.08]), np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    outside = 0
    for _ in range(runs):
        box = box_of(rng.multinomial(n, p), n, rng.multinomial(n, q), n, 0.5)
        inside = (box.low <= p) & (p <= box.high) & (box.low_prime <= q) & (q <= box.high_prime)
        outside += not inside.all()
    assert outside <= most(runs, 0.5)
    assert outside >= 0.25 * runs  # not far wider than needed


@pytest.mark.parametrize(("together", "share"), [(True, 0.25), (False, 1.0)])
def test_each_kind_of_bound_may_spend_a_fourth_of_alpha(
    together, share, monkeypatch, without_estimates
):
    spent = {"events": [], "sets": []}

    def spend_on_event(counted, claim, alpha):
        spent["events"].append(alpha)
        return 0.0, None

    def spend_on_sets(*counts_and_alpha):
        spent["sets"].append(counts_and_alpha[-1])
        return box_of(*counts_and_alpha)

    monkeypatch.setattr(measurement, "largest_bound", spend_on_event)
    monkeypatch.setattr(measurement, "box_of", spend_on_sets)
    x = np.arange(200.0)
    em.measure(x, x, confidence=0.9, together=together)
    assert spent["events"] == pytest.approx([0.1 * share] * 2)
    assert spent["sets"] == pytest.approx([0.1 * share] * len(spent["sets"]))


def test_limits_of_k_sets_miss_in_a_share_of_alpha_over_2_k_each():
    """By the exact intervals of SciPy."""
    hits, hits_prime = np.array([0, 3, 40]), np.array([50, 2, 7])
    box = box_of(hits, 40, hits_prime, 50, 0.3)
    for i in range(3):
        ends = binomtest(int(hits[i]), 40).proportion_ci(1 - 0.3 / 6, "exact")
        assert (box.low[i], box.high[i]) == pytest.approx(tuple(ends))
        ends = binomtest(int(hits_prime[i]), 50).proportion_ci(1 - 0.3 / 6, "exact")
        assert (box.low_prime[i], box.high_prime[i]) == pytest.approx(tuple(ends))


def test_errors_of_tests_are_just_above_the_truth():
    """A test that says x on a set S is wrong with probability Q(S) on x', and 1 - P(S) on x."""
    n, p, q = 10**6, np.array([0.6, 0.9]), np.array([0.2, 0.5])
    box = box_of((n * p).astype(int), n, (n * q).astype(int), n, 0.05)
    for error, truth in zip(NestedLimits(box).errors(), (q, 1 - p), strict=True):
        assert ((truth < error) & (error < truth + 0.01)).all()


# --- formulas, by a second derivation -------------------------------------------------------------


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
def test_the_least_divergence_is_that_of_a_numerical_minimum(order):
    for box in pairs_of_boxes(range(6)):
        found = least_divergences(box, [order])[0]
        expected = max(numerical_minimum(box, order, swapped) for swapped in (False, True))
        assert found == pytest.approx(expected, abs=2e-6)


def numerical_minimum(box: Box, order: float, swapped: bool) -> float:
    low = np.concatenate([box.low, np.maximum(box.low_prime, 1e-12)])
    high = np.concatenate([box.high, box.high_prime])
    k = len(box.low)

    def divergence(shares):
        p, q = np.split(np.maximum(shares, 1e-12), 2)
        p, q = (q, p) if swapped else (p, q)
        return np.log((p**order * q ** (1 - order)).sum()) / (order - 1)

    sums = [
        {"type": "eq", "fun": lambda shares: shares[:k].sum() - 1},
        {"type": "eq", "fun": lambda shares: shares[k:].sum() - 1},
    ]
    start, bounds = (low + high) / 2, list(zip(low, high, strict=True))
    how = {"method": "SLSQP", "options": {"maxiter": 500, "ftol": 1e-13}}
    return float(minimize(divergence, start, bounds=bounds, constraints=sums, **how).fun)


def test_a_high_order_and_empty_cells_give_finite_divergences():
    box = box_of(np.array([1000, 0, 0]), 1000, np.array([0, 1000, 0]), 1000, 0.05)
    low, high = least_divergences(box, [1.5, 5000.0])
    assert 0 < low <= high < 10


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_limits_of_delta_are_those_of_a_linear_programme(epsilon):
    """The least and the largest of max_S P(S) - e^epsilon Q(S) over all laws within the limits."""
    for box in pairs_of_boxes(range(5)):
        rising = Box(*(np.sort(side)[::-1] for side in (box.low, box.high, *sides_prime(box))))
        low, high = NestedLimits(rising).deltas(np.array([epsilon]))
        assert low[0] == pytest.approx(least_delta(rising, epsilon), abs=1e-9)
        tops = []
        for j, way in itertools.product(range(5), (1, -1)):
            p, q = (rising.high[j], rising.low_prime[j])
            p, q = (p, q) if way == 1 else (1 - q, 1 - p)
            tops.append(p - np.exp(epsilon) * q)
        assert high[0] == pytest.approx(max(0.0, *tops))


def sides_prime(box: Box):
    return box.low_prime, box.high_prime


def least_delta(box: Box, epsilon: float) -> float:
    """Minimise t with t >= P(T) - e^eps Q(T), t >= Q(T^c) - e^eps P(T^c), within the limits."""
    k, factor = len(box.low), np.exp(epsilon)
    rows, limits = [], []
    for j in range(k):
        for p, q, constant in ((1.0, -factor, 0.0), (factor, -1.0, 1 - factor)):
            row = np.zeros(2 * k + 1)
            row[[j, k + j, -1]] = p, q, -1.0
            rows.append(row)
            limits.append(-constant)
    ends = [*zip(box.low, box.high, strict=True), *zip(*sides_prime(box), strict=True), (0, None)]
    goal = np.append(np.zeros(2 * k), 1.0)
    return float(linprog(goal, np.array(rows), np.array(limits), bounds=ends).fun)


def test_curves_fall_and_are_convex_in_e_to_the_epsilon():
    shown = em.measure(*np.random.default_rng(1).laplace([[0], [1]], 1, (2, 5000)))
    for deltas in (shown.delta_low, shown.delta_high):
        slopes = np.diff(deltas) / np.diff(np.exp(shown.epsilons))
        assert (slopes <= 1e-12).all()
        assert (np.diff(slopes) >= -1e-12).all()
    assert (shown.delta_low <= shown.delta_high).all()


@dataclass(frozen=True)
class OnlyFolds:
    """Cells with counts of five folds of either side."""

    folds: tuple[np.ndarray, np.ndarray]


def test_cells_are_compared_by_log_ratios_that_other_draws_taught():
    """The mean log ratio of x less that of x', draw by draw; the log ratios are shrunken."""
    rng = np.random.default_rng(5)
    folds = rng.integers(0, 9, (5, 4)), rng.integers(1, 30, (5, 4))
    means = []
    for side in folds:
        ratios = []
        for i, cell in np.ndindex(5, 4):
            ours, theirs = (np.delete(of, i, axis=0) for of in folds)
            share = (ours[:, cell].sum() + 2) / ours.sum()
            share_prime = theirs[:, cell].sum() / theirs.sum() + 2 / ours.sum()
            ratios += [np.log(share / share_prime)] * side[i, cell]
        means.append(np.mean(ratios))
    separation = measurement._separation(OnlyFolds(folds))
    assert separation == pytest.approx(means[0] - means[1])


def test_the_cells_that_separate_the_sides_best_are_taken():
    x, x_prime = np.random.default_rng(8).normal([[[0, 0]], [[1, 0]]], 1, (2, 1000, 2))
    split = measurement._split(None, pair_of(x, x_prime, least=50), 0)
    looks = itertools.chain(*measurement.cells_of(split.past, split.n, None))
    apart = [measurement._separation(cells) for cells in looks]
    scored = measurement._scored(split)
    assert measurement._separation(scored.cells) == max(apart) > min(apart)
    for folds, shares in zip(scored.cells.folds, scored.shares, strict=True):
        assert shares * 300 == pytest.approx([*sum(folds), 0])
    x, x_prime = scored.shares[:, :-1]
    assert scored.log_ratios[:-1] == pytest.approx(np.log((x + 2 / 300) / (x_prime + 2 / 300)))
    for side, counts in zip((split.x, split.x_prime), scored.counts, strict=True):
        assert counts.tolist() == np.bincount(scored.cells.coded(side), None, shares.size).tolist()


def test_the_partition_that_promises_most_of_all_orders_is_taken(monkeypatch):
    """A bound of an order counts as its share of the largest: large orders weigh no more."""
    promised = dict(
        enumerate([[1.0, 0.0, 0.0], [0.9, 0.02, 0.0], [0.5, 0.05, 0.0], [0.1, 0.04, 0.0]])
    )

    def least(groups, counts, n, orders, alpha):
        if counts is scored.counts:
            return groups
        assert counts == pytest.approx(1000 * scored.shares)
        return np.array(promised[groups])

    monkeypatch.setattr(measurement, "_least", least)
    monkeypatch.setattr(measurement, "_groups", lambda _, cuts: measurement._PARTITIONS.index(cuts))
    scored = SimpleNamespace(shares=np.array([[0.2, 0.8], [0.5, 0.5]]), counts=([3, 4], [5, 6]))
    split = SimpleNamespace(n=1000)
    assert measurement._divergences(split, scored, [2.0, 3.0, 4.0], 0.05) == 2


@pytest.mark.parametrize("cuts", [[0.5], [0.1, 0.4, 0.9], np.linspace(0.1, 0.9, 9)])
def test_groups_of_cells_rise_with_the_log_ratio_and_are_cut_at_shares(cuts):
    rng = np.random.default_rng(6)
    shares = rng.dirichlet(np.ones(12), 2)
    counts = rng.integers(0, 50, (2, 12))
    scored = measurement._Scored(None, rng.normal(size=12), shares, (counts[0], counts[1]))
    groups = measurement._groups(scored, cuts)
    below, expected = 0.0, {}
    for cell in np.argsort(scored.log_ratios):
        share = (shares[0, cell] + shares[1, cell]) / 2
        expected[cell] = sum(cut < below + share / 2 for cut in cuts)
        below += share
    present = sorted({*expected.values()})
    assert groups.tolist() == [present.index(expected[cell]) for cell in range(12)]
    for values in (counts[0], shares[1]):
        sums = [values[groups == group].sum() for group in range(groups.max() + 1)]
        assert measurement._sums(groups, values) == pytest.approx(sums)


def test_rising_sets_are_unions_of_the_last_groups():
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 50, (2, 40))
    shares = rng.dirichlet(np.ones(40), 2)
    scored = measurement._Scored(None, rng.normal(size=40), shares, (counts[0], counts[1]))
    groups = measurement._groups(scored, measurement._PARTITIONS[-1])
    hits, n, hits_prime, n_prime = measurement._nested(scored, 999)
    assert n == n_prime == 999
    for side, of_sets in ((counts[0], hits), (counts[1], hits_prime)):
        unions = [side[groups >= group].sum() for group in range(1, groups.max() + 1)]
        assert of_sets.tolist() == unions


# --- the use of draws -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "chosen_on"), [((1000,), 200), ((1000, 2), 300), ((3000, 2), 400)]
)
def test_a_fifth_of_the_draws_choose_and_of_vectors_more_up_to_a_limit(
    shape, chosen_on, monkeypatch, without_estimates
):
    monkeypatch.setattr(measurement, "_CHOOSERS", 400)
    sides = np.random.default_rng(0).normal(size=(2, *shape))
    shown = em.measure(*sides)
    assert (shown.chosen_on, shown.n) == (chosen_on, shape[0] - chosen_on)


def upper_first(draws):
    """The upper half of draws before the lower one, each in the order in which it came."""
    return draws[np.argsort(draws < np.median(draws), kind="stable")]


@pytest.mark.parametrize(
    ("sizes", "order"),
    [((1000, 1000), np.sort), ((300, 600), upper_first), ((600, 300), upper_first)],
)
def test_an_order_of_the_draws_says_nothing(sizes, order, without_estimates):
    """Samples of one law in order show nothing in 19 of 20 runs, also if one is longer."""
    wrong = 0
    for seed in range(5):
        x, x_prime = map(np.random.default_rng(seed).normal, (0, 0), (1, 1), sizes)
        shown = em.measure(order(x), order(x_prime)[::-1], confidence=0.95, seed=seed)
        wrong += shown.epsilon > 0
    assert wrong <= most(5, 0.05)  # all five are wrong with probability 3e-7


def test_the_worst_of_several_pairs_is_measured():
    rng = np.random.default_rng(0)
    pairs = {f"pair {k}": rng.laplace([[0], [0.1]], 1, (2, 2000)) for k in range(20)}
    pairs["pair 7"] = rng.laplace([[0], [1.5]], 1, (2, 2000))
    shown = em.measure(pairs)
    assert shown.pair == "pair 7"
    assert 1.0 < shown.epsilon < 1.5
    assert "of pair 7" in str(shown)


# --- what it says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda rng: rng.laplace([[0], [1]], 1, (2, 2000)), "event: output"),
        (lambda rng: rng.normal([[[0]], [[1]]], 1, (2, 2000, 3)), "no largest loss"),
        (lambda rng: rng.random((2, 2000)) < [[0.75], [0.25]], "event: output"),
        (lambda rng: rng.choice(["yes", "no"], (2, 2000)), "largest loss"),
        (lambda rng: rng.integers(0, 3, (2, 2000, 2)), "largest loss"),
        (lambda rng: np.stack([np.zeros(60), np.ones(60)]), "epsilon >= 2"),
    ],
)
def test_a_measurement_is_told_in_eight_lines(draw, words):
    text = str(em.measure(*draw(np.random.default_rng(3))))
    assert words in text
    assert len(text.splitlines()) <= 8
    assert "nan" not in text


def test_strings_are_named_in_the_event():
    rng = np.random.default_rng(0)
    x, x_prime = rng.choice(["yes", "no"], 1000, p=[0.8, 0.2]), rng.choice(["yes", "no"], 1000)
    shown = em.measure(x, x_prime)
    assert shown.witness.text in ("output is yes", "output is no")


def test_the_bound_is_near_the_level():
    shown = em.measure(*np.random.default_rng(1).laplace([[0], [1]], 1, (2, 20_000)))
    assert 0.9 < shown.epsilon < 1.0
    gaussian = em.measure(*np.random.default_rng(1).normal([[0], [1]], 1, (2, 20_000)))
    assert 0.9 < gaussian.mu < 1.0
    assert 0.6 < gaussian.renyi_low[1] < 1.0  # of order 2


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"x": np.zeros(20), "x_prime": np.zeros(20)}, "x"),
        ({"x": np.zeros(100)}, "x_prime"),
        ({"x": {}}, "x"),
        ({"x": {"a": np.zeros(100)}}, r"x\['a'\]"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "orders": [1.0]}, "orders"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "orders": []}, "orders"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "epsilons": [-1.0]}, "epsilons"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "epsilons": []}, "epsilons"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "confidence": 1.0}, "confidence"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "confidence": 9e-7}, "confidence"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "confidence": 1 - 5e-10}, "confidence"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "orders": [2.0, 10_001.0]}, "orders"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "epsilons": [500.1]}, "epsilons"),
        ({"x": np.zeros(100), "x_prime": np.zeros(100), "together": 1}, "together"),
    ],
)
def test_wrong_arguments_are_named(arguments, argument):
    with pytest.raises(ArgumentError, match=f"^{argument}"):
        em.measure(**arguments)


def test_the_ends_of_arguments_are_among_them(without_estimates):
    x = np.arange(100.0)
    for confidence in (1e-6, 1 - 1e-9):
        shown = em.measure(x, x, orders=[1e4], epsilons=[0.0, 500.0], confidence=confidence)
        assert (shown.delta_low == 0).all()
        assert shown.renyi_low == 0
    orders = np.array(measurement.ORDERS)  # if none is given
    assert (orders[0], orders[-1]) == (1.5, 32)
    assert max(orders[1:] / orders[:-1]) <= 2
    assert min(np.diff(orders)) > 0


def test_a_classifiers_delta_is_that_of_the_larger_direction_in_the_order_of_the_claims(
    monkeypatch,
):
    drawn = []

    def curve(x, x_prime, *, epsilons):
        drawn.append((len(x), len(x_prime)))
        return SimpleNamespace(deltas=np.array(epsilons) * (3 if x[0].max() > 0 else 2))

    monkeypatch.setattr(estimates, "delta_curve", curve)
    at = np.array([0.5, 0.1, 0.5])
    for shape, seen in (((4000,), 4000), ((4000, 2), 3000)):  # of vectors fewer
        pair = pair_of(np.zeros(shape), np.ones(shape), least=50)
        assert measurement._classified(pair, at, []) == pytest.approx(3 * at)
        assert drawn == [(seen, seen)] * 2
        drawn.clear()


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_a_bound_for_large_n_is_that_of_its_estimator(order):
    rng = np.random.default_rng(2)
    sides = rng.random(3000) < 0.9, rng.random(3000) < 0.5
    wanted = estimates.renyi_lower_bound_of_pairs([sides], order=order, confidence=0.9)
    shown = em.measure(*sides, orders=[7.0, order], confidence=0.9)
    assert shown.renyi_large_n[1] == pytest.approx(wanted.value)


def test_estimates_of_the_papers_stand_beside_the_bounds():
    x, x_prime = np.random.default_rng(1).laplace([[0], [1]], 1, (2, 5000))
    shown = em.measure(x, x_prime, epsilons=[0.0, 0.5])
    both = [estimates.delta_curve(x, x_prime, epsilons=[0.0, 0.5]).deltas]
    assert np.allclose(shown.delta_estimate, both[0], atol=0.05)
    assert shown.largest_loss is not None
    assert np.isfinite(shown.renyi_large_n[:2]).all()


@pytest.mark.parametrize("bound", [0.0, 0.3, 0.66, 0.67, 2.0, 2.01])
def test_epsilons_go_to_one_and_a_half_times_the_bound_and_at_least_to_1(bound):
    at = measurement._epsilons(None, bound)
    assert (len(at), at[0]) == (31, 0)
    assert at[-1] >= max(1, 1.5 * bound)
    assert at[-1] - 0.5 < max(1, 1.5 * bound)
    assert at[-1] * 2 == round(at[-1] * 2)


def test_the_first_the_middle_and_the_last_bound_are_printed_beside_estimates():
    sides = np.random.default_rng(4).random((2, 2000)) < [[0.8], [0.4]]
    shown = em.measure(*sides, epsilons=[0.0, 0.25, 0.5, 0.75, 1.25], orders=[1.5, 2, 1000])
    first, deltas, divergences, *_ = str(shown).splitlines()

    def is_from_below(text, bound, digits):
        return 0 <= bound - float(text) <= 10 ** (1 - digits) * bound

    for text, bound in zip(
        re.findall(r">= ([\d.]+)", first), [shown.epsilon, shown.mu], strict=True
    ):
        assert is_from_below(text, bound, 4)
    for line, at, bounds, theirs in (
        (deltas, shown.epsilons, shown.delta_low, shown.delta_estimate),
        (divergences, shown.orders, shown.renyi_low, shown.renyi_large_n),
    ):
        told = re.findall(r"([\d.]+) at \w+ ([\d.]+)", line)
        beside = line.split(": ")[1].rstrip(")").split(", ")
        for i, (text, place), estimate in zip((0, len(at) // 2, -1), told, beside, strict=True):
            assert float(place) == at[i]
            assert is_from_below(text, bounds[i], 3)
            if np.isnan(theirs[i]):
                assert estimate == "too few draws"
            else:
                assert float(estimate) == pytest.approx(theirs[i], rel=0.005)
    assert beside[-1] == "too few draws"


@pytest.mark.parametrize("digits", [2, 3])
def test_a_bound_is_printed_from_below(digits):
    for bound in [0.0, 1.0, *np.random.default_rng(0).lognormal(0, 2, 200)]:
        printed = float(measurement._down(bound, digits))
        assert printed <= bound
        assert bound - printed <= 10.0 ** (1 - digits) * bound


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "0"),
        (3, "0 or 1 or 2"),
        (4, "0 or 1 or 2 or 1 other"),
        (6, "0 or 1 or 2 or 3 others"),
    ],
)
def test_of_many_outputs_a_few_are_named(number, text):
    assert measurement._listed([str(i) for i in range(number)]) == text
    assert 38 <= len(measurement._in_words("ab" * 50)) <= 40  # of a long one so many letters


# --- tables and pictures --------------------------------------------------------------------------


def test_a_measurement_is_a_table_and_three_pictures():
    x, x_prime = np.random.default_rng(1).laplace([[0], [1]], 1, (2, 1000))
    shown = em.measure(x, x_prime, orders=[2.0], epsilons=[0.0, 0.5])
    frame = shown.to_frame(mechanism="laplace")
    assert (frame["mechanism"] == "laplace").all()
    at = frame[frame["at"] == 0.5].set_index(["quantity", "method"])
    assert at.loc[("delta", "limits of rising sets"), "low"] == shown.delta_low[1]
    assert at.loc[("delta", "lu2022"), "estimate"] == shown.delta_estimate[1]
    of_events = at.loc[("delta of the chosen events", "limits of rising sets")]
    assert (of_events["low"], of_events["high"]) == (shown.delta_low[1], shown.delta_high[1])
    assert not frame.loc[frame["quantity"] == "delta", "high"].notna().any()
    valid = frame[frame["holds"] == "every n"]
    names = {"epsilon", "mu", "delta", "type II error", "Rényi divergence"}
    assert {*valid["quantity"]} == names | {"delta of the chosen events"}
    valid = valid.set_index("quantity")
    assert valid.loc[["epsilon", "mu"], "low"].tolist() == [shown.epsilon, shown.mu]
    assert valid.loc[["Rényi divergence"], ["at", "low"]].values.tolist() == [
        [2.0, shown.renyi_low[0]]
    ]
    errors = np.stack([shown.type_1, shown.type_2], axis=1)
    assert valid.loc["type II error", ["at", "high"]].values.tolist() == errors.tolist()
    alphas = np.linspace(0, 1, 201)
    least = np.maximum.reduce(
        [0 * alphas, 1 - np.sqrt(np.e) * alphas, (1 - alphas) / np.sqrt(np.e)]
    )
    reached = [(0.0, 1.0), *sorted(errors.tolist()), (1.0, 0.0)]
    sure = "95 % confidence, every n"
    pictures = {
        "delta": {
            f"at least ({sure})": np.stack([shown.epsilons, shown.delta_low], axis=1),
            "estimate (lu2022)": np.stack([shown.epsilons, shown.delta_estimate], axis=1),
            "claim: epsilon = 0.5": [(0.5, 0), (0.5, 1)],
        },
        "errors": {
            "a test reaches": reached,
            "a guess": [(0, 1), (1, 0)],
            "claim: epsilon = 0.5": np.stack([alphas, least], axis=1),
        },
        "renyi": {
            sure: [(2.0, shown.renyi_low[0])],
            "for large n (kutta2022)": [(2.0, shown.renyi_large_n[0])],
            "claim: 0.5": [(0, 0.5), (1, 0.5)],
        },
    }
    for of, expected in pictures.items():
        axes = shown.plot(Figure().subplots(), claim=0.5, of=of)
        drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
        assert drawn.keys() == expected.keys()
        for label, points in expected.items():
            assert drawn[label] == pytest.approx(np.array(points)), label
    with pytest.raises(ArgumentError, match=r"^of is not known: 'dleta'; did you mean 'delta'"):
        shown.plot(Figure().subplots(), of="dleta")


def test_a_notebook_shows_text_and_table():
    shown = em.measure(np.array(["<a>"] * 60), np.array(["<b>"] * 60), epsilons=[0.0])
    text = shown._repr_html_()
    assert "&lt;a&gt;" in text
    assert "<a>" not in text
    assert "<td>delta</td>" in text


# --- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "x_prime"),
    [
        (np.arange(50.0), np.arange(50.0)),
        (np.zeros(50), np.zeros(5000)),
        (np.array(["a"] * 50), np.array(["b"] * 50)),
        (np.zeros((50, 3), int), np.zeros((50, 3), int)),
    ],
)
def test_fifty_draws_are_enough(x, x_prime):
    shown = em.measure(x, x_prime)
    assert any("kutta2022" in reason for reason in shown.reasons)
    assert ("event: " in str(shown)) == (
        shown.epsilon > 0
    )  # an event that shows nothing is not told
    assert "pairs[0]" not in str(shown)


@pytest.mark.parametrize(
    "sides", [(np.zeros(2000, int), np.ones(2000, int)), ([0.0] * 60, [1] * 60)]
)
def test_sides_without_a_common_output_have_a_large_mu(sides):
    shown = em.measure(*sides)
    assert shown.mu > 2
    assert shown.epsilon > 1.5


@pytest.mark.parametrize("order", [1 + 1e-14, 1 + 1e-12, 1 + 1e-6, 1.01])
def test_rounding_raises_no_divergence(order):
    rng = np.random.default_rng(0)
    for _ in range(50):
        hits, hits_prime = rng.multinomial(400, [0.2, 0.3, 0.5], 2)
        box = box_of(hits, 400, hits, 400, 0.0125)
        assert least_divergences(box, [order])[0] == 0
        assert least_divergences(box_of(hits, 400, hits_prime, 400, 1e-12), [order])[0] == 0


def test_strings_are_numbered_by_the_draws_that_choose():
    """A new string among the draws that confirm changes no event."""
    rng = np.random.default_rng(3)
    x, x_prime = (rng.choice(["a", "b", "c"], 400, p=p) for p in ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]))
    before = em.measure(x, x_prime)
    order = generator(0, "measure").permutation(400)
    changed = x.copy()
    changed[order[-1]] = "A"  # it comes before all others in the alphabet
    after = em.measure(changed, x_prime)
    assert after.witness.event == before.witness.event
    assert after.witness.text == before.witness.text


def test_names_of_pairs_differ():
    x = np.zeros(60)
    with pytest.raises(ArgumentError, match="different names"):
        em.measure({1: (x, x), "1": (x, x)})


@pytest.mark.parametrize("arguments", [{"orders": 2.0}, {"epsilons": 0.5}, {"seed": np.int64(3)}])
def test_single_numbers_are_read(arguments):
    x = np.arange(200.0)
    assert len(str(em.measure(x, x, **arguments)).splitlines()) <= 8


def test_fifty_draws_a_side_are_measured_and_fewer_are_refused():
    x = np.arange(50.0)
    assert em.measure(x, x).n == 40  # a fifth chooses events
    with pytest.raises(ArgumentError, match="has 49 draws; 50 or more are needed"):
        em.measure(x, x[:49])
