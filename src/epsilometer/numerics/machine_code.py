"""Machine code of loops, which Numba makes, and folders for it.

There is a folder for each loop and types of arguments. A process fills one under another name, and
renames it last, so that no other process sees half of it. A digest shows later damage. Whatever is
wrong with the disk, a loop is compiled anew. In Numba's own folders there are all types together:
two processes that compile a function at the same time could run code for the type of the other.
"""

import hashlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4

import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.extending import register_jitable

_config: Any = numba.config  # the stubs lack its names
_typeof: Any = numba.typeof
_DIGEST = "sha256"  # name of a file
_one_thread = threading.RLock()  # sets Numba's folder


def machine_code(
    function: Callable[..., Any], arguments: tuple[Any, ...], parts: list[Callable[..., Any]]
) -> Callable[..., Any]:
    """Return the machine code of a function for the types of arguments: from the disk, or compiled.

    It may call ``parts``, of which Numba learns here; the list is then empty.
    """
    with _one_thread:
        while parts:
            register_jitable(parts.pop())
        types = tuple([_typeof(argument) for argument in arguments])
        with suppress(Exception):  # whatever is wrong with the disk
            return _from_disk(function, types)
        return numba.njit(types)(function)


def _from_disk(function: Callable[..., Any], types: tuple[Any, ...]) -> Callable[..., Any]:
    """Return machine code from a folder, which is filled if necessary; raise an error if not."""
    for folder in _folders(function, types):
        if _is_whole(folder):
            with _without_compiler(), _folder_of_numba(folder):
                return numba.njit(types, cache=True)(function)
        new = Path(f"{folder}.{uuid4().hex}")
        try:
            rmtree(folder, ignore_errors=True)
            new.mkdir(parents=True)
        except OSError:
            continue
        try:
            with _folder_of_numba(new):
                code = numba.njit(types, cache=True)(function)
            (new / _DIGEST).write_text(_digest(new))
            with suppress(OSError):  # another process was faster
                new.rename(folder)
        finally:
            rmtree(new, ignore_errors=True)
        return code
    raise OSError


def _folders(function: Callable[..., Any], types: tuple[Any, ...]) -> Iterator[Path]:
    """Yield the folders for machine code, of which the first counts that can be written."""
    source = Path(inspect.getfile(function))
    key = (
        (str(source.absolute()), source.read_bytes()),  # Numba asks for both
        types,
        sys.version,
        numba.__version__,
        (_config.CPU_NAME, _config.CPU_FEATURES),
        (get_host_cpu_name(), get_host_cpu_features().flatten()),
    )
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    name = f"{function.__module__}.{function.__qualname__}-{digest}"
    if _config.CACHE_DIR:
        yield Path(_config.CACHE_DIR, name)
        return
    yield source.parent / "__pycache__" / name
    with suppress(RuntimeError):  # this user has no home
        yield Path.home() / ".cache" / "epsilometer" / name


def _is_whole(folder: Path) -> bool:
    """Tell whether a folder is there, and all its files are as they were written."""
    try:
        return (folder / _DIGEST).read_text() == _digest(folder)
    except (OSError, ValueError):
        return False


def _digest(folder: Path) -> str:
    """Return a digest of Numba's files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.nb?")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@contextmanager
def _folder_of_numba(folder: Path) -> Iterator[None]:
    """Let Numba look for files, and write them, in a folder."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Let Numba load machine code without all that compiling needs: .3 s, a third of an audit.

    If another release of Numba knows no such step, nothing is left out.
    """
    try:
        from numba.core.registry import cpu_target
        from numba.core.runtime.nrt import rtsys

        context = cpu_target.target_context
        rtsys.initialize(context)
    except (ImportError, AttributeError):
        yield
        return
    context.refresh = lambda: None
    try:
        yield
    finally:
        del context.refresh
