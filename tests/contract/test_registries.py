"""Every registered name can be loaded, and the configuration uses every builder and renderer."""

from pathlib import Path

import pytest

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import Registry, load
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


def defined(functions: Functions, *kinds: str) -> set[str]:
    """Return everything that a report could name in modules of some kinds."""
    files = Path("src/epsilometer_workflow/reports").glob("*/*.py")
    places = [(file.parent.name, file.stem) for file in files if file.stem in kinds]
    return {
        functions.target(report, f"{report}.{module}.{name}")
        for report, module in places
        if report != "plain"  # no report of ours has it
        for name in functions.known(report, module)
    }


def test_every_builder_is_used_and_declares_its_input(reports):
    used = {
        BUILDERS.target(report, artifact.table.builder)
        for report, entry in reports.items()
        for artifact in entry.artifacts.values()
    }
    scorecard = {"scorecard.tables:scorecard", "scorecard.tables:agreement"}  # of the study
    assert used - scorecard == defined(BUILDERS, "tables", "exact", "drawn", "proofs", "bounds")
    assert scorecard <= used
    for builder in map(load, used):
        kinds = (None, "summary", "runs", "samples", "draws", "timings", "table", "settings")
        assert tabulate.reads(builder) in kinds


def test_every_renderer_is_used(reports):
    used = {
        RENDERERS.target(report, artifact.figure)
        for report, entry in reports.items()
        for artifact in entry.artifacts.values()
        if artifact.figure
    }
    assert used == defined(RENDERERS, "figures")
    assert all(map(callable, map(load, used)))
