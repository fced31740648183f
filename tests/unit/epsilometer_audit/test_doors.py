"""One request has one answer, through whichever door it enters.

The doors are `ea.audit`, the command, a file of audits, the fixture of pytest and a study. All get
the same pairs, joins, checks, notes and bounds; the names of things differ. That each field of a
request is reachable from each of them is asked in question/test_request.py.
"""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ConfigError
from epsilometer_audit.cli import parser, running
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.outputs.callables import load
from exhibition import audit as study
from tests.unit.epsilometer_audit.question.declared import REPLACED

pytest_plugins = ["pytester"]
CODE = """
import numpy as np

def bump(x, size, rng):
    "Noise for epsilon 4: no listed pair shows it, those that join do."
    return np.exp(-(((x - 0.37) / 0.12) ** 2)) + rng.laplace(0, 0.25, size)
"""
DRAWS = 6000
DOMAIN = {"values": [0, 1], "limit": 2}
NAMES = ("seconds", "replay", "provenance", "source")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(CODE)


def facts(verdict):
    """All of a verdict but the names of things."""
    plain = json.loads(verdict.to_json()) if isinstance(verdict, ea.Verdict) else dict(verdict)
    return {key: value for key, value in plain.items() if key not in NAMES}


def assert_as_in_python(verdict):
    """Assert that an answer is that of Python with the same alpha and seed."""
    answer = facts(verdict)
    source = load("own.py:bump", folder=".")
    options = {"samples": DRAWS, "alpha": answer["alpha"], "seed": answer["seed"]}
    assert answer == facts(ea.audit(source, ea.domain(DOMAIN), ea.pure(1.0), **options))
    assert answer["verdict"] == "violated"
    assert any("more pairs were tried" in check["words"] for check in answer["checks"])


def in_a_file(pairs, **more):
    """The case of a file, with its own seed and share of alpha."""
    entry = {"mechanism": "own.py:bump", "pairs": pairs, "claim": {"epsilon": 1.0}, **more}
    text = yaml.safe_dump({"audits": {"own": entry}})
    Path("mine.yaml").write_text(text.replace("1.0e-05", "1e-5").replace("-0.5", "-.5"))
    (case,) = AuditsFile(Path("mine.yaml")).cases.values()
    return case


def by_a_file(capsys):
    return running.audited(in_a_file({"domain": DOMAIN}, samples=DRAWS).request(), ".", print)


def by_a_study(capsys):
    spec = in_a_file({"domain": DOMAIN}, samples=DRAWS).to_plain()
    study.run("verdicts.parquet", "page.html", spec, "{}", ".", "", print)
    return json.loads(pd.read_parquet("verdicts.parquet")["json"][0])


def by_the_command(capsys):
    words = ["audit", "own.py:bump", "--domain", json.dumps(DOMAIN), "--epsilon", "1"]
    assert main([*words, "--samples", str(DRAWS), "--quiet", "--json", "-"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert "--domain" in verdict["replay"]
    return verdict


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("door", [by_a_file, by_a_study, by_the_command])
def test_a_door_gives_the_answer_of_an_audit_in_python(door, capsys):
    assert_as_in_python(door(capsys))


@pytest.mark.slow(seconds=2)
def test_the_fixture_of_pytest_gives_the_answer_of_an_audit_in_python(pytester):
    pytester.makepyfile(
        test_it="import epsilometer_audit as ea, own\n"
        "def test_bump(audit):\n"
        f"    pairs = ea.domain({DOMAIN!r})\n"
        f"    options = dict(samples={DRAWS}, expect='violated')\n"
        "    verdict = audit(own.bump, pairs=pairs, epsilon=1, **options)\n"
        "    open('verdict.json', 'w').write(verdict.to_json())\n"
    )
    pytester.makepyfile(own=CODE)
    done = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    done.assert_outcomes(passed=1)
    assert_as_in_python(json.loads((pytester.path / "verdict.json").read_text()))


# --- domains --------------------------------------------------------------------------------------


def test_on_the_command_line_a_domain_is_json_and_pairs_are_added(capsys):
    words = ["own.py:bump", "--epsilon", "1", "--pair", "[0]", "[5]", "--domain"]
    pairs = parser.request_of(parser.parsed("audit", [*words, json.dumps(REPLACED)])).pairs
    assert list(pairs.values()) == [([0], [5]), *ea.domain(REPLACED).values()]
    assert pairs.searches
    assert main(["audit", *words, "nowhere.json"]) == 2
    assert "--domain: 'nowhere.json' is not JSON" in capsys.readouterr().err


def test_in_a_file_of_audits_a_domain_is_among_the_pairs_and_numbers_are_numbers():
    for declared in (REPLACED, {"values": [0, 1], "distance": 0.00001, "limit": 5}, {"bits": 4}):
        assert dict(in_a_file({"domain": declared}).request().pairs) == dict(ea.domain(declared))
    near = {"near": [[-0.5], [0.00001]]}
    assert in_a_file(near).request().pairs == near


@pytest.mark.parametrize(
    ("pairs", "more", "words"),
    [
        ({"domain": {"bits": 0}}, {}, "own.pairs.domain.bits: must be at least 1, got 0"),
        ({"domain": {"bits": 4}, "limt": 3}, {}, "pairs.limt: unknown key"),
        ({"domain": {"bits": 8}}, {"samples": 100}, "samples: must be at least .* for 32 pairs"),
    ],
)
def test_mistakes_of_domains_in_a_file_of_audits(pairs, more, words):
    with pytest.raises(ConfigError, match=words):
        in_a_file(pairs, **more)
