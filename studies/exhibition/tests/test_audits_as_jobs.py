"""Audits as jobs: paths of known names, and digests of all files that a mechanism is made of."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.unit.conftest import CONFIG
from tests.unit.epsilometer_workflow.test_security import HOSTILE

from epsilometer.errors import EpsilometerError
from epsilometer.settings.models import ID
from epsilometer.settings.yaml_files import read_yaml
from exhibition.products import Audit, AuditStudy, made_of

FILE = Path("config/audits/small.yaml")


@pytest.fixture(autouse=True)
def _study(tmp_path, monkeypatch):
    """A study with a file of audits of each kind of mechanism."""
    monkeypatch.chdir(tmp_path)
    Path("config").mkdir()
    shutil.copytree(CONFIG.parent / "audits", "config/audits")
    text = (CONFIG / "config.yaml").read_text()
    Path("config/config.yaml").write_text(re.sub("(?m)^reports:.*$", "", text))


def audits() -> list[Audit]:
    study = AuditStudy()
    return [Audit(study, name, case) for name, file in study.audits.items() for case in file.cases]


def drawn_by(mechanism):
    """Give the case ``laplace`` another mechanism."""
    data = read_yaml(FILE)
    data["audits"]["laplace"]["mechanism"] = mechanism
    FILE.write_text(json.dumps(data))


def digests() -> dict[str, str]:
    """Return the digests by entry, read anew."""
    made_of.cache_clear()
    return {audit.name: audit.made_of() for audit in audits()}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_stay_within_the_results(hostile):
    """The name of a case is a part of its path; other texts are not."""
    data = read_yaml(FILE)
    case = data["audits"]["laplace"]
    case["mechanism"]["parameters"] = {"text": hostile}
    case["pairs"] = {hostile: [[0], [1]]}
    FILE.write_text(json.dumps(data))
    product = next(audit for audit in audits() if audit.name == "laplace")
    assert product.path == "results/smoke/audits/small/laplace.parquet"
    again = Audit.from_wildcards(product.study, product.wildcards)
    assert again.spec() == product.spec()
    assert again.case.request().mechanism.parameters == {"text": hostile}
    data["audits"][hostile] = data["audits"].pop("laplace")
    FILE.write_text(json.dumps(data))
    if not re.fullmatch(ID, hostile):
        with pytest.raises(EpsilometerError, match="must begin with a letter or digit"):
            audits()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"audits": "smal"}, "unknown file of audits 'smal'; did you mean 'small'?"),
        ({"name": "laplas"}, "unknown audit 'laplas'; did you mean 'laplace'?"),
    ],
)
def test_a_path_of_no_audit_is_an_error(changed, message):
    audit = audits()[0]
    with pytest.raises(EpsilometerError, match=re.escape(message)) as caught:
        Audit.from_wildcards(audit.study, audit.wildcards | changed)
    assert "\n" not in str(caught.value)


def test_digests_are_of_all_files_and_versions():
    texts = digests()
    names = {
        name: [part.partition("=")[0] for part in text.split()] for name, text in texts.items()
    }
    assert names["laplace"] == ["numpy", "own.py", "python", "shared.py"]
    assert {"sh", "coin.sh", "command"} <= set(names["program"])
    assert texts["recorded"] == "x.csv=missing y.csv=missing"
    assert {"rows.csv", "own.py"} <= set(names["vector"])


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("shared.py", {"laplace", "vector"}),
        ("own.py", {"laplace", "vector"}),
        ("coin.sh", {"program"}),
        ("rows.csv", {"vector"}),
        ("x.csv", {"recorded"}),
        ("other.py", set()),
    ],
)
def test_an_edit_changes_the_digests_of_the_file_only_and_a_touch_none(file, names):
    before = digests()
    for path in FILE.parent.iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o755)
    assert digests() == before
    with (FILE.parent / file).open("a") as text:
        text.write("\n# edited\n")
    after = digests()
    assert {name for name in before if before[name] != after[name]} == names


@pytest.mark.parametrize(
    ("mechanism", "made"),
    [
        ({"function": "gone.py:f"}, "missing=gone.py cannot be read: no such file"),
        ({"function": "gone.module:f"}, "missing=gone.module cannot be imported: no module 'gone'"),
        ({"command": "./program 1"}, "program="),
        ({"python": "./program", "function": "own.py:laplace"}, "own.py="),
    ],
)
def test_nothing_of_a_mechanism_is_run_before_its_job(mechanism, made):
    (FILE.parent / "own.py").write_text("import pathlib\npathlib.Path('ran').touch()\n1 / 0\n")
    (FILE.parent / "program").write_text("#!/bin/sh\ntouch ran\n")
    (FILE.parent / "program").chmod(0o755)
    drawn_by(mechanism)
    assert made in digests()["laplace"]
    assert not list(Path().rglob("ran"))


def test_packages_of_another_interpreter_count(tmp_path):
    installed = tmp_path / "venv/lib/python3.11/site-packages"
    (installed / "numpy-2.0.dist-info").mkdir(parents=True)
    drawn_by({"python": f"{tmp_path}/venv/bin/python", "function": "own.py:laplace"})
    before = digests()["laplace"]
    (installed / "numpy-2.0.dist-info").rename(installed / "numpy-2.1.dist-info")
    assert digests()["laplace"] != before
    assert "shared.py=" in before


def test_a_job_that_was_stopped_is_tried_again():
    case = audits()[0]
    assert case.stopped() == ""
    log = Path(case.path.replace("smoke/", "smoke/logs/").replace(".parquet", ".stopped"))
    log.parent.mkdir(parents=True)
    log.write_text("crashed\n")
    assert case.stopped() == "crashed\n"
