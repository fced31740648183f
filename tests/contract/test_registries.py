"""Every registered name can be loaded, and the configuration uses every builder and renderer."""

import pytest

from epsilometer.errors import UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import Registry
from epsilometer.render import RENDERERS
from epsilometer.study import Study
from epsilometer.tables import BUILDERS

REGISTRIES = [MECHANISMS, LAWS, ESTIMATORS, BUILDERS, RENDERERS]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_loads(registry: Registry):
    for name in registry:
        assert callable(registry.load(name))


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_an_unknown_name_is_told_with_the_nearest(registry: Registry):
    known = min(registry)
    with pytest.raises(UnknownNameError, match=f"unknown {registry.kind} .* mean '{known}'"):
        registry.load(known + "x")


def test_every_builder_and_renderer_is_used():
    artifacts = [a for paper in Study("config").papers.values() for a in paper.artifacts.values()]
    assert {a.table.builder for a in artifacts} == set(BUILDERS)
    assert {a.figure for a in artifacts if a.figure} == set(RENDERERS)
