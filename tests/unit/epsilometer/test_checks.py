"""Checks of arguments."""

import math

import pytest

from epsilometer import checks
from epsilometer.errors import ArgumentError


@pytest.mark.parametrize("number", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_numbers_that_are_not_positive_are_refused(number):
    with pytest.raises(ArgumentError, match="epsilon must be"):
        checks.positive("epsilon", number)
