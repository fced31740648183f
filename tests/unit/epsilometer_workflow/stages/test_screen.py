"""The pair that a run selects is confirmed on fresh draws: stages screen, confirm and weigh."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from epsilometer.estimators import ESTIMATORS
from epsilometer_workflow.files.identities import (
    ConfirmationIdentity,
    EvidenceIdentity,
    LossesIdentity,
)
from epsilometer_workflow.files.storage import read_columns, read_samples
from epsilometer_workflow.stages import confirm, screen, weigh
from tests.unit.stages import COMMON, done, drawn, estimated, estimates_by, samples_of

SCREENED = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.2], n=2000, runs=[0, 2])
FLOOR = {"floor": 1e-3}
METHOD = {"registered": ESTIMATORS["local_loss"], "parameters": FLOOR, "region": [-1.0, 1.0]}
LOSSES = LossesIdentity(samples=SCREENED, pairing="consecutive", **METHOD, **COMMON)
FRESH = ConfirmationIdentity(
    **vars(SCREENED) | {"stage": "confirm", "sides": 2, "n": 3000}, selected_by=LOSSES
)
IDENTITIES: dict[str, Any] = {"losses": LOSSES, "fresh": FRESH}
IDENTITIES["evidence"] = EvidenceIdentity(**COMMON, fresh=FRESH)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Run both stages; return the files by stage, and the first draws by run and side."""
    folder = tmp_path_factory.mktemp("screen")
    samples = str(folder / "samples.parquet")
    paths = {stage: str(folder / f"{stage}.parquet") for stage in IDENTITIES}
    main = drawn(samples, SCREENED)
    done(screen, paths["losses"], LOSSES, samples=samples)
    done(confirm, paths["fresh"], FRESH, losses=paths["losses"])
    chosen = {"samples": paths["fresh"], "losses": paths["losses"]}
    done(weigh, paths["evidence"], IDENTITIES["evidence"], **chosen)
    return paths, main


def table_of(files, stage):
    return pd.DataFrame(read_columns(files[0][stage], stage, IDENTITIES[stage]))


def estimates_of(files, reads, estimator, **parameters):
    identity = estimates_by(estimator, SCREENED.inputs.sides, parameters=parameters)
    return estimated(files[0][reads], reads, identity, IDENTITIES[reads])


def test_every_pair_has_a_loss_and_one_is_selected(files):
    losses, evidence = table_of(files, "losses"), table_of(files, "evidence")
    assert losses["run"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    best = losses.loc[losses.groupby("run")["loss"].idxmax()]
    assert best["selected"].all()
    assert losses["selected"].sum() == 3
    for chosen in (best, evidence):
        assert chosen[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3


def test_fresh_samples_are_of_the_selected_pair_and_new(files):
    paths, main = files
    fresh = {(run, side): out for run, side, out in read_samples(paths["fresh"], FRESH)}
    assert list(fresh) == [(run, side) for run in range(3) for side in range(2)]
    for (run, side), outputs in fresh.items():
        assert outputs.size == 3000
        assert not np.isin(outputs, main[run, 2 + side]).any()
    assert np.median(fresh[0, 1]) == pytest.approx(1.0, abs=0.1)


def test_selected_losses_survive_the_file(files):
    losses = table_of(files, "losses")
    assert losses.loc[~losses["selected"], "found"].isna().all()
    read = screen.selected(files[0]["losses"], LOSSES)
    assert list(read) == [0, 1, 2]
    for selected in read.values():
        assert selected.sides == (2, 3)
        assert set(selected.target) == {"output", "sign"}


def test_estimates_from_losses_are_of_every_pair_or_of_the_largest(files):
    every = estimates_of(files, "losses", "local_loss", **FLOOR)
    losses = table_of(files, "losses")["loss"]
    assert every["estimate"].tolist() == every["estimate_reverse"].tolist() == losses.tolist()
    assert every["fresh"].tolist() == [0] * 9
    largest = estimates_of(files, "losses", "local_loss", **FLOOR, largest=True)
    assert largest["estimate"].tolist() == losses.to_numpy().reshape(3, 3).max(axis=1).tolist()


def test_bounds_from_fresh_draws_are_below_the_loss_and_count_them(files):
    frame = estimates_of(files, "evidence", "mpl", after="e")
    assert frame["estimate"].between(0.3, 1.05).all()
    assert frame["estimate"].tolist() == frame["estimate_reverse"].tolist()
    assert frame["fresh"].tolist() == [3000] * 3
