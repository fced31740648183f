"""Loops that Numba compiles on their first call: importing Numba takes longer than most jobs.

Without Numba they run as Python, some hundred times slower, with the same results.
"""

from collections.abc import Callable
from functools import cache, update_wrapper
from importlib.util import find_spec
from typing import Any

import numpy as np

_OWNS_MEMORY = 4  # bit of an array's flags, of which its type says nothing
_parts: list[Callable[..., Any]] = []  # of which Numba does not know yet


@cache
def has_compiler() -> bool:
    """Tell whether Numba is installed."""
    return find_spec("numba") is not None


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
            code = self._machine_code[kinds] = self._new_code(arguments)
        return code(*arguments)

    def _new_code(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if not has_compiler():
            return np.errstate(all="ignore")(self._function)
        from epsilometer.numerics.machine_code import machine_code

        return machine_code(self._function, arguments, _parts)


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
