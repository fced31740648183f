"""A registry finds names, and imports only what is asked for."""

import pytest

from epsilometer.errors import UnknownNameError
from epsilometer.settings.registry import Registry


def test_a_registry_loads_only_the_requested_module():
    registry = Registry("thing", {"path": "pathlib:Path", "gone": "pathlib:Gone"})
    assert registry.load("path").__name__ == "Path"
    assert registry.module("path") == "pathlib"
    assert list(registry) == ["path", "gone"]
    assert len(registry) == 2
    with pytest.raises(UnknownNameError, match="unknown thing 'pth'; did you mean 'path'"):
        registry.load("pth")
    with pytest.raises(AttributeError):
        registry.load("gone")
