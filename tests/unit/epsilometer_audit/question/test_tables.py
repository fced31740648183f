"""Tables with their neighbours: each change, place, length and filling; their names."""

import json
import math
import re
from collections import Counter
from itertools import combinations, islice, product

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.question.declarations import read
from epsilometer_audit.question.entries import Change
from epsilometer_audit.question.tables import covering
from tests.unit.epsilometer_audit.question.declared import (
    ANY_ORDER,
    NUMBER,
    TABLE,
    UNIT,
    changed_places,
    removed_rows,
)

LETTERS = "abcdefghijklmnopq"


def others_of(change):
    """What the name of a table says of its other rows."""
    return change.name.split("others ")[1]


@pytest.mark.parametrize("sizes", [(2, 2), (1, 1, 1), (2, 12, 5, 3)])
def test_any_two_levels_of_two_factors_are_put_together(sizes):
    points = list(covering(*map(range, sizes)))
    assert len(set(points)) == len(points)
    for i, j in combinations(range(len(sizes)), 2):
        assert {(p[i], p[j]) for p in points} == set(product(range(sizes[i]), range(sizes[j])))
    assert len(points) <= 2 * math.prod(sorted(sizes)[-2:])


@pytest.mark.parametrize("n", [5, 20])
def test_every_position_and_every_change_of_a_row_has_a_pair(n):
    pairs = ea.domain({"rows": {"choices": list("abcdefg")}, "length": n}).values()
    assert {*changed_places(pairs)} == {*range(n)}
    changes = set()
    for x, y in pairs:
        changes |= {frozenset(rows) for rows in zip(x, y, strict=True)}
    assert changes >= {*map(frozenset, combinations("abcdefg", 2))}
    removed = ea.domain({"rows": {"choices": list(LETTERS)}, "length": [n - 1, n]})
    assert removed_rows(removed.values()) == {*LETTERS}


def test_a_table_has_each_change_and_place_then_each_two_conditions():
    table = read("domain", {"rows": {"choices": list("abcdefghij")}, "length": [0, 20]})
    found = list(table.changes(np.random.default_rng(0)))
    sizes = [len(change.x) for change in found]
    shorter = sum(size < 20 for size in sizes)
    assert all(size < 20 for size in sizes[1 : 2 * min(shorter, 20) : 2])  # in turn
    for size in {*sizes} - {20}:  # the first seven changes, both ends and the quarters
        of_size = [change for change in found if len(change.x) == size]
        assert {change.rows[0] for change in of_size} == set("jabcdef")
        assert {change.place for change in of_size} == {*np.linspace(0, size - 1, 5).round()}
    assert list(map(others_of, found[0:6:2])) == ['"a"', '"j"', "rising"]
    replaced = read("domain", {"rows": {"choices": list("abc")}, "length": 5})
    first = [*islice(replaced.changes(np.random.default_rng(0)), 8)]
    assert first[0].rows == first[1].rows != first[2].rows
    others = list(map(others_of, first))
    assert others[:3] == ['"a"', '"c"', "like the other"]
    assert {"both in turn", "like the other"} <= {*others}


def test_limits_are_spent_on_different_positions_and_both_ends():
    for limit, size in ((4, 7), (7, 7), (30, 40)):
        pairs = [*ea.domain({"rows": UNIT, "length": size}, limit=limit).values()]
        assert len(changed_places(pairs)) == limit
        ends = {frozenset(map(sum, pair)) for pair in pairs[:2]}
        assert ends == {frozenset({0, 1}), frozenset({size, size - 1})}
    often = changed_places(ea.domain({"rows": {"choices": [*range(7)]}, "length": 5}).values())
    assert max(often.values()) < 2 * min(often.values())


@pytest.mark.parametrize(
    ("more", "sizes"),
    [
        ({"length": [0, 20]}, {1, 2, 3, 4, 17, 19, 20}),
        ({"length": [0, 9], "neighbours": "replace a row"}, {1, 2, 3, 4, 8, 9}),
    ],
)
def test_tables_are_short_odd_and_long(more, sizes):
    pairs = ea.domain({"rows": UNIT, **more}).values()
    assert {max(map(len, pair)) for pair in pairs} == sizes


@pytest.mark.parametrize(
    ("size", "rows", "half"), [(2, UNIT, 0.5), (3, UNIT, 0.5), (3, [UNIT, UNIT], [0.5, 0.5])]
)
def test_interior_values_are_changed_beside_equal_ones(size, rows, half):
    beside = set()
    for x, y in ea.domain({"rows": rows, "length": size}).values():
        if [half] * size in (x, y):
            beside |= {*np.ravel([row for row in x + y if row != half])}
    assert {0, 1} <= beside


NAME = (
    r"(.+?) (?:removed|replaced by (.+?)), "
    r"(?:the only row|(first|last|number (\d+)) of (\d+) rows, others (.+?))(?: \(\d+\))?"
)
NAMED = [
    TABLE,
    {"rows": NUMBER, "length": [0, 20]},
    {"rows": {"values": [0, 5], "whole": True}, "length": [1, 2]},
    {"rows": UNIT, "length": [0, 9], "neighbours": "replace a row"},
    {"rows": {"values": [0, 9], "whole": True, "distance": 1}, "length": 4},
]


@pytest.mark.parametrize("declaration", NAMED, ids=str)
def test_names_say_what_changes_where_and_beside_which_rows(declaration):
    for title, pair in ea.domain(declaration).items():
        x, y = ([*map(json.dumps, side)] for side in pair)
        old, new, where, number, size, others = re.fullmatch(NAME, title).groups()
        places = {None: 0, "first": 0, "last": len(x) - 1}
        place = int(number) - 1 if number else places[where]
        rest = [*x[:place], *x[place + 1 :]]
        assert (len(x), x[place]) == (int(size or 1), old)
        assert y == ([*rest[:place], new, *rest[place:]] if new else rest)
        if others == "rising":
            evenly = np.linspace(*declaration["rows"]["values"], len(rest))
            rounded = 0.5 if "whole" in declaration["rows"] else 0.001
            assert np.abs(evenly - list(map(float, rest))).max() <= rounded
        elif rest and others != "at random":
            named = {"like it": [old], "like the other": [new], "both in turn": [old, new]}
            values = named.get(others, others.removesuffix(" in turn").split(" and "))
            assert rest == np.resize(values, len(rest)).tolist()
            assert others.endswith("in turn") == (len(values) > 1)


def test_rows_in_any_order_are_the_same_rows_but_for_one():
    space = read("domain", ANY_ORDER)
    ways = set()
    for change in space.changes(np.random.default_rng(0)):
        rest = [*change.x[: change.place], *change.x[change.place + 1 :]]
        assert sorted(change.x_prime) == sorted(rest)
        order = change.name.split(", in ")[1]
        if order != "random order":
            assert change.x_prime == (rest if order == "this order" else rest[::-1])
        ways.add((order, change.x_prime in (rest, rest[::-1])))
        if "others two halves" in change.name:
            half = len(rest) // 2
            assert rest == [0.0] * half + [1.0] * (len(rest) - half)
    assert ways >= {("this order", True), ("reverse order", True), ("random order", False)}


def test_a_table_near_another_has_another_change_place_or_row_or_equal_rows():
    """A fourth each, of equal rows a third each: a false alarm is below one in 10,000."""
    table = read("domain", {"rows": {"choices": [*range(1000)]}, "length": 5})
    change = Change([1, 2, 3, 4, 5], [1, 2, 9, 4, 5], place=2, rows=(3, 9))
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(400):
        new = table.moved(change, rng)
        others = [*new.x[: new.place], *new.x[new.place + 1 :]]
        assert (new.x[new.place], new.x_prime[new.place]) == new.rows
        if len(set(others)) == 1:
            seen["equal", others[0] if others[0] in new.rows else "another"] += 1
        seen["place"] += new.place != 2
        seen["change"] += new.rows != (3, 9)
        seen["row"] += np.not_equal(others, [1, 2, 4, 5]).sum() == 1
        assert {*new.rows} & {3, 9}
    assert all(60 <= seen[kind] <= 140 for kind in ("change", "row"))
    assert 45 <= seen["place"] <= 115
    assert all(12 <= seen["equal", value] <= 60 for value in (3, 9, "another"))
