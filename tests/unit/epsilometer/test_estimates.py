"""Functions of two arrays: right values from any arrays, or an error of one line."""

import inspect
import math

import numpy as np
import pytest

import epsilometer as em
from epsilometer import estimates, seeds
from epsilometer.claims import Pure
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.events.choosing import choose_events
from epsilometer.events.looks import PastDraws
from epsilometer.results import Result
from epsilometer.samples import Columns

TESTS = {
    "local_loss": lambda x, y: em.local_loss(x, y, np.asarray(x)[:2]),
    "largest_loss": em.largest_loss,
    "loss_lower_bound": em.loss_lower_bound,
    "loss_lower_bound_of_pairs": lambda x, y: em.loss_lower_bound_of_pairs([(x, y)]),
    "renyi_lower_bound": lambda x, y: em.renyi_lower_bound(x, y, order=2.0),
    "renyi_lower_bound_of_pairs": lambda x, y: em.renyi_lower_bound_of_pairs([(x, y)], order=2.0),
    "delta_curve": lambda x, y: em.delta_curve(x, y, epsilons=[0.0, 0.3]),
    "histogram_level": em.histogram_level,
    "histogram_level of reals": lambda x, y: em.histogram_level(x, y, support=(-60, 60), cells=4),
}
OF_REALS = [name for name in TESTS if name != "histogram_level"]
OF_OUTCOMES = [name for name in TESTS if name != "histogram_level of reals"]
RNG = np.random.default_rng(3)
LAPLACE = RNG.laplace(0, 1, 4000), RNG.laplace(0.7, 1, 4000)
BITS = RNG.random(4000) < 0.75, RNG.random(4000) < 0.25
WORDS = np.array(["no", "yes"])


def refused(call, *arguments, **named):
    """Return the message of a refusal, which is one line and begins with an argument."""
    with pytest.raises(ArgumentError) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 200
    return text


def numbers(result):
    """Return all numbers of a result."""
    values = {name: getattr(result, name) for name in result.__dataclass_fields__}
    values |= {name: getattr(result, name) for name in ("low", "high") if hasattr(result, name)}
    for given in ("output", "outputs"):
        values.pop(given, None)
    parts = [v for v in values.values() if isinstance(v, float | int | np.ndarray)]
    return np.concatenate([np.ravel(part).astype(float) for part in parts])


# --- what is exported -----------------------------------------------------------------------------


def test_every_name_is_exported_and_documented():
    public = {
        name
        for name, value in vars(estimates).items()
        if getattr(value, "__module__", "") == estimates.__name__ and not name.startswith("_")
    }
    assert public <= set(em.__all__) <= set(dir(em))
    for name in public:
        assert inspect.getdoc(getattr(em, name))


@pytest.mark.parametrize(
    ("name", "sides"), [(n, LAPLACE) for n in OF_REALS] + [(n, BITS) for n in OF_OUTCOMES]
)
def test_a_result_is_frozen_and_prints_in_a_line(name, sides):
    result = TESTS[name](*sides)
    assert isinstance(result, Result)
    assert repr(result) == str(result)
    assert "\n" not in str(result)
    assert str(result.n) in str(result)
    with pytest.raises(AttributeError):
        result.n = 3
    assert np.isfinite(numbers(result)).all()


# --- the numbers are those of the estimators ------------------------------------------------------


def test_a_loss_is_searched_in_a_region():
    """The loss is 0 at .35, and -.7 from .7 on."""
    seen = em.largest_loss(*LAPLACE, region=(0.5, 2.0))
    assert 0.5 <= seen.output <= 2.0
    assert seen.value == pytest.approx(0.7, abs=0.25)
    assert seen.likelier == "x'"
    assert abs(em.largest_loss(*LAPLACE, region=(0.3, 0.4)).value) < 0.3
    bound = em.loss_lower_bound(*LAPLACE, confidence=0.9, region=(0.5, 2.0))
    assert 0.1 < bound.value < 0.7
    assert (bound.n, bound.confidence) == (2800, 0.9)


def test_a_bound_without_a_region_is_that_of_one_set():
    """The bound is (26) of askin2022 for the frequencies of a set that the first draws chose."""
    rng = seeds.generator(0, "shuffled")
    shuffled = [side[rng.permutation(4000)] for side in LAPLACE]
    past = PastDraws(*(side[:1200] for side in shuffled), Columns(numbers=(0,), reals=(0,)))
    chosen = choose_events(past, [Pure(0.0)], 2800)[0]
    fewer, more = sorted(chosen.event.count(side[1200:]) for side in shuffled)
    deviation = math.sqrt(1 / fewer + 1 / more - 2 / 2800)
    expected = math.log(more / fewer) - 1.2815515655446004 * deviation
    assert em.loss_lower_bound(*LAPLACE, confidence=0.9).value == pytest.approx(expected)
    assert 0.4 < expected < 0.7


@pytest.mark.parametrize("sides", [LAPLACE, BITS, (LAPLACE[0], LAPLACE[0] + 40)])
def test_a_curve_is_non_increasing_and_convex(sides):
    curve = em.delta_curve(*sides, epsilons=np.linspace(0, 4, 200))
    for deltas in (curve.low, curve.deltas, curve.high):
        below_1 = deltas < 1
        slopes = np.diff(deltas[below_1]) / np.diff(np.exp(curve.epsilons[below_1]))
        assert (slopes <= 1e-12).all()
        assert (np.diff(slopes) >= -1e-9).all()
    assert (curve.low <= curve.deltas).all()
    assert (curve.deltas <= curve.high).all()


# --- outputs of one side only ---------------------------------------------------------------------


def test_disjoint_sides_have_no_upper_estimate():
    x, y = RNG.random(3000), RNG.random(3000) + 2
    seen = em.largest_loss(x, y)
    assert seen.value is None
    assert 4 < seen.at_least < math.log(3000)
    assert "no upper estimate" in str(seen)
    losses = em.local_loss(x, y, [0.5, 1.5, 2.5])
    assert np.isnan(losses.losses).all()
    assert np.sign(losses.at_least).tolist() == [1, 0, -1]
    assert "losses at 0 of 3 outputs" in str(losses)
    bound = em.loss_lower_bound(x, y)
    assert 5 < bound.value < math.log(3000)
    assert "measure() holds at every n" in str(bound)


def test_outcomes_of_one_side_have_no_upper_estimate():
    x, y = np.repeat([0, 1], [900, 100]), np.repeat([0, 2], [900, 100])
    seen = em.largest_loss(x, y)
    assert (seen.value, seen.output, seen.likelier) == (None, 1, "x")
    assert seen.at_least == pytest.approx(math.log(0.1 / seen.floor))


def test_a_largest_loss_is_not_at_the_edge_of_the_data():
    """Laplace noise has the same loss at all outputs of a tail; the edge of the data has noise."""
    values = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = rng.laplace(0, 1, 2000), rng.laplace(1, 1, 2000)
        seen = em.largest_loss(x, y)
        values.append(seen.value)
        assert 0.02 < np.mean([x < seen.output, y < seen.output]) < 0.98
    assert np.median(values) == pytest.approx(1, abs=0.25)


def test_a_published_number_of_cells_and_draws():
    assert em.planned_cells(0.5, support=(0, 1), lipschitz=1.58198) == 91
    n = em.planned_draws(0.5, confidence=0.8, support=(0, 1), lipschitz=1.58, as_published=True)
    assert n + 1 == 1863132


# --- unequal sizes --------------------------------------------------------------------------------


FOREST = {"min_samples_leaf": 200, "n_estimators": 10}


@pytest.mark.parametrize(
    ("classifier", "options", "sizes"),
    [
        ("nearest_neighbours", {}, (20_000, 5_000)),
        ("sklearn.linear_model.LogisticRegression", {}, (20_000, 5_000)),
        ("sklearn.ensemble.RandomForestClassifier", FOREST, (5_000, 20_000)),
    ],
)
def test_sides_of_unequal_sizes_have_the_same_delta(classifier, options, sizes):
    """A classifier that is trained on more draws of one side votes for it everywhere."""
    rng = np.random.default_rng(4)
    x, y = (rng.laplace(at, 1, n) for at, n in zip((0.0, 0.5), sizes, strict=True))
    curve = em.delta_curve(x, y, epsilons=[0.0, 0.2], classifier=classifier, options=options)
    truth = [1 - math.exp(-0.25), 1 - math.exp(-0.15)]
    assert curve.deltas[0] == pytest.approx(truth[0], abs=0.045)
    assert (curve.low <= truth).all()
    assert sorted([curve.n, curve.n_prime]) == [2_500, 17_500]
    assert curve.epsilon_at(0.2) == pytest.approx(0.5 + 2 * math.log(0.8), abs=0.1)
    assert curve.epsilon_at(0.01) == math.inf


def test_sides_of_unequal_sizes_have_the_same_levels():
    rng = np.random.default_rng(4)
    x, y = rng.random(20_000) < 0.75, rng.random(5_000) < 0.25
    bound = em.renyi_lower_bound(x, y, order=2)
    assert bound.value == pytest.approx(em.renyi_lower_bound(x[:5000], y, order=2).value, abs=0.05)
    assert (bound.n, bound.n_prime) == (5000, 5000)
    assert "15000 draws of the larger side are not used" in str(bound)
    claims = {"outcomes": 2, "smallest_probability": 0.25}
    level = em.histogram_level(x, y, **claims)
    assert level.value == pytest.approx(math.log(3), abs=0.1)
    planned = HistogramEstimator(0.5).confidence(5000, Claims(**claims), math.inf)
    assert level.confidence == planned
    for bound in (em.loss_lower_bound(x, y), em.loss_lower_bound(y, x)):
        assert 0.9 < bound.value < math.log(3)
        assert sorted([bound.n, bound.n_prime]) == [3_500, 14_000]


def test_the_pair_with_the_largest_bound_is_named():
    pairs = em.renyi_lower_bound_of_pairs([(BITS[0], BITS[0]), BITS], order=2)
    assert (pairs.pair, pairs.n) == (1, 4000)


@pytest.mark.parametrize("name", [n for n in TESTS if "bound" in n or "curve" in n])
def test_sorted_draws_give_what_others_give(name):
    """Half of sorted draws is no sample: a bound from it is above the level of equal sides."""
    rng = np.random.default_rng(8)
    x, y = rng.laplace(size=4000), rng.laplace(size=6000)
    result = TESTS[name](np.sort(x), np.sort(y)[::-1])
    assert np.max(getattr(result, "value", getattr(result, "low", None))) < 0.1


# --- arrays of all kinds --------------------------------------------------------------------------


@pytest.mark.parametrize("name", OF_OUTCOMES)
def test_outcomes_count_by_equality_only(name):
    index = [side.astype(int) for side in BITS]
    expected = numbers(TESTS[name](*index))
    for outcomes in (
        WORDS.__getitem__,
        lambda index: index == 1,
        lambda index: (5 * index - 3).tolist(),
        lambda index: WORDS[np.stack([index, index], axis=1)],
    ):
        result = TESTS[name](*(outcomes(side) for side in index))
        np.testing.assert_allclose(numbers(result), expected, rtol=1e-12)


def test_an_output_is_named_as_it_was_given():
    words = [WORDS[side.astype(int)] for side in BITS]
    assert em.largest_loss(*words).output in ("yes", "no")
    rows = [np.stack([side, side], axis=1) for side in words]
    assert em.largest_loss(*rows).output in (["yes", "yes"], ["no", "no"])
    losses = em.local_loss(*words, ["yes", "no", "never"]).losses
    np.testing.assert_array_equal(losses, [*em.local_loss(*BITS, [1, 0]).losses, math.nan])


def test_rows_of_reals():
    rng = np.random.default_rng(5)
    x, y = rng.laplace(0, 1, (3000, 2)), rng.laplace([0, 0.7], 1, (3000, 2))
    assert em.largest_loss(x, y).value > 0.4
    assert em.local_loss(x, y, [[0.0, 2.0]]).losses[0] < -0.3
    for classifier in (None, "sklearn.linear_model.LogisticRegression"):
        curve = em.delta_curve(x, y, epsilons=[0.0], classifier=classifier)
        assert 0.2 < curve.deltas[0] < 0.35
    assert refused(em.renyi_lower_bound, x, y, order=2).startswith("x has rows of reals")
    text = refused(em.delta_curve, x, y, classifier="counting")
    assert text.startswith("classifier must be for such outputs, as nearest_neighbours is")
    text = refused(em.delta_curve, *(rng.normal(size=(2, 100, 21))))
    assert text.startswith("classifier must be for such outputs, as one of scikit-learn is")


@pytest.mark.parametrize("name", TESTS)
def test_arrays_that_are_none_are_refused_in_a_line(name):
    text = refused(TESTS[name], np.zeros(500), [*range(500), math.nan])
    place = "pairs[0]: " if name.endswith("of_pairs") else ""
    assert text.startswith(f"{place}x_prime has 1 entries that are NaN or infinite")


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *[(name, 100) for name in TESTS if "loss" in name],
        *[(name, 51) for name in TESTS if "renyi" in name],
        ("delta_curve", 2),
    ],
)
def test_too_few_draws_are_refused(name, least):
    rng = np.random.default_rng(7)
    x, y = rng.integers(2, size=least), rng.integers(2, size=least)
    assert np.isfinite(numbers(TESTS[name](x, y))).all()
    assert f"has {least - 1} draws; {least} or more are needed" in refused(TESTS[name], x, y[1:])


@pytest.mark.parametrize("name", TESTS)
def test_tiny_and_constant_arrays_give_numbers_or_one_line(name):
    for n in (1, 3, 51, 100):
        rng = np.random.default_rng(n)
        for sides in (
            rng.laplace(size=(2, n)),
            np.zeros((2, n)),
            rng.integers(5, size=(2, n)),
            np.zeros((2, n), int),
            (np.zeros(n, int), np.ones(n, int)),
        ):
            try:
                result = TESTS[name](*sides)
            except ArgumentError as error:
                assert "\n" not in str(error)  # noqa: PT017
                continue
            assert np.isfinite(numbers(result)).all() or result.reason
            assert getattr(result, "value", 0.0) is not None or result.reason
            if not np.any(sides) and isinstance(result, em.LowerBound):
                assert result.value == 0


@pytest.mark.parametrize("name", ["local_loss", "largest_loss"])
def test_units_beyond_all_densities_are_refused(name):
    for unit in (1e-310, 1e-200, 1e200, 1e307):
        assert "use another unit" in refused(TESTS[name], *(side * unit for side in LAPLACE))
    far = [np.append(side, [1e200, -1e307]) for side in LAPLACE]  # a few outliers do no harm
    assert np.isfinite(numbers(TESTS[name](*far))).all()


# --- other arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda order: em.renyi_lower_bound(*LAPLACE, order=order),
        lambda order: em.renyi_lower_bound_of_pairs([LAPLACE], order=order),
        lambda order: em.histogram_level(*BITS, order=order),
        lambda order: em.planned_draws(0.5, order=order, support=(0, 1), lipschitz=1.0),
        lambda order: em.planned_cells(0.5, order=order, support=(0, 1), lipschitz=1.0),
    ],
)
def test_an_order_that_is_none_is_refused(call):
    for order in (1, 0.5, math.nan, "2", True, None):
        assert refused(call, order).startswith("order must be above 1")


def test_too_few_draws_for_an_order_show_nothing():
    bound = em.renyi_lower_bound(*BITS, order=25)
    assert bound.value == 0
    assert "too few for this order" in str(bound)
    assert em.renyi_lower_bound(*BITS, order=7).value > 0.5
    assert "of 2 pairs" in em.renyi_lower_bound_of_pairs([BITS, BITS], order=25).reason


def curve(**named):
    return lambda: em.delta_curve(*LAPLACE, **named)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (curve(rng="seed"), "rng must be a generator of NumPy or a seed"),
        (curve(epsilons=[]), "epsilons must rise from 0 or more"),
        (curve(epsilons=1000.0), "epsilons must be at most 500"),
        (curve(classifier="nearest_neighbour"), "did you mean 'nearest_neighbours'"),
        (curve(classifier="sklearn.svm.Nothing"), "classifier 'sklearn.svm.Nothing' is not in"),
        (curve(confidence=1), "confidence must lie strictly between 0 and 1"),
        (lambda: em.largest_loss(*BITS, region=(0, 1)), "region is for real outputs"),
        (lambda: em.largest_loss(*LAPLACE, region=(100, 200)), "region [100, 200] holds no draw"),
        (
            lambda: em.renyi_lower_bound_of_pairs(None, order=2),
            "pairs must be pairs of arrays, got None",
        ),
        (lambda: em.histogram_level(*LAPLACE, support=(0, 1, 2), cells=3), "support must have two"),
        (lambda: em.loss_lower_bound(*LAPLACE, choosing=1e-4), "choosing leaves 0 draws to choose"),
        (lambda: em.largest_loss(*(np.round(s) for s in LAPLACE)), "discrete outputs must be int"),
        (lambda: em.loss_lower_bound_of_pairs([]), "pairs must not be empty"),
        (lambda: em.renyi_lower_bound_of_pairs(LAPLACE, order=2), r"pairs[0] must be two arrays"),
        (
            lambda: em.renyi_lower_bound_of_pairs([LAPLACE], order=2, own_samples=1),
            "own_samples must",
        ),
        (lambda: em.histogram_level(*LAPLACE), "support must be claimed"),
        (lambda: em.histogram_level(*LAPLACE, support=(-60, 60)), "lipschitz must be claimed"),
        (lambda: em.histogram_level(*BITS, cells=3), "cells is for real outputs"),
        (lambda: em.histogram_level(range(9), range(9), outcomes=3), "outcomes must be 9 or more"),
        (lambda: em.planned_draws(0.5, support=(0, 1), lipschitz=2.0), "lipschitz C = 2 must be"),
        (lambda: em.planned_draws(0.5, outcomes=3), "smallest_probability must be claimed"),
    ],
)
def test_other_arguments_are_refused_in_a_line(call, message):
    assert message in refused(call)


def test_a_number_that_is_missing_has_a_reason():
    x = np.repeat([0, 1, 2], 100)
    level = em.histogram_level(x, x[:200], outcomes=3, smallest_probability=0.1)
    assert (level.value, level.low, level.confidence) == (None, None, None)
    assert "1 of 3 cells have no draw of a side" in str(level)
    assert em.histogram_level(x, x[:200], empty_cells="skip").value == pytest.approx(math.log(1.5))
    assert "no confidence without the claim of outcomes" in em.histogram_level(x, x).reason
    few = em.histogram_level(x, x, gamma=0.01, outcomes=3, smallest_probability=0.1)
    assert few.value == 0
    assert few.low is few.high is few.confidence is None
    assert "far below that of planned_draws" in str(few)
