"""Every registered name can be loaded, and the configuration uses every builder and renderer."""

from pathlib import Path

import pytest

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.settings.registry import Registry, load
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS, Functions
from epsilometer_workflow.stages import tabulate
from tests.contract.examples import configured

REGISTRIES = [MECHANISMS, EXACT, ESTIMATORS, CLASSIFIERS]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_loads(registry: Registry):
    for name in registry:
        assert callable(registry.load(name))


@pytest.fixture
def reports():
    """The reports; other tests have looked for packages in other folders since they were read."""
    study = configured.__wrapped__()
    return study.reports


def defined(functions: Functions) -> set[str]:
    """Return everything that a report of ours could name."""
    every = set()
    for folder in Path("src/epsilometer_workflow/reports").iterdir():
        if folder.name != "plain":  # no report of ours has it
            names = functions.known(folder.name)
            every |= {functions.target(folder.name, name) for name in names}
    return every


def artifacts(reports):
    """Yield all artifacts with the names of their reports."""
    for report, entry in reports.items():
        for artifact in entry.artifacts.values():
            yield report, artifact


def test_every_builder_is_used_and_declares_its_input(reports):
    used = {BUILDERS.target(report, each.table.builder) for report, each in artifacts(reports)}
    scorecard = {"scorecard.tables:scorecard", "scorecard.tables:agreement"}  # of the study
    assert used - scorecard == defined(BUILDERS)
    assert scorecard <= used
    kinds = (None, "summary", "runs", "samples", "draws", "timings", "tables")
    for builder in map(load, used):
        assert tabulate.reads(builder) in kinds


def test_every_renderer_is_used(reports):
    figures = [(report, each.figure) for report, each in artifacts(reports) if each.figure]
    used = {RENDERERS.target(report, figure) for report, figure in figures}
    assert used == defined(RENDERERS)
    assert all(map(callable, map(load, used)))
