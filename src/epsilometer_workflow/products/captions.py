"""Captions are templates: a name in braces stands for what the grid or the options say.

``{epsilon}`` is "epsilon = 1", or "epsilon from 0.3 to 2" where it varies. So a caption cannot say
what the grid does not.
"""

from __future__ import annotations

import math
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
        {**more, **c} for c, more in zip(grid, parameters, strict=True) if _is_shown(c, options)
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
    alike = [
        axis
        for axis in (*grid, {})[0]
        if f"{{{axis}}}" not in raw and len(known.get(axis, [])) == 1
    ]
    said = ", ".join(_said(axis, known[axis]) for axis in alike if known[axis] != [0])
    return f"{text} In all: {said}." if said else text


def _is_shown(c: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Return whether a table shows estimates of this identity."""
    titled = options.get("panels")
    named = not titled or bool({c["mechanism"], f"{c['mechanism']} {c['inputs']}"} & titled.keys())
    chosen = {axis: options[axis] for axis in c if axis in options}
    return named and all(_same(c[axis], value) for axis, value in chosen.items())


def _same(value: Any, chosen: Any) -> bool:
    """Return whether a value of a grid is the one that an option chooses, as 2/7."""
    if isinstance(value, str) and isinstance(chosen, str):
        return value == chosen
    return math.isclose(float(value), float(Fraction(chosen)))


def _said(name: str, values: Sequence[Any]) -> str:
    """Return values in words, with the name of what they are of."""
    if name in _BY_NAME:
        return " and ".join(map(str, values)) if len(values) < 3 else ", ".join(map(str, values))
    numbers = sorted(values, key=float)
    texts = [
        f"{number:,}" if isinstance(number, int) else f"{float(number):.6g}" for number in numbers
    ]
    if len(texts) == 1:
        return f"{name} = {texts[0]}"
    return f"{name} from {texts[0]} to {texts[-1]}"
