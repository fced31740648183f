"""Relations of neighbours are what they say: a claim that holds for one is violated for another."""

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.formats import pair_texts

ROWS = {"rows": {"values": [0, 1]}, "length": [0, 9], "limit": 20}
NEAR = {"values": [0, 9], "length": 3, "distance": 1, "limit": 5}
SPREAD = {"rows": {"values": [2, 5]}, "length": 4, "limit": 20}
ANY, NULL = {**ROWS, "neighbours": "any order"}, {**SPREAD, "neighbours": "null row"}
STEP = {"rows": {"values": [-1, 1]}, "length": 3, "limit": 20}
CLIPPED = {"values": [0, 10], "clipped": True, "limit": 20}


def two_rows(x, size, rng):
    return sum(x[:2]) + rng.laplace(0, 1, size)


def noisy_sum(x, size, rng):
    return sum(x) + rng.laplace(0, 1, size)


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


def without_noise(low, high):
    """Return what clips, but for inputs in a range."""
    return lambda x, size, rng: clips(x, size, rng) * (0.01 if low < x < high else 1)


CASES = {
    "rows in order": (two_rows, ROWS, ea.pure(1), "not refuted"),
    "rows in any order": (two_rows, ANY, ea.pure(1), "violated"),
    "rows of a number": (two_rows, {**ANY, "length": 9}, ea.pure(1), "violated"),
    "sum in any order": (noisy_sum, ANY, ea.pure(1), "not refuted"),
    "another row": (spread_sum, SPREAD, ea.pure(1), "not refuted"),
    "a null row": (spread_sum, NULL, ea.pure(1), "violated"),
    "a null row of 2": (spread_sum, {**NULL, "null": 2}, ea.pure(1), "not refuted"),
    "in L1": (each_entry, {**NEAR, "norm": "L1"}, ea.pure(1), "not refuted"),
    "in L2": (each_entry, {**NEAR, "norm": "L2"}, ea.pure(1), "violated"),
    "in Linf": (each_entry, {**NEAR, "norm": "Linf"}, ea.pure(1.75), "violated"),
    "each row clipped": (clips_each, STEP, ea.gdp(1), "not refuted"),
    "the average clipped": (clips_the_average, STEP, ea.gdp(1), "violated"),
    "clipped": (clips, CLIPPED, ea.pure(1), "not refuted"),
    "one above": (without_noise(10.5, 11.5), CLIPPED, ea.pure(1), "violated"),
    "one inside": (without_noise(0.5, 1.5), CLIPPED, ea.pure(1), "violated"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_one_about_a_relation(name):
    mechanism, declaration, claim, word = CASES[name]
    options = {"stop": True, "check_sampler": False, "as_reals": True, "alpha": 0.001}
    options["samples"] = 4500 if word == "not refuted" else 40_000
    verdict = ea.audit(mechanism, ea.domain(declaration), claim, **options)
    assert verdict.verdict == word, verdict


RELATIONS = [
    (
        {"rows": {"values": [0, 9], "distance": 1}, "length": 3},
        "tables with a row replaced by one at most as far as declared, in the same order; "
        "not: a row added or removed, another order",
    ),
    ({"values": [0, 1]}, "any two values"),
    ({"choices": ["a", "b"], "neighbours": "any"}, "any two values"),
    ({"values": [0, 5], "distance": 1}, "numbers at most 1 apart; not: farther apart"),
    ({**NEAR, "norm": "Linf"}, "vectors in Linf at most 1 apart; not: farther apart"),
    ({"bits": 4}, "lists that differ in one bit; not: in several"),
    ({"bits": 4, "neighbours": "any"}, "any two values"),
    (
        ANY,
        "tables with a row added or removed, in any order; not: a row replaced",
    ),
    (
        NULL,
        "tables with a row replaced by a null row, 0, in the same order; not: a row replaced, "
        "a row added or removed, another order",
    ),
    (
        {"counts": [0, 9], "keys": ["a", "b"]},
        "counts that are larger by 1 in one key; not: in more keys, or by more",
    ),
]


@pytest.mark.parametrize(("declaration", "words"), RELATIONS)
def test_the_relation_is_named_with_what_it_does_not_contain(declaration, words):
    assert ea.domain(declaration).relations == [words]


@pytest.mark.parametrize(("norm", "order"), [("L1", 1), ("L2", 2), ("Linf", np.inf)])
@pytest.mark.parametrize("more", [{}, {"whole": True}, {"clipped": True}])
def test_vectors_are_as_near_as_declared(norm, order, more):
    declaration = {"values": [-3, 3], "length": 4, "distance": 2, "norm": norm, **more}
    pairs = ea.domain(declaration).values()
    distances = [np.linalg.norm(np.subtract(*pair), order) for pair in pairs]
    assert max(distances) == pytest.approx(2)
    inside = [abs(value) <= 3 for pair in pairs for side in pair for value in side]
    assert all(inside) == (not more.get("clipped", False))


def test_rows_in_any_order_are_the_same_rows_but_for_one():
    orders = set()
    for x, y in ea.domain(ANY).values():
        left = list(x)
        for row in y:
            left.remove(row)
        assert len(left) == 1
        orders.add([row for i, row in enumerate(x) if i != x.index(left[0])] == y)
    assert orders == {True, False}


def test_a_null_row_is_of_null_values():
    rows = {"age": {"values": [1, 9]}, "sex": {"choices": ["f", "m"]}, "bits": {"bits": 2}}
    declaration = {"rows": rows, "length": 3, "neighbours": "null row"}
    null = {"age": 0.0, "sex": None, "bits": [0, 0]}
    assert all(null in y and null not in x for x, y in ea.domain(declaration).values())
    near = {"rows": {"values": [0, 9], "distance": 1}, "length": 3, "neighbours": "null row"}
    with pytest.raises(ArgumentError, match="goes with neighbours: 'replace a row'"):
        ea.domain(near)


@pytest.mark.parametrize("seed", range(3))
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
    ([KEY], [KEY], None, None),
]


@pytest.mark.parametrize(("x", "x_prime", "first", "second"), SHOWN)
def test_long_inputs_are_shown_by_the_part_that_differs(x, x_prime, first, second):
    texts = pair_texts(x, x_prime)
    assert first in (None, texts[0])
    assert second in (None, texts[1])
    assert max(map(len, texts)) <= 60
    assert (texts[0] == texts[1]) == (x == x_prime)


def test_a_verdict_shows_what_differs_and_lists_all_pairs():
    rows = {"id": {"values": [0, 9], "whole": True}, "key": {"choices": ["k" * 30, "l" * 30]}}
    pairs = ea.domain({"rows": rows, "length": [8, 9]}, limit=4)
    verdict = ea.audit(
        lambda x, size, rng: len(x) + rng.laplace(0, 1, size), pairs, ea.pure(1.0), samples=2000
    )
    assert " alike" in str(verdict)
    tried = verdict.to_plain()["tried"]
    assert [pair["name"] for pair in tried] == list(pairs)
    assert sum(pair["draws"] for pair in tried) == verdict.draws
    assert all("alike" in pair["pair"][1] for pair in tried)
