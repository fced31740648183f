"""Statements of papers compared with tables: the criteria, the verdicts, and refusals."""

import csv
import json
import math

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_workflow.reports.scorecard import measures
from epsilometer_workflow.reports.scorecard import tables as scorecard
from epsilometer_workflow.reports.scorecard.criteria import (
    MissingRows,
    Rows,
    columns,
    holds,
    key,
    number,
    only,
    printed,
    rows,
    setting,
    settings,
    undecided,
)
from epsilometer_workflow.reports.scorecard.judging import (
    COLUMNS,
    Statement,
    judge,
    pair,
    read_statements,
    verdicts,
)
from epsilometer_workflow.reports.scorecard.outcomes import summary

PAPERS = ("gorla2022", "askin2022", "kutta2022", "lu2022")
FILES = [f"config/scorecard/{paper}.csv" for paper in PAPERS]
FRAME = pd.DataFrame(
    {
        "kind": ["a", "a", "b"],
        "lambda": ["2", "7", "inf"],
        "n": [10, 1000, 10],
        "value": [1.0, 3.0, 8.0],
        "ok": [True, False, True],
    }
)
TABLES = {
    "p/t": columns(FRAME),
    "p/u": columns(pd.DataFrame({"value": [4.0], "bound": [5.0], "an other": ["x"]})),
    "scorecard/settings": columns(
        pd.DataFrame({"setting": ["main.n", "main.name"], "value": ["3", '"laplace"']})
    ),
}


def test_rows_by_columns_keys_and_conditions():
    t = Rows(TABLES["p/t"], {"which": "a", "order": 7.0})
    assert t.where(kind="a").value.tolist() == [1, 3]
    assert t.where(kind=key("which"), n=(1000, 5)).value.tolist() == [3]
    assert t.where(t["lambda"] > 1e9).kind.tolist() == ["b"]
    assert t.where(n=0.1 * 100).kind.tolist() == ["a", "b"]  # to nine digits
    assert [group.value.tolist() for group in t.by("kind")] == [[1, 3], [8]]
    assert [len(group.n) for group in t.by("kind", "n")] == [1, 1, 1]
    assert columns(FRAME)["lambda"].tolist() == [2, 7, math.inf]
    with pytest.raises(MissingRows, match="no row fits"):
        t.where(kind="a", n=5)
    with pytest.raises(MissingRows, match="no row fits"):
        only(t.value / t.n, t.n > 5000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (measures.falls([1, 3, 2], by=[3, 1, 2]), True),
        (measures.rises([1, 1, 2]), False),
        (measures.slope([1, 100], [10, 1000]), 1.0),
        (max(measures.grown([8, 4, 2], [1, 2, 4], 2)), 0.5),
        (measures.first([1, 3, 8], by=[2, 1, 3]), 3),
        (measures.last([1, 3, 8], by=[2, 3, 1]), 3),
        (measures.spread(0.05, 1000, 0.05, 1000), 2.6 * math.sqrt(0.05 * 0.95 / 500)),
        (measures.allowance(0.8, 100), 0.104),
        (measures.largest("value")(Rows(TABLES["p/t"])), 8),
        (measures.smallest("value")(Rows(TABLES["p/t"])), 1),
        (measures.error(Rows(TABLES["p/u"])), 1),
        (measures.relative_error(Rows(TABLES["p/u"])), 0.2),
        (measures.excess(Rows(TABLES["p/u"])), -1),
        (measures.largest_ratio(Rows(TABLES["p/u"])), 0.8),
        (measures.smallest_ratio(Rows(TABLES["p/u"])), 0.8),
    ],
)
def test_measures_by_hand(value, expected):
    assert value == pytest.approx(expected)


def test_a_single_point_is_not_a_curve():
    for measure in (measures.rises, measures.falls):
        with pytest.raises(ValueError, match="a curve needs two points"):
            measure([1.0])
    with pytest.raises(ValueError, match="a slope needs two points"):
        measures.slope([1.0, 2.0], [3.0, 3.0])


def test_equality_is_of_nine_digits_or_of_texts():
    assert measures.same(np.array([0.1 + 0.2, 0.3001]), 0.3).tolist() == [True, False]
    assert measures.same(np.array(["a", "b"], object), "a").tolist() == [True, False]
    assert not measures.same(np.array([1.0, math.nan]), "a").any()
    assert measures.within(np.array([1.0, 2.0]), (2, 3)).tolist() == [False, True]


def test_numbers_of_a_text():
    text = "from 1e-5, .22 (x_0) to -3.5e+2; 10^2"
    assert measures.numbers(text).tolist() == [1e-5, 0.22, -350.0, 10.0, 2.0]


def statement(printed="3", parameters="kind=a;lambda=7", scale="none", name="fig1/x"):
    return Statement(f"p/{name}", "fig1", "q", parameters, printed, "number", scale, "Section 1")


ROW = rows("t", lambda t: measures.same(t["lambda"], t.key["lambda"]), kind=key("kind"))


def judged(criterion, printed="3", decides=True):
    return judge(statement(printed), criterion, TABLES, decides=decides)


@pytest.mark.parametrize(
    ("limits", "text", "low", "high", "agrees"),
    [
        ({"within": 0.5}, "2.5", 2.0, 3.0, "yes"),
        ({"within": 0.49}, "2.5", 2.01, 2.99, "no"),
        ({"within": lambda t: np.max(t.n) / 2000}, "2.5", 2.0, 3.0, "yes"),
        ({"factor": 3}, "1.0", 1 / 3, 3.0, "yes"),
        ({"factor": 3}, "9.1", 9.1 / 3, 27.3, "no"),
        ({"low": 3}, "", 3.0, math.nan, "yes"),
        ({"above": 3}, "", 3.0, math.nan, "no"),
        ({"high": lambda t: t.ours + 1}, "", math.nan, 4.0, "yes"),
        ({"below": 3}, "", math.nan, 3.0, "no"),
        ({"low": 2, "below": 3}, "", 2.0, 3.0, "no"),
        ({"equals": printed}, "3", 3.0, 3.0, "yes"),
        ({"equals": printed}, "3.1", 3.1, 3.1, "no"),
        ({"equals": lambda t: measures.numbers(t.printed)}, "n = 3", 3.0, 3.0, "yes"),
    ],
)
def test_where_ours_may_lie(limits, text, low, high, agrees):
    verdict = judged(number(ROW, "value", **limits), text)
    assert (verdict.ours, verdict.agrees) == ("3", agrees)
    assert (verdict.low, verdict.high) == pytest.approx((low, high), nan_ok=True)


def test_texts_lists_and_conditions():
    text = number(rows("t", n=1000), "kind", equals=printed)
    assert judged(text, "A ").agrees == "yes"
    assert judged(text, "b").agrees == "no"
    listed = number(rows("t"), "value", equals=[1, 3, 8])
    assert (judged(listed).ours, judged(listed).agrees) == ("1, 3, 8", "yes")
    assert judged(number(rows("t"), "value", equals=[1, 3])).agrees == "no"
    assert judged(holds(rows("t"), lambda t: np.min(t.value) > 0)).agrees == "yes"
    wrong = judged(holds(rows("t"), lambda t: np.all(t.ok), because="all are"))
    assert (wrong.agrees, wrong.ours) == ("no", "False")
    assert wrong.reason == "all are; the condition does not hold"


def test_several_tables_and_groups():
    two = number((rows("t"), rows("u")), lambda t, u: u.value / np.max(t.value), equals=0.5)
    assert judged(two).agrees == "yes"
    groups = number(rows("t"), lambda t: np.sum([np.max(g.value) for g in t.by("kind")]), equals=11)
    assert judged(groups).agrees == "yes"


def test_settings_are_compared_as_json():
    assert judged(setting("main.n")).agrees == "yes"
    assert judged(setting("main.n"), "4").agrees == "no"
    assert judged(setting("main.n", high=2)).agrees == "no"
    assert judged(settings({"main.n": "3", "main.name": '"laplace"'})).agrees == "yes"
    assert judged(settings({"main.name": '"laplace"'})).agrees == "yes"
    assert judged(settings({"main.name": '"gaussian"'})).agrees == "no"
    with pytest.raises(ConfigError, match="no row fits"):
        judged(settings({"main.nothing": "1"}))


def test_an_erratum_counts_only_where_ours_is_the_correct_value():
    def slip(instead, **limits):
        limits = limits or {"within": 0.1}
        return number(ROW, "value", erratum="a misprint", instead=instead, **limits)

    assert judged(slip(9), "3.05").agrees == "yes"  # as printed, after all
    wrong = judged(slip(3.05), "5")
    assert (wrong.agrees, wrong.reason) == ("erratum", "a misprint")
    assert (wrong.low, wrong.high) == pytest.approx((4.9, 5.1))  # of the printed value
    assert judged(slip(4), "5").agrees == "no"
    assert judged(slip(lambda t: t.ours == 3, below=2)).agrees == "erratum"
    assert judged(slip(lambda t: t.ours == 4, below=2)).agrees == "no"


def test_a_statement_that_differs_has_a_reason():
    assert judged(number(ROW, "value", high=2, differs="a coarse grid")).reason == "a coarse grid"
    assert judged(number(ROW, "value", high=2)).reason == "ours lies elsewhere"
    assert judged(number(ROW, "value", high=3, differs="a coarse grid")).reason == ""


def test_a_scale_that_does_not_decide_shows_ours():
    shown = judged(number(ROW, "value", within=0.1), "5", decides=False)
    assert (shown.agrees, shown.ours, shown.reason) == (
        "not at this scale",
        "3",
        "needs the scale none",
    )
    gone = number(rows("t", lambda t: t.n > 1e6), "value", within=0.1)
    assert judged(gone, decides=False).ours == ""
    file = "src/epsilometer_workflow/reports/p/statements.py"
    with pytest.raises(ConfigError, match=f"^{file}: fig1/x: no row fits"):
        judged(gone)


@pytest.mark.parametrize("decides", [True, False])
@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (number(rows("tt"), "value", low=1), "unknown table 'p/tt'; did you mean 'p/t'"),
        (number(rows("t", kimd="a"), "value", low=1), "unknown column 'kimd'"),
        (number(rows("t"), "valu", low=1), "unknown column 'valu'; did you mean 'value'"),
        (number(rows("t"), lambda t: t.valu, low=1), "unknown column 'valu'"),
        (number(rows("t", kind=key("kin")), "value", low=1), "unknown key 'kin'"),
    ],
)
def test_an_unknown_name_is_an_error_at_every_scale(criterion, message, decides):
    with pytest.raises(ConfigError, match=rf"statements.py: fig1/x: .*{message}"):
        judged(criterion, decides=decides)


def test_several_values_are_refused():
    with pytest.raises(ConfigError, match="ours has 3 values, not one"):
        judged(number(rows("t"), "value", low=0))


def test_an_undecided_statement_has_a_reason():
    verdict = judged(undecided("a name"))
    assert (verdict.agrees, verdict.reason, verdict.ours) == ("cannot be decided", "a name", "")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: number(rows("t"), "value"), "a number and where it may lie, or a condition"),
        (lambda: holds(rows("t"), "ok", low=1), "a number and where it may lie, or a condition"),
        (lambda: number(rows("t"), "value", low=1, erratum="x"), "erratum and instead"),
        (lambda: number(rows("t"), "value", low=1, instead=1), "erratum and instead"),
    ],
)
def test_a_criterion_that_makes_no_sense_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def criteria(*patterns):
    return {"p": {pattern: undecided("no") for pattern in patterns}}


def test_every_statement_has_a_criterion_and_every_criterion_a_statement():
    statements = [statement(name=f"fig1/{name}") for name in ("a-1", "a-2", "b")]
    pairs = pair(statements, criteria("fig1/a-*", "fig1/b fig1/a-2"))
    assert [pattern for _, pattern in pairs] == ["fig1/a-*", "fig1/b fig1/a-2", "fig1/b fig1/a-2"]
    for patterns, message in [
        (("fig1/a-*",), "p/statements.py: fig1/b: is decided by no criterion"),
        (("fig1/*", "fig1/a-*"), r"is decided by fig1/\* and by fig1/a-\*"),
        (("fig1/*", "fig2/*"), r"p/statements.py: fig2/\*: is about no statement"),
    ]:
        with pytest.raises(ConfigError, match=message):
            pair(statements, criteria(*patterns))
    other = Statement("pp/f/a", "f", "", "", "", "", "none", "")
    with pytest.raises(ConfigError, match="the paper has no criteria; did you mean 'p'"):
        pair([other], criteria("*"))


HEAD = "id,artifact,quantity,key,printed,kind,scale,where\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,artifact\n", "must have the columns id, artifact, quantity"),
        (HEAD + "p/a,fig1,q,,1,number,none,\n", "p/a: must be paper/artifact/name"),
        (HEAD + "p/a/b,f,q,,1,number,none,\n" * 2, "p/a/b: is there twice"),
    ],
)
def test_a_wrong_file_of_statements_is_an_error(tmp_path, text, message):
    file = tmp_path / "p.csv"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_statements([str(file)])


@pytest.fixture
def card(tmp_path):
    """Return a scorecard of two statements of a paper, as a function of its tables."""
    (tmp_path / "p.csv").write_text(
        HEAD
        + "p/fig1/a,fig1,q,,3,number,none,here\n"
        + "p/fig1/b,text:Abstract,q,,4,number,quick,here\n"
    )
    largest = number(rows("t"), lambda t: np.max(t.value), within=0.5)

    def build(tables):
        return verdicts(tables, [str(tmp_path / "p.csv")], {"p": {"fig1/*": largest}})

    return build


def tables(number=3.0, scale="quick"):
    settings = {"main.scale": json.dumps(scale), "main.scales": '["smoke", "quick", "paper"]'}
    return {
        "p/t": pd.DataFrame({"value": [1.0, number]}),
        "scorecard/settings": pd.DataFrame(settings.items(), columns=["setting", "value"]),
    }


def test_the_scorecard_of_two_statements(card):
    table = card(tables())
    assert table["agrees"].tolist() == ["yes", "no"]
    assert table["from"].tolist() == ["p/t"] * 2
    assert card(tables(4.2))["agrees"].tolist() == ["no", "yes"]
    small = card(tables(scale="smoke"))
    assert small["agrees"].tolist() == ["yes", "not at this scale"]
    with pytest.raises(ArgumentError, match="must have scorecard/settings"):
        card({"p/t": tables()["p/t"]})


def test_shares_count_each_artifact_paper_and_all(card):
    table = card(tables(scale="smoke"))
    shares = scorecard.shares({"scorecard/scorecard": table}).set_index(["paper", "artifact"])
    assert shares.index.tolist() == [("p", "fig1"), ("p", "text"), ("p", "all"), ("all", "all")]
    assert shares["claims"].tolist() == [1, 1, 2, 2]
    assert shares["decided"].tolist() == [1, 0, 1, 1]
    assert shares["share"].tolist() == pytest.approx([1, math.nan, 1, 1], nan_ok=True)


def test_the_share_is_of_the_decided_statements(card, tmp_path):
    assert summary(tmp_path / "scorecard.csv") == []
    table = card(tables())
    table.to_csv(tmp_path / "scorecard.csv", index=False)
    (line,) = summary(tmp_path / "scorecard.csv")
    assert line.startswith(
        "  scorecard: 1 of 2 statements of the papers agree (50.0%; 0 are errata)"
    )
    assert "1 do not" in line
    table.assign(agrees="not at this scale").to_csv(tmp_path / "scorecard.csv", index=False)
    assert summary(tmp_path / "scorecard.csv") == []


def test_every_statement_of_the_papers_has_a_criterion():
    pairs = pair(read_statements(FILES), scorecard.CRITERIA)
    assert len(pairs) == 795
    assert {statement.paper for statement, _ in pairs} == set(PAPERS)
    assert {statement.scale for statement, _ in pairs} == {"none", "quick", "paper"}


def test_files_of_statements_are_well_formed():
    for path in FILES:
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
            assert all(len(row) == len(COLUMNS) for row in csv.reader(file))
