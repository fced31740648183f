"""Statements of papers compared with tables: the criteria, the verdicts, and refusals."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ConfigError
from scorecard import checks
from scorecard.criteria import holds, number, printed, rows, setting, settings
from scorecard.judging import CRITERIA, Statement, judge, pair, read_statements, shares, summary
from scorecard.judging import verdicts as card_of
from scorecard.rows import columns, key

FILES = [str(path) for path in sorted(Path(__file__).parents[1].glob("statements/*.csv"))]
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
        ({"equals": printed}, "3.1", 3.1, 3.1, "no"),
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


def test_the_scorecard_of_two_statements(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text(f"{HEAD}p/fig1/a,fig1,q,,8,number,none,\np/x/b,text:I,q,,4,number,paper,\n")
    card = card_of(TABLES, [str(file)], {"p": {"*": number(rows("t", kind="b"), "value", low=5)}})
    assert card["agrees"].tolist() == ["yes", "not at this scale"]
    assert shares(card)["decided"].tolist() == [1, 0, 1, 1]
    assert summary(card).startswith("scorecard: 1 of 1 statements agree (100.0%")
    with pytest.raises(ConfigError, match="is about no statement"):
        pair(read_statements([str(file)]), {"p": {"*": ROW, "fig2/*": ROW}})


def test_every_statement_has_a_criterion_and_exact_ones_agree():
    pairs = pair(read_statements(FILES), CRITERIA)
    assert len(pairs) == 485
    exact = {name: columns(table) for name, table in checks.tables().items()}
    chosen = [(s, CRITERIA[s.paper][pattern]) for s, pattern in pairs]
    chosen = [(s, c) for s, c in chosen if c.tables(s.paper) and set(c.tables(s.paper)) <= {*exact}]
    assert len(chosen) > 15
    assert {judge(s, c, exact, decides=True).agrees for s, c in chosen} == {"yes"}
