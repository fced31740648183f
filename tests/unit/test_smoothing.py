"""Densities on files: of every pair, and what the bounds make of them."""

import numpy as np
import pytest

from epsilometer import smoothing, timing
from epsilometer.densities.pair import densities_of
from epsilometer.errors import DataError
from epsilometer.estimation import estimate_files
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.renyi_bound import LargestRenyiBound, RenyiBound
from epsilometer.mechanisms import MECHANISMS
from epsilometer.sampling import write_batch
from epsilometer.storage import by_run, read_samples, write_table

COMMON = {"seed": 3, "scale": "smoke", "version": "0"}
SAMPLES = COMMON | {
    "stage": "main",
    "mechanism": "laplace",
    "registered": MECHANISMS["laplace"],
    "parameters": {},
    "epsilon": 1.0,
    "inputs": {"id": "distances", "values": [0.0, 0.1, 0.0, 1.0, 0.0, 0.5]},
    "sides": 6,
    "n": 2000,
    "runs": [4, 6],
}
DENSITIES = COMMON | {"samples": SAMPLES, "pairing": "consecutive", "points": 101, "power": 1.1}
ESTIMATES = {
    "mechanism": "laplace",
    "epsilon": 1.0,
    "inputs": SAMPLES["inputs"] | {"pairing": "consecutive"},
    "lambda": "3",
    "estimator": "b",
    "cells": 0,
    "claims": {"lipschitz": None},
}


def quiet(_):
    """Report no progress."""


@pytest.fixture
def files(tmp_path):
    """Draw and smooth; return the paths of both files."""
    samples, densities = str(tmp_path / "s.parquet"), str(tmp_path / "d.parquet")
    write_batch(samples, SAMPLES, quiet)
    found = smoothing.smooth_file(samples, DENSITIES, quiet)
    write_table(found, densities, "densities", DENSITIES)
    return samples, densities


def estimated(file, name, **parameters):
    identity = ESTIMATES | {"registered": ESTIMATORS[name], "parameters": parameters}
    return estimate_files([file], {"identity": identity, "reads": "densities", "data": [DENSITIES]})


def by_hand(samples, method, pairs):
    """Return both directions' bounds by run and pair, straight from the draws."""
    answers = {}
    for run, sides in by_run(read_samples(samples, SAMPLES)):
        for i, j in ((0, 1), (2, 3), (4, 5)):
            d = densities_of(sides[i], sides[j], points=101, power=1.1)
            answers[run, i] = method.bounds(d, order=3.0, n=2000, pairs=pairs)
    return answers


def test_every_run_and_pair_has_its_bounds(files):
    samples, densities = files
    table = estimated(densities, "renyi_bound", tau=1e-3)
    hand = by_hand(samples, RenyiBound(tau=1e-3), 3)
    assert len(table) == 9
    for row in table.itertuples():
        assert (row.estimate, row.estimate_reverse) == hand[row.run, row.side_x]
        assert row.side_x_prime == row.side_x + 1
    assert not table["failed"].any()


def test_the_largest_is_of_all_pairs_and_both_directions(files):
    samples, densities = files
    options = {"tau": 1e-3, "correction": "independent"}
    table = estimated(densities, "largest_renyi_bound", **options)
    hand = by_hand(samples, LargestRenyiBound(**options), 3)
    assert table["run"].tolist() == [4, 5, 6]
    for row in table.itertuples():
        best = max((max(b), side) for (run, side), b in hand.items() if run == row.run)
        assert (row.estimate, row.side_x) == best
        assert row.estimate_reverse == row.estimate
    assert (table["side_x"] == 2).all()  # the pair at distance 1


def test_a_sample_without_a_scale_is_told_with_its_run(tmp_path):
    spec = SAMPLES | {"registered": f"{__name__}:Constant", "n": 50}
    path = str(tmp_path / "s.parquet")
    write_batch(path, spec, quiet)
    with pytest.raises(DataError, match=r"s.parquet: run 4, sides 0 and 1: outputs are reals"):
        smoothing.smooth_file(path, DENSITIES | {"samples": spec}, quiet)


class Constant:
    """Answers 0."""

    outputs = "scalar"

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def sample(self, x, size, rng):
        """Return zeros."""
        return np.zeros(size)


def test_timings_are_of_every_run_and_of_a_real_bound():
    member = {
        "reads": "densities",
        "samples": SAMPLES,
        "densities": DENSITIES,
        "estimates": ESTIMATES
        | {"registered": ESTIMATORS["renyi_bound"], "parameters": {"tau": 1e-3}},
    }
    frame = timing.time_runs({"members": [member]}, quiet)
    assert frame["run"].tolist() == [4, 5, 6]
    assert (frame[["sampling", "estimating"]] > 0).all(axis=None)
    assert frame["bound"].between(0.3, 0.75).all()  # the exact level is 0.71
    assert frame["pairs"].unique().tolist() == [3]
