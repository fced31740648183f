"""Snakemake with bad input: our line, exit code not 0, no traceback, nothing half-written.

All that may be wrong is in test_checking.py and test_products.py of tests/unit.
"""

import os
from pathlib import Path

import pandas as pd

from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.reductions import Samples
from epsilometer_workflow.stages import sample
from tests.unit.stages import done
from tests.workflow.conftest import SMALL, Project, copy_project, our_lines

HISTOGRAM = "truncated-laplace/epsilon=1/ends/lambda=inf/histogram-gamma=1"


def output_of(run) -> str:
    """Return the output of a run that failed as it should."""
    output = run.stderr + run.stdout
    assert run.returncode != 0
    assert "Traceback (most recent call last)" not in output
    return output


def test_a_bad_configuration_is_shown_and_nothing_is_written(small: Project):
    with small.changed("config/mechanisms.yaml", "truncated_laplace", "truncated_laplas"):
        output = output_of(small.snakemake())
    assert "config/mechanisms.yaml: truncated-laplace.mechanism: unknown mechanism" in output
    assert not (small.folder / "results").exists()


def test_the_error_of_an_unknown_target_is_shown(small: Project):
    path = f"results/smoke/estimates/{HISTOGRAM.replace('lace', 'las')}/n=9_runs=2.parquet"
    output = output_of(small.snakemake("-n", path))
    message = "unknown mechanism 'truncated-laplas'; did you mean 'truncated-laplace'?"
    assert any(message in line for line in output.splitlines()), output
    assert not (small.folder / "results").exists()


DAMAGE = {
    "truncated": "is truncated or damaged",
    "foreign": "is not an epsilometer file",
    "stale": "is stale: seed is 7, not 2022",
}


def test_the_error_of_a_bad_file_of_samples_is_shown(tmp_path: Path):
    """One cut short, one of something else, one of another seed, in place behind Snakemake."""
    project = copy_project(tmp_path, SMALL)
    drawn = {
        kind: f"results/smoke/samples/truncated-laplace/epsilon=1/ends/n={n}/runs=0-1.parquet"
        for n, kind in enumerate(DAMAGE, 100)
    }
    wanted = {
        kind: f"results/smoke/estimates/{HISTOGRAM}/n={n}_runs=2.parquet"
        for n, kind in enumerate(DAMAGE, 100)
    }
    assert project.snakemake(*drawn.values()).returncode == 0
    files = {kind: tmp_path / path for kind, path in drawn.items()}
    times = {kind: file.stat().st_mtime_ns for kind, file in files.items()}
    files["truncated"].write_bytes(files["truncated"].read_bytes()[:-200])
    pd.DataFrame({"output": [0.5, 0.7]}).to_parquet(files["foreign"])
    wildcards = {"scale": "smoke", "mechanism": "truncated-laplace", "epsilon": "1"}
    wildcards |= {"inputs": "ends", "n": "102", "batch": "0-1"}
    seven = Samples.from_wildcards(Study(SMALL, {"seed": 7}), wildcards)
    done(sample, files["stale"], seven.spec())
    for kind, file in files.items():
        os.utime(file, ns=(times[kind], times[kind]))
    output = output_of(project.snakemake(*wanted.values()))
    assert len(set(our_lines(output))) == len(DAMAGE)
    for kind, message in DAMAGE.items():
        (line,) = {line for line in our_lines(output) if drawn[kind] in line}
        assert message in line
        assert not (tmp_path / wanted[kind]).exists()
