"""Jobs that are kept, and may name a substitute for their outputs."""

import os
import sys
from pathlib import Path

import pytest

from epsilometer_workflow.runtime.variables import RUN
from tests.unit.processes import ran

KEPT = """
import ctypes, os, pathlib, signal, sys, time
from types import SimpleNamespace
from epsilometer_workflow.runtime.supervision import kept
snakemake = SimpleNamespace(
    log=["results/smoke/logs/made.log"], rule="audit", wildcards=["one"], output=["made.csv"],
    resources={{"runtime": 0.001, "mem_mb": 1}},
)
def stopped(cause):
    {stopped}
with kept(snakemake, stopped) as progress:
    {body}
"""
WRITES = "pathlib.Path('made.csv').write_text(cause)"


def kept(folder: Path, body: str, stopped: str = WRITES):
    code = KEPT.format(body=body, stopped=stopped)
    environment = {k: v for k, v in os.environ.items() if k != RUN}
    return ran(sys.executable, "-c", code, cwd=folder, env=environment)


def test_the_cause_of_a_failure_takes_the_place_of_the_output(tmp_path):
    body, cause = "ctypes.string_at(0)", "crashed: Segmentation fault (signal 11)"
    done = kept(tmp_path, body)
    assert done.returncode == 0
    assert (tmp_path / "made.csv").read_text().startswith(cause)
    assert (tmp_path / "results/smoke/logs/made.stopped").read_text().startswith(cause)
    assert cause in done.stderr
    assert kept(tmp_path, body).returncode == 0
    assert len((tmp_path / "results/smoke/logs/made.stopped").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "body", ["time.sleep(0.2); os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)", "1 / 0"]
)
def test_a_job_that_was_stopped_from_outside_or_failed_has_no_output(tmp_path, body):
    assert kept(tmp_path, body).returncode == 1
    assert sorted(path.name for path in tmp_path.rglob("made.*")) == ["made.log"]


def test_where_that_cannot_be_written_either_the_job_fails(tmp_path):
    done = kept(tmp_path, "os._exit(0)", stopped="raise OSError(28, 'no space')")
    assert done.returncode == 1
    assert "ended the interpreter" in done.stderr
    assert not (tmp_path / "results/smoke/logs/made.stopped").exists()


def test_no_job_is_ended_for_the_time_or_memory_that_it_asked_for(tmp_path):
    """These are for the scheduler of a cluster: a machine may be slow, and memory to spare."""
    done = kept(tmp_path, "held = b'1' * 100_000_000; time.sleep(0.5)")
    assert (done.returncode, done.stderr) == (0, "")
