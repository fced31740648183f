"""Leaks that no single column shows: an audit finds what a statistic of one line finds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.events.events import Event, Table, View
from epsilometer_audit.events.summaries import CORRELATION, summary
from epsilometer_audit.outcomes.outcomes import learn as layout_of
from epsilometer_audit.statistics.learning import looked_at
from epsilometer_audit.statistics.scores import learn_tables, summaries
from tests.benchmarks import seen
from tests.unit.written_events import again


@pytest.mark.parametrize(
    ("name", "draws"),
    [
        ("a word and a number, beside 6 columns", 2000),
        ("two fields missing together, beside 6", 1500),
        ("a place on a board of 6 x 6, beside 6", 3000),
        ("two equal entries of 10", 1500),
        ("the parity of a sum of 9", 1500),
        pytest.param("the place of the largest of 12", 1500, marks=pytest.mark.examples),
        pytest.param("the number of distinct entries", 1500, marks=pytest.mark.examples),
        pytest.param("one of 500 larger by 6", 500, marks=pytest.mark.examples),
        pytest.param("an edge of a graph of 20 nodes", 600, marks=pytest.mark.examples),
        pytest.param("a name in a shuffled list of 30", 1500, marks=pytest.mark.examples),
    ],
)
def test_an_audit_finds_what_a_simple_tester_finds(name, draws, monkeypatch):
    """The bounds of few draws vary: half of the simple tester's will do, which knows the leak."""
    monkeypatch.setitem(seen.LEAKS, name, replace(seen.LEAKS[name], draws=draws))
    bound, simple, refuted = seen.audited(name, 0)
    assert refuted
    assert bound > 0.5 * simple


def test_without_a_leak_nothing_is_found(monkeypatch):
    """Of three audits at alpha = .05, two or more refute with probability .007."""
    name = "a place on a board of 6 x 6, beside 6"
    monkeypatch.setitem(seen.LEAKS, name, replace(seen.LEAKS[name], draws=3000))
    assert sum(seen.audited(name, seed, honest=True)[2] for seed in range(3)) < 2


ROWS = np.array([[3.0, 1.0, 3.0, 2.0], [math.nan, 5.0, -1.0, math.nan], [math.nan] * 4])


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
        ("spread", [math.sqrt(0.6875), 3.0]),
        ("product of neighbours", [0.75 * -1.25 * 2 - 0.75 * 0.25, -9.0]),
    ],
)
def test_a_summary_is_a_number_of_the_entries_that_are_there(name, numbers):
    view = View("summary", summary=name, groups=((0, 1, 2, 3),))
    assert view.of(ROWS) == pytest.approx([*numbers, math.nan], nan_ok=True)
    event = again(Event(((numbers[0], numbers[0]),), view=view))
    assert event.holds(ROWS).tolist() == [True, numbers[0] == numbers[1], False]
    text = layout_of(ROWS[:1]).text(event)
    assert text == f"{name} of 4 entries from entry 0 on = {numbers[0]!r}"


def test_a_correlation_is_that_of_two_groups_of_entries():
    table = np.random.default_rng(0).normal(size=(5, 8))
    found = summary(CORRELATION, ((0, 2, 4, 6), (1, 3, 5, 7)), table)
    assert found == pytest.approx([np.corrcoef(row[::2], row[1::2])[0, 1] for row in table])


@pytest.mark.parametrize(
    ("outputs", "groups"),
    [
        (np.zeros((3, 2, 2)), [[(0, 1), (2, 3)]]),
        (np.zeros((3, 2)), []),  # a pair
        ([[1.5], [2.5, 1.0], [0.5, 2.0, 1.0]], [[(1,), (2,), (3,)]]),  # after the length
        ([(1, "a"), (2, "b")], []),  # one number only
        ([{"a": [1, 2, 5], "b": 3}, {"a": [2, 4, 3], "b": 1}], [[(0,), (1,), (2,)]]),
    ],
)
def test_the_numbers_of_one_sequence_are_a_group(outputs, groups):
    assert layout_of(outputs, outputs).groups == groups


def test_tables_are_learned_of_words_numbers_and_what_is_missing():
    rng = np.random.default_rng(1)
    sides = [seen.missing_together(side, 3000, rng) for side in (0, 1)]
    layout = layout_of(*sides)
    x, y = map(layout.encode, sides)
    view = learn_tables(x, y, range(x.shape[1]))
    assert view is not None
    names = [layout.columns[i].name for i in view.tables[0].entries]
    assert {name.rpartition("entry ")[2] for name in names} == {"2", "5"}
    assert view.of(x).mean() > 1 > -1 > view.of(y).mean()
    assert learn_tables(x, x[rng.permutation(3000)], range(x.shape[1])) is None
    event = again(Event(((0.0, None),), view=view))
    assert layout.text(event).startswith("score of ")


def test_a_table_adds_the_number_of_its_cell():
    table = Table((0, 2), ((0.0,), (1.0, 2.0)), ((1.0, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)))
    rows = np.array([[-1.0, 9, 0.5], [0.0, 9, 1.0], [5.0, 9, math.nan], [math.nan, 9, 2.0]])
    assert table.of(rows.T).tolist() == [1, 6, 8, 11]


def test_extreme_numbers_have_summaries_without_a_word():
    x = np.random.default_rng(2).standard_cauchy((300, 4)) * 1e300
    x[::7, 0], x[::5, 1], x[3] = math.nan, math.inf, math.nan
    assert all(look.size for look in summaries(x, x[::-1], layout_of(x), 16))


def test_a_verdict_says_what_was_looked_at():
    def vectors(x: float, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(x, 1, (size, 3))

    options: dict[str, Any] = {"samples": 3000, "as_reals": True}
    verdict = ea.audit(vectors, [(0, 1)], ea.pure(4.0), **options)
    assert "all pairs of 3, sums" in verdict.looked_at
    assert "not: other functions of three or more" in str(verdict)
    assert "of one column" in str(verdict)
    assert looked_at(layout_of([1.0, 2.0])) == ""
