"""Machine code on the disk: whatever is wrong with the files, loops run, and are saved again."""

import errno
import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import CacheImpl
from numba.core.types.functions import BaseFunction

SOURCE = """
from epsilometer.numerics.compiled import allocating, compiled

@allocating
def twice(values):
    return (2.0 * values)[0]  # in an array of its own

@compiled
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result + twice(values) - 2 * values[0]
"""

VALUES = np.array([1.0, 2.0])


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
    """The other saves its code for reals while this one saves for integers."""
    whole, real = processes().machine_code, processes().machine_code
    file = whole._cache._cache_file
    opened = file._open_for_write

    def interrupted(path):
        assert real(np.array([1.0, 2.0])) == 3
        return opened(path)

    monkeypatch.setattr(file, "_open_for_write", interrupted)
    assert whole(np.array([1, 2])) == 3
    for values in (np.array([3, 4]), np.array([3.0, 4.0])):
        assert processes()(values) == 7
        assert from_the_disk(processes(), values)


def from_the_disk(loop, values=VALUES):
    """Return whether another process need not compile."""
    function = loop.machine_code
    assert function(values) == values.sum()
    return not function.stats.cache_misses


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:1],
        lambda content: content[:-1],
        lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        lambda content: bytes(len(content)),
        None,
    ],
)
def test_a_damaged_file_is_written_again_if_it_is_a_file(processes, tmp_path, damage):
    processes()(VALUES)
    (file,) = (tmp_path / "__pycache__").glob("*.nb*")
    content = file.read_bytes()
    file.unlink()
    if damage is None:
        file.mkdir()
    else:
        file.write_bytes(damage(content))
    assert not from_the_disk(processes())
    assert from_the_disk(processes()) == (damage is not None)


@pytest.mark.parametrize("cause", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_file_that_cannot_be_written_is_left_out(processes, tmp_path, monkeypatch, cause):
    function = processes().machine_code

    @contextmanager
    def full(path):
        raise OSError(cause, "no")
        yield

    monkeypatch.setattr(function._cache._cache_file, "_open_for_write", full)
    assert function(VALUES) == 3
    assert not list(tmp_path.rglob("*.nb*"))


def test_without_a_folder_for_files_a_loop_is_compiled_in_each_process(processes, monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    typed = BaseFunction.get_call_type
    for _ in range(2):
        assert not from_the_disk(processes())
    assert BaseFunction.get_call_type is typed  # Numba is as it was


def test_without_a_home_none_is_made(processes, tmp_path, monkeypatch):
    """Where a user has no home, `~` is no more than a name."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}[0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "__pycache__").write_text("no folder")
    assert not from_the_disk(processes())
    assert not Path("~").exists()


def test_a_process_that_finds_machine_code_loads_nothing_that_compiles(tmp_path):
    (tmp_path / "sums.py").write_text(SOURCE)
    program = "import numpy, sums, sys; one = numpy.ones(1); "
    program += "print(sums.total(one), sums.twice(one), 'numba.np.linalg' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path)}
    for loaded in (True, False):
        output = subprocess.check_output([sys.executable, "-c", program], env=env, cwd=tmp_path)
        assert output.decode().split() == ["1.0", "2.0", str(loaded)]
