"""Every artifact of every report, with one further value of each axis of identity in its grid.

It is refused in one line, or the old rows are unchanged and each new row is told apart, has the
exact values of its own identity, and is drawn by itself. Estimates and exact values are made up,
each of its identity alone (`epsilometer_workflow.products.rehearsal`), so that a mixture shows.
"""

import json
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

from epsilometer.errors import ConfigError
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
SPELLED = {"epsilon": "0.45", "lambda": "3.5"}


# --- edits ----------------------------------------------------------------------------------------


@cache
def configuration(file):
    """Return a file of the configuration, as plain data with `like` resolved."""
    entries = yaml.safe_load(Path("config", file).read_text(encoding="utf-8"))
    for name, entry in entries.items():
        if "like" in entry:
            own = {key: value for key, value in entry.items() if key != "like"}
            entries[name] = entries[entry["like"]] | own
    return entries


def alone(report, artifact):
    """Return the configuration with one artifact and its experiments."""
    entry = deepcopy(configuration(f"reports/{report}.yaml"))
    kept = entry["artifacts"][artifact]
    names = kept["table"]["data"]
    entry["artifacts"] = {artifact: kept}
    entry["experiments"] = {name: entry["experiments"][name] for name in names}
    entry["scales"] = {"smoke": {name: entry["scales"]["smoke"][name] for name in names}}
    options = kept["table"].setdefault("options", {})
    titled = {title.partition(" ")[0] for title in options.get("panels", {})}
    used = set()
    for experiment in entry["experiments"].values():  # what has no title is in other artifacts
        blocks = experiment["grid"]
        for block in blocks:
            block["mechanism"] = [m for m in block["mechanism"] if m in titled or not titled]
            used.update(block["mechanism"])
            block["epsilon"] = [e for e in block["epsilon"] if options.get("epsilon") in (None, e)]
        experiment["grid"] = [b for b in blocks if b["mechanism"] and b["epsilon"]]
    known = configuration("mechanisms.yaml")
    files = {"mechanisms.yaml": {name: known[name] for name in sorted(used)}}
    files["estimators.yaml"] = configuration("estimators.yaml")
    return deepcopy(files), entry, kept


def add(axis, files, entry, kept):
    """Add a further value of an axis to a grid of an artifact; return how it is written."""
    panels = kept["table"]["options"].get("panels", {})
    experiment = next(iter(entry["experiments"]))
    block = entry["experiments"][experiment]["grid"][0]
    if axis == "n":
        size = entry["scales"]["smoke"][experiment]
        sizes = size["n"] if isinstance(size["n"], list) else [size["n"]]
        size["n"] = [*sizes, further_n(sizes[0])]
        return re.findall(r"\d+", str(size["n"][-1]))
    if axis in SPELLED:
        block[axis].append(float(SPELLED[axis]))
        return [SPELLED[axis]]
    if axis == "inputs":
        for name in block["mechanism"]:
            inputs = files["mechanisms.yaml"][name]["inputs"]
            inputs[FURTHER] = first_pair(inputs[block["inputs"][0]])[::-1]
            if any(title.startswith(f"{name} ") for title in panels):
                panels[f"{name} {FURTHER}"] = "other inputs"
    else:  # the same under another name
        entries = files[f"{axis}s.yaml"]
        entries[FURTHER] = entries[block[axis][0]]
        if axis == "mechanism" and panels:
            panels[FURTHER] = "another mechanism"
    block[axis].append(FURTHER)
    return [FURTHER]


def first_pair(inputs):
    """Return the first two inputs of a set, one a side."""
    made = parse(MechanismEntry, {"mechanism": "any", "inputs": {"i": inputs}}, "test").inputs["i"]
    return made.sides()[:2]


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


# --- what is asked of the table -------------------------------------------------------------------


@cache
def before(report, artifact):
    """Return the table as it is, with the same made-up estimates."""
    return rehearsal.built_of(Table(STUDY, report, artifact), Place("file"))


def cells_of(table, columns):
    """Return rows as tuples that can be compared and counted."""
    plain = table[columns].astype(object).where(table[columns].notna(), None)
    return [tuple(row) for row in plain.itertuples(index=False)]


def is_further(value):
    """Return whether a value of an axis, but for n, is one that the test has added."""
    return str(value).startswith((FURTHER, *SPELLED.values()))


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
    if axis in new and axis != "n" and new[axis].map(is_further).any():
        assert new.loc[~stays, axis].map(is_further).all()


def rows_of(study, report, table):
    """Return the made-up rows that a table is made of."""
    kind = tabulate.reads(load(table.builder))
    names = table.definition.table.data
    return pd.concat([rehearsal._rows(study, report, name, kind) for name in names])


def the_exact_values_are_those_of_each_row(table, made):
    """Columns of exact values, which are made up for each identity, hold those of their own row."""
    if "truth" not in made or "k" in table or "at_delta" in table:  # of another quantity
        return
    if "lambda" in table:
        table, made = table.astype({"lambda": float}), made.astype({"lambda": float})
    columns = [c for c in ("truth", "violation", "divergence", "level") if c in table]
    axes = [c for c in IDENTITY if c in table and c in made and c not in PAIRS]
    same = [c for c in axes if set(table[c]) <= set(made[c])]  # others have names of its own
    for row in table.iloc[:: len(table) // ROWS + 1].to_dict("records"):
        own = made[(made[same] == [row[c] for c in same]).all(axis=1)]
        exact = own[["truth", "truth_reverse", "level"]].to_numpy()
        for column in columns:
            assert np.isnan(row[column]) or np.isclose(exact, row[column], rtol=1e-12).any(), row


# --- what is asked of the figure ------------------------------------------------------------------


def drawn_along(shows):
    """Return the axes of identity that a figure has along its own axes."""
    return {*shows.x, *(axis for c in shows.x for axis in shows.tells.get(c, ()))}


def every_line_is_of_one_group(figure, table, shows):
    """Lines join points of one group of identity; made-up numbers tell the groups apart."""
    along = drawn_along(shows)
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
    figures = [figure, *figure.subfigs]
    said = "\n".join(text.get_text() for part in figures for text in part.findobj(Text))
    along = {*drawn_along(shows), "n"}
    for axis in (axis for axis in IDENTITY if axis in table and axis not in along):
        labels = [c for c in shows.tellers(axis) if c in table and c != axis]
        if table[axis].nunique() < 2 or (labels and told(table[axis], table[labels])):
            continue
        for value in filter(is_further, table[axis].unique()):
            assert str(value) in said or style.named(str(value)) in said, (axis, value, said)


# --- the tests ------------------------------------------------------------------------------------


@pytest.fixture
def built(monkeypatch):
    """A list to which a check of the configuration adds each table that it builds."""
    tables, build = [], rehearsal.built_of

    def built_of(table, place):
        tables.append(build(table, place))
        return tables[-1]

    monkeypatch.setattr(rehearsal, "built_of", built_of)
    return tables


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("report", "artifact"), CASES)
def test_a_further_value_is_told_apart_or_refused(report, artifact, axis, tmp_path, built):
    old = before(report, artifact)
    built.clear()
    files, entry, kept = alone(report, artifact)
    added = add(axis, files, entry, kept)
    folder = written(tmp_path / "config", files, report, entry)
    try:
        study = checked(folder, {"scale": "smoke"})
    except ConfigError as error:  # file, key, axis and value
        said = str(error)
        names = rf".*({report}|mechanisms|estimators)\.yaml: [^\n]+: [^\n]*"
        assert re.fullmatch(names, said)
        assert axis in said
        assert any(value in said for value in added), said
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
