"""Fixtures that all fault tests compare with."""

import pytest

from tests.workflow.conftest import Project, undisturbed


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The smoke scale, made without a disturbance."""
    return undisturbed(tmp_path_factory.mktemp("whole"))
