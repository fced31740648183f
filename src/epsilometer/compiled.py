"""Loops that Numba compiles when they are first called: its import takes longer than most jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any


class _Loop:
    """A function that is compiled on its first call, with those of its module that it calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.machine_code(*arguments)

    @cached_property
    def machine_code(self) -> Any:
        """Numba's function; it replaces this object in the module."""
        import numba

        names = self.py_func.__globals__
        for name in self.py_func.__code__.co_names:
            if isinstance(called := names.get(name), _Loop) and called is not self:
                names[name] = called.machine_code
        made = names[self.py_func.__name__] = numba.njit(cache=True)(self.py_func)
        return made


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba compile a function on its first call, and keep the machine code on the disk.

    What it calls of its own module must be compiled as well.
    """
    return _Loop(function)
