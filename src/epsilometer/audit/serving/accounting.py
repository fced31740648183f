"""Asks an accountant: a function that answers with the level that is claimed."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from .errors import Broken, Misuse, shortened, told, what_is
from .loading import find


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
            raise Broken(told(error)) from error
    return _number(answer)


def _named(function: Any, known: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a function names of the parameters that are known."""
    try:
        wanted = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # C functions often have none
        return {}
    if any(p.kind is p.VAR_KEYWORD for p in wanted):
        return known
    by_name = [p for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for p in wanted:
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
            if p not in by_name:
                raise Misuse(name, f"takes {p.name!r} by position; it is given parameters by name")
            if p.name not in known:
                raise Misuse(name, f"needs {p.name!r}, which is no parameter", p.name, list(known))
    return {p.name: known[p.name] for p in by_name if p.name in known}


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
