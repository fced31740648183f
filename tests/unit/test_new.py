"""Starting points run at once, and are written whole or not at all."""

import os
import re
import shlex
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from epsilometer_audit.cli.main import WRONG_USE, main
from epsilometer_audit.cli.new import new
from epsilometer_workflow.products.checking import checked
from tests.products import all_products
from tests.unit.processes import ran

ROOT = Path(__file__).parents[2]


def test_an_audit_runs_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = new(["audit", "my own"])
    names = {path.name for path in (tmp_path / "my own").iterdir()}
    assert names == {"release.py", "test_release.py", "audits.yaml"}
    lines = [line for line in text.splitlines() if line.startswith("  ")]
    command, test, audits = map(shlex.split, lines)
    for name, *arguments in (command, audits):
        assert (name, main(arguments)) == ("epsilometer", 0)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    done = ran(sys.executable, "-m", *test, "-c", os.devnull, "-q")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_study_is_sound_and_names_the_workflow(tmp_path, monkeypatch):
    assert new(["study", str(tmp_path / "deep/mine")]).endswith("snakemake --cores 2")
    snakefile = (tmp_path / "deep/mine/Snakefile").read_text()
    assert re.search(r'^        "(.*)"$', snakefile, re.M)[1] == str(ROOT / "workflow/Snakefile")
    monkeypatch.chdir(tmp_path / "deep/mine")
    assert {path.name for path in Path.cwd().iterdir()} == {"Snakefile", "config", "profiles"}
    profile = Path("profiles/default/config.yaml")
    assert profile.read_bytes() == (ROOT / profile).read_bytes()
    for scale in ("quick", "paper"):
        rules = {product.rule for product in all_products(checked("config", {"scale": scale}))}
        assert {"sample", "screen", "weigh", "estimate", "tabulate", "render", "page"} <= rules
    os.chdir(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "KIND: is missing; write epsilometer new audit FOLDER"),
        (["studdy", "mine"], "'studdy': is not a kind; did you mean 'study'"),
        (["audit"], "FOLDER: is missing; write epsilometer new audit FOLDER"),
        (["audit", "--force"], "--force: is not an option; write epsilometer new audit FOLDER"),
        (["audit", "full"], "full: exists, and is not an empty folder"),
        (["audit", "full/file/below"], "full/file/below: cannot be written: File exists"),
        (["audit", "."], ".: is the folder that you are in"),
        (["study", "mine", "full"], "CLONE: full is not a clone of epsilometer"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    if arguments[-1:] != ["."]:
        Path("full").mkdir()
        Path("full/file").touch()
    before = sorted(tmp_path.rglob("*"))
    assert main(["new", *arguments]) == WRONG_USE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"epsilometer: {message}")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(Path, "replace", full)
    assert main(["new", "audit", str(tmp_path / "mine")]) == WRONG_USE
    assert list(tmp_path.iterdir()) == []


def test_two_first_runs_of_a_hosted_workflow_unpack_one_copy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    included = []

    def archive(file, commit):
        with tarfile.open(fileobj=file, mode="w") as tar:
            tar.add(ROOT / "LICENSE", "LICENSE")
        (tmp_path / ".snakemake/epsilometer" / commit / "workflow").mkdir(parents=True)  # another's

    git = SimpleNamespace(rev_parse=lambda _: "abc")
    hosted = SimpleNamespace(repo=SimpleNamespace(git=git, archive=archive))
    folder = SimpleNamespace(is_local=False, hosted_repo=hosted, repo_path=ROOT, ref="v1")
    workflow = SimpleNamespace(
        current_basedir=folder, include=lambda name, **_: included.append(name)
    )
    monkeypatch.setattr("git.Repo", lambda path: path)
    exec((ROOT / "workflow/Snakefile").read_text(), {"workflow": workflow})  # noqa: S102
    copy = tmp_path / ".snakemake/epsilometer/abc"
    assert included == [str(copy / "workflow/main.smk")]
    assert list(copy.parent.iterdir()) == [copy]
