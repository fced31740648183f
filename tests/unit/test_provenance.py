"""Results that were made elsewhere are refused; those made here, with other settings, are not."""

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pandas as pd
import pytest

from epsilometer.errors import DataError
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.runtime.provenance import refuse_foreign

PATH = "results/smoke/tables/some/table.parquet"
SEVEN = {"seed": 7, "scale": "smoke"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(pd.DataFrame({"x": [1.0]}), PATH, "table", {"seed": 1, "scale": "smoke"})


def record(kind: str, endtime: float | None) -> None:
    folder = f".snakemake/{kind}"
    Path(folder).mkdir(parents=True)
    name = urlsafe_b64encode(PATH.encode()).decode()
    metadata = {"endtime": endtime} if endtime else {"external_jobid": None}
    Path(folder, name).write_text(json.dumps(metadata))


def test_of_the_same_seed_anything_goes():
    refuse_foreign("results/smoke", {"seed": 1, "scale": "smoke"})


def test_made_elsewhere():
    with pytest.raises(DataError, match=r"table.parquet: seed is 1, not 7, .* move results/smoke"):
        refuse_foreign("results/smoke", SEVEN)


def test_made_here_with_another_seed():
    record("metadata", Path(PATH).stat().st_mtime)
    refuse_foreign("results/smoke", SEVEN)


def test_begun_here_with_another_seed():
    record("incomplete", None)
    refuse_foreign("results/smoke", SEVEN)


def test_copied_over_results_made_here():
    record("metadata", Path(PATH).stat().st_mtime - 1000)
    with pytest.raises(DataError, match="seed is 1, not 7"):
        refuse_foreign("results/smoke", SEVEN)
