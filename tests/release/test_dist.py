"""The packages in dist/: one is made from the other, and works in an empty environment."""

import re
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import epsilometer as em
from tests.unit.processes import ran
from tests.workflow.conftest import ROOT
from tests.workflow.test_readme import first_audit

DIST = ROOT / "dist"
WHEEL = DIST / f"epsilometer-{em.__version__}-py3-none-any.whl"
SOURCE = DIST / f"epsilometer-{em.__version__}.tar.gz"


def run(*command: object, cwd: Path) -> None:
    done = ran(*map(str, command), cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_there_are_two_files_of_this_version():
    assert {*DIST.iterdir()} == {WHEEL, SOURCE}


def test_the_source_distribution_makes_the_same_wheel(tmp_path: Path):
    with tarfile.open(SOURCE) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=folder)
    assert members(folder / "dist" / WHEEL.name) == members(WHEEL)
    for name in ("CITATION.cff", "Snakefile", "tests/release/test_dist.py"):
        assert (folder / name).exists()


def test_the_wheel_audits_in_an_empty_environment(tmp_path: Path):
    """As a new user has it: dependencies from the package index, in the versions of the lock."""
    assert any(name.endswith("licenses/LICENSE") for name in members(WHEEL))
    lock = (ROOT / "envs/requirements.lock").read_text()
    constraints = re.findall(r"^\S+==.*?(?= \\$)", lock, re.MULTILINE)
    (tmp_path / "constraints.txt").write_text("\n".join(constraints))
    venv.create(tmp_path / "venv")
    uv = Path(sys.executable).with_name("uv")
    run(uv, "pip", "install", "--python", "venv", "-c", "constraints.txt", WHEEL, cwd=tmp_path)
    first_audit(str(tmp_path / "venv/bin/python"), tmp_path)
