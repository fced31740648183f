"""Machine code on the disk: processes that compile one function at the same time."""

import importlib.util
import sys

import numpy as np
import pytest

SOURCE = """
from epsilometer.compiled import compiled

@compiled
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result
"""


@pytest.fixture
def processes(tmp_path, monkeypatch):
    """Modules of one file, each with a function as another process has it."""
    path = tmp_path / "sums.py"
    path.write_text(SOURCE)
    monkeypatch.setitem(sys.modules, "sums", None)

    def another():
        specification = importlib.util.spec_from_file_location("sums", path)
        module = importlib.util.module_from_spec(specification)
        monkeypatch.setitem(sys.modules, "sums", module)
        specification.loader.exec_module(module)
        return module.total

    return another


def test_two_processes_that_compile_for_two_types_do_not_share_a_file(processes, monkeypatch):
    """The other saves its code for reals between the two files that this one saves for integers."""
    whole, real = processes().machine_code, processes().machine_code
    file = whole._cache._cache_file
    save_data = file._save_data

    def interrupted(name, data):
        assert real(np.array([1.0, 2.0])) == 3
        save_data(name, data)

    monkeypatch.setattr(real._cache._cache_file, "_load_index", dict)
    monkeypatch.setattr(file, "_save_data", interrupted)
    assert whole(np.array([1, 2])) == 3
    for values in (np.array([3, 4]), np.array([3.0, 4.0])):
        assert processes()(values) == 7


def test_machine_code_is_read_from_the_disk(processes):
    assert processes()(np.array([1.0, 2.0])) == 3
    again = processes().machine_code
    assert again(np.array([3.0, 4.0])) == 7
    assert sum(again.stats.cache_hits.values()) == 1
    assert not again.stats.cache_misses
