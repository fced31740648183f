"""Numbers of any type are whole numbers, or reals and their remainders, to the last digit."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from epsilometer_audit.outputs.reals import EXACT, NONE, as_numbers, number_of

MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" -7", -7),
        ("0.5", 0.5),
        ("0.10", 0.1),
        ("1e3", 1000.0),
        ("NaN", math.nan),
        ("-Infinity", -math.inf),
        ("0.10000000000000000000001", Decimal("0.10000000000000000000001")),
        ("1" + "0" * 3998, 10**3998),
        ("1" + "0" * 3999, Decimal(10) ** 3999),
        ("1" + "0" * 4500, Decimal(10) ** 4500),  # of which Python makes no integer
        ("1e400", Decimal("1e400")),
        ("1e99999999999999999999", math.inf),  # which no decimal holds
    ],
)
def test_a_text_spells_a_number_to_its_last_digit(text, number):
    found = number_of(text)
    assert type(found) is type(number)
    assert repr(found) == repr(number) or found == number


def exactly(nearest, remainders):
    """Return the sums of reals and remainders, None for none."""
    if remainders is None:
        remainders = np.zeros(len(nearest))
    return [Fraction(a) + Fraction(b) for a, b in zip(nearest, remainders, strict=True)]


def test_reals_hold_whole_numbers_up_to_a_limit_and_not_the_next():
    assert [int(float(n)) for n in range(EXACT - 3, EXACT + 1)] == [*range(EXACT - 3, EXACT + 1)]
    assert int(float(EXACT + 1)) != EXACT + 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("number", [5, 2**53 + 1, 2**60 + 1, MOST - 512, MOST - 511, MOST])
def test_a_whole_number_is_its_nearest_real_and_a_remainder(number, sign):
    numbers = as_numbers(np.array([sign * number, 0]))
    assert numbers.whole.tolist() == [sign * number, 0]
    assert exactly(numbers.floats, numbers.remainders) == [sign * number, 0]


@pytest.mark.parametrize(
    ("kind", "values"),
    [("u8", [2**64 - 1, 0]), ("g", [0.5, np.longdouble(1) + np.longdouble(2) ** -60])],
)
def test_numbers_of_types_beyond_int64_and_double_are_split(kind, values):
    numbers = as_numbers(np.array(values, kind))
    wanted = [Fraction(*value.as_integer_ratio()) for value in values]
    assert exactly(numbers.nearest, numbers.corrections) == wanted


@pytest.mark.parametrize("kind", ["i8", "u8", "f2", "g"])
def test_no_numbers_have_no_remainders(kind):
    numbers = as_numbers(np.array([], kind))
    assert numbers.nearest.dtype == (np.float64 if kind in "f2g" else np.int64)
    assert numbers.remainders is None


@pytest.mark.parametrize(
    ("number", "whole"),
    [
        (2.5, NONE),
        (math.nan, NONE),
        (2.0**31, 2**31),
        (2.0**63 - 1024, 2**63 - 1024),
        (2.0**63, MOST),
        (1024 - 2.0**63, 1024 - 2**63),
        (2**63 + 5, MOST),
        (-(2**63) - 5, NONE),
        (-(2**70), NONE),
        (5 - 2**63, 5 - 2**63),
        (Fraction(2), 2),
        (Fraction(10**20 + 1, 10**20), NONE),  # whose nearest real is 1
    ],
)
def test_a_number_among_reals_is_whole_or_none(number, whole):
    assert as_numbers([number, 0.5]).whole.tolist() == [whole, NONE]


@pytest.mark.parametrize(
    ("number", "exact"),
    [
        (2**70 + 1, True),
        (Decimal("1e-300"), True),
        (Decimal("1e-500"), False),
        (Decimal("1e-9999999999"), False),  # at once
        (Fraction(-1, 10**500), False),
        (Fraction(0), True),
        (Decimal(0), True),
        (Decimal("Infinity"), True),
        (Decimal("NaN"), True),
        (Decimal("sNaN"), True),
        (Decimal("1e999"), False),
        (10**400, False),
    ],
)
def test_numbers_that_no_two_reals_hold_are_not_exact(number, exact):
    assert as_numbers([number, 0.5]).exact == exact


def next_decimals(choices, places):
    """Return decimals of so many places, or one fewer, that differ by one of the last place."""
    number = choices.randrange(10 ** (places - 1))
    return [Decimal(f"{number}e-{places - 1}"), Decimal(f"{number}1e-{places}")]


def next_fractions(choices, low, high):
    """Return fractions of denominators c and d that differ by 1 / (c d), the least possible."""
    while True:
        one = Fraction(choices.randrange(int(low)), choices.randrange(int(low), int(high)))
        d = pow(one.numerator, -1, one.denominator)
        if low < d and low < one.denominator:
            return [one, one - Fraction(1, one.denominator * d)]


@pytest.mark.parametrize(
    ("pair", "told", "beyond"),
    [
        (next_decimals, (32,), (33,)),
        (next_fractions, (2**53, 2**53.5), (2**53.5, 2**54)),
    ],
)
def test_numbers_are_exact_where_a_real_and_a_remainder_tell_them_apart(pair, told, beyond):
    """Both together are within 2^-108 of a number below 1, so numbers 2^-107 apart differ.

    Of two that are nearer, one of more places or of a larger denominator may be the nearer to both.
    """
    choices = random.Random(0)
    alike = 0
    for _ in range(600):
        assert as_numbers(pair(choices, *told)).exact
        both = as_numbers(pair(choices, *beyond))
        one, other = exactly(both.nearest, both.corrections)
        if one == other:
            assert not both.exact
            alike += 1
    assert alike > 3
