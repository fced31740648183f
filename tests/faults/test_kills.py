"""Twenty kills at random moments: the same command goes on, and the tables are the same bytes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from epsilometer_workflow.runtime.variables import RUN
from tests.unit.processes import until
from tests.workflow.conftest import Project, copy_project

SMOKE = ("--config", "scale=smoke")
KINDS = ("snakemake", "group", "job", "interrupt", "terminate")
KILLS = 20
TERMINAL = ("env", "--default-signal=INT")  # which a shell's background jobs ignore


def start(project: Project) -> "subprocess.Popen[bytes]":
    """Start a run on two cores, in a process group of its own, as a terminal would."""
    with (project.folder / "run.out").open("ab") as out:
        return subprocess.Popen(
            [*TERMINAL, sys.executable, "-m", "snakemake", "--cores", "2", *SMOKE],
            cwd=project.folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def jobs_of(run: int) -> list[int]:
    """Return the processes that were started by a run's jobs."""
    pids = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{RUN}={run}".encode() in environment.read_bytes().split(b"\0"):
                pids.append(int(environment.parent.name))
        except OSError:
            continue
    return [pid for pid in pids if pid != run]


def strike(kind: str, process: "subprocess.Popen[bytes]", rng: random.Random) -> None:
    """Disturb a run, and wait until it is over."""
    if kind == "snakemake":
        process.kill()
    elif kind == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif kind == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    elif kind == "terminate":
        process.terminate()
    else:
        jobs = jobs_of(process.pid)
        with suppress(ProcessLookupError):
            if jobs:
                os.kill(rng.choice(jobs), signal.SIGKILL)
        time.sleep(rng.uniform(0, 2))
        process.kill()
    process.wait(60)


def none_left(run: int) -> bool:
    return until(lambda: not jobs_of(run), 5)


def test_any_kill_is_resumed(whole: Project, tmp_path: Path):
    project = copy_project(tmp_path)
    rng = random.Random(20)
    kinds = rng.sample(KINDS * (KILLS // len(KINDS)), KILLS)
    while kinds:
        process = start(project)
        time.sleep(rng.uniform(0.5, 16))
        if process.poll() is None:
            strike(kinds.pop(), process, rng)
        else:  # a fast machine is done; go on from nothing
            shutil.rmtree(tmp_path / "results")
        assert none_left(process.pid)
    assert start(project).wait(600) == 0, (tmp_path / "run.out").read_text()[-3000:]
    assert project.tables() == whole.tables()
    assert not list((tmp_path / "results").rglob("*.part.*"))
    output = (tmp_path / "run.out").read_text()
    assert "LockException" not in output
    assert "IncompleteFilesException" not in output
    assert "Nothing to be done" in project.snakemake(*SMOKE).stderr


@pytest.mark.parametrize("kind", ["snakemake", "group"])
def test_no_orphan_writes_into_the_next_run(tmp_path: Path, kind: str):
    """A slow job of a killed run is gone before the next run asks for the same file."""
    project = copy_project(tmp_path)
    project.slow_down(3)
    process = start(project)
    assert until(lambda: list((tmp_path / "results").rglob("*.part.*")), 60)
    strike(kind, process, random.Random(0))
    assert none_left(process.pid)
    before = states(tmp_path / "results")
    time.sleep(8)
    assert states(tmp_path / "results") == before


def states(folder: Path) -> dict[Path, os.stat_result]:
    return {path: path.stat() for path in folder.rglob("*") if path.is_file()}
