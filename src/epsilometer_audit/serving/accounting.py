"""Calls of an accountant: a function that returns the claimed level."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from .errors import Broken, Misuse, error_text, shortened, type_text
from .loading import find
from .sampling import ObjectFactory
from .signatures import by_name, parameters_of


def account(
    spec: str, folder: str | os.PathLike[str] = ".", parameters: Mapping[str, Any] | None = None
) -> float:
    """Return the number that ``file.py:function`` or ``package.module:function`` returns.

    The function gets those of the ``parameters`` that it names. Raise `Misuse` if it cannot be
    found or loaded, or needs other parameters. Raise `Broken` if it fails, or does not return one
    finite positive number.
    """
    function, name, home = find(spec, folder)
    function = function.first if isinstance(function, ObjectFactory) else function
    if inspect.isclass(function) or not callable(function):
        kind = "a class" if inspect.isclass(function) else type_text(function)
        raise Misuse(name, f"must be a function, got {kind}")
    arguments = _arguments(function, dict(parameters or {}), name)
    with home.entered(), contextlib.redirect_stdout(sys.stderr):
        try:
            answer = function(**arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(error_text(error)) from error
    return _number(answer)


def _arguments(function: Any, known: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the known parameters that a function names."""
    own = parameters_of(function) or []
    if any(p.kind is p.VAR_KEYWORD for p in own):
        return known
    named = by_name(own)
    for p in own:
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
            if p.name not in named:
                raise Misuse(name, f"takes {p.name!r} by position; it is given parameters by name")
            if p.name not in known:
                message = f"needs {p.name!r}, which is not a parameter"
                raise Misuse(name, message, p.name, list(known) or None)
    return {key: known[key] for key in named if key in known}


def _number(answer: Any) -> float:
    with contextlib.suppress(Exception):
        answer = answer.item()  # NumPy's numbers, and arrays of one
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise Broken(f"returned {type_text(answer)}; an accountant returns one number")
    try:
        number = float(answer)
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        shown = shortened(repr(answer))
        raise Broken(f"returned {shown}; an accountant returns a finite positive number")
    return number
