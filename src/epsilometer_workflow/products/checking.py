"""Checks of a whole study, before there is a DAG: a mistake ends in one line with file and key."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from epsilometer import checks
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.settings.models import ID
from epsilometer.settings.registry import load
from epsilometer_workflow.configuration import config, paths
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS, REPORTS
from epsilometer_workflow.configuration.study import Combination, Study, listed
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import PaperNumbers
from epsilometer_workflow.products import captions
from epsilometer_workflow.products.reductions import Estimates
from epsilometer_workflow.products.rehearsal import rehearse
from epsilometer_workflow.products.reports import PRODUCT_KINDS, Table
from epsilometer_workflow.stages import tabulate

_RESERVED = ("all", "provenance", *(kind.rule for kind in PRODUCT_KINDS))


def checked(folder: str | Path = "config", overrides: Mapping[str, Any] | None = None) -> Study:
    """Return the study of a folder; raise `ConfigError` unless all of it is valid."""
    study = Study(folder, overrides)
    for name, report in study.every_report.items():
        _check_scales(study, name, report)
    place = study.place_of("reports")
    for name, times in Counter(study.wanted).items():
        if name in study.every_report and name not in study.reports:
            raise study.place_of_report(name).at("scales", study.scale).error("is missing")
        place.check_known("report", name, study.reports)
        if times > 1:
            raise place.error(f"names {name!r} twice")
    _check_mechanisms(study)
    for name in study.estimators:
        study.screen(name)
    for registry in (MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS, REPORTS):
        _ = len(registry)  # a name of ours in an installed package is an error
    for name in study.reports:
        _check_report(study, name)
    _check_writable(study)
    return study


def _check_mechanisms(study: Study) -> None:
    for name, mechanism in study.mechanisms.items():
        if mechanism.region is not None:
            with study.place_of_mechanism(name).at("region").named():
                checks.interval("region", *mechanism.region)
        for inputs in mechanism.inputs:  # also where no grid uses it
            study.check_inputs(name, 1.0, inputs)
        study.claims(name, 1.0)


def _check_scales(study: Study, name: str, report: config.Report) -> None:
    """Check a report that may be made at another scale only."""
    file = study.place_of_report(name)
    if not re.fullmatch(ID, name):
        raise file.error("a report's name has letters, digits and ._=- only")
    if name in _RESERVED:
        raise file.error(f"a report cannot be called {name!r}, as a rule is")
    for scale, sizes in report.scales.items():
        place = file.at("scales", scale)
        if scale not in study.main.scales:
            raise place.error(f"unknown scale{suggest(scale, study.main.scales)}")
        for experiment in sizes:
            place.at(experiment).check_known("experiment", experiment, report.experiments)


def _check_report(study: Study, report: str) -> None:
    file = study.place_of_report(report)
    entry = study.reports[report]
    _check_sizes(file.at("scales", study.scale), entry, entry.scales.get(study.scale, {}))
    for name, definition in entry.experiments.items():
        place = file.at("experiments", name)
        _check_experiment(study, place, definition)
        combinations = Counter(study.combinations(report, name))
        twice = []
        for combination, times in combinations.items():
            if times > 1:
                twice.append(Estimates.of(study, combination).path)
        if twice:
            raise place.at("grid").error(f"asks twice for {min(twice)}")
        for combination in combinations:
            study.check(combination)
    for name in entry.artifacts:
        _check_artifact(study, file.at("artifacts", name), Table(study, report, name))
    for name in entry.experiments:
        _check_shown(study, file, report, name)


def _check_sizes(place: Place, report: config.Report, sizes: Mapping[str, config.Size]) -> None:
    """Check the sizes of a report's experiments at one scale."""
    for experiment in report.experiments:
        if experiment not in sizes:
            known = ", ".join(sizes) or "none"
            wrong = f"is missing: {{runs: ..., n: ...}} of the experiment (there: {known})"
            raise place.at(experiment).error(wrong)
    for name, size in sizes.items():
        searches = [str(n) for n in size.draws() if n is not None and n.searched]
        if len(searches) > 1:
            wrong = f"has {len(searches)} searches, {', '.join(searches)}, of the same n; keep one"
            raise place.at(name, "n").error(wrong)


def _check_experiment(study: Study, place: Place, definition: config.Experiment) -> None:
    if definition.plan and definition.plan.estimator:
        planner = place.at("plan", "estimator")
        planner.check_known("estimator", definition.plan.estimator, study.estimators)
    for i, block in enumerate(definition.grid):
        at = place.at("grid", i)
        for mechanism in block.mechanism:
            at.at("mechanism").check_known("mechanism", mechanism, study.mechanisms)
        for estimator in block.estimator:
            at.at("estimator").check_known("estimator", estimator, study.estimators)
        for mechanism, inputs in product(block.mechanism, block.inputs):
            known = study.mechanisms[mechanism].inputs
            at.at("inputs").check_known(f"inputs of {mechanism}", inputs, known)


def _check_shown(study: Study, file: Place, report: str, experiment: str) -> None:
    """Raise `ConfigError` where no artifact that reads an experiment shows one of its estimates."""
    users = {}
    for name, artifact in study.reports[report].artifacts.items():
        if experiment in artifact.table.data:
            users[name] = artifact.table.options
    if not users:
        return
    for c in study.combinations(report, experiment):
        if not any(captions.is_shown(c.axes, options) for options in users.values()):
            which = ", ".join(f"{axis} = {value}" for axis, value in c.axes.items())
            key = f"artifacts.{next(iter(users))}.table.options"
            wrong = f"no artifact shows {which}; choose or title it in {key}, as in panels"
            raise file.at("experiments", experiment, "grid").error(wrong)


def _check_artifact(study: Study, place: Place, shown: Table) -> None:
    report = shown.report
    artifact = shown.definition
    table = shown.definition.table
    entry = study.reports[report]
    options = place.at("table", "options")
    with place.at("table", "builder").named():
        builder = BUILDERS.target(report, table.builder)
    for experiment in table.data:
        place.at("table", "data").check_known("experiment", experiment, entry.experiments)
    renderer = None
    if artifact.figure is not None:
        with place.at("figure").named():
            renderer = load(RENDERERS.target(report, artifact.figure))
    files = study.files(table.files)
    for option in files:
        if option in table.options:
            raise options.at(option).error("is given in files, too")
    for path in listed(files):
        if not Path(path).is_file():
            raise place.at("table", "files").error(f"{path} is not a file")
    tabulate.check(load(builder), table.data, table.tables, table.options | files, place)
    every_table = list(map("/".join, study.tables(["*"])))
    for name in table.tables:
        if not study.tables([name]):
            wrong = f"unknown table {name!r}{suggest(name, every_table)}"
            raise place.at("table", "tables").error(wrong)
    combinations = shown.combinations()
    for name in table.options.get("panels", {}):
        mechanism = str(name).partition(" ")[0]  # its inputs may follow
        drawn = {c.mechanism for c in combinations}
        options.at("panels").check_known("mechanism", mechanism, drawn)
    if artifact.paper:
        _check_paper(place.at("paper"), artifact.paper, combinations)
    with place.named():
        _ = shown.caption
    rehearse(shown, renderer, place)


def _check_paper(place: Place, paper: PaperNumbers, combinations: Iterable[Combination]) -> None:
    """Raise `ConfigError` for the first error in the numbers that a paper prints."""
    for axis, value in paper.of.items():
        made = {c.axes.get(axis) for c in combinations}
        if value not in made:
            wrong = f"no estimates of {value!r}{suggest(str(value), map(str, made))}"
            raise place.at("of", axis).error(wrong)
    for column, times in Counter(paper.columns).items():
        if times > 1:
            raise place.at("columns").error(f"names {column!r} twice")
    for key in paper.keys:
        place.at("keys").check_known("column", key, paper.columns)
    for i, row in enumerate(paper.rows):
        if len(row) != len(paper.columns):
            raise place.at("rows", i).error(f"has {len(row)} of {len(paper.columns)} numbers")


def _check_writable(study: Study) -> None:
    results = Path(paths.RESULTS.format(scale=study.scale))
    existing = next(p for p in [results, *results.parents] if p.exists())
    if not existing.is_dir():
        raise Place(str(existing)).error("is not a folder, so no results can be written")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Place(str(existing)).error("is not writable, so no results can be written")
