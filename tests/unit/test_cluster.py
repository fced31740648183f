"""Requirements on a cluster, and of it on the folder of a run."""

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


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        ({}, "sbatch: not found; start this command where SLURM is"),
        ({"sbatch": 0}, "scontrol ping: SLURM does not answer"),
        ({"sbatch": 0, "scontrol": 1}, "scontrol ping: SLURM does not answer"),
        ({"sbatch": 0, "scontrol": 0}, None),
    ],
)
def test_a_run_without_slurm_is_refused(tmp_path, monkeypatch, programs, message):
    for name, code in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if message is None:
        refuse_without_slurm()
    else:
        with pytest.raises(EpsilometerError, match=message):
            refuse_without_slurm()
