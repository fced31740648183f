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
from tests.sharing import install
from tests.unit.processes import ran
from tests.workflow.conftest import ROOT


def documented(parameter: str) -> set[str]:
    """Return the columns that the documentation promises to a builder."""
    text = (ROOT / "docs/extending.md").read_text()
    (row,) = (line for line in text.splitlines() if re.match(rf"\| .*`{parameter}` \|", line))
    return set(re.findall(r"`(\w+)`", row.partition(": ")[2]))


@pytest.fixture
def study(tmp_path):
    """The study of the package, without results."""
    install(tmp_path / "installed")
    shutil.copytree(ROOT / "tests/data/study", tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def snakemake(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "EPSILOMETER": str(ROOT)}

    def run(*arguments, folder):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
        done = ran(*command, cwd=folder, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout + done.stderr

    return run


def test_an_estimator_that_reads_draws_stands_beside_the_papers(study, snakemake):
    snakemake("results/quick/figures/neighbours/curves.png", folder=study)
    table = pd.read_csv(study / "results/quick/tables/neighbours/curves.csv")
    ours = table[(table["estimator"] == "neighbours") & (table["n"] == 2000)]
    assert set(ours["mechanism"]) == {"truncated-laplace", "laplace", "noisy-sum"}
    assert (ours["failures"] == 0).all()
    assert ours["mean"].to_numpy() == pytest.approx(ours["truth"].to_numpy(), abs=0.1)
    assert {"histogram", "local-loss", "mpl", "renyi-bound", "spectrum"} < set(table["estimator"])
    file = next((study / "results/quick/answers").rglob("*.parquet"))
    about = json.loads(pq.read_schema(file).metadata[b"epsilometer"])
    assert about["registered"].endswith("NearestNeighbours [epsilometer-survey 1.0]")


def test_another_repository(study, snakemake, tmp_path):
    page = "everything on one page: results/quick/survey.html"
    assert page in snakemake("survey", folder=study)
    table = pd.read_csv(study / "results/quick/tables/survey/found.csv")
    assert table["truth"].tolist() == pytest.approx([2.0])
    assert 0.8 < table["share"][0] < 1
    (estimates,) = (study / "results/quick/estimates").rglob("*.parquet")
    about = json.loads(pq.read_schema(estimates).metadata[b"epsilometer"])
    assert about["registered"].endswith("FrequencyRatio [epsilometer-survey 1.0]")
    for kind, folder in (("summary", "summaries"), ("runs", "runs")):
        (file,) = (study / "results/quick" / folder).rglob("*.parquet")
        assert set(pq.read_schema(file).names) == documented(kind), kind
    sample = next((study / "results/quick/samples").rglob("*.parquet"))
    about = json.loads(pq.read_schema(sample).metadata[b"epsilometer"])
    assert set(tabulate._samples(str(sample), about)) == documented("samples")
    # The same by the path of the Snakefile, from elsewhere: all of it is there.
    options = ("survey", "-s", ROOT / "Snakefile", "--directory", study)
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
