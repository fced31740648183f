"""Formulas change where a loss or a divergence is no longer small: at every size."""

from decimal import Decimal

import numpy as np
import pytest

from epsilometer.exact import levels
from epsilometer.exact.levels import Comparison
from tests.unit.epsilometer.exact.laws import check_law, law


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
