"""How a builder is called: what it takes is read from its signature, and errors are placed.

A builder's options are its keyword-only parameters, typed. Its one positional parameter, if it has
any, is the summary of one experiment (a data frame) or those of several (a list of data frames).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import pandas as pd

from epsilometer import config
from epsilometer.errors import ArgumentError, ConfigError

Builder = Callable[..., pd.DataFrame]


def check(
    builder: Builder, data: list[Any], options: Mapping[str, Any], file: str, key: str
) -> None:
    """Raise `ConfigError` unless the builder takes these data and options.

    A builder that takes no data depends on its options alone, so it is simply called.
    """
    _parse(builder, options, file, key)
    kind = _takes(builder)
    fits = {None: not data, "one": len(data) == 1, "several": bool(data)}[kind]
    if not fits:
        wanted = {None: "no experiment", "one": "one experiment", "several": "experiments"}[kind]
        raise ConfigError(file, f"{key}.table.data", f"{builder.__name__} takes {wanted}")
    if kind is None:
        build(builder, [], options, file, key)


def build(
    builder: Builder,
    data: list[pd.DataFrame],
    options: Mapping[str, Any],
    file: str,
    key: str,
) -> pd.DataFrame:
    """Build the table; an argument it refuses is an error of the artifact's configuration."""
    arguments = {None: [], "one": data, "several": [data]}[_takes(builder)]
    try:
        return builder(*arguments, **_parse(builder, options, file, key))
    except ArgumentError as error:
        raise ConfigError(file, f"{key}.table.options", str(error)) from None


def _parse(builder: Builder, options: Mapping[str, Any], file: str, key: str) -> dict[str, Any]:
    model = config.options_model(builder)
    return dict(config.parse(model, dict(options), file, f"{key}.table.options"))


def _takes(builder: Builder) -> str | None:
    code = builder.__code__
    if not code.co_argcount:
        return None
    hint = get_type_hints(builder)[code.co_varnames[0]]
    return "one" if hint is pd.DataFrame else "several"
