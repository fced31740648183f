"""Formulas and summaries: numbers of whole vectors."""

import math

import numpy as np
import pytest

from epsilometer.events.events import Event, View
from epsilometer.events.vectors import CHECK_SUM, CORRELATION, SUMMARIES, Formula, summary
from tests.benchmarks.seen import luhn
from tests.unit.audits import again

NAN = math.nan


def test_a_formula_adds_weighted_products_of_clipped_entries():
    formula = Formula((0, 2), (1.0, 0.0), (2.0, 1.0), (((0,), 1.0), ((0, 1), 0.5), ((1, 1), -1.0)))
    rows = np.array([[3.0, 9.0, 2.0], [1.0, 9.0, NAN], [1e300, 9.0, -math.inf]])
    assert formula.of(rows).tolist() == [1 + 1 - 4, 0.0, 8 - 32 - 64]
    many = np.tile(rows, (7000, 1))
    assert (formula.of(many) == np.tile(formula.of(rows), 7000)).all()
    again(Event(((0.0, None),), view=View("learned", formula=formula)))


ROWS = np.array([[3.0, 1.0, 3.0, 2.0], [NAN, 5.0, -1.0, NAN], [NAN] * 4])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("sum", [9.0, 4.0]),
        ("sum over the root of the number", [4.5, 4 / math.sqrt(2)]),
        ("largest", [3.0, 5.0]),
        ("smallest", [1.0, -1.0]),
        ("place of the largest", [0.0, 0.0]),
        ("place of the smallest", [1.0, 1.0]),
        ("number of different values", [3.0, 2.0]),
        ("number of rises", [1.0, 0.0]),
        ("check sum of digits", [15.0, 0.0]),
        ("spread", [math.sqrt(0.6875), 3.0]),
        ("product of neighbours", [0.75 * -1.25 * 2 - 0.75 * 0.25, -9.0]),
    ],
)
def test_a_summary_is_a_number_of_the_entries_that_are_there(name, numbers):
    groups = [range(4)]
    assert summary(name, groups, ROWS) == pytest.approx([*numbers, NAN], nan_ok=True)
    of_all = summary(name, groups, ROWS[:1])
    assert of_all == numbers[:1]
    assert (of_all.dtype.kind == "i") == name.startswith(("place", "number"))


@pytest.mark.parametrize("name", ["sum", "spread", "product of neighbours"])
def test_a_summary_is_the_same_number_however_many_outputs_there_are(name):
    table = np.random.default_rng(0).normal(size=(50, 30))
    alone = np.concatenate([summary(name, [range(30)], row) for row in table[:, None]])
    assert summary(name, [range(30)], table).tolist() == alone.tolist()
    assert summary(name, [[0]], table) == pytest.approx(table[:, 0] * (name == "sum"))


def test_a_correlation_is_that_of_two_groups_of_entries():
    table = np.random.default_rng(0).normal(size=(5, 8))
    found = summary(CORRELATION, ((0, 2, 4, 6), (1, 3, 5, 7)), table)
    assert found == pytest.approx([np.corrcoef(row[::2], row[1::2])[0, 1] for row in table])


@pytest.mark.parametrize("valid", ["79927398713", "4111111111111111", "18"])
def test_the_check_sum_of_valid_digits_is_a_multiple_of_ten(valid):
    """Numbers that are printed as examples of Luhn's rule."""
    digits = np.array([*map(int, valid)])
    other = digits.copy()
    other[0] = (digits[0] + 1) % 10
    right, wrong = summary(CHECK_SUM, [range(len(valid))], np.array([digits, other]))
    assert right % 10 == 0 != wrong % 10
    assert right == luhn(valid)


def test_extreme_numbers_have_summaries_without_a_word():
    x = np.random.default_rng(2).standard_cauchy((300, 4)) * 1e300
    x[::7, 0], x[::5, 1], x[3] = NAN, math.inf, NAN
    for name in SUMMARIES:
        assert np.isnan(summary(name, [range(4)], x)[3])
