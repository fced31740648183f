"""Both stages on files: the selected pair is confirmed from fresh draws."""

import math

import numpy as np
import pandas as pd
import pytest

from epsilometer.estimators import ESTIMATORS
from epsilometer_workflow.files.storage import read_columns, read_samples
from epsilometer_workflow.stages import confirm, sample, screen, time, weigh
from epsilometer_workflow.stages.estimate import estimates_of
from tests.unit.stages import COMMON, estimates_by, quiet, samples_of

SAMPLES = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.2], n=2000, runs=[0, 2])
LOSSES = COMMON | {
    "samples": SAMPLES,
    "region": [-1.0, 1.0],
    "pairing": "consecutive",
}


def specs(settings, **changed):
    """Return the identities of all stages, of other settings and samples."""
    samples = SAMPLES | changed
    method = {"registered": ESTIMATORS["local_loss"], "parameters": settings}
    losses = LOSSES | {"samples": samples} | method
    fresh = samples | {"stage": "confirm", "sides": 2, "n": 3000, "selected_by": losses}
    return {
        "samples": samples,
        "losses": losses,
        "fresh": fresh,
        "evidence": COMMON | {"fresh": fresh},
    }


def run(folder, stages):
    """Run both stages, and return the paths by stage, and the contents of the last two files."""
    paths = {k: str(folder / f"{k}.parquet") for k in stages}
    samples, losses, fresh, evidence = (paths[k] for k in stages)
    sample.run(samples, stages["samples"], quiet)
    screen.run(samples, losses, stages["losses"], quiet)
    confirm.run(losses, fresh, stages["fresh"], quiet)
    weigh.run(fresh, losses, evidence, stages["evidence"])
    return paths, *(
        pd.DataFrame(read_columns(paths[k], k, stages[k])) for k in ("losses", "evidence")
    )


FLOOR = {"floor": 1e-3}


@pytest.fixture
def files(tmp_path):
    """Run both stages."""
    stages = specs(FLOOR)
    return *run(tmp_path, stages), stages


def test_every_pair_has_a_loss_and_one_is_selected(files):
    _, losses, evidence, _ = files
    assert losses.groupby("run").size().tolist() == [3, 3, 3]
    assert losses.groupby("run")["selected"].sum().tolist() == [1, 1, 1]
    best = losses.loc[losses.groupby("run")["loss"].idxmax()]
    assert best["selected"].all()
    assert best[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3
    assert evidence[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3


def test_fresh_samples_are_of_the_selected_pair_and_new(files):
    paths, _, _, stages = files
    main = {(run, side): out for run, side, out in read_samples(paths["samples"], SAMPLES)}
    fresh = {(run, side): out for run, side, out in read_samples(paths["fresh"], stages["fresh"])}
    assert set(fresh) == {(run, side) for run in range(3) for side in range(2)}
    for (run, side), outputs in fresh.items():
        assert outputs.size == 3000
        assert not np.isin(outputs, main[run, 2 + side]).any()
    assert np.median(fresh[0, 1]) == pytest.approx(1.0, abs=0.1)


def test_selected_losses_survive_the_file(files):
    paths, losses, _, stages = files
    read = screen.selected(paths["losses"], stages["losses"])
    for row in losses[losses["selected"]].itertuples():
        sides, selected = read[row.run]
        assert sides == (row.side_x, row.side_x_prime)
        assert set(selected) == {"output", "sign"}
    assert losses.loc[~losses["selected"], "found"].isna().all()


def test_estimates_from_either_stage(files):
    paths, losses, _, stages = files
    for reads, estimator, parameters, rows in (
        ("losses", "local_loss", FLOOR, 9),
        ("losses", "local_loss", FLOOR | {"largest": True}, 3),
        ("evidence", "mpl", {"after": "e"}, 3),
    ):
        spec = {"identity": estimates_by(estimator, SAMPLES, parameters=parameters), "reads": reads}
        frame = pd.DataFrame(estimates_of([paths[reads]], spec | {"data": [stages[reads]]}))
        assert len(frame) == rows
        assert (frame["estimate"] == frame["estimate_reverse"]).all()
        assert frame["fresh"].unique().tolist() == [0 if reads == "losses" else 3000]
        if reads == "evidence":
            assert (frame["estimate"] < 1.05).all()
            assert (frame["estimate"] > 0.3).all()
        elif rows == 3:
            assert frame["estimate"].tolist() == losses.groupby("run")["loss"].max().tolist()


class TwoCoins:
    """Shows two coins, the first by the input; as tuples or, with noise, as vectors."""

    dimension = 2

    def __init__(self, epsilon, outputs="tuple"):
        self.epsilon, self.outputs = epsilon, outputs

    def sample(self, x, size, rng):
        if self.outputs == "vector":
            return rng.laplace([x, 0.0], 1.0, (size, 2))
        return (rng.random((size, 2)) < [0.25 + 0.5 * x, 0.5]).astype(int)


@pytest.mark.parametrize(("outputs", "truth"), [("tuple", math.log(3)), ("vector", 1.0)])
def test_outputs_of_several_entries_go_through_both_stages(tmp_path, outputs, truth):
    two = {
        "registered": f"{__name__}:TwoCoins",
        "parameters": {"outputs": outputs},
        "inputs": {"id": "pair", "values": [0, 1]},
        "sides": 2,
        "n": 4000,
    }
    stages = specs({"floor": 0.02}, **two)
    stages["losses"]["region"] = None
    stages["fresh"]["n"] = 20_000
    paths, _, _ = run(tmp_path, stages)
    identity = estimates_by("mpl", SAMPLES, parameters={"after": "e"})
    spec = {"identity": identity, "reads": "evidence", "data": [stages["evidence"]]}
    bound = estimates_of([paths["evidence"]], spec)["estimate"]
    assert (bound < truth + 0.05).all()
    assert (bound > (0.9 * truth if outputs == "tuple" else 0.2)).all()


def test_timings_are_of_every_run_and_of_a_real_bound():
    member = {
        "samples": SAMPLES,
        "fresh": 3000,
        "estimates": {
            "registered": ESTIMATORS["mpl"],
            "parameters": {"after": "e"},
            "after": {"registered": ESTIMATORS["local_loss"], "parameters": FLOOR},
            "inputs": {"pairing": "consecutive"},
            "claims": {},
            "region": LOSSES["region"],
            "estimator": "mpl",
            "lambda": "inf",
        },
    }
    frame = pd.DataFrame(time.time_runs({"members": [member]}, quiet))
    assert frame["run"].tolist() == [0, 1, 2]
    assert frame["seconds"].to_numpy() == pytest.approx(
        (frame["sampling"] + frame["estimating"]).to_numpy()
    )
    assert (frame[["sampling", "estimating"]] > 0).all(axis=None)
    assert (frame["bound"] < 1.1).all()
    assert (frame["bound"] > 0.3).all()
    assert frame["pairs"].unique().tolist() == [3]
