"""Formulas change where a loss or a divergence is no longer small: at every size."""

from decimal import Decimal

import numpy as np
import pytest

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
