"""The commands of README, docs/workflow.md and docs/mechanisms.md do as these pages write.

Of all others on a page there is a dry run; files of results are not asked for again.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from tests.pages import commands, words
from tests.unit.processes import ran
from tests.workflow.conftest import ROOT, SMALL, Project, copy_project

README = (ROOT / "README.md").read_text()
WORKFLOW = (ROOT / "docs/workflow.md").read_text()
MECHANISMS = (ROOT / "docs/mechanisms.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_its_paths_can_be_requested_and_those_of_a_mechanism_of_ones_own(project: Project):
    """The module, the line in the registry and the entry, as they stand there."""
    targets = re.findall(r'^    snakemake --cores 2 "(results/quick/.*\.parquet)"$', WORKFLOW, re.M)
    assert len(targets) == 4
    module, line = blocks(MECHANISMS, "python")
    (entry,) = blocks(MECHANISMS, "yaml")
    package = project.folder / "src/epsilometer/mechanisms"
    (package / "survey.py").write_text(module)
    project.replace("src/epsilometer/mechanisms/__init__.py", "    {\n", "    {\n" + line)
    config = project.folder / "config/mechanisms.yaml"
    config.write_text(config.read_text() + "\n" + entry)
    first, second = re.findall(r"`(results/quick|\.\.\.)/([^`]*_runs=5\.parquet)`", MECHANISMS)
    base = f"results/quick/{first[1].rpartition('/histogram')[0]}"
    targets += [f"results/quick/{first[1]}", f"{base}/{second[1]}"]
    run = project.snakemake(*targets, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    _, one, ten, spectrum, own, own_bounds = (
        pd.read_parquet(project.folder / target) for target in targets
    )
    assert one["estimate"].between(1.5, 2.05).all()
    assert len(ten) == 100  # ten pairs, ten runs
    assert (ten.groupby("run")["estimate"].max().between(1.7, 1.8)).all()  # exact: 1.784
    assert spectrum.groupby("claim")["estimate"].mean()[1.0] == pytest.approx(0.393, abs=0.01)
    assert own["estimate"].between(1.9, 2.1).all()  # "lie at 2"
    assert own_bounds["estimate"].between(1.93, 2.0).all()  # "about 1.96"


@pytest.fixture(scope="module")
def as_cloned(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh copy with a study in miniature; dry runs leave it as it is."""
    folder = tmp_path_factory.mktemp("cloned")
    return copy_project(folder / "project", SMALL)


ONE = "snakemake gorla2022 --config scale=smoke"
LISTS = [f"{ONE} --{what}" for what in ("summary", "dag", "rulegraph", "unlock", "lint")]


def dry(command: str) -> str:
    """Return a dry run at the smallest scale, whose jobs are those of all: test_dag.py."""
    smoke = re.sub(r"scale=\w+|--config(?! scale)", "--config scale=smoke", command)
    return re.sub(r" --cores \d+| -n\b|--config (?=--)", "", smoke) + " -n"


OPTIONS = {  # those of other commands are tried by tests/unit/project/test_docs.py
    dry(line) for line in commands("snakemake") if re.search("profile|--res|seed=", line)
}


@pytest.mark.parametrize("command", [*LISTS, f"{ONE} --list-changes code", *sorted(OPTIONS)])
def test_each_command_of_snakemake_can_be_given(as_cloned: Project, command: str):
    run = ran(sys.executable, "-m", "snakemake", *words(command), cwd=as_cloned.folder)
    assert run.returncode == 0, run.stderr[-3000:]


def test_without_slurm_a_run_ends_before_the_first_job(as_cloned: Project, tmp_path, monkeypatch):
    """It would wait for ever."""
    for name in ("sbatch", "scontrol"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    table = "results/smoke/tables/gorla2022/table1.csv"
    run = as_cloned.snakemake(table, "--profile", "profiles/slurm", "--config", "scale=smoke")
    assert run.returncode != 0
    assert "scontrol ping: SLURM does not answer" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(as_cloned.folder.glob("results/smoke/tables/**/*.csv"))


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="needs setpriv of util-linux"
)
def test_its_audit_by_a_user_of_a_container(tmp_path):
    """Word for word; without a home, and with an installation that cannot be written to."""
    installed, folder = tmp_path / "installed", tmp_path / "folder"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/epsilometer", installed / "epsilometer", ignore=ignored)
    for path in (installed, *installed.rglob("*")):
        path.chmod(0o555)
    folder.mkdir()
    user = ["env", "-i", f"PYTHONPATH={installed}"]
    if os.geteuid() == 0:  # another, who can read what root can, such as this Python
        other = ("--reuid=54321", "--regid=54321", "--clear-groups")
        reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
        user[:0] = ["setpriv", *other, *reads]
    else:
        user.append("HOME=/dev/null")
    first_audit(sys.executable, folder, user)
    assert not list(tmp_path.rglob("*.nbc"))
    assert not (folder / "~").exists()


def first_audit(python: str, folder: Path, before: Sequence[str] = ()) -> None:
    """Run the module, three lines of Python, and the command: their output, but for the seconds."""
    *_, module, lines = blocks(README, "python")
    (shell,) = blocks(README, "console")
    first, *printed = shell.splitlines()
    (folder / "release.py").write_text(module)
    (folder / "lines.py").write_text(lines)
    command = [python, "-m", "epsilometer_audit", *shlex.split(first.removeprefix("$ "))[1:]]
    for arguments, code in (([python, "lines.py"], 0), (command, 1)):
        run = ran(*before, *arguments, cwd=folder)
        assert run.returncode == code, run.stderr
        output = re.sub(r"[0-9.]+ s, seed", "1.0 s, seed", run.stdout).splitlines()
        assert output == printed[: len(output)]
        assert len(output) >= len(printed) - 1  # Python has no command to replay
