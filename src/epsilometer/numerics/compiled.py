"""Loops that Numba compiles on their first call: importing Numba takes longer than most jobs."""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from typing import Any


class _Loop:
    """A function that is compiled on its first call, with the loops of its module that it calls."""

    def __init__(self, function: Callable[..., Any], allocates: bool) -> None:
        self.py_func = function
        self._allocates = allocates
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        with _typed_once():
            return self.machine_code(*arguments)

    @cached_property
    def machine_code(self) -> Any:
        """Numba's function; it replaces this object in the module."""
        function = self._compiler()
        self.py_func.__globals__[self.py_func.__name__] = function
        with suppress(RuntimeError):  # it finds no folder for files: each process compiles anew
            Path.home()  # without one, Numba would make a folder "~"
            function.enable_caching()
            files = function._cache
            files.load_overload = partial(_load, files)
            files.save_overload = partial(_save, files)
        return function

    @cached_property
    def part(self) -> Any:
        """Numba's function for other loops: Python cannot call it."""
        return self._compiler(no_cpython_wrapper=True)

    @property
    def _numba_type_(self) -> Any:  # Numba asks an object in a loop for it
        return self.part._numba_type_

    def _compiler(self, **options: Any) -> Any:
        import numba

        options |= {"no_cfunc_wrapper": True, "_nrt": self._allocates}  # they are in no stub
        options["no_rewrites"] = not self._allocates  # they join expressions of arrays
        return numba.njit(**options)(self.py_func)


@contextmanager
def _typed_once() -> Iterator[None]:
    """Let Numba look up the type of an operation once, not wherever it stands, as it compiles."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.types import functions

    kind: Any = functions.BaseFunction
    with global_compiler_lock:  # no other thread compiles meanwhile
        typed = kind.get_call_type
        known = cache(lambda of, context, types, named: typed(of, context, types, dict(named)))
        kind.get_call_type = lambda *of: known(*of[:2], tuple(of[2]), tuple(of[3].items()))
        try:
            yield
        finally:
            kind.get_call_type = typed


def _load(cache: Any, types: Any, context: Any) -> Any:
    """Return what was compiled for types; None without a file, or with one that is damaged."""
    from numba.core.runtime.nrt import rtsys

    try:
        rtsys.initialize(context)  # in place of `refresh`, which loads all that compiling needs
        content = Path(_file(cache, types, context.codegen())).read_bytes()
        digest = content[:32]  # a SHA-256
        machine_code = content[32:]
        if hashlib.sha256(machine_code).digest() == digest:
            return cache._impl.rebuild(context, pickle.loads(machine_code))  # noqa: S301 (ours)
    except Exception:  # noqa: S110 (whatever is wrong with the file: it is written again)
        pass
    return None


def _save(cache: Any, types: Any, result: Any) -> None:
    """Save machine code, with a digest; on a full disk, not at all."""
    machine_code = cache._cache_file._dump(cache._impl.reduce(result))
    path = _file(cache, types, result.codegen)
    with suppress(OSError), cache._cache_file._open_for_write(path) as file:
        file.write(hashlib.sha256(machine_code).digest() + machine_code)


def _file(cache: Any, types: Any, library: Any) -> str:
    """Return the file of a function's machine code, whose name follows from its source and types.

    Numba numbers the files from 1. Two processes that compile a function for different types at the
    same time would use one name, and run code for one type on data of the other.
    """
    file = cache._cache_file
    key = file._version, file._source_stamp, cache._index_key(types, library)
    name = file._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:12], 16))
    return str(file._data_path(name))


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba compile a function on its first call, and keep the machine code on the disk.

    Functions of its own module that it calls must be compiled as well. It makes no arrays: without
    counts of references it compiles and runs faster.
    """
    return _Loop(function, allocates=False)


def allocating(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba compile a function as `compiled` does, which may make arrays."""
    return _Loop(function, allocates=True)
