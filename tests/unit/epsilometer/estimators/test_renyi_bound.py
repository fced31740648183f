"""Lower bounds for the Rényi divergence: the formulas by numbers, levels, and when to trust one."""

import math

import numpy as np
import pytest
from scipy import special, stats

from epsilometer.densities.base import Densities
from epsilometer.errors import ArgumentError
from epsilometer.estimators.renyi_bound import (
    Divergence,
    RenyiBound,
    RenyiBoundAsPublished,
    bias,
    divergence,
    soft_floor,
    unbiased,
)

Z = 1.6448536269514722  # the 95 % quantile
P = np.array([0.5, 0.3, 0.2])
Q = np.array([0.2, 0.3, 0.5])
SHARP = {"tau": 1e-5, "beta": 1e5}
ACROSS_THE_FLOOR = np.array([[0.6, 0.3, 0.1], [0.3, 0.62, 0.08]])  # of .2, on the second side


def exact(p, q, order):
    return math.log((p**order * q ** (1 - order)).sum()) / (order - 1)


# --- the estimate and its variance ----------------------------------------------------------------


@pytest.mark.parametrize("order", [1.01, 2.0, 40.0])
def test_a_sharp_low_floor_leaves_the_divergence_as_it_is(order):
    estimate = divergence(P, Q, order=order, tau=1e-9, beta=1e9)
    assert estimate.value == pytest.approx(exact(P, Q, order), rel=1e-9)
    nothing = divergence(P, P, order=order, tau=1e-9, beta=1e9)
    assert nothing.value == pytest.approx(0, abs=1e-12)


def test_the_floor_is_smooth_and_from_above():
    values = np.array([-1e-4, 0.0, 0.9e-5, 1e-5, 1.1e-5, 0.3])
    above = soft_floor(values, **SHARP) - np.maximum(values, 1e-5)
    assert (above >= 0).all()
    assert above.max() == pytest.approx(math.log(2) / 1e5)  # at the floor


@pytest.mark.parametrize("spacing", [1.0, 0.25])
@pytest.mark.parametrize("order", [1.5, 4.0])
def test_the_variance_is_that_of_the_delta_method(order, spacing):
    """By numeric derivatives of the value, with outcomes on both sides of the floor."""
    sides = ACROSS_THE_FLOOR / spacing
    settings = {"order": order, "tau": 0.2 / spacing, "beta": 9.0 * spacing, "spacing": spacing}
    influence = np.zeros(sides.shape)
    for place in np.ndindex(sides.shape):
        step = np.zeros(sides.shape)
        step[place] = 1e-5 / spacing
        above = divergence(*(sides + step), **settings).value
        below = divergence(*(sides - step), **settings).value
        influence[place] = (above - below) / 2e-5
    mass = sides * spacing
    mean = (influence * mass).sum(axis=1)
    variance = (influence**2 * mass).sum() - (mean**2).sum()
    assert divergence(*sides, **settings).variance == pytest.approx(variance, rel=1e-6)


def test_a_bound_is_the_value_without_a_margin_of_its_deviation():
    margin = Z * math.sqrt(0.36 / 10_000)
    assert Divergence(0.5, 0.36).bound(10_000) == pytest.approx(0.5 - margin)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": math.inf}, "order must be above 1 and finite"),
        ({"tau": 0.0}, "tau must be positive"),
        ({"q": Q[:2]}, "q has shape"),
        ({"p": P[:0], "q": Q[:0]}, "q has shape"),
        ({"q": np.array([0.5, math.inf, 0.5])}, "p and q must be finite"),
        ({"p": np.array([0.5, math.inf, 0.5])}, "p and q must be finite"),
        ({"p": np.zeros(3)}, "p is 0 everywhere"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    with pytest.raises(ArgumentError, match=message):
        divergence(**({"p": P, "q": Q, "order": 2.0, **SHARP} | changes))


# --- counts, and the bias that others have --------------------------------------------------------


@pytest.mark.parametrize("order", [1.1, 2.0, 7.0])
@pytest.mark.parametrize("mean", [0.5, 6.0, 40.0])
@pytest.mark.parametrize("side", ["p", "q"])
def test_terms_from_counts_are_never_too_high_on_average(order, mean, side):
    """Over all counts of an outcome, rare or not, and equal where it is not rare."""
    n = 4000
    sure = np.ones(1)  # an outcome with all draws of the other side, whose factor is 1
    total = 0.0
    for count in range(400):
        sides = {"p": sure, "q": sure, side: np.array([count / n])}
        estimate = unbiased(**sides, order=order, tau=1e-12, beta=1e12, n=n)
        total += stats.binom.pmf(count, n, mean / n) * math.exp((order - 1) * estimate)
    truth = (mean / n) ** (order if side == "p" else 1 - order)
    assert total <= truth * (1 + 1e-9)
    if mean == 40.0 or (side == "p" and order in (2.0, 7.0)):  # whole: a factorial moment
        assert total == pytest.approx(truth, rel=1e-5)


def test_counts_of_as_many_draws_as_the_order_say_nothing():
    few = {"order": 3.0, "tau": 1e-3, "beta": 1e3}
    assert unbiased(np.ones(1), np.ones(1), n=3, **few) == -math.inf
    assert unbiased(np.ones(1), np.ones(1), n=4, **few) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("spacing", "h", "noise"),
    [
        (1.0, 0.0, 1.0),
        (0.25, 0.7, 1 / (2 * math.sqrt(math.pi) * 0.7)),
        (0.25, 0.01, 2 / 3 / 0.25),  # the mean of s^2 + (1 - s)^2 over the places of a draw
    ],
)
@pytest.mark.parametrize("order", [1.5, 4.0])
def test_the_bias_is_that_of_numerical_second_derivatives(spacing, h, noise, order):
    """With outcomes on both sides of the floor, of which its slope counts, not its curvature."""
    sides = ACROSS_THE_FLOOR / spacing
    floor = {"tau": 0.2 / spacing, "beta": 9.0 * spacing}
    height = soft_floor(sides[1], **floor)
    slope = special.expit(floor["beta"] * (sides[1] - floor["tau"]))

    def terms(more, more_prime):
        return (sides[0] + more) ** order * (height + slope * more_prime) ** (1 - order)

    step = 1e-4
    bend = terms(step, 0) - 2 * terms(0, 0) + terms(-step, 0)
    bend_prime = terms(0, step) - 2 * terms(0, 0) + terms(0, -step)
    second = (bend * sides[0] + bend_prime * sides[1]).sum() / step**2 / 2
    expected = second * noise / 1000 / terms(0, 0).sum() / (order - 1)
    settings = {"order": order, "spacing": spacing, **floor}
    found = bias(*sides, n=1000, bandwidths=(h, h), **settings)
    assert found == pytest.approx(expected, rel=1e-4)


# --- bounds and their levels ----------------------------------------------------------------------


@pytest.mark.parametrize("method", [RenyiBound(50), RenyiBoundAsPublished(50)])
def test_bounds_of_exchanged_sides_are_exchanged(method):
    ours = Densities(P, np.array([0.2, 0.2, 0.6]))
    forward, reverse = method.bounds(ours, order=2.0, n=5000, pairs=1)
    assert (reverse, forward) == method.bounds(ours.swapped(), order=2.0, n=5000, pairs=1)
    assert abs(forward - reverse) > 0.05


def test_the_floor_is_where_so_many_draws_fall():
    """50 draws are the paper's tau and beta at its n = 5,000,000."""
    assert RenyiBound(draws_at_floor=50).floor(5_000_000) == pytest.approx((1e-5, 1e5))
    assert RenyiBound(draws_at_floor=50).floor(500) == (0.1, 10.0)
    with pytest.raises(ArgumentError, match="n must be above draws_at_floor=50, got 50"):
        RenyiBound(draws_at_floor=50).floor(50)


def test_levels_of_several_pairs():
    independent = RenyiBound(50, largest=True, correction="independent").level(10)
    assert (1 - 2 * independent) ** 10 == pytest.approx(0.95)  # both directions share it
    bonferroni = RenyiBound(50, largest=True).level(10)
    assert 2 * 10 * bonferroni == pytest.approx(0.05)
    assert RenyiBound(50).level(10) == 0.05


def test_the_bound_of_one_of_ten_pairs_has_a_twentieth_of_alpha():
    sides = Densities(P, Q)
    given = {"order": 2.0, "n": 5000, "pairs": 10}
    alone = RenyiBound(50, alpha=0.05 / 20).bounds(sides, **given)
    assert RenyiBound(50, largest=True).bounds(sides, **given) == pytest.approx(alone)


def test_pairs_that_share_samples_have_bonferroni_only():
    independent = RenyiBound(50, largest=True, correction="independent")
    independent.check_pairs(3, own_samples=True)
    independent.check_pairs(1, own_samples=False)
    with pytest.raises(ArgumentError, match="correction must be bonferroni"):
        independent.check_pairs(2, own_samples=False)
    RenyiBound(50, largest=True).check_pairs(3, own_samples=False)
    RenyiBound(50, correction="independent").check_pairs(3, own_samples=False)


def test_only_the_published_bound_lies_above_the_divergence_of_many_like_outcomes():
    rng = np.random.default_rng(0)
    n, law = 100_000, np.full(100, 0.01)
    sides = Densities(rng.multinomial(n, law) / n, rng.multinomial(n, law) / n)
    published = RenyiBoundAsPublished(50)
    assert published.bounds(sides, order=2.0, n=n, pairs=1)[0] > 0
    assert not published.trusted(sides, order=2.0, n=n)
    assert RenyiBound(50).bounds(sides, order=2.0, n=n, pairs=1)[0] <= 0  # but for 5 %


def test_reductions_are_those_of_the_parameters():
    assert RenyiBound(50, cells=7).reduction == {"cells": 7}
    assert RenyiBoundAsPublished(50, points=9).reduction == {"points": 9, "power": 1.1}


def test_kernel_estimates_are_no_counts():
    smoothed = Densities(P, Q, spacing=0.5, bandwidths=(0.1, 0.0))
    with pytest.raises(ArgumentError, match="densities must be relative frequencies"):
        RenyiBound(50).bounds(smoothed, order=2.0, n=500, pairs=1)


# --- whether a bound is trusted -------------------------------------------------------------------


FAR = {"tau": 1e-9, "beta": 1e9}  # below all outcomes
EVEN = np.full(2, 0.5)
MANY = np.full(100, 0.01)


@pytest.mark.parametrize(
    ("decides", "p", "q"),
    [("draws", EVEN, EVEN), ("bias", MANY, MANY), ("spread", [0.9, 0.1], [0.98, 0.02])],
)
@pytest.mark.parametrize("exchanged", [False, True])
def test_a_bound_is_trusted_from_the_draws_on_with_which_all_conditions_hold(
    decides, p, q, exchanged
):
    order, p, q = 2.5, np.array(p), np.array(q)
    least = {
        "draws": 10 * order**2,
        "bias": bias(p, q, order=order, n=1, **FAR) * (order - 1) / 0.5,
        "spread": divergence(p, q, order=order, **FAR).variance * (order - 1) ** 2 / 0.25,
    }
    assert max(least, key=least.get) == decides
    sides = Densities(q, p) if exchanged else Densities(p, q)
    method = RenyiBound(draws_at_floor=1e-6)
    assert method.trusted(sides, order=order, n=math.ceil(1.01 * least[decides]))
    assert not method.trusted(sides, order=order, n=math.floor(0.99 * least[decides]))


def test_as_many_draws_as_ten_times_the_square_of_the_order_are_enough():
    even = Densities(EVEN, EVEN)
    assert RenyiBound(1).trusted(even, order=2.0, n=40)
    assert not RenyiBound(1).trusted(even, order=2.0, n=39)


@pytest.mark.parametrize(("decides", "tilt"), [("bias", 0.25), ("spread", 0.75)])
@pytest.mark.parametrize("exchanged", [False, True])
def test_a_published_bound_is_trusted_from_the_draws_on_with_which_its_bias_is_small(
    decides, tilt, exchanged
):
    """Half of its margin at most; and its spread is small, too."""
    p = np.full(10, 0.4)
    q = p * np.repeat([1 - tilt, 1 + tilt], 5)
    estimate = divergence(p, q, order=2.5, spacing=0.25, **FAR)
    settings = {"spacing": 0.25, "bandwidths": (0.3, 0.3)}
    excess = bias(p, q, order=2.5, n=1, **settings, **FAR)
    least = {
        "bias": (excess / (0.5 * Z)) ** 2 / estimate.variance,
        "spread": estimate.variance * 1.5**2 / 0.25,
    }
    assert max(least, key=least.get) == decides
    sides = Densities(p, q, **settings)
    if exchanged:
        sides = sides.swapped()
    method = RenyiBoundAsPublished(draws_at_floor=1e-6)
    assert method.trusted(sides, order=2.5, n=math.ceil(1.02 * least[decides]))
    assert not method.trusted(sides, order=2.5, n=math.floor(0.98 * least[decides]))


def test_a_bound_of_which_half_of_the_draws_are_hidden_at_most_is_trusted():
    """Those of outcomes with fewer draws on both sides than the floor has."""
    half = np.append(0.5, np.full(128, 1 / 256))
    more = np.append(0.5 - 1 / 256, np.full(129, 1 / 256))
    method = RenyiBound(20)
    assert method.trusted(Densities(half, half), order=1.2, n=1024)
    assert not method.trusted(Densities(more, more), order=1.2, n=1024)
    assert RenyiBound(4).trusted(Densities(more, more), order=1.2, n=1024)  # as many are not fewer
    one_sided = np.append(more[1:], more[0])
    assert RenyiBound(20).trusted(Densities(more, one_sided), order=1.2, n=1024)


def test_where_no_outcome_has_more_draws_than_the_order_nothing_is_shown():
    single = Densities(np.full(1000, 0.001), np.full(1000, 0.001))
    assert RenyiBound(0.5).bounds(single, order=1.2, n=1000, pairs=1) == (0, 0)
    assert not RenyiBound(0.5).trusted(single, order=1.2, n=1000)
