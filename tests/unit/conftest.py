"""A study in miniature, for tests of users' files."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from tests.sharing import build_once
from tests.unit.loading import EVERY_STAGE, loaded_by

CONFIG = Path(__file__).parents[1] / "data" / "config"


@pytest.fixture
def config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration to spoil, alone in the working directory, which is alone too."""
    folder = tmp_path / "project" / "config"
    shutil.copytree(CONFIG, folder)
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of the folder's own code
    return folder


@pytest.fixture(scope="session")
def study() -> Study:
    """The study itself, which tests only read."""
    return checked(CONFIG)


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str | None]]:
    """The imports of a stage, determined once for all workers; NumPy and PyArrow are of all."""

    def make(file: Path) -> None:
        stages = [f"epsilometer_workflow.stages.{stage}" for stage in EVERY_STAGE]
        file.write_text(json.dumps(loaded_by(stages, before="import numpy, pyarrow.parquet")))

    found = json.loads(build_once(make, "loaded", tmp_path_factory).read_text())
    return lambda stage: found[f"epsilometer_workflow.stages.{stage}"]
