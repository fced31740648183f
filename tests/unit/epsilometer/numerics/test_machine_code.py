"""Machine code on the disk: whatever is wrong with the files, loops run, and are saved again."""

import errno
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from epsilometer.numerics import machine_code

SOURCE = """
from epsilometer.numerics.compiled import compiled, compiled_part

@compiled_part
def twice(values):
    return 2.0 * values[0]

@compiled
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result + twice(values) - 2 * values[0]
"""

VALUES = np.array([1.0, 2.0])


class Process:
    """A module of a file as another process has it, and its function."""

    def __init__(self, path):
        specification = importlib.util.spec_from_file_location("sums", path)
        self.module = importlib.util.module_from_spec(specification)
        sys.modules["sums"] = self.module
        specification.loader.exec_module(self.module)
        self.total = self.module.total

    def from_the_disk(self, values=VALUES):
        """Call the function; return whether it need not be compiled."""
        assert self.total(values) == values.sum()
        (code,) = self.total._machine_code.values()
        return sum(code.stats.cache_hits.values()) == 1


@pytest.fixture
def another(tmp_path, monkeypatch):
    """Return a function that starts a process."""
    path = tmp_path / "sums.py"
    path.write_text(SOURCE)
    monkeypatch.setitem(sys.modules, "sums", None)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    return lambda: Process(path)


def files(folder):
    """Return the files of Numba in a folder."""
    return sorted(folder.rglob("*.nb?"))


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that lets another be called while the next code is being written."""
    digest = machine_code._digest

    def let(function):
        def interrupted(folder):
            monkeypatch.setattr(machine_code, "_digest", digest)
            function()
            return digest(folder)

        monkeypatch.setattr(machine_code, "_digest", interrupted)

    return let


def test_two_processes_that_compile_for_two_types_do_not_share_a_file(another, tmp_path, meanwhile):
    this, other = another(), another()
    meanwhile(other.from_the_disk)
    assert this.total(np.array([1, 2])) == 3
    assert len({file.parents[1] for file in files(tmp_path)}) == 2
    assert another().from_the_disk(np.array([3, 4]))
    assert another().from_the_disk(np.array([3.0, 4.0]))


def test_of_two_processes_that_compile_the_same_one_saves_it(another, tmp_path, meanwhile):
    this, other = another(), another()
    meanwhile(other.from_the_disk)
    assert this.total(VALUES) == 3
    assert len(files(tmp_path)) == 2  # an index and a file of code
    assert len(list((tmp_path / "__pycache__").glob("sums.total*"))) == 1
    assert another().from_the_disk()


def test_another_source_is_compiled_anew(another, tmp_path):
    another().total(VALUES)
    path = tmp_path / "sums.py"
    path.write_text(SOURCE.replace("result = 0.0", "result = 1.00"))
    assert Process(path).total(VALUES) == 4


def test_a_damaged_file_is_written_again(another, tmp_path):
    another().total(VALUES)
    (file,) = tmp_path.rglob("*.nbc")
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)
    assert not another().from_the_disk()
    assert another().from_the_disk()


def test_a_file_that_cannot_be_read_is_written_again(another, tmp_path):
    another().total(VALUES)
    (file,) = tmp_path.rglob("*.nbc")
    file.unlink()
    file.mkdir()
    assert not another().from_the_disk()
    assert another().from_the_disk()


@pytest.mark.parametrize(
    ("step", "cause"),
    [("mkdir", errno.EROFS), ("write_text", errno.ENOSPC), ("rename", errno.EACCES)],
)
def test_a_folder_that_cannot_be_written_is_left_out(another, tmp_path, monkeypatch, step, cause):
    def refused(*_, **__):
        raise OSError(cause, "no")

    this = another()
    monkeypatch.setattr(Path, step, refused)
    assert this.total(VALUES) == 3
    assert not files(tmp_path)


def test_code_that_numba_cannot_load_is_compiled(another, monkeypatch):
    another().total(VALUES)
    njit = numba.njit

    def loading(types, **options):
        if options:
            raise ValueError("not of this release")
        return njit(types)

    monkeypatch.setattr(numba, "njit", loading)
    assert not another().from_the_disk()


def test_without_a_folder_beside_the_source_the_home_has_it(another, tmp_path, monkeypatch):
    (tmp_path / "__pycache__").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert not another().from_the_disk()
    assert another().from_the_disk()
    assert len(files(tmp_path / "home" / ".cache" / "epsilometer")) == 2


def test_without_a_home_none_is_made(another, tmp_path, monkeypatch):
    """Where a user has no home, `~` is no more than a name."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}[0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "__pycache__").write_text("no folder")
    for _ in range(2):
        assert not another().from_the_disk()
    assert not Path("~").exists()


@pytest.mark.slow(seconds=2)
def test_a_process_that_finds_machine_code_loads_nothing_that_compiles(tmp_path):
    (tmp_path / "sums.py").write_text(SOURCE)
    program = "import numpy, sums, sys; one = numpy.ones(1); "
    program += "print(sums.total(one), 'numba.np.linalg' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path)}
    for loaded in (True, False):
        output = subprocess.check_output([sys.executable, "-c", program], env=env, cwd=tmp_path)
        assert output.decode().split() == ["1.0", str(loaded)]
