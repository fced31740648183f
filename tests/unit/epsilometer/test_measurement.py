"""The promises of `measure`: confidence, use of draws, and what it says where it cannot."""

import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

import epsilometer as em
from epsilometer import estimates, measurement
from epsilometer.errors import ArgumentError
from epsilometer.events.limits import box_of
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


def laplace(n, seed=1):
    """Draw both sides of Laplace noise of level 1."""
    return np.random.default_rng(seed).laplace([[0], [1]], 1, (2, n))


# --- cells ----------------------------------------------------------------------------------------


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
    separation = measurement._separation(SimpleNamespace(folds=folds))
    assert separation == pytest.approx(means[0] - means[1])


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
    for family in ["any"] if together else FAMILIES:
        assert times[family] <= most(runs * len(cases), 0.5), times


@pytest.mark.parametrize(("together", "share"), [(True, 0.25), (False, 1.0)])
def test_each_kind_of_bound_may_spend_a_fourth_of_alpha(
    together, share, monkeypatch, without_estimates
):
    of_events, of_sets = [], []

    def spend_on_event(counted, claim, alpha):
        of_events.append(alpha)
        return 0.0, None

    def spend_on_sets(*counts):
        of_sets.append(counts[-1])
        return box_of(*counts)

    monkeypatch.setattr(measurement, "largest_bound", spend_on_event)
    monkeypatch.setattr(measurement, "box_of", spend_on_sets)
    x = np.arange(200.0)
    em.measure(x, x, confidence=0.9, together=together)
    assert of_events == pytest.approx([0.1 * share] * 2)
    assert of_sets == pytest.approx([0.1 * share] * len(of_sets))


@pytest.mark.parametrize(
    ("draw", "level", "deltas", "divergences"),
    [
        (  # in truth 1, [.39, .22] and [.51, .98]
            lambda rng: rng.laplace([[0], [1]], 1, (2, 20_000)),
            ("epsilon", 0.9),
            [0.345, 0.165],
            [0.34, 0.76],
        ),
        (  # log 3, [.5, .34] and [.73, 1.09]
            lambda rng: rng.random((2, 20_000)) < [[0.75], [0.25]],
            ("epsilon", 1.0),
            [0.455, 0.285],
            [0.63, 1.0],
        ),
        (  # mu = 1, [.38, .24] and [.75, 16]
            lambda rng: rng.normal([[[0, 0]], [[1, 0]]], 1, (2, 20_000, 2)),
            ("mu", 0.88),
            [0.32, 0.18],
            [0.44, 1.4],
        ),
    ],
)
def test_bounds_are_near_the_levels(draw, level, deltas, divergences, without_estimates):
    name, least = level
    rng = np.random.default_rng(0)
    shown = em.measure(*draw(rng), epsilons=[0.0, 0.5], orders=[1.5, 32.0])
    assert getattr(shown, name) > least
    assert (shown.delta_low > deltas).all()
    assert (shown.delta_high > shown.delta_low).all()
    assert (shown.renyi_low > divergences).all()
    assert (shown.type_1 + shown.type_2).min() < 1 - deltas[0]  # the best guess


# --- the use of draws -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "chosen_on"), [((50,), 10), ((1000,), 200), ((1000, 2), 300), ((3000, 2), 400)]
)
def test_a_fifth_of_the_draws_choose_and_of_vectors_more_up_to_a_limit(
    shape, chosen_on, monkeypatch, without_estimates
):
    monkeypatch.setattr(measurement, "_CHOOSERS", 400)
    shown = em.measure(*np.random.default_rng(0).normal(size=(2, *shape)))
    assert (shown.chosen_on, shown.n) == (chosen_on, shape[0] - chosen_on)


def upper_first(draws):
    """The upper half of draws before the lower one, each in the order in which it came."""
    return draws[np.argsort(draws < np.median(draws), kind="stable")]


@pytest.mark.parametrize("sizes", [(600, 600), (300, 600), (600, 300)])
def test_an_order_of_the_draws_says_nothing(sizes, without_estimates):
    """Samples of one law in order show nothing in 19 of 20 runs, also if one is longer."""
    wrong = 0
    for seed in range(5):
        x, x_prime = map(np.random.default_rng(seed).normal, (0, 0), (1, 1), sizes)
        shown = em.measure(upper_first(x), upper_first(x_prime)[::-1], seed=seed)
        wrong += shown.epsilon > 0
    assert wrong <= most(5, 0.05)  # all five are wrong with probability 3e-7


def test_the_worst_of_several_pairs_is_measured(without_estimates):
    rng = np.random.default_rng(0)
    pairs = {f"pair {k}": rng.laplace([[0], [0.1]], 1, (2, 2000)) for k in range(10)}
    pairs["pair 7"] = rng.laplace([[0], [1.5]], 1, (2, 2000))
    shown = em.measure(pairs)
    assert shown.pair == "pair 7"
    assert 1.0 < shown.epsilon < 1.5
    assert "of pair 7" in str(shown)


def test_strings_are_numbered_by_the_draws_that_choose(without_estimates):
    """A new string among the draws that confirm changes no event."""
    rng = np.random.default_rng(3)
    x, x_prime = (rng.choice(["a", "b", "c"], 400, p=p) for p in ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]))
    before = em.measure(x, x_prime)
    assert before.witness.text == "output is c or any other output"
    last = generator(0, "measure").permutation(400)[-1]
    x[last] = "A"  # it comes before all others in the alphabet
    after = em.measure(x, x_prime)
    assert after.witness.event == before.witness.event
    assert after.witness.text == before.witness.text


@pytest.mark.parametrize("sides", ["ab", "ba"])
def test_strings_of_either_side_have_their_number(sides, without_estimates):
    x, x_prime = (np.array([letter] * 100) for letter in sides)
    assert em.measure(x, x_prime).witness.text == "output is a"


def test_cells_are_grouped_by_the_middle_of_their_share_when_log_ratios_rise():
    shares = np.array([[0.1, 0.7, 0.2], [0.1, 0.5, 0.4]])  # together .1, .6, .3
    scored = SimpleNamespace(log_ratios=np.array([2.0, 0.0, 1.0]), shares=shares)
    for cuts, groups in (
        ([0.31, 0.94], [2, 0, 1]),  # the middles are .3, .75 and .95
        ([0.29, 0.76], [1, 0, 0]),  # no cell is in the first group
        ([0.5, 0.7], [1, 0, 1]),  # the group between is empty
    ):
        assert measurement._groups(scored, cuts).tolist() == groups


# --- estimates of the papers ----------------------------------------------------------------------


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


def test_estimates_of_the_papers_stand_beside_the_bounds():
    rng = np.random.default_rng(2)
    sides = rng.random(3000) < 0.9, rng.random(3000) < 0.5
    shown = em.measure(*sides, epsilons=[0.5], orders=[7.0, 1.5, 1000.0], confidence=0.9)
    for i, order in enumerate(shown.orders[:2]):
        wanted = estimates.renyi_lower_bound_of_pairs([sides], order=order, confidence=0.9)
        assert shown.renyi_large_n[i] == pytest.approx(wanted.value)
    assert np.isnan(shown.renyi_large_n[2])  # too few draws
    assert shown.largest_loss.value == pytest.approx(estimates.largest_loss(*sides).value)
    assert shown.delta_estimate == pytest.approx(0.5 - np.exp(0.5) * 0.1, abs=0.05)


# --- what it says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda rng: rng.laplace([[0], [1]], 1, (2, 2000)), "event: output"),
        (lambda rng: rng.normal([[[0]], [[1]]], 1, (2, 2000, 3)), "no largest loss"),
        (lambda rng: rng.laplace([[0], [1]], 1, (2, 2000)), "\nlargest loss"),
        (lambda rng: rng.choice(["yes", "no"], (2, 2000)), "\nlargest loss"),
        (lambda rng: rng.integers(0, 3, (2, 2000, 2)), "\nlargest loss"),
        (lambda rng: np.stack([np.zeros(60), np.ones(60)]), "epsilon >= 2"),
    ],
)
def test_a_measurement_is_told_in_eight_lines(draw, words):
    text = str(em.measure(*draw(np.random.default_rng(3))))
    assert words in text
    assert len(text.splitlines()) <= 8
    assert "nan" not in text


def test_the_first_the_middle_and_the_last_bound_are_printed_beside_estimates():
    at, bounds = (
        np.array([0.0, 0.25, 0.5, 0.75, 1.25]),
        np.array([0.59999, 0.5, 0.375, 0.25, 0.125]),
    )
    theirs = np.array([0.61234, 0.5, 0.4, 0.3, np.nan])
    assert measurement._row("delta", "epsilon", at, bounds, "lu2022", theirs) == (
        "delta >= 0.599 at epsilon 0, 0.375 at epsilon 0.5, 0.125 at epsilon 1.25"
        " (lu2022: 0.612, 0.4, too few draws)"
    )


@pytest.mark.parametrize("digits", [2, 3])
def test_a_bound_is_printed_from_below(digits):
    for bound in [0.0, 1.0, *np.random.default_rng(0).lognormal(0, 2, 100)]:
        printed = float(measurement._down(bound, digits))
        assert printed <= bound
        assert bound - printed <= 10.0 ** (1 - digits) * bound


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "0"), (3, "0 or 1 or 2"), (4, "0 or 1 or 2 or 1 other"), (6, "0 or 1 or 2 or 3 others")],
)
def test_of_many_outputs_a_few_are_named(number, text):
    assert measurement._listed([str(i) for i in range(number)]) == text
    assert 38 <= len(measurement._in_words("ab" * 50)) <= 40  # of a long one so many letters


# --- tables and pictures --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return em.measure(*laplace(1000), orders=[2.0], epsilons=[0.0, 0.5])


def test_a_measurement_tells_its_bounds_in_rows(small):
    rows = {(row.quantity, row.at): row for row in small.rows() if row.holds == "every n"}
    assert rows["epsilon", None].low == small.epsilon
    assert rows["mu", None].low == small.mu
    assert rows["delta", 0.5].low == small.delta_low[1]
    assert math.isnan(rows["delta", 0.5].high)
    of_events = rows["delta of the chosen events", 0.5]
    assert (of_events.low, of_events.high) == (small.delta_low[1], small.delta_high[1])
    assert rows["Rényi divergence", 2.0].low == small.renyi_low[0]
    errors = [(row.at, row.high) for row in rows.values() if row.quantity == "type II error"]
    assert errors == list(zip(small.type_1, small.type_2, strict=True))
    estimates_of = {row.at: row.estimate for row in small.rows() if row.method == "lu2022"}
    assert estimates_of == dict(zip(small.epsilons, small.delta_estimate, strict=True))


SURE = "95 % confidence, every n"


def lines_of(axes):
    return {line.get_label(): np.array(line.get_data()) for line in axes.get_lines()}


@pytest.mark.parametrize(
    ("of", "label", "at", "bounds"),
    [
        ("delta", f"at least ({SURE})", "epsilons", "delta_low"),
        ("delta", "estimate (lu2022)", "epsilons", "delta_estimate"),
        ("renyi", SURE, "orders", "renyi_low"),
        ("renyi", "for large n (kutta2022)", "orders", "renyi_large_n"),
    ],
)
def test_a_measurement_is_a_picture_of_each_curve(small, of, label, at, bounds):
    drawn = lines_of(small.plot(Figure().subplots(), of=of))
    assert drawn[label].tolist() == [getattr(small, at).tolist(), getattr(small, bounds).tolist()]


def test_errors_of_tests_are_drawn_beside_a_claim(small):
    drawn = lines_of(small.plot(Figure().subplots(), claim=0.5, of="errors"))
    alphas, least = drawn["claim: epsilon = 0.5"]
    assert (alphas[0], alphas[-1]) == (0, 1)
    assert np.diff(alphas).max() < 0.01
    of_lines = np.maximum(1 - math.exp(0.5) * alphas, math.exp(-0.5) * (1 - alphas))
    assert least == pytest.approx(np.maximum(of_lines, 0))
    reached = drawn["a test reaches"]
    assert reached[0].tolist() == [0, *sorted(small.type_1), 1]
    assert reached[1].tolist() == [1, *sorted(small.type_2, reverse=True), 0]


def test_an_unknown_picture_is_refused(small):
    with pytest.raises(ArgumentError, match=r"^of is not known: 'dleta'; did you mean 'delta'"):
        small.plot(Figure().subplots(), of="dleta")


# --- arguments ------------------------------------------------------------------------------------

ZEROS = np.zeros(100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": ZEROS[:49]}, "x has 49 draws; 50 or more are needed"),
        ({"x_prime": None}, "x_prime"),
        ({"x": {}, "x_prime": None}, "x must hold at least one pair"),
        ({"x": {"a": ZEROS}, "x_prime": None}, r"x\['a'\]"),
        ({"x": {1: (ZEROS, ZEROS), "1": (ZEROS, ZEROS)}, "x_prime": None}, "x .* different names"),
        ({"orders": [1.0]}, "orders"),
        ({"orders": []}, "orders"),
        ({"orders": [2.0, 10_001.0]}, "orders"),
        ({"epsilons": [-1.0]}, "epsilons"),
        ({"epsilons": "all"}, "epsilons must be numbers"),
        ({"epsilons": [500.1]}, "epsilons"),
        ({"confidence": 9e-7}, "confidence"),
        ({"confidence": 1 - 5e-10}, "confidence"),
        ({"together": 1}, "together"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=f"^{message}"):
        em.measure(**{"x": ZEROS, "x_prime": ZEROS} | arguments)


@pytest.mark.parametrize("confidence", [1e-6, 1 - 1e-9])
def test_the_ends_of_arguments_are_among_them(confidence, without_estimates):
    x = np.arange(100.0)
    shown = em.measure(x, x, orders=1e4, epsilons=[0.0, 500.0], confidence=confidence)
    assert (shown.delta_low == 0).all()
    assert shown.renyi_low == 0


def test_orders_that_are_not_given_go_from_1_and_a_half_to_32():
    orders = np.array(measurement.ORDERS)
    assert (orders[0], orders[-1]) == (1.5, 32)
    assert max(orders[1:] / orders[:-1]) <= 2
    assert min(np.diff(orders)) > 0


@pytest.mark.parametrize("bound", [0.0, 0.66, 0.67, 2.01])
def test_epsilons_go_to_one_and_a_half_times_the_bound_and_at_least_to_1(bound):
    at = measurement._epsilons(None, bound)
    assert (len(at), at[0]) == (31, 0)
    assert at[-1] - 0.5 < max(1, 1.5 * bound) <= at[-1]
    assert at[-1] * 2 == round(at[-1] * 2)


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
    assert ("event: " in str(shown)) == (shown.epsilon > 0)  # one that shows nothing is not told
    assert "pairs[0]" not in str(shown)


def test_sides_without_a_common_output_have_a_large_mu(without_estimates):
    shown = em.measure([0.0] * 60, [1] * 60)
    assert shown.mu > 2
    assert shown.epsilon > 1.5
