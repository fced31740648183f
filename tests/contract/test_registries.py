"""Every registered name can be loaded, and the configuration uses every builder and renderer."""

from pathlib import Path

import pytest

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import Modules, Registry, load
from epsilometer.render import RENDERERS
from epsilometer.stages import tabulate
from epsilometer.tables import BUILDERS
from tests.contract.examples import configured

REGISTRIES = [MECHANISMS, LAWS, ESTIMATORS, CLASSIFIERS]
SHARED = {"style", "benchmark"}  # what renderers have in common; of no report


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_loads(registry: Registry):
    for name in registry:
        assert callable(registry.load(name))


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_an_unknown_name_is_told_with_the_nearest(registry: Registry):
    known = min(registry)
    with pytest.raises(UnknownNameError, match=f"unknown {registry.kind} .* mean '{known}'"):
        registry.load(known + "x")


def defined(modules: Modules, folder: str) -> set[str]:
    """Return everything that a report could name, as ``module:function``."""
    files = Path("src/epsilometer", folder).glob("[!_]*.py")
    names = [file.stem for file in files if file.stem not in SHARED]
    return {modules.target(name, function) for name in names for function in modules.known(name)}


def test_every_builder_is_used_and_says_what_it_reads():
    used = {
        BUILDERS.target(report, artifact.table.builder)
        for report, entry in configured().reports.items()
        for artifact in entry.artifacts.values()
    }
    assert used == defined(BUILDERS, "tables")
    for builder in map(load, used):
        kinds = (None, "summary", "runs", "samples", "draws", "timings", "table", "settings")
        assert tabulate.reads(builder) in kinds


def test_every_renderer_is_used():
    used = {
        RENDERERS.target(report, artifact.figure)
        for report, entry in configured().reports.items()
        for artifact in entry.artifacts.values()
        if artifact.figure
    }
    assert used == defined(RENDERERS, "render")
    assert all(map(callable, map(load, used)))
