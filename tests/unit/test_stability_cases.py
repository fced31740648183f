"""Stability of transformations in files of audits."""

import pytest
import yaml

from epsilometer.errors import ConfigError
from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.stability import SAMPLES
from tests.unit.test_stages_audit import audited, spec_of  # noqa: F401 - a fixture

ENTRY = {
    "mechanism": "own.py:repeated",
    "parameters": {"times": [2]},
    "pairs": {"domain": {"rows": {"values": [0, 9]}, "length": [0, 3]}},
    "stability": {"d_in": 1, "d_out": "$times", "metric": "insert-delete"},
}
MODULE = """
def repeated(x, times):
    return x * times

def own(d_in, times):
    return times * d_in - 1
"""


def cases(folder, **changed):
    entry = {key: value for key, value in (ENTRY | changed).items() if value is not None}
    (folder / "mine.yaml").write_text(yaml.safe_dump({"audits": {"sum": entry}}))
    return Audits(folder / "mine.yaml", "smoke").all_cases()


def test_a_parameter_or_a_function_states_the_distance(audited, tmp_path):  # noqa: F811
    (audited.folder / "own.py").write_text(MODULE)
    for d_out, verdict, claimed in (("$times", "not refuted", 2), ("own.py:own", "violated", 1)):
        (case,) = cases(tmp_path, stability=ENTRY["stability"] | {"d_out": d_out})
        assert case.samples == SAMPLES
        parts = {"pairs": case.inputs, "given": case.given, "samples": case.samples}
        spec = {**spec_of(), **parts, "mechanism": case.mechanism, "claims": case.claims}
        (answer,) = audited(spec)
        assert (answer["verdict"], answer["bounds"][0]["claimed"]) == (verdict, claimed)
        assert answer["claim"]["notion"] == "stability"
        assert ("(from own.py:own)" in answer["claimed"]) == (verdict == "violated")


def test_a_failure_is_a_row(audited, tmp_path):  # noqa: F811
    (audited.folder / "own.py").write_text("def repeated(x, times):\n    return 1\n")
    (case,) = cases(tmp_path)
    parts = {"pairs": case.inputs, "given": case.given, "samples": case.samples}
    spec = {**spec_of(), **parts, "mechanism": case.mechanism, "claims": case.claims}
    (answer,) = audited(spec)
    assert answer["verdict"] == "failed"
    assert "of lists and tables, not of int" in answer["reasons"][0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"claims": [{"epsilon": 1}]}, "claims: cannot be used with stability"),
        ({"stability": None}, "claims: is missing"),
        ({"pairs": None}, "pairs: is missing"),
        ({"pairs": None, "canaries": 100}, "stability: needs pairs"),
        ({"stability": {"d_in": 1, "d_out": 1, "metric": "l1"}}, "stability: metric must be one"),
        ({"stability": {"d_in": 1, "d_out": "$time"}}, "stability: unknown parameter 'time'"),
        ({"stability": {"d_in": -1, "d_out": 1}}, "stability: d_in must be at least 0"),
        ({"stability": {"d_out": 1}}, "stability.d_in"),
    ],
)
def test_mistakes(changed, words, tmp_path):
    with pytest.raises(ConfigError) as caught:
        cases(tmp_path, **changed)
    assert words in str(caught.value)
