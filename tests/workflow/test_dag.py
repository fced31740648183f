"""The real DAG: what it makes, that it is done then, and that it is reproducible.

Tests of all reports compare with the smoke scale, the others with a study in miniature.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from epsilometer_workflow.configuration.study import Study
from tests.products import jobs_by_rule
from tests.unit.processes import until
from tests.workflow.conftest import ROOT, SMALL, Project, copy_project

PRINTED = {  # the tables and figures of the papers; a report may hold more
    "gorla2022": {*(f"table{i}" for i in range(1, 6)), "fig1", "fig2", "fig3a", "fig3b"}
    | {"fig4", "fig5", "fig6", "fig7"},
    "askin2022": {"table1", "table2", *(f"fig{i}" for i in range(1, 7))},
    "kutta2022": {"table1", "fig1", "figA"},
    "lu2022": {
        *("table1", "fig4a", "fig4b", "fig4c", "fig4d", "fig5a", "fig5b", "fig5c", "fig6a"),
        *("fig6b", "fig7", "fig8", "fig9a", "fig9b", "fig9c", "fig10", "fig11"),
    },
}
REPORTS = {
    path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / "config/reports").glob("*.yaml")
}
SMOKE = ("--config", "scale=smoke")
SCALES = ("smoke", "quick", "paper")
CONFIG = ROOT / "config"


def again(finished: Project, folder: Path) -> Project:
    """Return a copy of a finished project, with the times of its files."""
    shutil.copytree(finished.folder, folder)
    return Project(folder)


def counted(run) -> dict[str, int]:
    """Return the jobs per rule of a dry run."""
    block = run.stdout + run.stderr
    rows = re.findall(r"^(\w+) +(\d+)$", block, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in rows}


def test_every_table_and_figure_of_the_papers_is_configured():
    for paper, artifacts in PRINTED.items():
        assert artifacts <= set(REPORTS[paper]["artifacts"])


@pytest.mark.parametrize("report", sorted(REPORTS))
def test_everything_promised_is_there(finished: Project, report):
    results = finished.folder / "results" / "smoke"
    artifacts = REPORTS[report]["artifacts"]
    assert {path.stem for path in (results / "tables" / report).glob("*.csv")} == set(artifacts)
    for name, artifact in artifacts.items():
        assert (results / "tables" / report / f"{name}.parquet").is_file()
        if "figure" in artifact:
            pdf = (results / "figures" / report / f"{name}.pdf").read_bytes()
            png = (results / "figures" / report / f"{name}.png").read_bytes()
            assert pdf.startswith(b"%PDF")
            assert png.startswith(b"\x89PNG")
    page = (results / f"{report}.html").read_text()
    assert all(f'id="{name}"' in page for name in artifacts)
    assert not list(finished.folder.rglob("*.part*"))


def test_every_job_has_a_log(finished: Project):
    results = finished.folder / "results" / "smoke"
    kinds = ["samples", "losses", "confirmations", "evidence", "timings"]
    kinds += ["histograms", "densities", "verdicts"]
    for folder in [*kinds, "estimates", "summaries", "tables", "figures"]:
        outputs = {p.relative_to(results).with_suffix("") for p in (results / folder).rglob("*.*")}
        base = results / "logs"
        files = {p.relative_to(base).with_suffix("") for p in (base / folder).rglob("*")}
        assert outputs <= files, folder
    log = next((results / "logs" / "samples").rglob("*.log")).read_text()
    assert "start sample" in log
    assert re.search(r"took [0-9.]+ s, [0-9.]+ s of CPU, [0-9]+ MB", log)


def test_only_a_missing_output_file_is_made_again(miniature: Project, tmp_path):
    copy = again(miniature, tmp_path / "copy")
    assert "Nothing to be done" in copy.snakemake(*SMOKE).stderr
    base = copy.folder / "results/smoke"
    lost = ["tables/gorla2022/table1.csv", "tables/gorla2022/fig2.parquet"]
    lost += ["figures/gorla2022/fig1.png", "figures/gorla2022/fig3.pdf", "gorla2022.html"]
    for name in lost:
        (base / name).unlink()
    assert copy.snakemake(*SMOKE).returncode == 0
    assert all((base / name).is_file() for name in lost)
    assert copy.tables() == miniature.tables()


def test_after_a_kill_the_same_command_goes_on(miniature: Project, tmp_path):
    """SIGKILL of Snakemake: no lock to undo, no half file left, the same tables."""
    copy = copy_project(tmp_path, SMALL)
    # Everything, so that it still runs after the refusal, on whichever machine.
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *SMOKE]
    with subprocess.Popen(command, cwd=tmp_path, stdout=-3, stderr=-3) as process:
        assert until(lambda: list((tmp_path / "results").rglob("*.parquet")), 120)
        refused = copy.snakemake(*SMOKE)
        assert refused.returncode != 0
        assert f"another run (process {process.pid}) is at work" in refused.stderr + refused.stdout
        assert process.poll() is None
        process.kill()
    left = tmp_path / "results/smoke/samples/half.1.part.parquet"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("half-written")
    table = "results/smoke/tables/gorla2022/table3.csv"
    (tmp_path / table).unlink(missing_ok=True)  # there is something to do
    assert copy.snakemake(table, *SMOKE).returncode == 0
    assert not left.exists()
    assert (tmp_path / table).read_bytes() == (miniature.folder / table).read_bytes()


def test_tables_are_equal_for_any_cores_batches_and_order(miniature: Project, tmp_path):
    """Of every kind of reduction: a run a file, one core, and another scheduler."""
    other = copy_project(tmp_path, SMALL)
    tables = [name for name in miniature.tables() if name.endswith(".csv")]
    targets = [f"results/smoke/tables/{name}" for name in tables]
    run = other.snakemake(*targets, "--scheduler", "greedy", *SMOKE, "batch_bytes=1")
    assert run.returncode == 0, run.stderr[-3000:]
    results = other.folder / "results/smoke"
    for kind in ("samples", "confirmations", "losses"):
        assert list((results / kind).rglob("runs=1-1.parquet")), kind
    ours, theirs = other.tables(), miniature.tables()
    assert {name: ours[name] for name in tables} == {name: theirs[name] for name in tables}


def test_products_are_the_jobs_of_a_dry_run():
    """Estimates and tables are the same at every scale; only the number of draws differs."""
    plans = {scale: jobs_by_rule(Study(CONFIG, {"scale": scale})) for scale in SCALES}
    for rule in ("estimate", "summarise", "tabulate", "render", "page"):
        assert len({planned[rule] for planned in plans.values()}) == 1, rule
    assert plans["paper"].total() < 4000
    run = Project(ROOT).snakemake("-n", "--forceall", *SMOKE)
    assert run.returncode == 0, run.stderr
    planned = plans["smoke"]
    assert planned | {"all": 1, "total": planned.total() + 1} == counted(run)


def test_samples_are_temporary_where_the_scale_sets_it(tmp_path):
    """Of the study in miniature; the real one sets it at paper scale only."""
    real = yaml.safe_load((CONFIG / "config.yaml").read_text())["scales"]
    kept = {scale for scale, about in real.items() if not about["temporary_samples"]}
    assert kept == set(SCALES) - {"paper"}
    project = copy_project(tmp_path, SMALL)
    wanted = "results/smoke/estimates/truncated-laplace/epsilon=1/ends/lambda=inf/histogram-gamma=1"
    file, flag = "config/config.yaml", "smoke: {temporary_samples: "
    for n, old, new in ((64, "false", "true"), (65, "true", "false")):
        project.replace(file, f"{flag}{old}", f"{flag}{new}")
        run = project.snakemake(f"{wanted}/n={n}_runs=2.parquet", *SMOKE)
        assert run.returncode == 0, run.stderr
        samples = list((tmp_path / "results/smoke/samples").rglob("*.parquet"))
        assert bool(samples) == (new == "false")


def test_an_edit_reruns_only_the_jobs_that_use_it(finished: Project, tmp_path):
    copy = again(finished, tmp_path / "copy")
    for path in (*copy.folder.glob("src/**/*.py"), *copy.folder.glob("workflow/**/*.*")):
        path.touch()  # as in a fresh checkout
    copy.replace("config/mechanisms.yaml", "# An entry has", "# Another word. An entry has")
    copy.replace("config/reports/gorla2022.yaml", "experiments:", "# a comment\nexperiments:")
    safety = "src/epsilometer/estimators/safety.py"
    copy.replace(safety, "import numpy", "# a comment\nimport numpy")
    stage = "src/epsilometer_workflow/stages/sample.py"
    copy.replace(stage, '"""Do the job', '"""Another word. Do the job')
    supervision = "src/epsilometer_workflow/runtime/supervision.py"
    copy.replace(supervision, "import errno", "import errno\nimport cmath")
    copy.replace("src/epsilometer/estimators/__init__.py", "    {\n", "    {  # a new line\n")
    run = copy.snakemake("-n", *SMOKE)
    assert run.returncode == 0, run.stderr
    assert "Nothing to be done" in run.stdout + run.stderr

    copy.replace(safety, "import numpy", "import math\nimport numpy")
    run = copy.snakemake("-n", *SMOKE)
    jobs = counted(run)
    assert jobs["estimate"] == 26  # both checks at 13 epsilons
    assert jobs["summarise"] == 1
    assert jobs["tabulate"] == 3  # the figure's table, and the two of the scorecard
    assert not {"sample", "histogram"} & set(jobs)
    assert "params have changed since last execution" in run.stdout + run.stderr
