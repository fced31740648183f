"""Declared domains: their pairs, relations, the faults that they find, and refusals."""

import json
import math
import re
import sys
from collections import Counter
from itertools import chain, combinations, cycle, islice, product

import numpy as np
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_audit.checks.accepted_pairs import accepted
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.outputs.formats import input_text, pair_texts
from epsilometer_audit.outputs.worker import python_worker
from epsilometer_audit.question import domains
from epsilometer_audit.question.declarations import read
from epsilometer_audit.question.tables import covering
from tests.sharing import FIVE, with_seconds

NUMBER, REPLACED = {"values": [0, 5], "missing": True}, {"neighbours": "replace a row"}
NAMED = {"age": {"values": [0, 99], "whole": True}, "city": {"choices": ["A", "B", None]}}

DECLARATIONS = {
    "numbers": {"values": [0, 1]},
    "clipped": {"values": [-5, 5], "clipped": True},
    "huge": {"values": [-1.7e308, 1.7e308], "clipped": True},
    "whole": {"values": [3, 9], "whole": True},
    "apart": {"values": [-(10**6), 10**6], "distance": 1},
    "apart, clipped": {"values": [0, 10], "distance": 0.5, "clipped": True},
    "apart, coarse": {"values": [-1e18, 1e18], "distance": 0.3},
    "choices": {"choices": ["a", "b", None, 4, [1, 2]]},
    "many choices": {"choices": list(range(300))},
    "bits": {"bits": 8},
    "many bits": {"bits": 200},
    "any bits": {"bits": 5, "neighbours": "any"},
    "table": {"rows": {"values": [0, 5]}, "length": [0, 20]},
    "table, clipped": {"rows": {"values": [0, 5], "clipped": True}, "length": [0, 20]},
    "short table": {"rows": {"values": [0, 5], "whole": True}, "length": [1, 2]},
    "fixed table": {"rows": {"choices": ["a", "b", "c"]}, "length": 7},
    "replaced": {"rows": {"values": [0, 1]}, "length": [0, 9], **REPLACED},
    "near": {"rows": {"values": [0, 9], "whole": True, "distance": 1}, "length": 4},
    "columns": {"rows": [{"values": [0, 1]}, {"choices": ["a", "b", "c"]}], "length": [0, 30]},
    "named": {"rows": {"age": {"values": [0, 99]}, "answers": {"bits": 3}}, "length": [5, 6]},
    "wide": {"rows": [{"values": [0, 1]}] * 40, "length": [0, 12]},
    "counts": {"counts": [0, 50], "keys": ["a", "b", "c", "d"]},
    "NaN": NUMBER,
    "None": {"values": [0, 5], "missing": "None"},
    "whole, missing": {"values": [0, 3], "whole": True, "missing": True},
    "table, NaN": {"rows": NUMBER, "length": [0, 20]},
    "fixed table, None": {"rows": {"values": [0, 5], "missing": "None"}, "length": 2},
    "columns, NaN": {"rows": [NUMBER, {"choices": ["a", "b"]}, NUMBER], "length": [0, 4]},
    "replaced columns, NaN": {"rows": [NUMBER] * 30, "length": [1, 5], **REPLACED},
    "far choices": {"choices": [1e12 + i for i in range(11)]},
    "any two vectors": {"values": [0, 1], "length": 3},
    "coarse": {"values": [-(2**50), 2**50], "distance": 1},
    "users": {"rows": NAMED, "length": [0, 9], "user": "id", "per user": 4},
    "users, missing": {"rows": {"x": NUMBER}, "length": [0, 3], "user": "id"},
    "users replaced": {"rows": NAMED, "length": 3, "user": "id"},
    "several counts": {"counts": [0, 9], "keys": list("abcde"), "changed": 3},
}


@pytest.fixture(params=DECLARATIONS, scope="module")
def declared(request):
    """One declaration after another, with its pairs."""
    declaration = DECLARATIONS[request.param]
    return declaration, ea.domain(declaration)


# --- which pairs they are -------------------------------------------------------------------------


def test_an_end_that_is_0_has_no_sign():
    low = read("values", {"values": [-0.0, 1.0], "distance": 1.0}).low
    assert math.copysign(1.0, low) == 1.0


def test_pairs_are_a_hundred_neighbours_at_most_each_once_and_plain(declared):
    _, pairs = declared
    assert 1 <= len(pairs) <= 100
    texts = {frozenset(map(json.dumps, pair)) for pair in pairs.values()}
    assert len(texts) == len(pairs)
    assert all(len(text) == 2 for text in texts)
    near = [each.copy() for each in pairs.searches]
    found = [each.nearby(list(pairs), 50, np.random.default_rng(0)).values() for each in near]
    moved = [*chain(*found)]
    names = [*pairs, *chain(*(each.tried for each in near))]
    for name in names:  # alike ones have numbers
        if numbered := re.fullmatch(r"(.*) \((\d+)\)", name):
            base, number = numbered[1], int(numbered[2])
            assert (base if number == 2 else f"{base} ({number - 1})") in names
    assert moved or not pairs.searches
    assert not texts & {frozenset(map(json.dumps, pair)) for pair in moved}


def test_the_same_declaration_gives_the_same_pairs_and_the_limit_the_first(declared):
    declaration, pairs = declared
    again = ea.domain(json.loads(json.dumps(declaration)))
    assert json.dumps(dict(again)) == json.dumps(dict(pairs))
    few = ea.domain({**declaration, "limit": 7})
    assert json.dumps(list(few.items())) == json.dumps(list(pairs.items())[:7])
    other = ea.domain({**declaration, "seed": 1})
    same = [key for key in pairs if key in other and pairs[key] == other[key]]
    assert same[:2] == list(pairs)[:2]
    assert not (drawn := {key for key in pairs if "random" in key}) or drawn - set(same)


def changes(pairs):
    """The positions, from 0, and the changes of value that replace a row."""
    rows = [
        (i, frozenset((a, b)))
        for pair in pairs.values()
        for i, (a, b) in enumerate(zip(*pair, strict=True))
        if a != b
    ]
    return tuple(map(set, zip(*rows, strict=True)))


@pytest.mark.parametrize("n", [5, 20])
def test_every_position_and_every_change_of_a_row_has_a_pair(n):
    pairs = ea.domain({"rows": {"choices": list("abcdefg")}, "length": n})
    assert changes(pairs) == (set(range(n)), set(map(frozenset, combinations("abcdefg", 2))))
    removed = ea.domain({"rows": {"choices": list("abcdefghijklmnopq")}, "length": [n - 1, n]})
    rows = {row for x, y in removed.values() for row in Counter(x) - Counter(y)}
    assert rows == set("abcdefghijklmnopq")


WORDS, UNIT = [f"w{i}" for i in range(80)], {"values": [0, 1]}
ROWS_OF_9 = {"rows": UNIT, "length": [0, 9], **REPLACED}


def test_a_table_has_each_change_and_place_then_each_two_conditions():
    table = read("domain", {"rows": {"choices": list("abcdefghij")}, "length": [0, 20]})
    found = list(table.changes(np.random.default_rng(0)))
    sizes = [len(change.x) for change in found]
    shorter = sum(size < 20 for size in sizes)
    assert all(size < 20 for size in sizes[1 : 2 * min(shorter, 20) : 2])  # in turn
    rows, places = {}, {}
    for size, change in zip(sizes, found, strict=True):
        rows.setdefault(size, set()).add(change.rows[0])
        places.setdefault(size, set()).add(change.place)
    for size in {*sizes} - {20}:  # the first seven changes, both ends and the quarters
        assert rows[size] == set("jabcdef")
        assert places[size] == set(np.linspace(0, size - 1, 5).round())
    first = [change.name.split("others ")[1] for change in found[0:6:2]]
    assert first == ['"a"', '"j"', "rising"]
    replaced = read("domain", {"rows": {"choices": list("abc")}, "length": 5})
    first = [*islice(replaced.changes(np.random.default_rng(0)), 8)]
    assert first[0].rows == first[1].rows != first[2].rows
    others = [change.name.split("others ")[1] for change in first]
    assert others[:3] == ['"a"', '"c"', "like the other"]
    assert {"both in turn", "like the other"} <= {*others}


def test_a_note_says_that_a_larger_limit_tries_more_while_it_does():
    declaration = {"choices": [0, 1, 2]}
    (note,) = ea.domain(declaration, limit=2).untried
    more = "a larger limit tries more"
    assert note == f"2 pairs of the domain were tried, others were not; {more}"
    assert not ea.domain(declaration, limit=3).untried
    (_, note) = ea.domain({"values": [0, 1]}).untried
    assert note.endswith("others were not")  # as the list has ended
    several = [NUMBER, {"values": [2, 7]}, {"bits": 2}, {"values": [2, 7]}]
    for declared, ranges in [
        ({"rows": several, "length": 2}, "[0.0, 5.0] or [2.0, 7.0]"),
        ({"values": [0, 2], "whole": True}, "[0, 2]"),
        (USERS, "[0.0, 5.0]"),
    ]:
        assert f"numbers beyond {ranges} were not tried" in ea.domain(declared).untried[0]
    for declared in ({"values": [0, 1], "whole": True}, CLIPPED, {"bits": 2}, COUNTED):
        assert not any("beyond" in note for note in ea.domain(declared).untried)


def test_limits_are_spent_on_different_positions_keys_and_values():
    for limit, size in ((4, 7), (7, 7), (30, 40)):
        pairs = ea.domain({"rows": {"values": [0, 1]}, "length": size}, limit=limit)
        assert len(changes(pairs)[0]) == limit
        ends = {frozenset(map(sum, pair)) for pair in list(pairs.values())[:2]}
        assert ends == {frozenset({0, 1}), frozenset({size, size - 1})}
    counted = ea.domain({"counts": [0, 50], "keys": WORDS}, limit=81).values()
    assert {key for x, y in counted for key, _ in x.items() ^ y.items()} == {*WORDS}
    assert {*chain(*ea.domain({"choices": WORDS}, limit=40).values())} == {*WORDS}
    sevens = ea.domain({"rows": {"choices": WORDS[:7]}, "length": 5}).values()
    often = Counter(i for x, y in sevens for i in range(5) if x[i] != y[i])
    assert max(often.values()) < 2 * min(often.values())


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(("rows", "half"), [(UNIT, 0.5), ([UNIT, UNIT], [0.5, 0.5])])
def test_interior_values_are_changed_beside_equal_ones(size, rows, half):
    pairs = ea.domain({"rows": rows, "length": size}).values()
    others = [row for x, y in pairs if [half] * size in (x, y) for row in x + y if row != half]
    assert {0, 1} <= {value for row in others for value in np.ravel(row)}


def test_values_around_both_ends_are_changed_at_steps_of_one_and_at_random_widths():
    found = 0
    for seed in range(20):
        pairs = ea.domain({**TABLE, "rows": CLIPPED, "seed": seed}).values()
        rows = {row for x, y in pairs for row in Counter(x) - Counter(y)}
        assert {9, 9.99, 10.01, 11, 1, 0.01, -0.01, -1} <= rows
        found += any(10.3 < row < 14 and row != 11 for row in rows)
    assert found >= 10


TABLE = {"rows": {"values": [0, 5]}, "length": [0, 20]}
CLIPPED, WHOLE = {"values": [0, 10], "clipped": True}, {"whole": True}
COUNTED = {"counts": [0, 9], "keys": ["a", "b"]}
EVERY = {**COUNTED, "changed": 2}
MISSING = {"rows": NUMBER, "length": [0, 20]}
USERS = {"rows": {"x": {"values": [0, 5]}}, "length": [0, 4], "user": "id"}
OWN = [0.0], [5.0] * 3, [0.0, 2.5, 5.0]  # rows of a user
BITS = {"values": [0, 1], "whole": True, "length": 4}
AROUND_0, FAR_APART = {"values": [-2, 8]}, {"values": [-(10**6), 10**6]}
BORDERS = [sign * border for border in (1.0, 2.0**19) for sign in (-1, 1)]
COARSER = [-1e6, 1e6 - 1, -1.0, -0.5, 0.0, 0.5, 1 / 3, math.pi]  # and where floats become coarser
COARSER += [border - less for border in BORDERS for less in (0, 0.5, 1)]
OF_INTEREST = [
    (CLIPPED, [(0.0, -0.01), (10.0, 10.01), (0.0, 20.0), (10.0, -1e4), (0.0, 10_010.0)]),
    (AROUND_0, [(-2.0, 8.0), (-2.0, 3.0), (8.0, 4.0), (8.0, 0.0), (-0.01, 0.01)]),
    (AROUND_0, [(-2.0, 7.99), (8.0, -1.99), (-2.0, 7.0), (8.0, -1.0)]),
    ({**FAR_APART, **WHOLE}, [(-1, 1), (-(10**6), 0), (-(10**6), 10**6 - 1), (10**6, 1 - 10**6)]),
    ({**FAR_APART, "distance": 1}, [(start, start + 1) for start in COARSER]),
    ({**FAR_APART, "distance": 1}, [(0.0, 0.5), (0.0, 0.001)]),
    ({**FAR_APART, **WHOLE, "distance": 4}, [(-4, 0), (-2, 2), (0, 1), (0, 2), (0, 4)]),
    ({**CLIPPED, **WHOLE}, [(0, -1), (10, 11)]),
    ({"values": [-1.23456, 12_342.5]}, [(-1.23456, 12_342.5)]),  # ends with all of their digits
    ({"values": [-2, 8], "distance": 0.1}, [(x, x + 0.1) for x in (0.5, 1 / 3, math.pi, 3.0)]),
    ({"values": [-2, 8], "distance": 0.1}, [(x, x + 0.1) for x in (1.0, 0.9, -1.0, -1.1)]),
    ({"values": [0, 2], "distance": 2}, [(1.0, 2.0)]),
    ({"values": [1, 2], "whole": True, "distance": 1}, [(1, 2)]),
    ({"values": [-4 - 2**50, 4], "distance": 1}, [(-(2.0**50), 1 - 2.0**50)]),
    ({**BITS, "norm": "L1", "distance": 2}, [([0] * 4, [1, 1, 0, 0])]),
    ({**BITS, "norm": "L2", "distance": 2}, [([0] * 4, [1] * 4)]),
    ({**BITS, "norm": "Linf", "distance": 1}, [([0] * 4, [1] * 4), ([0, 1] * 2, [1, 0] * 2)]),
    ({**CLIPPED, "distance": 2}, [(10.0, 12.0), (-2.0, 0.0)]),
    ({"rows": CLIPPED, "length": [0, 5]}, [([-0.01], []), ([10.01], [])]),
    ({"choices": list("abcdefghijkl")}, list(combinations("abcdefghijkl", 2))),
    ({"bits": 3}, [([0, 0, 0], [0, 0, 1]), ([0, 0, 0], [0, 1, 0]), ([1, 1, 1], [0, 1, 1])]),
    ({"bits": 4, "neighbours": "any"}, [([1, 0, 1, 0], [0, 1, 0, 1])]),
    (MISSING, [([math.nan], []), ([0.0, math.nan], [0.0])]),
    ({**MISSING, "rows": {**NUMBER, "missing": "None"}}, [([None], []), ([0.0, None], [0.0])]),
    (EVERY, [({"a": 1, "b": 1}, {}), ({"a": 9, "b": 1}, {"a": 9})]),
    (USERS, [([{"id": 1, "x": x} for x in own], []) for own in OWN]),
    ({"values": [0, 2**50], "distance": 1}, [(2.0**50 - 1, 2.0**50)]),
    ({"values": [0, 2**50], "distance": 1}, [(10.0**i, 10.0**i + 1) for i in (3, 6, 9, 12, 15)]),
    (TABLE, [([5.0], []), ([0.0], []), ([0.0] * 19 + [5.0], [0.0] * 19), ([5.0] * 20, [5.0] * 19)]),
]


@pytest.mark.parametrize(("declaration", "wanted"), OF_INTEREST, ids=str)
def test_pairs_of_interest_are_there(declaration, wanted):
    pairs = {frozenset(map(json.dumps, pair)) for pair in ea.domain(declaration).values()}
    assert not [pair for pair in wanted if frozenset(map(json.dumps, pair)) not in pairs]


def test_few_whole_numbers_have_all_pairs_and_reals_are_spread_evenly():
    """Of fourteen numbers all; of twelve reals the gaps are at most a tenth wider than equal."""
    numbers = {**WHOLE, "values": [100, 113]}
    assert len(ea.domain(numbers)) == math.comb(14, 2)
    assert len(ea.domain({**numbers, "distance": 2})) == 13 + 12
    assert len(ea.domain({**WHOLE, "values": [0, 14]})) < math.comb(14, 2)
    pairs = list(ea.domain({"values": [0, 1]}).values())[-6:]
    assert np.diff(np.sort([0, *np.ravel(pairs), 1])).max() < 1.1 / 12


def test_tables_are_short_and_long_and_rows_miss_all_or_one_entry():
    for declared, sizes in ((TABLE, {1, 2, 3, 4, 17, 19, 20}), (ROWS_OF_9, {1, 2, 3, 4, 8, 9})):
        assert {max(map(len, pair)) for pair in ea.domain(declared).values()} == sizes
    pairs = ea.domain(DECLARATIONS["replaced columns, NaN"]).values()
    rows = [row for pair in pairs for side in pair for row in side]
    assert {0, 1, 30} <= {sum(map(math.isnan, row)) for row in rows}


NAME = (
    r"(.+?) (?:removed|replaced by (.+?)), "
    r"(?:the only row|(first|last|number (\d+)) of (\d+) rows, others (.+?))(?: \(\d+\))?"
)


def in_turn(values, size):
    return [*islice(cycle(values), size)]


@pytest.mark.parametrize("name", ["table", "table, NaN", "short table", "replaced", "near"])
def test_names_say_what_changes_where_and_beside_which_rows(name):
    for title, pair in ea.domain(DECLARATIONS[name]).items():
        x, y = ([*map(json.dumps, side)] for side in pair)
        old, new, where, number, size, others = re.fullmatch(NAME, title).groups()
        place = {None: 0, "first": 0, "last": len(x) - 1}.get(where)
        place = int(number) - 1 if place is None else place
        rest = [*x[:place], *x[place + 1 :]]
        assert (len(x), x[place]) == (int(size or 1), old)
        assert y == ([*rest[:place], new, *rest[place:]] if new else rest)
        if others == "rising":
            evenly = np.linspace(*DECLARATIONS[name]["rows"]["values"], len(rest))
            rounded = 0.5 if "whole" in DECLARATIONS[name]["rows"] else 0.001
            assert np.abs(evenly - list(map(float, rest))).max() <= rounded
        elif rest and others != "at random":
            named = {"like it": [old], "like the other": [new], "both in turn": [old, new]}
            values = named.get(others, others.removesuffix(" in turn").split(" and "))
            assert rest == in_turn(values, len(rest))


@pytest.mark.parametrize("sizes", [(2, 2), (1, 1, 1), (2, 12, 5, 3), (4, 3, 2)])
def test_any_two_levels_of_two_factors_are_put_together(sizes):
    points = list(covering(*map(range, sizes)))
    assert len(set(points)) == len(points)
    for i, j in combinations(range(len(sizes)), 2):
        assert {(p[i], p[j]) for p in points} == set(product(range(sizes[i]), range(sizes[j])))
    assert len(points) <= 2 * math.prod(sorted(sizes)[-2:])


MISTAKES = [
    (7, 'domain must be a mapping, as {"values": [0, 1]}, got 7'),
    ({}, "domain must be one of values, choices, bits, rows, counts"),
    ({"valus": [0, 1]}, "got 'valus'; did you mean 'values'?"),
    ({"values": [0, 1], "lenght": 3}, "domain has no key 'lenght' beside 'values'; did you mean"),
    ({"values": [0, 1], "norm": "L2"}, "domain.norm must be one of L1, L2, Linf beside length and"),
    ({"values": [0, 1], "norm": "L3"}, 'domain.norm must be one of "L1", "L2", "Linf", got \'L3\''),
    ({**UNIT, "length": 4, "distance": 3, "norm": "L2"}, "must be above 0, and 2 at most, got 3"),
    ({**UNIT, "distance": 1.01}, "domain.distance must be above 0, and 1 at most, got 1.01"),
    ({**UNIT, "distance": 0}, "domain.distance must be above 0, and 1 at most, got 0"),
    ({**NUMBER, "distance": 1}, "domain.missing cannot be used with distance; choose one"),
    ({"values": [0, 1], "neighbours": "any"}, "domain has no key 'neighbours' beside 'values'"),
    ({**USERS, "neighbours": "null row"}, 'must be one of "add or remove a row", "replace a row"'),
    ({"values": [1, 1]}, "domain.values must be [lower, upper] with lower < upper, got [1, 1]"),
    ({"values": [0, 1, 2]}, "domain.values must be two numbers, [lower, upper], got [0, 1, 2]"),
    ({"values": 5}, "domain.values must be two numbers, [lower, upper], got 5"),
    ({"values": [0, math.inf]}, "domain.values must be a finite number, got inf"),
    ({"values": [0, 1], "whole": 1}, "domain.whole must be true or false, got 1"),
    ({**NUMBER, "missing": "nan"}, 'missing must be one of true, false, "NaN", "None", got'),
    ({"choices": ["a"]}, "domain.choices must be a list of two values or more, got ['a']"),
    ({"choices": "abc"}, "domain.choices must be a list of two values or more, got 'abc'"),
    ({"choices": ["a", {1}]}, "domain.choices must be values as JSON has them"),
    ({"bits": 0}, "domain.bits must be at least 1, got 0"),
    ({"bits": 4, "limit": 0}, "domain.limit must be at least 1, got 0"),
    ({"rows": NUMBER}, "domain.length is missing; write [0, 20], or one number"),
    ({"rows": [NUMBER, {"bits": "x"}], "length": 3}, "domain.rows.2.bits must be an integer"),
    ({"rows": {"age": {"value": [0, 1]}}, "length": 3}, "domain.rows.age must be one of values"),
    ({"rows": NUMBER, "length": 0}, "domain.length must allow one row at least, got 0"),
    ({"rows": NUMBER, "length": 4, "neighbours": "add or remove a row"}, "as [3, 4], got 4"),
    ({**TABLE, "rows": {**UNIT, "distance": 1}}, "which go with neighbours: 'replace a row'"),
    ({**TABLE, "rows": [NUMBER, {"bits": 2, "neighbours": "flip one"}]}, "has near values, which"),
    (
        {**USERS, "neighbours": "any order"},
        "domain.user cannot be used with 'any order'; choose one",
    ),
    ({**TABLE, "rows": [NUMBER] * 1001}, "domain.rows must have 1000 entries at most, got 1001"),
    ({"rows": NAMED, "length": [0, 9], "per user": 3}, "domain.per user needs user, the name of"),
    *(
        ({**USERS, **more}, "domain.user must be the name of a further column, beside rows")
        for more in ({"rows": UNIT}, {"rows": [UNIT]}, {"user": "x"}, {"user": ""})
    ),
    ({"values": [1, 3], "distance": 2.5}, "domain.distance must be above 0, and 2 at most"),
    (
        {"rows": [UNIT] * 1000, "length": 10_000, "limit": 21},
        "limit must be at most 10 for inputs of 10000000 entries, got 21",
    ),
    ({"bits": 10_001}, "domain.bits must be at most 10000, got 10001"),
    ({"bits": 4, "limit": 1001}, "domain.limit must be at most 1000, got 1001"),
    ({**USERS, "per user": 2501}, "domain.per user must be at most 10000, got 10004"),
    ({"values": [0, 1e101], "whole": True}, "domain.values must lie in [-1e+100, 1e+100]"),
    ({"counts": [0, 5]}, "domain.keys is missing; write a list of words"),
    *(
        ({"counts": [0, 5], "keys": keys}, "domain.keys must be a list of words, got")
        for keys in ("ab", [], ["a", 1])
    ),
    ({"counts": [0, 1], "keys": ["a"], "changed": 2}, "domain.changed must be at most 1"),
]


@pytest.mark.parametrize(("declaration", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_the_error_of_a_declaration_names_the_place(declaration, words):
    with pytest.raises(ArgumentError) as caught:
        ea.domain(declaration)
    assert "\n" not in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "declaration",
    [
        {"bits": 10_000},
        {**USERS, "per user": 2500},
        {"values": [-1e100, 1e100], "whole": True},
        {**TABLE, "rows": [UNIT] * 1000},
        {"counts": [0, 1], "keys": ["a", "b"], "changed": 2},
    ],
)
def test_the_largest_declarations_are_read(declaration):
    assert read("domain", declaration).width >= 1
    assert len(ea.domain({"bits": 2}, limit=1000)) == 4


def test_inputs_have_so_many_entries_together_at_most(monkeypatch):
    monkeypatch.setattr(domains, "_LARGEST", 24)
    for declared, entries in [
        ({"bits": 3}, 3),
        ({**USERS, "rows": {"x": UNIT, "y": UNIT}, "length": [0, 2]}, 12),
        ({"rows": [UNIT, {"bits": 3}], "length": 2}, 8),
        ({"values": [0, 1]}, 1),
    ]:
        assert ea.domain(declared, limit=24 // entries)
        with pytest.raises(ArgumentError, match=f"for inputs of {entries} entries"):
            ea.domain(declared, limit=24 // entries + 1)


# --- faults ---------------------------------------------------------------------------------------


def never_flips_the_last(x, size, rng):
    """Randomised response at epsilon ln 3, but for the last bit."""
    kept = rng.random((size, len(x))) < 0.75
    kept[:, -1] = True
    return np.where(kept, x, 1 - np.array(x))


def classes_of_the_data(x, size, rng):
    """A noisy mean for each class that there is."""
    classes = sorted({row[1] for row in x})
    noise = rng.laplace(0, 5, (size, max(len(classes), 1)))
    return [(*classes, round(mean, 1)) for mean in noise[:, 0]]


def pairs_up(x, size, rng):
    """Differences of rows of either half of the table; the last is left over, if odd."""
    half = len(x) // 2
    apart = np.array(x[:half]) - np.array(x[half : 2 * half])
    return float(np.abs(apart).sum()) + rng.laplace(0, 5, size)


def sums_every_second(x, size, rng):
    """A sum whose noise is right for the rows at even positions, which it leaves out."""
    return sum(x[1::2]) + rng.laplace(0, 0.1, size)


def nan_is_kept(x, size, rng):
    """A mean without missing entries, whose noise is for the number of all rows."""
    known = [value for value in x if not math.isnan(value)]
    return sum(known) / max(len(known), 1) + rng.laplace(0, 5 / max(len(x), 1), size)


def counts_rows_not_users(x, size, rng):
    return len(x) + rng.laplace(0, 1, size)


LABELLED = {"rows": [{"values": [0, 1]}, {"choices": ["n", "y"]}], "length": [1, 20]}
FAULTS = [  # with the number of pairs among which a few show it
    (never_flips_the_last, {"bits": 8}, 1.2, 8, r"0\] against .* 1\]|1\] against .* 0\]"),
    (classes_of_the_data, LABELLED, 1, 8, '"y"'),
    (pairs_up, TABLE, 1, 40, "others (rising|0.0 and 5.0 in turn|at random)"),
    (sums_every_second, {"rows": {"values": [0, 1]}, "length": 5}, 1, 8, "number (2|4) of 5"),
    (nan_is_kept, {"rows": NUMBER, "length": 10}, 1, 40, "NaN"),
    (counts_rows_not_users, {**USERS, "length": [0, 5]}, 1, 8, r"^\[.*x.*x.* removed"),
]


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(
    ("mechanism", "declaration", "epsilon", "limit", "name"),
    FAULTS,
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_faults_on_few_pairs_are_found(mechanism, declaration, epsilon, limit, name):
    pairs, options = ea.domain(declaration, limit=limit), {"stop": True, "as_reals": True}
    options |= {"samples": 15_000, "alpha": 0.001, "check_sampler": False}
    verdict = ea.audit(mechanism, pairs, ea.pure(epsilon), **options)
    assert (verdict.verdict, verdict.pairs) == ("violated", len(pairs))
    assert re.search(name, verdict.name), verdict.name


@pytest.mark.slow(seconds=3)
def test_a_delta_too_small_is_found_among_pairs_that_attain_epsilon():
    """A count is released above 2, though delta is that of a release above 4 (geometric noise)."""
    a = math.exp(-1)

    def released(x, size, rng):
        noisy = {}
        for key, n in x.items():
            noisy[key] = (n + rng.geometric(1 - a, size) - rng.geometric(1 - a, size)).tolist()
        return [{key: n[i] for key, n in noisy.items() if n[i] >= 3} for i in range(size)]

    pairs = ea.domain({"counts": [0, 6], "keys": ["a", "b"]}, limit=2)
    claim = ea.approximate(1.0, a**4 / (1 + a))
    options = {"samples": 2000, "check_sampler": False, "stop": True}
    verdict = ea.audit(released, pairs, claim, **options)
    assert verdict.verdict == "violated"
    assert verdict.witness.count_prime == 0  # a key that the other table does not have


# --- the doors ------------------------------------------------------------------------------------

REPLACED = {**TABLE, "neighbours": "replace a row", "limit": 8}


def joined(checks):
    """How many pairs near others were tried, as a note says."""
    notes = [check["words"] for check in checks if "more pairs were tried" in check["words"]]
    return sum(int(words.split()[0]) for words in notes)


@pytest.fixture
def survey(tmp_path, monkeypatch):
    (tmp_path / "survey.py").write_text(
        "def noisy_sum(x, size, rng):\n"
        "    if len(x) < 3:\n"
        "        raise ValueError('three rows are needed')\n"
        "    return sum(x) + rng.laplace(0, 1, size)\n"
    )
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow(seconds=2)
def test_on_the_command_line_it_is_json(survey, capsys):
    words = ["audit", "survey.py:noisy_sum", "--domain", json.dumps(REPLACED), "--epsilon", "1"]
    words += ["--pair", "[0, 0, 0]", "[5, 0, 0]", "--samples", "2000", "--quiet", "--as-reals"]
    assert main([*words, "--json", "-"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["verdict"] == "violated"
    pairs = ea.domain(REPLACED)
    short = [name for name, (x, _) in pairs.items() if len(x) < 3]
    assert verdict["pairs"] == len(pairs) - len(short) + 1 + joined(verdict["checks"])
    assert any("pairs are left out" in check["words"] for check in verdict["checks"])
    assert "--domain" in verdict["replay"]
    assert main([*words[:3], "nowhere.json", *words[4:6]]) == 2
    assert "--domain: 'nowhere.json' is not JSON" in capsys.readouterr().err
    source = python_worker(sys.executable, "survey.py:noisy_sum")  # in another interpreter
    try:
        kept, (note, *_) = accepted(source, pairs, 0)
    finally:
        source.close()
    assert all(len(x) > 2 for x, _ in kept.values())
    assert "ValueError: three rows are needed (survey.py:3)" in note.text


def pairs_in_a_file(tmp_path, pairs, **more):
    file = tmp_path / "mine.yaml"
    entry = {"mechanism": "survey.py:noisy_sum", "pairs": pairs, "claim": {"epsilon": 1}, **more}
    text = yaml.safe_dump({"audits": {"sum": entry}})
    file.write_text(text.replace("1.0e-05", "1e-5").replace("-0.5", "-.5"))
    (case,) = AuditsFile(file).cases.values()
    return case.request().pairs


def test_in_a_file_of_audits_it_is_pairs(tmp_path):
    for declared in (REPLACED, {"values": [0, 1], "distance": 0.00001, "limit": 5}, {"bits": 4}):
        assert dict(pairs_in_a_file(tmp_path, {"domain": declared})) == dict(ea.domain(declared))
    near = pairs_in_a_file(tmp_path, {"near": [[-0.5], [0.00001]]})
    assert near == {"near": [[-0.5], [0.00001]]}


@pytest.mark.parametrize(
    ("pairs", "more", "words"),
    [
        ({"domain": {"bits": 0}}, {}, "sum.pairs.domain.bits: must be at least 1, got 0"),
        ({"domain": {"bits": 4}, "limt": 3}, {}, "pairs.limt: unknown key"),
        ({"domain": {"bits": 8}}, {"samples": 100}, "samples: must be at least .* for 32 pairs"),
    ],
)
def test_mistakes_in_a_file_of_audits(tmp_path, pairs, more, words):
    with pytest.raises(ConfigError, match=words):
        pairs_in_a_file(tmp_path, pairs, **more)


# --- relations of neighbours ----------------------------------------------------------------------

ROWS = {"rows": {"values": [0, 1]}, "length": [0, 9], "limit": 8}
NEAR = {"values": [0, 9], "length": 3, "distance": 1, "limit": 2}
SPREAD = {"rows": {"values": [2, 5]}, "length": 4, "limit": 8}
ANY = {**ROWS, "neighbours": "any order"}
STEP = {"rows": {"values": [-1, 1]}, "length": 3, "limit": 20}
OUTSIDE = {"values": [0, 10], "clipped": True, "limit": 10}


def two_rows(x, size, rng):
    return sum(x[:2]) + rng.laplace(0, 1, size)


def spread_sum(x, size, rng):
    """A sum of numbers in [2, 5], with noise for a row that is replaced by another one."""
    return sum(x) + rng.laplace(0, 3, size)


def each_entry(x, size, rng):
    return np.array(x) + rng.laplace(0, 1, (size, 3))


def bump(value):
    """A gradient that is large inside the domain only."""
    return 2 * np.exp(-(((value - 0.55) / 0.1) ** 2)) - 1


def clips_each(x, size, rng):
    """A step of gradient descent with mu = 1."""
    step = np.mean(np.clip([bump(value) for value in x], -0.1, 0.1))
    return step + rng.normal(0, 0.2 / 3, size)


def clips_the_average(x, size, rng):
    return np.clip(np.mean([bump(v) for v in x]), -0.1, 0.1) + rng.normal(0, 0.2 / 3, size)


def clips(x, size, rng):
    return min(max(x, 0), 10) + rng.laplace(0, 10, size)


def without_noise_at_11(x, size, rng):
    return clips(x, size, rng) * (0.01 if 10.5 < x < 11.5 else 1)


CASES = {
    "rows in order": (two_rows, ROWS, ea.pure(1), "not refuted"),
    "rows in any order": (two_rows, ANY, ea.pure(1), "violated"),
    "another row": (spread_sum, SPREAD, ea.pure(1), "not refuted"),
    "in L1": (each_entry, {**NEAR, "norm": "L1"}, ea.pure(1), "not refuted"),
    "in L2": (each_entry, {**NEAR, "norm": "L2"}, ea.pure(1), "violated"),
    "each row clipped": (clips_each, STEP, ea.gdp(1), "not refuted"),
    "the average clipped": (clips_the_average, STEP, ea.gdp(1), "violated"),
    "clipped": (clips, OUTSIDE, ea.pure(1), "not refuted"),
    "one above": (without_noise_at_11, OUTSIDE, ea.pure(1), "violated"),
}


def one_value(x, size, rng):
    """Laplace noise at epsilon 2: values near .37 differ from all others."""
    values = [x] if isinstance(x, float) else x
    return np.exp(-(((np.array(values) - 0.37) / 0.06) ** 2)).sum() + rng.laplace(0, 0.5, size)


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize(
    ("declaration", "samples"),
    [({**UNIT, "limit": 8}, 12_000), ({"rows": UNIT, "length": [0, 9]}, 40_000)],
)
def test_pairs_near_the_best_ones_join_and_show_what_no_listed_pair_shows(declaration, samples):
    pairs = ea.domain(declaration)
    options = {"samples": samples, "as_reals": True, "check_sampler": False}
    verdict = ea.audit(one_value, pairs, ea.pure(1), **options)
    alone = ea.audit(one_value, dict(pairs), ea.pure(1), **options)
    assert verdict.bounds[0].lower > 1.3
    assert alone.bounds[0].lower < 1.2
    assert verdict.pair not in pairs.values()
    assert verdict.draws == samples


SLOW = {
    "in L2": 2,
    "each row clipped": 4,
    "the average clipped": 3,
    "rows in any order": 2,
    "clipped": 2,
    "in L1": 1,
    "one above": 1,
    "another row": 1,
    "rows in order": 1,
}


@pytest.mark.parametrize("name", with_seconds(CASES, SLOW))
def test_a_claim_is_one_about_a_relation(name):
    mechanism, declaration, claim, word = CASES[name]
    options = {"check_sampler": False, "as_reals": True, "alpha": 0.001}
    pairs = ea.domain(declaration)
    options["stop"] = word == "violated"
    options["samples"] = 40_000 if word == "violated" else 230 * len(pairs)
    verdict = ea.audit(mechanism, pairs, claim, **options)
    assert verdict.verdict == word, verdict


RELATIONS = [
    (
        {"rows": {"values": [0, 9], "distance": 1}, "length": 3},
        "tables with a row replaced by near ones (numbers at most 1 apart), in the same order; "
        "not: a row added or removed, another order",
    ),
    ({"values": [0, 1]}, "any two values"),
    ({"values": [0, 5], "distance": 1}, "numbers at most 1 apart; not: any others"),
    ({**NEAR, "norm": "Linf"}, "vectors in Linf at most 1 apart; not: any others"),
    ({"bits": 4}, "vectors in L1 at most 1 apart; not: any others"),
    (ANY, "tables with a row added or removed, in any order; not: a row replaced"),
    (COUNTED, "counts that are larger by 1 in one key; not: in more keys, or by more"),
    (
        EVERY,
        "counts that are larger by 1 in up to 2 keys, all on one side; not: in more keys, "
        "or by more",
    ),
    (
        {"rows": [{"values": [0, 9], "distance": 1}, {"choices": ["a", "b"]}], "length": 3},
        "tables with a row replaced by near ones (rows alike but for column 1: numbers at most 1 "
        "apart, column 2: any two values), in the same order; not: a row added or removed, "
        "another order",
    ),
]


@pytest.mark.parametrize(("declaration", "words"), RELATIONS)
def test_the_relation_is_named_with_what_it_does_not_contain(declaration, words):
    assert ea.domain(declaration).relations == [words]


@pytest.mark.parametrize(("norm", "order"), [("L1", 1), ("L2", 2), ("Linf", np.inf)])
@pytest.mark.parametrize("more", [{}, {"whole": True}, {"clipped": True}])
def test_vectors_are_as_near_as_declared(norm, order, more):
    listed = ea.domain({"values": [-3, 3], "length": 4, "distance": 2, "norm": norm, **more})
    moved = listed.searches[0].copy().nearby(list(listed), 50, np.random.default_rng(0))
    pairs = [*listed.values(), *moved.values()]
    assert len(moved) == 50
    distances = [np.linalg.norm(np.subtract(*pair), order) for pair in pairs]
    assert max(distances) == pytest.approx(2)
    inside = [abs(value) <= 3 for pair in pairs for side in pair for value in side]
    assert all(inside) == (not more.get("clipped", False))


def test_rows_in_any_order_are_the_same_rows_but_for_one():
    space = read("domain", {key: ANY[key] for key in ANY if key != "limit"})
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


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("seed", FIVE)
def test_an_event_on_one_side_only_keeps_its_pair(seed):
    """One of 12 pairs has an output that is impossible on the other; all others attain epsilon."""

    def impossible(x, size, rng):
        pair, side = x
        drawn = rng.laplace(side, 1, size)
        drawn[(rng.random(size) < 0.05) & (pair == 7) & (side == 1)] = 1e6
        return drawn

    pairs = {str(i): ((i, 0), (i, 1)) for i in range(12)}
    options = {"samples": 10_000, "seed": seed, "check_sampler": False, "as_reals": True}
    verdict = ea.audit(impossible, pairs, ea.pure(1.0), **options)
    assert (verdict.verdict, verdict.name) == ("violated", "7")


KEY = {"id": 1, "key": "k" * 60}
SHOWN = [
    ([0, 1], [1, 1], "[0, 1]", "[1, 1]"),
    ([0] * 40, [0] * 39, "[39 alike, 0]", "[39 alike]"),
    ([0] * 40, [*[0] * 20, 1, *[0] * 19], "[20 alike, 0, 19 alike]", "[20 alike, 1, 19 alike]"),
    ([KEY] * 3, [KEY, {**KEY, "id": 2}, KEY], '[1 alike, {"id": 1, ...}, 1 alike]', None),
    ({"rows": [[i] for i in range(40)]}, {"rows": [[5]]}, None, '{"rows": [[5]]}'),
    ("a" * 80, "b" * 80, f'"{"a" * 55} ...', None),
    ("a" * 80, "a" * 60 + "b" + "a" * 19, '[60 letters alike, "a", 19 letters alike]', None),
    (["a" * 80, 1], ["a" * 81, 1], '[[80 letters alike, ""], 1 alike]', None),
    ([KEY], [KEY], None, None),
    ([0] * 40, "a" * 80, None, f'"{"a" * 55} ...'),
    (["a"] * 80, "a" * 80, None, f'"{"a" * 55} ...'),
    ({"k": "a" * 80}, ["a" * 80], None, None),
    ("a" * 57 + "b", "a" * 57 + "c", f'"{"a" * 57}b"', None),
]


@pytest.mark.parametrize(("x", "x_prime", "first", "second"), SHOWN)
def test_long_inputs_are_shown_by_the_part_that_differs(x, x_prime, first, second):
    texts = pair_texts(x, x_prime)
    assert first in (None, texts[0])
    assert second in (None, texts[1])
    assert max(map(len, texts)) <= 60
    assert len(input_text([x] * 40)) in (59, 60)  # no space before the dots
    assert (texts[0] == texts[1]) == (x == x_prime)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_long_tables_are_shown_by_the_part_that_differs(library):
    library = pytest.importorskip(library)
    ages, more = [31.0] * 50, [31.0] * 20 + [32.0] * 30
    columns, frames = ({"age": ages}, {"age": more}), library.DataFrame
    texts = ('{"age": [20 alike, 31.0, 31.0, 31.0', '{"age": [20 alike, 32.0, 32.0, 32.0')
    for x, x_prime in (map(frames, columns), (library.Series(ages), library.Series(more))):
        shown = pair_texts(x, x_prime)
        assert all(text[-9:] in each for text, each in zip(texts, shown, strict=True))


@pytest.mark.slow(seconds=1)
def test_a_verdict_shows_what_differs_and_lists_all_pairs():
    rows = {"id": {"values": [0, 9], "whole": True}, "key": {"choices": ["k" * 30, "l" * 30]}}
    pairs = ea.domain({"rows": rows, "length": [8, 9]}, limit=4)
    verdict = ea.audit(
        counts_rows_not_users, pairs, ea.pure(1.0), samples=2000, check_sampler=False
    )
    assert " alike" in str(verdict)
    tried = verdict.to_plain()["tried"]
    assert [pair["name"] for pair in tried[:4]] == list(pairs)
    assert len(tried) == 4 + joined(verdict.checks) > 4
    assert sum(pair["draws"] for pair in tried) == verdict.draws
    assert all("alike" in pair["pair"][1] for pair in tried)
