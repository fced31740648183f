"""Every artifact of every report, with one further value of each axis of identity in its grid.

It is refused in one line, or the old rows are unchanged and each new row is told apart, has the
exact values of its own mechanism, and is drawn by itself. Estimates are made up, each of its
identity alone (`epsilometer_workflow.products.rehearsal`), so that a mixture shows.
"""

import json
import math
import re
import shutil
from copy import deepcopy
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.text import Text

from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer.estimators import ESTIMATORS, planner
from epsilometer.exact.base import divergence, spectrum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.models import parse
from epsilometer.registry import load
from epsilometer_workflow.configuration.config import MechanismEntry
from epsilometer_workflow.configuration.functions import RENDERERS
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products import rehearsal
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.reports import style
from epsilometer_workflow.reports.grouping import IDENTITY, grouped
from epsilometer_workflow.stages import render, tabulate

STUDY = Study("config", {"scale": "smoke"})
MADE = [
    (report, name)
    for report, entry in STUDY.reports.items()
    for name, artifact in entry.artifacts.items()
    if artifact.table.data
]
AXES = ("mechanism", "epsilon", "inputs", "lambda", "estimator", "n")
FURTHER = "further"
CHANGED = {"gamma": 0.8, "floor": 0.5, "draws_at_floor": 0.9, "points": 0.9, "alpha": 2}
SPELLED = {"epsilon": 0.45, "lambda": "3.5"}


# --- edits ----------------------------------------------------------------------------------------


@cache
def configuration():
    """Return the files of the configuration, as plain data; of two of them with `like` resolved."""
    names = ["mechanisms.yaml", "estimators.yaml", *(f"reports/{r}.yaml" for r in STUDY.reports)]
    files = {
        name: yaml.safe_load(Path(f"config/{name}").read_text(encoding="utf-8")) for name in names
    }
    for entries in (files["mechanisms.yaml"], files["estimators.yaml"]):
        for name, entry in entries.items():
            if "like" in entry:
                of = {key: value for key, value in entry.items() if key != "like"}
                entries[name] = entries[entry["like"]] | of
    return files


def alone(report: str, artifact: str):
    """Return the configuration with one artifact and its experiments."""
    entry = deepcopy(configuration()[f"reports/{report}.yaml"])
    kept = entry["artifacts"][artifact]
    names = kept["table"]["data"]
    entry["artifacts"] = {artifact: kept}
    entry["experiments"] = {name: entry["experiments"][name] for name in names}
    entry["scales"] = {"smoke": {name: entry["scales"]["smoke"][name] for name in names}}
    blocks = [block for e in entry["experiments"].values() for block in e["grid"]]
    plans = [e.get("plan", {}).get("estimator") for e in entry["experiments"].values()]
    used = {name for b in blocks for name in b["mechanism"]}
    methods = {name for b in blocks for name in b["estimator"]} | {*filter(None, plans)}
    known = configuration()
    methods |= {known["estimators.yaml"][m].get("parameters", {}).get("after", m) for m in methods}
    files = {
        "mechanisms.yaml": {name: known["mechanisms.yaml"][name] for name in sorted(used)},
        "estimators.yaml": {name: known["estimators.yaml"][name] for name in sorted(methods)},
    }
    return deepcopy(files), entry, kept


def another_mechanism(entry, block, mechanisms):
    """Return an entry of the same kind of outputs, of another mechanism if one takes the inputs."""
    own = load(MECHANISMS[entry["mechanism"]])
    values = [x for inputs in entry["inputs"].values() for x in sides(inputs)]
    for other in mechanisms.values():
        kind = load(MECHANISMS[other["mechanism"]])
        if kind is own or kind.outputs != own.outputs:
            continue
        claims = other.get("claims", {}).keys() >= entry.get("claims", {}).keys()
        try:
            mechanism = kind(epsilon=3.0, **other.get("parameters", {}))
            for x in values:
                mechanism.check_input(x)
        except EpsilometerError:
            continue
        if claims:
            changed = {key: other[key] for key in ("mechanism", "parameters") if key in other}
            return {"inputs": entry["inputs"], "claims": other.get("claims", {})} | changed
    return dict(entry)


def sides(inputs):
    """Return the inputs of a set, one a side."""
    made = parse(MechanismEntry, {"mechanism": "any", "inputs": {"i": inputs}}, "test").inputs["i"]
    return made if isinstance(made, list) else made.sides()


def changed_parameters(entry):
    """Return an estimator's entry with another value of one parameter."""
    known = ESTIMATORS.load(entry["estimator"]).__dataclass_fields__
    parameters = entry.get("parameters", {})
    name = next(name for name in CHANGED if name in parameters or name in known)
    value = parameters.get(name, known[name].default) * CHANGED[name]
    value = int(value) if name in ("points", "draws_at_floor") else value
    return entry | {"parameters": parameters | {name: value}}


def add(axis: str, files, entry, kept):
    """Add a further value of an axis to every grid of an artifact."""
    mechanisms, estimators = files["mechanisms.yaml"], files["estimators.yaml"]
    panels = kept["table"].get("options", {}).get("panels", {})
    experiment = next(iter(entry["experiments"]))
    block = entry["experiments"][experiment]["grid"][0]
    if axis == "n":
        size = entry["scales"]["smoke"][experiment]
        sizes = size["n"] if isinstance(size["n"], list) else [size["n"]]
        size["n"] = [*sizes, further_n(sizes[0])]
    elif axis == "mechanism":
        first = block["mechanism"][0]
        known = configuration()["mechanisms.yaml"]
        mechanisms[FURTHER] = another_mechanism(mechanisms[first], block, known)
        block["mechanism"].append(FURTHER)
        if panels:
            panels[FURTHER] = "another mechanism"
    elif axis == "inputs":
        for name in block["mechanism"]:
            first = sides(mechanisms[name]["inputs"][block["inputs"][0]])[:2]
            mechanisms[name]["inputs"] = mechanisms[name]["inputs"] | {FURTHER: first[::-1]}
            if any(title.startswith(f"{name} ") for title in panels):
                panels[f"{name} {FURTHER}"] = "other inputs"
        block["inputs"].append(FURTHER)
    elif axis == "estimator":
        estimators[FURTHER] = changed_parameters(estimators[block["estimator"][0]])
        block["estimator"].append(FURTHER)
    else:
        block[axis].append(float(SPELLED[axis]))


def further_n(n):
    """Return about two thirds of a number of draws."""
    numbers = re.findall(r"\d+", str(n))
    if str(n).startswith("1.."):
        return f"1..{3 * int(numbers[-1]) // 4}"
    parts = [2 * int(number) // 3 for number in numbers]
    return parts[0] if len(parts) == 1 else "+".join(map(str, parts))


def written(folder, files, report, entry):
    """Write a configuration; return its folder."""
    (folder / "reports").mkdir(parents=True)
    for name, content in {**files, f"reports/{report}.yaml": entry}.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    shutil.copy("config/config.yaml", folder)
    return folder


def built(folder, report, artifact):
    """Return the study of a folder, all of it valid, and the table with made-up estimates."""
    study = checked(folder, {"scale": "smoke"})
    table = Table(study, report, artifact)
    return study, table, rehearsal.built_of(table, "file", "key")


# --- what is asked of the table -------------------------------------------------------------------


@cache
def before(report, artifact):
    """Return the table as it is, with the same made-up estimates."""
    return rehearsal.built_of(Table(STUDY, report, artifact), "file", "key")


def cells_of(table, columns):
    """Return rows as tuples that can be compared and counted."""
    plain = table[columns].astype(object).where(table[columns].notna(), None)
    return [tuple(row) for row in plain.itertuples(index=False)]


def is_further(axis, value):
    """Return whether a value of an axis is one that the test has added."""
    if axis in SPELLED:
        return math.isclose(float(value), float(SPELLED[axis]))
    return str(value).startswith(FURTHER)


def the_old_rows_are_unchanged(old, new):
    """Return which rows of the new table are those of the old one, each once and to the digit."""
    left, kept = cells_of(old, list(old)), []
    for row in cells_of(new, list(old)):
        kept.append(row in left)
        if kept[-1]:
            left.remove(row)
    assert not left, f"old rows are gone or changed: {left[:1]}"
    return np.array(kept)


def every_new_row_is_told_apart(axis, old, new, kept, own):
    """By a column of an axis of identity; where rows of one group are many, by all their columns."""
    named = [column for column in new if column in (*IDENTITY, "panel", "setting")]
    beside = [c for c in ("claim", "run", "pair", "z", "kind", "pairs", "rows", "k") if c in new]
    known = {*cells_of(new[kept], named)}
    assert not known & {*cells_of(new[~kept], named)}, "new rows look like old ones"
    assert not new[[*named, *beside]].duplicated().any() or own.duplicated([*named, *beside]).any()
    if axis in new and axis != "n":
        assert new.loc[~kept, axis].map(lambda value: is_further(axis, value)).all()


# --- the test -------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("report", "artifact"), MADE, ids=lambda name: name)
def test_a_further_value_is_told_apart_or_refused(report, artifact, axis, tmp_path):
    files, entry, kept = alone(report, artifact)
    add(axis, files, entry, kept)
    folder = written(tmp_path / "config", files, report, entry)
    try:
        study, table, new = built(folder, report, artifact)
    except ConfigError as error:
        print("REFUSED", report, artifact, axis, error)
        return
    print("BUILT", report, artifact, axis, len(new), list(new)[:12])
    old = before(report, artifact)
    stays = the_old_rows_are_unchanged(old, new)
    every_new_row_is_told_apart(axis, old, new, stays, old)
