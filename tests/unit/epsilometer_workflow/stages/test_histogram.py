"""Histograms of files of samples: every prefix of every side is counted."""

import numpy as np
import pytest

from epsilometer.densities.histogram import ladder
from epsilometer.errors import DataError
from epsilometer_workflow.files.identities import HistogramsIdentity
from epsilometer_workflow.files.storage import read_columns
from epsilometer_workflow.stages import histogram
from tests.unit.stages import COMMON, done, drawn, samples_of

INTERVAL = samples_of("truncated_laplace", [0.0, 0.5, 1.0], n=100, runs=[2, 3])
FIVE = {"outcomes": 5}
RESPONSES = samples_of("randomized_response", [0, 4, 2], n=100, runs=[2, 3], parameters=FIVE)


def counted(folder, samples, **how):
    """Return the draws by run and side, and the contents of their histograms."""
    identity = HistogramsIdentity(**COMMON, samples=samples, **how)
    draws = drawn(folder / "s.parquet", samples)
    done(histogram, folder / "h.parquet", identity, samples=str(folder / "s.parquet"))
    return draws, read_columns(str(folder / "h.parquet"), "histograms", identity)


@pytest.mark.parametrize(
    ("samples", "support", "bins", "n", "stops"),
    [
        (INTERVAL, [0.0, 1.0], np.linspace(0, 1, 6), "1..100", ladder(100)),
        (RESPONSES, None, np.arange(6) - 0.5, "100", [100]),
    ],
    ids=["interval", "outcomes"],
)
def test_every_run_side_and_prefix_is_counted(tmp_path, samples, support, bins, n, stops):
    draws, columns = counted(tmp_path, samples, n=n, cells=5, support=support)
    keys = [(run, side, stop) for run in (2, 3) for side in range(3) for stop in stops]
    assert list(zip(columns["run"], columns["side"], columns["n"], strict=True)) == keys
    for (run, side, stop), counts in zip(keys, columns["counts"], strict=True):
        assert counts.tolist() == np.histogram(draws[run, side][:stop], bins)[0].tolist()


def test_the_error_of_outputs_outside_the_claimed_support_names_run_and_side(tmp_path):
    with pytest.raises(DataError, match=r"s.parquet: run 2, side 0: sample has \d+ outputs out"):
        counted(tmp_path, INTERVAL, n="100", cells=5, support=[0.4, 0.5])
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
