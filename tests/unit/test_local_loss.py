"""The local loss of pairs: by hand, on every kind of outputs, and at the edges."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import local_loss as ll

FLOOR = 1e-3


def laplace_pair(n, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.laplace(0, 1, n), rng.laplace(shift, 1, n)


def dpl(pair, **options):
    selected, losses = ll.screen([pair], **({"floor": FLOOR, "draws": 1000} | options))
    assert selected == 0
    return losses[0]


def test_loss_of_laplace_is_flat_beyond_the_inputs():
    grid, loss = ll.loss_on_grid(*laplace_pair(200_000), (-1.0, 2.0), 301, FLOOR)
    inside = (grid > -0.8) & (grid < -0.2)
    assert loss[inside] == pytest.approx(np.full(inside.sum(), 1.0), abs=0.06)
    assert np.abs(loss[np.argmin(np.abs(grid - 0.5))]) < 0.05


@pytest.mark.parametrize("region", [(-1.0, 2.0), None])
def test_laplace_converges(region):
    errors = []
    for n in (2_000, 20_000, 200_000):
        found = [dpl(laplace_pair(n, seed=s), region=region).loss for s in range(8)]
        errors.append(float(np.sqrt(np.mean((np.array(found) - 1.0) ** 2))))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < (0.1 if region else 0.2)  # far out, the maximum of noise


def test_discrete_outputs_converge():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    for outputs in (np.arange(3), np.array([[0, 0], [0, 1], [1, 0]])):
        rng = np.random.default_rng(0)
        x, y = (outputs[rng.choice(3, 200_000, p=side)] for side in (p, q))
        found = dpl((x, y))
        assert found.loss == pytest.approx(math.log(2.5), abs=0.02)
        hit = outputs[2 if found.sign < 0 else 0]
        assert found.output.tolist() == np.atleast_1d(hit).tolist()


def test_two_dimensions_find_the_shift():
    """Laplace noise in both entries, moved in one: the violation is 1."""
    rng = np.random.default_rng(0)
    x, y = (rng.laplace(0, 1, (20_000, 2)) + np.array([a, 0]) for a in (0, 1))
    found = dpl((x, y), floor=0.02)
    assert found.loss == pytest.approx(1.0, abs=0.25)
    assert found.output.shape == (2,)
    assert found.event.shape == (2, 2)
    assert (found.output > found.event[:, 0]).all()
    assert (found.output < found.event[:, 1]).all()


def test_identical_samples_have_no_loss():
    x = np.random.default_rng(0).normal(size=500)
    assert dpl((x, x)).loss == 0
    k = np.random.default_rng(0).poisson(3, 500)
    assert dpl((k, k)).loss == 0


def test_disjoint_supports_reach_the_floor():
    x, y = np.zeros(100, int), np.ones(100, int)
    assert dpl((x, y)).loss == pytest.approx(math.log(1000))
    rng = np.random.default_rng(0)
    far = dpl((rng.normal(0, 0.1, 2000), rng.normal(9, 0.1, 2000)))
    assert far.loss == pytest.approx(math.log(4 / FLOOR), rel=0.1)


def test_the_largest_pair_is_selected_and_the_first_of_ties():
    a, b = laplace_pair(5_000, 0.2), laplace_pair(5_000, 1.0)
    selected, losses = ll.screen([a, b, b], floor=FLOOR, draws=100)
    assert selected == 1
    assert losses[1].loss == losses[2].loss > losses[0].loss
    assert len(losses[1].event) > 0
    assert [len(loss.event) for loss in (losses[0], losses[2])] == [0, 0]
    with pytest.raises(ArgumentError, match="pairs must not be empty"):
        ll.screen([], floor=FLOOR, draws=100)


def test_the_sign_says_which_side_is_likelier():
    x, y = laplace_pair(20_000)
    region = (-1.0, 0.0)
    assert dpl((x, y), region=region).sign == 1
    assert dpl((y, x), region=region).sign == -1
    assert dpl((y, x), region=region).loss == dpl((x, y), region=region).loss


def test_the_default_region_is_where_the_draws_are():
    x, y = np.linspace(0, 100, 10_001), np.linspace(50, 150, 10_001)
    assert ll.default_region(x, y) == pytest.approx((1.0, 149.0))


@pytest.mark.parametrize(
    ("sample", "refused"),
    [
        (np.clip(np.random.default_rng(0).normal(size=5000), -1, 1), True),  # atoms at both ends
        (np.round(np.random.default_rng(0).normal(size=5000)), True),  # discrete, but not integers
        (np.zeros(50), True),
        (np.random.default_rng(0).normal(size=5000).round(3), False),  # rounding is no atom
        (np.random.default_rng(0).normal(size=5000), False),
        (np.array([0.5, 0.5]), False),
    ],
)
def test_atoms_in_a_continuum_are_refused(sample, refused):
    if not refused:
        ll.refuse_atoms(sample)
        return
    with pytest.raises(ArgumentError, match="reals with an atom"):
        ll.refuse_atoms(sample)
    vectors = np.column_stack([np.random.default_rng(1).normal(size=sample.size), sample])
    with pytest.raises(ArgumentError, match="reals with an atom"):
        dpl((vectors, vectors))


def test_mixed_outputs_and_finite_orders_are_refused():
    with pytest.raises(ArgumentError, match="mixed, neither discrete nor continuous"):
        ll.LocalLoss(floor=1e-3).check("mixed", math.inf)
    with pytest.raises(ArgumentError, match="lambda must be inf"):
        ll.LocalLoss(floor=1e-3).check("scalar", 2.0)
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(ArgumentError, match="floor must be"):
            ll.LocalLoss(floor=bad)
    with pytest.raises(ArgumentError, match="points must be at least 2"):
        ll.LocalLoss(floor=0.1, points=1)


def test_the_chosen_set_is_where_the_loss_is_largest():
    p = np.array([0.4, 0.3, 0.2999, 1e-4])
    q = np.array([0.1, 0.3, 0.599995, 1e-6])
    assert ll.best_set(p, q, draws=1000).tolist() == [True, False, False, True]
    # with draws enough, the rare output with the larger loss is worth being bounded alone
    assert ll.best_set(p, q, draws=10**9).tolist() == [False, False, False, True]


def test_events_hold_what_they_say():
    intervals = np.array([[-math.inf, -1.0], [0.5, 2.0]])
    draws = np.array([-5.0, -1.0, 0.0, 0.5, 1.9, 2.0])
    assert ll.in_event(draws, intervals).tolist() == [True, False, False, True, True, False]
    assert ll.in_event(np.array([1, 2, 3]), np.array([[3.0], [1.0]])).tolist() == [1, 0, 1]
    tuples = np.array([[0, 1], [1, 1]])
    assert ll.in_event(tuples, np.array([[1.0, 1.0]])).tolist() == [False, True]
    box = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert ll.in_event(np.array([[0.5, 0.5], [0.5, 1.5]]), box).tolist() == [True, False]


def test_the_event_of_laplace_is_one_side_and_its_tail():
    """All of t <= 0 has the full loss, also what lies beyond the region."""
    found = dpl(laplace_pair(50_000), region=(-1.0, 0.0), draws=100_000)
    assert found.event[0, 0] == -math.inf
    assert -0.6 < found.event[-1, 1] < 0.4
