"""Captions are templates: a name in braces stands for what the grid or the options say.

``{epsilon}`` is "epsilon = 1", or "epsilon from 0.3 to 2" where it varies. So a caption cannot say
what the grid does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from epsilometer.errors import ArgumentError, suggest
from epsilometer_workflow.configuration.config import Artifact

_SCALAR = (str, int, float)
_BY_NAME = ("mechanism", "inputs", "estimator")  # without "mechanism ="


def filled(
    artifact: Artifact, grid: Sequence[Mapping[str, Any]], parameters: Sequence[Mapping[str, Any]]
) -> str:
    """Return the caption of an artifact, and what is alike in all estimates that it shows."""
    raw, options = artifact.caption.strip(), artifact.table.options
    shown = [
        {**more, **c} for c, more in zip(grid, parameters, strict=True) if is_shown(c, options)
    ]
    known = {name: [value] for name, value in options.items() if isinstance(value, _SCALAR)}
    own = {name for name in options if name not in (*grid, {})[0]}
    for name in dict.fromkeys(name for one in shown for name in one if name not in own):
        values = [one[name] for one in shown if isinstance(one.get(name), _SCALAR)]
        known[name] = list(dict.fromkeys(values))
    for name in known:
        if name != "n" and (wrong := re.search(rf"\b{name} = \d[\d./]*", raw)):
            message = f"says {wrong[0]!r}; write {{{name}}}, for what the grid says"
            raise ArgumentError("caption", message)

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise ArgumentError(
                "caption", f"has {match[0]}, which is none{suggest(match[1], known)}"
            )
        return _said(match[1], known[match[1]])

    text = re.sub(r"\{([a-z]\w*)\}", value_of, raw)
    left = [axis for axis in (*grid, {})[0] if f"{{{axis}}}" not in raw]
    alike = [axis for axis in left if len(known.get(axis, [])) == 1 and known[axis] != [0]]
    said = ", ".join(_said(axis, known[axis]) for axis in alike)
    return f"{text} In all: {said}." if said else text


def is_shown(c: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Return whether a table with these options shows estimates of this identity."""
    titled = options.get("panels")
    named = not titled or bool({c["mechanism"], f"{c['mechanism']} {c['inputs']}"} & titled.keys())
    chosen = {axis: options[axis] for axis in c if axis in options}
    return named and all(_number(c[axis]) == _number(value) for axis, value in chosen.items())


def _number(value: str | float) -> str | float:
    """Return a number that may be written as 2/7 or inf; other texts as they are."""
    try:
        return float(Fraction(value)) if "/" in str(value) else float(value)
    except ValueError:
        return value


def _said(name: str, values: Sequence[Any]) -> str:
    """Return values in words, with the name of what they are of."""
    numbers = [_number(value) for value in values]
    if name in _BY_NAME or any(isinstance(number, str) for number in numbers):
        return ", ".join(map(str, values))
    texts = [f"{n:,.0f}" if float(n).is_integer() else f"{n:.6g}" for n in sorted(numbers)]
    return f"{name} = {texts[0]}" if len(texts) == 1 else f"{name} from {texts[0]} to {texts[-1]}"
