"""Declared domains: their pairs, the notes on others, the joins, and the faults that they find."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.question import domains
from epsilometer_audit.question.declarations import read
from epsilometer_audit.question.entries import Change, Number
from tests.benchmarks.honest import geometric
from tests.unit.epsilometer_audit.question.declared import (
    ANY_ORDER,
    CLIPPED,
    COUNTED,
    NUMBER,
    REPLACED,
    TABLE,
    UNIT,
    USERS,
)
from tests.unit.epsilometer_audit.question.small_domains import SMALL, related, text

NEAR_NUMBER = {"values": [0, 9], "whole": True, "distance": 1}
ENTRIES = [
    {"values": [0.1, 0.4], "missing": True},
    {"values": [-1.7e308, 1.7e308], "clipped": True},
    {"values": [0, 3], "whole": True, "missing": True},
    {"values": [0, 10], "distance": 0.5, "clipped": True},
    {"values": [-1e18, 1e18], "distance": 0.3},
    NEAR_NUMBER,
    {"values": [-3, 2], "length": 3},
    {"values": [1e12, 1e12 + 0.3], "length": 2, "distance": 0.3, "norm": "L2"},
    {"values": [-3, 2], "whole": True, "length": 4, "distance": 2, "norm": "L1"},
    {"values": [0, 10**9], "length": 2, "distance": 2, "norm": "Linf", "clipped": True},
    {"choices": ["a", "b", None, 1, 1.0, True, [1, 2], {"k": 0}, ""]},
    {"choices": [1e12 + i for i in range(11)]},
    {"bits": 6, "neighbours": "any"},
    {"bits": 5, "neighbours": "flip one"},
]
DECLARED = [
    *ENTRIES,
    {"choices": list(range(300))},
    {"bits": 1},
    {"bits": 200},
    TABLE,
    REPLACED,
    ANY_ORDER,
    {"rows": {"values": [0, 5], "whole": True}, "length": [1, 2]},
    {"rows": [NUMBER] * 30, "length": [1, 5], "neighbours": "replace a row"},
    {"rows": {"age": NUMBER, "answers": {"bits": 3}}, "length": [0, 9], "user": "id"},
    {**COUNTED, "changed": 2},
]


def texts_of(pairs):
    return [frozenset(map(text, pair)) for pair in pairs.values()]


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: text(declared)[:60])
def test_pairs_are_a_hundred_at_most_each_once_and_the_same_again(declared):
    pairs = ea.domain(declared)
    assert 1 <= len(pairs) <= 100
    texts = texts_of(pairs)
    assert len(set(texts)) == len(texts)
    assert all(len(pair) == 2 for pair in texts)
    again = ea.domain(json.loads(text(declared)))
    assert text(dict(again)) == text(dict(pairs))
    few = ea.domain({**declared, "limit": 7})
    assert texts_of(few) == texts[:7]


def test_another_seed_changes_random_pairs_only():
    pairs, others = ea.domain(TABLE), ea.domain({**TABLE, "seed": 1})
    same = [name for name in pairs if pairs[name] == others.get(name)]
    assert same[:2] == list(pairs)[:2]
    assert any("random" in name for name in {*pairs} - {*same})


@st.composite
def tables(draw):
    """A declaration of tables, or of users with rows, whatever their columns."""
    columns = draw(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=3))
    named = dict(zip("xyz", columns, strict=False))
    low = draw(st.integers(0, 3))
    declared = {
        "rows": draw(st.sampled_from([columns[0], columns, named])),
        "length": draw(st.sampled_from([low + 1, [low, low + 3]])),
        "neighbours": draw(st.sampled_from(["add or remove a row", "replace a row", "any order"])),
    }
    if draw(st.booleans()):
        declared |= {"rows": named, "user": "id", "per user": draw(st.integers(1, 3))}
    return declared


REFUSED = ("near values", "any order", "no two inputs", r"\[.*\], got \d")  # they cannot be


@pytest.mark.slow(seconds=2)
@settings(max_examples=250, derandomize=True, database=None)
@example({**COUNTED, "changed": 2}, 0)
@example({"bits": 6}, 0)
@given(tables() | st.sampled_from(ENTRIES), st.integers(0, 5))
def test_listed_and_joined_pairs_are_of_neighbours_and_none_is_twice(declared, seed):
    """An error says if they are no neighbours; here a long chain of joins is made."""
    try:
        listed = ea.domain({**declared, "seed": seed}, limit=12)
    except ArgumentError as error:
        if not re.search("|".join(REFUSED), str(error)):
            raise
        return
    pairs, rng = dict(listed), np.random.default_rng(seed)
    for search in listed.searches:
        chain, names = search.copy(), list(listed)
        for _ in range(4):  # each from the last ones
            more = chain.nearby(names[-2:], 4, rng)
            assert not {*more} & {*pairs}
            pairs |= more
            names += more
    assert len({*texts_of(pairs)}) == len(pairs)


def test_a_pair_that_is_not_of_neighbours_is_left_out_of_an_audit(monkeypatch):
    """A fault in what makes pairs: users get a note, and our tests an error."""
    pairs = ea.domain({"values": [0, 40], "whole": True, "distance": 1}, limit=4)
    monkeypatch.setattr(Number, "near_pair", lambda self, x, y, rng: (x, x + 5))
    with pytest.raises(AssertionError, match="no neighbours"):
        ea.audit(geometric, pairs, ea.pure(1), samples=900)
    monkeypatch.setattr(domains, "STRICT", False)
    tried = domains._Pairs(read("domain", {"values": [0, 40], "whole": True, "distance": 1}))
    wrong = [Change(3, 5), Change(41, 40), Change(40, 41)]
    assert tried.added([*wrong, Change(3, 4)], 9) == ({"3 against 4": (3, 4)}, False)
    assert tried.notes[0].startswith("3 pairs are left out")
    verdict = ea.audit(geometric, pairs, ea.pure(1), samples=900)
    assert verdict.verdict == "not refuted"
    assert sum("are no neighbours" in check["words"] for check in verdict.checks) == 1


def test_pairs_with_the_same_name_have_numbers():
    tried = domains._Pairs(read("domain", NEAR_NUMBER))
    names, _ = tried.added([Change(i, i + 1, "a") for i in range(3)], 9)
    assert list(names) == ["a", "a (2)", "a (3)"]


# --- small domains, of which all neighbours are known ---------------------------------------------


def flat(x):
    """The numbers in an input but users'; a text counts as its first letter, and None as -1."""
    if isinstance(x, dict):
        return flat([x[key] for key in x if key != "id"])
    if isinstance(x, list):
        numbers = []
        for value in x:
            numbers += flat(value)
        return numbers
    if isinstance(x, str):
        return [ord(x[0]) % 7]
    return [-1 if x is None else x]


def of_every_second(numbers):
    return sum(numbers[1::2])


def first(numbers):
    return numbers[0] if numbers else 0


def largest(numbers):
    return max(numbers, default=0)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("function", [sum, len, first, largest, of_every_second])
def test_the_listed_pairs_hold_the_worst_of_a_function(name, function):
    every, pairs = related(name)
    numbers = {x: function(flat(every[x])) for x in every}
    listed = {*texts_of(ea.domain(SMALL[name]))}
    assert listed <= pairs
    changes = {pair: np.ptp([numbers[x] for x in pair]) for pair in pairs}
    assert max(changes[pair] for pair in listed) == max(changes.values())


@pytest.mark.parametrize("name", SMALL)
def test_a_note_says_whether_pairs_were_not_tried(name):
    _, pairs = related(name)
    listed = ea.domain(SMALL[name])
    noted = any("others were not" in note for note in listed.untried)
    assert noted == (len(listed) < len(pairs))


def test_a_note_says_that_a_larger_limit_tries_more_while_it_does():
    declaration = {"choices": [0, 1, 2]}
    (note,) = ea.domain(declaration, limit=2).untried
    more = "a larger limit tries more"
    assert note == f"2 pairs of the domain were tried, others were not; {more}"
    assert not ea.domain(declaration, limit=3).untried
    (_, note) = ea.domain({"values": [0, 1]}).untried
    assert note.endswith("others were not")  # as the list has ended


def test_a_note_names_the_ranges_beyond_which_no_number_was_tried():
    several = [NUMBER, {"values": [2, 7]}, {"bits": 2}, {"values": [2, 7]}]
    for declared, ranges in [
        ({"rows": several, "length": 2}, "[0.0, 5.0] or [2.0, 7.0]"),
        ({"values": [0, 2], "whole": True}, "[0, 2]"),
        (USERS, "[0.0, 5.0]"),
    ]:
        assert f"numbers beyond {ranges} were not tried" in ea.domain(declared).untried[0]
    for declared in ({"values": [0, 1], "whole": True}, CLIPPED, {"bits": 2}, COUNTED):
        assert not any("beyond" in note for note in ea.domain(declared).untried)


@pytest.mark.parametrize(
    ("declared", "entries"),
    [
        ({"bits": 3}, 3),
        ({**USERS, "rows": {"x": UNIT, "y": UNIT}, "length": [0, 2]}, 12),
        ({"rows": [UNIT, {"bits": 3}], "length": 2}, 8),
        ({"values": [0, 1]}, 1),
    ],
)
def test_inputs_have_so_many_entries_together_at_most(declared, entries, monkeypatch):
    monkeypatch.setattr(domains, "_LARGEST", 24)
    assert ea.domain(declared, limit=24 // entries)
    with pytest.raises(ArgumentError, match=f"for inputs of {entries} entries"):
        ea.domain(declared, limit=24 // entries + 1)


def test_all_inputs_have_a_hundred_million_entries_together_at_most():
    widest = {"rows": [UNIT] * 1000, "length": 10_000, "limit": 11}
    message = "limit must be at most 10 for inputs of 10000000 entries, got 11"
    with pytest.raises(ArgumentError, match=message):
        ea.domain(widest)


def test_a_domain_with_more_has_a_hundred_pairs_if_no_limit_is_said():
    assert len(ea.domain({"choices": [*range(20)]})) == 100


@pytest.mark.parametrize(("limit", "words"), [(0, "at least 1, got 0"), (1001, "at most 1000")])
def test_a_limit_has_a_range(limit, words):
    with pytest.raises(ArgumentError, match=rf"domain\.limit must be {words}"):
        ea.domain({"bits": 4, "limit": limit})
    assert len(ea.domain({"bits": 2}, limit=1000)) == 4


# --- whole audits ---------------------------------------------------------------------------------


def pairs_up(x, size, rng):
    """Differences of rows of either half of the table; the last is left over, if odd."""
    half = len(x) // 2
    apart = np.array(x[:half]) - np.array(x[half : 2 * half])
    return float(np.abs(apart).sum()) + rng.laplace(0, 5, size)


def counts_rows_not_users(x, size, rng):
    return len(x) + rng.laplace(0, 1, size)


FAULTS = [  # with the number of pairs among which a few show it
    (pairs_up, TABLE, 40, "others (rising|0.0 and 5.0 in turn|at random)"),
    (counts_rows_not_users, {**USERS, "length": [0, 5]}, 8, r"^\[.*x.*x.* removed"),
]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(("mechanism", "declaration", "limit", "name"), FAULTS)
def test_faults_on_few_pairs_are_found(mechanism, declaration, limit, name):
    pairs, options = ea.domain(declaration, limit=limit), {"stop": True, "as_reals": True}
    options |= {"samples": 15_000, "alpha": 0.001, "check_sampler": False}
    verdict = ea.audit(mechanism, pairs, ea.pure(1), **options)
    assert (verdict.verdict, verdict.pairs) == ("violated", len(pairs))
    assert re.search(name, verdict.name), verdict.name


@pytest.mark.slow(seconds=1)
def test_pairs_near_the_best_ones_join_and_show_what_no_listed_pair_shows():
    """Laplace noise at epsilon 2: values near .37 differ from all others."""

    def one_value(x, size, rng):
        return np.exp(-(((x - 0.37) / 0.06) ** 2)) + rng.laplace(0, 0.5, size)

    pairs = ea.domain(UNIT, limit=8)
    options = {"samples": 12_000, "as_reals": True, "check_sampler": False}
    verdict = ea.audit(one_value, pairs, ea.pure(1), **options)
    alone = ea.audit(one_value, dict(pairs), ea.pure(1), **options)
    assert verdict.bounds[0].lower > 1.3
    assert alone.bounds[0].lower < 1.2
    assert verdict.pair not in pairs.values()
    assert verdict.draws == 12_000
    notes = " ".join(check["words"] for check in verdict.checks)
    joined = int(re.search(r"(\d+) more pairs were tried", notes)[1])
    tried = verdict.to_plain()["tried"]
    assert [pair["name"] for pair in tried[:8]] == list(pairs)
    assert len(tried) == 8 + joined
    assert sum(pair["draws"] for pair in tried) == verdict.draws
