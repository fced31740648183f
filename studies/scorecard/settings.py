"""The configuration of the papers, value by value: statements on settings are compared with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from epsilometer.settings.models import Model
from epsilometer_workflow.configuration import config
from epsilometer_workflow.configuration.study import Study

TABLE = "scorecard/settings"
"""The name of the table, whose rows are settings, with their values as JSON."""

_WORDS = {"title", "caption", "paper", "layout"}  # texts of a report, which no result depends on


def table(folder: Path, scale: str) -> pd.DataFrame:
    """Return every value of the configuration in a folder, by the keys that lead to it.

    ``main`` has the scale and the scales' names. Mechanisms and estimators have all their
    parameters, also those at their defaults.
    """
    study = Study(folder, {"scale": scale})
    settings = dict(_flat({"scale": scale, "scales": [*study.main.scales]}, "main"))
    settings |= _flat(study.every_report, "reports")
    for name in study.mechanisms:
        settings |= _parameters(study.mechanism(name, 1.0), f"mechanisms.{name}")
    for name in study.estimators:
        settings |= _parameters(study.estimator(name), f"estimators.{name}")
    settings |= _flat(study.mechanisms, "mechanisms")
    return pd.DataFrame(settings.items(), columns=["setting", "value"])


def _parameters(instance: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for field in fields(instance):
        if field.name != "epsilon":
            yield from _flat(getattr(instance, field.name), f"{prefix}.parameters.{field.name}")


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield each value of a part of the configuration, as JSON, with the keys that lead to it.

    >>> list(_flat({"bounds": {"runs": 2, "n": [10, 20]}}, "scales"))
    [('scales.bounds.runs', '2'), ('scales.bounds.n', '[10, 20]')]
    """
    if isinstance(value, Model):
        named = {field.alias or name: name for name, field in type(value).model_fields.items()}
        value = {key: getattr(value, name) for key, name in named.items() if key not in _WORDS}
    if isinstance(value, config.Listed):
        value = value.root
    if isinstance(value, list | tuple) and any(isinstance(entry, Model | dict) for entry in value):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        yield prefix, json.dumps(value)
        return
    for key, inner in value.items():
        yield from _flat(inner, f"{prefix}.{key}")
