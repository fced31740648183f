"""What tests of builders share: rows made by hand, the table of them, and its columns."""

import pandas as pd
import pytest

from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.stages.tabulate import build

PLACE = Place("f", "key")
SUMMARY = {  # of a pair of inputs
    **{"mechanism": "truncated_laplace", "parameters": "{}", "epsilon": 1.0, "inputs": "ends"},
    **{"lambda": "inf", "estimator": "h", "cells": 46, "claimed_lipschitz": 1.5819767068693265},
    **{"n": 100, "side_x": 0, "side_x_prime": 1, "x": "0.0", "x_prime": "1.0", "gamma": 0.5},
    **{"truth": 1.0, "truth_reverse": 1.0, "runs": 1, "failures": 0, "mean": 1.0, "sd": 0.1},
    **{"mean_reverse": 1.0, "share_within": 1.0, "share_low": 0.9, "share_high": 1.0},
}


def summary(**columns):
    """Return rows of a summary, with plausible values where none are given."""
    return pd.DataFrame(SUMMARY | columns)


def runs_of(base, **columns):
    """Return a row a run."""
    return pd.DataFrame(base | columns).rename_axis("run").reset_index()


def made(builder, *data, **options):
    """Return the table of a builder, called for each group of the rows."""
    return build(builder, [pd.concat(data, ignore_index=True)], options, PLACE, law_of)


def law_of(mechanism, epsilon):
    """Return the exact distribution of a registered mechanism; None of others."""
    if mechanism in EXACT:
        return EXACT.load(mechanism)(MECHANISMS.load(mechanism)(epsilon))
    return None


def assert_columns(table, **columns):
    """Assert that columns of a table have these values, but for rounding."""
    for name, values in columns.items():
        assert table[name].tolist() == pytest.approx(values, nan_ok=True), name
