"""The wheel, in an environment that has the dependencies of its core and nothing else."""

import json
import shutil
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.workflow.conftest import ROOT

KINDS = """
def word(x, rng):
    return ["no", "yes"][x if rng.random() < 0.8 else 1 - x]

def whole(x, size, rng):
    return x + rng.geometric(0.5, size) - rng.geometric(0.5, size)

def vector(x, size, rng):
    return x + rng.normal(0, 1, (size, 2))
"""
MECHANISM = "def noisy(x, size, rng):\n    return rng.laplace(x, {scale}, size)\n"
AUDIT = """
import json, sys

import epsilometer_audit as ea

imported = set(sys.modules)
verdict = ea.audit(
    lambda x, size, rng: rng.laplace(x, 1.0, size),
    pairs=[(0.0, 1.0)], claim=ea.pure(0.3), samples=5000,
)
print(json.dumps({
    "verdict": verdict.to_plain()["verdict"], "at first": sorted(imported & {"numpy", "scipy"}),
    "at last": sorted({"numba", "numpy", "pyarrow", "scipy"} & set(sys.modules)),
    "needed": ea.samples_needed(ea.pure(1.0), detect=1.2, pairs=20),
}))
"""


def build(folder: Path) -> Path:
    """Build the wheel from a copy."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def run(command: list[object], folder: Path, code: int = 0) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def needed_by(requirements: list[str]) -> set[str]:
    """Return the distributions that are needed, and those that they need, without extras."""
    names: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            if requirement.name not in names:
                waiting += distribution(requirement.name).requires or []
            names.add(requirement.name)
    return names


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment: the wheel, and links to the packages that it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build(folder)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "venv/bin/python", "--quiet"]
    run([*pip, "install", "--no-index", "--no-deps", "--no-compile", wheel], folder)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    (metadata,) = packages.glob("epsilometer-*.dist-info")
    for name in needed_by(distribution_at(metadata)):
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / top).symlink_to(distribution(name).locate_file(top))
    return folder


def distribution_at(metadata: Path) -> list[str]:
    """Return all requirements of a distribution."""
    lines = (metadata / "METADATA").read_text().partition("\n\n")[0].splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]


def python(folder: Path, *arguments: object, code: int = 0) -> str:
    """Run the environment's Python, isolated from everything else."""
    return run([folder / "venv/bin/python", "-I", *arguments], folder, code)


def test_an_audit_needs_four_packages_and_their_dependencies(installed: Path):
    (metadata,) = installed.glob("venv/lib/*/site-packages/epsilometer-*.dist-info")
    wanted = {"llvmlite", "numba", "numpy", "pyarrow", "scipy"}
    assert needed_by(distribution_at(metadata)) == wanted
    package = metadata.parent / "epsilometer"
    assert (package / "py.typed").exists()
    assert not list(package.rglob("__pycache__"))
    entries = (metadata / "entry_points.txt").read_text()
    assert "[pytest11]\nepsilometer = epsilometer_audit.pytest_plugin" in entries


def test_an_audit_in_python(installed: Path):
    answer = json.loads(python(installed, "-W", "error", "-c", AUDIT))
    assert (answer["verdict"], answer["at first"]) == ("violated", [])
    assert answer["at last"] == ["numba", "numpy", "scipy"]
    assert 1000 < answer["needed"] < 100_000


def test_the_command_line(installed: Path):
    (installed / "mech.py").write_text(MECHANISM.format(scale=0.5))
    assert "audit" in run([installed / "venv/bin/epsilometer", "--help"], installed)
    audit = ["-m", "epsilometer_audit", "audit", "mech.py:noisy", "--pair", "0", "1"]
    output = python(installed, *audit, "--epsilon", "1", "--samples", "5000", code=1)
    assert output.startswith("VIOLATED: epsilon = 1 is claimed")


def test_outputs_of_every_kind_need_no_more(installed: Path):
    """The papers' estimates of words, whole numbers and vectors are made with the four packages."""
    (installed / "kinds.py").write_text(KINDS)
    for kind in ("word", "whole", "vector"):
        audit = ["-m", "epsilometer_audit", "audit", f"kinds.py:{kind}", "--pair", "0", "1"]
        output = python(installed, *audit, "--epsilon", ".1", "--samples", "2000", code=1)
        assert output.startswith("VIOLATED: epsilon = 0.1 is claimed")
