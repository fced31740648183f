"""A lower bound of an accountant's level: a claim is compared with it without draws."""

import pytest
import yaml

from epsilometer.errors import ConfigError
from epsilometer_audit.grids.cases import Audits
from epsilometer_workflow.products.audited import accountants_of
from tests.unit.test_stages_audit import audited, spec_of  # noqa: F401 - a fixture

MODULE = """
def laplace(x, size, rng, scale):
    return (sum(x) + rng.laplace(0, scale, size)).round(1)

def claimed(scale):
    return 1 / scale

def low(scale, delta=0):
    return 0.9 / scale - delta

def high(scale):
    return 1.1 / scale
"""
ENTRY = {
    "mechanism": "own.py:laplace",
    "parameters": {"scale": 1.0},
    "pairs": {"one": [[0], [1]]},
    "samples": 2000,
}


def cases(folder, claim):
    (folder / "mine.yaml").write_text(
        yaml.safe_dump({"audits": {"a": {**ENTRY, "claims": [claim]}}})
    )
    return Audits(folder / "mine.yaml", "smoke").all_cases()


@pytest.mark.parametrize(("least", "verdict"), [("low", "not refuted"), ("high", "violated")])
def test_a_claim_below_its_lower_bound_is_violated(audited, tmp_path, least, verdict):  # noqa: F811
    (audited.folder / "own.py").write_text(MODULE)
    (case,) = cases(tmp_path, {"epsilon": "own.py:claimed", "at least": f"own.py:{least}"})
    assert [each["function"] for each in accountants_of(case)] == [
        "own.py:claimed",
        f"own.py:{least}",
    ]
    parts = {"pairs": case.inputs, "given": case.given, "samples": case.samples}
    spec = {**spec_of(), **parts, "mechanism": case.mechanism, "claims": case.claims}
    (answer,) = audited(spec)
    assert answer["verdict"] == verdict
    assert "(from own.py:claimed)" in answer["claimed"]
    if verdict == "violated":
        assert (answer["bound"], answer["draws"]) == (1.1, 0)
        assert answer["checks"][0]["words"] == "own.py:high: epsilon is at least 1.1"
        assert "Nothing was drawn" in audited.page.read_text()


@pytest.mark.parametrize("least", [None, "own.py:low"])
def test_a_level_too_large_for_the_draws_is_compared(audited, tmp_path, least):  # noqa: F811
    module = MODULE.replace("1 / scale", "30 / scale").replace("0.9 / scale", "20 / scale")
    (audited.folder / "own.py").write_text(module)
    (case,) = cases(
        tmp_path, {"epsilon": "own.py:claimed"} | ({"at least": least} if least else {})
    )
    parts = {"pairs": case.inputs, "given": case.given, "samples": case.samples}
    (answer,) = audited({**spec_of(), **parts, "mechanism": case.mechanism, "claims": case.claims})
    assert answer["verdict"] == ("not refuted" if least else "undecided")
    notes = [check["words"] for check in answer["checks"]]
    assert ("own.py:low: epsilon is at least 20, which the claim allows" in notes) == bool(least)
    assert (answer["bound"] == 20) == bool(least)
    assert any("no level would have been found" in text for text in notes + answer["reasons"])


@pytest.mark.parametrize(
    "claim",
    [
        {"epsilon": 1, "at least": "own.py:low"},
        {"epsilon": "own.py:claimed", "at least": 1},
        {"epsilon": "own.py:claimed", "delta": "own.py:low", "at least": "own.py:low"},
    ],
)
def test_mistakes(tmp_path, claim):
    with pytest.raises(ConfigError, match="at least: needs a function, and another for one level"):
        cases(tmp_path, claim)
