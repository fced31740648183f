"""Types of options that users write, which are checked before a run.

The configuration of a workflow and the builders of its tables share them, and those of files of
audits; an error is one line with file, key, problem and the nearest valid name.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, create_model

from epsilometer.models import Model


def _number(value: object) -> object:
    """Read ``1/3`` and ``inf`` where YAML has only strings for them."""
    if isinstance(value, str) and re.fullmatch(r"\d+/[1-9]\d*", value):
        return float(Fraction(value))
    return math.inf if value == "inf" else value


def _privacy(value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError("must be positive and finite")
    return value


def _order(value: float) -> float:
    if not value > 1:
        raise ValueError("must be above 1 (inf for pure privacy)")
    return value


Epsilon = Annotated[float, BeforeValidator(_number), AfterValidator(_privacy)]
Order = Annotated[float, BeforeValidator(_number), AfterValidator(_order)]


@cache
def options_model(function: Any) -> type[BaseModel]:
    """Return a model of a function's keyword-only parameters."""
    hints = get_type_hints(function, include_extras=True)
    defaults = function.__kwdefaults__ or {}
    names = function.__code__.co_varnames[function.__code__.co_argcount :]
    fields: dict[str, Any] = {
        name: (hints[name], defaults.get(name, ...))
        for name in names[: function.__code__.co_kwonlyargcount]
    }
    return create_model(function.__name__, __base__=Model, **fields)
