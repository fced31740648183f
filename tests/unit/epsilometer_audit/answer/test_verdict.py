"""What an audit concludes from its draws, and what a verdict tells a reader."""

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import epsilometer_audit as ea
from epsilometer.events.events import Event, View
from epsilometer_audit.answer import conclusion
from epsilometer_audit.answer.verdict import LOW_BITS, Bound, Verdict, Witness, as_expected
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.outputs.formats import short
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import request_of
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.statistics.rounds import Step, schedule
from epsilometer_audit.statistics.witnesses import EventCounts, Histogram

# --- what is concluded ----------------------------------------------------------------------------

ENOUGH = schedule(4000, 1)
EXACT = [Step(1, 2000, 2000)] * 2
FEW = [Step(1, 5, 5)] * 2
VARIED = [0, 1] * 30
SAME = [3] * 60
NOTHING = "no level would have been found with probability .9 by these draws"
CONSTANT = "no output varied: all outputs are 3 on both inputs; there is no noise, or one"


def question_of(claim=None, **options):
    """A question about a sampler that is not asked."""
    options = {"check_sampler": False, **options}
    return Question(
        request=request_of(options, mechanism=len, pairs=[(0, 1)], claim=claim or ea.pure(1.0)),
        pairs={"": (0, 1)},
        started=1.0,
    )


def concluded(*sides, question, steps=ENOUGH, named=None, **facts):
    """What is concluded from the outputs on x and on x' of each pair, in one batch each."""
    pairs = [[[x], [x_prime]] for x, x_prime in zip(sides[::2], sides[1::2], strict=True)]
    found = {"pair": 0, "violated": False, "swapped": None, "witness": None, "bounds": (), **facts}
    question = Question(
        request=question.request,
        pairs=named or {str(i): (0, i) for i in range(len(pairs))},
        started=question.started,
    )
    layout = learn_layout(*sides)
    more = {"steps": steps, "layout": layout, "outputs": pairs, "calls": {}}
    return conclusion.verdict_of(question, [], **{**more, **found})


@pytest.mark.parametrize(
    ("sides", "steps", "detect", "reasons"),
    [
        ([VARIED, VARIED], ENOUGH, None, []),
        ([VARIED, VARIED], EXACT, None, []),
        ([VARIED, VARIED], FEW, None, [NOTHING]),
        ([VARIED, VARIED], ENOUGH[-1:], None, [NOTHING]),
        ([VARIED, SAME], ENOUGH, None, []),
        ([SAME, [*SAME, 4]], ENOUGH, None, []),
        ([SAME, SAME], ENOUGH, None, [CONSTANT]),
        ([SAME, [4] * 60], ENOUGH, None, ["no output varied: all outputs are 3 on x and 4 on x'"]),
        ([[Failure("E")] * 60] * 2, ENOUGH, None, ['all outputs are "failed with E" on both']),
        ([SAME] * 4, ENOUGH, None, [CONSTANT]),
        ([SAME] * 3 + [VARIED], ENOUGH, None, []),
        ([SAME, SAME], FEW, None, [NOTHING, CONSTANT]),
        ([VARIED, VARIED], ENOUGH, 9.0, []),
        ([VARIED, VARIED], ENOUGH, 1.01, ["1.01 was to be detected, only 1."]),
        ([VARIED, VARIED], FEW, 9.0, [NOTHING]),
    ],
)
def test_a_claim_is_not_refuted_where_there_is_no_doubt(sides, steps, detect, reasons):
    question = question_of(detect=detect)
    verdict = concluded(*sides, question=question, steps=steps)
    assert verdict.verdict == ("undecided" if reasons else "not refuted")
    assert len(verdict.reasons) == len(reasons)
    assert all(wanted in told for wanted, told in zip(reasons, verdict.reasons, strict=True))
    assert (verdict.detectable is None) == (NOTHING in reasons)
    refuted = concluded(*sides, question=question, steps=steps, violated=True)
    assert (refuted.verdict, refuted.reasons) == ("violated", [])


def test_what_is_left_out_of_outputs_leaves_a_claim_open():
    verdict = concluded([10**400, 1], [1, 2], question=question_of())
    note = "numbers of output are not told apart to the last digit"
    assert (verdict.verdict, verdict.reasons) == ("undecided", [note])
    assert verdict.detectable is None
    assert [check["words"] for check in verdict.checks] == [note]
    assert told(verdict, "detectable") == ["unknown"]


@pytest.mark.parametrize(("swapped", "direction"), [(False, "0 against 1"), (True, "1 against 0")])
def test_a_verdict_lists_the_pairs_that_were_tried(swapped, direction):
    two = concluded(*[VARIED] * 4, question=question_of(), pair=1, swapped=swapped)
    assert (two.name, two.pair, two.direction) == ("1", (0, 1), direction)
    names, texts = ("0", "1"), (("0", "0"), ("0", "1"))
    assert two.tried == [
        {"name": name, "pair": text, "draws": 60} for name, text in zip(names, texts, strict=True)
    ]
    one = concluded(*[VARIED] * 2, question=question_of(), named={"": None}, swapped=swapped)
    assert (one.name, one.pair) == (None, None)
    assert one.direction == ("x' against x" if swapped else "x against x'")
    assert one.tried == [{"name": "", "pair": None, "draws": 60}]


@pytest.mark.parametrize("points", [1, 4])
def test_the_levels_that_are_forecast_share_alpha_as_the_parts_of_a_claim_do(points, monkeypatch):
    alphas = []
    monkeypatch.setattr(conclusion, "detectable", lambda *_, alpha, **__: alphas.append(alpha))
    claim = ea.profile({float(i): 0.1 / (i + 1) for i in range(points)})
    pairs = [*zip(VARIED, VARIED, strict=True)]
    for columns, forecasts in ((VARIED, 4), (pairs, 8)):  # of one column, and of two together
        concluded(columns, columns, question=question_of(claim))
        assert len(alphas) == forecasts
        assert set(alphas) == {0.05 / points}
        alphas.clear()
    concluded(pairs, pairs, question=question_of(ea.renyi({2: 0.5})))
    assert len(alphas) == 4  # none of two columns for divergences


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
    assert verdict.lines()[0] == "INVALID: bad"
    assert "  note        so" in verdict.lines()
    assert not any(line.endswith("bad") for line in verdict.lines()[1:])


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_the_last_check_of_a_sampler_has_a_tenth_of_alpha(alpha, monkeypatch):
    alphas = []

    def failed(*outputs, alpha, calls):
        assert [*outputs] == [[VARIED], [SAME]]
        assert [*calls] == [[60], [20, 40]]
        alphas.append(alpha)
        return Check("order of calls", "failed", "state is kept")

    monkeypatch.setattr(conclusion, "check_drawn", failed)
    question = question_of(alpha=alpha, check_sampler=True)
    calls = {(1, 0): [60], (1, 1): [20, 40], (0, 0): [7]}
    sides = [SAME, SAME, VARIED, SAME]
    verdict = concluded(*sides, question=question, violated=True, pair=1, calls=calls)
    assert (verdict.verdict, verdict.reasons) == ("invalid", ["state is kept"])
    assert alphas == pytest.approx([alpha / 10])


PREDICTED = "bets on predicted distributions of "
SCORE = " (JSON: witness.score); the witness has its strongest terms"
RANGES = " (JSON: witness.ranges); no event of a few entries differs as much"


@pytest.mark.parametrize(
    ("kind", "predicted", "in_part", "before", "after"),
    [
        ("entry", False, False, None, None),
        ("entry", True, False, PREDICTED, ""),
        ("score", False, False, "", RANGES),
        ("learned", False, False, "", RANGES),
        ("score", False, True, "", SCORE),
        ("score", True, True, PREDICTED, SCORE),
        ("score", True, False, PREDICTED, RANGES),
    ],
)
def test_a_verdict_tells_what_its_bound_rests_on(kind, predicted, in_part, before, after):
    layout = learn_layout([1, 2])
    event = Event(((1, 1),), view=View(kind))
    part = Event(((2, 2),), view=View("entry"))
    counted = EventCounts(
        event=part if in_part else event,
        layout=layout,
        swapped=True,
        hits=(5, 2),
        draws=(9, 8),
        whole=event if in_part else None,
        predicted=predicted,
    )
    witness = conclusion._witness(counted, violated=True)
    number = layout.number_of(event)
    assert witness.rests_on == (None if before is None else f"{before}{number}{after}")
    assert witness.counts == ((5, 9), (2, 8))
    assert (witness.score is not None) == in_part


@pytest.mark.parametrize("kind", ["low bit", "entry"])
@pytest.mark.parametrize("violated", [True, False])
def test_a_violation_by_low_bits_has_a_note(kind, violated):
    event = Event(((1, 1),), view=View(kind))
    counted = EventCounts(event, learn_layout([1, 2]), False, (5, 2), (9, 8))
    note = conclusion._witness(counted, violated).note
    assert note == (LOW_BITS if kind == "low bit" and violated else None)


# --- what a verdict tells -------------------------------------------------------------------------

EPSILON = Bound("epsilon", 1.0, 1.5)


def verdict_of(**facts):
    about = {"claim": {}, "claimed": "epsilon = 1", "alpha": 0.05, "method": "anytime"}
    return Verdict(**{"verdict": "violated", **about, "bounds": [EPSILON], **facts})


def told(verdict, name):
    """The texts of the rows of this name."""
    lines = verdict.lines()[1:]
    return [line[14:] for line in lines if line[:14].strip() == name]


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
        ([], None),
        ([("e", 1.0, 0.5), ("e", 4.0, 3.0)], 1),
        ([("e", 4.0, 3.0), ("e", 1.0, 0.5)], 0),
        ([("e", 1.0, 0.5), ("delta", 0.1, 1.0)], 0),  # another quantity
        ([("e", 1.0, 9.0), ("e", 0.0, 1e-3)], 1),
        ([("e", 1.0, 0.1), ("e", 0.0, 0.0)], 0),
    ],
)
def test_the_worst_bound_has_the_largest_ratio_to_its_claim(bounds, worst):
    verdict = verdict_of(bounds=[Bound(*bound) for bound in bounds])
    assert verdict.worst is (None if worst is None else verdict.bounds[worst])
    assert verdict.bound == (None if worst is None else bounds[worst][2])


def test_words_that_are_no_verdict_have_the_exit_code_of_invalid():
    codes = {"not refuted": 0, "violated": 1, "undecided": 3}
    for name in (*codes, "invalid", "failed", "missing"):
        assert verdict_of(verdict=name).exit_code == codes.get(name, 4)
        assert as_expected(name, None) is None
        for expected in codes:
            answer = "yes" if name == expected else "no"
            assert as_expected(name, expected) == (None if name == "missing" else answer)


@pytest.mark.parametrize(("method", "holds"), [("anytime", "at any time"), ("exact", "every n")])
def test_rows_of_tables_say_when_a_bound_holds(method, holds):
    (row,) = verdict_of(method=method).rows()
    assert (row.low, row.holds, row.method) == (1.5, holds, method)
    assert verdict_of().facts()["confidence"] == 0.95


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "VIOLATED: epsilon = 1 is claimed, epsilon is at least 1.5 (95 % confidence)"),
        ({"bounds": []}, "VIOLATED: the draws are not independent"),
        ({"verdict": "not refuted", "reasons": ["a"]}, "NOT REFUTED: epsilon = 1"),
        ({"verdict": "undecided", "reasons": ["a", "b"]}, "UNDECIDED: a; b"),
        ({"verdict": "invalid"}, "INVALID: the draws are not independent"),
    ],
)
def test_the_first_line(facts, line):
    assert verdict_of(**facts).lines()[0] == line


@pytest.mark.parametrize(
    ("number", "other", "text"),
    [
        (9.9944, None, "9.99"),
        (-10.006, None, "-10.01"),
        (17.234, None, "17.23"),
        (1.0004, 1.0, "1.0004"),
        (1.23449, 1.23451, "1.234"),
        (2.5, 2.5, "2.5"),
        (1.2345678912, 1.2345678911, "1.23456789"),
    ],
)
def test_numbers_have_three_digits_four_from_ten_on_or_up_to_nine_that_differ(number, other, text):
    assert short(number, other) == text


X = ((0, 1), "0 against 1")
CHECKED = [
    {"name": "same seed", "result": "passed", "words": "a"},
    {"name": "order", "result": "note", "words": "b"},
    {"name": "order", "result": "failed", "words": "c"},
]
LEVELS = {"one column": {0.5: 1.25, 0.1: None, 0.01: 1.5}, "two": {0.5: None}}
FIND = "found with probability .9)"
GUESSED = {"right": 8, "guesses": 9, "rule": "r", "canaries": 20, "included": 11, "rules": 1}
ROWS = [
    ("bound", {}, ["epsilon at least 1.5 (claimed: 1)"]),
    ("bound", {"bounds": []}, []),
    ("inputs", {"pair": X[0], "direction": X[1]}, ["0 against 1"]),
    ("inputs", {"pair": X[0], "direction": "1 against 0"}, ["1 against 0 (x' against x)"]),
    ("inputs", {"pair": (0, 0), "direction": "0 against 0"}, ["0 against 0"]),
    ("inputs", {"pair": X[0], "direction": X[1], "name": "a"}, ["a: 0 against 1"]),
    ("inputs", {"pair": X[0], "direction": X[1], "name": "0 against 1"}, ["0 against 1"]),
    ("inputs", {}, []),
    (
        "draws",
        {"draws": 5, "outputs": "reals", "seconds": 0.25},
        ["5 a side, reals; 0.2 s, seed 0"],
    ),
    ("draws", {"draws": 5, "pairs": 2}, ["5 a side over 2 pairs, ; 0.0 s, seed 0"]),
    ("draws", {}, []),
    ("source", {"source": "f, many draws a call"}, ["f, many draws a call, assumed independent"]),
    ("note", {"checks": CHECKED}, ["b"]),
    ("failed", {"checks": CHECKED}, ["c"]),
    ("failed", {"checks": CHECKED, "reasons": ["c"]}, []),
    ("replay", {"replay": "r"}, ["r"]),
    (
        "replay",
        {"replay": "r", "checks": [{**CHECKED[0], "result": "note"}]},
        ["r (other draws: the mechanism follows no seed)"],
    ),
    ("detectable", {}, []),
    ("detectable", {"verdict": "not refuted"}, ["unknown"]),
    (
        "detectable",
        {"verdict": "undecided", "detectable_by_event": LEVELS},
        [
            f"epsilon 1.25 by an event of probability 0.5, 1.5 of 0.01 (in one column, {FIND}",
            f"no level (in two, {FIND}",
        ],
    ),
    (
        "detectable",
        {"verdict": "undecided", "guesses": GUESSED, "detectable": 1.25},
        ["1.25 by guesses as good as it allows, with probability .9"],
    ),
    (
        "detectable",
        {"verdict": "undecided", "guesses": GUESSED},
        ["nothing: no guesses would refute it"],
    ),
    ("looked at", {"verdict": "undecided", "looked_at": "bits"}, ["bits"]),
    ("looked at", {"looked_at": "bits"}, []),
    ("guesses", {"guesses": GUESSED}, ["8 of 9 are right: r"]),
    (
        "guesses",
        {"guesses": {**GUESSED, "rules": 2}},
        ["8 of 9 are right: r; one of 2 rules that were tried"],
    ),
    ("canaries", {"guesses": GUESSED}, ["20, of which 11 were in"]),
    ("estimate", {"guesses": GUESSED}, []),
    (
        "estimate",
        {"guesses": {**GUESSED, "independent_mu": 0.0}},
        [
            "mu at least 0 if canaries are independent and their scores Gaussian: "
            "not tested, no bound, no part of the verdict"
        ],
    ),
    ("witness", {}, []),
    (
        "witness",
        {"draws": 5},
        [
            "none: the counts of no event differ clearly; "
            "the bound rests on bets on predicted distributions"
        ],
    ),
    (
        "witness",
        {"draws": 5, "verdict": "undecided"},
        ["none: the counts of no event differ clearly"],
    ),
    ("witness", {"draws": 5, "verdict": "invalid"}, []),
    ("witness", {"draws": 5, "guesses": GUESSED}, []),
    ("witness", {"witness": Witness("a = 1", 5, 9, 2, 8)}, ["a = 1"]),
    ("counts", {"witness": Witness("a = 1", 5, 9, 2, 8)}, ["5 of 9 against 2 of 8 fresh draws"]),
    ("rests on", {"witness": Witness("a = 1", 5, 9, 2, 8, rests_on="b")}, ["b"]),
    ("note", {"witness": Witness("a = 1", 5, 9, 2, 8, note="n")}, ["n"]),
]


@pytest.mark.parametrize(("name", "facts", "texts"), ROWS)
def test_each_fact_has_a_row_where_it_is_one(name, facts, texts):
    assert told(verdict_of(**facts), name) == texts


@pytest.mark.parametrize(
    ("discrete", "ranges", "shaded"),
    [
        (False, [(1.5, 2.5)], [(1.5, 2.5)]),
        (False, [(None, 1.25), (3.5, None)], [(0, 1.25), (3.5, 4)]),
        (False, [(-9, 9)], [(0, 4)]),
        (True, [(1.5, 1.5)], [(1, 2)]),  # the bins of the value 1.5, between 1 and 2
        (True, [(None, 0.5), (2.5, 3.5)], [(0, 1), (2, 4)]),
    ],
)
def test_a_picture_shades_the_event_and_draws_both_sides(discrete, ranges, shaded):
    names = tuple("efgh") if discrete else ()
    shown = Histogram("entry", (0, 1, 2, 3, 4), (1, 2, 3, 4), (4, 3, 2, 1), discrete, names)
    witness = Witness("e", 5, 9, 2, 8, {"ranges": ranges}, histogram=shown)
    axes = verdict_of(witness=witness, pair=("a", "b")).plot(Figure().subplots())
    spans = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    ends = [(span.get_x(), span.get_x() + span.get_width()) for span in spans]
    assert ends == shaded
    sides = {patch.get_label(): patch for patch in axes.patches if patch not in spans}
    assert {name: list(side.get_data().values) for name, side in sides.items()} == {
        '"a"': [1, 2, 3, 4],
        '"b"': [4, 3, 2, 1],
    }
    assert axes.get_title() == "VIOLATED: epsilon at least 1.5 (claimed: 1)\n5 of 9 against 2 of 8"
    if discrete:
        assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5, 3.5]
        assert [label.get_text() for label in axes.get_xticklabels()] == [*"efgh"]
    other = verdict_of().plot(Figure().subplots(), claim=1.5)
    assert other.get_title() == "VIOLATED: epsilon at least 1.5 (claimed: 1.5)"
