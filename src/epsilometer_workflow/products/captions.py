"""Captions are templates: a name in braces stands for what the grid or the options say.

``{epsilon}`` is "epsilon = 1", or "epsilon from 0.3 to 2" where it varies. So a caption cannot say
what the grid does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilometer.errors import ArgumentError, suggest
from epsilometer_workflow.configuration.config import Artifact

_SCALAR = (str, int, float)
_BY_NAME = ("mechanism", "inputs", "estimator")  # without "mechanism ="


@dataclass(frozen=True)
class Shown:
    """Estimates that a table may show: their identity, and parameters of all that made them."""

    axes: Mapping[str, Any]
    parameters: Mapping[str, Any]


def filled(artifact: Artifact, grid: Sequence[Shown]) -> str:
    """Return the caption of an artifact, and what is alike in all estimates that it shows."""
    raw = artifact.caption.strip()
    axes = list(grid[0].axes) if grid else []
    known = _values(artifact.table.options, grid, axes)
    for name in known:
        if name != "n" and (wrong := re.search(rf"\b{name} = \d[\d./]*", raw)):
            message = f"says {wrong[0]!r}; write {{{name}}}, for what the grid says"
            raise ArgumentError("caption", message)

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name not in known:
            raise ArgumentError("caption", f"has {match[0]}, which is none{suggest(name, known)}")
        return _said(name, known[name])

    text = re.sub(r"\{([a-z]\w*)\}", value_of, raw)
    alike = []
    for axis in axes:
        values = known.get(axis, [])
        if f"{{{axis}}}" not in raw and len(values) == 1 and values != [0]:
            alike.append(_said(axis, values))
    return f"{text} In all: {', '.join(alike)}." if alike else text


def _values(
    options: Mapping[str, Any], grid: Sequence[Shown], axes: Sequence[str]
) -> dict[str, list[Any]]:
    """Return the values of each name, each once: of options, and of what the table shows.

    An option counts before a parameter of its name, but not before an axis, of which it chooses.
    """
    of_grid: dict[str, dict[Any, None]] = {}
    for shown in grid:
        if is_shown(shown.axes, options):
            for name, value in {**shown.parameters, **shown.axes}.items():
                if isinstance(value, _SCALAR) and (name in axes or name not in options):
                    of_grid.setdefault(name, {})[value] = None
    known = {}
    for name, value in options.items():
        if isinstance(value, _SCALAR):
            known[name] = [value]
    for name, values in of_grid.items():
        known[name] = list(values)
    return known


def is_shown(axes: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Return whether a table with these options shows estimates of this identity."""
    titles = options.get("panels")
    names = {axes["mechanism"], f"{axes['mechanism']} {axes['inputs']}"}
    if titles and names.isdisjoint(titles):
        return False
    for axis, value in axes.items():
        if axis in options and _number(value) != _number(options[axis]):
            return False
    return True


def _number(value: str | float) -> str | float:
    """Return a number that may be written as 2/7 or inf; other texts as they are."""
    try:
        return float(Fraction(value)) if "/" in str(value) else float(value)
    except ValueError:
        return value


def _said(name: str, values: Sequence[Any]) -> str:
    """Return values in words, with the name of what they are of."""
    numbers = list(map(_number, values))
    if name in _BY_NAME or any(isinstance(number, str) for number in numbers):
        return ", ".join(map(str, values))
    least = _written(min(numbers))
    if len(values) == 1:
        return f"{name} = {least}"
    return f"{name} from {least} to {_written(max(numbers))}"


def _written(number: Any) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:.6g}"
