"""Rules that every registered mechanism keeps."""

import math
from collections import defaultdict
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np
import pytest
from scipy import stats

from epsilometer import seeds
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.testing import check_mechanism
from tests.contract.examples import EPSILON, by_speed, configured, inputs, mechanism, outside

every_mechanism = pytest.mark.parametrize("name", sorted(MECHANISMS))
MIXED = [name for name in MECHANISMS if mechanism(name).outputs == "mixed"]
ENTRIES = [entry for entry, e in configured().mechanisms.items() if e.mechanism not in MIXED]


@every_mechanism
def test_every_mechanism_keeps_the_contract(name):
    check_mechanism(mechanism(name), inputs(name), outside(name))


def obeys(drawn, outputs, exact, x):
    """Tell whether draws of any kind follow a law."""
    if outputs == "scalar":
        return stats.kstest(drawn, partial(exact.cdf, x=x)).pvalue > 1e-4
    if outputs == "vector":  # every entry, all together, and every two
        uniform = np.stack([exact.entry.cdf(d, a) for d, a in zip(drawn.T, x, strict=True)])
        related = np.abs(np.triu(np.corrcoef(uniform), k=1)).max()
        far = max(distance(uniform).max(), distance(uniform.ravel()))
        return far < math.sqrt(-math.log(1e-5 / 2) / 2) and related < 6 / math.sqrt(len(drawn))
    if outputs == "bits":
        place = {output: i for i, output in enumerate(exact.atoms(x))}
        drawn = np.array([place[output] for output in drawn.tolist()])
    return follows(drawn, exact.probabilities(x))


def distance(uniform):
    """Return Kolmogorov and Smirnov's distance from uniform numbers, times the root of their n.

    Above sqrt(-log(a / 2) / 2) with chance a, where they are uniform and many.
    """
    n = uniform.shape[-1]
    steps = np.arange(n + 1) / n
    ranked = np.sort(uniform)
    far = np.maximum(steps[1:] - ranked, ranked - steps[:-1]).max(axis=-1)
    return far * math.sqrt(n)


def follows(drawn, probabilities):
    """Tell whether integers are as likely as they should be: chi-square, rare ones together."""
    counts = np.bincount(drawn, minlength=probabilities.size)
    assert counts[probabilities == 0].sum() == 0
    order = np.argsort(probabilities)
    expected = drawn.size * probabilities[order]
    rare = max(np.searchsorted(np.cumsum(expected), 5) + 1, (expected < 5).sum())
    cells = [np.append(v[rare:], v[:rare].sum()) for v in (counts[order], expected)]
    return cells[0].size == 1 or stats.chisquare(*cells).pvalue > 1e-4


@pytest.mark.parametrize("entry", by_speed(ENTRIES, ("svt5", "svt6")))
@pytest.mark.parametrize("epsilon", [EPSILON, 2.3])  # at 1 many scales are their own squares
def test_every_configured_entry_follows_its_law(entry, epsilon):
    sampler = configured().mechanism(entry, epsilon)
    exact = EXACT.load(configured().mechanisms[entry].mechanism)(sampler)
    for which in configured().mechanisms[entry].inputs:
        for x in configured().inputs(entry, which).sides()[:4]:
            rng = seeds.generator(3, entry, which, str(x))
            many = sampler.outputs != "vector" and epsilon == EPSILON
            drawn = sampler.sample(x, 25_000 if many else 10_000, rng)
            assert obeys(drawn, sampler.outputs, exact, x), x


def test_a_default_is_what_a_paper_has():
    """Of the class that sets it, or of one that follows it: an entry of their configuration."""
    used = defaultdict(set)  # by the class that sets a default, and the field
    for entry in configured().mechanisms:
        mechanism = configured().mechanism(entry, EPSILON)
        for kind in filter(is_dataclass, type(mechanism).__mro__):
            for field in fields(kind):
                if field.name in vars(kind):
                    used[kind, field.name].add(getattr(mechanism, field.name))
    for (kind, name), values in used.items():
        assert vars(kind)[name] in values, (kind, name)
