"""Formulas change where a loss or a divergence is no longer small: at every size."""

import math
from decimal import Decimal

import numpy as np
import pytest

from epsilometer.exact import levels
from epsilometer.exact.levels import Comparison
from tests.unit.epsilometer.exact.laws import check_law, close, law


@pytest.mark.parametrize("epsilon", np.geomspace(1e-4, 10, 30).tolist())
def test_losses_of_every_size(epsilon):
    lie = 1 / (Decimal(epsilon).exp() + 4)
    p, q = [1 - 4 * lie, lie, lie, lie, lie], [lie, 1 - 4 * lie, lie, lie, lie]
    check_law(law("randomized_response", epsilon, outcomes=5), 0, 1, p, q)


@pytest.mark.parametrize("epsilon", np.geomspace(1e-4, 10, 30).tolist())
def test_losses_that_differ_of_every_size(epsilon):
    """Of the exponential mechanism, whose losses are those of weights and of their sums."""
    e = (Decimal(epsilon) / 2).exp()
    p, q = [e / (e + 2), 1 / (e + 2), 1 / (e + 2)], [Decimal(1) / 3] * 3
    check_law(law("counting_exponential", epsilon), [0], [], p, q)


@pytest.mark.parametrize("more", [1e-9, 0.04, -1e-9])
def test_the_loss_of_an_output_that_is_likelier_than_all_others_is_computed_from_them(more):
    """Of one that has half of the chance or less under x', the loss that is given stays."""
    q = [Decimal("0.5") + Decimal(more), Decimal("0.3"), Decimal("0.2") - Decimal(more)]
    p = [Decimal("0.5") - Decimal(more), Decimal("0.3"), Decimal("0.2") + Decimal(more)]
    losses = [float((a / b).ln()) for a, b in zip(p, q, strict=True)]
    given = Comparison(
        np.log([*map(float, p)]), np.log([*map(float, q)]), np.array([7, *losses[1:]])
    )
    found = levels.completed(given).loss
    assert found[0] == pytest.approx(losses[0] if more > 0 else 7, rel=1e-12)
    assert found[1:].tolist() == losses[1:]


NONE = -math.inf


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.2, 0.05, 0.3], [0.1, 0.06, 0.2]),
        ([0.2, 0.05, 0.3], [0.2 * (1 + 2**-40), 0.05, 0.3]),
        ([2e-9, 0.0, 3e-9], [1e-9, 2e-9, 0.0]),  # either side has what the other has not
        ([0.0, 0.0, 0.3], [0.1, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [0.1, 0.0, 0.2]),
        ([0.1, 0.0, 0.2], [0.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_total_has_the_sums_and_the_logarithm_of_their_ratio(p, q, axis):
    p, q = ([*map(Decimal, side)] for side in (p, q))
    with np.errstate(divide="ignore"):
        logs = [np.log([*map(float, side)]) for side in (p, q)]
    loss = [
        float((a / b).ln()) if a and b else -NONE if a else NONE for a, b in zip(p, q, strict=True)
    ]
    rows = [np.expand_dims(values, 1 - axis).repeat(2, 1 - axis) for values in (*logs, loss)]
    found = levels.total(*rows, axis=axis)
    assert [values.shape for values in found] == [(2,)] * 3
    for values, side in zip(found, (p, q), strict=False):
        assert np.exp(values) == pytest.approx(float(sum(side)), rel=1e-12)
    if sum(p) and sum(q):
        assert close(found.loss[1], (sum(p) / sum(q)).ln(), 1e-12)
    else:
        assert found.loss.tolist() == [-NONE if sum(p) else NONE] * 2


def test_outputs_that_no_input_has_do_not_count():
    p, q = np.array([0.75, 0.25]), np.array([0.25, 0.75])
    pair = Comparison(*(np.append(logs, NONE) for logs in (np.log(p), np.log(q), np.log(p / q))))
    for same in (pair, pair.reversed()):
        assert levels.privacy_loss(same) == pytest.approx(math.log(3))
        assert levels.renyi(2.0, same) == pytest.approx(math.log(7 / 3))
        assert levels.deltas(np.array([0.0]), same) == pytest.approx([0.5])


def test_nodes_have_the_masses_of_their_weights():
    density = Comparison(np.log([0.5, 2.0]), np.log([1.0, 3.0]), np.log([0.5, 2 / 3]))
    mass = density.times([0.1, 0.7])
    assert np.exp(mass.log_p) == pytest.approx([0.05, 1.4])
    assert np.exp(mass.log_q) == pytest.approx([0.1, 2.1])
    assert mass.loss.tolist() == density.loss.tolist()
