"""A copy of the project to run, change and break."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sharing import build_once
from tests.unit.processes import ran

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "tests/data/config"  # a study in miniature
SECONDS = (  # measured times, and tables that show them
    "askin2022/table2.",
    "kutta2022/table1.",
    "others/seconds.",  # of the study in miniature
)
PARTS = ["Snakefile", "config", "envs", "profiles", "src", "studies/scorecard", "workflow"]
FOREIGN = '''"""A mechanism that does something wrong."""

import ctypes
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Foreign:
    outputs: ClassVar[str] = "index"
    epsilon: float
    kind: str
    folder: str = ""

    def check_input(self, x):
        pass

    def sample(self, x, size, rng):
        {fault}
        return rng.integers(0, 2, size).astype(np.int32)
'''


def our_lines(text: str) -> list[str]:
    """Return our own lines; Snakemake, printing at the same time, may have begun them."""
    return re.findall(r"epsilometer: [^\n]*", text)


@dataclass
class Project:
    """A project folder of its own, with the library that lies in it."""

    folder: Path

    def snakemake(self, *arguments: str, cores: int = 1) -> subprocess.CompletedProcess[str]:
        """Run Snakemake as a user would."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
        return ran(*command, cwd=self.folder, env=environment)

    def replace(self, file: str, old: str, new: str) -> None:
        """Edit a file, which must hold the old text."""
        path = self.folder / file
        text = path.read_text()
        assert old in text, f"{file} no longer says {old!r}"
        path.write_text(text.replace(old, new, 1))

    @contextmanager
    def changed(self, file: str, old: str, new: str) -> Iterator[None]:
        """Edit a file for a while."""
        before = (self.folder / file).read_text()
        self.replace(file, old, new)
        try:
            yield
        finally:
            (self.folder / file).write_text(before)

    def slow_down(self, seconds: float) -> None:
        """Let every draw wait."""
        line = "    before = _global_states()\n"
        waits = f"    import time\n\n    time.sleep({seconds})\n{line}"
        self.replace("src/epsilometer/mechanisms/drawing.py", line, waits)

    def add_mechanism(self, fault: str, kinds: Iterable[str], **parameters: str) -> None:
        """Register `FOREIGN`, which does these lines at each call, with an entry for each kind."""
        name, source = "foreign", FOREIGN.format(fault=fault)
        (self.folder / f"src/epsilometer/mechanisms/{name}.py").write_text(source)
        line = f'        "{name}": "epsilometer.mechanisms.{name}:Foreign",\n'
        self.replace("src/epsilometer/mechanisms/__init__.py", "    {\n", "    {\n" + line)
        common = {"mechanism": name, "claims": {"outcomes": 2}, "inputs": {"coins": [0, 1]}}
        entries = {kind: common | {"parameters": {"kind": kind, **parameters}} for kind in kinds}
        with (self.folder / "config/mechanisms.yaml").open("a") as file:
            file.writelines(f"{kind}: {json.dumps(entry)}\n" for kind, entry in entries.items())

    def tables(self) -> dict[str, bytes]:
        """Return every table's bytes by its path, but for those of measured seconds."""
        base = self.folder / "results/smoke/tables"
        contents = {str(p.relative_to(base)): p.read_bytes() for p in sorted(base.rglob("*.*"))}
        return {name: content for name, content in contents.items() if not name.startswith(SECONDS)}


def copy_project(folder: Path, config: Path | None = None) -> Project:
    """Copy all that is needed to run, with another configuration if one is given."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = config if config and part == "config" else ROOT / part
        if source.is_dir():
            ignore = unfinished if part == "src" else shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy(source, folder / part)
    return Project(folder)


def unfinished(folder: str, names: list[str]) -> set[str]:
    """Return what is not copied: machine code, which serves one folder, and unfinished files."""
    cache = Path(folder).name == "__pycache__"
    return {name for name in names if cache and not name.endswith(".pyc")}


def done(project: Project, *arguments: str) -> Project:
    """Return a project once a run of it has succeeded, on all cores."""
    run = project.snakemake(*arguments, cores=os.cpu_count() or 1)
    assert run.returncode == 0, run.stderr[-3000:]
    return project


def undisturbed(folder: Path) -> Project:
    """Return a copy in which the smoke scale is done; results of this checkout are not remade."""
    project = copy_project(folder)
    for part in ("results/smoke", ".snakemake/metadata"):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
    return done(project, "--config", "scale=smoke")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy for one test."""
    return copy_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the smoke scale is done, for all workers; tests leave it as it is."""
    return Project(build_once(undisturbed, "finished", tmp_path_factory))


@pytest.fixture(scope="session")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which a study in miniature is done, for all workers; tests leave it as it is."""

    def make(folder: Path) -> Project:
        return done(copy_project(folder, SMALL))

    return Project(build_once(make, "miniature", tmp_path_factory))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with a study in miniature, alone in its folder; tests leave it as it is."""
    return copy_project(tmp_path_factory.mktemp("small") / "project", SMALL)
