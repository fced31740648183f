"""Requests: the errors of their arguments, and each field through each door."""

import inspect
import json
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import auditing
from epsilometer_audit.cli import parser
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.parser import spelled
from epsilometer_audit.pytest_plugin import Auditor
from epsilometer_audit.question.request import (
    Kind,
    NamedMechanism,
    RecordedScores,
    Request,
    documented,
    equal,
    options_of,
    request_of,
)


def noisy_sum(x, size, rng):
    return sum(x) + rng.laplace(0, 1, size)


ONE = [([0, 0, 1], [0, 1, 1])]
MISTAKES = [
    ({"pairs": []}, "pairs must name at least one pair"),
    ({"pairs": [1, 2]}, r"pairs must be a list of pairs \(x, x'\), got 1 as 'pair 1'"),
    ({"pairs": [(1, 2, 3)]}, r"pairs must be a list of pairs \(x, x'\), got \[1, 2, 3\]"),
    ({"pairs": ([0, 1], [1, 1])}, r"pairs must be a list of pairs, \[\(x, x'\)\] for one pair"),
    ({"pairs": zip([0], [1], strict=True)}, r"pairs must be a list of pairs, .*zip object"),
    ({"pairs": {"a": (0, 0), "b": (1, 1)}}, "pairs must have inputs that differ"),
    ({"claim": 1.0}, r"claim must be a claim, such as pure\(1.0\)"),
    ({"claim": None, "delta": 1e-5}, "delta needs epsilon, which is missing"),
    ({"claim": None, "gdp": 1, "delta": 1e-5}, "delta needs epsilon, which is missing"),
    ({"claim": None, "gdp": 1, "epsilon": 1}, "gdp cannot be used with epsilon; choose one"),
    ({"samples": 1e5}, "samples must be an integer"),
    ({"samples": 10**9 + 1}, "samples must be at most 1000000000, got 1000000001"),
    ({"smaples": 9}, "smaples is no option; did you mean 'samples'"),
    ({"event": 0.5, "canaries": 20, "pairs": None}, "samples cannot be used with canaries"),
    ({"mechanism": {"functoin": "f"}}, "mechanism.functoin is no field; did you mean 'function'"),
    ({"mechanism": {"command": "f", "python": "p"}}, "python needs function, which is missing"),
    ({"mechanism": 3}, "must be a function, got an object of type int"),
]


@pytest.mark.parametrize(("change", "words"), MISTAKES)
def test_errors_of_arguments_are_one_line(change, words):
    """Those that the command line can show are in the tests of the command."""
    right = {"mechanism": noisy_sum, "pairs": ONE, "claim": ea.pure(1.0), "samples": 4000}
    with pytest.raises((ArgumentError, MechanismError), match=words) as caught:
        ea.audit(**{**right, **change})
    assert "\n" not in str(caught.value)


def test_canaries_are_for_mechanisms_that_are_run():
    claim = ea.pure(1.0)
    options = {"canaries": 20, "timeout": 3.0}
    assert request_of(options, mechanism=noisy_sum, claim=claim).kind is Kind.ONE_RUN
    many = request_of({"samples": 10**9}, mechanism=noisy_sum, pairs=ONE, claim=claim)
    assert many.kind is Kind.DRAWS
    recorded = RecordedScores(np.arange(20.0), np.arange(20) % 2)
    assert request_of({}, mechanism=recorded, claim=claim).kind is Kind.ONE_RUN
    for name, value in options.items():
        with pytest.raises(ArgumentError, match=f"{name} cannot be used with what is recorded"):
            request_of({name: value}, mechanism=recorded, claim=claim)


ZEROS = np.zeros(2000)  # printed in short
NAN = np.array([np.nan])


@pytest.mark.parametrize(
    ("x", "y", "same"),
    [
        ([1, 2], [1, 2], True),
        ([1], [1.0], False),
        (ZEROS, ZEROS.copy(), True),
        (ZEROS, np.where(np.arange(2000) == 1000, 1.0, 0.0), False),
        (NAN, NAN, True),
        (NAN, NAN.copy(), False),
    ],
)
def test_inputs_are_surely_equal_if_they_are_so_in_type_and_in_each_number(x, y, same):
    assert equal(x, y) == same


# --- each field is reachable from each door -------------------------------------------------------

SHARED = {"epsilon": 0.125, "detect": 0.25, "alpha": 0.025, "seed": 7}
OF_DRAWS = {"samples": 7000, "stop": True, "failures": True, "check_sampler": False}
OF_OUTPUTS = {"event": 0.2, "as_reals": True}
REQUESTS = {
    "draws": {
        "mechanism": {"function": "own.py:f", "parameters": {"a": 2}, "python": "other"},
        "pairs": {"pair 1": (0, 1), "pair 2": (0, 2)},
        "timeout": 9.5,
        **SHARED,
        **OF_DRAWS,
        **OF_OUTPUTS,
    },
    "program": {"mechanism": {"command": "./f"}, "pairs": {"": (0, 1)}, **SHARED},
    "recorded": {
        "mechanism": {"outputs": ["a.csv", "b.csv"], "columns": ["x", "y"]},
        **SHARED,
        **OF_OUTPUTS,
    },
    "scores": {"mechanism": {"one_run": "a.csv", "columns": ["x", "y"]}, **SHARED},
    "canaries": {
        "mechanism": {"function": "own.py:f"},
        "canaries": 40,
        "guesses": [12, 13],
        "timeout": 9.5,
        **SHARED,
    },
}


def words(name, value):
    """Return a field as the command takes it."""
    if name == "function":
        return [value]
    if name == "pairs":
        found = []
        for pair in value.values():
            found += ["--pair", *map(json.dumps, pair)]
        return found
    option = spelled(name, "audit")
    if isinstance(value, bool):
        return [option]
    if isinstance(value, dict):
        value = [f"{key}={part}" for key, part in value.items()]
    return [option, *map(str, value if isinstance(value, list) else [value])]


def by_python(options):
    ea.audit(**options)


def by_the_command(options):
    own = dict(options)
    line = []
    for name, value in (own.pop("mechanism") | own).items():
        line += words(name, value)
    auditing.run(parser.request_of(parser.parsed("audit", line)))


def by_a_file(options):
    """Alpha is that of the file, and the seed follows from its own."""
    own = dict(options)
    seed, alpha = own.pop("seed"), own.pop("alpha")
    own["claim"] = {"epsilon": own.pop("epsilon")}
    if "pairs" in own:
        own["pairs"] = {name: list(pair) for name, pair in own["pairs"].items()}
    Path("mine.yaml").write_text(yaml.safe_dump({"audits": {"own": own}, "alpha": alpha}))
    (case,) = AuditsFile(Path("mine.yaml"), seed).cases.values()
    auditing.run(case.request())


def by_pytest(options):
    """Alpha and the seed are those of the session."""
    own = dict(options)
    shared = own.pop("alpha"), own.pop("seed")
    config = SimpleNamespace(rootpath=Path())
    item = SimpleNamespace(nodeid="t", config=config, user_properties=[])
    test = Auditor(item, None)
    test.next_call = lambda: shared
    test(own.pop("mechanism"), own.pop("pairs", None), **own)


class AskedError(Exception):
    pass


@pytest.mark.parametrize("options", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("door", [by_python, by_the_command, by_a_file, by_pytest])
def test_each_field_of_a_request_is_reachable_from_each_door(options, door, tmp_path, monkeypatch):
    asked = []

    def run(request, progress=None):
        asked.append(request)
        raise AskedError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("epsilometer_audit.auditing.run", run)
    with pytest.raises(AskedError):
        door(options)
    (request,) = asked
    assert request.claim == ea.pure(0.125)
    for name, value in options.items():
        if name == "mechanism":
            assert request.mechanism == NamedMechanism(**value)
        elif name == "pairs":
            assert list(map(tuple, request.pairs.values())) == list(value.values())
        elif name != "epsilon" and (name != "seed" or door is not by_a_file):
            assert getattr(request, name) == value != getattr(Request, name)


def test_the_requests_have_all_fields():
    asked, mechanisms = {"claim"}, {"environment"}
    for options in REQUESTS.values():
        asked |= {*options} - {"epsilon"}
        mechanisms |= {*options["mechanism"]}
    assert asked == {field.name for field in fields(Request)}
    assert mechanisms == {field.name for field in fields(NamedMechanism)}


def test_an_environment_is_for_files_of_studies(tmp_path):
    mechanism = {"function": "own.py:f", "environment": "a"}
    entry = {"mechanism": mechanism, "pairs": [[0, 1]], "claim": {"epsilon": 1}}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"audits": {"own": entry}}))
    (case,) = AuditsFile(path, environments=True).cases.values()
    assert case.request().mechanism == NamedMechanism(**mechanism)
    with pytest.raises(ArgumentError, match="environment is made by studies only"):
        ea.audit(mechanism, [(0, 1)], ea.pure(1.0))


@pytest.mark.parametrize("kinds", [{kind} for kind in Kind] + [{Kind.DRAWS, Kind.ONE_RUN}])
def test_a_documented_function_takes_the_options_of_its_kinds_of_audits(kinds):
    @documented(*kinds)
    def audited(samples, **options):
        """Say nothing."""

    parameters = inspect.signature(audited).parameters
    assert parameters["samples"].default is inspect.Parameter.empty  # its own
    options = {name for name, known in options_of(Request).items() if kinds & {*known.kinds}}
    assert parameters.keys() == options | {"samples"}
    for name in options - {"samples"}:
        assert parameters[name].default == getattr(Request, name)
        assert f"\n{name}\n    " in audited.__doc__
