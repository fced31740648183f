"""The page of a report, and tables in the layout of a paper, as LaTeX and on a page."""

import math
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError, DataError
from epsilometer.settings.models import parse
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.identities import Common, TableIdentity
from epsilometer_workflow.files.printed import Layout, Origin, PageJob, ShownArtifact, TypesetJob
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.products import reports
from epsilometer_workflow.reports import layouts
from epsilometer_workflow.stages import page as stage
from epsilometer_workflow.stages import typeset
from tests.unit.stages import done

# --- the page -------------------------------------------------------------------------------------

TEMPLATE = Path(__file__).parents[2] / "workflow/report/page.html.j2"
COMMON: Common = {"seed": 2022, "scale": "smoke", "version": "0"}
BUILD = Origin(
    builder="a:b",
    options={"delta": "0.8"},
    files=[],
    tables=[],
    experiments=[],
    measured=False,
    code="0123 numpy=2.0",
)


class Page(HTMLParser):
    """The links, ids and images of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" else []
        self.images += [attributes] if tag == "img" else []

    def handle_data(self, data):
        self.text += data


def png(width: int, height: int) -> bytes:
    """Return the beginning of a PNG, up to its size."""
    return b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", width, height)


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of results with two tables and a figure."""
    monkeypatch.chdir(tmp_path)
    folder = Path("results/smoke")
    frames = {
        "fig1": pd.DataFrame(
            {"n": range(100), "paper_n": 7, "name": ["<i>laplace</i>", "<i>laplace</i> 2"] * 50}
        ).assign(epsilon=0.123456, note=None),
        "other": pd.DataFrame({"value": [0.123456789, None], "whole": [1234567, 2]}),
    }
    for name, frame in frames.items():
        file = folder / f"tables/p1/{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_table(frame, str(file), "table", identity_of(name))
    (folder / "figures/p1").mkdir(parents=True)
    (folder / "figures/p1/fig1.png").write_bytes(png(80, 40))
    return folder


def identity_of(name, **more):
    return TableIdentity(**COMMON | {"report": "p1", "artifact": name, "made_of": name} | more)


def shown(name, **more):
    about = {"figure": name == "fig1", "layout": None, "rows_shown": 40, "made": BUILD}
    about["caption"] = f"About {name} & more."
    about["command"] = f"snakemake --cores 2 --forceall results/smoke/p1/{name}"
    return ShownArtifact(**{"id": name, "identity": identity_of(name)} | about | more)


def job_of(*artifacts, opens=None):
    listed = list(artifacts or map(shown, ["fig1", "other"]))
    title = {"report": "p1", "title": "One", "template": "0"}
    return PageJob(**COMMON, **title, artifacts=listed, opens=opens)


def page_of(folder: Path, job) -> tuple[Page, str]:
    files = SimpleNamespace(
        tables=[str(folder / f"tables/p1/{about.id}.parquet") for about in job.artifacts],
        figures=[str(folder / "figures/p1/fig1.png")],
    )
    stage.run(files, str(folder / "p1.html"), str(TEMPLATE), job)
    text = (folder / "p1.html").read_text()
    return Page(text), text


def test_its_figures_are_in_it_and_it_loads_nothing_else(results):
    page, text = page_of(results, job_of())
    (image,) = page.images
    assert image["src"].startswith("data:image/png;base64,")
    assert (image["width"], image["height"]) == ("40", "20")
    assert "About fig1 & more." in image["alt"]
    assert "default-src 'none'; img-src data:" in text
    assert not re.findall(r"""(?:src|srcset|action)=["'](?!data:)|@import|url\(|https?://""", text)
    assert "<script" not in text
    assert 'class="picture"' in text
    (results / "figures/p1/fig1.png").write_bytes(png(1432, 400))
    assert 'class="picture wide"' in page_of(results, job_of())[1]


def test_links_lead_to_existing_targets(results):
    page, _ = page_of(results, job_of())
    assert len(set(page.ids)) == len(page.ids)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert {"fig1", "other"} <= inside <= set(page.ids)
    beside = {link for link in page.links if not link.startswith("#")}
    assert beside == {"tables/p1/fig1.csv", "tables/p1/other.csv"}
    assert all((results / link).with_suffix(".parquet").is_file() for link in beside)


def test_tables_have_the_papers_numbers_and_long_ones_are_cut(results):
    page, text = page_of(results, job_of())
    assert '<th scope="col" class="n theirs">paper_<wbr>n' in text
    assert text.count('<td class="n theirs">7') == 1  # as ours
    assert text.count('<td class="n theirs differs">7') == 39
    assert "0.1235" in page.text
    assert "1,234,567" in page.text
    assert "100 rows, of which the first 40 are here" in text
    assert text.count("&lt;i&gt;laplace") == 40
    assert "<i>laplace" not in text
    assert "snakemake --cores 2 --forceall results/smoke/p1/fig1" in text
    assert "In all rows: epsilon 0.1235, note none." in page.text
    assert "epsilon" not in re.findall(r"<th[^>]*>([^<]*)", text)
    assert page.text.count("In all rows") == 1  # two rows are no reason to
    assert "the numbers that the paper prints" in page.text


@pytest.mark.parametrize(
    ("theirs", "ours", "differ"),
    [
        ([0.25, 0.25, 0.25, 7.2], [0.2549, 0.2551, 0.255, 7.2], [False, True, False, False]),
        ([9, 9, 9, math.nan], [9.4, 9.6, 8.5, 3.0], [False, True, False, False]),
        ([0.3, 12.25], [0.31, 12.25], [True, False]),  # a column prints as many digits
    ],
)
def test_a_number_differs_from_the_papers_in_a_digit_that_is_printed(theirs, ours, differ):
    assert stage._differs(pd.DataFrame({"x": ours, "paper_x": theirs}), "paper_x") == differ


def test_cells_are_grouped_numbers_or_have_four_digits_and_long_texts_may_break():
    numbers = [1234567, 1e13 - 1, 1e13, 0.123456, None, True]
    shown = ["1,234,567", "9,999,999,999,999", "1e+13", "0.1235", "", "True"]
    assert list(map(stage.cell, numbers)) == shown
    texts = pd.DataFrame({"text": ["a" * 14, "a" * 15]})
    assert [kind for ((_, kind),) in stage._table(texts, 9)["table"]["rows"]] == ["", "l"]
    for rows, alike in ((2, []), (3, [("x", "1")])):  # is said once of three rows
        found = stage._table(pd.DataFrame({"x": 1, "y": range(rows)}), 9)
        assert found["alike"] == alike
        assert [head for head, _ in found["table"]["columns"]] == ["x", "y"][len(alike) :]
    assert stage._table(pd.DataFrame({"x": [1] * 3}), 9)["alike"] == []  # all of it


def test_without_a_paper_it_names_none_and_what_a_layout_shows_is_not_open_again(results):
    for cells, again in (({"value": ["v"], "whole": ["w"]}, False), ({"value": ["v"]}, True)):
        page, text = page_of(results, job_of(shown("other", layout=laid(cells=cells))))
        assert "the paper prints." not in page.text
        assert ('<details class="rows" open>' in text) == again


def test_it_opens_with_what_the_rows_of_an_artifact_say(results):
    rows = [
        ("fig1", "1 of 3 printed numbers agree", ""),
        ("fig1", "n: 56, ours 16", "the step <of the search>"),
        ("Section I", "erratum, share: 1, ours 2", ""),
    ]
    file = str(results / "tables/p1/other.parquet")
    frame = pd.DataFrame(rows, columns=["artifact", "said", "reason"])
    write_table(frame, file, "table", identity_of("other"))
    page, text = page_of(results, job_of(opens="other"))
    opening = re.search(r'<div class="about opening" id="other">(.*?)</div>', text, re.DOTALL)[1]
    assert '<b>1 of 3 printed numbers agree</b> (<a href="#fig1">all of them</a>).' in opening
    first, second = (item.strip() for item in opening.split("<li>")[1:])
    assert first.startswith('<a href="#fig1">fig1</a>: n: 56, ours 16. <i>The step &lt;of the s')
    assert second.startswith('<a href="#fig1">Section I</a>: erratum, share: 1, ours 2.')
    assert text.index("<h1>") < text.index(opening) < text.index("<article")
    assert page.ids.count("other") == 1
    assert "About other" not in page.text  # it is not shown again
    write_table(frame.head(1), file, "table", identity_of("other"))
    assert "These do not agree" not in page_of(results, job_of(opens="other"))[1]


def test_a_missing_table_or_figure_is_named_first(results):
    job = job_of()
    files = {"tables": [None, "results/smoke/tables/p1/other.parquet"], "figures": [None]}
    (results / "p1.html").write_text("of an earlier run")
    path = stage.of_what_there_is(files, str(results / "p1.html"), job, ["it & that"])
    assert path == "results/smoke/p1.incomplete.html"
    assert not (results / "p1.html").exists()
    text = Path(path).read_text()
    assert text.index("before these were made: fig1. ") < text.index("it &amp; that")
    assert text.index("it &amp; that") < text.index("About fig1")
    assert "The table was not made." in text
    files["tables"][0] = "results/smoke/tables/p1/fig1.parquet"
    stage.of_what_there_is(files, str(results / "p1.html"), job, [])
    text = Path(path).read_text()
    assert "before these were made: fig1 (its figure). " in text
    assert "100 rows, of which" in text


def test_a_table_of_another_study_or_a_damaged_figure_is_refused(results):
    other = shown("fig1", identity=identity_of("fig1", seed=1))
    with pytest.raises(DataError, match="is stale: seed is 2022, not 1"):
        page_of(results, job_of(other))
    (results / "figures/p1/fig1.png").write_bytes(b"")
    with pytest.raises(DataError, match="is not a PNG; delete it and run again"):
        page_of(results, job_of())


def test_it_needs_every_table_and_figure_and_shows_the_command_of_each(config_folder):
    study = Study("config")
    product = reports.Page(study, "gorla2022")
    shown, needs = product.job().artifacts, product.needs()
    assert len(needs["tables"]) == len(shown) > 0
    assert len(needs["figures"]) == sum(artifact.figure for artifact in shown) > 0
    for table, artifact in zip(needs["tables"], shown, strict=True):
        assert artifact.identity == table.identity()
        assert f"/{table.report}/{table.artifact}" in artifact.command
        assert "--config scale=smoke seed=2022" in artifact.command
    grids = [grid for artifact in shown for grid in artifact.made.experiments]
    search = next(grid for grid in grids if grid.experiment == "search")
    assert (search.epsilon, search.n, search.runs) == (["0.5", "2"], ["1..64"], ["2"])
    assert search.estimates == 4


# --- layouts --------------------------------------------------------------------------------------

SIZES = pd.DataFrame({"epsilon": [0.5, 0.5, 2.0, 2.0], "gamma": [1.0, 0.1, 1.0, 0.1]})
SIZES = SIZES.assign(n=[9588, 8_712_345, None, None], by=["a_b", "c&d", "a_b", "<i>"])
CELLS = {"cells": {"n": [r"$n_{\mathrm{TH}}$", "count", "Und."]}}


def laid(**entries) -> Layout:
    return parse(Layout, CELLS | entries, "here")


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
    of_one = SIZES.drop(columns=["epsilon", "n"])
    head, *rows = lines(of_one, layout)
    assert head == "by&g&by&g"
    assert rows == [r"a\_b&1.00&a\_b&1.00", r"c\&d&0.10&<i>&0.10"]
    assert "&lt;i&gt;" in layouts.hypertext(SIZES, layout)
    assert "c&amp;d" in layouts.hypertext(SIZES, layout)
    groups = laid(rows={"gamma": ["a < b^2"]}, across={"by": [""]}, leave_out={"epsilon": [0.5]})
    assert "<th>&lt;i&gt;</th>" in layouts.hypertext(SIZES, groups).replace(' halign="left"', "")
    assert "a &lt; b<sup>2</sup>" in layouts.hypertext(SIZES, groups)
    names = {"<i>": "first", "c&d": "x", "a_b": "last"}
    layout = layout.model_copy(update={"names": names, "blocks": 1})
    firsts = [line.partition("&")[0] for line in lines(of_one, layout)[1:]]
    assert firsts == ["first", "x", "last", "last"]


def test_the_last_block_may_be_shorter_and_large_counts_have_two_digits():
    table = pd.DataFrame({"n": [99_999, 100_000, 8_712_345], "g": [0.125, 0.375, 2.0]})
    table["paper_g"] = [0.13, 0.37, 2.0]  # a half may be rounded up, too
    layout = laid(cells={"n": ["n", "count"], "g": ["g", ".2f"]}, blocks=2)
    assert lines(table, layout)[1:] == ["99999&0.12&8.7e6&2.00", "1.0e5&0.38&&"]
    page = layouts.hypertext(table, layout)
    marked = re.findall(r'<span class="theirs( differs)?">([^<]*)</span>', page)
    assert sorted(marked) == [("", "0.13"), ("", "2.00"), (" differs", "0.37")]


def test_an_axis_that_varies_is_a_column_of_every_layout():
    table = SIZES.drop(columns="n")
    layout = laid(cells={"gamma": ["g"]})
    assert lines(table, layout)[:2] == [r"$\varepsilon$&g", "0.5&1"]


def test_an_axis_beside_groups_of_columns_has_a_table_for_each_value():
    """In front of them it would be a column, beside twice as many groups."""
    table = pd.concat([SIZES.assign(mechanism=name) for name in ("a_b", "c")])
    layout = laid(rows={"gamma": ["g"]}, across={"epsilon": ["e"]})
    alone = layouts.latex(SIZES, layout)
    two = f"mechanism = a\\_b\n\n{alone}\nmechanism = c\n\n{alone}"
    assert layouts.latex(table, layout) == two
    page = layouts.hypertext(table, layout)
    assert page.count("<table") == 2
    assert "<p>mechanism = c</p>" in page


def test_the_papers_numbers_stand_beside_ours_and_are_marked_where_they_differ():
    table = SIZES.assign(m=[1, 3, 5, 4], paper_n=[9588, 8_750_000, None, None])
    table = table.assign(paper_m=[1, 2, None, 4])
    cells = {"n": ["$n$", "count", "Und."], "m": ["m"]}
    layout = laid(rows={"gamma": ["g"]}, across={"epsilon": ["e"]}, cells=cells)
    page = layouts.hypertext(table, layout)
    shown = re.findall(r'<span class="theirs( differs)?">([^<]*)</span>', page)
    assert shown == [  # the paper prints none of the third row
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
    identity = identity_of("t", report="p", seed=1)
    table = str(tmp_path / "t.parquet")
    write_table(SIZES, table, "table", identity)
    files = [tmp_path / name for name in ("a.tex", "b.tex")]
    for file in files:
        done(typeset, file, TypesetJob(identity=identity, layout=laid()), table=table)
    assert files[0].read_bytes() == files[1].read_bytes()
    head = "% p/t, scale smoke, seed 1; needs booktabs\n\\begin{tab"
    assert files[0].read_text().startswith(head)
    wrong = TypesetJob(identity=identity, layout=laid(cells={"m": ["m"]}))
    with pytest.raises(ArgumentError, match="layout has no column 'm'"):
        done(typeset, tmp_path / "c.tex", wrong, table=table)
    assert not (tmp_path / "c.tex").exists()
