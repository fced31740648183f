"""Figures of lu2022: exact curves have many points, and both of two that coincide are seen."""

import numpy as np
import pandas as pd

from epsilometer_workflow.reports.grouping import grouping_of
from epsilometer_workflow.reports.lu2022 import figures, tables
from tests.unit.epsilometer_workflow.reports.rows import made

ALL, SHOWN = np.linspace(0, 1, 101).round(2), [0.1, 0.5, 0.9]
EXACT = 1 - np.exp((ALL - 1) / 2)


def of_laplace(inputs="i"):
    """Return the run of a classifier that errs by 0.001 at every claim."""
    columns = {"mechanism": "laplace", "epsilon": 1.0, "inputs": inputs, "estimator": "knn"}
    columns |= {"n": 10, "run": 0, "claim": ALL, "truth": EXACT, "truth_reverse": EXACT}
    columns |= {"level": EXACT, "settings": "{}", "x": "0.0", "x_prime": "1.0"}
    ends = ("estimate", "low", "high", "estimate_reverse", "low_reverse", "high_reverse")
    return pd.DataFrame(columns).assign(**dict.fromkeys(ends, EXACT + 0.001))


def both_of(builder, *data, **options):
    """Return a table and its curve."""
    further = grouping_of(builder).curve
    return made(builder, *data, **options), made(builder, *data, **options | further)


def lines_of(ax, size):
    return [line for line in ax.lines if len(line.get_xdata()) == size]


def test_exact_spectra_have_no_corners_and_both_of_two_that_coincide_are_seen():
    options = {"panels": {"laplace i": "a", "laplace j": "b"}, "claims": SHOWN}
    table, curve = both_of(tables.spectra, of_laplace(), of_laplace("j"), **options)
    within = (ALL >= 0.1) & (ALL <= 0.9)
    ax = figures.spectra(table, curve).axes[0]
    exact = lines_of(ax, within.sum())
    assert len(exact) == 2
    for line in exact:
        np.testing.assert_allclose(line.get_xydata(), np.c_[ALL, EXACT][within])
    dashes = [line._unscaled_dash_pattern for line in exact]
    assert dashes[0] != dashes[1]
    rings = [container.lines[0].get_markersize() for container in ax.containers]
    assert rings[0] > rings[1]
    without = figures.spectra(table, table).axes[0]  # a table of another report may have no curve
    assert len(lines_of(without, len(SHOWN))) >= 2


def test_the_neighbours_of_an_exact_curve_are_a_panel_of_their_own():
    options = {"claims": SHOWN, "epsilons": [0.999, 1, 1.001]}
    table, curve = both_of(tables.among_neighbours, of_laplace(), **options)
    low, none, high = figures.among_neighbours(table, curve).axes[1].lines
    assert low.get_ydata().max() < 0 < high.get_ydata().min()
    assert abs(none.get_ydata()).max() < 1e-12
    assert low.get_xdata().size == 81
