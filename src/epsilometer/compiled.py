"""Loops that Numba compiles on their first call: importing Numba takes longer than most jobs."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from typing import Any


class _Loop:
    """A function that is compiled on its first call, with the loops of its module that it calls."""

    def __init__(self, function: Callable[..., Any], allocates: bool) -> None:
        self.py_func = function
        self._allocates = allocates
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()  # Numba makes many objects: to search them takes a tenth of the time
        try:
            return self.machine_code(*arguments)
        finally:
            if collects:
                gc.enable()

    @cached_property
    def machine_code(self) -> Any:
        """Numba's function; it replaces this object in the module."""
        function = self._compiler(cache=True)
        self.py_func.__globals__[self.py_func.__name__] = function
        file = function._cache._cache_file
        file.save = partial(_save, file)
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


def _save(file: Any, key: tuple[Any, ...], machine_code: Any) -> None:
    """Save machine code under a name that follows from its source and types.

    Numba numbers the files from 1. Two processes that compile a function for different types at the
    same time would use one name, and run code for one type on data of the other.
    """
    digest = hashlib.sha256(repr((file._source_stamp, key)).encode()).hexdigest()
    overloads = file._load_index()
    overloads[key] = file._data_name(int(digest[:12], 16))
    file._save_data(overloads[key], machine_code)
    file._save_index(overloads)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba compile a function on its first call, and keep the machine code on the disk.

    Functions of its own module that it calls must be compiled as well. It makes no arrays: without
    counts of references it compiles and runs faster.
    """
    return _Loop(function, allocates=False)


def allocating(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba compile a function as `compiled` does, which may make arrays."""
    return _Loop(function, allocates=True)
