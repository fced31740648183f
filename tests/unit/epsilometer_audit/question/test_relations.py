"""Which inputs a domain has, and which two of them are neighbours: compared with all edits."""

import math
from itertools import product

import pytest

import epsilometer_audit as ea
from epsilometer_audit.question.declarations import read
from epsilometer_audit.question.relations import contains, neighbours
from tests.unit.epsilometer_audit.question.small_domains import SMALL, related, text


@pytest.mark.parametrize("name", SMALL)
def test_the_predicates_are_what_edits_of_all_inputs_give(name):
    space = read("domain", SMALL[name])
    every, pairs = related(name)
    assert all(contains(space, x) for x in every.values())
    found = set()
    for x, y in product(every.values(), repeat=2):
        if text(x) != text(y) and neighbours(space, x, y):
            assert neighbours(space, y, x)
            found.add(frozenset((text(x), text(y))))
    assert found == pairs


OUTSIDE = {
    "number": [7, -1, 1.0, True, None, "1", math.nan],
    "missing": [math.nan, 4, []],
    "choices": ["b", 1.5, False, [None]],
    "bits": [[0, 0, 0], [0, 0, 0, 2], [0.0, 0, 0, 0], [True, 0, 0, 0], {}],
    "L2": [[0], [0, 4], [0, 1.0], 3],
    "removed": [["m"] * 5, ["x"], "m", {}, [None]],
    "replaced": [[0, 0], [0, 0, 3], [0, 0, 0, 0]],
    "near names": [[{"age": 1}] * 2, [{"sex": "m", "age": 1}] * 2, [[1, "m"]] * 2],
    "users": [
        [{"id": 1, "s": "m"}] * 3,
        [{"id": 2, "s": "m"}, {"id": 1, "s": "m"}],
        [{"s": "m"}],
        [{"id": 1.0, "s": "m"}],
        [{"id": i, "s": "m"} for i in range(3)],
    ],
    "counts": [{"c": 1}, {"a": 3}, {"a": 0}, {"a": 1.0}, {"a": True}, []],
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_other_inputs_are_not_contained(name):
    space = read("domain", SMALL[name])
    assert [x for x in OUTSIDE[name] if contains(space, x)] == []


@pytest.mark.parametrize("norm", [None, "L1", "L2", "Linf"])
def test_floats_whose_difference_is_rounded_are_near(norm):
    near, beyond = 0.4, 0.4 + 1e-6
    assert near - 0.1 > 0.3
    declared = {"values": [0, 1], "distance": 0.3}
    if norm is None:
        space = read("domain", declared)
        assert neighbours(space, 0.1, near)
        assert not neighbours(space, 0.1, beyond)
    else:
        space = read("domain", {**declared, "length": 2, "norm": norm})
        assert neighbours(space, [0.1, 0.5], [near, 0.5])
        assert not neighbours(space, [0.1, 0.5], [beyond, 0.5])


NEAR = {"values": [0, 9], "distance": 1}
ALSO_NOT = "in the same order; not: a row added or removed, another order"
RELATIONS = [
    ({"values": [0, 1]}, "any two values"),
    ({"values": [0, 5], "distance": 1}, "numbers at most 1 apart; not: any others"),
    (
        {**NEAR, "length": 3, "norm": "Linf"},
        "vectors in Linf at most 1 apart; not: any others",
    ),
    ({"bits": 4}, "vectors in L1 at most 1 apart; not: any others"),
    (
        {"rows": NEAR, "length": 3},
        f"tables with a row replaced by near ones (numbers at most 1 apart), {ALSO_NOT}",
    ),
    (
        {"rows": [NEAR, {"choices": ["a", "b"]}], "length": 3},
        "tables with a row replaced by near ones (rows alike but for column 1: numbers at most 1 "
        f"apart, column 2: any two values), {ALSO_NOT}",
    ),
    (
        SMALL["any order"],
        "tables with a row added or removed, in any order; not: a row replaced",
    ),
    (SMALL["counts"], "counts that are larger by 1 in one key; not: in more keys, or by more"),
    (
        SMALL["several counts"],
        "counts that are larger by 1 in up to 2 keys, all on one side; not: in more keys, "
        "or by more",
    ),
]


@pytest.mark.parametrize(("declaration", "words"), RELATIONS)
def test_the_relation_is_named_with_what_it_does_not_contain(declaration, words):
    assert ea.domain(declaration).relations == [words]
