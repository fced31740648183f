"""Checks of a whole study, before there is a DAG: a mistake ends in one line with file and key."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from epsilometer import checks
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ConfigError, suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.models import ID
from epsilometer.registry import load
from epsilometer_workflow.configuration import config, paths
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS, REPORTS
from epsilometer_workflow.configuration.study import Study, check_known, listed, placed
from epsilometer_workflow.products.estimates import Estimates
from epsilometer_workflow.products.rehearsal import rehearse
from epsilometer_workflow.products.reports import PRODUCT_KINDS, Table
from epsilometer_workflow.stages import tabulate


def checked(folder: str | Path = "config", overrides: Mapping[str, Any] | None = None) -> Study:
    """Return the study of a folder; raise `ConfigError` unless all of it is valid."""
    study = Study(folder, overrides)
    file = study.place_of("reports")
    for name, report in study.every_report.items():
        _check_scales(study, name, report)
    for name, times in Counter(study.wanted).items():
        if name in study.every_report and name not in study.reports:
            raise ConfigError(study.report_file(name), f"scales.{study.scale}", "is missing")
        check_known(file, "reports", "report", name, study.reports)
        if times > 1:
            raise ConfigError(file, "reports", f"names {name!r} twice")
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
    file = str(study.file("mechanisms.yaml"))
    for name, mechanism in study.mechanisms.items():
        if mechanism.region is not None:
            with placed(file, f"{name}.region"):
                checks.interval("region", *mechanism.region)
        for inputs in mechanism.inputs:  # also where no grid uses it
            study.check_inputs(name, 1.0, inputs)
        study.claims(name, 1.0)


def _check_report(study: Study, report: str) -> None:
    file, entry = study.report_file(report), study.reports[report]
    for experiment in entry.experiments:
        if experiment not in entry.scales[study.scale]:
            raise ConfigError(file, f"scales.{study.scale}.{experiment}", "is missing")
    for name, definition in entry.experiments.items():
        _check_experiment(study, file, name, definition)
        combinations = Counter(study.combinations(report, name))
        if twice := [c for c, times in combinations.items() if times > 1]:
            first = min(Estimates.of(study, c).path for c in twice)
            raise ConfigError(file, f"experiments.{name}.grid", f"asks twice for {first}")
        for combination in combinations:
            study.check(combination)
    for name, artifact in entry.artifacts.items():
        _check_artifact(study, f"artifacts.{name}", report, artifact)


def _check_scales(study: Study, name: str, report: config.Report) -> None:
    """Check a report that may be made at another scale only."""
    file = study.report_file(name)
    if not re.fullmatch(ID, name):
        raise ConfigError(file, "", "a report's name has letters, digits and ._=- only")
    reserved = ("all", "provenance")
    if name in (*reserved, *(kind.rule for kind in PRODUCT_KINDS)):
        raise ConfigError(file, "", f"a report cannot be called {name!r}, as a rule is")
    for scale, sizes in report.scales.items():
        if scale not in study.main.scales:
            wrong = f"unknown scale{suggest(scale, study.main.scales)}"
            raise ConfigError(file, f"scales.{scale}", wrong)
        for experiment in sizes:
            if experiment not in report.experiments:
                wrong = f"unknown experiment{suggest(experiment, report.experiments)}"
                raise ConfigError(file, f"scales.{scale}.{experiment}", wrong)


def _check_experiment(study: Study, file: str, name: str, definition: config.Experiment) -> None:
    if definition.plan and definition.plan.estimator:
        planner, key = definition.plan.estimator, f"experiments.{name}.plan.estimator"
        check_known(file, key, "estimator", planner, study.estimators)
    for i, block in enumerate(definition.grid):
        key = f"experiments.{name}.grid.{i}"
        for mechanism in block.mechanism:
            check_known(file, f"{key}.mechanism", "mechanism", mechanism, study.mechanisms)
        for estimator in block.estimator:
            check_known(file, f"{key}.estimator", "estimator", estimator, study.estimators)
        for mechanism, inputs_name in product(block.mechanism, block.inputs):
            inputs = study.mechanisms[mechanism].inputs
            check_known(file, f"{key}.inputs", f"inputs of {mechanism}", inputs_name, inputs)


def _check_tables(study: Study, file: str, key: str, patterns: Sequence[str]) -> None:
    """Raise `ConfigError` for an unknown name."""
    every_table = ["/".join(table) for table in study.tables(["*"])]
    for name in patterns:
        if not study.tables([name]):
            raise ConfigError(file, key, f"unknown table {name!r}{suggest(name, every_table)}")


def _check_artifact(study: Study, key: str, report: str, artifact: config.Artifact) -> None:
    file, entry = study.report_file(report), study.reports[report]
    table = artifact.table
    with placed(file, f"{key}.table.builder"):
        builder = BUILDERS.target(report, table.builder)
    for experiment in table.data:
        check_known(file, f"{key}.table.data", "experiment", experiment, entry.experiments)
    renderer = None
    if artifact.figure is not None:
        with placed(file, f"{key}.figure"):
            renderer = load(RENDERERS.target(report, artifact.figure))
    files = study.files(table.files)
    for option in files:
        if option in table.options:
            raise ConfigError(file, f"{key}.table.options.{option}", "is given in files, too")
    for path in listed(files):
        if not Path(path).is_file():
            raise ConfigError(file, f"{key}.table.files", f"{path} is not a file")
    sources: dict[str, Any] = {"files": files, "tables": table.tables}
    tabulate.check(load(builder), table.data, table.options, file, key, **sources)
    _check_tables(study, file, f"{key}.table.tables", table.tables)
    blocks = [block for name in table.data for block in entry.experiments[name].grid]
    drawn = [name for block in blocks for name in block.mechanism]
    for name in table.options.get("panels", {}):
        mechanism = str(name).partition(" ")[0]  # its inputs may follow
        check_known(file, f"{key}.table.options.panels", "mechanism", mechanism, drawn)
    for part, message in _wrong_numbers(artifact.paper) if artifact.paper else ():
        raise ConfigError(file, f"{key}.paper.{part}", message)
    rehearse(Table(study, report, key.removeprefix("artifacts.")), renderer, file, key)


def _wrong_numbers(paper: config.PaperNumbers) -> Iterator[tuple[str, str]]:
    """Yield each error in the numbers that a paper prints: its place, and a message."""
    for column, times in Counter(paper.columns).items():
        if times > 1:
            yield "columns", f"names {column!r} twice"
    for unknown in set(paper.keys) - set(paper.columns):
        yield "keys", f"unknown column {unknown!r}{suggest(unknown, paper.columns)}"
    for i, row in enumerate(paper.rows):
        if len(row) != len(paper.columns):
            yield f"rows.{i}", f"has {len(row)} of {len(paper.columns)} numbers"


def _check_writable(study: Study) -> None:
    results = Path(paths.RESULTS.format(scale=study.scale))
    existing = next(p for p in [results, *results.parents] if p.exists())
    if not existing.is_dir():
        raise ConfigError(str(existing), "", "is not a folder, so no results can be written")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(str(existing), "", "is not writable, so no results can be written")
