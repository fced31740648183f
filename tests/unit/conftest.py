"""A study in miniature, for tests of what users write."""

import shutil
from pathlib import Path

import pytest

from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked

CONFIG = Path(__file__).parents[1] / "data" / "config"


@pytest.fixture
def config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration to spoil, alone in the working directory, which is alone too."""
    folder = tmp_path / "project" / "config"
    shutil.copytree(CONFIG, folder)
    monkeypatch.chdir(folder.parent)
    return folder


@pytest.fixture(scope="session")
def study() -> Study:
    """The study itself, which tests only ask."""
    return checked(CONFIG)
