"""One question has one answer, through whichever door it enters, with other claims or alone.

The doors are `ea.audit`, the command, a file of audits, the fixture of pytest and a study. All get
the same pairs, joins, checks, notes and bounds; the names of things differ.
"""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer_audit.cli.main import main
from epsilometer_audit.grids import verdicts
from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.sources.callables import load
from exhibition import audit as study

pytest_plugins = ["pytester"]
CODE = """
import numpy as np

def bump(x, size, rng):
    "Noise for epsilon 2: no listed pair shows it, those that join do."
    return np.exp(-(((x - 0.37) / 0.06) ** 2)) + rng.laplace(0, 0.5, size)

def one(x, rng):
    return bump(x, 1, rng)[0]
"""
FUNCTIONS = {"bump": 30_000, "one": 2000}  # with their draws a side
DOMAIN = {"values": [0, 1], "limit": 8}
NAMES = ("seconds", "replay", "provenance", "source")
OTHERS = [{"gdp": 1.0}, {"epsilon": 3.0}]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(CODE)


def facts(verdict):
    """All of a verdict but the names of things."""
    plain = json.loads(verdict.to_json()) if isinstance(verdict, ea.Verdict) else dict(verdict)
    return {key: value for key, value in plain.items() if key not in NAMES}


def in_python(function, alpha, seed):
    pairs = ea.domain(DOMAIN)
    source = load(f"own.py:{function}", folder=".")
    options = {"samples": FUNCTIONS[function], "alpha": alpha, "seed": seed}
    return ea.audit(source, pairs, ea.pure(1.0), **options)


def in_a_file(function, claims):
    """The spec of a file's case, with its own seed and share of alpha."""
    entry = {"mechanism": f"own.py:{function}", "pairs": {"domain": DOMAIN}, "claims": claims}
    entry["samples"] = FUNCTIONS[function]
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = Audits(Path("mine.yaml"), "smoke").cases.values()
    return case.spec


def by_a_file(function, capsys):
    return verdicts.audited(in_a_file(function, [{"epsilon": 1.0}]), ".", print)[0]


def by_a_file_with_other_claims(function, capsys):
    spec = in_a_file(function, [OTHERS[0], {"epsilon": 1.0}, OTHERS[1]])
    return verdicts.audited(spec, ".", print)[1]


def by_a_study(function, capsys):
    spec = in_a_file(function, [{"epsilon": 1.0}, OTHERS[1]])
    study.run("verdicts.parquet", "page.html", spec, "{}", ".", "", print)
    return json.loads(pd.read_parquet("verdicts.parquet")["json"][0])


def by_the_command(function, capsys):
    words = ["audit", f"own.py:{function}", "--domain", json.dumps(DOMAIN), "--epsilon", "1"]
    main([*words, "--samples", str(FUNCTIONS[function]), "--quiet", "--json", "-"])
    return json.loads(capsys.readouterr().out)


DOORS = [by_a_file, by_a_file_with_other_claims, by_a_study, by_the_command]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_door_gives_the_answer_of_an_audit_in_python(door, function, capsys):
    answer = facts(door(function, capsys))
    alone = facts(in_python(function, answer["alpha"], answer["seed"]))
    assert answer == alone
    if function == "bump":
        notes = [check["words"] for check in answer["checks"]]
        assert any("more pairs were tried" in words for words in notes)
        assert answer["verdict"] == "violated"


def test_the_fixture_of_pytest_gives_the_answer_of_an_audit_in_python(pytester):
    pytester.makepyfile(
        test_it="import epsilometer_audit as ea, own\n"
        "def test_bump(audit):\n"
        f"    pairs = ea.domain({DOMAIN!r})\n"
        f"    options = dict(samples={FUNCTIONS['bump']}, expect='violated')\n"
        "    verdict = audit(own.bump, pairs=pairs, epsilon=1, **options)\n"
        "    open('verdict.json', 'w').write(verdict.to_json())\n"
    )
    pytester.makepyfile(own=CODE)
    done = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    done.assert_outcomes(passed=1)
    answer = facts(json.loads((pytester.path / "verdict.json").read_text()))
    assert answer == facts(in_python("bump", answer["alpha"], answer["seed"]))


def test_draws_are_those_of_the_input_whatever_object_holds_it():
    """Python reuses the identity of an object that is gone: memory goes by the content."""

    class Told:
        description, seeded, many = "told", True, True

        def draw(self, x, size, seed):
            return [x[0]] * size  # which keeps nothing of the object

        def digest(self):
            return {}

    for_an_audit = verdicts._remembering(Told())
    for i in range(1000):
        x = [float(i)]
        assert for_an_audit().draw(x, 1, 0) == [float(i)]
        del x


def test_equal_calls_in_an_audit_draw_again_so_that_a_sampler_without_a_seed_is_noticed():
    calls = []

    class Unseeded:
        description, seeded, many = "unseeded", True, True

        def draw(self, x, size, seed):
            calls.append(x)
            return [len(calls)]

    for_an_audit = verdicts._remembering(Unseeded())
    first, second = for_an_audit(), for_an_audit()
    assert [first.draw(0, 1, 7), first.draw(0, 1, 7)] == [[1], [2]]
    assert [second.draw(0, 1, 7), second.draw(0, 1, 7)] == [[1], [2]]
    assert len(calls) == 2
