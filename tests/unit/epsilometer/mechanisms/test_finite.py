"""Limits of mechanisms with few outputs."""

import pytest

from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.finite import RandomizedBits


def test_randomised_bits_are_those_of_30_people_at_most():
    RandomizedBits(1.0, people=30)
    with pytest.raises(ArgumentError, match="30"):
        RandomizedBits(1.0, people=31)
