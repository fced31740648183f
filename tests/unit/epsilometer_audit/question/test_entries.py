"""What entries make: special values, and pairs of neighbours that are worth trying."""

import json
import math

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.question.declarations import read
from epsilometer_audit.question.entries import (
    Choices,
    Number,
    Row,
    Users,
    Vector,
    evenly,
    from_the_end,
)
from tests.unit.epsilometer_audit.question.declared import CLIPPED, COUNTED, NUMBER, TABLE

WHOLE = {"whole": True}
AROUND_0, FAR_APART = {"values": [-2, 8]}, {"values": [-(10**6), 10**6]}
BITS = {"values": [0, 1], "whole": True, "length": 4}
COARSER = [-1e6, 1e6 - 1, -1.0, -0.5, 0.0, 1 / 3, math.pi]  # and where floats become coarser
COARSER += [2.0**19 - 1, 2.0**19 - 0.5, 2.0**19, -(2.0**19)]
NEAR_1 = [0.75, 0.875, 1.0, -1.25, -1.125, -1.0, 0.5, 1 / 3, math.pi]
OF_INTEREST = [
    (CLIPPED, [(0.0, -0.01), (10.0, 10.01), (0.0, 20.0), (10.0, -1e4)]),
    (AROUND_0, [(-2.0, 8.0), (-2.0, 3.0), (8.0, 4.0), (8.0, 0.0), (-0.01, 0.01)]),
    (AROUND_0, [(8.0, -1.99), (-2.0, 7.0)]),
    ({**FAR_APART, **WHOLE}, [(-1, 1), (-(10**6), 0), (10**6, 1 - 10**6)]),
    ({**FAR_APART, "distance": 1}, [(start, start + 1) for start in COARSER]),
    ({**FAR_APART, "distance": 1}, [(0.0, 0.5), (0.0, 0.001)]),
    ({**FAR_APART, "distance": 0.25}, [(start, start + 0.25) for start in NEAR_1]),
    ({"values": [0, 4], "distance": 4}, [(0.0, 4.0), (2.0, 4.0)]),
    ({**FAR_APART, **WHOLE, "distance": 4}, [(-4, 0), (-2, 2), (0, 1), (0, 2), (0, 4)]),
    ({**CLIPPED, **WHOLE}, [(0, -1), (10, 11)]),
    ({"values": [-1.23456, 12_342.5]}, [(-1.23456, 12_342.5)]),  # ends with all of their digits
    ({"values": [1, 2], "whole": True, "distance": 1}, [(1, 2)]),
    ({"values": [-4 - 2**50, 4], "distance": 1}, [(-(2.0**50), 1 - 2.0**50)]),
    ({"values": [0, 2**50], "distance": 1}, [(x, x + 1) for x in (1e3, 1e6, 1e9, 1e12, 1e15)]),
    ({**CLIPPED, "distance": 2}, [(10.0, 12.0), (-2.0, 0.0)]),
    ({**BITS, "norm": "L1", "distance": 3}, [([0] * 4, [1, 1, 1, 0])]),
    ({**BITS, "norm": "L2", "distance": 2}, [([0] * 4, [1] * 4)]),
    ({**BITS, "norm": "Linf", "distance": 1}, [([0, 1, 0, 1], [1, 0, 1, 0])]),
    ({**BITS, "length": 2, "norm": "L1", "distance": 2}, [([0, 1], [1, 0])]),
    ({"bits": 3}, [([0, 0, 0], [0, 0, 1]), ([0, 0, 0], [0, 1, 0]), ([1, 1, 1], [0, 1, 1])]),
    ({"rows": NUMBER, "length": [0, 20]}, [([math.nan], []), ([0.0, math.nan], [0.0])]),
    ({"rows": CLIPPED, "length": [0, 5]}, [([-0.01], []), ([10.01], [])]),
    (TABLE, [([5.0], []), ([0.0], []), ([0.0] * 19 + [5.0], [0.0] * 19), ([5.0] * 20, [5.0] * 19)]),
]


@pytest.mark.parametrize(("declaration", "wanted"), OF_INTEREST, ids=str)
def test_pairs_of_interest_are_there(declaration, wanted):
    pairs = {frozenset(map(json.dumps, pair)) for pair in ea.domain(declaration).values()}
    for pair in wanted:
        assert frozenset(map(json.dumps, pair)) in pairs


def test_few_whole_numbers_have_all_pairs_and_reals_are_spread_evenly():
    """Of fourteen numbers all; of twelve reals the gaps are at most a tenth wider than equal."""
    numbers = {**WHOLE, "values": [100, 113]}
    assert len(ea.domain(numbers)) == math.comb(14, 2)
    assert len(ea.domain({**numbers, "distance": 2})) == 13 + 12
    assert len(ea.domain({**WHOLE, "values": [0, 14]})) < math.comb(14, 2)
    pairs = list(ea.domain({"values": [0, 1]}).values())[-6:]
    assert np.diff(np.sort([0, *np.ravel(pairs), 1])).max() < 1.1 / 12


def test_special_numbers_are_neither_end_and_numbers_beyond_are_at_all_widths():
    rng = np.random.default_rng(0)
    for number in (Number(0.0, 1.0), Number(0, 1, whole=True), Number(-2, 1, whole=True)):
        assert not {number.low, number.high} & {*number.others(rng)}
    clipped = Number(-3.0, 0.0, clipped=True)
    others = clipped.others(rng)
    above = [value for value in others if value > 0]
    below = [-3 - value for value in others if value < -3]
    for apart in (above, below):
        widths = np.sort(np.round(apart, 9)) / 3
        steps = [1e-3, 1 / 3, 1.0, 1000.0]
        at_random = [w for w in widths if np.abs(np.divide(w, steps) - 1).min() > 1e-6]
        assert np.floor(np.log10(at_random)).tolist() == [-3, -2, -1, 0]
        assert len(widths) == 8
    assert {*others[:3]} == {0.003, -3.003, -1.5}  # these first


def test_numbers_that_are_so_far_apart_start_at_random_in_all_of_the_range_too():
    """Four in each of 50 lists; the mean of 200 is off by 5 standard deviations: one in a million.

    Near pairs are moved also where the difference of floats is rounded.
    """
    number = Number(-1e6, 1e6, distance=0.1)
    lists = [{*number.pairs(np.random.default_rng(seed))} for seed in range(50)]
    always = set.intersection(*lists)
    starts = []
    for found in lists:
        starts += [x for x, _ in found - always]
    assert len(starts) == 200
    assert abs(np.mean(starts)) / 2e6 < 5 * math.sqrt(1 / 12 / 200)
    rng = np.random.default_rng(0)
    near = Number(0.0, 10.0, distance=0.1)
    assert all(near.near_pair(0.1, 0.2, rng)[0] != 0.1 for _ in range(99))


@pytest.mark.parametrize(
    ("entry", "x", "y"),
    [
        (Number(0.0, 1.0), 0.2, 0.8),
        (Number(0, 10**6, whole=True), 1, 10**6),
        (Choices(range(1000)), 3, 7),
        (Users(Choices(range(1000)), 2), [3, 4], [5]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_pair_near_another_has_either_side_and_equal_values_stay_equal(entry, x, y):
    """Of 200, each side in 64 or more: a false alarm is below one in a million."""
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(200):
        a, b = entry.near_pair(x, y, rng)
        kept.append([a == x, b == y])
    assert np.any(kept, axis=1).all()
    assert min(np.sum(kept, axis=0)) >= 64
    equal = [entry.near_pair(x, x, rng) for _ in range(20)]
    assert all(a == b for a, b in equal)
    assert any(a != equal[0][0] for a, _ in equal)


def test_a_pair_near_the_largest_floats_is_finite():
    rng = np.random.default_rng(0)
    largest = Number(0.0, 1.7e308, clipped=True)
    for pair in ((0.0, 1.7e308), (1.7e308, 0.0)):
        assert all(np.isfinite(largest.near_pair(*pair, rng)).all() for _ in range(20))


def test_each_choice_has_a_pair_before_any_has_three():
    choices = [f"w{i}" for i in range(80)]
    pairs = list(Choices(choices).pairs(np.random.default_rng(0)))
    assert set().union(*pairs[:40]) == {*choices}
    assert len({frozenset(pair) for pair in pairs}) == math.comb(80, 2)


# --- rows and vectors -----------------------------------------------------------------------------


def test_a_near_row_has_one_column_moved_or_about_half_of_them():
    """Of 60 columns; a false alarm of either assertion is below one in a million."""
    row = Row([Number(0.0, 1.0)] * 60)
    x, y = np.full(60, 0.25), np.full(60, 0.75)
    rng = np.random.default_rng(0)
    moved = []
    for _ in range(200):
        near, near_prime = row.near_pair(x.tolist(), y.tolist(), rng)
        moved.append(np.sum((near != x) | (near_prime != y)))
    several = [columns for columns in moved if columns > 1]
    assert 64 <= len(several) <= 136
    assert min(several) >= 10
    assert 27.5 < np.mean(several) < 33.5


def test_rows_miss_all_entries_that_may_be_or_one_and_differ_from_the_low_end_in_one():
    number = Number(0, 10, whole=True, missing=(None,))
    row = Row([number, Choices("ab"), Row([number, number])])
    one = [[None, "a", [0, 0]], [0, "a", [None, None]]]
    assert row.missing == [[None, "a", [None, None]], *one]
    assert Row([Choices("ab"), number]).missing == [["a", None]]
    plain = Row([Number(0, 10, whole=True)] * 2)
    others = plain.others(np.random.default_rng(0))
    assert others[:4] == [[0, 10], [10, 0], [5, 5], [6, 6]]


@pytest.mark.parametrize("width", [1, 2, 8])
def test_of_columns_that_rise_together_others_fall_in_blocks(width):
    pairs = list(Row([Choices([0, 1])] * 16).pairs(np.random.default_rng(0)))
    block = np.arange(16) // width % 2
    x, y = block.tolist(), (1 - block).tolist()
    assert (x, y) in pairs or (y, x) in pairs


def test_changes_of_a_column_are_beside_others_at_one_end_in_the_middle_and_at_the_other():
    row = Row([Choices(range(9)), Number(0.0, 10.0)])
    pairs = list(row.pairs(np.random.default_rng(0)))
    for k, (x, y) in enumerate(row.columns[0].pairs(np.random.default_rng(0))):
        beside = k % 3 * 5.0
        assert ([x, beside], [y, beside]) in pairs


@pytest.mark.parametrize("size", [2, 4, 5, 6])
@pytest.mark.parametrize("distance", [0.1, 2.0])
def test_entries_of_a_vector_move_one_at_a_time_from_each_start_and_all_at_once(size, distance):
    """In the same direction, in turn, half of them against half, and two of three."""
    vector = Vector([Number(-30.0, 30.0)] * size, distance=distance, norm="L2")
    alone, together = set(), []
    for x, y in vector.pairs(np.random.default_rng(0)):
        moved = np.subtract(y, x) / distance
        if np.count_nonzero(moved) == 1:
            alone.add((tuple(x), int(np.flatnonzero(moved)[0])))
        if x == [0.0] * size:
            together.append(moved)
    ends = [-30.0, 30.0] * 3
    for start in ([-30.0] * size, [30.0] * size, ends[:size], [0.0] * size):
        assert {(tuple(start), i) for i in range(size)} <= alone
    up = [1] * (size // 2)
    middle = [0] * (size % 2)
    halves = [*up, *middle, *np.negative(up)]
    for pattern in ([1] * size, ([1, -1] * 3)[:size], halves, ([1, -1, 0] * 2)[:size]):
        wanted = np.array(pattern) / np.linalg.norm(pattern)
        assert min(np.abs(moved - wanted).max() for moved in together) < 1e-6


@pytest.mark.parametrize(("norm", "order"), [("L1", 1), ("L2", 2), ("Linf", np.inf)])
@pytest.mark.parametrize("kind", ["whole", "clipped"])
def test_vectors_are_as_far_apart_as_declared_and_leave_the_domain_where_it_is_clipped(
    norm, order, kind
):
    vector = read("values", {**AROUND_0, "length": 4, "distance": 2, "norm": norm, kind: True})
    pairs = np.array(list(vector.pairs(np.random.default_rng(0))))
    distances = np.linalg.norm(pairs[:, 0] - pairs[:, 1], order, axis=1)
    assert distances.max() == pytest.approx(2)
    assert (pairs.max() > 8) == (pairs.min() < -2) == (kind == "clipped")


# --- users and counts -----------------------------------------------------------------------------


def test_rows_of_a_user_are_many_or_one_and_equal_or_different():
    rng = np.random.default_rng(0)
    users = Users(Choices(["a", "b", "c"]), 3)
    assert users.others(rng) == [list("abc"), ["c"], list("aaa"), list("bbb"), ["b"]]
    pairs = list(users.pairs(rng))
    assert pairs[:3] == [(["a"], ["c"] * 3), (["c"], ["c"] * 3), (list("abc"), ["c"] * 3)]
    assert pairs[3:] == [([x] * 3, [y] * 3) for x, y in users.rows.pairs(rng)]
    assert Users(Choices(["a", "b", "c"]), 2).others(rng)[0] == ["a", "c"]
    near = Users(Number(0, 9, whole=True, distance=1), 2)
    assert any(len(x) == 2 and x[0] != x[1] for x, _ in near.pairs(rng))
    assert all(len(x) == 1 for x, _ in Users(near.rows, 1).pairs(rng))


def test_counts_change_alone_beside_low_middle_and_high_ones_and_with_others():
    counts = read("domain", {**COUNTED, "changed": 2})
    beside, changed = set(), set()
    for x, y in counts.pairs(np.random.default_rng(0)):
        keys = "".join(key for key in "ab" if x.get(key) != y.get(key))
        changed.add(keys)
        if keys == "a":
            beside.add(x.get("b", 0))
    assert changed == {"a", "b", "ab"}
    assert beside >= {0, 4, 9}


def test_each_key_of_counts_has_a_pair_before_any_has_three():
    keys = [f"w{i}" for i in range(80)]
    changed = set()
    for x, y in ea.domain({"counts": [0, 50], "keys": keys}, limit=81).values():
        changed |= {key for key, _ in x.items() ^ y.items()}
    assert changed == {*keys}


@pytest.mark.parametrize("size", [1, 5, 16])
def test_places_are_far_apart_at_first(size):
    assert sorted(from_the_end(size)) == sorted(evenly(size)) == [*range(size)]
    assert from_the_end(size)[0] == size - 1
    for step in (16, 8, 4, 2):
        assert size < 16 or {*evenly(size)[: 16 // step]} == {*range(0, 16, step)}
