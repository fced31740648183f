"""Another repository runs the workflow, with its own config/, results/ and installed package."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.plugin import install
from tests.workflow.conftest import ROOT


def test_another_repository(tmp_path):
    study, installed = tmp_path / "study", install(tmp_path / "installed")
    shutil.copytree(ROOT / "tests/data/study", study)
    environment = os.environ | {"PYTHONPATH": str(installed), "EPSILOMETER": str(ROOT)}

    def snakemake(*arguments, folder):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
        run = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr[-3000:]
        return run.stdout + run.stderr

    assert "everything on one page: results/quick/survey.html" in snakemake(folder=study)
    table = pd.read_csv(study / "results/quick/tables/survey/found.csv")
    assert table["truth"].tolist() == pytest.approx([2.0])
    assert 0.8 < table["share"][0] < 1
    (estimates,) = (study / "results/quick/estimates").rglob("*.parquet")
    about = json.loads(pq.read_schema(estimates).metadata[b"epsilometer"])
    assert about["registered"].endswith("FrequencyRatio [epsilometer-survey 1.0]")
    # The same by the path of the Snakefile, from elsewhere: all of it is there.
    options = ("-s", ROOT / "Snakefile", "--directory", study)
    assert "Nothing to be done" in snakemake(*map(str, options), folder=tmp_path)
    assert not (tmp_path / "results").exists()
