"""The commands of README, docs/workflow.md and docs/mechanisms.md do as these pages write."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import ROOT, Project

README = (ROOT / "README.md").read_text()
WORKFLOW = (ROOT / "docs/workflow.md").read_text()
MECHANISMS = (ROOT / "docs/mechanisms.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_its_paths_can_be_requested(project: Project):
    targets = re.findall(r'^    snakemake --cores 2 "(results/quick/.*\.parquet)"$', WORKFLOW, re.M)
    assert len(targets) == 4
    run = project.snakemake(*targets, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    bounds = pd.read_parquet(project.folder / targets[1])
    assert bounds["estimate"].between(1.5, 2.05).all()
    bounds = pd.read_parquet(project.folder / targets[2])
    assert len(bounds) == 100  # ten pairs, ten runs
    spectrum = pd.read_parquet(project.folder / targets[3])
    assert spectrum.groupby("claim")["estimate"].mean()[1.0] == pytest.approx(0.393, abs=0.01)
    assert (bounds.groupby("run")["estimate"].max().between(1.7, 1.8)).all()  # exact: 1.784


def test_a_mechanism_in_the_workflow(project: Project):
    """The module, the line in the registry and the entry, as they stand there."""
    module, line = blocks(MECHANISMS, "python")
    (entry,) = blocks(MECHANISMS, "yaml")
    package = project.folder / "src/epsilometer/mechanisms"
    (package / "survey.py").write_text(module)
    project.replace("src/epsilometer/mechanisms/__init__.py", "    {\n", "    {\n" + line)
    config = project.folder / "config/mechanisms.yaml"
    config.write_text(config.read_text() + "\n" + entry)

    first, second = re.findall(r"`(results/quick|\.\.\.)/([^`]*_runs=5\.parquet)`", MECHANISMS)
    base = f"results/quick/{first[1].rpartition('/histogram')[0]}"
    paths = [f"results/quick/{first[1]}", f"{base}/{second[1]}"]
    run = project.snakemake(*paths, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    estimates, bounds = (pd.read_parquet(project.folder / path) for path in paths)
    assert estimates["estimate"].between(1.9, 2.1).all()  # "lie at 2"
    assert bounds["estimate"].between(1.93, 2.0).all()  # "about 1.96"


def test_its_audit_word_for_word(tmp_path):
    first_audit(sys.executable, tmp_path)


def first_audit(python: str, folder: Path) -> None:
    """Run the module, three lines of Python, and the command: their output, but for the seconds."""
    module, lines = blocks(README, "python")
    (shell,) = blocks(README, "console")
    first, *printed = shell.splitlines()
    (folder / "release.py").write_text(module)
    (folder / "lines.py").write_text(lines)
    command = [python, "-m", *shlex.split(first.removeprefix("$ "))]
    for arguments, code in (([python, "lines.py"], 0), (command, 1)):
        run = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == code, run.stderr
        output = re.sub(r"[0-9.]+ s, seed", "1.0 s, seed", run.stdout).splitlines()
        assert output == printed[: len(output)]
        assert len(output) >= len(printed) - 1  # Python has no command to replay
