"""The event that a verdict names: its counts, what it exceeds, its conditions, its histogram."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from epsilometer.events.events import Event, Table, View
from epsilometer.events.relations import ALL_SETS, COMPARED, PAIRED
from epsilometer.events.scores import ENTRIES
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import pure, zcdp
from epsilometer_audit.statistics import witnesses
from epsilometer_audit.statistics.witnesses import (
    Chosen,
    EventCounts,
    beyond,
    count_event,
    first_visible,
    looked_at,
)
from tests.unit.audits import single_claims


def counts_of(hits, draws):
    return EventCounts(Event(((1, 1),)), learn_layout([0], [1]), False, hits, draws)


@pytest.mark.parametrize(("hits", "draws"), [((70, 20), (100, 80)), ((3, 9), (50, 60))])
def test_two_shares_are_as_far_apart_as_by_pearsons_statistic(hits, draws):
    table = [hits, np.subtract(draws, hits)]
    statistic = stats.chi2_contingency(table, correction=False).statistic
    sign = np.sign(hits[0] / draws[0] - hits[1] / draws[1])
    assert counts_of(hits, draws).apart == pytest.approx(sign * np.sqrt(statistic))
    assert counts_of((0, 0), draws).apart == 0  # nothing is in it


@pytest.mark.parametrize("claim", single_claims())
def test_an_event_exceeds_a_claim_by_standard_deviations_of_its_shares(claim):
    """By the standard deviation of p - c(q), where c is the claim's tangent through 0 at q."""
    n, m = 200.0, 300.0
    for p, q in ((0.3, 0.1), (0.55, 0.5)):
        (excess,) = beyond(claim, np.array([p]), np.array([q]), (n, m))
        ours, theirs = (p * n + 0.5) / (n + 1), (q * m + 0.5) / (m + 1)
        (allowed,) = claim.unsuspicious(np.array([theirs]))
        spread = stats.binom(n, ours).std() / n
        spread_prime = allowed / theirs * stats.binom(m, theirs).std() / m
        assert excess == pytest.approx((ours - allowed) / np.hypot(spread, spread_prime))


@pytest.mark.parametrize(
    ("apart", "chosen"),
    [
        ([2.0, None], None),  # none differs visibly
        ([2.0, 2.1], 1),
        ([2.5, 3.0, 2.9], 1),  # none clearly: the one that differs most
        ([3.0, 2.9, 3.1, 9.0], 2),  # the first that does
    ],
)
def test_the_first_event_that_differs_clearly_is_named(apart, chosen):
    events = [None if of is None else SimpleNamespace(apart=of) for of in apart]
    assert first_visible(iter(events)) is (None if chosen is None else events[chosen])


@pytest.mark.parametrize("swapped", [False, True])
def test_an_event_is_counted_first_on_the_side_where_it_is_likelier(swapped):
    fresh = [np.array([1, 1, 1, 2]), np.array([2, 1])]
    layout = learn_layout(*fresh)
    chosen = Chosen(Event(((1, 1),)), swapped, layout)
    counted = count_event(chosen, fresh, fresh, pure(1.0), predicted=True)
    sides = [(3, 4), (1, 2)]
    assert [*zip(counted.hits, counted.draws, strict=True)] == sides[:: -1 if swapped else 1]
    assert (counted.swapped, counted.predicted, counted.whole) == (swapped, True, None)
    assert counted.histogram.counts == (3, 1)  # x is first
    assert counted.histogram.counts_prime == (1, 1)


# --- conditions in place of a score ---------------------------------------------------------------


def bits(shares, n, seed):
    return (np.random.default_rng(seed).random((n, len(shares))) < shares).astype(np.int64)


def score_of(width):
    tables = tuple(Table((i,), ((1,),), (0.0, 1.0, 0.0)) for i in range(width))
    return View("score", tables=tables)


@pytest.mark.parametrize(
    ("shares", "level", "conditions"),
    [
        ((0.9, 0.5, 0.5, 0.5), 0.1, 1),
        ((0.75, 0.7, 0.5, 0.5), 0.1, 2),
        ((0.8, 0.8, 0.8, 0.5), 0.5, 3),
        ((0.85, 0.85, 0.85, 0.75), 1.0, 3),  # three at most
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_few_conditions_take_the_place_of_a_score(shares, level, conditions, swapped, packed):
    """They are on entries of vectors, or on the bits of whole numbers.

    Fresh draws, in which the last entry is nearly always 1, have no part in the choice.
    """
    before = [bits(shares, 900, 1), bits((0.5,) * 4, 800, 2)]
    fresh = [bits((*shares[:3], 0.99), 600, 4), bits((0.5,) * 4, 700, 3)]
    hits = tuple(int(side[:, :conditions].all(axis=1).sum()) for side in fresh)
    if packed:
        places = 1 << np.arange(4)
        before = [side @ places for side in before]
        fresh = [side @ places for side in fresh]
    if swapped:
        before, fresh = before[::-1], fresh[::-1]
    whole = Event(((3.0, None),), view=score_of(4))
    chosen = Chosen(whole, swapped, learn_layout(*before))
    counted = count_event(chosen, before, fresh, pure(level), predicted=False)
    parts = counted.event.view.parts or (counted.event,)
    assert [event.view.entry for event in parts] == list(range(conditions))
    assert all(event.ranges in (((1, 1),), ((1, None),)) for event in parts)
    assert conditions == 1 or counted.event.ranges == ((1, 1),)  # all hold
    assert (counted.whole, counted.hits, counted.draws) == (whole, hits, (600, 700))


def test_the_best_two_conditions_need_not_hold_the_best_one():
    before = [bits((0.7, 0.5, 0.1), 900, 1), bits((0.5, 0.5, 0.9), 900, 2)]
    for side in before:
        side[:, 2] ^= side[:, 1]  # each alone is as on the other side
    whole = Chosen(Event(((3.0, None),), view=score_of(3)), False, learn_layout(*before))
    counted = count_event(whole, before, before, pure(0.1), predicted=False)
    assert {1, 2} <= {event.view.entry for event in counted.event.view.parts}


@pytest.mark.parametrize("packed", [False, True])
def test_conditions_are_on_the_eight_strongest_entries_or_bits(packed):
    sides = [bits((0.5,) * 3 + (0.9,) * 8, 900, 1), bits((0.5,) * 11, 900, 2)]
    if packed:
        sides = [side @ (1 << np.arange(11)) for side in sides]
    events = witnesses._single_conditions(score_of(11), learn_layout(*sides), sides)
    assert {event.view.entry for event in events} == {*range(3, 11)}


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (0.5, 0.9, 0.2),  # they do not exceed it before
        (0.9, 0.5, 0.2),  # nor after
        (0.9, 0.62, 0.3),  # .62 is above .5, but the claim allows it
    ],
)
def test_conditions_that_do_not_exceed_the_claim_leave_the_score(before, after, level):
    past = [bits((before, 0.5, 0.5), 400, 1), bits((0.5,) * 3, 400, 2)]
    fresh = [bits((after, 0.5, 0.5), 4000, 3), bits((0.5,) * 3, 4000, 4)]
    whole = Event(((2.0, None),), view=score_of(3))
    chosen = Chosen(whole, False, learn_layout(*past))
    counted = count_event(chosen, past, fresh, pure(level), predicted=False)
    assert (counted.event.view.kind, counted.whole) == ("score", None)


def ends_of(numbers, codes=False):
    rule = witnesses._of_codes if codes else witnesses._of_numbers
    return [tuple(ranges) for ranges in rule(np.array(numbers))]


def test_a_condition_is_one_value_or_all_on_one_side_of_it():
    assert ends_of([2, 2]) == []  # it would hold always
    assert ends_of([2, 5]) == [((2, 2),), ((5, 5),)]
    halves = [((None, 1),), ((2, None),), ((None, 2),), ((5, None),)]
    assert ends_of([1, 2, 2, 5]) == [((1, 1),), ((2, 2),), ((5, 5),), *halves]
    assert len(ends_of(range(6))) == 6 + 10


def test_conditions_on_many_numbers_end_at_quantiles():
    many = ends_of(range(1000))
    lower = (999 * np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])).astype(int)
    assert [ranges[0] for ranges in many[::2]] == [(None, end) for end in lower]
    assert [ranges[0] for ranges in many[1::2]] == [(end + 1, None) for end in lower]


def test_a_condition_on_an_entry_that_some_draws_miss_is_that_it_is_there_or_missing():
    sides = [np.random.default_rng(seed).normal(size=(50, 2)) for seed in range(2)]
    sides[0][:9, 1] = np.nan
    events = witnesses._single_conditions(score_of(2), learn_layout(*sides), sides)
    all_or_none = [event for event in events if event.ranges in ((), ((None, None),))]
    assert [event.view.entry for event in all_or_none] == [1, 1]
    assert [event.holds(sides[0]).sum() for event in all_or_none] == [9, 41]


def test_a_condition_on_words_is_one_word_or_all_others():
    assert ends_of([3, 3], codes=True) == []
    assert ends_of([3, 4], codes=True) == [((3, 3),), ((4, 4),)]
    three = ends_of([0, 1, 1, 2], codes=True)
    assert three[2:4] == [((1, 1),), ((None, 0), (2, None))]
    assert len(three) == 6
    assert len(ends_of(range(99), codes=True)) == 16


# --- histograms -----------------------------------------------------------------------------------


def histogram_of(x, x_prime, event=None):
    layout = learn_layout(x, x_prime)
    sides = [layout.encode(x), layout.encode(x_prime)]
    chosen = Chosen(event or Event(((0, 1),)), False, layout)
    return count_event(chosen, sides, sides, zcdp(0.1), predicted=True).histogram


def test_the_largest_numbers_lie_in_the_bins_at_the_ends():
    """A warning, as of differences that are infinite, would fail it."""
    largest = np.finfo(float).max
    histogram = histogram_of(np.array([-largest, 1.0, 2.0]), np.array([2.0, largest, largest]))
    assert histogram.edges == (0.5, 1.5, 2.5)
    assert (histogram.counts, histogram.counts_prime) == ((2, 1), (0, 3))


def test_a_histogram_of_few_values_has_a_bar_for_each():
    histogram = histogram_of(np.array([1, 1, 5, 2] * 3), np.array([5, 2, 2, 9]))
    assert histogram.discrete
    assert histogram.edges == (0.5, 1.5, 3.5, 7.0, 9.5)
    assert histogram.counts == (6, 3, 3, 0)
    assert histogram.counts_prime == (0, 2, 1, 1)
    assert histogram.labels == ()
    words = histogram_of(["a", "b", "b"] * 9, ["b", "c"] * 9)
    assert words.labels == ("'b'", "'a'", "'c'")  # the most frequent first
    assert words.counts == (18, 9, 0)
    assert histogram_of(np.arange(50), np.arange(50)).discrete
    assert not histogram_of(np.arange(51), np.arange(51)).discrete


def test_a_histogram_of_many_values_has_what_lies_beyond_in_its_ends():
    """Missing numbers are in no bin."""
    x, x_prime = np.random.default_rng(1).standard_cauchy((2, 4000))
    x[:7] = np.nan
    histogram = histogram_of(x, x_prime)
    ends = np.quantile(np.concatenate([x[7:], x_prime]), [0.001, 0.999])
    assert not histogram.discrete
    assert histogram.edges == pytest.approx(np.linspace(*ends, 51))
    assert (sum(histogram.counts), sum(histogram.counts_prime)) == (3993, 4000)
    assert histogram.counts[0] == np.count_nonzero(x < histogram.edges[1])
    assert histogram.counts_prime[-1] == np.count_nonzero(x_prime >= histogram.edges[-2])


def test_without_a_finite_number_there_is_no_histogram():
    assert histogram_of(np.full(60, np.nan), np.full(60, np.inf)) is None


# --- what was looked at ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", sorted({2, 3, ENTRIES, ALL_SETS, PAIRED, COMPARED}))
@pytest.mark.parametrize("more", [0, 1])
def test_of_many_columns_it_is_said_which_were_looked_at(size, more):
    size += more
    words = looked_at(learn_layout(np.random.default_rng(0).normal(size=(20, size))))
    assert (f"all pairs of {size} in" in words) == (size <= ENTRIES)
    assert (f"the {ENTRIES} of {size} columns" in words) == (size > ENTRIES)
    assert (f"differences of two of the first {PAIRED}" in words) == (size > PAIRED)
    assert ("parities" in words) == (size > 2)
    assert ("parities of three" in words) == (size > ALL_SETS)
    assert (f"three of the first {COMPARED}" in words) == (size > COMPARED)


@pytest.mark.parametrize(
    ("outputs", "as_reals", "words"),
    [
        (["a", "b"], False, "each word, and sets of words"),
        ([1, 2], False, "values, ranges, remainders, bits, sums of bits, parities of up to"),
        ([0.5, 2.5], False, "values, ranges, remainders, low bits; not"),
        ([0.5, 2.5], True, "values, ranges, remainders; not"),
    ],
)
def test_of_one_column_it_is_said_what_was_looked_at(outputs, as_reals, words):
    assert looked_at(learn_layout(outputs, as_reals=as_reals)).startswith(words)
