"""The page of all reports: its counts, its figures, its links, and lists of missing tables."""

import json
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from epsilometer.errors import DataError
from epsilometer_workflow.configuration import paths
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
    """The links, images and scripts of a page, and the text of its body."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str]] = []
        self.scripts, self.text = 0, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" else []
        self.images += [attributes] if tag == "img" else []
        self.scripts += tag == "script"

    def handle_data(self, data):
        self.text += data


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = zlib.compress(b"".join(b"\0" + b"\xff" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of results with two reports, three tables and a figure."""
    monkeypatch.chdir(tmp_path)
    folder = Path("results/smoke")
    frames = {
        "p2/table": pd.DataFrame({"n": [1]}),
        "p1/fig1": pd.DataFrame({"n": range(100), "paper_n": 7, "name": "<i>laplace</i>"}),
        "p1/other": pd.DataFrame({"value": [0.123456789, None], "whole": [1234567, 2]}),
    }
    for place, frame in frames.items():
        name = folder / f"tables/{place}.parquet"
        name.parent.mkdir(parents=True, exist_ok=True)
        write_table(frame, str(name), "table", COMMON | {"made_of": place})
    (folder / "figures/p1").mkdir(parents=True)
    (folder / "figures/p1/fig1.png").write_bytes(png(80, 40))
    return folder


def spec_of(folder: Path, **more):
    def artifact(place: str, *, figure: bool = False):
        name = place.partition("/")[2]
        shown = {"id": name, "caption": f"About {name} & more.", "figure": figure, "rows_shown": 40}
        command = f"snakemake --cores 2 --forceall results/smoke/{place}"
        return {
            **shown,
            "identity": COMMON | {"made_of": place},
            "made": BUILD,
            "command": command,
        }

    nothing = {"files": {}, "command": "make it"}
    return {
        **COMMON,
        "reports": [
            {"id": "a-card", "title": "Other", "artifacts": []},
            {"id": "p1", "title": "One", "artifacts": [artifact("p1/fig1", figure=True)]},
        ],
        "beside": {"audits": nothing, "museum": nothing, "census": nothing, "benchmark": nothing},
        **more,
    }


def page_of(folder: Path, spec) -> Page:
    places = [a["identity"]["made_of"] for report in spec["reports"] for a in report["artifacts"]]
    figures = [
        a["identity"]["made_of"] for r in spec["reports"] for a in r["artifacts"] if a["figure"]
    ]
    files = SimpleNamespace(
        tables=[str(folder / f"tables/{place}.parquet") for place in places],
        figures=[str(folder / f"figures/{place}.png") for place in figures],
    )
    stage.run(files, str(folder / "report.html"), str(TEMPLATE), spec)
    return Page((folder / "report.html").read_text())


def with_others(folder: Path):
    spec = spec_of(folder)
    artifact = {
        "id": "table",
        "caption": "All.",
        "figure": False,
        "rows_shown": 1000,
        "made": BUILD,
    }
    artifact |= {"identity": COMMON | {"made_of": "p2/table"}, "command": "c"}
    spec["reports"][0] = {"id": "p2", "title": "Two", "artifacts": [artifact]}
    other = spec["reports"][1]["artifacts"][0]
    identity = COMMON | {"made_of": "p1/other"}
    spec["reports"][1]["artifacts"].append(
        {**other, "id": "other", "figure": False, "identity": identity}
    )
    return spec


def test_its_figures_are_in_it_and_it_loads_nothing_else(results):
    page = page_of(results, spec_of(results))
    (image,) = page.images
    assert image["src"].startswith("data:image/png;base64,")
    assert (image["width"], image["height"]) == ("40", "20")
    assert "About fig1 & more." in image["alt"]
    text = (results / "report.html").read_text()
    assert "default-src 'none'; img-src data:" in text
    assert not re.findall(r"""(?:src|srcset|action)=["'](?!data:)|@import|url\(|https?://""", text)
    assert page.scripts == 1


def test_links_lead_to_existing_targets(results):
    page = page_of(results, with_others(results))
    assert len(set(page.ids)) == len(page.ids)
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert {"p1/fig1", "p1/other", "p2/table"} <= set(inside) <= set(page.ids)
    beside = {link for link in page.links if not link.startswith("#")}
    assert beside == {f"tables/{n}.csv" for n in ("p2/table", "p1/fig1", "p1/other")}


def test_long_tables_are_cut_with_a_note(results):
    page_of(results, spec_of(results))
    text = (results / "report.html").read_text()
    assert "100 rows, of which the first 40 are here" in text
    assert text.count("&lt;i&gt;laplace") == 40
    assert "<i>laplace" not in text
    assert "snakemake --cores 2 --forceall results/smoke/p1/fig1" in text


def test_missing_artifacts_are_listed_with_their_commands(results):
    page = page_of(results, spec_of(results))
    assert page.text.count("It was not made at this scale.") == 4


def audited(results: Path, identity) -> dict[str, dict[str, object]]:
    frame = pd.DataFrame(
        {
            **{"audit": ["coin", "die"], "claim": "epsilon 1", "verdict": ["violated", "holds"]},
            **{"as_expected": ["no", None], "bound": [1.25, None], "error": None, "seed": 3},
        }
    )
    (results / "audits").mkdir()
    write_table(frame, str(results / "audits/mine.parquet"), "table", identity)
    (results / "audits/mine.csv").write_text("")
    (results / "audits/mine.html").write_text("")
    files = {str(results / "audits/mine.csv"): "digest"}
    nothing = {"files": {}, "command": "make it"}
    return {
        "audits": {"files": files, "command": "c"},
        "museum": nothing,
        "census": nothing,
        "benchmark": nothing,
    }


def test_audits_are_shown_where_they_are(results):
    page = page_of(results, spec_of(results, beside=audited(results, COMMON)))
    assert "2 verdicts, 1 not as expected." in page.text
    assert {"audits/mine.csv", "audits/mine.html"} <= set(page.links)
    assert page.text.count("It was not made at this scale.") == 3
    text = (results / "report.html").read_text()
    assert re.search(r'data-verdict="violated">.*?<span class="word bad">violated', text)
    assert '<th scope="col" class="">error' not in text  # a column without a word in it


def test_audits_of_another_seed_are_not_shown(results):
    page = page_of(results, spec_of(results, beside=audited(results, COMMON | {"seed": 1})))
    assert "is stale: seed is 1, not 2022" in page.text
    assert "coin" not in page.text


def test_a_table_of_another_study_is_refused(results):
    spec = spec_of(results)
    spec["reports"][1]["artifacts"][0]["identity"] |= {"seed": 1}
    with pytest.raises(DataError, match="is stale: seed is 2022, not 1"):
        page_of(results, spec)


LOG = """2026-01-02 03:04:0{at},000 start {rule} smoke x
2026-01-02 03:05:0{at},000 took {wall} s, {cpu} s of CPU, {memory} MB
"""


def test_times_of_jobs_are_read_from_their_logs(results):
    logs = results / "logs"
    jobs = [("sample", 1.0, 0.5, 100), ("sample", 3.0, 2.5, 300), ("sample", 9.0, 1.0, 200)]
    for at, (rule, wall, cpu, memory) in enumerate([*jobs, ("page", 0.5, 0.25, 50)]):
        (logs / rule / f"{at}.log").parent.mkdir(parents=True, exist_ok=True)
        text = LOG.format(at=at, rule=rule, wall=wall, cpu=cpu, memory=memory)
        (logs / rule / f"{at}.log").write_text(text)
    (logs / "running.log").write_text("2026-01-02 03:04:00,000 start sample smoke y\n")
    (logs / "begins-anew.log").symlink_to("just-deleted")  # listed, and then deleted
    rows = stage.took(logs)
    assert [row["rule"] for row in rows] == ["sample", "page"]
    assert rows[0] == {
        **{"rule": "sample", "jobs": 3, "seconds": 13.0, "cpu": 4.0},
        **{"median": 3.0, "longest": 9.0, "megabytes": 300.0},
    }
    assert stage.total(rows)["jobs"] == 4
    assert stage.total([]) == dict.fromkeys(["jobs", "seconds", "cpu", "longest", "megabytes"], 0)
    page = page_of(results, spec_of(results))
    assert "From the logs of 4 jobs" in page.text
    assert "begun 2026-01-02 03:04" in page.text


def test_it_is_made_again_when_a_page_beside_it_is(config_folder):
    study = Study("config")
    product = reports.Page(study, reports.EVERY)
    before = product.spec()
    assert {name: entry["files"] for name, entry in before["beside"].items()} == {
        **{"audits": {}, "museum": {}, "census": {}, "benchmark": {}}
    }
    museum = Path(paths.COLLECTION.format(scale=study.scale, collection="museum"))
    museum.parent.mkdir(parents=True)
    museum.write_text("verdict\n")
    first = reports.Page(study, reports.EVERY).spec()
    assert list(first["beside"]["museum"]["files"]) == [str(museum)]
    museum.write_text("verdict\nviolated\n")
    assert (
        len(
            {
                json.dumps(spec)
                for spec in (before, first, reports.Page(study, reports.EVERY).spec())
            }
        )
        == 3
    )


def test_it_needs_every_table_and_figure_and_shows_the_command_of_each(config_folder):
    study = Study("config")
    product = reports.Page(study, reports.EVERY)
    shown = [artifact for about in product.spec()["reports"] for artifact in about["artifacts"]]
    needs = product.needs()
    assert len(needs["tables"]) == len(shown) > 3
    assert len(needs["figures"]) == sum(artifact["figure"] for artifact in shown) > 0
    for table, artifact in zip(needs["tables"], shown, strict=True):
        assert artifact["identity"]["made_of"] == table.spec()["identity"]["made_of"]
        path = f"/{table.report}/{table.artifact}"
        assert path in artifact["command"]
        assert "--config scale=smoke seed=2022" in artifact["command"]
    grids = [grid for artifact in shown for grid in artifact["made"]["experiments"]]
    search = next(grid for grid in grids if grid["experiment"] == "search")
    assert (search["epsilon"], search["n"], search["runs"]) == (["0.5", "2"], ["1..64"], ["2"])
    assert search["estimates"] == 4
