"""Claims held against tables: the language of the rules, what is compared, and what is refused."""

import csv
import json
import math

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_workflow.reports.scorecard import tables as scorecard
from epsilometer_workflow.reports.scorecard.claims import (
    Claim,
    Line,
    Rule,
    lines_of,
    read_claims,
    read_rules,
)
from epsilometer_workflow.reports.scorecard.expressions import (
    Expression,
    ExpressionError,
    numbers_in,
    rounding,
)
from epsilometer_workflow.reports.scorecard.judging import columns, judge
from epsilometer_workflow.reports.scorecard.outcomes import summary

TABLES = {
    "p/t": columns(
        pd.DataFrame(
            {
                "kind": ["a", "a", "b"],
                "lambda": ["2", "7", "inf"],
                "n": [10, 1000, 10],
                "value": [1.0, 3.0, 8.0],
                "ok": [True, False, True],
            }
        )
    ),
    "p/u": columns(pd.DataFrame({"value": [4.0], "an other": ["x"]})),
}


def value(text, table="p/t", **more):
    return Expression(text).value({**TABLES[table], **more})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(value) / min(value)", 8.0),
        ("mean(value[kind == 'a'])", 2.0),
        ("count(kind == 'a' and n > 100 or kind == 'b')", 2),
        ("value[not (kind in ['a', 'c'])]", 8.0),
        ("value[lambda > 1e9]", 8.0),
        ("value[lambda == 7]", 3.0),
        ("where_largest(kind, value)", "b"),
        ("where_smallest(n, value)", 10.0),
        ("1 < min(value) + 1 <= 2", True),
        ("rises(value[kind == 'a'], n[kind == 'a'])", True),
        ("falls(value[kind == 'a'], n[kind == 'a'])", False),
        ("slope([1, 100], [10, 1000])", 1.0),
        ("share(ok)", 2 / 3),
        ("digits(8743210, 2)", 8.7e6),
        ("max(grown([8, 4, 2], [1, 2, 4], 2))", 0.5),
        ("numbers('n=2e4, tau=.001')", [2e4, 1e-3]),
        ("0.1 + 0.2 == 0.3", True),
        ("distinct(kind)", 2),
        ("-2 ** 2", -4),
        ("spread(0.05, 1000, 0.05, 1000)", 2.6 * math.sqrt(0.05 * 0.95 / 500)),
        ("allowance(0.8, 100)", 0.104),
        ("last(value, n)", 3.0),
        ("first(value, n)", 1.0),
    ],
)
def test_expressions_by_hand(text, expected):
    assert np.asarray(value(text)).ravel().tolist() == (
        pytest.approx(expected) if isinstance(expected, list) else [pytest.approx(expected)]
    )


def test_a_table_by_its_name_and_a_column_that_is_no_name():
    known = {"t": TABLES["p/t"], "u": TABLES["p/u"], "key": {"lambda": 7.0}}
    assert Expression("u.value / max(t.value)").value(known) == 0.5
    assert Expression('u["an other"]').value(known) == "x"
    assert Expression("t.value[t.lambda == key.lambda]").value(known) == 3.0
    assert Expression("t.value + nothing").names == {"t", "nothing"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').system('ls')", "calls what is no function"),
        ("open('f')", "unknown function 'open'"),
        ("value.__class__", "what has a column '__class__' is no table"),
        ("[x for x in value]", "holds a ListComp"),
        ("(lambda: 1)()", "no expression|calls what"),
        ("maxi(value)", "unknown function 'maxi'; did you mean 'max'"),
        ("max(valeu)", "unknown name 'valeu'; did you mean 'value'"),
        ("value[n]", "must be a condition on rows"),
        ("value[n > 5000]", "no row fits"),
        ("value +", "is no expression"),
        ("max(value, n, kind, 3)", "has no value"),
    ],
)
def test_what_is_no_expression_is_told(text, message):
    with pytest.raises(ExpressionError, match=message):
        value(text)


def test_numbers_and_their_rounding():
    assert numbers_in("from 1e-5, .22 (x_0) to -3.5e+2; 10^2") == [1e-5, 0.22, -350.0, 10.0, 2.0]
    assert [rounding(text) for text in ("5.40", "9588", "8.7e6", ".013", "7e7")] == pytest.approx(
        [0.005, 0.5, 5e4, 5e-4, 5e6]
    )
    with pytest.raises(ExpressionError, match="'about 2' is no number"):
        rounding("about 2")


def claim(printed="3", key="kind=a;lambda=7", scale="none"):
    return Claim("p/fig1/x", "fig1", "q", key, printed, "number", scale, "Section 1")


ROW = {"from": "t", "where": "kind == key.kind and lambda == key.lambda", "ours": "value"}


def judged(rule, printed="3", decides=True, **more):
    line = Line("config/scorecard/p.yaml", "fig1/*", Rule.model_validate({**rule, **more}))
    return judge(claim(printed), line, TABLES, decides=decides)


@pytest.mark.parametrize(
    ("bounds", "printed", "low", "high", "agrees"),
    [
        ({"within": "rounding"}, "3.00", 2.995, 3.005, "yes"),
        ({"within": "rounding"}, "3.01", 3.005, 3.015, "no"),
        ({"within": 0.5}, "2.5", 2.0, 3.0, "yes"),
        ({"within": 0.49}, "2.5", 2.01, 2.99, "no"),
        ({"within": "max(n) / 2000"}, "2.5", 2.0, 3.0, "yes"),
        ({"factor": 3}, "1.0", 1 / 3, 3.0, "yes"),
        ({"factor": 3}, "9.1", 9.1 / 3, 27.3, "no"),
        ({"low": 3}, "", 3.0, math.nan, "yes"),
        ({"above": 3}, "", 3.0, math.nan, "no"),
        ({"high": "ours + 1"}, "", math.nan, 4.0, "yes"),
        ({"below": 3}, "", math.nan, 3.0, "no"),
        ({"low": 2, "below": 3}, "", 2.0, 3.0, "no"),
        ({"equals": "printed"}, "3", 3.0, 3.0, "yes"),
        ({"equals": "printed"}, "3.1", 3.1, 3.1, "no"),
        ({"equals": "numbers(printed)"}, "n = 3", math.nan, math.nan, "yes"),
    ],
)
def test_where_ours_may_lie(bounds, printed, low, high, agrees):
    found = judged(ROW, printed, **bounds)
    assert (found.ours, found.agrees) == ("3", agrees)
    assert (found.low, found.high) == pytest.approx((low, high), nan_ok=True)


def test_words_and_conditions():
    words = {"from": "t", "where": "n == 1000", "ours": "kind", "equals": "printed"}
    assert judged(words, "A ").agrees == "yes"
    assert judged(words, "b").agrees == "no"
    assert judged({"from": "t", "holds": "min(value) > 0"}).agrees == "yes"
    assert judged({"from": "t", "holds": "all(ok)"}).agrees == "no"
    assert judged({"from": "t", "holds": "all(ok)"}).ours == "False"


def test_groups_and_names():
    each = {"from": "t", "per": "kind", "ours": "max(value) * twice", "let": {"twice": "2"}}
    assert judged(each, take="sum(each)", equals=22).agrees == "yes"
    assert judged(each, take="min(each) == 6 and size(each) == 2", equals=True).agrees == "yes"
    several = {"from": "t", "per": "kind n", "ours": "value", "take": "size(each)"}
    assert judged(several, equals=3).agrees == "yes"


def test_an_erratum_counts_only_where_ours_is_what_should_have_been_printed():
    rule = ROW | {"within": 0.1, "erratum": "a misprint"}
    assert judged(rule, "3.05", instead=9).agrees == "yes"  # as printed, after all
    wrong = judged(rule, "5", instead=3.05)
    assert (wrong.agrees, wrong.reason) == ("erratum", "a misprint")
    assert (wrong.low, wrong.high) == pytest.approx((4.9, 5.1))  # of what is printed
    assert judged(rule, "5", instead=4).agrees == "no"
    condition = ROW | {"below": 2, "erratum": "a misprint"}
    assert judged(condition, instead="ours == 3").agrees == "erratum"
    assert judged(condition, instead="ours == 4").agrees == "no"


def test_what_a_scale_does_not_decide_is_not_decided_but_shown():
    found = judged(ROW, "5", decides=False, within=0.1)
    assert (found.agrees, found.ours, found.reason) == (
        "not at this scale",
        "3",
        "needs the scale none",
    )
    gone = ROW | {"where": "n > 1e6"}
    assert judged(gone, "5", decides=False, within=0.1).ours == ""
    with pytest.raises(
        ConfigError, match=r"^config/scorecard/p.yaml: fig1/\*: p/fig1/x: no row of p/t"
    ):
        judged(gone, "5", within=0.1)


@pytest.mark.parametrize("decides", [True, False])
def test_a_line_that_no_table_can_follow_is_told_at_every_scale(decides):
    for wrong, message in [
        ({"from": "tt"}, "unknown table 'p/tt'; did you mean 'p/t'"),
        ({"where": "kimd == 1"}, "unknown name 'kimd'"),
        ({"ours": "valu"}, "unknown name 'valu'; did you mean 'value'"),
    ]:
        with pytest.raises(ConfigError, match=rf"p.yaml: fig1/\*: p/fig1/x: .*{message}"):
            judged(ROW | wrong, "5", decides=decides, within=1)


def test_several_values_are_none():
    with pytest.raises(ConfigError, match="'value' has 3 values, not one"):
        judged({"from": "t", "ours": "value", "low": 0})


def test_what_cannot_be_decided_says_why():
    found = judged({"undecided": "a name"})
    assert (found.agrees, found.reason, found.ours) == ("cannot be decided", "a name", "")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"from": "t"}, "one of ours, holds and undecided"),
        ({"from": "t", "ours": "1"}, "must have ours and one of within"),
        ({"ours": "1", "low": 1}, "must say from which table"),
        ({"from": "t", "ours": "1", "low": 1, "per": "n"}, "per and take, or neither"),
        ({"from": {"a": "t"}, "where": "1", "ours": "1", "low": 1}, "where with one table only"),
        ({"from": "t", "ours": "1", "low": 1, "erratum": "x"}, "erratum and instead, or neither"),
        ({"from": "t", "ours": "f(1)", "low": 1}, "unknown function 'f'"),
        ({"from": "t", "ours": "1", "lo": 1}, "unknown key; did you mean 'low'"),
    ],
)
def test_a_rule_that_makes_no_sense_is_told_with_its_line(tmp_path, rule, message):
    file = tmp_path / "p.yaml"
    file.write_text(json.dumps({"fig1/*": rule}))
    with pytest.raises(ConfigError, match=rf"p.yaml: fig1/\*.*{message}"):
        read_rules(str(file))


def rules(*patterns):
    return {"x/p.yaml": {pattern: Rule(undecided="no") for pattern in patterns}}


def test_every_claim_has_one_line_and_every_line_a_claim():
    claims = [
        Claim(f"p/fig1/{name}", "fig1", "", "", "", "", "none", "") for name in ("a-1", "a-2", "b")
    ]
    found = lines_of(claims, rules("fig1/a-*", "fig1/b fig1/a-2"))
    assert [line.pattern for _, line in found] == ["fig1/a-*", "fig1/b fig1/a-2", "fig1/b fig1/a-2"]
    for patterns, message in [
        (("fig1/a-*",), "x/p.yaml: fig1/b: is decided by no line"),
        (("fig1/*", "fig1/a-*"), r"is decided by fig1/\* and by fig1/a-\*"),
        (("fig1/*", "fig2/*"), r"x/p.yaml: fig2/\*: is about no claim"),
    ]:
        with pytest.raises(ConfigError, match=message):
            lines_of(claims, rules(*patterns))
    with pytest.raises(ConfigError, match="no file of rules; did you mean 'p'"):
        lines_of([Claim("pp/f/a", "f", "", "", "", "", "none", "")], rules("*"))


HEAD = "id,artifact,quantity,key,printed,kind,scale,where\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,artifact\n", "must have the columns id, artifact, quantity"),
        (HEAD + "p/a,fig1,q,,1,number,none,\n", "p/a: must be paper/artifact/name"),
        (HEAD + "p/a/b,f,q,,1,number,none,\n" * 2, "p/a/b: is there twice"),
    ],
)
def test_a_wrong_file_of_claims_is_told(tmp_path, text, message):
    file = tmp_path / "claims.csv"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_claims(str(file))


@pytest.fixture
def files(tmp_path):
    """Return claims and rules of a paper."""
    (tmp_path / "claims.csv").write_text(
        HEAD
        + "p/fig1/a,fig1,q,,3,number,none,here\n"
        + "p/fig1/b,text:Abstract,q,,4,number,quick,here\n"
    )
    (tmp_path / "p.yaml").write_text("fig1/*: {from: t, ours: max(value), within: 0.5}")
    return {"claims": str(tmp_path / "claims.csv"), "rules": [str(tmp_path / "p.yaml")]}


def tables(number=3.0, scale="quick"):
    settings = {"main.scale": json.dumps(scale), "main.scales": '["smoke", "quick", "paper"]'}
    return {
        "p/t": pd.DataFrame({"value": [1.0, number]}),
        "scorecard/settings": pd.DataFrame(settings.items(), columns=["setting", "value"]),
    }


def test_the_scorecard_of_two_claims(files):
    found = scorecard.scorecard(tables(), **files)
    assert found["agrees"].tolist() == ["yes", "no"]
    assert found["from"].tolist() == ["p/t"] * 2
    assert found["how"].tolist() == ["max(value)"] * 2
    assert scorecard.scorecard(tables(4.2), **files)["agrees"].tolist() == ["no", "yes"]
    small = scorecard.scorecard(tables(scale="smoke"), **files)
    assert small["agrees"].tolist() == ["yes", "not at this scale"]
    with pytest.raises(ArgumentError, match="must have scorecard/settings"):
        scorecard.scorecard({"p/t": tables()["p/t"]}, **files)


def test_shares_count_each_artifact_paper_and_all(files):
    made = scorecard.scorecard(tables(scale="smoke"), **files)
    shares = scorecard.shares({"scorecard/scorecard": made}).set_index(["paper", "artifact"])
    assert shares.index.tolist() == [("p", "fig1"), ("p", "text"), ("p", "all"), ("all", "all")]
    assert shares["claims"].tolist() == [1, 1, 2, 2]
    assert shares["decided"].tolist() == [1, 0, 1, 1]
    assert shares["share"].tolist() == pytest.approx([1, math.nan, 1, 1], nan_ok=True)


def test_the_share_is_told_of_what_is_decided(files, tmp_path):
    assert summary(tmp_path / "scorecard.csv") == []
    made = scorecard.scorecard(tables(), **files)
    made.to_csv(tmp_path / "scorecard.csv", index=False)
    (line,) = summary(tmp_path / "scorecard.csv")
    assert line.startswith(
        "  scorecard: 1 of 2 statements of the papers agree (50.0%; 0 are errata)"
    )
    assert "1 do not" in line
    made.assign(agrees="not at this scale").to_csv(tmp_path / "scorecard.csv", index=False)
    assert summary(tmp_path / "scorecard.csv") == []


def test_every_claim_of_the_papers_has_its_line():
    claims = read_claims("config/scorecard/claims.csv")
    papers = ("gorla2022", "askin2022", "kutta2022", "lu2022")
    lines = lines_of(
        claims, {f: read_rules(f) for f in (f"config/scorecard/{p}.yaml" for p in papers)}
    )
    assert len(lines) == len(claims) == 795
    assert {c.paper for c in claims} == set(papers)
    assert {c.scale for c in claims} == {"none", "quick", "paper"}


def test_a_csv_of_claims_is_written_as_csv_writes_it():
    with open("config/scorecard/claims.csv", encoding="utf-8", newline="") as file:  # noqa: PTH123
        assert all(len(row) == 8 for row in csv.reader(file))
