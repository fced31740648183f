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
from epsilometer.settings.models import parse
from epsilometer.settings.registry import load
from epsilometer_workflow.configuration.config import MechanismEntry
from epsilometer_workflow.configuration.functions import RENDERERS
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.products import rehearsal
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.reports import grouping, style
from epsilometer_workflow.reports.grouping import IDENTITY, PAIRS, told
from epsilometer_workflow.stages import render, tabulate

STUDY = Study("config", {"scale": "smoke"})
MADE = [
    (report, name)
    for report, entry in STUDY.reports.items()
    for name, artifact in entry.artifacts.items()
    if artifact.table.data
]


def rows_of_grid(made):
    """Return how many rows an artifact has in the grids of its experiments."""
    return len(list(Table(STUDY, *made).combinations()))


DRAWN = {}  # of each figure the smallest artifact that shows it
CASES, _BUILT = [], set()  # the smallest of each builder, options and figure; others are examples
for _report, _name in sorted(MADE, key=rows_of_grid):
    _artifact = STUDY.reports[_report].artifacts[_name]
    DRAWN.setdefault(_artifact.figure, (_report, _name))
    _way = (_artifact.table.builder, tuple(sorted(_artifact.table.options)), _artifact.figure)
    _marks = [pytest.mark.examples] if _way in _BUILT else []
    CASES.append(pytest.param(_report, _name, marks=_marks))
    _BUILT.add(_way)
ROWS = 12  # of a table, from its first to its last, are compared with the made-up rows
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
    titles = kept["table"].get("options", {}).get("panels", {})
    chosen = kept["table"].get("options", {}).get("epsilon")
    titled = {title.partition(" ")[0] for title in titles}
    for experiment in entry["experiments"].values():  # what has no title is in other artifacts
        for block in experiment["grid"]:
            block["mechanism"] = [m for m in block["mechanism"] if m in titled or not titled]
            block["epsilon"] = [e for e in block["epsilon"] if chosen in (None, e)]
        experiment["grid"] = [b for b in experiment["grid"] if b["mechanism"] and b["epsilon"]]
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
    return made.sides()


def changed_parameters(entry):
    """Return an estimator's entry with another value of one parameter."""
    known = ESTIMATORS.load(entry["estimator"]).__dataclass_fields__
    parameters = entry.get("parameters", {})
    name = next(name for name in CHANGED if name in parameters or name in known)
    value = parameters.get(name, known[name].default) * CHANGED[name]
    value = int(value) if name in ("points", "draws_at_floor") else value
    return entry | {"parameters": parameters | {name: value}}


def add(axis: str, files, entry, kept):
    """Add a further value of an axis to a grid of an artifact; return how it is written."""
    mechanisms, estimators = files["mechanisms.yaml"], files["estimators.yaml"]
    panels = kept["table"].get("options", {}).get("panels", {})
    experiment = next(iter(entry["experiments"]))
    shown = kept["table"].get("options", {}).get("epsilon")
    grid = entry["experiments"][experiment]["grid"]
    block = next(b for b in grid if shown is None or shown in b["epsilon"])
    if axis == "n":
        size = entry["scales"]["smoke"][experiment]
        sizes = size["n"] if isinstance(size["n"], list) else [size["n"]]
        size["n"] = [*sizes, further_n(sizes[0])]
        return re.findall(r"\d+", str(size["n"][-1]))
    if axis == "mechanism":
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
    return [SPELLED.get(axis, FURTHER)]


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


# --- what is asked of a refusal -------------------------------------------------------------------


def it_names_the_place_and_the_value(said, axis, report, added):
    """In one line: file, key, axis and value."""
    assert "\n" not in said
    file, key, *rest = said.split(": ", 2)
    assert Path(file).name in (f"{report}.yaml", "mechanisms.yaml", "estimators.yaml")
    assert key
    assert rest
    assert axis in said, said
    assert any(str(value) in said for value in added), said


# --- what is asked of the table -------------------------------------------------------------------


@cache
def before(report, artifact):
    """Return the table as it is, with the same made-up estimates."""
    return rehearsal.built_of(Table(STUDY, report, artifact), Place("file"))


def cells_of(table, columns):
    """Return rows as tuples that can be compared and counted."""
    plain = table[columns].astype(object).where(table[columns].notna(), None)
    return [tuple(row) for row in plain.itertuples(index=False)]


def is_further(axis, value):
    """Return whether a value of an axis is one that the test has added."""
    if axis == "n":
        return False
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


def every_new_row_is_told_apart(axis, new, stays):
    """No new row has the same values of axes as an old one, and their own column has the value."""
    named = [c for c in new if c in (*IDENTITY, "panel", "setting") and c not in PAIRS]
    old = {*cells_of(new[stays], named)}
    assert not old & {*cells_of(new[~stays], named)}, "new rows look like old ones"
    if axis in new and axis != "n" and new[axis].map(lambda value: is_further(axis, value)).any():
        assert new.loc[~stays, axis].map(lambda value: is_further(axis, value)).all()


def rows_of(study, report, table):
    """Return the made-up rows that a table is made of."""
    kind = tabulate.reads(load(table.builder))
    names = table.definition.table.data
    return pd.concat([rehearsal._rows(study, report, name, kind) for name in names])


def the_exact_values_are_those_of_each_row(table, made):
    """Columns of exact values, which are made up for each identity, hold those of their own row."""
    columns = [c for c in ("truth", "violation", "divergence", "level") if c in table]
    if "truth" not in made or "k" in table or "at_delta" in table:  # of another quantity
        return
    same = [c for c in (*IDENTITY, "claim") if c in table and c in made and c not in PAIRS]
    as_text = made[same].astype(str)
    compared = table.iloc[np.unique(np.linspace(0, len(table) - 1, ROWS).astype(int))]
    for row in compared.to_dict("records"):
        known = {c: written_as(row[c], as_text[c]) for c in same}
        own = made[np.logical_and.reduce([as_text[c] == v for c, v in known.items() if v])]
        exact = own[["truth", "truth_reverse", "level"]].to_numpy()
        for column in columns:
            assert np.isnan(row[column]) or np.isclose(exact, row[column], rtol=1e-12).any(), row


def written_as(value, texts):
    """Return how rows write a value of the table; nothing if it is a label of the table's own."""
    for text in (str(value), str(value).removesuffix(".0")):
        if (texts == text).any():
            return text
    return None


def what_laws_say_is_of_the_own_mechanism(study, table, built):
    """Columns that follow from a law, by formulas of their own."""
    combinations = table.combinations()
    options = table.definition.table.options
    first = vars(combinations[0]) | {"lambda": combinations[0].order}
    for row in built.drop_duplicates([c for c in built if c in IDENTITY] or None).to_dict(
        "records"
    ):
        one = {k: row.get(k, first[k]) for k in ("mechanism", "epsilon", "inputs", "lambda")}
        law, order = study.law(one["mechanism"], float(one["epsilon"])), float(one["lambda"])
        steep = getattr(law, "lipschitz_output", math.nan)
        if "planned_n" in row:
            gamma = study.estimator(row.get("estimator", first["estimator"])).gamma
            goal = {"gamma": gamma, "delta": options["delta"], "order": order}
            assert same(row["planned_n"], planned(lipschitz=steep, union=False, **goal))
        if "n_pr" in row and "C" in row:
            assert same(row["C"], study.claims(one["mechanism"], float(one["epsilon"])).lipschitz)
        if "n_direct" in row:
            ends = ((0.0, 1.0), (1.0, 0.0))
            assert same(row["level"], max(divergence(law, order, *pair) for pair in ends))
        if "classical" in row:
            mechanism = study.mechanism(one["mechanism"], float(one["epsilon"]))
            noise = row["claim"] * getattr(mechanism, "sigma", math.nan)
            assert same(row["classical"], np.minimum(1.25 * math.exp(-(noise**2) / 2), 1.0))
        if row.get("kind") != "curve" and "exact_1" not in row:
            continue
        x, x_prime = study.inputs(one["mechanism"], one["inputs"]).sides()[:2]
        for column in [c for c in row if c.startswith("exact_")]:
            neighbour = study.law(one["mechanism"], float(column.removeprefix("exact_")))
            assert same(row[column], spectrum(neighbour, [row["claim"]], x, x_prime)[0])
        if "density" in row:
            assert same(row["density"], law.pdf(row["z"], x))


def planned(**goal):
    try:
        return planner.sample_size(**goal)
    except EpsilometerError:
        return math.nan


def same(found, expected):
    missing = pd.isna(found) or pd.isna(expected)
    return pd.isna(found) == pd.isna(expected) if missing else math.isclose(found, expected)


# --- what is asked of the figure ------------------------------------------------------------------


def every_line_is_of_one_group(figure, table, shows):
    """Lines join points of one group of identity; made-up numbers tell the groups apart."""
    along = {*shows.x, *(axis for c in shows.x for axis in shows.tells.get(c, ()))}
    keys = [c for c in ("panel", "setting", *IDENTITY) if c in table and c not in along]
    numbers = [c for c in table.select_dtypes("number") if c not in keys]
    groups = [values_of(g[numbers]) for _, g in table.groupby(keys, dropna=False)] if keys else []
    every = set().union(*groups)
    for line in (line for axes in figure.axes for line in axes.lines):
        drawn = values_of(pd.DataFrame({"y": np.asarray(line.get_ydata(), float)}))
        joined = line.get_linestyle() != "None" and len(drawn) > 1
        if joined and drawn <= every:
            assert any(drawn <= group for group in groups), (keys, sorted(drawn)[:3])


def values_of(frame):
    numbers = frame.to_numpy(float, na_value=np.nan).ravel()
    return {float(f"{number:.10g}") for number in numbers[np.isfinite(numbers)]}


def every_value_is_named(figure, table, shows):
    """The further value, in a title, a legend or at an axis; or a label of the table says it."""
    texts = [text.get_text() for text in figure.findobj(Text)]
    texts += [t.get_text() for f in figure.subfigs for t in f.findobj(Text)]
    said = "\n".join(texts).replace(",", "")
    along = {*shows.x, *(axis for c in shows.x for axis in shows.tells.get(c, ()))}
    for axis in (axis for axis in IDENTITY if axis in table and axis not in along):
        labels = [c for c in shows.tellers(axis) if c in table and c != axis]
        if table[axis].nunique() < 2 or (labels and told(table[axis], table[labels])):
            continue
        for value in (value for value in table[axis].unique() if is_further(axis, value)):
            names = {str(value), style.named(str(value))}
            names |= {f"{value:g}"} if isinstance(value, float) else set()
            assert any(name.replace(",", "") in said for name in names), (axis, value, texts)


# --- the test -------------------------------------------------------------------------------------


def tables_that_checks_build(monkeypatch):
    """Return a list to which a check of the configuration adds each table that it builds."""
    built, build = [], rehearsal.built_of

    def built_of(table, place):
        built.append(build(table, place))
        return built[-1]

    monkeypatch.setattr(rehearsal, "built_of", built_of)
    return built


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("report", "artifact"), CASES)
def test_a_further_value_is_told_apart_or_refused(report, artifact, axis, tmp_path, monkeypatch):
    old = before(report, artifact)
    built = tables_that_checks_build(monkeypatch)
    files, entry, kept = alone(report, artifact)
    added = add(axis, files, entry, kept)
    folder = written(tmp_path / "config", files, report, entry)
    try:
        study = checked(folder, {"scale": "smoke"})
    except ConfigError as error:
        it_names_the_place_and_the_value(str(error), axis, report, added)
        return
    table = Table(study, report, artifact)
    (new,) = built
    stays = the_old_rows_are_unchanged(old, new)
    of_draws = tabulate.reads(load(table.builder)) == "samples" and axis in ("lambda", "estimator")
    chosen = {axis, {"estimator": "gamma"}.get(axis)} & {*table.definition.table.options}
    if of_draws or chosen:  # draws have neither, and what is chosen stays
        assert stays.all()
    else:
        assert not stays.all()
        every_new_row_is_told_apart(axis, new, stays)
    the_exact_values_are_those_of_each_row(new, rows_of(study, report, table))
    what_laws_say_is_of_the_own_mechanism(study, table, new)
    if kept.get("figure") and DRAWN[kept["figure"]] == (report, artifact):
        renderer = load(RENDERERS.target(report, kept["figure"]))
        with np.errstate(all="ignore"):
            figure = render.drawn(new, new.head(0), renderer)
        every_line_is_of_one_group(figure, new, renderer.shows)
        every_value_is_named(figure, new, renderer.shows)
        plt.close(figure)


def test_a_builder_that_gets_two_groups_at_once_is_found(tmp_path, monkeypatch):
    """The questions above can fail: here the engine calls the builder with all rows at once."""
    files, entry, kept = alone("gorla2022", "table3")
    add("mechanism", files, entry, kept)
    folder = written(tmp_path / "config", files, "gorla2022", entry)
    old = before("gorla2022", "table3")
    monkeypatch.setattr(grouping, "by_group", lambda build, rows, *_: build(rows))
    table = Table(Study(folder, {"scale": "smoke"}), "gorla2022", "table3")
    with pytest.raises(AssertionError, match="old rows are gone or changed"):
        the_old_rows_are_unchanged(old, rehearsal.built_of(table, Place("")))
