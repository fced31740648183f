"""Statements of papers compared with tables: the criteria, the verdicts, and refusals."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ConfigError
from scorecard import checks
from scorecard.counting import agreement
from scorecard.criteria import holds, number, printed, rows, setting, settings
from scorecard.judging import CRITERIA, Statement, judge, pair, read_statements
from scorecard.judging import verdicts as card_of
from scorecard.rows import columns, key
from scorecard.settings import table as settings_table
from scorecard.view import lines

PRINTED = Path(__file__).parents[3] / "config/printed"
HEAD = "id,artifact,quantity,key,printed,kind,scale,where\n"
FRAME = pd.DataFrame({"kind": ["a", "a", "b"], "n": [10, 1000, 10], "value": [1.0, 3.0, 8.0]})
SETTINGS = {"main.scale": '"quick"', "main.scales": '["smoke", "quick", "paper"]', "main.n": "3"}
TABLES = {
    "p/t": FRAME,
    "p/u": pd.DataFrame({"value": [4.0], "bound": [5.0]}),
    "scorecard/settings": pd.DataFrame(SETTINGS.items(), columns=["setting", "value"]),
}
KNOWN = {name: columns(table) for name, table in TABLES.items()}
ROW = rows("t", lambda t: t.n == t.key["n"], kind=key("kind"))  # whose value is 3


def judged(criterion, text="3", decides=True):
    statement = Statement("p/fig1/x", "fig1", "q", "kind=a;n=1000", text, "number", "none", "")
    return judge(statement, criterion, KNOWN, decides=decides)


@pytest.mark.parametrize(
    ("limits", "text", "low", "high", "agrees"),
    [
        ({"within": 0.5}, "2.5", 2.0, 3.0, "yes"),
        ({"within": 0.49}, "2.5", 2.01, 2.99, "no"),
        ({"factor": 3}, "9.1", 9.1 / 3, 27.3, "no"),
        ({"above": 3}, "", 3.0, math.nan, "no"),
        ({"high": lambda t: t.ours + 1}, "", math.nan, 4.0, "yes"),
        ({"low": 2, "below": 3}, "", 2.0, 3.0, "no"),
        ({"equals": printed}, "3.1", math.nan, math.nan, "no"),
        ({"within": 0.1, "erratum": "slip", "instead": 3.05}, "5", 4.9, 5.1, "erratum"),
        ({"within": 0.1, "erratum": "slip", "instead": 4}, "5", 4.9, 5.1, "no"),
        ({"below": 2, "erratum": "slip", "instead": lambda t: t.ours == 3}, "", None, 2, "erratum"),
    ],
)
def test_where_ours_may_lie(limits, text, low, high, agrees):
    verdict = judged(number(ROW, "value", **limits), text)
    assert (verdict.ours, verdict.agrees) == ("3", agrees)
    ends = (math.nan if low is None else low, high)
    assert (verdict.low, verdict.high) == pytest.approx(ends, nan_ok=True)


def test_conditions_settings_and_several_tables():
    assert judged(holds(rows("t"), lambda t: np.min(t.value) > 1)).agrees == "no"
    two = number((rows("t"), rows("u")), lambda t, u: u.value / np.max(t.value), equals=0.5)
    assert [judged(c).agrees for c in (two, setting("main.n"))] == ["yes", "yes"]
    assert judged(settings({"main.n": "4"})).agrees == "no"


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (number(rows("tt"), "value", low=1), "unknown table 'p/tt'; did you mean 'p/t'"),
        (number(rows("t", kimd="a"), "value", low=1), "unknown column 'kimd'"),
        (number(rows("t", kind=key("kin")), "value", low=1), "unknown key 'kin'"),
        (number(rows("t"), "value", low=0), "ours has 3 values, not one"),
        (number(rows("t", n=5), "value", low=0), "no row fits"),
    ],
)
def test_a_wrong_criterion_is_an_error_that_names_it(criterion, message):
    with pytest.raises(ConfigError, match=rf"^studies/scorecard/p.py: fig1/x: .*{message}"):
        judged(criterion)


def test_ours_stands_beside_the_print_as_a_ratio():
    assert judged(number(ROW, "value", factor=1.5), "2.5").ratio == pytest.approx(1.2)
    in_words = judged(number(ROW, "value", says=2, factor=1.5), "about two")
    assert (in_words.ratio, in_words.low, in_words.high) == pytest.approx((1.5, 4 / 3, 3))
    for words in (judged(number(ROW, "value", low=1), "some"), judged(holds(ROW, "n"), "3")):
        assert math.isnan(words.ratio)


def test_a_condition_on_measured_times_is_not_judged_at_a_scale_that_does_not_decide():
    verdict = judged(holds(ROW, lambda t: t.value < 4), decides=False)
    assert (verdict.ours, verdict.agrees) == ("", "undecided")
    assert judged(number(ROW, "value", low=1), decides=False).ours == "3"


def test_the_scorecard_of_two_statements(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text(f"{HEAD}p/fig1/a,fig1,q,,8,number,none,\np/x/b,text:I,q,,4,number,paper,\n")
    criteria = {"p": {"*": number(rows("t", kind="b"), "value", low=5)}}
    card = card_of(TABLES, str(file), criteria)
    assert card["agrees"].tolist() == ["yes", "undecided"]
    with pytest.raises(ConfigError, match="is about no statement"):
        pair(read_statements(str(file)), {"p": {"*": ROW, "fig2/*": ROW}})


def test_what_does_not_agree_is_named_by_place_and_reason(tmp_path):
    names = ["artifact", "quantity", "key", "printed", "ours", "agrees", "reason"]
    heads = [("table5", "C", f"B={b}", ".2", "0.41234", "erratum", "swapped") for b in range(5)]
    rows = [
        ("fig1", "m", "", "3", "3", "yes", ""),
        *heads,
        ("table1", "n", "a=1; b=2", "56", "16", "no", "another step"),
        ("table1", "k", "", "3", "", "undecided", "needs the scale paper"),
    ]
    scorecard = pd.DataFrame(rows, columns=names)
    card = agreement(scorecard, "scorecard")
    line = (
        "1 of 7 printed numbers agree, 5 are errata of the paper, 1 disagrees; "
        "1 needs a larger scale"
    )
    assert card.to_numpy().tolist() == [
        ["scorecard", line, ""],
        ["table1", "n: 56, ours 16 (a=1, b=2)", "another step"],
        [
            "table5",
            "erratum, C: .2, ours 0.4123 (B=0); .2, ours 0.4123 (B=1); .2, ours 0.4123 (B=2); "
            "and 2 more",
            "swapped",
        ],
    ]
    for paper in CRITERIA:
        folder = tmp_path / f"tables/{paper}"
        folder.mkdir(parents=True)
        scorecard.to_csv(folder / "scorecard.csv", index=False)
        card.to_csv(folder / "agreement.csv", index=False)
    said = list(lines(tmp_path))
    assert said[0] == f"gorla2022: {line}"
    assert "  table1: n: 56, ours 16 (a=1, b=2). another step" in said
    assert said[-1].startswith(
        "all papers: 4 of 28 printed numbers agree, 20 are errata of the paper"
    )


def test_settings_are_those_of_the_configuration_at_a_scale():
    values = settings_table(PRINTED.parent, "smoke").set_index("setting")["value"]
    assert (values["main.scale"], values["main.scales"][:8]) == ('"smoke"', '["smoke"')
    assert values["mechanisms.gaussian-50.parameters.dimension"] == "50"
    assert values["reports.gorla2022.scales.paper.safety.runs"] == "1000"
    assert not [name for name in values.index if ".caption" in name or ".paper.rows" in name]


def test_every_statement_has_a_criterion_and_exact_ones_agree():
    pairs = [
        found
        for paper in CRITERIA
        for found in pair(read_statements(str(PRINTED / f"{paper}.csv")), CRITERIA)
    ]
    exact = {name: columns(table) for name, table in checks.tables().items()}
    chosen = [(s, CRITERIA[s.paper][pattern]) for s, pattern in pairs]
    chosen = [(s, c) for s, c in chosen if c.tables(s.paper) and set(c.tables(s.paper)) <= {*exact}]
    assert len(chosen) > 15
    assert {judge(s, c, exact, decides=True).agrees for s, c in chosen} == {"yes"}


def test_a_number_of_draws_may_be_off_by_half_at_most():
    for paper, criteria in CRITERIA.items():
        for criterion in criteria.values():
            assert criterion.factor is None or 1 < criterion.factor <= 1.5, paper
