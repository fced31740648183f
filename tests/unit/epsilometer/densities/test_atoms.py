"""Atoms among reals: which are refused, at every boundary, and at what cost."""

import math
import tracemalloc

import numpy as np
import pytest

from epsilometer.densities import atoms
from epsilometer.densities.atoms import refuse_atoms
from epsilometer.errors import ArgumentError


def refused(*sides):
    try:
        refuse_atoms(*sides)
    except ArgumentError:
        return True
    return False


@pytest.mark.parametrize("draw", ["standard_cauchy", "exponential", "uniform"])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e200])
def test_densities_are_not_refused_in_any_unit(draw, unit):
    for n in (1, 2, 100, 50_000):
        assert not refused(getattr(np.random.default_rng(0), draw)(size=n) * unit)


def test_densities_may_be_rounded():
    x = np.random.default_rng(0).standard_cauchy(size=50_000)
    assert not refused(x.astype(np.float32).astype(float))


def test_draws_of_a_density_are_counted_but_not_sorted(monkeypatch):
    """Ten in one of 2^14 slots, which are few, are an alarm in .002."""
    sorted_ = []
    sides = np.random.default_rng(0).normal(size=(2, 8000))
    monkeypatch.setattr(atoms, "_largest_atom", lambda *given: sorted_.append(given))
    tracemalloc.start()
    refuse_atoms(*sides)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not sorted_
    assert peak < 10**6


def test_zeros_of_both_signs_are_one_value():
    signs = np.append(np.zeros(8), -np.zeros(8))
    assert refused(signs)
    assert refused(np.append(np.random.default_rng(0).normal(50, 1, 20_000), signs))


def test_a_late_atom_is_refused_and_told():
    """The first thousand draws are not enough."""
    late = np.append(np.random.default_rng(0).normal(size=20_000), np.full(500, 7.0))
    with pytest.raises(ArgumentError, match=r"with an atom \(500 of 20500 draws on one value\)"):
        refuse_atoms(late)


def test_each_entry_of_vectors_is_counted_apart():
    rows = np.random.default_rng(0).normal(size=(400, 2))
    assert not refused(rows)
    rows[:50, 1] = 0.5
    assert refused(rows)


def test_nan_is_an_error_at_any_place():
    late = np.append(np.random.default_rng(0).normal(size=5000), math.nan)
    with pytest.raises(ArgumentError, match="are mixed: some entries are not numbers"):
        refuse_atoms(late)


@pytest.mark.parametrize(
    ("others", "at", "few", "many", "sides"),
    [
        (20, 9.0, 9, 10, 1),  # ten draws
        (9_989, 9.0, 9, 10, 2),
        (39_980, 9.0, 19, 20, 2),  # .05 % of all draws
        (9_835, 0.5, 160, 170, 1),  # a tenth of the draws in reach, and four standard deviations
        (9_815, 0.5, 179, 191, 2),  # the reach is that of the draws of one side
    ],
)
def test_an_atom_is_refused_from_so_many_draws_on(others, at, few, many, sides):
    """Amid draws at even distances from 0 to 1, or alone; the reach follows from the quartiles.

    With reach = .9 * .5/1.349 * (10,000/sides)^-.2, 165 and 185 draws are near = .1 * (2 * reach *
    others + draws) and four roots of it; the atoms are 3 % off.
    """
    even = np.linspace(0, 1, others)
    for size, expected in ((few, False), (many, True)):
        draws = np.append(even, np.full(size, at))
        assert refused(*(draws[i::sides] for i in range(sides))) == expected
