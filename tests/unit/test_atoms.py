"""Atoms among real outputs: detected from all draws, at every seed."""

import math

import numpy as np
import pytest

from epsilometer.densities.atoms import refuse_atoms
from epsilometer.errors import ArgumentError


def refused(*sides):
    try:
        refuse_atoms(*sides)
    except ArgumentError:
        return True
    return False


@pytest.mark.parametrize("mass", [0.001, 0.01, 0.4])
@pytest.mark.parametrize("n", [20_000, 100_000])
def test_clamped_outputs_are_refused_at_every_seed(n, mass):
    """Of 300 seeds, the first thousand draws refused 126 at 1 %."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert refused(*rng.laplace(size=(2, n)).clip(None, math.log(0.5 / mass)))


@pytest.mark.parametrize("mass", [1e-5, 1e-4])
def test_atoms_without_effect_on_an_answer_are_not_refused(mass):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert not refused(*rng.laplace(size=(2, 100_000)).clip(None, math.log(0.5 / mass)))


@pytest.mark.parametrize("draw", ["standard_cauchy", "exponential", "normal", "uniform"])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e200])
def test_densities_are_not_refused_in_any_unit(draw, unit):
    rng = np.random.default_rng(0)
    for n in (1, 2, 100, 50_000):
        x = getattr(rng, draw)(size=n) * unit
        assert not refused(x)
        if unit == 1.0:
            assert not refused(x.astype(np.float32).astype(float))


def test_zeros_of_both_signs_are_one_value_and_a_late_atom_is_refused():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    x[10_000:10_012:2], x[10_001:10_012:2] = 0.0, -0.0
    x[:5000] += 100
    assert not refused(x)  # 12 draws amid thousands
    late = np.concatenate([rng.normal(size=20_000), np.full(500, 7.0)])
    with pytest.raises(ArgumentError, match=r"with an atom \(500 of 20500 draws on one value\)"):
        refuse_atoms(late)
    signs = np.concatenate([rng.normal(50, 1, 20_000), np.zeros(8), -np.zeros(8)])
    assert refused(signs)


def test_nan_is_an_error_at_any_place():
    late = np.append(np.random.default_rng(0).normal(size=5000), math.nan)
    with pytest.raises(ArgumentError, match="are mixed: some entries are not numbers"):
        refuse_atoms(late)
