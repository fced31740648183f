"""One request has one answer, through whichever door it enters.

The doors are `ea.audit`, the command, a file of audits, the fixture of pytest and a study. All get
the same pairs, joins, checks, notes and bounds; the names of things differ.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer_audit.cli import parser, running
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.cli.parser import spelled
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.pytest_plugin import Auditor
from epsilometer_audit.question.request import (
    Kind,
    NamedMechanism,
    Request,
    options_of,
    request_of,
    types_of,
)
from exhibition import audit as study

pytest_plugins = ["pytester"]
CODE = """
import numpy as np

def bump(x, size, rng):
    "Noise for epsilon 4: no listed pair shows it, those that join do."
    return np.exp(-(((x - 0.37) / 0.12) ** 2)) + rng.laplace(0, 0.25, size)

def one(x, rng):
    return bump(x, 1, rng)[0]
"""
FUNCTIONS = {"bump": 6000, "one": 500}  # with their draws a side; of `one`, each is a call
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


@cache
def in_python(function, alpha, seed):
    """The facts of the answer, once for all doors."""
    pairs = ea.domain(DOMAIN)
    source = load(f"own.py:{function}", folder=".")
    options = {"samples": FUNCTIONS[function], "alpha": alpha, "seed": seed}
    return facts(ea.audit(source, pairs, ea.pure(1.0), **options))


def in_a_file(function):
    """The case of a file, with its own seed and share of alpha."""
    entry = {"mechanism": f"own.py:{function}", "pairs": {"domain": DOMAIN}}
    entry |= {"claim": {"epsilon": 1.0}, "samples": FUNCTIONS[function]}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = AuditsFile(Path("mine.yaml")).cases.values()
    return case


def by_a_file(function, capsys):
    return running.audited(in_a_file(function).request(), ".", print)


def by_a_study(function, capsys):
    spec = in_a_file(function).to_plain()
    study.run("verdicts.parquet", "page.html", spec, "{}", ".", "", print)
    return json.loads(pd.read_parquet("verdicts.parquet")["json"][0])


def by_the_command(function, capsys):
    words = ["audit", f"own.py:{function}", "--domain", json.dumps(DOMAIN), "--epsilon", "1"]
    main([*words, "--samples", str(FUNCTIONS[function]), "--quiet", "--json", "-"])
    return json.loads(capsys.readouterr().out)


DOORS = [by_a_file, by_a_study, by_the_command]


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_door_gives_the_answer_of_an_audit_in_python(door, function, capsys):
    answer = facts(door(function, capsys))
    assert answer == in_python(function, answer["alpha"], answer["seed"])
    if function == "bump":
        notes = [check["words"] for check in answer["checks"]]
        assert any("more pairs were tried" in words for words in notes)
        assert answer["verdict"] == "violated"


@pytest.mark.slow(seconds=2)
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
    assert answer == in_python("bump", answer["alpha"], answer["seed"])


# --- each field of a request is reachable from each door ------------------------------------------

VALUES = {  # of a field's type, another one than the default
    bool: lambda default: not default,
    float: lambda default: 0.25 if default is None else default / 2,
    int: lambda default: 41 if default is None else default + 7,
    int | Sequence[int]: lambda default: [12, 13],
}
CANARIES = {"guesses": {"canaries": 40}}  # a field that needs another one


def chosen(each):
    """Return keyword arguments of a request in which this field has a value of its own."""
    option, kind = options_of(Request)[each.name], types_of(Request)[each.name]
    options = {"mechanism": "own.py:bump", "epsilon": 0.125}
    if Kind.DRAWS in option.kinds:
        options["pairs"] = {"pair 1": (0, 1)}
    if each.name == "pairs":
        return options | {"pairs": {"pair 1": (0, 1), "pair 2": (0, 2)}}
    if each.name in ("mechanism", "claim"):
        return options
    return options | CANARIES.get(each.name, {}) | {each.name: VALUES[kind](each.default)}


def words(name, value):
    """Return a field as the command takes it."""
    if name == "mechanism":
        return [value]
    if name == "epsilon":
        return ["--epsilon", str(value)]
    if name == "pairs":
        return [word for pair in value.values() for word in ("--pair", *map(json.dumps, pair))]
    option = spelled(name, "audit")
    if isinstance(value, bool):
        return [option]
    return [option, *map(str, value if isinstance(value, list) else [value])]


def asked_by_python(options, monkeypatch, pytester):
    return lambda: ea.audit(**options)


def asked_by_the_command(options, monkeypatch, pytester):
    line = ["audit", *(word for item in options.items() for word in words(*item))]
    return lambda: main(line)


def asked_by_a_file(options, monkeypatch, pytester):
    """Alpha and the seed are those of the file."""
    entry = {name: value for name, value in options.items() if name not in ("alpha", "seed")}
    entry["claim"] = {"epsilon": entry.pop("epsilon")}
    if "pairs" in entry:
        entry["pairs"] = {name: list(pair) for name, pair in entry["pairs"].items()}
    shared = {"alpha": options["alpha"]} if "alpha" in options else {}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}, **shared}))
    if "seed" in options:
        module = sys.modules[AuditsFile.__module__]
        monkeypatch.setattr(module, "generator", lambda seed, *_: Seeds(seed))
    (case,) = AuditsFile(Path("mine.yaml"), options.get("seed", 0)).cases.values()
    return lambda: running.audited(case.request(), ".", print)


@dataclass
class Seeds:
    """A generator of seeds that gives the file's own, which is hashed with the case's name."""

    seed: int

    def integers(self, _):
        return self.seed


def asked_by_pytest(options, monkeypatch, pytester):
    """Alpha and the seed are those of the session."""
    shared = {name: options[name] for name in ("alpha", "seed") if name in options}
    own = {name: value for name, value in options.items() if name not in shared}
    test = Auditor(SimpleNamespace(nodeid="t", config=None, user_properties=[]), None)
    test.item.config = SimpleNamespace(rootpath=Path())
    test.next_call = lambda: (shared.get("alpha", 0.05), shared.get("seed", 0))
    mechanism, pairs = own.pop("mechanism"), own.pop("pairs", None)
    return lambda: test(mechanism, pairs, **own)


class AskedError(Exception):
    pass


@pytest.mark.parametrize("each", fields(Request), ids=lambda each: each.name)
@pytest.mark.parametrize(
    "door", [asked_by_python, asked_by_the_command, asked_by_a_file, asked_by_pytest]
)
def test_each_field_of_a_request_is_reachable_from_each_door(each, door, monkeypatch, pytester):
    asked = []

    def run(request, progress=None):
        asked.append(request)
        raise AskedError

    monkeypatch.setattr("epsilometer_audit.auditing.run", run)
    options = chosen(each)
    ask = door(options, monkeypatch, pytester)
    with suppress(AskedError):
        ask()
    (request,) = asked
    wanted = options.get(each.name, getattr(request, each.name))
    got = getattr(request, each.name)
    if each.name == "mechanism":
        assert got == NamedMechanism(function="own.py:bump")
    elif each.name == "claim":
        assert got == ea.pure(0.125)
    elif each.name == "pairs":
        assert {name: tuple(pair) for name, pair in got.items()} == wanted
    else:
        assert each.name in options
        assert wanted != each.default
        assert got == wanted


@pytest.mark.parametrize("each", fields(NamedMechanism), ids=lambda each: each.name)
def test_each_field_of_a_named_mechanism_is_reachable(each, monkeypatch):
    """Python and pytest take a mapping, files the same keys; an environment is for studies."""
    values = {
        str: "a.py:f",
        Mapping[str, Any]: {"epsilon": 2},
        Sequence[str]: ["a.csv", "b.csv"],
        str | Sequence[str]: "./program",
    }
    own = {each.name: values[types_of(NamedMechanism)[each.name]]}
    needs = options_of(NamedMechanism)[each.name].needs
    own |= {name: values[types_of(NamedMechanism)[name]] for name in needs[:1]}
    named = NamedMechanism(**own)
    draws = named.kind is Kind.DRAWS
    options = {"epsilon": 1, **({"pairs": {"": (0, 1)}} if draws else {})}
    assert request_of(options, mechanism=own).mechanism == named
    entry = {"mechanism": own, "claim": {"epsilon": 1}}
    entry |= {"pairs": {"": [0, 1]}} if draws else {}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = AuditsFile(Path("mine.yaml"), environments=True).cases.values()
    assert case.request().mechanism == named
    if each.name == "environment":
        return
    line = ["--epsilon", "1", *(["--pair", "0", "1"] if draws else [])]
    for name, value in own.items():
        option = [] if name == "function" else [spelled(name, "audit")]
        given = value if isinstance(value, list) else [value]
        given = [f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else given
        line = [*option, *given, *line] if name == "function" else [*line, *option, *given]
    assert parser.request_of(parser.parsed("audit", line)).mechanism == named
