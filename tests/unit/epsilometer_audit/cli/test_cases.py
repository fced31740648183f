"""Files of audits: their keys, the verdict of a case, and `epsilometer audits`."""

import json
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ConfigError
from epsilometer_audit.cli import main as command
from epsilometer_audit.cli import running
from epsilometer_audit.cli.cases import AuditsFile, Case
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.question.request import NamedMechanism, Request
from tests.unit.processes import gone, pid_in, until

ROOT = Path(__file__).parents[4]
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
    Path("own.py").write_text(CODE)
    Path("x.csv").write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(500)))


# --- keys -----------------------------------------------------------------------------------------

FILE = Path("small.yaml")
MECHANISM = "mechanism: {function: own.py:laplace, parameters: {epsilon: 0.5, clip: 1}}"
PAIR = "{adjacent: [[0, 1], [1, 1]]}"
CLAIM = "claim: {renyi: {2: 0.25, 3.5: 0.5}}"
COMMAND = "{command: sh coin.sh 0.25}"
RECORDED = "{outputs: [x.csv, y.csv]}"

KEYS = [  # old text, new text, the error
    ("alpha: 0.05", "alpha: 1.5", "alpha: .*less than 1, got 1.5"),
    ("alpha: 0.05", "alhpa: 0.05", "alhpa: unknown key; did you mean 'alpha'"),
    ("samples: 400", "samples: 5", "laplace.samples: must be at least 10 for"),
    ("samples: 3000", "samples: 1700", "vector.samples: must be at least 1801 for 9 pairs"),
    ("samples: 3000", "stop: 1", "vector.stop: must be a valid boolean"),
    ("\n  laplace:", "\n  la place:", "la place: must begin with a letter or digit, .* 'la_place'"),
    ("\n  vector:", "\n  laplace:", "laplace: given twice"),
    (
        MECHANISM,
        "mechanism: own.py",
        "laplace.mechanism.function: 'own.py' is no source; write file",
    ),
    (MECHANISM, "# none", "laplace.mechanism: is missing"),
    (
        MECHANISM,
        "mechanism: {python: ./p}",
        "laplace.mechanism: is missing; write function or command",
    ),
    (
        MECHANISM,
        "mechanism: {}",
        "laplace.mechanism: is missing; write function or command or outputs",
    ),
    (MECHANISM, "mechanism: {fucntion: a}", "mechanism.fucntion: unknown key; did you mean 'func"),
    (COMMAND, "{command: a, function: m.py:f}", "mechanism.command: cannot be used with function"),
    (PAIR, "{domian: {}}", "pairs.domian: unknown key; did you mean 'domain'"),
    (PAIR, "{adjacent: [2020-01-01, 1]}", "pairs.adjacent.0: .*valid JSON"),
    (CLAIM, "claim: {}", "laplace.claim: is missing; write epsilon or .*zcdp"),
    (CLAIM, "claim: {gdp: 1, zcdp: 1}", "laplace.claim.zcdp: cannot be used with gdp; choose one"),
    (CLAIM, "claim: {gdp: -1}", "laplace.claim.gdp: mu must be positive"),
    ("detect: 3", "detect: 0.1", "program.detect: must be above the claim, 1, got 0.1"),
    ("    pairs: [[0, 1]]\n", "", "program.pairs: must be given"),
    (RECORDED, f"{RECORDED}\n    pairs: [[0, 1]]", "recorded.pairs: cannot be used with recorded"),
    ("audits:\n", "audits: {}\nother:\n", "audits: .*at least 1 item|other: unknown key"),
]


@pytest.fixture
def small():
    shutil.copy(ROOT / "tests/data/audits/small.yaml", FILE)


@pytest.mark.parametrize(("old", "new", "message"), KEYS)
def test_a_mistake_is_a_line_with_file_and_key(small, old, new, message):
    text = FILE.read_text()
    assert text.count(old) == 1, old
    FILE.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        AuditsFile(FILE)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("small.yaml: ") for line in lines)
    assert any(re.search(message, line) for line in lines), lines
    assert all(len(line) < 300 for line in lines)


def test_the_example_of_the_documentation_is_sound():
    page = (ROOT / "docs/many-audits.md").read_text()
    FILE.write_text(page.split("```yaml\n")[1].split("```")[0])
    assert len(AuditsFile(FILE).cases) == 6


def test_a_case_is_a_request_with_its_share_of_alpha_and_a_seed_of_its_own(small):
    cases = AuditsFile(FILE, 1).cases
    assert [*cases] == ["laplace", "vector", "program", "recorded"]
    requests = {name: case.request() for name, case in cases.items()}
    assert {request.alpha for request in requests.values()} == {0.05 / 4}
    assert len({request.seed for request in requests.values()}) == 4
    laplace = requests["laplace"]
    assert laplace.mechanism == NamedMechanism(
        function="own.py:laplace", parameters={"epsilon": 0.5, "clip": 1}
    )
    assert laplace.claim == ea.renyi({2: 0.25, 3.5: 0.5})
    assert [requests[name].samples for name in cases] == [400, 3000, 400, None]
    assert requests["program"].detect == 3
    assert requests["recorded"].mechanism.files == ("x.csv", "y.csv")
    assert {request.seed for request in requests.values()} & {
        case.request().seed for case in AuditsFile(FILE, 2).cases.values()
    } == set()


def test_a_case_is_the_same_after_it_was_written(small):
    for case in AuditsFile(FILE).cases.values():
        again = Case.of_plain(json.loads(json.dumps(case.to_plain()))).request()
        assert replace(again, pairs=case.request().pairs) == case.request()
        assert again.pairs == case.request().pairs


# --- the verdict of a case ------------------------------------------------------------------------


def plain(values):
    """Return a verdict without times and without the command that makes it again."""
    left = {key: values[key] for key in values if key not in ("seconds", "replay", "provenance")}
    return left | {"made of": values["provenance"].get("made of")}


@pytest.mark.parametrize(
    ("mechanism", "word", "message"),
    [
        ({"function": "own.py:raises"}, "failed", "]: ValueError: no | budget left (own.py:"),
        ({"function": "own.py:stuck"}, "invalid", "a constant seed inside"),
        ({"function": "own.py:lapalce"}, "failed", "no function 'lapalce'; did you mean 'laplace'"),
        (
            {"function": "own.py:laplace", "parameters": {"skale": 1}},
            *("failed", "takes no parameter 'skale'; did you mean 'scale'?"),
        ),
        ({"command": "./gone"}, "failed", "command './gone' is not a program"),
        ({"python": "gone", "function": "own.py:f"}, "failed", "not a program"),
        ({"outputs": ["gone.csv"]}, "failed", "gone.csv cannot be read"),
    ],
)
def test_the_failure_of_a_mechanism_takes_the_place_of_its_verdict(mechanism, word, message):
    draws = {} if "outputs" in mechanism else {"pairs": [([0], [1])], "samples": 1000}
    request = Request(mechanism=mechanism, claim=ea.pure(1.0), seed=5, **draws)
    answer = running.audited(request, ".", print)
    assert answer.verdict == word
    (reason,) = [reason for reason in answer.reasons if message in reason]
    assert "\n" not in reason
    assert answer.bound is None


# --- the command ----------------------------------------------------------------------------------

PAIRS = {"adjacent": [[0, 1], [1, 1]]}


def entry(function: str, **more: object) -> dict[str, object]:
    mechanism = {"function": f"own.py:{function}"}
    if "parameters" in more:
        mechanism["parameters"] = more.pop("parameters")
    return {"mechanism": mechanism, "pairs": PAIRS, "claim": {"epsilon": 1}, **more}


GOOD, WRONG = entry("count"), entry("count", parameters={"epsilon": 3})


@pytest.fixture
def write(monkeypatch):
    """Return a function that writes a file of audits, in the current folder."""
    monkeypatch.setattr(running, "ONE_THREAD", {})

    def write(audits: dict[str, object], name: str = "mine.yaml", **more: object) -> str:
        Path(name).write_text(yaml.safe_dump({"samples": 500, "audits": audits, **more}))
        return name

    before = signal.getsignal(signal.SIGTERM)
    yield write
    signal.signal(signal.SIGTERM, before)


@pytest.mark.slow(seconds=3)
def test_the_verdicts_are_those_of_each_case_alone(write):
    count = entry("count", claim={"renyi": {2: 0.01, 3: 5}}, reads=["own.py"])
    recorded = {"mechanism": {"outputs": ["x.csv"]}, "claim": {"gdp": 3}}
    name = write({"count": count, "raises": entry("raises"), "recorded": recorded, "good": GOOD})
    cases = AuditsFile(Path(name), seed=command._SEED).cases
    rows = running.run(cases, ".", 2, "again", lambda *_: None)
    own = [running.audited(case.request(), ".", print).to_plain() for case in cases.values()]
    assert {"violated", "not refuted", "failed"} <= {each["verdict"] for each in own}
    assert [plain(row.verdict.to_plain()) for row in rows] == [plain(each) for each in own]
    assert own[0]["provenance"]["made of"] == load("own.py:count", folder=".").digest()


def test_a_crash_is_a_failure_of_its_case_only(write, capfd):
    audits = {"a": entry("crashes"), "b": GOOD, "c": entry("leaves"), "d": entry("raises")}
    assert command.main(["audits", write(audits), "--quiet", "--jobs", "2"]) == 4
    out, _ = capfd.readouterr()
    lines = [line for line in out.splitlines() if line[0] != " "]
    assert lines[0] == ("a: FAILED: crashed: Segmentation fault (signal 11)")
    assert lines[1] == "b: NOT REFUTED: epsilon = 1"
    assert "FAILED: ended the interpreter with exit code 0" in lines[2]
    assert "ValueError: no | budget left (own.py:" in lines[3]
    assert lines[4] == "mine.yaml: 3 failed, 1 not refuted; alpha = 0.05 for all together"


@pytest.mark.parametrize(
    ("audits", "code"),
    [
        ({"a": GOOD}, 0),
        ({"a": GOOD, "b": WRONG, "c": entry("raises")}, 1),
        ({"b": {**WRONG, "expected": "violated"}}, 0),
        ({"a": {**GOOD, "expected": "violated"}}, 1),
        ({"a": {**GOOD, "detect": 1.01}}, 3),
        ({"a": {**GOOD, "detect": 4, "event": 0.001}}, 3),
        ({"a": {**GOOD, "detect": 1.01}, "b": entry("raises")}, 4),
    ],
)
def test_exit_codes(write, audits, code, capfd):
    name = write(audits)
    assert command.main(["audits", name]) == code
    out, _ = capfd.readouterr()
    if "b" in audits and code == 1:
        assert "  replay      epsilometer audits mine.yaml --only b" in out
        assert command.main(["audits", name, "--only", "b", "--quiet"]) == 1
        again, _ = capfd.readouterr()
        assert re.findall(".*counts.*", out) == re.findall(".*counts.*", again)


def test_only_names_a_case(write, capfd):
    write({"a": GOOD, "b": GOOD}, "two.yaml", alpha=0.01, samples=100)
    assert command.main(["audits", "two.yaml"]) == 0
    assert "two.yaml: 2 not refuted; alpha = 0.01 for all together" in capfd.readouterr().out
    assert command.main(["audits", "two.yaml", "--only", "b", "--quiet"]) == 0
    assert "two.yaml: 1 not refuted; alpha = 0.01" in capfd.readouterr().out


@pytest.mark.slow(seconds=2)
def test_prints_go_to_standard_error_and_cases_end_with_a_command_that_is_terminated(write):
    name = write({"a": entry("tells"), "b": entry("waits")})
    audits = [sys.executable, "-m", "epsilometer_audit", "audits", name, "--quiet", "--jobs", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(audits, **pipes) as process:
        pid = pid_in(Path("pid"))
        process.terminate()
        out, err = process.communicate(timeout=10)
    assert process.returncode == command.INTERRUPTED
    assert until(lambda: gone(pid))
    assert "printed" in err
    assert "printed" not in out


MISTAKES = [  # what follows the command, and the error
    ([], "FILE: none is given; write a file of audits, in YAML"),
    (["gone.yaml"], "gone.yaml: no such file"),
    (["mine.yaml", "--only", "cuont"], "--only: unknown audit 'cuont' in mine.yaml; did you mean"),
    (["mine.yaml", "other.yaml"], "'other.yaml': belongs to no option"),
    (["mine.yaml", "--junit", "a.xml"], "--junit: is not an option; audits in tests have it of"),
    (["sizes.yaml"], "sizes.yaml: samples: must be a valid integer"),
    (["mine.yaml", "--scale", "fast"], "--scale: is not an option; a file of audits has one"),
    (["other.yaml"], "audits.a.mechanism.environment: is made by studies only; name a python"),
    (["empty.yaml"], "epsilometer: empty.yaml: must be a mapping of keys, got None"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_a_line_before_any_draw(write, arguments, message, capfd, monkeypatch):
    monkeypatch.setattr(running, "run", None)
    write({"count": GOOD})
    write({"a": GOOD}, "sizes.yaml", samples={"fast": 100, "slow": 1000})
    place = {"environment": "numpy", "function": "own.py:count"}
    write({"a": {**GOOD, "mechanism": place}}, "other.yaml")
    Path("empty.yaml").touch()
    assert command.main(["audits", *arguments]) == 2
    out, err = capfd.readouterr()
    assert (out, err[:13], err.count("\n")) == ("", "epsilometer: ", 1)
    assert message in err


def test_each_mistake_of_a_file_is_a_line(write, capfd):
    write({"a b": {**GOOD, "failures": 1}})
    assert command.main(["audits", "mine.yaml"]) == 2
    keys = re.findall("^epsilometer: mine.yaml: audits.a b(.*?):", capfd.readouterr().err, re.M)
    assert keys == ["", ".failures"]


def test_without_its_libraries_it_names_the_extra(write, capfd, monkeypatch):
    needing = (
        "epsilometer_audit.cli.cases",
        "epsilometer_audit.cli.running",
        "epsilometer.settings.models",
        "epsilometer.settings.yaml_files",
    )
    for name in [name for name in sys.modules if name.startswith(needing)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert command.main(["audits", write({"a": GOOD})]) == 2
    error = "audits: needs yaml: pip install pydantic pyyaml, the extra 'audits' of this package"
    assert error in capfd.readouterr().err
