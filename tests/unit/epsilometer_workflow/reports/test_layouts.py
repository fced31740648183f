"""Tables in the layout of a paper, as LaTeX and on a page."""

import re

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.settings.models import parse
from epsilometer_workflow.files.printed import Layout, TypesetJob
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.reports import layouts
from epsilometer_workflow.stages import typeset
from tests.unit.stages import TABLE, done

SIZES = pd.DataFrame({"epsilon": [0.5, 0.5, 2.0, 2.0], "gamma": [1.0, 0.1, 1.0, 0.1]})
SIZES = SIZES.assign(n=[9588, 8_712_345, None, None], by=["a_b", "c&d", "a_b", "<i>"])
CELLS = {"cells": {"n": [r"$n_{\mathrm{TH}}$", "count", "Und."]}}
GROUPS = {"rows": {"gamma": ["g"]}, "across": {"epsilon": ["e"]}}


def laid(**entries) -> Layout:
    return parse(Layout, CELLS | entries, "here")


def lines(table, layout) -> list[str]:
    """Return the lines between the rules, without spaces and the ends of lines."""
    text = layouts.latex(table, layout)
    assert text.count("rule") == 3
    body = re.search(r"toprule\n(.*)\\bottomrule", text, re.DOTALL)[1]
    return [line.replace(" ", "").rstrip("\\") for line in body.splitlines() if "rule" not in line]


def page_of(table, layout) -> str:
    return layouts.hypertext(table, layout).replace(' halign="left"', "")


def theirs(table, layout):
    """Return the paper's numbers on a page, each with whether it is marked."""
    return re.findall(r'<span class="theirs( differs)?">([^<]*)</span>', page_of(table, layout))


def test_values_head_groups_of_columns_and_rows():
    layout = laid(rows={"gamma": [r"$\gamma$"]}, across={"epsilon": [r"$\varepsilon$"]})
    assert lines(SIZES, layout) == [
        r"$\gamma$&$\varepsilon$=0.5&$\varepsilon$=2",
        r"&$n_{\mathrm{TH}}$&$n_{\mathrm{TH}}$",
        "1&9588&Und.",
        "0.1&8.7e6&Und.",
    ]
    for head in ("ε = 0.5", "γ", "n<sub>TH</sub>"):
        assert f"<th>{head}</th>" in page_of(SIZES, layout)


def test_blocks_stand_side_by_side_and_texts_have_names():
    layout = laid(cells={"by": ["by"], "gamma": ["g", ".2f"]}, blocks=2)
    of_one = SIZES.drop(columns=["epsilon", "n"])
    head, *rows = lines(of_one, layout)
    assert head == "by&g&by&g"
    assert rows == [r"a\_b&1.00&a\_b&1.00", r"c\&d&0.10&<i>&0.10"]
    assert "&lt;i&gt;" in page_of(SIZES, layout)
    assert "c&amp;d" in page_of(SIZES, layout)
    names = {"<i>": "first", "c&d": "x", "a_b": "last"}
    layout = layout.model_copy(update={"names": names, "blocks": 1})
    firsts = [line.partition("&")[0] for line in lines(of_one, layout)[1:]]
    assert firsts == ["first", "x", "last", "last"]


def test_heads_are_text_on_a_page():
    layout = laid(rows={"gamma": ["a < b^2"]}, across={"by": [""]}, leave_out={"epsilon": [0.5]})
    assert "<th>&lt;i&gt;</th>" in page_of(SIZES, layout)
    assert "a &lt; b<sup>2</sup>" in page_of(SIZES, layout)


def test_the_last_block_may_be_shorter_and_large_counts_have_two_digits():
    table = pd.DataFrame({"n": [99_999, 100_000, 8_712_345], "g": [0.125, 0.375, 2.0]})
    table["paper_g"] = [0.13, 0.37, 2.0]  # a half may be rounded up, too
    layout = laid(cells={"n": ["n", "count"], "g": ["g", ".2f"]}, blocks=2)
    assert lines(table, layout)[1:] == ["99999&0.12&8.7e6&2.00", "1.0e5&0.38&&"]
    assert sorted(theirs(table, layout)) == [("", "0.13"), ("", "2.00"), (" differs", "0.37")]


def test_an_axis_that_varies_is_a_column_of_every_layout():
    table = SIZES.drop(columns="n")
    assert lines(table, laid(cells={"gamma": ["g"]}))[:2] == [r"$\varepsilon$&g", "0.5&1"]


def test_an_axis_beside_groups_of_columns_has_a_table_for_each_value():
    """In front of them it would be a column, beside twice as many groups."""
    table = pd.concat([SIZES.assign(mechanism=name) for name in ("a_b", "c")])
    layout = laid(**GROUPS)
    alone = layouts.latex(SIZES, layout)
    two = f"mechanism = a\\_b\n\n{alone}\nmechanism = c\n\n{alone}"
    assert layouts.latex(table, layout) == two
    assert page_of(table, layout).count("<table") == 2
    assert "<p>mechanism = c</p>" in page_of(table, layout)


def test_the_papers_numbers_stand_beside_ours_and_are_marked_where_they_differ():
    table = SIZES.assign(m=[1, 3, 5, 4], paper_n=[9588, 8_750_000, None, None])
    table = table.assign(paper_m=[1, 2, None, 4])
    layout = laid(**GROUPS, cells={"n": ["$n$", "count", "Und."], "m": ["m"]})
    assert theirs(table, layout) == [  # the paper prints none of the third row
        *[("", "9588"), ("", "1")],
        *[(" differs", "8.8e6"), (" differs", "2"), ("", "Und."), ("", "4")],
    ]
    assert "8.8" not in layouts.latex(table, layout)
    assert lines(table, layout.model_copy(update={"beside": True}))[1:] == [
        "&$n$&paper&m&paper&$n$&paper&m&paper",
        "1&9588&9588&1&1&Und.&&5&",
        r"0.1&8.7e6&\textbf{8.8e6}&3&\textbf{2}&Und.&Und.&4&4",
    ]


def test_rows_are_left_out():
    layout = laid(cells={"gamma": ["g"]}, leave_out={"epsilon": [0.5], "by": ["<i>"]})
    assert lines(SIZES, layout) == ["g", "1"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"cells": {"gama": ["g"]}}, "layout has no column 'gama'; did you mean 'gamma'"),
        ({"leave_out": {"b": [1]}}, "layout has no column 'b'"),
        ({"across": {"by": [""]}, "rows": {"gamma": ["g"]}}, "two cells for one row of a_b"),
        # before there is a table
        ({"cells": {"n": ["n", "2g2"]}}, "here: cells.n: "),
        ({"rows": {"n": []}}, "here: rows.n: "),
        ({"cells": {}, "across": {"by": [""]}}, "layout has no cells; each is a column of epsilon"),
        ({"blocks": 0}, "here: blocks: "),
    ],
)
def test_a_wrong_layout_is_refused(entries, message):
    kind = ConfigError if message.startswith("here") else ArgumentError
    with pytest.raises(kind, match=re.escape(message).replace("_", r"\\?_")):
        layouts.latex(SIZES, laid(**entries))


def test_the_job_writes_the_same_bytes_or_nothing(tmp_path):
    table = str(tmp_path / "t.parquet")
    write_table(SIZES, table, "table", TABLE)
    files = [tmp_path / name for name in ("a.tex", "b.tex")]
    for file in files:
        done(typeset, file, TypesetJob(identity=TABLE, layout=laid()), table=table)
    text = files[0].read_text()
    assert text == files[1].read_text()
    assert text.startswith("% r/fig1, scale smoke, seed 3; needs booktabs\n\\begin{tab")
    wrong = TypesetJob(identity=TABLE, layout=laid(cells={"m": ["m"]}))
    with pytest.raises(ArgumentError, match="layout has no column 'm'"):
        done(typeset, tmp_path / "c.tex", wrong, table=table)
    assert not (tmp_path / "c.tex").exists()
