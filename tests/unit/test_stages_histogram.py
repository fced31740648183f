"""Histograms on files: of every run, side and prefix, straight from the draws."""

import numpy as np
import pytest

from epsilometer.densities.histogram import ladder
from epsilometer.errors import DataError
from epsilometer_workflow.files.storage import read_counts, read_samples
from epsilometer_workflow.stages import histogram, sample
from tests.unit.stages import COMMON, quiet, samples_of

SAMPLES = samples_of("truncated_laplace", [0.0, 0.5, 1.0], n=100, runs=[2, 3])
RESPONSES = samples_of("randomized_response", [0, 4, 2], n=100, runs=[2, 3])
RESPONSES |= {"parameters": {"outcomes": 5}}


def counted(folder, samples, **how):
    """Return the draws by run and side, and the contents of their histograms."""
    drawn, output = str(folder / "s.parquet"), str(folder / "h.parquet")
    spec = COMMON | {"samples": samples} | how
    sample.run(drawn, samples, quiet)
    histogram.run(drawn, output, spec, quiet)
    draws = {(run, side): outputs for run, side, outputs in read_samples(drawn, samples)}
    return draws, read_counts(output, spec)


@pytest.mark.parametrize(("n", "stops"), [("100", [100]), ("1..100", ladder(100))])
@pytest.mark.parametrize(
    ("samples", "support", "bins"),
    [(SAMPLES, [0.0, 1.0], np.linspace(0, 1, 6)), (RESPONSES, None, np.arange(6) - 0.5)],
    ids=["interval", "outcomes"],
)
def test_every_run_side_and_prefix_is_counted(tmp_path, n, stops, samples, support, bins):
    draws, columns = counted(tmp_path, samples, n=n, cells=5, support=support)
    keys = [(run, side, stop) for run in (2, 3) for side in range(3) for stop in stops]
    assert list(zip(columns["run"], columns["side"], columns["n"], strict=True)) == keys
    for (run, side, stop), counts in zip(keys, columns["counts"], strict=True):
        assert counts.tolist() == np.histogram(draws[run, side][:stop], bins)[0].tolist()


def test_the_error_of_outputs_outside_the_claimed_support_names_run_and_side(tmp_path):
    with pytest.raises(
        DataError, match=r"s.parquet: run 2, side 0: sample has \d+ outputs outside"
    ):
        counted(tmp_path, SAMPLES, n="100", cells=5, support=[0.4, 0.5])
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
