"""The page of a report: figures within, links that lead somewhere, the paper's numbers beside."""

import math
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from epsilometer.errors import DataError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.identities import TableIdentity
from epsilometer_workflow.files.printed import Layout, Origin, PageJob, ShownArtifact
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.products import reports
from epsilometer_workflow.stages import page as stage
from tests.unit.stages import COMMON

TEMPLATE = Path(__file__).parents[4] / "workflow/report/page.html.j2"
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

    def __init__(self, source: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str]] = []
        self.text = ""
        self.source = source
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "img":
            self.images.append(attributes)

    def handle_data(self, data):
        self.text += data


def png(width: int, height: int) -> bytes:
    """Return the beginning of a PNG, up to its size."""
    return b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", width, height)


FIG1 = pd.DataFrame({"n": range(100), "paper_n": 7, "epsilon": 0.123456, "note": None})
FIG1["name"] = ["<i>laplace</i>", "<i>laplace</i> 2"] * 50
OTHER = pd.DataFrame({"value": [0.123456789, None], "whole": [1234567, 2]})


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of results with two tables and a figure."""
    monkeypatch.chdir(tmp_path)
    folder = Path("results/smoke")
    (folder / "tables/p1").mkdir(parents=True)
    (folder / "figures/p1").mkdir(parents=True)
    write("fig1", FIG1)
    write("other", OTHER)
    (folder / "figures/p1/fig1.png").write_bytes(png(80, 40))
    return folder


def write(name, table):
    write_table(table, f"results/smoke/tables/p1/{name}.parquet", "table", identity_of(name))


def identity_of(name, **more):
    return TableIdentity(**COMMON | {"report": "p1", "artifact": name, "made_of": name} | more)


def shown(name, **more):
    about = {"figure": name == "fig1", "layout": None, "rows_shown": 40, "made": BUILD}
    about |= {"caption": f"About {name} & more.", "command": f"snakemake {name}"}
    return ShownArtifact(**{"id": name, "identity": identity_of(name)} | about | more)


def job_of(*artifacts, opens=None):
    listed = list(artifacts or map(shown, ["fig1", "other"]))
    title = {"report": "p1", "title": "One", "template": "0"}
    return PageJob(**COMMON, **title, artifacts=listed, opens=opens)


def page_of(folder: Path, *artifacts, opens=None) -> Page:
    job = job_of(*artifacts, opens=opens)
    files = SimpleNamespace(
        tables=[str(folder / f"tables/p1/{about.id}.parquet") for about in job.artifacts],
        figures=[str(folder / "figures/p1/fig1.png")],
    )
    stage.run(files, str(folder / "p1.html"), str(TEMPLATE), job)
    return Page((folder / "p1.html").read_text())


def test_its_figures_are_in_it_and_it_loads_nothing_else(results):
    page = page_of(results)
    (image,) = page.images
    assert image["src"].startswith("data:image/png;base64,")
    assert (image["width"], image["height"]) == ("40", "20")
    assert "About fig1 & more." in image["alt"]
    assert "default-src 'none'; img-src data:" in page.source
    loaded = r"""(?:src|srcset|action)=["'](?!data:)|@import|url\(|https?://|<script"""
    assert not re.findall(loaded, page.source)
    assert 'class="picture"' in page.source
    (results / "figures/p1/fig1.png").write_bytes(png(1432, 400))
    assert 'class="picture wide"' in page_of(results).source


def test_links_lead_to_existing_targets(results):
    page = page_of(results)
    assert len(set(page.ids)) == len(page.ids)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert {"fig1", "other"} <= inside <= set(page.ids)
    beside = {link for link in page.links if not link.startswith("#")}
    assert beside == {"tables/p1/fig1.csv", "tables/p1/other.csv"}


def test_tables_have_the_papers_numbers_and_long_ones_are_cut(results):
    page = page_of(results)
    assert '<th scope="col" class="n theirs">paper_<wbr>n' in page.source
    assert page.source.count('<td class="n theirs">7') == 1  # as ours
    assert page.source.count('<td class="n theirs differs">7') == 39
    assert "100 rows, of which the first 40 are here" in page.source
    assert page.source.count("&lt;i&gt;laplace") == 40
    assert "<i>laplace" not in page.source
    for said in ("0.1235", "1,234,567", "snakemake fig1", "the numbers that the paper prints"):
        assert said in page.text


def test_what_is_alike_in_three_rows_or_more_is_said_once(results):
    page = page_of(results)
    assert "In all rows: epsilon 0.1235, note none." in page.text
    assert page.text.count("In all rows") == 1
    for rows, alike in ((2, []), (3, [("x", "1")])):
        found = stage._table(pd.DataFrame({"x": 1, "y": range(rows)}), 9)
        assert found["alike"] == alike
        assert [head for head, _ in found["table"]["columns"]] == ["x", "y"][len(alike) :]
    assert stage._table(pd.DataFrame({"x": [1] * 3}), 9)["alike"] == []  # all of it


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


@pytest.mark.parametrize(("names", "again"), [(["value", "whole"], False), (["value"], True)])
def test_rows_are_open_unless_a_layout_shows_all_of_them(results, names, again):
    layout = Layout(cells={name: [name] for name in names})
    page = page_of(results, shown("other", layout=layout))
    assert "the paper prints." not in page.text  # of no paper
    assert ('<details class="rows" open>' in page.source) == again


def test_it_opens_with_what_the_rows_of_an_artifact_say(results):
    rows = [
        ("fig1", "1 of 3 printed numbers agree", ""),
        ("fig1", "n: 56, ours 16", "the step <of the search>"),
        ("Section I", "erratum, share: 1, ours 2", ""),
    ]
    frame = pd.DataFrame(rows, columns=["artifact", "said", "reason"])
    write("other", frame)
    page = page_of(results, opens="other")
    pattern = r'<h1>.*<div class="about opening" id="other">(.*?)</div>.*<article'
    opening = re.search(pattern, page.source, re.DOTALL)[1]
    assert '<b>1 of 3 printed numbers agree</b> (<a href="#fig1">all of them</a>).' in opening
    first, second = (item.strip() for item in opening.split("<li>")[1:])
    assert first.startswith('<a href="#fig1">fig1</a>: n: 56, ours 16. <i>The step &lt;of the s')
    assert second.startswith('<a href="#fig1">Section I</a>: erratum, share: 1, ours 2.')
    assert page.ids.count("other") == 1
    assert "About other" not in page.text  # it is not shown again
    write("other", frame.head(1))
    assert "These do not agree" not in page_of(results, opens="other").source


def test_a_missing_table_or_figure_is_named_first(results):
    files = {"tables": [None, "results/smoke/tables/p1/other.parquet"], "figures": [None]}
    whole = results / "p1.html"
    whole.write_text("of an earlier run")
    path = stage.of_what_there_is(files, str(whole), job_of(), ["it & that"])
    assert path == "results/smoke/p1.incomplete.html"
    assert not whole.exists()
    said = "before these were made: fig1. .*it &amp; that.*About fig1.*The table was not made."
    assert re.search(said, Path(path).read_text(), re.DOTALL)
    files["tables"][0] = "results/smoke/tables/p1/fig1.parquet"
    stage.of_what_there_is(files, str(whole), job_of(), [])
    said = r"before these were made: fig1 \(its figure\). .*100 rows, of which"
    assert re.search(said, Path(path).read_text(), re.DOTALL)


def test_a_table_of_another_study_or_a_damaged_figure_is_refused(results):
    with pytest.raises(DataError, match="is stale: seed is 3, not 1"):
        page_of(results, shown("fig1", identity=identity_of("fig1", seed=1)))
    (results / "figures/p1/fig1.png").write_bytes(b"")
    with pytest.raises(DataError, match="is not a PNG; delete it and run again"):
        page_of(results)


def test_it_needs_every_table_and_figure_and_shows_the_command_of_each(config_folder):
    product = reports.Page(Study("config"), "gorla2022")
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
