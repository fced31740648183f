"""A mechanism that never comes back is stopped at its limit of time, and its siblings go on."""

import pandas as pd

from tests.workflow.conftest import Project, copy_project, our_lines
from tests.workflow.test_bad_mechanisms import SMOKE, with_bad_mechanisms


def test_a_hang_is_stopped(tmp_path):
    project: Project = copy_project(tmp_path)
    targets = with_bad_mechanisms(project, ["hangs", "sound"])
    limit = ("--set-resources", "sample:runtime=1")
    run = project.snakemake(*targets.values(), *SMOKE, *limit, cores=2)
    assert run.returncode != 0
    output = run.stdout + run.stderr
    assert "Traceback" not in output
    (line,) = set(our_lines(output))
    assert "took longer than its limit of 1 minutes; if it needs more: --set-resources" in line
    assert f"Missing: {targets['hangs']}" in output
    assert len(pd.read_parquet(tmp_path / targets["sound"])) == 1
