"""What a run on a cluster needs is asked for before its first job."""

import pytest

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.runtime.cluster import refuse_unquotable, refuse_without_slurm


def test_folders_that_a_shell_would_split_are_refused():
    for name in ("runs", "2026-11-21_a.b", "éclair", "a+b=c,d:e@f%", "~"):
        refuse_unquotable([f"/home/{name}/epsilometer"])
    for name in " \n\t'\"`$;&|<>()[]{}*?!#\\\0":
        with pytest.raises(EpsilometerError, match="because a shell of the cluster") as refused:
            refuse_unquotable(["/home/fine", f"/home/a{name}b/epsilometer"])
        assert "\n" not in str(refused.value)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return what puts a program that ends with a code into a path that has nothing else."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def add(name, code):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)

    return add


def test_a_run_without_slurm_is_refused(programs):
    with pytest.raises(EpsilometerError, match="sbatch: not found; start this command where SLURM"):
        refuse_without_slurm()
    programs("sbatch", 0)
    with pytest.raises(EpsilometerError, match="scontrol ping: SLURM does not answer"):
        refuse_without_slurm()
    programs("scontrol", 1)
    with pytest.raises(EpsilometerError, match="scontrol ping: SLURM does not answer"):
        refuse_without_slurm()
    programs("scontrol", 0)
    refuse_without_slurm()
