"""Densities on files: of every pair, and their bounds."""

import pandas as pd
import pytest

from epsilometer.densities.pair import reduce_pair
from epsilometer.estimators.renyi_bound import (
    RenyiBound,
    RenyiBoundAsPublished,
)
from epsilometer_workflow.files.storage import by_run, read_columns, read_samples
from epsilometer_workflow.stages import density, estimate, sample
from tests.unit.stages import COMMON, estimates_by, quiet, samples_of

SAMPLES = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.5], n=2000, runs=[4, 6])
DENSITIES = COMMON | {"samples": SAMPLES, "pairing": "consecutive", "points": 101, "power": 1.1}


@pytest.fixture
def files(tmp_path):
    """Draw and smooth; return the paths of both files."""
    samples, densities = str(tmp_path / "s.parquet"), str(tmp_path / "d.parquet")
    sample.run(samples, SAMPLES, quiet)
    density.run(samples, densities, DENSITIES, quiet)
    return samples, densities


def estimated(file, name, **parameters):
    identity = estimates_by(name, SAMPLES, parameters=parameters) | {"lambda": "3"}
    return answers(identity, file, DENSITIES)


def answers(identity, file, densities):
    spec = {"identity": identity, "reads": "densities", "data": [densities]}
    return pd.DataFrame(estimate.estimates_of([file], spec))


def by_hand(samples, method, pairs):
    """Return both directions' bounds by run and pair, straight from the draws."""
    answers = {}
    for run, sides in by_run(read_samples(samples, SAMPLES)):
        for i, j in ((0, 1), (2, 3), (4, 5)):
            d = reduce_pair(sides[i], sides[j], {"points": 101, "power": 1.1})
            answers[run, i] = method.bounds(d, order=3.0, n=2000, pairs=pairs)
    return answers


def test_every_run_and_pair_has_its_bounds(files):
    samples, densities = files
    table = estimated(densities, "renyi_bound_as_published", draws_at_floor=5)
    hand = by_hand(samples, RenyiBoundAsPublished(draws_at_floor=5), 3)
    assert len(table) == 9
    for row in table.itertuples():
        assert (row.estimate, row.estimate_reverse) == hand[row.run, row.side_x]
        assert row.side_x_prime == row.side_x + 1
    assert not table["failed"].any()


def test_the_largest_is_of_all_pairs_and_both_directions(files):
    samples, densities = files
    options = {"draws_at_floor": 5, "largest": True, "correction": "independent"}
    table = estimated(densities, "renyi_bound_as_published", **options)
    hand = by_hand(samples, RenyiBoundAsPublished(**options), 3)
    assert table["run"].tolist() == [4, 5, 6]
    for row in table.itertuples():
        best = max((max(b), side) for (run, side), b in hand.items() if run == row.run)
        assert (row.estimate, row.side_x) == best
        assert row.estimate_reverse == row.estimate
    assert (table["side_x"] == 2).all()  # the pair at distance 1


def test_cells_serve_the_bound_without_a_unit(files, tmp_path):
    """Bounds that cannot be trusted are marked in their row."""
    samples, densities = files[0], str(tmp_path / "c.parquet")
    spec = COMMON | {"samples": SAMPLES, "pairing": "consecutive", "cells": 9}
    density.run(samples, densities, spec, quiet)
    assert {p.size for p in read_columns(densities, "densities", spec)["p"]} == {9}
    parameters = {"draws_at_floor": 50, "cells": 9}
    identity = estimates_by("renyi_bound", SAMPLES, parameters=parameters) | {"lambda": "3"}
    table = answers(identity, densities, spec)
    sides = dict(by_run(read_samples(samples, SAMPLES)))
    method = RenyiBound(**parameters)
    for row in table.itertuples():
        d = reduce_pair(sides[row.run][row.side_x], sides[row.run][row.side_x_prime], {"cells": 9})
        assert (row.estimate, row.estimate_reverse) == method.bounds(d, order=3.0, n=2000, pairs=3)
        assert row.trusted
    table = answers(identity | {"lambda": "90"}, densities, spec)
    assert not table["trusted"].any()
    assert table["estimate"].notna().all()
