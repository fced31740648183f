"""Models of files that users write: an error is one line with file, key and the nearest name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from epsilometer.errors import ConfigError, one_line, shown, suggest

ID = r"^[A-Za-z0-9][A-Za-z0-9._=-]*$"  # safe as a part of a path and of a shell word
Id = Annotated[str, StringConstraints(pattern=ID)]
Fractional = Annotated[float, Field(gt=0, lt=1)]


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


class Model(BaseModel):
    """A strict mapping of known keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


ModelType = TypeVar("ModelType", bound=BaseModel)


def parse(model: type[ModelType], value: object, file: str, prefix: str = "") -> ModelType:
    """Check a value against a model; every error is a line of the `ConfigError`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        by_key: dict[str, list[Any]] = {}
        for problem in error.errors():
            key = ".".join(filter(None, [prefix, *_path(problem, value)]))
            by_key.setdefault(key, []).append(problem)
        raise ConfigError.joined(
            str(ConfigError(file, key, _message(problems, model)))
            for key, problems in by_key.items()
        ) from None


def _path(problem: Any, value: object) -> list[str]:
    """Return the keys that lead to a problem, without the names pydantic gives to alternatives."""
    keys = []
    *_, last = problem["loc"] or (None,)
    for part in problem["loc"]:
        is_key = isinstance(value, dict) and part in value
        is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_key or is_index:
            value = value[part]  # type: ignore[index]
        elif not (part is last and problem["type"] == "missing"):
            continue
        keys.append(str(part))
    return keys


def _message(problems: list[Any], model: type[BaseModel]) -> str:
    """Return one message for a key, with all alternatives of its type."""
    first = problems[0]
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][-1])
        return f"unknown key{suggest(name, _keys(model) - {name})}"  # it may be one elsewhere
    if first["type"] == "missing":
        return "is missing"
    if first["type"] == "string_pattern_mismatch":
        marks, end = ("._=-", "digit") if first["ctx"]["pattern"] == ID else ("_", "_")
        near = re.sub(f"[^A-Za-z0-9{marks}]+", "_", first["input"])
        near = near.lstrip(marks if marks != end else "0123456789") or "name"
        return f"must begin with a letter or {end}, then letters, digits and {marks}, as {near!r}"
    texts = [one_line(problem["msg"]).removeprefix("Value error, ") for problem in problems]
    texts = [re.sub("^(Input|List|Dictionary|String) should", "must", text) for text in texts]
    texts = [re.sub(r"a valid dictionary.*", "a mapping of keys", text) for text in texts]
    alternatives = [re.sub("^must (be )?", "", text) for text in list(dict.fromkeys(texts))[1:]]
    message = f"{' or '.join([texts[0], *alternatives])}, got {shown(first['input'], 180)}"[:240]
    number = first["type"] == "string_type" and type(first["input"]) in (int, float)
    return message + "; put it in quotes" * number


def _keys(model: type[BaseModel]) -> set[str]:
    """Return every key that the model and the models within it know."""
    keys = set()
    for name, field in model.model_fields.items():
        keys.add(field.alias or name)
        for inner in _models_in(field.annotation):
            keys |= _keys(inner)
    return keys


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type: itself, or the parts of a list, mapping or union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
