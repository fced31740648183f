"""The real DAG at smoke scale: what it makes, that it is done then, and that it is reproducible."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pandas as pd
import pyarrow.parquet as pq
import pytest

from epsilometer.plan import Plan
from epsilometer.study import Study
from tests.workflow.conftest import Project, copy_project

TABLES = {
    "gorla2022": {*(f"table{i}" for i in range(1, 6)), "search"},
    "askin2022": {"table1", "table2", "coverage", "data-centric"},
    "kutta2022": {"table1", "alpha_hat", "maxima"},
    "lu2022": {"table1", "verdicts", "epsilons"},
}
FIGURES = {
    "gorla2022": {"fig1", "fig2", "fig3a", "fig3b", "fig4", "fig5", "fig6", "fig7"}
    | {"impossibility"},
    "askin2022": {*(f"fig{i}" for i in range(1, 7)), "ex2"},
    "kutta2022": {"fig1", "figA", "orders"},
    "lu2022": {
        *("fig4a", "fig4b", "fig4c", "fig4d", "fig5a", "fig5b", "fig5c", "fig6a", "fig6b"),
        *("fig7", "fig8", "fig9a", "fig9b", "fig9c", "fig10", "fig11", "coins", "relative"),
    },
}
SMOKE = ("--config", "scale=smoke")


def counted(run) -> dict[str, int]:
    """Return the jobs per rule of a dry run."""
    block = run.stdout + run.stderr
    rows = re.findall(r"^(\w+) +(\d+)$", block, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in rows}


@pytest.mark.parametrize("paper", sorted(TABLES))
def test_everything_promised_is_there(finished: Project, paper):
    results = finished.folder / "results" / "smoke"
    made = {path.stem for path in (results / "tables" / paper).glob("*.csv")}
    assert made == TABLES[paper] | FIGURES[paper]
    for name in made:
        assert (results / "tables" / paper / f"{name}.parquet").is_file()
    for name in FIGURES[paper]:
        pdf = (results / "figures" / paper / f"{name}.pdf").read_bytes()
        png = (results / "figures" / paper / f"{name}.png").read_bytes()
        assert pdf.startswith(b"%PDF")
        assert png.startswith(b"\x89PNG")
    page = (results / f"{paper}.html").read_text()
    assert all(f'id="{name}"' in page for name in made)
    assert not list(finished.folder.rglob("*.part*"))


def test_every_job_has_a_log_and_a_benchmark(finished: Project):
    results = finished.folder / "results" / "smoke"
    kinds = ["samples", "losses", "confirmations", "evidence", "timings"]
    kinds += ["histograms", "densities", "verdicts"]
    for folder in [*kinds, "estimates", "summaries", "tables", "figures"]:
        made = {p.relative_to(results).with_suffix("") for p in (results / folder).rglob("*.*")}
        for kind in ("logs", "benchmarks"):
            base = results / kind
            found = {p.relative_to(base).with_suffix("") for p in (base / folder).rglob("*")}
            assert made <= found, kind
    log = next((results / "logs" / "samples").rglob("*.log")).read_text()
    assert "start sample" in log
    assert re.search(r"took [0-9.]+ s, [0-9.]+ s of CPU, [0-9]+ MB", log)


def test_samples_are_parquet_with_a_row_group_a_run_and_side(finished: Project):
    path = finished.folder / (
        "results/smoke/samples/truncated-laplace/epsilon=1/ends/n=1..16384/runs=0-4.parquet"
    )
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 10
    assert file.metadata.num_rows == 10 * 16384
    about = json.loads(file.schema_arrow.metadata[b"epsilometer"])
    assert about["mechanism"] == "truncated-laplace"
    assert about["parameters"] == {"lower": 0.0, "upper": 1.0}
    assert about["epsilon"] == 1.0
    assert about["inputs"] == {"id": "ends", "values": [0.0, 1.0]}
    assert (about["seed"], about["scale"]) == (2022, "smoke")
    assert about["version"]


def test_tables_hold_the_papers_numbers_and_every_key(finished: Project):
    tables = finished.folder / "results/smoke/tables/gorla2022"
    table3 = pd.read_csv(tables / "table3.csv")
    assert {"paper_n_th", "paper_n_pr", "paper_m", "n_th", "n_pr", "m"} <= set(table3)
    assert (table3["m"] == table3["paper_m"]).all()
    table2 = pd.read_csv(tables.parent / "askin2022/table2.csv")
    assert table2["paper_seconds"].notna().all()
    assert len(table2) == 8
    table1 = pd.read_csv(tables.parent / "kutta2022/table1.csv")
    assert table1["paper_minutes"].notna().all()
    assert len(table1) == 7
    alpha_hat = pd.read_csv(tables.parent / "kutta2022/alpha_hat.csv")
    assert alpha_hat["paper_alpha_hat"].notna().all()
    assert len(alpha_hat) == 24
    estimates = pd.read_parquet(
        finished.folder / "results/smoke/estimates/truncated-laplace/epsilon=1/ends/lambda=inf"
        "/histogram-gamma=0.5/n=1..16384_runs=5.parquet"
    )
    keys = {"mechanism", "epsilon", "inputs", "lambda", "estimator", "run", "n"}
    assert keys <= set(estimates)
    caption = json.loads(pq.read_schema(tables / "table3.parquet").metadata[b"epsilometer"])
    assert caption["caption"].startswith("Table III.")


def test_a_promised_file_that_is_gone_is_made_again(finished: Project, tmp_path):
    copy = Project(tmp_path / "copy")
    shutil.copytree(finished.folder, copy.folder)
    base = copy.folder / "results/smoke"
    lost = ["tables/gorla2022/table1.csv", "tables/gorla2022/fig2.parquet"]
    lost += ["figures/gorla2022/fig1.png", "figures/gorla2022/fig5.pdf", "gorla2022.html"]
    for name in lost:
        (base / name).unlink()
    assert copy.snakemake(*SMOKE).returncode == 0
    assert all((base / name).is_file() for name in lost)
    assert copy.tables() == finished.tables()


def test_after_a_kill_the_same_command_goes_on(finished: Project, tmp_path):
    """SIGKILL of Snakemake: no lock to undo, no half file left, the same tables."""
    copy = copy_project(tmp_path)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "gorla2022", *SMOKE]
    with subprocess.Popen(command, cwd=tmp_path, stdout=-3, stderr=-3) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.rglob("runs=0-4.parquet")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        refused = copy.snakemake(*SMOKE)
        assert refused.returncode != 0
        assert f"another run (process {process.pid}) is at work" in refused.stderr + refused.stdout
        process.kill()
    left = tmp_path / "results/smoke/samples/half.1.part.parquet"
    left.write_text("half-written")
    table = "results/smoke/tables/gorla2022/table4.csv"
    assert copy.snakemake(table, *SMOKE).returncode == 0
    assert not left.exists()
    assert (tmp_path / table).read_bytes() == (finished.folder / table).read_bytes()


def test_a_second_call_does_nothing(finished: Project):
    before = finished.tables()
    run = finished.snakemake(*SMOKE)
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr
    assert finished.tables() == before


CHOSEN = ["gorla2022/table3", "gorla2022/table4", "gorla2022/fig4", "askin2022/fig5"]
CHOSEN += [
    "askin2022/table1",
    "askin2022/fig3",
    "askin2022/ex2",
    "kutta2022/maxima",
    "lu2022/coins",
]


@pytest.mark.parametrize(
    ("cores", "batch_bytes", "scheduler"), [(1, 1, "greedy"), (4, 1_000_000, "ilp")]
)
def test_tables_are_equal_for_any_cores_batches_and_order(
    finished: Project, tmp_path, cores, batch_bytes, scheduler
):
    """Smaller batches, down to a run a file, and another scheduler also change the order."""
    other = copy_project(tmp_path)
    targets = [f"results/smoke/tables/{name}.csv" for name in CHOSEN]
    options = ("--scheduler", scheduler, *SMOKE, f"batch_bytes={batch_bytes}")
    run = other.snakemake(*targets, *options, cores=cores)
    assert run.returncode == 0, run.stderr[-3000:]
    results = other.folder / "results/smoke"
    for kind in ("samples", "confirmations", "losses"):
        assert list((results / kind).rglob("runs=1-1.parquet")), kind
    ours, theirs = other.tables(), finished.tables()
    assert {f"{name}.csv" for name in CHOSEN} <= set(ours)
    assert ours == {name: theirs[name] for name in ours}


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_the_plan_lists_what_snakemake_would_run(project: Project, scale):
    jobs = counted(project.snakemake("-n", "--config", f"scale={scale}"))
    planned = Plan(Study(project.folder / "config", {"scale": scale})).totals()
    assert {rule: total.jobs for rule, total in planned.items()} | {"all": 1} == {
        rule: count for rule, count in jobs.items() if rule != "total"
    }


def test_the_plan_as_a_user_asks_for_it(project: Project):
    def plan(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "epsilometer.plan", *arguments],
            cwd=project.folder,
            env={**os.environ, "PYTHONPATH": str(project.folder / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    before = sorted(project.folder.rglob("*.yaml"))
    said = plan("--scale", "paper", "--fold", "10", "--cores", "100").stdout
    assert re.search(r"^sample +8490 ", said, flags=re.MULTILINE)
    assert said.strip().endswith("samples are deleted as they are read")
    assert not (project.folder / "results").exists()
    assert sorted(project.folder.rglob("*.yaml")) == before
    none = plan("--cores", "0")
    assert (none.returncode, none.stderr.count("\n")) == (1, 1)
    assert "--cores must be" in none.stderr
    wrong = plan("--scale", "papr")
    assert wrong.returncode == 1
    assert wrong.stderr.strip().endswith("unknown scale 'papr'; did you mean 'paper'?")


@pytest.mark.parametrize("scale", ["smoke", "quick", "paper"])
def test_every_scale_has_the_same_shape(project: Project, scale):
    run = project.snakemake("-n", "--config", f"scale={scale}")
    assert run.returncode == 0, run.stderr
    jobs = counted(run)
    assert jobs["total"] < 3000
    for rule, count in [("estimate", 263), ("summarise", 34), ("tabulate", 53), ("render", 37)]:
        assert jobs[rule] == count


def test_samples_are_temporary_at_paper_scale_only(project: Project):
    wanted = "estimates/truncated-laplace/epsilon=1/ends/lambda=inf/histogram-gamma=1"
    scale_file = "config/scales/paper.yaml"
    project.replace(scale_file, "search-1: {runs: 100, n: 1..8388608}", "search-1: {runs: 2, n: 9}")
    for scale, kept in [("paper", False), ("smoke", True)]:
        target = f"results/{scale}/{wanted}/n=64_runs=2.parquet"
        run = project.snakemake(target, "--config", f"scale={scale}")
        assert run.returncode == 0, run.stderr
        samples = list((project.folder / "results" / scale / "samples").rglob("*.parquet"))
        assert bool(samples) == kept


def test_one_paper_can_be_asked_for(project: Project):
    for paper in TABLES:
        run = project.snakemake("-n", paper, *SMOKE)
        assert run.returncode == 0
        assert counted(run)["page"] == 1


def test_any_combination_can_be_asked_for_by_path(project: Project):
    """Also one that is in no configured grid: another epsilon, order, size, mechanism."""
    for target in [
        "truncated-gaussian/epsilon=0.75/ends/lambda=3.5/histogram-gamma=1/n=5000_runs=3",
        "randomized-response-5/epsilon=1/all/lambda=inf/histogram-gamma=0.5/n=1..1000_runs=2",
        "noisy-sum-gaussian/epsilon=0.2/first-person/lambda=5/renyi-bound-draws=50/n=9000_runs=2",
        "gaussian/epsilon=3/distance=1/lambda=inf/clopper-pearson-floor=0.001/n=2000+500_runs=2",
    ]:
        path = f"results/smoke/estimates/{target}.parquet"
        run = project.snakemake(path, *SMOKE)
        assert run.returncode == 0, run.stderr
        assert len(pd.read_parquet(project.folder / path)) > 0


def test_an_edit_reruns_what_uses_it_and_nothing_else(finished: Project, tmp_path):
    copy = Project(tmp_path / "copy")
    shutil.copytree(finished.folder, copy.folder)  # times stay as they were
    assert "Nothing to be done" in dry(copy)

    copy.replace("config/mechanisms.yaml", "# id: a registered", "# Another word. id: a registered")
    copy.replace("config/papers/gorla2022.yaml", "experiments:", "# a comment\nexperiments:")
    assert "Nothing to be done" in dry(copy)

    copy.replace("src/epsilometer/estimators/safety.py", "import numpy", "# edited\nimport numpy")
    jobs = counted(copy.snakemake("-n", *SMOKE))
    assert jobs["estimate"] == 26  # both checks at 13 epsilons
    assert jobs["summarise"] == 1
    assert jobs["tabulate"] == 1
    assert not {"sample", "histogram"} & set(jobs)

    copy.replace("src/epsilometer/estimators/__init__.py", "    {\n", "    {  # a new line\n")
    assert counted(copy.snakemake("-n", *SMOKE)) == jobs


def test_an_edit_of_the_bound_redraws_nothing(finished: Project, tmp_path):
    """Its confidence is a parameter of the last step alone."""
    copy = Project(tmp_path / "copy")
    shutil.copytree(finished.folder, copy.folder)
    after = "mpl-floor=0.0001:\n  estimator: mpl\n  parameters: {after: local-loss-floor=0.0001, "
    copy.replace("config/estimators.yaml", after + "alpha: 0.05}", after + "alpha: 0.1}")
    jobs = counted(copy.snakemake("-n", *SMOKE))
    assert jobs["estimate"] == 12  # four variants at three levels
    assert not {"sample", "screen", "confirm", "weigh", "histogram"} & set(jobs)

    bounds = "src/epsilometer/estimators/lower_bounds.py"
    copy.replace(bounds, "import math", "# edited\nimport math")
    jobs = counted(copy.snakemake("-n", *SMOKE))
    assert jobs["weigh"] == 31
    assert not {"sample", "screen", "confirm", "histogram"} & set(jobs)

    copy.replace(
        "src/epsilometer/estimators/renyi_bound.py", "import math", "# edited\nimport math"
    )
    jobs = counted(copy.snakemake("-n", *SMOKE))
    assert jobs["time"] == 3
    assert not {"sample", "density"} & set(jobs)


def dry(project: Project) -> str:
    run = project.snakemake("-n", *SMOKE)
    assert run.returncode == 0, run.stderr
    return run.stdout + run.stderr


def test_another_seed_gives_other_tables(finished: Project, tmp_path):
    other = copy_project(tmp_path)
    table = "results/smoke/tables/gorla2022/table4.csv"
    assert other.snakemake(table, *SMOKE, "seed=1").returncode == 0
    assert (other.folder / table).read_bytes() != (finished.folder / table).read_bytes()
    # and back: the seed is part of a job's identity, so that nothing stale is used
    assert other.snakemake(table, *SMOKE).returncode == 0
    assert (other.folder / table).read_bytes() == (finished.folder / table).read_bytes()
