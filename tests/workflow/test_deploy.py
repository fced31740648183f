"""Another repository runs the workflow, with its own config/, results/ and installed package."""

import json
import os
import re
import sys

import pandas as pd
import pyarrow.parquet as pq

from epsilometer_workflow.stages import tabulate
from tests.pages import extending, write_extending
from tests.sharing import install
from tests.unit.processes import ran
from tests.workflow.conftest import ROOT


def documented(parameter: str) -> set[str]:
    """Return the columns that the documentation promises to a builder."""
    text = (ROOT / "docs/extending.md").read_text()
    (row,) = (line for line in text.splitlines() if re.match(rf"\| .*`{parameter}` \|", line))
    return set(re.findall(r"`(\w+)`", row.partition(": ")[2]))


def run(environment, folder, *arguments):
    """Run Snakemake with the package of docs/extending.md, and return what it prints."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    done = ran(*command, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def test_the_package_and_the_study_of_the_page(tmp_path):
    """The study's command as it stands there, then the same study as a module."""
    installed = install(tmp_path / "installed")
    environment = os.environ | {"PYTHONPATH": str(installed), "EPSILOMETER": str(ROOT)}
    write_extending(tmp_path, "study/")
    study = tmp_path / "study"
    _, *arguments = extending()[-1].text.replace("/path/to/clone", str(ROOT)).split()
    page = "everything on one page: results/quick/logistic.html"
    assert page in run(environment, tmp_path, *arguments)
    assert not (tmp_path / "results").exists()
    table = pd.read_csv(study / "results/quick/tables/logistic/curves.csv")
    assert (table["failures"] == 0).all()
    entries = ["neighbours", "renyi-bound", "histogram", "local-loss", "spectrum", "mpl"]
    assert set(table["estimator"]) == {*entries}
    assert (table["truth"] > 0).all()
    assert (study / "results/quick/figures/logistic/curves.png").is_file()
    errors = pd.read_csv(study / "results/quick/tables/logistic/errors.csv")
    errors = errors[errors["n"] == 10_000].set_index(["estimator", "lambda"])["error"]
    assert abs(errors["neighbours", 2]) < 0.05
    assert errors["renyi-bound", 2] < 0
    answers = next((study / "results/quick/answers").rglob("*.parquet"))
    about = json.loads(pq.read_schema(answers).metadata[b"epsilometer"])
    assert about["registered"].endswith("NearestNeighbours [epsilometer-logistic 1.0]")
    for kind, folder in (("summary", "summaries"), ("runs", "runs")):
        file = next((study / "results/quick" / folder).rglob("*.parquet"))
        assert set(pq.read_schema(file).names) == documented(kind), kind
    sample = next((study / "results/quick/samples").rglob("*.parquet"))
    about = json.loads(pq.read_schema(sample).metadata[b"epsilometer"])
    assert about.pop("kind") == "samples"  # beside its identity
    assert set(tabulate._samples(str(sample), about)) == documented("samples")
    # The same as a module, of a clone and of a commit: all of it is there.
    module = (ROOT / "docs/examples/study/Snakefile").read_text()
    path = '"../workflow/Snakefile"'
    assert path in module
    clone = 'os.environ["EPSILOMETER"] + "/workflow/Snakefile"'
    (study / "Snakefile").write_text("import os\n" + module.replace(path, clone))
    assert "Nothing to be done" in run(environment, study, "--cores", "1")
    if not (ROOT / ".git").exists():
        return
    hosted = f'gitfile("{ROOT}", path="workflow/Snakefile", ref="HEAD")'
    (study / "Snakefile").write_text(module.replace(path, hosted))
    run(environment, study, "--cores", "1", "-n")
    (copy,) = (study / ".snakemake/epsilometer").iterdir()
    assert (copy / "src/epsilometer/settings/registry.py").is_file()
