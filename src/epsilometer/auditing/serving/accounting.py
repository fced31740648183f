"""Asks an accountant: a function that answers with the level that is claimed."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from .errors import Broken, Misuse, described, shortened, what_is
from .loading import find
from .sampling import Made
from .signatures import by_name, parameters_of


def account(
    spec: str, folder: str | os.PathLike[str] = ".", parameters: Mapping[str, Any] | None = None
) -> float:
    """Return the number that ``file.py:function`` or ``package.module:function`` answers.

    The function is given those of the ``parameters`` that it names.

    Raises
    ------
    Misuse
        If it cannot be found or loaded, or needs other parameters.
    Broken
        If it fails, or what it returns is not one finite positive number.
    """
    function, name, place = find(spec, folder)
    function = function.first if isinstance(function, Made) else function
    if inspect.isclass(function) or not callable(function):
        what = "a class" if inspect.isclass(function) else what_is(function)
        raise Misuse(name, f"is no function but {what}")
    given = _named(function, dict(parameters or {}), name)
    with place.entered(), contextlib.redirect_stdout(sys.stderr):
        try:
            answer = function(**given)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Broken(described(error)) from error
    return _number(answer)


def _named(function: Any, known: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a function names of the parameters that are known."""
    wanted = parameters_of(function) or []
    if any(p.kind is p.VAR_KEYWORD for p in wanted):
        return known
    named = by_name(wanted)
    for p in wanted:
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
            if p.name not in named:
                raise Misuse(name, f"takes {p.name!r} by position; it is given parameters by name")
            if p.name not in known:
                message = f"needs {p.name!r}, which is no parameter"
                raise Misuse(name, message, p.name, list(known) or None)
    return {key: known[key] for key in named if key in known}


def _number(answer: Any) -> float:
    with contextlib.suppress(Exception):
        answer = answer.item()  # NumPy's numbers, and arrays of one
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise Broken(f"returned {what_is(answer)}; an accountant returns one number")
    try:
        number = float(answer)
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        shown = shortened(repr(answer))
        raise Broken(f"returned {shown}; an accountant returns a finite positive number")
    return number
