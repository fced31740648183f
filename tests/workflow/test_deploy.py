"""Another repository runs the workflow, with its own config/, results/ and installed package."""

import json
import os
import re
import shutil
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest

from epsilometer_workflow.stages import tabulate
from tests.plugin import install
from tests.unit.processes import ran
from tests.workflow.conftest import ROOT


def documented(parameter: str) -> set[str]:
    """Return the columns that the documentation promises to a builder."""
    text = (ROOT / "docs/extending.md").read_text()
    (row,) = (line for line in text.splitlines() if re.match(rf"\| .*`{parameter}` \|", line))
    return set(re.findall(r"`(\w+)`", row.partition(": ")[2]))


def test_another_repository(tmp_path):
    study, installed = tmp_path / "study", install(tmp_path / "installed")
    shutil.copytree(ROOT / "tests/data/study", study)
    environment = os.environ | {"PYTHONPATH": str(installed), "EPSILOMETER": str(ROOT)}

    def snakemake(*arguments, folder):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
        run = ran(*command, cwd=folder, env=environment)
        assert run.returncode == 0, run.stderr[-3000:]
        return run.stdout + run.stderr

    assert "everything on one page: results/quick/survey.html" in snakemake(folder=study)
    table = pd.read_csv(study / "results/quick/tables/survey/found.csv")
    assert table["truth"].tolist() == pytest.approx([2.0])
    assert 0.8 < table["share"][0] < 1
    (estimates,) = (study / "results/quick/estimates").rglob("*.parquet")
    about = json.loads(pq.read_schema(estimates).metadata[b"epsilometer"])
    assert about["registered"].endswith("FrequencyRatio [epsilometer-survey 1.0]")
    for kind in ("summaries", "runs"):
        (file,) = (study / "results/quick" / kind).rglob("*.parquet")
        assert set(pq.read_schema(file).names) == documented(kind), kind
    sample = next((study / "results/quick/samples").rglob("*.parquet"))
    about = json.loads(pq.read_schema(sample).metadata[b"epsilometer"])
    assert set(tabulate._samples(str(sample), about)) == documented("samples")
    # The same by the path of the Snakefile, from elsewhere: all of it is there.
    options = ("-s", ROOT / "Snakefile", "--directory", study)
    assert "Nothing to be done" in snakemake(*map(str, options), folder=tmp_path)
    assert not (tmp_path / "results").exists()
    if not (ROOT / ".git").exists():
        return
    hosted = f'gitfile("{ROOT}", path="workflow/Snakefile", ref="HEAD")'
    local = 'os.environ["EPSILOMETER"] + "/workflow/Snakefile"'
    (study / "Snakefile").write_text((study / "Snakefile").read_text().replace(local, hosted))
    snakemake("-n", folder=study)
    (copy,) = (study / ".snakemake/epsilometer").iterdir()
    assert (copy / "src/epsilometer/registry.py").is_file()
