"""Both stages on files: what is selected is what is confirmed, from fresh draws."""

import math

import numpy as np
import pytest

from epsilometer import screening, timing, weighing
from epsilometer.errors import DataError
from epsilometer.estimation import estimate_files
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Evidence
from epsilometer.estimators.lower_bounds import ClopperPearson, MaximumPrivacyLoss
from epsilometer.mechanisms import MECHANISMS
from epsilometer.sampling import write_batch
from epsilometer.storage import read_samples, write_table

COMMON = {"seed": 3, "scale": "smoke", "version": "0"}
SAMPLES = COMMON | {
    "stage": "main",
    "mechanism": "laplace",
    "registered": MECHANISMS["laplace"],
    "parameters": {},
    "epsilon": 1.0,
    "inputs": {"id": "distances", "values": [0.0, 0.1, 0.0, 1.0, 0.0, 0.2]},
    "sides": 6,
    "n": 2000,
    "runs": [0, 2],
}
LOSSES = COMMON | {
    "samples": SAMPLES,
    "registered": ESTIMATORS["local_loss"],
    "parameters": {"floor": 1e-3},
    "region": [-1.0, 1.0],
    "pairing": "consecutive",
    "draws": 3000,
}
FRESH = SAMPLES | {"stage": "confirm", "sides": 2, "n": 3000, "selected_by": LOSSES}
EVIDENCE = COMMON | {"fresh": FRESH}


def quiet(_):
    """Report no progress."""


@pytest.fixture
def files(tmp_path):
    """Run both stages, and return the paths by stage."""
    paths = {k: str(tmp_path / f"{k}.parquet") for k in ("samples", "losses", "fresh", "evidence")}
    write_batch(paths["samples"], SAMPLES, quiet)
    losses = screening.losses_of(paths["samples"], LOSSES, quiet)
    write_table(losses, paths["losses"], "losses", LOSSES)
    screening.confirm(paths["fresh"], paths["losses"], FRESH, quiet)
    evidence = weighing.evidence_of(paths["fresh"], paths["losses"], EVIDENCE)
    write_table(evidence, paths["evidence"], "evidence", EVIDENCE)
    return paths, losses, evidence


def test_every_pair_has_a_loss_and_one_is_selected(files):
    _, losses, evidence = files
    assert losses.groupby("run").size().tolist() == [3, 3, 3]
    assert losses.groupby("run")["selected"].sum().tolist() == [1, 1, 1]
    best = losses.loc[losses.groupby("run")["loss"].idxmax()]
    assert best["selected"].all()
    assert best[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3
    assert evidence[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3


def test_fresh_samples_are_of_the_selected_pair_and_new(files):
    paths, _, _ = files
    main = {(run, side): out for run, side, out in read_samples(paths["samples"], SAMPLES)}
    fresh = {(run, side): out for run, side, out in read_samples(paths["fresh"], FRESH)}
    assert set(fresh) == {(run, side) for run in range(3) for side in range(2)}
    for (run, side), outputs in fresh.items():
        assert outputs.size == 3000
        assert not np.isin(outputs, main[run, 2 + side]).any()
    assert np.median(fresh[0, 1]) == pytest.approx(1.0, abs=0.1)


def test_selected_losses_survive_the_file(files):
    paths, losses, _ = files
    read = screening.selected(paths["losses"], LOSSES)
    for row in losses[losses["selected"]].itertuples():
        sides, loss = read[row.run]
        assert sides == (row.side_x, row.side_x_prime)
        assert loss.loss == row.loss
        assert loss.event.ravel().tolist() == row.event
        assert loss.event.shape[1] == 2


def identity_of(estimator, parameters):
    return {
        "mechanism": "laplace",
        "epsilon": 1.0,
        "lambda": "inf",
        "estimator": "e",
        "cells": 0,
        "inputs": {"id": "distances"},
        "registered": ESTIMATORS[estimator],
        "parameters": parameters,
        "claims": {"lipschitz": None},
    }


@pytest.mark.parametrize(
    ("estimator", "reads", "rows"),
    [("local_loss", "losses", 9), ("mpl", "evidence", 3), ("clopper_pearson", "evidence", 3)],
)
def test_estimates_from_either_stage(files, estimator, reads, rows):
    paths, _, _ = files
    identity = identity_of(estimator, {"floor": 1e-3} if reads == "losses" else {"after": "e"})
    made = LOSSES if reads == "losses" else EVIDENCE
    frame = estimate_files([paths[reads]], {"identity": identity, "reads": reads, "data": [made]})
    assert len(frame) == rows
    assert (frame["estimate"] == frame["estimate_reverse"]).all()
    assert frame["fresh"].unique().tolist() == [0 if reads == "losses" else 3000]
    if rows == 3:
        assert (frame["estimate"] < 1.0).all()
        assert (frame["estimate"] > 0.3).all()


def test_the_largest_loss_is_one_row_a_run(files):
    paths, losses, _ = files
    identity = identity_of("local_loss", {"floor": 1e-3, "largest": True})
    spec = {"identity": identity, "reads": "losses", "data": [LOSSES]}
    frame = estimate_files([paths["losses"]], spec)
    assert frame["estimate"].tolist() == losses.groupby("run")["loss"].max().tolist()


def test_an_atom_is_told_by_file_and_run(tmp_path):
    coins = SAMPLES | {
        "mechanism": "clipped",
        "registered": "tests.unit.test_screening:Clipped",
        "inputs": {"id": "pair", "values": [0.0, 1.0]},
        "sides": 2,
    }
    path = str(tmp_path / "samples.parquet")
    write_batch(path, coins, quiet)
    with pytest.raises(DataError, match=r"samples.parquet: run 0: outputs are reals with an atom"):
        screening.losses_of(path, LOSSES | {"samples": coins}, quiet)


class Clipped:
    outputs = "scalar"

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def sample(self, x, size, rng):
        return np.clip(rng.laplace(x, 1, size), 0, 1)


class TwoCoins:
    """Shows two coins, the first of which tells; as tuples or, with noise, as vectors."""

    dimension = 2

    def __init__(self, epsilon, outputs="tuple"):
        self.epsilon, self.outputs = epsilon, outputs

    def sample(self, x, size, rng):
        if self.outputs == "vector":
            return rng.laplace([x, 0.0], 1.0, (size, 2))
        return (rng.random((size, 2)) < [0.25 + 0.5 * x, 0.5]).astype(int)


@pytest.mark.parametrize(("outputs", "truth"), [("tuple", math.log(3)), ("vector", 1.0)])
def test_outputs_of_several_entries_go_through_both_stages(tmp_path, outputs, truth):
    samples = SAMPLES | {
        "registered": "tests.unit.test_screening:TwoCoins",
        "parameters": {"outputs": outputs},
        "inputs": {"id": "pair", "values": [0, 1]},
        "sides": 2,
        "n": 4000,
    }
    losses = LOSSES | {"samples": samples, "region": None, "parameters": {"floor": 0.02}}
    fresh = samples | {"stage": "confirm", "n": 20_000, "selected_by": losses}
    paths = [str(tmp_path / f"{name}.parquet") for name in ("samples", "losses", "fresh")]
    write_batch(paths[0], samples, quiet)
    write_table(screening.losses_of(paths[0], losses, quiet), paths[1], "losses", losses)
    screening.confirm(paths[2], paths[1], fresh, quiet)
    evidence = weighing.evidence_of(paths[2], paths[1], COMMON | {"fresh": fresh})
    found = Evidence(**{key: evidence[key] for key in Evidence.__dataclass_fields__})
    for method in (MaximumPrivacyLoss("e"), ClopperPearson("e")):
        assert (method.bound(found) < truth + 0.05).all()
        assert (method.bound(found) > (0.9 * truth if outputs == "tuple" else 0.2)).all()


def test_timings_are_of_every_run_and_of_a_real_bound():
    member = {
        "reads": "evidence",
        "samples": SAMPLES,
        "losses": LOSSES,
        "fresh": 3000,
        "estimates": {
            "registered": ESTIMATORS["mpl"],
            "parameters": {"after": "e"},
            "estimator": "mpl",
            "lambda": "inf",
        },
    }
    frame = timing.time_runs({"members": [member]}, quiet)
    assert frame["run"].tolist() == [0, 1, 2]
    assert frame["seconds"].to_numpy() == pytest.approx(
        (frame["sampling"] + frame["estimating"]).to_numpy()
    )
    assert (frame[["sampling", "estimating"]] > 0).all(axis=None)
    assert (frame["bound"] < 1.1).all()
    assert (frame["bound"] > 0.3).all()
    assert frame["pairs"].unique().tolist() == [3]
