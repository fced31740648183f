"""How a builder is called: what it takes is read from its signature, and errors are placed.

A builder's options are its keyword-only parameters, typed. Its one positional parameter, if it has
any, is what there is of one experiment (a data frame) or of several (a list of data frames), and
its name says what that is:

``summary``, ``summaries``
    Statistics over runs (`epsilometer.summaries.summarise`).
``runs``
    Every run beside the exact value (`epsilometer.summaries.with_truth`).
``samples``
    The draws themselves; for few.
``timings``
    Measured seconds (`epsilometer.timing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_type_hints

import pandas as pd

from epsilometer import config
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.storage import read_samples, read_table

Builder = Callable[..., pd.DataFrame]
_READS = {
    "summary": "summary",
    "summaries": "summary",
    "runs": "runs",
    "samples": "samples",
    "timings": "timings",
}


def check(
    builder: Builder, data: list[Any], options: Mapping[str, Any], file: str, key: str
) -> None:
    """Raise `ConfigError` unless the builder takes these data and options.

    A builder that takes no data depends on its options alone, so it is simply called.
    """
    _parse(builder, options, file, key)
    name = _data(builder)
    if name is not None and name not in _READS:
        message = f"{builder.__name__} takes {name!r}, not one of {', '.join(_READS)}"
        raise ConfigError(file, f"{key}.table.builder", message)
    kind = _takes(builder)
    fits = {None: not data, "one": len(data) == 1, "several": bool(data)}[kind]
    if not fits:
        wanted = {None: "no experiment", "one": "one experiment", "several": "experiments"}[kind]
        raise ConfigError(file, f"{key}.table.data", f"{builder.__name__} takes {wanted}")
    if kind is None:
        build(builder, [], options, file, key)


def reads(builder: Builder) -> str | None:
    """Return what a builder is given of each experiment: a value of `_READS`, or nothing."""
    name = _data(builder)
    return None if name is None else _READS[name]


def read(files: Sequence[str], expected: Sequence[Sequence[Any]], builder: Builder) -> list[Any]:
    """Read a data frame for each experiment; ``expected`` holds its files' identities, in order."""
    kind, rest = reads(builder), iter(files)
    read_one = _samples if kind == "samples" else partial(read_table, kind=str(kind))
    return [
        pd.concat([read_one(next(rest), expected=made) for made in parts], ignore_index=True)
        for parts in expected
    ]


def _samples(path: str, expected: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row a draw."""
    inputs = expected["inputs"]["values"]
    frames = [
        pd.DataFrame(
            {
                "mechanism": expected["mechanism"],
                "registered": expected["registered"],
                "parameters": json.dumps(expected["parameters"], sort_keys=True),
                "epsilon": expected["epsilon"],
                "run": run,
                "side": side,
                "x": json.dumps(inputs[side]),
                "output": outputs,
            }
        )
        for run, side, outputs in read_samples(path, expected)
    ]
    return pd.concat(frames, ignore_index=True)


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


def _data(builder: Builder) -> str | None:
    """Return the name of the positional parameter."""
    code = builder.__code__
    return code.co_varnames[0] if code.co_argcount else None


def _takes(builder: Builder) -> str | None:
    name = _data(builder)
    if name is None:
        return None
    return "one" if get_type_hints(builder)[name] is pd.DataFrame else "several"
