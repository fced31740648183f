"""Results that were made elsewhere are told from those of this folder."""

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pandas as pd
import pytest

from epsilometer.errors import DataError
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.runtime.provenance import refuse_foreign

RESULT = "results/smoke/tables/some/table.parquet"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(pd.DataFrame({"x": [1.0]}), RESULT, "table", {"seed": 1, "scale": "smoke"})


@pytest.mark.parametrize(
    ("kind", "age", "seed", "refused"),
    [
        (None, 0, 1, False),  # of the same seed anything goes
        (None, 0, 7, True),  # made elsewhere
        ("metadata", 0, 7, False),  # made here, with another seed
        ("metadata", 1000, 7, True),  # copied over results that were made here
        ("incomplete", 0, 7, False),  # begun here
    ],
)
def test_results_of_elsewhere_are_refused(here, kind, age, seed, refused):
    if kind is not None:
        Path(f".snakemake/{kind}").mkdir(parents=True)
        ended = {"metadata": {"endtime": Path(RESULT).stat().st_mtime - age}}
        record = Path(f".snakemake/{kind}", urlsafe_b64encode(RESULT.encode()).decode())
        record.write_text(json.dumps(ended.get(kind, {"external_jobid": None})))
    common = {"seed": seed, "scale": "smoke"}
    if not refused:
        refuse_foreign("results/smoke", common)
        return
    with pytest.raises(DataError, match=r"table.parquet: seed is 1, not 7, .* move results/smoke"):
        refuse_foreign("results/smoke", common)
