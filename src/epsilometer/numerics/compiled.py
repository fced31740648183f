"""Loops that Numba compiles on their first call: importing Numba takes longer than most jobs."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

_OWNS_MEMORY = 4  # bit of an array's flags, of which its type says nothing
_parts: list[Callable[..., Any]] = []  # of which Numba does not know yet


class Loop:
    """A function that is compiled once for each kind of arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._machine_code: dict[tuple[Any, ...], Callable[..., Any]] = {}
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Return what the function returns."""
        kinds = tuple([_kind(argument) for argument in arguments])
        code = self._machine_code.get(kinds)
        if code is None:
            from epsilometer.numerics.machine_code import machine_code

            code = machine_code(self._function, arguments, _parts)
            self._machine_code[kinds] = code
        return code(*arguments)


def _kind(argument: Any) -> Any:
    """Return what Numba's type of an argument follows from, in a tenth of Numba's time."""
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num | _OWNS_MEMORY
    return type(argument)


def compiled(function: Callable[..., Any]) -> Loop:
    """Let Numba compile a function on its first call, and keep the machine code on the disk.

    It is called without keywords and defaults. Functions that it calls are a `compiled_part`.
    """
    return Loop(function)


def compiled_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let loops of its module call a function; when Python calls it, it is not compiled."""
    _parts.append(function)
    return function
