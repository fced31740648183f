"""An accountant may compute a level: it runs where the mechanism runs, and is never stale."""

import json
import sys

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, ConfigError, MechanismError
from epsilometer_audit.cli.main import main
from epsilometer_audit.question import claim_of
from epsilometer_audit.sources.accounting import (
    ask,
    ask_all,
    with_accountants,
    with_answers,
    with_parameters,
    without_levels,
)
from epsilometer_audit.statistics import power
from epsilometer_workflow.products.audited import made_of
from epsilometer_workflow.products.checking import checked
from tests.products import all_audits
from tests.unit.test_stages_audit import audited, spec_of  # noqa: F401 - a fixture

ACCOUNTANT = """
import sys
import numpy as np
import tables

def epsilon(sigma, steps=1): return steps / sigma
def at(delta, **rest): return delta * 1e5 + len(rest)
def curve(order): return np.float32(order / 2)
def array(): return np.array([0.25])
def prints():
    print("noise on stdout")
    return 3
def where(): return float(len(sys.executable))
def nan(): return float("nan")
def zero(): return 0
def huge(): return 10**400
def word(): return "1.0"
def true(): return True
def nothing(): return None
def pair(): return (1.0, 1e-5)
def fails(): raise ValueError("no\\nbudget")
def leaves(): sys.exit(3)
def position(sigma, /): return 1.0
def table(): return tables.LEVEL
level = 1.0
class Kind:
    def method(self): return 2.5
"""
WRONG = [  # function, parameters, the error, its message
    ("nan", {}, MechanismError, "a.py:nan: returned nan; an accountant returns a finite positive"),
    ("zero", {}, MechanismError, "a.py:zero: returned 0; an accountant returns a finite positive"),
    ("huge", {}, MechanismError, "finite positive number"),
    ("word", {}, MechanismError, "returned an object of type str; an accountant returns one numb"),
    ("true", {}, MechanismError, "returned an object of type bool"),
    ("nothing", {}, MechanismError, "returned None; an accountant returns one number"),
    ("pair", {}, MechanismError, "returned an object of type tuple"),
    ("fails", {}, MechanismError, r"a.py:fails: ValueError: no budget \(a.py:\d+\)"),
    ("leaves", {}, MechanismError, r"called sys.exit\(3\)"),
    (
        "epsilon",
        {"sigm": 1},
        ArgumentError,
        "needs 'sigma', which is not a parameter; did you mean",
    ),
    ("epsilon", {}, ArgumentError, "needs 'sigma', which is not a parameter"),
    ("position", {"sigma": 1}, ArgumentError, "takes 'sigma' by position"),
    ("level", {}, ArgumentError, "must be a function, got an object of type float"),
    ("Kind", {}, ArgumentError, "must be a function, got a class"),
    ("epsilom", {}, ArgumentError, "has no function 'epsilom'; did you mean 'epsilon'"),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(ACCOUNTANT)
    (tmp_path / "tables.py").write_text("LEVEL = 1.5\n")
    return tmp_path


@pytest.mark.parametrize("interpreter", [None, sys.executable])
def test_a_function_gets_its_named_parameters(folder, interpreter):
    def answer(function, **parameters):
        return ask(f"a.py:{function}", parameters, folder=folder, interpreter=interpreter).value

    assert answer("epsilon", sigma=2, clip=9) == 0.5
    assert answer("curve", order=3.0) == 1.5
    assert answer("prints") == 3
    if interpreter:  # each answer starts it
        return
    assert answer("epsilon", sigma=2, steps=8) == 4
    assert answer("at", delta=1e-5, other=1, more=2) == 3
    assert answer("array") == 0.25
    assert answer("Kind.method") == 2.5
    assert answer("table") == 1.5


ELSEWHERE = ("zero", "fails", "leaves", "level")  # one of each kind of mistake


@pytest.mark.parametrize(
    ("function", "parameters", "error", "words", "interpreter"),
    [(*wrong, None) for wrong in WRONG]
    + [(*wrong, sys.executable) for wrong in WRONG if wrong[0] in ELSEWHERE],
)
def test_the_error_of_a_bad_level_is_one_line(
    folder, function, parameters, error, words, interpreter
):
    with pytest.raises(error, match=words) as caught:
        ask(f"a.py:{function}", parameters, folder=folder, interpreter=interpreter)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_it_runs_in_the_interpreter_that_is_named(folder):
    link = folder / "a-python-of-a-long-name"
    link.symlink_to(sys.executable)
    there = ask("a.py:where", {}, folder=folder, interpreter=str(link))
    here = ask("a.py:where", {}, folder=folder)
    assert there.value == len(str(link))
    assert here.value == len(sys.executable)
    assert there.digest["interpreter"] == str(link)
    assert there.digest["a.py"] == here.digest["a.py"]
    assert {"tables.py", "numpy", "python"} <= set(here.digest)


def test_a_missing_interpreter_is_an_error(folder):
    with pytest.raises(ArgumentError, match="is not there"):
        ask("a.py:array", {}, folder=folder, interpreter="./python")


# --- plain claims ---------------------------------------------------------------------------------


def test_levels_get_parameters_and_the_rest_of_the_claim(folder):
    here = {"folder": folder}
    claim = with_parameters({"epsilon": {"function": "a.py:at"}, "delta": 4e-5}, {"sigma": 1.0})
    assert claim["epsilon"]["given"] == {"sigma": 1.0, "delta": 4e-5}
    curve = with_parameters({"renyi": [[2.0, {"function": "a.py:curve"}], [8.0, 5.0]]}, {})
    answers = ask_all([claim, curve, claim], **here)
    assert len(answers) == 2
    assert with_answers(claim, answers)[0] == {"epsilon": 5.0, "delta": 4e-5}
    plain, accountants = with_answers(curve, answers)
    assert plain == {"renyi": [[2.0, 1.0], [8.0, 5.0]]}
    assert {name: answer.spec for name, answer in accountants.items()} == {"order 2": "a.py:curve"}
    assert without_levels({"gdp": 1.0}) is None
    assert without_levels(curve) == (
        {"notion": "renyi", "from": {"order 2": "a.py:curve"}},
        "order 2 (from a.py:curve)",
    )


def test_a_failed_accountant_fails_its_own_claim_only(folder):
    good, bad = ({"gdp": {"function": f"a.py:{f}", "given": {}}} for f in ("array", "fails"))
    answers = ask_all([bad, good], folder=folder)
    assert with_answers(good, answers)[0] == {"gdp": 0.25}
    with pytest.raises(MechanismError, match="ValueError: no budget"):
        with_answers(bad, answers)


def test_a_verdict_names_the_accountant_of_its_claim(folder):
    rng = np.random.default_rng(1)
    plain = ea.audit_outputs((rng.laplace(0, 1, 900), rng.laplace(3, 1, 900)), ea.pure(0.5))
    answers = {"epsilon": ask("a.py:epsilon", {"sigma": 2}, folder=folder)}
    verdict = with_accountants(plain, answers)
    assert verdict.claimed == "epsilon = 0.5 (from a.py:epsilon)"
    assert str(verdict).startswith("VIOLATED: epsilon = 0.5 (from a.py:epsilon) is claimed, eps")
    assert verdict.to_plain()["claim"]["from"] == {"epsilon": "a.py:epsilon"}
    assert set(answers["epsilon"].digest) <= set(verdict.provenance["made of"])
    assert with_accountants(plain, {}) is plain


# --- the command line -----------------------------------------------------------------------------

COMMANDS = [  # the claim, the level, the words, the exit code
    (["--epsilon", "a.py:array"], 0.25, "epsilon = 0.25 (from a.py:array)", 1),
    (["--epsilon", "a.py:at", "--delta", "4e-5"], 4, "(4, 4e-05) (from a.py:at)", 0),
    (["--epsilon", "4", "--delta", "a.py:array"], 4, "(4, 0.25) (from a.py:array)", 0),
    (["--gdp", "a.py:prints"], 3, "(Gaussian differential privacy) (from a.py:prints)", 0),
    (["--zcdp", "a.py:prints"], 3, "(zero-concentrated differential privacy) (from a", 0),
    (["--renyi", "2=a.py:curve"], 1, "of order 2 of 1 (from a.py:curve)", 0),
    (["--epsilon", "a.py:where", "--python", sys.executable], len(sys.executable), "= ", 3),
]
MECHANISM = "def noisy(x, size, rng):\n    return x + rng.laplace(size=size)\n"
AUDIT = ["audit", "own.py:noisy", "--pair", "0", "1", "--samples", "4000", "--as-reals", "--quiet"]


@pytest.fixture
def here(folder, monkeypatch):
    (folder / "own.py").write_text(MECHANISM)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(("words", "level", "claimed", "code"), COMMANDS)
def test_the_command_line_calls_accountants(here, capsys, words, level, claimed, code):
    assert main([*AUDIT, *words, "--json", "-"]) == code
    verdict = json.loads(capsys.readouterr().out)
    assert claimed in verdict["claimed"]
    assert verdict["bounds"][0]["claimed"] == level
    assert "a.py" in verdict["provenance"]["made of"]
    assert " ".join(words) in verdict["replay"].replace("'", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "a.py:nan"], "--epsilon: a.py:nan: returned nan; an accountant returns"),
        (["--gdp", "a.py:fails"], "--gdp: a.py:fails: ValueError: no budget (a.py:"),
        (["--renyi", "2=a.py:zero"], "--renyi: a.py:zero: returned 0"),
        (["--epsilon", "b.py:epsilon"], "b.py: is not there; did you mean 'a.py'?"),
        (["--epsilon", "a.py"], "a.py: names no function; write file:function"),
        (["--epsilon", "one"], "--epsilon: 'one' is not a number"),
        (["--epsilon", "a.py:table", "--detect", "1"], "--detect: must be above the claim, 1.5"),
    ],
)
def test_the_command_line_reports_errors_of_accountants(here, capsys, words, message):
    assert main([*AUDIT, *words]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"epsilometer: {message}")
    assert len(err.splitlines()) == 1
    assert not out


def test_samples_needed_calls_accountants(here, capsys, monkeypatch):
    monkeypatch.setattr(power, "_RUNS", (12, 16))  # simulated audits; tests/unit/test_forecasts.py
    assert main(["samples-needed", "--epsilon", "a.py:array", "--detect", "1"]) == 0
    assert "where epsilon = 0.25 is claimed" in capsys.readouterr().out


# --- the workflow ---------------------------------------------------------------------------------

ENTRY = """
audits:
  one:
    mechanism: {mechanism}
    parameters: {{sigma: [1, 4]}}
    pairs: {pairs}
    claims: {claims}
"""
CLAIMS = "[{epsilon: 'a.py:epsilon'}, {epsilon: {function: a.py:at}, delta: 1e-5}, {gdp: 2}]"
PAIR = "{near: [0, 1]}"


@pytest.fixture
def audits(config_folder, folder):
    """Return a function that writes a file of audits and returns the products of its cases."""

    def write(mechanism="own.py:noisy", pairs=PAIR, claims=CLAIMS):
        for file in (folder / "a.py", folder / "tables.py"):
            (config_folder / "audits" / file.name).write_text(file.read_text())
        text = ENTRY.format(mechanism=mechanism, pairs=pairs, claims=claims)
        (config_folder / "audits/small.yaml").write_text(text)
        made_of.cache_clear()
        products = list(all_audits(checked("config")))
        return [p for p in products if p.rule == "audit"]

    write.folder = config_folder / "audits"
    return write


def test_a_job_has_the_parameters_of_its_accountants(audits):
    products = audits()
    assert len(products) == 2  # one for each sigma
    parameters = {"sigma": 1, "delta": 1e-5}
    claim = {"epsilon": {"function": "a.py:at", "given": parameters}, "delta": 1e-5}
    claims = [row["claim"] for row in products[0].spec()["claims"]]
    assert claims[1:] == [claim, {"gdp": 2}]


@pytest.mark.parametrize("mechanism", ["own.py:noisy", "{python: ../p, function: 'own.py:noisy'}"])
@pytest.mark.parametrize("file", ["a.py", "tables.py"])
def test_an_edit_of_the_accountant_makes_its_audits_again(audits, folder, mechanism, file):
    def specs():
        return [p.made_of() for p in audits(mechanism)]

    before = specs()
    assert specs() == before
    with (folder / file).open("a") as text:
        text.write("\n# edited\n")
    assert all(old != new for old, new in zip(before, specs(), strict=True))


def test_versions_that_an_accountant_imports_count(audits):
    (own,) = {p.made_of() for p in audits(claims="[{gdp: 2}]")}
    (both,) = {p.made_of() for p in audits()}
    assert "numpy=" in both.partition(" + ")[2]
    assert both.startswith(f"{own} + ")
    (gone,) = {p.made_of() for p in audits(claims="[{gdp: b.py:f}]")}
    assert "missing=b.py is not there" in gone.replace("\n", " ")


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ("[{epsilon: 'a.py:'}]", "claims.0: a.py: names no function; write file:function"),
        ("[{epsilon: 'a.py:la place'}]", "claims.0: .* is not a Python name"),
        ("[{epsilon: {functoin: a.py:epsilon}}]", "claims.0.epsilon.*: .*number"),
        ("[{epsilon: {function: 3}}]", "claims.0.epsilon.*: .*number"),
        ("[{gdp: 1, detect: 'a.py:array'}]", "claims.0.detect: must be a number"),
        ("[{gdp: a.py:array}, {gdp: {function: a.py:array}}]", "claims.1: is the same as claims.0"),
        ("[{gdp: a.py:array, delta: 1}]", "delta needs epsilon, which is missing"),
        ("[{renyi: {1: a.py:curve}}]", "order must be above 1"),
    ],
)
def test_a_mistake_is_a_line_with_file_and_key(audits, claims, message):
    with pytest.raises(ConfigError, match=message) as caught:
        audits(claims=claims)
    assert all(
        line.startswith("config/audits/small.yaml: ") for line in str(caught.value).split("\n")
    )


def test_a_command_may_leave_a_parameter_to_the_accountant(audits):
    products = audits(mechanism="{command: ./draws}", claims="[{epsilon: 'a.py:epsilon'}]")
    levels = [p.spec()["claims"][0]["claim"]["epsilon"] for p in products]
    assert [level["given"]["sigma"] for level in levels] == [1, 4]
    with pytest.raises(ConfigError, match="'sigma' is used nowhere"):
        audits(mechanism="{command: ./draws}", claims="[{epsilon: 1}]")


def job_of(claims, parameters=None, **changed):
    rows = [with_parameters(claim, parameters or {}) for claim in claims]
    return spec_of(claims=rows, **{"as_reals": True, **changed})


@pytest.mark.parametrize("pairs", [1, 3])
def test_the_job_calls_the_accountant_and_the_verdict_has_the_number(audited, pairs):  # noqa: F811
    (audited.folder / "a.py").write_text(ACCOUNTANT)
    (audited.folder / "tables.py").write_text("LEVEL = 1.5\n")
    claims = [{"epsilon": {"function": f"a.py:{f}"}, "delta": 1e-5} for f in ("at", "fails")]
    spec = job_of(claims, {"sigma": 2})
    spec["pairs"] = {"pairs": spec["pairs"]["pairs"][:pairs]}
    verdict, lost = audited(spec)
    assert verdict["claimed"] == "(epsilon, delta) = (2, 1e-05) (from a.py:at)"
    assert verdict["verdict"] == "not refuted"
    assert lost["verdict"] == "failed"
    assert lost["claimed"] == "epsilon (from a.py:fails)"
    assert lost["reasons"][0].startswith("a.py:fails: ValueError: no budget")


def test_numbers_are_the_same_as_if_they_had_been_written(audited):  # noqa: F811
    """Accountants move no draw, in this interpreter and in another; several pairs follow it."""
    (audited.folder / "a.py").write_text(
        "import random\ndef mu():\n    return random.random() * 0 + 0.3\n"
    )
    (wanted,) = audited(spec_of("own_state", [{"gdp": 0.3}], as_reals=True))
    (verdict,) = audited(job_of([{"gdp": {"function": "a.py:mu"}}], function="own_state"))
    assert verdict.pop("claimed") == f"{wanted.pop('claimed')} (from a.py:mu)"
    assert verdict["provenance"]["made of"].keys() == {*wanted["provenance"]["made of"], "a.py"}
    for key in ("verdict", "bound", "witness", "draws", "p_value", "seed"):
        assert verdict[key] == wanted[key], key


def test_another_interpreter_answers_in_the_job(audited):  # noqa: F811
    (audited.folder / "a.py").write_text(ACCOUNTANT.replace("import tables", ""))
    place = {"python": sys.executable, "function": "own.py:laplace"}
    (verdict,) = audited(job_of([{"epsilon": {"function": "a.py:where"}}], mechanism=place))
    assert verdict["claim"]["epsilon"] == len(sys.executable)
    assert verdict["provenance"]["made of"]["interpreter"] == sys.executable


def test_recorded_outputs_have_an_accountant_of_this_interpreter(audited):  # noqa: F811
    (audited.folder / "a.py").write_text(ACCOUNTANT.replace("import tables", ""))
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.laplace(0, 1, 500), rng.laplace(3, 1, 500)])
    np.savetxt(audited.folder / "x.csv", rows, delimiter=",", header="x,y", comments="")
    place = {"outputs": ["x.csv"], "columns": None}
    spec = job_of([{"epsilon": {"function": "a.py:array"}}], mechanism=place)
    (verdict,) = audited(spec | {"pairs": None})
    assert (verdict["verdict"], verdict["claim"]["epsilon"]) == ("violated", 0.25)


def test_parameters_of_an_accountant_are_not_the_mechanisms():
    """An accountant's parameters in a job are no part of the mechanism's own."""
    spec = job_of([{"gdp": {"function": "a.py:where"}}])
    assert spec["given"] == {}
    assert claim_of({"gdp": 1.0}) == ea.gdp(1.0)
