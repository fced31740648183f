"""The crate of provenance: every reference is to something, hashes and times are those of files.

`make test-provenance` validates one against the profile.
"""

import hashlib
import json
import shutil
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from epsilometer_workflow.commands import crate
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.reports import all_products

ROOT = Path(__file__).parents[2]
TABLE = "results/smoke/tables/gorla2022/table3.csv"


@pytest.fixture
def written(tmp_path: Path, monkeypatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    for folder, source in {"config": "tests/data/config", "workflow": "workflow"}.items():
        shutil.copytree(ROOT / source, folder)
    for name in ("Snakefile", "LICENSE"):
        shutil.copy(ROOT / name, name)
    Path(TABLE).parent.mkdir(parents=True)
    Path(TABLE).write_text("n\n10\n")
    record = Path(".snakemake/metadata", urlsafe_b64encode(TABLE.encode()).decode())
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"starttime": 0.25, "endtime": 60.0}))
    with zipfile.ZipFile(crate.write(Study("config", {"scale": "smoke"}))) as file:
        content = json.loads(file.read("ro-crate-metadata.json"))
        names = set(file.namelist())
    entities = {entity["@id"]: entity for entity in content["@graph"]}
    assert len(entities) == len(content["@graph"])
    assert {i for i, e in entities.items() if "File" in e["@type"]} == names - {
        "ro-crate-metadata.json"
    }
    return entities


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for part in value for name in references(part)]
    if isinstance(value, dict):
        return [value["@id"]] if set(value) == {"@id"} else references(list(value.values()))
    return []


def test_every_reference_is_described(written):
    outside = {"https://w3id.org/ro/crate/1.1"}
    assert set(references(list(written.values()))) <= {*written, *outside}


def test_a_file_has_its_hash_and_size(written):
    assert written[TABLE]["sha256"] == hashlib.sha256(b"n\n10\n").hexdigest()
    assert written[TABLE]["contentSize"] == "5"
    assert written[TABLE]["encodingFormat"] == "text/csv"


def test_a_job_has_its_script_its_files_and_its_times(written):
    job = written[f"#job/{TABLE}"]
    assert job["instrument"] == {"@id": "workflow/scripts/tabulate.py"}
    assert job["result"] == [{"@id": TABLE}, {"@id": f"#{TABLE[:-3]}parquet"}]
    assert (job["startTime"], job["endTime"]) == (
        "1970-01-01T00:00:00+00:00",
        "1970-01-01T00:01:00+00:00",
    )
    assert written["#run"]["endTime"] == job["endTime"]
    jobs = list(all_products(Study("config", {"scale": "smoke"})))
    assert sum(name.startswith("#job/") for name in written) == len(jobs)


def test_the_workflow_has_a_step_for_each_rule(written):
    steps = [written[step["@id"]] for step in written["Snakefile"]["step"]]
    scripts = {Path(step["workExample"]["@id"]).stem for step in steps}
    assert scripts == {step["name"] for step in steps} >= {"sample", "tabulate", "page"}
