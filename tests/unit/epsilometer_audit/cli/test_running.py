"""All audits of a file: verdicts, failures in their place, exit codes, and `epsilometer audits`."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import epsilometer_audit as ea
from epsilometer_audit.answer.conclusion import without
from epsilometer_audit.cli import main as command
from epsilometer_audit.cli import running
from epsilometer_audit.cli.cases import AuditsFile, Case
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.question.request import Request
from tests.unit.processes import gone, pid_in, until

CODE = """
import ctypes, os, sys, time, numpy as np

def laplace(x, size, rng, scale=1.0):
    return sum(x) + rng.laplace(0, scale, size)

def count(x, size, rng, epsilon=1.0):
    p = 1 - np.exp(-epsilon)
    return sum(x) + rng.geometric(p, size) - rng.geometric(p, size)

def stuck(x, size, rng):
    return sum(x) + np.random.default_rng(7).laplace(0, 1, size)

def tells(x, rng):
    print("printed", x, file=sys.__stdout__)
    return rng.geometric(0.5)

def waits(x, rng):
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)

def raises(x, rng):
    raise ValueError("no | budget\\nleft")

def crashes(x, rng):
    ctypes.string_at(0)

def leaves(x, rng):
    os._exit(0)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """A folder of one's own, with mechanisms and recorded outputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "ONE_THREAD", {})
    Path("own.py").write_text(CODE)
    Path("x.csv").write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(500)))
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def entry(function, **more):
    """An audit of a function, with pairs and a claim."""
    parameters = more.pop("parameters", {})
    mechanism = {"function": f"own.py:{function}", "parameters": parameters}
    pairs = {"adjacent": [[0, 1], [1, 1]]}
    return {"mechanism": mechanism, "pairs": pairs, "claim": {"epsilon": 1}, **more}


GOOD = entry("count")


def write(audits, name="mine.yaml", **more):
    """Write a file of audits."""
    Path(name).write_text(yaml.safe_dump({"samples": 500, "audits": audits, **more}))
    return name


# --- the verdict of a case ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "word", "message"),
    [
        ({"function": "own.py:raises"}, "failed", "]: ValueError: no | budget left (own.py:"),
        ({"function": "own.py:stuck"}, "invalid", "a constant seed inside"),
        ({"function": "own.py:lapalce"}, "failed", "no function 'lapalce'; did you mean 'laplace'"),
        ({"function": "own.py:laplace", "parameters": {"skale": 1}}, "failed", "mean 'scale'?"),
        ({"command": "./gone"}, "failed", "command './gone' is not a program"),
        ({"outputs": ["gone.csv"]}, "failed", "gone.csv cannot be read"),
    ],
)
def test_the_failure_of_a_mechanism_takes_the_place_of_its_verdict(mechanism, word, message):
    draws = {"pairs": [([0], [1])], "samples": 1000}
    if "outputs" in mechanism:
        draws = {}
    request = Request(mechanism=mechanism, claim=ea.pure(1.0), seed=5, **draws)
    answer = running.audited(request, ".", print)
    assert (answer.verdict, answer.bound) == (word, None)
    (reason,) = [reason for reason in answer.reasons if message in reason]
    assert "\n" not in reason


def plain(verdict):
    """Return a verdict without times and without the command that makes it again."""
    values = verdict.to_plain()
    made_of = values["provenance"].get("made of")
    return {**values, "seconds": 0, "replay": "", "provenance": made_of}


@pytest.mark.slow(seconds=3)
def test_the_verdicts_are_those_of_each_case_alone():
    count = entry("count", claim={"renyi": {2: 0.01, 3: 5}}, reads=["own.py"])
    recorded = {"mechanism": {"outputs": ["x.csv"]}, "claim": {"gdp": 3}}
    write({"count": count, "raises": entry("raises"), "recorded": recorded, "good": GOOD})
    cases = AuditsFile(Path("mine.yaml"), seed=command._SEED).cases
    rows = running.run(cases, ".", 2, "again", lambda *_: None)
    own = [running.audited(case.request(), ".", print) for case in cases.values()]
    assert {each.verdict for each in own} == {"violated", "not refuted", "failed"}
    assert [plain(row.verdict) for row in rows] == [plain(each) for each in own]
    assert own[0].provenance["made of"] == load("own.py:count", folder=".").digest()


# --- the verdicts together ------------------------------------------------------------------------


def row_of(word, expected=None, name="a"):
    """A case with a verdict, and with that which was expected."""
    request = Request(mechanism=len, pairs=[(0, 1)], claim=ea.pure(1.0))
    verdict = without(request, f"why it is {word}", word)
    return running.Audited(Case(name, SimpleNamespace(expected=expected), 0.05, 0), verdict)


VIOLATED = ("violated", "violated")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([("not refuted", None)], 0),
        ([VIOLATED, ("not refuted", "not refuted")], 0),
        ([("not refuted", None), ("violated", None), ("failed", None)], 1),
        ([("not refuted", "violated")], 1),
        ([("undecided", None), VIOLATED], 3),
        ([("undecided", "violated")], 3),
        ([("undecided", None), ("failed", None)], 4),
        ([("missing", "violated")], 4),
    ],
)
def test_the_worst_verdict_that_was_not_expected_is_the_exit_code(words, code):
    assert running.exit_code([row_of(*each) for each in words]) == code


def test_verdicts_that_do_not_pass_are_shown_with_all_lines():
    rows = [row_of("violated"), row_of("not refuted", "violated", "b"), row_of(*VIOLATED, "c")]
    text = """\
a: VIOLATED: why it is violated
b: NOT REFUTED: epsilon = 1 (violated was expected)
  detectable  unknown
c: VIOLATED: why it is violated
f.yaml: 2 violated, 1 not refuted (1 not as expected); alpha = 0.05 for all together"""
    assert running.text_of("f.yaml", rows, 0.05) == text


# --- the command ----------------------------------------------------------------------------------


def test_a_crash_is_a_failure_of_its_case_only(capfd):
    write({"a": entry("crashes"), "b": GOOD, "c": entry("leaves"), "d": entry("raises")})
    assert command.main(["audits", "mine.yaml", "--quiet", "--jobs", "2"]) == 4
    lines = [line for line in capfd.readouterr().out.splitlines() if line[0] != " "]
    assert lines[0] == "a: FAILED: crashed: Segmentation fault (signal 11)"
    assert lines[1] == "b: NOT REFUTED: epsilon = 1"
    assert "FAILED: ended the interpreter with exit code 0" in lines[2]
    assert "ValueError: no | budget left (own.py:" in lines[3]
    assert lines[4] == "mine.yaml: 3 failed, 1 not refuted; alpha = 0.05 for all together"


def test_only_makes_a_case_again_with_the_same_draws(capfd):
    write({"a": GOOD, "b": entry("count", parameters={"epsilon": 3})}, alpha=0.01)
    assert command.main(["audits", "mine.yaml"]) == 1
    out = capfd.readouterr().out
    assert "  replay      epsilometer audits mine.yaml --only b" in out
    assert "mine.yaml: 1 not refuted, 1 violated; alpha = 0.01 for all together" in out
    assert command.main(["audits", "mine.yaml", "--only", "b", "--quiet"]) == 1
    again = capfd.readouterr().out
    assert "mine.yaml: 1 violated; alpha = 0.01 for all together" in again
    assert re.findall(".*counts.*", out) == re.findall(".*counts.*", again)


@pytest.mark.slow(seconds=2)
def test_prints_go_to_standard_error_and_cases_end_with_a_command_that_is_terminated():
    write({"a": entry("tells"), "b": entry("waits")})
    audits = [sys.executable, "-m", "epsilometer_audit", "audits", "mine.yaml", "--jobs", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(audits, **pipes) as process:
        pid = pid_in(Path("pid"))
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert process.returncode == command.INTERRUPTED
    assert until(lambda: gone(pid))
    assert "printed" in err
    assert "printed" not in out


MISTAKES = {  # what follows the command, and the error
    "": "FILE: none is given; write a file of audits, in YAML",
    "gone.yaml": "gone.yaml: no such file",
    "mine.yaml --only cuont": "--only: unknown audit 'cuont' in mine.yaml; did you mean",
    "mine.yaml other.yaml": "'other.yaml': belongs to no option",
    "mine.yaml --junit a.xml": "--junit: is not an option; audits in tests have it of",
    "sizes.yaml": "sizes.yaml: samples: must be a valid integer",
    "empty.yaml": "epsilometer: empty.yaml: must be a mapping of keys, got None",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_a_line_before_any_draw(arguments, capfd, monkeypatch):
    monkeypatch.setattr(running, "run", None)
    write({"count": GOOD})
    write({"a": GOOD}, "sizes.yaml", samples={"fast": 100, "slow": 1000})
    Path("empty.yaml").touch()
    assert command.main(["audits", *arguments.split()]) == 2
    out, err = capfd.readouterr()
    assert (out, err[:13], err.count("\n")) == ("", "epsilometer: ", 1)
    assert MISTAKES[arguments] in err


def test_each_mistake_of_a_file_is_a_line(capfd):
    write({"a b": {**GOOD, "failures": 1}})
    assert command.main(["audits", "mine.yaml"]) == 2
    keys = re.findall("^epsilometer: mine.yaml: audits.a b(.*?):", capfd.readouterr().err, re.M)
    assert keys == ["", ".failures"]


def test_without_its_libraries_it_names_the_extra(capfd, monkeypatch):
    needing = (
        "epsilometer_audit.cli.cases",
        "epsilometer_audit.cli.running",
        "epsilometer.settings.models",
        "epsilometer.settings.yaml_files",
    )
    for name in [name for name in sys.modules if name.startswith(needing)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert command.main(["audits", "mine.yaml"]) == 2
    error = "audits: needs yaml: pip install pydantic pyyaml, the extra 'audits' of this package"
    assert error in capfd.readouterr().err
