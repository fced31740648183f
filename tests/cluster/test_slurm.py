"""The workflow on a real SLURM cluster: jobs of every rule, the same tables, and failures.

``make test-slurm`` runs this; it is skipped, and says why, where no cluster can be brought up. What
runs is a study in miniature.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from tests.cluster.node import Cluster, cluster, missing
from tests.pages import files_of, small_study
from tests.unit.processes import until
from tests.workflow.conftest import SMALL, Project, copy_project

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"SLURM: {missing()}")
SMOKE = ("--config", "scale=smoke")
PROFILE = ("--profile", "profiles/slurm", "--seconds-between-status-checks", "2")
PROFILE += ("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5")
MERGED = ("--group-components", "chain=3", "experiment=3", "artifact=4")
RULES = ("samples", "histograms", "densities", "verdicts", "losses", "confirmations", "evidence")
RULES += ("timings", "estimates", "summaries", "tables", "figures")

FAULT = """attempts = Path(self.folder, self.kind)
        attempts.open("a").write("x")
        attempt = len(attempts.read_text())
        if self.kind == "fails" and attempt == 1:
            raise ValueError("not today")
        if self.kind in ("cancelled", "slow") and attempt == 1:
            time.sleep(600)
        if self.kind == "large":
            held = np.ones(75_000_000)
            time.sleep(1)
            del held"""  # of each kind, at its first attempts only
REQUESTED = ("JobState", "MinMemoryNode", "TimeLimit")
CHAIN, TIGHT = ("sample", "histogram"), ("runtime=attempt", "mem_mb=600*attempt")
KINDS = ("fails", "cancelled", "slow", "large")


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory):
    """A cluster of one node, for all tests; two jobs a core, as one waits while the other works."""
    with cluster(tmp_path_factory.mktemp("slurm"), cpus=2 * (os.cpu_count() or 1)) as up:
        yield up


def submit(project: Project, here: Cluster, *arguments: str) -> "subprocess.Popen[str]":
    """Start a run whose jobs go to the cluster."""
    environment = {k: v for k, v in here.environment.items() if k != "PYTHONPATH"}
    with (project.folder / "run.out").open("a") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=project.folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )


def output_of(project: Project) -> str:
    return (project.folder / "run.out").read_text()


def wait(process: "subprocess.Popen[str]", project: Project, seconds: float = 1200) -> None:
    """Wait for a run that must succeed."""
    try:
        assert process.wait(seconds) == 0, output_of(project)[-4000:]
    finally:
        process.kill()


@pytest.fixture(scope="session")
def faults(here: Cluster, tmp_path_factory: pytest.TempPathFactory):
    """A run of four mechanisms that fail at first, under way while the others run."""
    project = copy_project(tmp_path_factory.mktemp("faults"), SMALL)
    project.add_mechanism(FAULT, KINDS, folder=str(project.folder))
    target = "estimates/{}/epsilon=1/coins/lambda=inf/histogram-gamma=0.5/n=1000_runs=1.parquet"
    targets = [f"results/smoke/{target.format(kind)}" for kind in KINDS]
    process = submit(
        project,
        here,
        *targets,
        *PROFILE,
        "--slurm-keep-successful-logs",
        *("--group-components", "chain=1", "experiment=1"),
        *("--set-resources", *(f"{rule}:{limit}" for rule in CHAIN for limit in TIGHT)),
        *SMOKE,
    )
    Thread(target=cancel_the_sleeper, args=(here, project), daemon=True).start()
    yield project, process, targets
    process.kill()


@pytest.fixture(scope="session")
def everything(here: Cluster, faults, tmp_path_factory: pytest.TempPathFactory):
    """A study in miniature, of all kinds of jobs, through the cluster."""
    project = copy_project(tmp_path_factory.mktemp("everything") / "project", SMALL)
    process = submit(project, here, *PROFILE, *MERGED, "--slurm-keep-successful-logs", *SMOKE)
    wait(process, project)
    return project


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of the same study, made on this machine alone."""
    project = copy_project(tmp_path_factory.mktemp("local") / "project", SMALL)
    run = project.snakemake(*SMOKE, cores=os.cpu_count() or 1)
    assert run.returncode == 0, run.stderr[-3000:]
    return project.tables()


def cancel_the_sleeper(here: Cluster, project: Project) -> None:
    """Cancel the job whose mechanism sleeps, once it does."""
    log = (
        project.folder / "results/smoke/logs/samples/cancelled/epsilon=1/coins/n=1000/runs=0-0.log"
    )
    assert until((project.folder / "cancelled").exists, 300), output_of(project)[-4000:]
    here.ask("scancel", re.search(r"SLURM job (\d+)", log.read_text())[1])


def test_everything_ran_under_slurm(everything: Project):
    base = everything.folder / "results/smoke/logs"
    logs = list(base.rglob("*.log"))
    assert {log.relative_to(base).parts[0] for log in logs} >= set(RULES)
    jobs = {re.search(r"SLURM job (\d+) on ", log.read_text()) for log in logs}
    assert None not in jobs
    numbers = {int(job[1]) for job in jobs if job}
    kept = {int(p.stem) for p in (everything.folder / ".snakemake/slurm_logs").rglob("*.log")}
    assert numbers <= kept
    assert 8 < len(numbers) < len(logs) / 3


def test_tables_are_those_of_a_local_run(everything: Project, tables: dict[str, bytes]):
    assert len(tables) > 20
    assert everything.tables() == tables


def test_another_repository_has_the_same_bytes_there_and_here(here: Cluster, tmp_path: Path):
    """That of docs/experiments.md: a mechanism and an estimator of its own, six methods."""
    there, local = (Project(small_study(tmp_path / name)) for name in ("there", "local"))
    process = submit(there, here, "comparison", *PROFILE, *MERGED)
    run = local.snakemake("comparison", cores=os.cpu_count() or 1)
    assert run.returncode == 0, run.stderr[-3000:]
    wait(process, there)
    log = next((there.folder / "results/quick/logs/answers").rglob("*.log"))
    assert "SLURM job" in log.read_text()
    files = files_of(there.folder)
    assert "figures/comparison/methods.pdf" in files
    assert files == files_of(local.folder)
    table = pd.read_csv(there.folder / "results/quick/tables/comparison/methods.csv")
    assert len(table) == 3 * 2 * 6
    assert table["truth"].isna().all()
    assert (table["mean"] > 0).mean() > 0.8


def test_a_node_that_dies_loses_nothing(tables: dict[str, bytes], tmp_path: Path):
    """Jobs that ran on it fail with it, and run again on another."""
    project = copy_project(tmp_path / "project", SMALL)
    project.slow_down(5)
    alone = ("--group-components", "chain=1", "experiment=3")
    names = ["gorla2022/searches.csv", "gorla2022/table3.csv"]
    with cluster(tmp_path / "slurm", cpus=1, nodes=2, requeue=False) as here:
        targets = [f"results/smoke/tables/{table}" for table in names]
        run = submit(project, here, *targets, *PROFILE, *alone, *SMOKE)
        assert until(lambda: at_work(project, "node2"), 400), output_of(project)[-4000:]
        assert len(here.take_down("node2")) == 1
        wait(run, project)
        ended = here.ask("squeue", "--states=all", "--noheader", "--format=%T").split()
    assert ended.count("NODE_FAIL") == 1
    assert set(ended) == {"NODE_FAIL", "COMPLETED"}
    assert "Trying to restart job" in output_of(project)
    assert not at_work(project, "node2")
    assert not list(tmp_path.rglob("*.part.*"))
    assert {name: project.tables()[name] for name in names} == {
        name: tables[name] for name in names
    }


def at_work(project: Project, node: str) -> list[Path]:
    """Return the logs of jobs that draw, or drew, on a node."""
    logs = (project.folder / "results").rglob("logs/samples/**/*.log")
    return [log for log in logs if f" on {node})" in log.read_text()]


def test_faults_are_retried_with_more(here: Cluster, faults):
    project, process, targets = faults
    wait(process, project, 1200)
    for target in targets:
        assert len(pd.read_parquet(project.folder / target)) == 1
    attempts = {kind: len((project.folder / kind).read_text()) for kind in KINDS}
    # of two sides: one at the first attempt, both at the second
    assert attempts == dict.fromkeys(KINDS, 3)
    assert output_of(project).count("Trying to restart job") == 4
    tries = {kind: tries_of(project, here, kind) for kind in KINDS}
    assert tries["cancelled"][0].startswith("CANCELLED")
    assert tries["slow"][0].startswith("TIMEOUT")
    assert {kind: len(states) for kind, states in tries.items()} == dict.fromkeys(KINDS, 2)
    for first, second in tries.values():
        assert "MinMemoryNode=600M TimeLimit=00:02:00" in first
        assert "MinMemoryNode=1200M TimeLimit=00:04:00" in second
        assert second.startswith("COMPLETED")
    logs = "".join(p.read_text() for p in (project.folder / ".snakemake/slurm_logs").rglob("*.log"))
    assert "DUE TO TIME LIMIT" in logs
    assert "ValueError: not today" in logs


def tries_of(project: Project, here: Cluster, kind: str) -> list[str]:
    """Return state and requests of each submission that drew samples of a kind."""
    logs = sorted((project.folder / ".snakemake/slurm_logs").rglob("group_chain*/*.log"))
    numbers = sorted(int(p.stem) for p in logs if f"mechanism={kind}," in p.read_text())
    return [request(here, number) for number in numbers]


def request(here: Cluster, number: int) -> str:
    shown = here.ask("scontrol", "show", "job", str(number), "--oneliner")
    fields = {key: re.search(rf" {key}=(\S+)", shown)[1] for key in REQUESTED}
    return " ".join([fields.pop("JobState"), *(f"{key}={value}" for key, value in fields.items())])


def test_an_interrupted_run_leaves_nothing_to_the_next(here: Cluster, tmp_path: Path):
    """SIGKILL of Snakemake leaves its jobs on the cluster; the next run of the folder ends them."""
    project = copy_project(tmp_path, SMALL)
    project.slow_down(20)
    table = "results/smoke/tables/gorla2022/fig4.csv"
    first = submit(project, here, table, *PROFILE, *SMOKE)
    logs = tmp_path / "results"
    assert until(lambda: list(logs.rglob("samples/**/*.log")), 300), output_of(project)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert left_of(here, tmp_path)
    again = submit(
        project, here, "--cores", "1", "results/smoke/tables/gorla2022/table1.csv", *SMOKE
    )
    wait(again, project, 400)
    assert not left_of(here, tmp_path)
    assert not list(tmp_path.rglob("*.part.*"))


def left_of(here: Cluster, folder: Path) -> list[str]:
    """Return the jobs on the cluster that were started in a folder."""
    jobs = here.ask("squeue", "--noheader", "--format=%i %Z").splitlines()
    return [job for job in jobs if job.endswith(str(folder))]
