"""Declarations of domains: what is read, and the place that the error of a wrong one names."""

import math
from fractions import Fraction

import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.question.declarations import DOMAIN_KINDS, read
from tests.unit.epsilometer_audit.question.declared import NUMBER, TABLE, UNIT, USERS

COUNTS = {"counts": [0, 5], "keys": ["a"]}
COLUMNS = "domain.rows must be a domain, a list of one for each column, or one by each name"
FURTHER = "domain.user must be the name of a further column, beside rows"
MISTAKES = [
    (7, 'domain must be a mapping, as {"values": [0, 1]}, got 7'),
    ({}, "domain must be one of values, choices, bits, rows, counts"),
    ({"valus": [0, 1]}, "got 'valus'; did you mean 'values'?"),
    ({"values": [0, 1], "lenght": 3}, "domain has no key 'lenght' beside 'values'; did you mean"),
    ({"values": [0, 1], "neighbours": "any"}, "domain has no key 'neighbours' beside 'values'"),
    ({"values": [1, 1]}, "domain.values must be [lower, upper] with lower < upper, got [1, 1]"),
    ({"values": [0, 1, 2]}, "domain.values must be two numbers, [lower, upper], got [0, 1, 2]"),
    ({"values": 5}, "domain.values must be two numbers, [lower, upper], got 5"),
    ({"values": [0, math.inf]}, "domain.values must be a finite number, got inf"),
    ({"values": [0, 1e101], "whole": True}, "domain.values must lie in [-1e+100, 1e+100]"),
    ({"values": [0, 1.5], "whole": True}, "domain.values must be a whole number, got 1.5"),
    ({"values": [0, Fraction(3)], "whole": True}, "domain.values must be a whole number, got Frac"),
    ({"values": [0, 3], "whole": True, "distance": 1.5}, "must be a whole number, got 1.5"),
    ({"values": [0, 1], "whole": 1}, "domain.whole must be true or false, got 1"),
    ({**NUMBER, "missing": "nan"}, 'missing must be one of true, false, "NaN", "None", got'),
    ({**NUMBER, "distance": 1}, "domain.missing cannot be used with distance; choose one"),
    ({**UNIT, "distance": 1.01}, "domain.distance must be above 0, and 1 at most, got 1.01"),
    ({**UNIT, "distance": 0}, "domain.distance must be above 0, and 1 at most, got 0"),
    ({**UNIT, "length": 3, "distance": 0}, "domain.distance must be above 0, and 1 at most, got 0"),
    ({"values": [1, 3], "distance": 2.5}, "domain.distance must be above 0, and 2 at most"),
    ({**UNIT, "length": 4, "distance": 3, "norm": "L2"}, "must be above 0, and 2 at most, got 3"),
    ({"values": [0, 1], "norm": "L2"}, "domain.norm must be one of L1, L2, Linf beside length and"),
    ({"values": [0, 1], "norm": "L3"}, 'domain.norm must be one of "L1", "L2", "Linf", got \'L3\''),
    ({"choices": ["a"]}, "domain.choices must be a list of two values or more, got ['a']"),
    ({"choices": "abc"}, "domain.choices must be a list of two values or more, got 'abc'"),
    ({"choices": ["a", {1}]}, "domain.choices must be values as JSON has them"),
    ({"bits": 0}, "domain.bits must be at least 1, got 0"),
    ({"rows": {"bits": 2000}, "length": 3}, "domain.rows must have 1000 entries at most, got 2000"),
    ({"bits": 10_001}, "domain.bits must be at most 10000, got 10001"),
    ({"rows": NUMBER}, "domain.length is missing; write [0, 20], or one number"),
    *[({"rows": rows, "length": 3}, f"{COLUMNS}, got {rows!r}") for rows in (7, "ab", [], {})],
    ({"rows": [NUMBER, {"bits": "x"}], "length": 3}, "domain.rows.2.bits must be an integer"),
    ({"rows": {"age": {"value": [0, 1]}}, "length": 3}, "domain.rows.age must be one of values"),
    ({"rows": NUMBER, "length": 0}, "domain.length must allow one row at least, got 0"),
    ({"rows": NUMBER, "length": 4, "neighbours": "add or remove a row"}, "as [3, 4], got 4"),
    ({**TABLE, "rows": {**UNIT, "distance": 1}}, "which go with neighbours: 'replace a row'"),
    ({**TABLE, "rows": [NUMBER, {"bits": 2, "neighbours": "flip one"}]}, "has near values, which"),
    ({**TABLE, "rows": [NUMBER] * 1001}, "domain.rows must have 1000 entries at most, got 1001"),
    ({**TABLE, "per user": 3}, "domain.per user needs user, the name of a column"),
    ({**USERS, "neighbours": "null row"}, 'must be one of "add or remove a row", "replace a row"'),
    ({**USERS, "neighbours": "any order"}, "user cannot be used with 'any order'; choose one"),
    ({**USERS, "per user": 2501}, "domain.per user must be at most 10000, got 10004"),
    ({**USERS, "rows": UNIT}, FURTHER),
    ({**USERS, "rows": [UNIT]}, FURTHER),
    ({**USERS, "user": "x"}, FURTHER),
    ({**USERS, "user": ""}, FURTHER),
    ({"counts": [0, 5]}, "domain.keys is missing; write a list of words"),
    ({**COUNTS, "keys": "ab"}, "domain.keys must be a list of words, got 'ab'"),
    ({**COUNTS, "keys": []}, "domain.keys must be a list of words, got []"),
    ({**COUNTS, "keys": ["a", 1]}, "domain.keys must be a list of words, got ['a', 1]"),
    ({**COUNTS, "changed": 2}, "domain.changed must be at most 1"),
]


@pytest.mark.parametrize(("declaration", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_the_error_of_a_declaration_names_the_place(declaration, words):
    with pytest.raises(ArgumentError) as caught:
        ea.domain(declaration)
    assert "\n" not in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("declaration", "width"),
    [
        ({"bits": 10_000}, 10_000),
        ({**USERS, "per user": 2500}, 10_000),
        ({"values": [-1e100, 1e100], "whole": True}, 1),
        ({**TABLE, "rows": [UNIT] * 1000}, 20_000),
        ({**COUNTS, "keys": ["a", "b"], "changed": 2}, 2),
    ],
)
def test_the_largest_declarations_are_read(declaration, width):
    assert read("domain", declaration).width == width


def test_an_end_that_is_0_has_no_sign():
    low = read("values", {"values": [-0.0, 1.0], "distance": 1.0}).low
    assert math.copysign(1.0, low) == 1.0


def test_the_tests_of_domains_know_all_kinds():
    assert set(DOMAIN_KINDS) == {"values", "choices", "bits", "rows", "counts"}
