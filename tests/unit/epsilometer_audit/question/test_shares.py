"""How tests share alpha."""

import math

import pytest

from epsilometer_audit.question.shares import share_of


@pytest.mark.parametrize("members", [1, 4])
def test_the_tests_of_all_members_of_a_family_spend_alpha_together(members):
    """The tail of the sum of 6 / (pi i)^2 beyond n is 6 / pi^2 / (n + 1/2), nearly."""
    assert members * share_of(0.05, members) == pytest.approx(0.05)
    spent = members * sum(share_of(0.05, members, i) for i in range(1, 1001))
    assert spent == pytest.approx(0.05 * (1 - 6 / math.pi**2 / 1000.5), rel=1e-9)
