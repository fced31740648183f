"""Tables in the layout of a paper, as LaTeX and on a page."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.models import parse
from epsilometer_workflow.configuration import config
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.reports import layouts
from epsilometer_workflow.stages import typeset

SIZES = pd.DataFrame(
    {
        "epsilon": [0.5, 0.5, 2.0, 2.0],
        "gamma": [1.0, 0.1, 1.0, 0.1],
        "n": [9588, 8_712_345, None, None],
        "by": ["a_b", "c&d", "a_b", "<i>"],
    }
)
CELLS = {"cells": {"n": [r"$n_{\mathrm{TH}}$", "count", "Und."]}}


def laid(**entries) -> dict:
    return parse(config.Layout, CELLS | entries, "here").model_dump()


def lines(table, layout) -> list[str]:
    """Return the lines between the rules, without spaces and the ends of lines."""
    text = layouts.latex(table, layout)
    assert text.count("rule") == 3
    body = re.search(r"toprule\n(.*)\\bottomrule", text, re.DOTALL)[1]
    return [line.replace(" ", "").rstrip("\\") for line in body.splitlines() if "rule" not in line]


def test_values_head_groups_of_columns_and_rows():
    layout = laid(rows={"gamma": [r"$\gamma$"]}, across={"epsilon": [r"$\varepsilon$"]})
    assert lines(SIZES, layout) == [
        r"$\gamma$&$\varepsilon$=0.5&$\varepsilon$=2",
        r"&$n_{\mathrm{TH}}$&$n_{\mathrm{TH}}$",
        "1&9588&Und.",
        "0.1&8.7e6&Und.",
    ]
    page = layouts.hypertext(SIZES, layout)
    assert "<th>ε = 0.5</th>" in page.replace(' halign="left"', "")
    assert "<th>γ</th>" in page
    assert "<th>n<sub>TH</sub></th>" in page


def test_blocks_stand_side_by_side_and_texts_have_names():
    layout = laid(cells={"by": ["by"], "gamma": ["g", ".2f"]}, blocks=2)
    head, *rows = lines(SIZES, layout)
    assert head == "by&g&by&g"
    assert rows == [r"a\_b&1.00&a\_b&1.00", r"c\&d&0.10&<i>&0.10"]
    assert "&lt;i&gt;" in layouts.hypertext(SIZES, layout)
    assert "c&amp;d" in layouts.hypertext(SIZES, layout)
    groups = laid(rows={"gamma": ["a < b^2"]}, across={"by": [""]}, leave_out={"epsilon": [0.5]})
    assert "<th>&lt;i&gt;</th>" in layouts.hypertext(SIZES, groups).replace(' halign="left"', "")
    assert "a &lt; b<sup>2</sup>" in layouts.hypertext(SIZES, groups)
    layout |= {"names": {"<i>": "first", "c&d": "x", "a_b": "last"}, "blocks": 1}
    assert [line.partition("&")[0] for line in lines(SIZES, layout)[1:]] == [
        *("first", "x", "last", "last")
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
        ({"cells": {}}, "here: cells: "),
        ({"blocks": 0}, "here: blocks: "),
    ],
)
def test_a_wrong_layout_is_refused(entries, message):
    kind = ConfigError if message.startswith("here") else ArgumentError
    with pytest.raises(kind, match=re.escape(message).replace("_", r"\\?_")):
        layouts.latex(SIZES, laid(**entries))


def job(table, output, identity, layout) -> SimpleNamespace:
    params = SimpleNamespace(spec={"identity": identity, "layout": layout})
    files = {"input": SimpleNamespace(table=table), "output": [str(output)]}
    return SimpleNamespace(params=params, **files)


def test_the_job_writes_the_same_bytes_or_nothing(tmp_path):
    identity = {"report": "p", "artifact": "t", "scale": "smoke", "seed": 1, "version": "0"}
    table = str(tmp_path / "t.parquet")
    write_table(SIZES, table, "table", identity)
    files = [tmp_path / name for name in ("a.tex", "b.tex")]
    for file in files:
        typeset.main(job(table, file, identity, laid()), print)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert (
        files[0].read_text().startswith("% p/t, scale smoke, seed 1; needs booktabs\n\\begin{tab")
    )
    with pytest.raises(ArgumentError, match="layout has no column 'm'"):
        typeset.main(job(table, tmp_path / "c.tex", identity, laid(cells={"m": ["m"]})), print)
    assert not (tmp_path / "c.tex").exists()
