"""What a verdict tells a reader, a program and a figure."""

import json
import math

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from epsilometer_audit.answer.verdict import Bound, Verdict, Witness, as_expected
from epsilometer_audit.outputs.formats import short
from epsilometer_audit.statistics.witnesses import Histogram


def verdict_of(verdict="violated", **facts):
    about = {"claim": {}, "claimed": "epsilon = 1", "alpha": 0.05, "method": "anytime"}
    return Verdict(verdict, **{**about, "bounds": [Bound("epsilon", 1.0, 1.5)], **facts})


def rows_of(verdict):
    """The rows of the text by their names; the last one of a name."""
    return {line[:14].strip(): line[14:] for line in verdict.lines()[1:]}


# --- for programs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "name"),
    [
        (Bound("epsilon", 1, 1), "epsilon"),
        (Bound("divergence", 1, 1, order=2.5), "divergence of order 2.5"),
        (Bound("epsilon", 1, 1, delta=0.0), "epsilon at delta = 0"),
        (Bound("d", 1, 1, delta=0.1, alpha=0.0), "near alpha = 0 d at delta = 0.1"),
    ],
)
def test_a_bound_is_named_by_its_order_or_its_point(bound, name):
    assert bound.name == name
    assert [row.quantity for row in verdict_of(bounds=[bound]).rows()] == [name]


@pytest.mark.parametrize(
    ("bounds", "worst"),
    [
        ([("e", 1.0, 0.5), ("e", 4.0, 3.0)], 1),
        ([("e", 1.0, 0.5), ("delta", 0.1, 1.0)], 0),  # another quantity
        ([("e", 1.0, 9.0), ("e", 0.0, 1e-3)], 1),
        ([("e", 1.0, 0.1), ("e", 0.0, 0.0)], 0),
    ],
)
def test_the_worst_bound_has_the_largest_ratio_to_its_claim(bounds, worst):
    verdict = verdict_of(bounds=[Bound(*bound) for bound in bounds])
    assert verdict.worst is verdict.bounds[worst]
    assert verdict.bound == bounds[worst][2]


def test_without_bounds_none_is_the_worst():
    assert verdict_of(bounds=[]).worst is None
    assert verdict_of(bounds=[]).bound is None


def test_words_that_are_no_verdict_have_the_exit_code_of_invalid():
    codes = {"not refuted": 0, "violated": 1, "undecided": 3}
    for name in (*codes, "invalid", "failed", "missing"):
        assert verdict_of(name).exit_code == codes.get(name, 4)


def test_a_verdict_is_as_expected_or_not_or_was_not_found_out():
    assert as_expected("violated", "violated") == "yes"
    assert as_expected("failed", "violated") == "no"
    assert as_expected("missing", "violated") is None
    assert as_expected("violated", None) is None


def test_rows_of_tables_say_when_a_bound_holds():
    (row,) = verdict_of().rows()
    assert (row.low, row.holds, row.method) == (1.5, "at any time", "anytime")
    (row,) = verdict_of(method="exact").rows()
    assert (row.holds, row.method) == ("every n", "exact")
    assert verdict_of().facts()["confidence"] == 0.95


SHOWN = Histogram("entry", (0, 1, 2, 3, 4), (1, 2, 3, 4), (4, 3, 2, 1), False, ())


def test_json_has_the_bound_and_no_histogram_and_none_for_what_is_not_finite():
    witness = Witness("é", 5, 9, 2, 8, histogram=SHOWN)
    verdict = verdict_of(witness=witness, p_value=math.inf)
    plain = json.loads(verdict.to_json())
    assert (plain["verdict"], plain["bound"], plain["p_value"]) == ("violated", 1.5, None)
    assert plain["witness"]["event"] == "é"
    assert "histogram" not in plain["witness"]
    assert "é" in verdict.to_json()
    assert verdict.to_json(ascii_only=True).isascii()


# --- for readers ----------------------------------------------------------------------------------


def test_a_violation_has_its_evidence_and_a_command_to_replay_it():
    witness = Witness("a = 1", 5, 9, 2, 8, note="n", rests_on="bets")
    checks = [
        {"name": "same seed", "result": "passed", "words": "seen by nobody"},
        {"name": "order", "result": "note", "words": "b"},
        {"name": "order", "result": "failed", "words": "c"},
    ]
    verdict = verdict_of(
        witness=witness,
        pair=(0, 1),
        direction="0 against 1",
        draws=5,
        outputs="reals",
        seconds=0.25,
        source="f, many draws a call",
        looked_at="bits",
        checks=checks,
        replay="r",
    )
    text = """\
VIOLATED: epsilon = 1 is claimed, epsilon is at least 1.5 (95 % confidence)
  bound       epsilon at least 1.5 (claimed: 1)
  witness     a = 1
  counts      5 of 9 against 2 of 8 fresh draws
  rests on    bets
  note        n
  inputs      0 against 1
  draws       5 a side, reals; 0.2 s, seed 0
  source      f, many draws a call, assumed independent
  note        b
  failed      c
  replay      r"""
    assert str(verdict) == text


def test_what_was_not_refuted_has_the_levels_that_would_have_been_found():
    levels = {"one column": {0.5: 1.25, 0.1: None, 0.01: 1.5}, "two": {0.5: None}}
    verdict = verdict_of(
        "undecided",
        detectable_by_event=levels,
        looked_at="bits",
        draws=5,
        pairs=2,
        reasons=["a", "b"],
        checks=[{"name": "order", "result": "failed", "words": "b"}],
    )
    text = """\
UNDECIDED: a; b
  bound       epsilon at least 1.5 (claimed: 1)
  witness     none: the counts of no event differ clearly
  detectable  epsilon 1.25 by an event of probability 0.5, 1.5 of 0.01 \
(in one column, found with probability .9)
  detectable  no level (in two, found with probability .9)
  looked at   bits
  draws       5 a side over 2 pairs, ; 0.0 s, seed 0"""
    assert str(verdict) == text


GUESSED = {"right": 8, "guesses": 9, "rule": "r", "canaries": 20, "included": 11, "rules": 2}


def test_of_one_run_guesses_and_canaries_are_told():
    guesses = {**GUESSED, "independent_mu": 0.0}
    verdict = verdict_of("not refuted", guesses=guesses, detectable=1.25, draws=5)
    text = """\
NOT REFUTED: epsilon = 1
  bound       epsilon at least 1.5 (claimed: 1)
  guesses     8 of 9 are right: r; one of 2 rules that were tried
  canaries    20, of which 11 were in
  estimate    mu at least 0 if canaries are independent and their scores Gaussian: \
not tested, no bound, no part of the verdict
  detectable  1.25 by guesses as good as it allows, with probability .9
  draws       5 a side, ; 0.0 s, seed 0"""
    assert str(verdict) == text
    one = rows_of(verdict_of("undecided", guesses={**GUESSED, "rules": 1}))
    assert one["guesses"] == "8 of 9 are right: r"
    assert one["detectable"] == "nothing: no guesses would refute it"
    assert "estimate" not in one


def test_a_verdict_without_facts_has_no_rows_but_bounds():
    assert verdict_of().lines()[1:] == ["  bound       epsilon at least 1.5 (claimed: 1)"]
    assert verdict_of("invalid", bounds=[]).lines() == ["INVALID: the draws are not independent"]
    assert verdict_of(bounds=[]).lines() == ["VIOLATED: the draws are not independent"]
    assert rows_of(verdict_of("not refuted"))["detectable"] == "unknown"


def test_without_a_witness_the_draws_say_what_a_bound_rests_on():
    row = "none: the counts of no event differ clearly; the bound rests on bets on predicted"
    assert rows_of(verdict_of(draws=5))["witness"] == f"{row} distributions"
    assert "witness" not in rows_of(verdict_of("invalid", draws=5))


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"direction": "1 against 0"}, "1 against 0 (x' against x)"),
        ({"pair": (0, 0), "direction": "0 against 0"}, "0 against 0"),
        ({"direction": "0 against 1", "name": "a"}, "a: 0 against 1"),
        ({"direction": "0 against 1", "name": "0 against 1"}, "0 against 1"),
    ],
)
def test_inputs_have_the_name_of_their_pair_and_a_note_if_they_are_turned(facts, text):
    assert rows_of(verdict_of(**{"pair": (0, 1), **facts}))["inputs"] == text


@pytest.mark.parametrize("result", ["note", "failed"])
def test_a_mechanism_that_follows_no_seed_has_a_replay_of_other_draws(result):
    verdict = verdict_of(replay="r", checks=[{"name": "same seed", "result": result, "words": "w"}])
    assert not verdict.follows_seed
    assert rows_of(verdict)["replay"] == "r (other draws: the mechanism follows no seed)"


@pytest.mark.parametrize(
    ("number", "other", "text"),
    [
        (9.9944, None, "9.99"),
        (-10.006, None, "-10.01"),
        (1.0004, 1.0, "1.0004"),
        (1.23449, 1.23451, "1.234"),
        (2.5, 2.5, "2.5"),
        (1.2345678912, 1.2345678911, "1.23456789"),
    ],
)
def test_numbers_have_three_digits_four_from_ten_on_or_up_to_nine_that_differ(number, other, text):
    assert short(number, other) == text


# --- a figure -------------------------------------------------------------------------------------


def drawn(ranges, shown):
    """The axes of a verdict with this event, and the ends of what is shaded."""
    witness = Witness("e", 5, 9, 2, 8, {"ranges": ranges}, histogram=shown)
    axes = verdict_of(witness=witness, pair=("a", "b")).plot(Figure().subplots())
    spans = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return axes, [(span.get_x(), span.get_x() + span.get_width()) for span in spans]


@pytest.mark.parametrize(
    ("ranges", "shaded"),
    [
        ([(1.5, 2.5)], [(1.5, 2.5)]),
        ([(None, 1.25), (3.5, None)], [(0, 1.25), (3.5, 4)]),
        ([(-9, 9)], [(0, 4)]),
    ],
)
def test_a_picture_shades_the_event_and_draws_both_sides(ranges, shaded):
    axes, ends = drawn(ranges, SHOWN)
    assert ends == shaded
    assert axes.get_title() == "VIOLATED: epsilon at least 1.5 (claimed: 1)\n5 of 9 against 2 of 8"
    sides = {patch.get_label(): patch for patch in axes.patches if hasattr(patch, "get_data")}
    assert [*sides] == ['"a"', '"b"']
    assert [*sides['"a"'].get_data().values] == [1, 2, 3, 4]
    assert [*sides['"b"'].get_data().values] == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("ranges", "shaded"),
    [
        ([(1.5, 1.5)], [(1, 2)]),  # the bin of the value 1.5, between 1 and 2
        ([(None, 0.5), (2.5, 3.5)], [(0, 1), (2, 4)]),
    ],
)
def test_of_discrete_values_whole_bins_are_shaded_and_have_names(ranges, shaded):
    shown = Histogram("entry", SHOWN.edges, SHOWN.counts, SHOWN.counts_prime, True, (*"efgh",))
    axes, ends = drawn(ranges, shown)
    assert ends == shaded
    assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5, 3.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == [*"efgh"]


def test_a_picture_without_a_witness_has_the_title_with_the_claim_that_is_given():
    axes = verdict_of().plot(Figure().subplots(), claim=1.5)
    assert axes.get_title() == "VIOLATED: epsilon at least 1.5 (claimed: 1.5)"
    assert not axes.patches
