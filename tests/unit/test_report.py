"""The page of a report: its figures, its tables and its links."""

import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from epsilometer.errors import DataError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.products import reports
from epsilometer_workflow.stages import page as stage

TEMPLATE = Path(__file__).parents[2] / "workflow/report/page.html.j2"
COMMON = {"seed": 2022, "scale": "smoke", "version": "0"}
BUILD = {
    **{"builder": "a:b", "options": {"delta": "0.8"}, "files": [], "tables": []},
    **{"experiments": [], "measured": False, "code": "0123 numpy=2.0"},
}


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
        write_table(frame, str(file), "table", COMMON | {"made_of": name})
    (folder / "figures/p1").mkdir(parents=True)
    (folder / "figures/p1/fig1.png").write_bytes(png(80, 40))
    return folder


def spec_of():
    artifacts = [
        {
            **{"id": name, "identity": COMMON | {"made_of": name}, "figure": name == "fig1"},
            **{"caption": f"About {name} & more.", "layout": None, "rows_shown": 40, "made": BUILD},
            "command": f"snakemake --cores 2 --forceall results/smoke/p1/{name}",
        }
        for name in ("fig1", "other")
    ]
    return {**COMMON, "report": "p1", "title": "One", "artifacts": artifacts}


def page_of(folder: Path, spec) -> tuple[Page, str]:
    files = SimpleNamespace(
        tables=[str(folder / f"tables/p1/{about['id']}.parquet") for about in spec["artifacts"]],
        figures=[str(folder / "figures/p1/fig1.png")],
    )
    stage.run(files, str(folder / "p1.html"), str(TEMPLATE), spec)
    text = (folder / "p1.html").read_text()
    return Page(text), text


def test_its_figures_are_in_it_and_it_loads_nothing_else(results):
    page, text = page_of(results, spec_of())
    (image,) = page.images
    assert image["src"].startswith("data:image/png;base64,")
    assert (image["width"], image["height"]) == ("40", "20")
    assert "About fig1 & more." in image["alt"]
    assert "default-src 'none'; img-src data:" in text
    assert not re.findall(r"""(?:src|srcset|action)=["'](?!data:)|@import|url\(|https?://""", text)
    assert "<script" not in text


def test_links_lead_to_existing_targets(results):
    page, _ = page_of(results, spec_of())
    assert len(set(page.ids)) == len(page.ids)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert {"fig1", "other"} <= inside <= set(page.ids)
    beside = {link for link in page.links if not link.startswith("#")}
    assert beside == {"tables/p1/fig1.csv", "tables/p1/other.csv"}
    assert all((results / link).with_suffix(".parquet").is_file() for link in beside)


def test_tables_have_the_papers_numbers_and_long_ones_are_cut(results):
    page, text = page_of(results, spec_of())
    assert '<th scope="col" class="n theirs">paper_<wbr>n' in text
    assert "0.1235" in page.text
    assert "1,234,567" in page.text
    assert "100 rows, of which the first 40 are here" in text
    assert text.count("&lt;i&gt;laplace") == 40
    assert "<i>laplace" not in text
    assert "snakemake --cores 2 --forceall results/smoke/p1/fig1" in text
    assert "In all rows: epsilon 0.1235, note none." in page.text
    assert "epsilon" not in re.findall(r"<th[^>]*>([^<]*)", text)
    assert page.text.count("In all rows") == 1  # two rows are no reason to


def test_a_missing_table_or_figure_is_named_first(results):
    spec = spec_of()
    files = {"tables": [None, "results/smoke/tables/p1/other.parquet"], "figures": [None]}
    (results / "p1.html").write_text("of an earlier run")
    path = stage.of_what_there_is(files, str(results / "p1.html"), spec, ["it & that"])
    assert path == "results/smoke/p1.incomplete.html"
    assert not (results / "p1.html").exists()
    text = Path(path).read_text()
    assert text.index("before these were made: fig1. ") < text.index("it &amp; that")
    assert text.index("it &amp; that") < text.index("About fig1")
    assert "The table was not made." in text
    files["tables"][0] = "results/smoke/tables/p1/fig1.parquet"
    stage.of_what_there_is(files, str(results / "p1.html"), spec, [])
    text = Path(path).read_text()
    assert "before these were made: fig1 (its figure). " in text
    assert "100 rows, of which" in text


def test_a_table_of_another_study_or_a_damaged_figure_is_refused(results):
    spec = spec_of()
    spec["artifacts"][0]["identity"] |= {"seed": 1}
    with pytest.raises(DataError, match="is stale: seed is 2022, not 1"):
        page_of(results, spec)
    (results / "figures/p1/fig1.png").write_bytes(b"")
    with pytest.raises(DataError, match="is not a PNG; delete it and run again"):
        page_of(results, spec_of())


def test_it_needs_every_table_and_figure_and_shows_the_command_of_each(config_folder):
    study = Study("config")
    product = reports.Page(study, "gorla2022")
    shown, needs = product.spec()["artifacts"], product.needs()
    assert len(needs["tables"]) == len(shown) > 0
    assert len(needs["figures"]) == sum(artifact["figure"] for artifact in shown) > 0
    for table, artifact in zip(needs["tables"], shown, strict=True):
        assert artifact["identity"]["made_of"] == table.spec()["identity"]["made_of"]
        assert f"/{table.report}/{table.artifact}" in artifact["command"]
        assert "--config scale=smoke seed=2022" in artifact["command"]
    grids = [grid for artifact in shown for grid in artifact["made"]["experiments"]]
    search = next(grid for grid in grids if grid["experiment"] == "search")
    assert (search["epsilon"], search["n"], search["runs"]) == (["0.5", "2"], ["1..64"], ["2"])
    assert search["estimates"] == 4
