"""Files of audits: keys and grids, the verdicts of a case, and `epsilometer audits`."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ConfigError
from epsilometer_audit.cli import main as command
from epsilometer_audit.grids import running, verdicts
from epsilometer_audit.grids.cases import Audits, Case
from epsilometer_audit.sources.callables import load
from tests.unit.processes import gone, pid_in, until

ROOT = Path(__file__).parents[2]
CODE = """
import ctypes, os, sys, time, numpy as np

def laplace(x, size, rng, scale=1.0):
    return sum(x) + rng.laplace(0, scale, size)

def count(x, size, rng, epsilon=1.0):
    p = 1 - np.exp(-epsilon)
    return sum(x) + rng.geometric(p, size) - rng.geometric(p, size)

def vector(x, size, rng):
    return np.asarray(x) + rng.laplace(0, 1, (size, len(x)))

def words(x, rng):
    u = rng.random()
    if u < 0.3:
        return (None, float("nan"), ("a", 1, {"k": 2.5, 3: b"bytes"}))[int(10 * u)]
    if u < 0.4:
        raise KeyError("x")
    return "yes" if rng.random() < (0.7 if sum(x) else 0.4) else "no"

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


# --- keys and grids -------------------------------------------------------------------------------

FILE = Path("small.yaml")
MECHANISM = "mechanism: own.py:laplace"
GRID = "{epsilon: [0.5, 2], clip: 1}"
PAIR = "{adjacent: [[0, 1], [1, 1]]}"
CLAIM = "[{epsilon: $epsilon}, {renyi"
COMMAND = '{command: "sh coin.sh {p}"}'
RECORDED = '{outputs: [x.csv, "y-{epsilon}.csv"]}'
SIZES = "samples: {smoke: 400, paper: 4000}"

KEYS = [  # old text, new text, the error
    ("alpha: 0.05", "alpha: 1.5", "alpha: .*less than 1, got 1.5"),
    ("alpha: 0.05", "alhpa: 0.05", "alhpa: unknown key; did you mean 'alpha'"),
    (SIZES, "samples: {smok: 9}", "samples.smok: unknown scale; did"),
    (SIZES, "samples: 5", "laplace.samples: must be at least 10 for"),
    ("samples: 3000", "samples: 1700", "vector.samples: must be at least 1801 for 9 pairs"),
    ("\n  laplace:", "\n  la place:", "la place: must begin with a letter or digit, .* 'la_place'"),
    ("\n  vector:", "\n  laplace:", "laplace: given twice"),
    (MECHANISM, "mechanism: own.py", "laplace.mechanism: 'own.py' is no source; write file"),
    (MECHANISM, "mechanism: 'own.py:{name}'", "mechanism: unknown parameter 'name' in braces"),
    (MECHANISM, "# none", "laplace.mechanism: is missing"),
    (MECHANISM, "mechanism: {python: ./p}", "mechanism.python: needs function, which is missing"),
    (MECHANISM, "mechanism: {}", "laplace.mechanism: must have function, command, outputs or one"),
    (COMMAND, "{command: a, function: m.py:f}", "mechanism.command: cannot be used with mech"),
    (GRID, "{epsilon: [1, 1.0]}", "laplace.parameters: asks twice for epsilon=1"),
    (PAIR, "{domian: {}}", "pairs.domian: unknown key; did you mean 'domain'"),
    (PAIR, "{remove a row: a.csv}", "pairs.remove a row: unknown key"),
    (PAIR, "{adjacent: [2020-01-01, 1]}", "pairs.adjacent.0: .*valid JSON"),
    (PAIR, "[{a: [[0], [1]]}, {a: [[0], [1]]}]", "laplace.pairs: names a twice"),
    (CLAIM, "[{detect: 0.1}, {renyi", "claims.0: claim must be one of epsilon, .*zcdp"),
    (CLAIM, "[{renyi: {2: 0.25, 3.5: $epsilon}}, {renyi", "claims.1: is the same as claims.0"),
    (COMMAND, "{command: ./coin}", "program.parameters: 'p' is used nowhere; write {p} into"),
    ("    pairs: [[0, 1]]", "", "program.pairs: is missing"),
    (RECORDED, f"{RECORDED}\n    pairs: [[0, 1]]", "pairs: cannot be used with mechanism"),
    ("audits:\n", "audits: {}\nother:\n", "audits: .*at least 1 item|other: unknown key"),
]


@pytest.fixture
def small():
    shutil.copy(ROOT / "tests/data/audits/small.yaml", FILE)


def read() -> tuple[Audits, list[Case]]:
    audits = Audits(FILE, "smoke", 1, ["smoke", "paper"])
    return audits, [*audits.cases.values()]


@pytest.mark.parametrize(("old", "new", "message"), KEYS)
def test_a_mistake_is_a_line_with_file_and_key(small, old, new, message):
    text = FILE.read_text()
    assert text.count(old) == 1, old
    FILE.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        read()
    lines = str(caught.value).splitlines()
    assert all(line.startswith("small.yaml: ") for line in lines)
    assert any(re.search(message, line) for line in lines), lines
    assert all(len(line) < 300 for line in lines)


def test_the_example_of_the_documentation_is_sound():
    page = (ROOT / "docs/many-audits.md").read_text()
    FILE.write_text(page.split("```yaml\n")[1].split("```")[0])
    _, cases = read()
    assert len(cases) == 2 + 2 * 2 + 2 + 1 + 1
    assert sum(len(case.spec["claims"]) for case in cases) == 2 * 3 + 2 * 2 * 2 + 2 + 1 + 1


def test_grids_are_parameters_by_pairs_and_alpha_is_of_all_verdicts(small):
    audits, cases = read()
    assert [f"{case.entry}/{case.parameters}/{case.pairs}" for case in cases] == [
        "laplace/epsilon=0.5_clip=1/adjacent",
        "laplace/epsilon=2_clip=1/adjacent",
        *("vector/default/near+1", "vector/default/domain-bits"),
        "program/p=0.25/pair",
        "recorded/epsilon=1/recorded",
    ]
    assert audits.verdicts == sum(len(case.spec["claims"]) for case in cases) == 2 * 3 + 2 * 2 + 2
    assert {case.spec["alpha"] for case in cases} == {0.05 / audits.verdicts}
    specs = {case.entry: case.spec for case in cases}
    assert specs["laplace"]["mechanism"] == {"function": "own.py:laplace"}
    assert specs["laplace"]["given"] == {"epsilon": 2, "clip": 1}
    assert specs["program"]["mechanism"] == {"command": "sh coin.sh 0.25"}
    assert (specs["program"]["given"], specs["program"]["arguments"]) == ({}, {"p": 0.25})
    assert specs["recorded"]["mechanism"]["outputs"] == ["x.csv", "y-1.csv"]
    assert specs["recorded"]["pairs"] is None


# --- the verdicts of a case: all claims are audited on the same draws, as if each were alone ------

NAMED = [["first", [0, 0], [0, 1]], ["second", [0], [1]], ["third", [1, 1], [0, 1]]]


def spec_of(function="laplace", claims=({"epsilon": 1.0},), pairs=NAMED, **changed):
    """Return the spec of a case."""
    return {
        **{"mechanism": {"function": f"own.py:{function}"}, "pairs": {"pairs": list(pairs)}},
        **{"samples": 2000, "failures": False, "timeout": 60.0, "given": {}},
        **{"as_reals": False, "audit_seed": 5, "alpha": 0.05},
        "claims": [{"claim": claim, "detect": None} for claim in claims],
        **changed,
    }


def plain(values):
    """Return a verdict without times and without the command that makes it again."""
    left = {key: values[key] for key in values if key not in ("seconds", "replay", "provenance")}
    return left | {"made of": values["provenance"].get("made of")}


def audited(spec):
    """Return the verdicts on all claims of a case."""
    return [verdict.to_plain() for verdict in verdicts.audited(spec, ".", print)]


CLAIMS = {"laplace": [{"epsilon": 0.2}, {"gdp": 0.3}], "words": [{"epsilon": 0.2}]}
CLAIMS |= {"vector": [{"renyi": [[2.0, 0.1]]}]}


@pytest.mark.parametrize(("function", "claims"), CLAIMS.items())
def test_the_verdict_is_that_of_an_audit_of_the_mechanism(function, claims):
    spec = spec_of(function, claims, failures=function == "words", samples=1000)
    source = load(f"own.py:{function}", folder=".", failures=spec["failures"])
    for claim, answer in zip(claims, audited(spec), strict=True):
        pairs = {name: (x, y) for name, x, y in NAMED}
        live = ea.audit(source, pairs, verdicts.claim_of(claim), samples=1000, seed=5)
        assert plain(answer) == plain(live.to_plain())
        assert answer["provenance"]["made of"] == source.digest()


class Counting:
    """A source that counts its calls."""

    description, seeded, calls = "counts", True, 0

    def draw(self, x, size, seed):
        self.calls += 1
        return np.random.default_rng(self.calls).laplace(x, 1, size).round()

    def digest(self):
        return {}

    def close(self):
        pass


@pytest.mark.parametrize("pairs", [NAMED, NAMED[1:2]])
def test_claims_share_draws_that_follow_no_seed(monkeypatch, pairs):
    """Claims that follow the same pairs take as many draws as one of them."""
    sources = []

    def counting(*_):
        sources.append(Counting())
        return sources[-1]

    monkeypatch.setattr(verdicts, "source_of", counting)
    pairs = [[name, float(i), float(i + 1)] for i, (name, *_) in enumerate(pairs)]
    claims = [{"epsilon": 0.5}, {"epsilon": 0.5, "delta": 1e-9}, {"epsilon": 0.500001}]
    answers = audited(spec_of(claims=claims, pairs=pairs))
    assert [answer["draws"] for answer in answers] == [2000] * 3
    audited(spec_of(claims=claims[:1], pairs=pairs))
    assert sources[0].calls == sources[1].calls


def test_a_claim_that_cannot_be_audited_fails_alone():
    spec = spec_of(claims=[{"epsilon": 1.0}, {"zcdp": 0.5}, {"epsilon": 3.0}], as_reals=True)
    spec["claims"][1]["detect"] = 0.1
    answers = audited(spec)
    assert [answer["verdict"] for answer in answers] == ["not refuted", "failed", "not refuted"]
    assert "detect must be above the claim, 0.5" in answers[1]["reasons"][0]
    assert [answer["claimed"][:3] for answer in answers] == ["eps", "rho", "eps"]
    assert answers[0]["seconds"] > 0


@pytest.mark.parametrize(
    ("changed", "word", "message"),
    [
        ({"function": "raises"}, "failed", "]: ValueError: no | budget left (own.py:"),
        ({"function": "stuck"}, "invalid", "a constant seed inside"),
        ({"function": "lapalce"}, "failed", "own.py has no function 'lapalce'; did you mean 'lap"),
        ({"given": {"skale": 1}}, "failed", "takes no parameter 'skale'; did you mean 'scale'?"),
        ({"mechanism": {"command": "./gone"}}, "failed", "command './gone' is not a program"),
        ({"mechanism": {"python": "gone", "function": "own.py:f"}}, "failed", "not a program"),
        ({"mechanism": {"outputs": ["gone.csv"]}}, "failed", "gone.csv cannot be read"),
    ],
)
def test_the_failure_of_a_mechanism_takes_the_place_of_its_verdict(changed, word, message):
    claims = [{"epsilon": 1.0}, {"gdp": 1.0}]
    spec = spec_of(changed.pop("function", "laplace"), claims) | changed
    for answer in audited(spec):
        assert answer["verdict"] == word
        (reason,) = [reason for reason in answer["reasons"] if message in reason]
        assert "\n" not in reason
        assert answer["bound"] is None


# --- the command ----------------------------------------------------------------------------------

PAIRS = {"adjacent": [[0, 1], [1, 1]]}


def entry(function: str, **more: object) -> dict[str, object]:
    return {"mechanism": f"own.py:{function}", "pairs": PAIRS, "claims": [{"epsilon": 1}], **more}


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


def test_the_verdicts_are_those_of_each_case_alone(write):
    claims = [{"epsilon": "$epsilon"}, {"renyi": {2: 0.01, 3: 5}}]
    count = entry("count", parameters={"epsilon": [0.5, 2]}, claims=claims, reads=["own.py"])
    recorded = {"mechanism": {"outputs": ["x.csv"]}, "claims": [{"gdp": 0.1}]}
    name = write({"count": count, "raises": entry("raises"), "recorded": recorded})
    cases = Audits(Path(name), seed=command._SEED).cases
    rows = running.run(cases, ".", 2, "again", lambda *_: None)
    own = [each for case in cases.values() for each in audited(case.spec)]
    assert {"violated", "not refuted", "failed"} <= {each["verdict"] for each in own}
    assert [plain(row.verdict.to_plain()) for row in rows] == [plain(each) for each in own]


def test_a_crash_is_a_failure_of_its_case_only(write, capfd):
    audits = {"a": entry("crashes"), "b": GOOD, "c": entry("leaves"), "d": entry("raises")}
    assert command.main(["audits", write(audits), "--quiet", "--jobs", "2"]) == 4
    out, _ = capfd.readouterr()
    lines = [line for line in out.splitlines() if line[0] != " "]
    assert lines[0] == ("a, default, adjacent: FAILED: crashed: Segmentation fault (signal 11)")
    assert lines[1] == "b, default, adjacent: NOT REFUTED: epsilon = 1"
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
        ({"a": {**GOOD, "claims": [{"epsilon": 1, "detect": 1.01}]}}, 3),
        ({"a": {**GOOD, "claims": [{"epsilon": 1, "detect": 4, "event": 0.001}]}}, 3),
        ({"a": {**GOOD, "claims": [{"epsilon": 1, "detect": 1.01}]}, "b": entry("raises")}, 4),
    ],
)
def test_exit_codes(write, audits, code, capfd):
    name = write(audits)
    assert command.main(["audits", name]) == code
    out, _ = capfd.readouterr()
    if "b" in audits and code == 1:
        assert "  replay      epsilometer audits mine.yaml --only b/epsilon=3/adjacent" in out
        assert command.main(["audits", name, "--only", "b", "--quiet"]) == 1
        again, _ = capfd.readouterr()
        assert re.findall(".*counts.*", out) == re.findall(".*counts.*", again)


def test_a_scale_names_the_draws_and_only_a_case(write, capfd):
    write({"a": GOOD, "b": GOOD}, "two.yaml", alpha=0.01, samples={"fast": 100, "slow": 10**9})
    assert command.main(["audits", "two.yaml", "--scale", "fast"]) == 0
    assert "two.yaml: 2 not refuted; alpha = 0.01 for all together" in capfd.readouterr().out
    assert command.main(["audits", "two.yaml", "--scale", "fast", "--only", "b", "--quiet"]) == 0
    assert "two.yaml: 1 not refuted; alpha = 0.01" in capfd.readouterr().out


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
    (["mine.yaml", "--only", "cuont"], "--only: unknown case 'cuont' in mine.yaml; did you mean"),
    (["mine.yaml", "other.yaml"], "'other.yaml': belongs to no option"),
    (["mine.yaml", "--junit", "a.xml"], "--junit: is not an option; audits in tests have it of"),
    (["sizes.yaml"], "sizes.yaml: samples: has fast, slow; choose one by --scale"),
    (["sizes.yaml", "--scale", "fats"], "samples.fats: is missing; did you mean 'fast'?"),
    (["mine.yaml", "--scale", "fast"], "--scale: 'fast' is not in mine.yaml (none is defined)"),
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
    needing = ("epsilometer_audit.grids", "epsilometer.models", "epsilometer.yaml_files")
    for name in [name for name in sys.modules if name.startswith(needing)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert command.main(["audits", write({"a": GOOD})]) == 2
    error = "audits: needs yaml: pip install pydantic pyyaml, the extra 'audits' of this package"
    assert error in capfd.readouterr().err
