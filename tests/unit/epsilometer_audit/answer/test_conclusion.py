"""What an audit concludes from its draws."""

import itertools

import pytest

import epsilometer_audit as ea
from epsilometer.events.events import Event, View
from epsilometer_audit.answer import conclusion
from epsilometer_audit.answer.verdict import LOW_BITS
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import request_of
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.statistics.rounds import Step, schedule
from epsilometer_audit.statistics.witnesses import EventCounts

ENOUGH = schedule(4000, 1)
EXACT = [Step(1, 2000, 2000)] * 2
FEW = [Step(1, 5, 5)] * 2
VARIED = [0, 1] * 30
SAME = [3] * 60
FAILED = [Failure("E")] * 60
NOTHING = "no level would have been found with probability .9 by these draws"
CONSTANT = "no output varied: all outputs are 3 on both inputs; there is no noise, or one"


def question_of(claim=None, pairs=None, **options):
    """A question about a sampler that is not asked."""
    options = {"check_sampler": False, **options}
    claim = claim or ea.pure(1.0)
    request = request_of(options, mechanism=len, pairs=[(0, 1)], claim=claim)
    return Question(request=request, pairs=pairs or {"": (0, 1)}, started=1.0)


def concluded(question, *pairs, steps=ENOUGH, **facts):
    """What is concluded from the outputs on x and on x' of each pair, in one batch each."""
    outputs = [[[x], [x_prime]] for x, x_prime in pairs]
    layout = learn_layout(*itertools.chain(*pairs))
    found = {"pair": 0, "violated": False, "swapped": None, "witness": None, "bounds": ()}
    drawn = {"layout": layout, "outputs": outputs, "calls": {}, "steps": steps}
    return conclusion.verdict_of(question, [], **{**found, **drawn, **facts})


@pytest.mark.parametrize(
    ("sides", "steps", "detect", "reasons"),
    [
        ((VARIED, VARIED), ENOUGH, None, []),
        ((VARIED, VARIED), EXACT, None, []),
        ((VARIED, VARIED), FEW, None, [NOTHING]),
        ((VARIED, VARIED), ENOUGH[-1:], None, [NOTHING]),
        ((VARIED, VARIED), ENOUGH, 9.0, []),
        ((VARIED, VARIED), ENOUGH, 1.01, ["1.01 was to be detected, only 1."]),
        ((VARIED, VARIED), FEW, 9.0, [NOTHING]),
        ((SAME, [*SAME, 4]), ENOUGH, None, []),
        ((SAME, SAME), ENOUGH, None, [CONSTANT]),
        ((SAME, [4] * 60), ENOUGH, None, ["no output varied: all outputs are 3 on x and 4 on x'"]),
        ((FAILED, FAILED), ENOUGH, None, ['all outputs are "failed with E" on both']),
        ((SAME, SAME), FEW, None, [NOTHING, CONSTANT]),
    ],
)
def test_a_claim_is_not_refuted_where_there_is_no_doubt(sides, steps, detect, reasons):
    question = question_of(detect=detect)
    verdict = concluded(question, sides, steps=steps)
    assert verdict.verdict == ("undecided" if reasons else "not refuted")
    for wanted, told in zip(reasons, verdict.reasons, strict=True):
        assert wanted in told
    assert (verdict.detectable is None) == (NOTHING in reasons)
    refuted = concluded(question, sides, steps=steps, violated=True)
    assert (refuted.verdict, refuted.reasons) == ("violated", [])


def test_one_side_of_any_pair_that_varies_is_noise():
    question = question_of(pairs={"a": (0, 1), "b": (0, 2)})
    assert concluded(question, (SAME, SAME), (SAME, SAME)).verdict == "undecided"
    assert concluded(question, (SAME, SAME), (SAME, VARIED)).verdict == "not refuted"


def test_what_is_left_out_of_outputs_leaves_a_claim_open():
    verdict = concluded(question_of(), ([10**400, 1], [1, 2]))
    note = "numbers of output are not told apart to the last digit"
    assert (verdict.verdict, verdict.reasons) == ("undecided", [note])
    assert verdict.detectable is None
    assert [check["words"] for check in verdict.checks] == [note]


def test_a_verdict_lists_the_pairs_that_were_tried():
    question = question_of(pairs={"a": (0, 1), "b": (0, 2)})
    verdict = concluded(question, (VARIED, VARIED), (SAME, SAME), pair=1, swapped=True)
    assert (verdict.name, verdict.pair, verdict.direction) == ("b", (0, 2), "2 against 0")
    assert verdict.tried == [
        {"name": "a", "pair": ("0", "1"), "draws": 60},
        {"name": "b", "pair": ("0", "2"), "draws": 60},
    ]


def test_inputs_that_are_not_known_are_x_and_x_prime():
    verdict = concluded(question_of(pairs={"": None}), (VARIED, VARIED), swapped=False)
    assert (verdict.name, verdict.pair, verdict.direction) == (None, None, "x against x'")
    assert verdict.tried == [{"name": "", "pair": None, "draws": 60}]


def test_the_levels_that_are_forecast_share_alpha_as_the_parts_of_a_claim_do(monkeypatch):
    alphas = []
    monkeypatch.setattr(conclusion, "detectable", lambda *_, alpha, **__: alphas.append(alpha))
    two_columns = [*zip(VARIED, VARIED, strict=True)]
    profile = question_of(ea.profile({1.0: 0.1, 2.0: 0.05}))
    concluded(profile, (VARIED, VARIED))
    assert alphas == [0.025] * 4
    concluded(profile, (two_columns, two_columns))
    assert alphas == [0.025] * (4 + 8)  # and of both columns together
    concluded(question_of(ea.renyi({2: 0.5})), (two_columns, two_columns))
    assert alphas[12:] == [0.05] * 4  # none of two columns for divergences


@pytest.mark.parametrize(("level", "detect"), [(2.0, 2.0), (2.1, 2.0), (None, 2.0), (2.1, None)])
def test_a_level_that_was_to_be_detected_is_missed_by_larger_ones(level, detect):
    missed = conclusion.undetected(question_of(detect=detect), level)
    assert bool(missed) == (detect is not None and level != detect)
    assert ("nothing would" in missed) == (level is None)


def test_an_invalid_verdict_has_the_failed_checks_as_reasons(monkeypatch):
    monkeypatch.setattr(conclusion.time, "perf_counter", lambda: 8.23456)
    checks = [Check("a", "passed", "fine"), Check("b", "failed", "bad"), Check("c", "note", "so")]
    verdict = conclusion.invalid(question_of(), checks)
    assert (verdict.verdict, verdict.reasons, verdict.pair) == ("invalid", ["bad"], (0, 1))
    assert [check["name"] for check in verdict.checks] == ["a", "b", "c"]
    assert verdict.seconds == 7.235


def test_the_last_check_of_a_sampler_has_a_tenth_of_alpha(monkeypatch):
    asked = []

    def failed(*outputs, alpha, calls):
        asked.append((outputs, calls, alpha))
        return Check("order of calls", "failed", "state is kept")

    monkeypatch.setattr(conclusion, "check_drawn", failed)
    question = question_of(alpha=0.01, check_sampler=True, pairs={"a": (0, 1), "b": (0, 2)})
    calls = {(1, 0): [60], (1, 1): [20, 40], (0, 0): [7]}
    pairs = (SAME, SAME), (VARIED, SAME)
    verdict = concluded(question, *pairs, violated=True, pair=1, calls=calls)
    assert (verdict.verdict, verdict.reasons) == ("invalid", ["state is kept"])
    assert asked == [(([VARIED], [SAME]), [[60], [20, 40]], pytest.approx(0.001))]


# --- the witness ----------------------------------------------------------------------------------

LAYOUT = learn_layout([1, 2])


def counts_of(kind, **facts):
    """The counts of an event that looks at an output in this way."""
    event = Event(((1, 1),), view=View(kind))
    found = {"event": event, "swapped": True, "hits": (5, 2), "draws": (9, 8), **facts}
    return EventCounts(layout=LAYOUT, **found)


PREDICTED = "bets on predicted distributions of "
SCORE = " (JSON: witness.score); the witness has its strongest terms"
RANGES = " (JSON: witness.ranges); no event of a few entries differs as much"


@pytest.mark.parametrize(
    ("kind", "predicted", "before", "after"),
    [
        ("entry", True, PREDICTED, ""),
        ("score", False, "", RANGES),
        ("learned", False, "", RANGES),
        ("score", True, PREDICTED, RANGES),
    ],
)
def test_a_witness_tells_what_its_bound_rests_on(kind, predicted, before, after):
    counted = counts_of(kind, predicted=predicted)
    witness = conclusion._witness(counted, violated=True)
    assert witness.rests_on == f"{before}{LAYOUT.number_of(counted.event)}{after}"
    assert witness.counts == ((5, 9), (2, 8))
    assert witness.score is None


def test_an_event_that_needs_no_explanation_rests_on_itself():
    assert conclusion._witness(counts_of("entry"), violated=True).rests_on is None


@pytest.mark.parametrize(("predicted", "before"), [(False, ""), (True, PREDICTED)])
def test_a_bound_of_a_whole_score_rests_on_it_and_has_it_as_json(predicted, before):
    whole = counts_of("score").event
    counted = counts_of("entry", whole=whole, predicted=predicted)
    witness = conclusion._witness(counted, violated=True)
    assert witness.rests_on == f"{before}{LAYOUT.number_of(whole)}{SCORE}"
    assert witness.score == LAYOUT.plain(whole)


@pytest.mark.parametrize(
    ("kind", "violated", "note"),
    [("low bit", True, LOW_BITS), ("low bit", False, None), ("entry", True, None)],
)
def test_a_violation_by_low_bits_has_a_note(kind, violated, note):
    assert conclusion._witness(counts_of(kind), violated).note == note
