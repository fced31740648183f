"""The configuration that `make sweep` writes is sound, and of the requested size."""

from pathlib import Path

import pytest

from epsilometer_workflow.products.checking import checked
from tests.cluster.sweep import write_sweep
from tests.products import jobs_by_rule


@pytest.mark.parametrize("jobs", [30, 2500])
def test_a_sweep_has_the_requested_number_of_jobs(tmp_path: Path, monkeypatch, jobs: int):
    epsilons = write_sweep(tmp_path / "config", jobs)
    monkeypatch.chdir(tmp_path)
    study = checked("config", {"scale": "smoke"})
    by_rule = jobs_by_rule(study)
    assert by_rule.total() == pytest.approx(jobs, rel=0.15, abs=10)
    assert by_rule["sample"] == 5 * epsilons
    assert len(study.reports) == 1 + epsilons // 81


def test_the_study_can_be_beside_it(tmp_path: Path, monkeypatch):
    write_sweep(tmp_path / "config", 30, with_study=True)
    monkeypatch.chdir(tmp_path)
    assert {"gorla2022", "sweep-000"} <= set(checked("config", {"scale": "smoke"}).reports)
