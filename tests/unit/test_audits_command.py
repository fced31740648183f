"""`epsilometer audits`: verdicts on all cases of files of audits."""

import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from epsilometer_audit.cli import main as command
from epsilometer_audit.grids import running, summary, verdicts
from tests.unit.processes import gone, pid_in, until

CODE = """
import ctypes, os, sys, time, numpy as np

def count(x, size, rng, epsilon=1.0):
    p = 1 - np.exp(-epsilon)
    return sum(x) + rng.geometric(p, size) - rng.geometric(p, size)

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
PAIRS = {"adjacent": [[0, 1], [1, 1]]}


def entry(function: str, **more: object) -> dict[str, object]:
    return {"mechanism": f"own.py:{function}", "pairs": PAIRS, "claims": [{"epsilon": 1}], **more}


GOOD, WRONG = entry("count"), entry("count", parameters={"epsilon": 3})
SHARED = {
    "count": entry(
        "count",
        parameters={"epsilon": [0.5, 2]},
        claims=[{"epsilon": "$epsilon"}, {"renyi": {2: 0.01, 3: 5}}],
    ),
    "delta": entry("count", claims=[{"epsilon": 1.5, "delta": 1e-5}]),
    "raises": entry("raises"),
    "recorded": {"mechanism": {"outputs": ["x.csv"]}, "claims": [{"gdp": 0.1}]},
    "kept": entry("count", reads=["own.py"], claims=[{"zcdp": 0.1}]),
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a file of audits, in the current folder."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(running, "ONE_THREAD", {})
    Path("own.py").write_text(CODE)
    Path("x.csv").write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(500)))

    def write(audits: dict[str, object], name: str = "mine.yaml", **more: object) -> str:
        Path(name).write_text(yaml.safe_dump({"samples": 500, "audits": audits, **more}))
        return name

    before = signal.getsignal(signal.SIGTERM)
    yield write
    signal.signal(signal.SIGTERM, before)


def plain(verdict) -> dict:
    """Return a verdict without times and without the command that makes it again."""
    values = verdict.to_plain()
    values["provenance"].pop("time", None)
    return {key: values[key] for key in values if key not in ("seconds", "replay")}


def test_the_verdicts_are_those_of_each_case_alone(write):
    name = write(SHARED)
    _, cases = running.read([name], None, None, command._SEED)[name]
    rows = running.run(cases, ".", 2, "again", lambda *_: None)
    own = [each for case in cases.values() for each in verdicts.audited(case.spec, ".", print)]
    assert {"violated", "not refuted", "failed"} <= {each.verdict for each in own}
    assert [plain(row.verdict) for row in rows] == [plain(each) for each in own]


def test_a_crash_is_a_failure_of_its_case_only(write, capfd):
    audits = {"a": entry("crashes"), "b": GOOD, "c": entry("leaves"), "d": entry("raises")}
    assert command.main(["audits", write(audits), "--quiet", "--jobs", "2"]) == 4
    out, _ = capfd.readouterr()
    lines = [line for line in out.splitlines() if line[0] != " "]
    assert lines[0] == ("a, default, adjacent: FAILED: crashed: Segmentation fault (signal 11)")
    assert lines[1] == "b, default, adjacent: NOT REFUTED: epsilon = 1"
    assert "FAILED: own.py:leaves: called os._exit(0) (own.py:" in lines[2]
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
        ({"a": {**GOOD, "claims": [{"epsilon": 1, "detect": 1.01}]}, "b": entry("raises")}, 4),
    ],
)
def test_exit_codes_and_files(write, audits, code, capfd):
    name = write(audits, title="Ours | <b>")
    assert command.main(["audits", name, "--junit", "j.xml", "--markdown", "m.md"]) == code
    out, _ = capfd.readouterr()
    root = ElementTree.parse("j.xml").getroot()  # noqa: S314
    bad = [test for test in root.iter("testcase") if len(test) > 1]
    assert (len(bad) > 0) == (code > 0)
    assert int(root.get("tests")) == len(audits) == len(list(root.iter("testcase")))
    assert int(root.get("failures")) + int(root.get("errors")) == len(bad)
    text = Path("m.md").read_text()
    assert text.startswith("## Ours \\| &lt;b&gt;\n\n1 ")
    assert text.count("<details>") == len(bad)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(audits)
    assert all(len(row.replace("\\|", "").split("|")) == 9 for row in rows)
    if "b" in audits and code == 1:
        assert "  replay      epsilometer audits mine.yaml --only b/epsilon=3/adjacent" in out
        assert command.main(["audits", name, "--only", "b", "--quiet"]) == 1
        again, _ = capfd.readouterr()
        assert [line for line in out.splitlines() if "counts" in line] == [
            line for line in again.splitlines() if "counts" in line
        ]
    assert not list(Path().glob(".epsilometer*"))


def test_several_files_have_an_alpha_each_and_only_needs_a_case_in_one(write, capfd):
    write({"a": GOOD}, "one.yaml")
    write({"a": GOOD, "b": GOOD}, "two.yaml", alpha=0.01, samples={"fast": 100, "slow": 10**9})
    files = ["one.yaml", "two.yaml"]
    assert command.main(["audits", *files, "--scale", "fast", "--junit", "j.xml"]) == 0
    assert "two.yaml: 2 not refuted; alpha = 0.01 for all together" in capfd.readouterr().out
    suites = ElementTree.parse("j.xml").getroot()  # noqa: S314
    assert [suite.get("name") for suite in suites] == files
    assert [suite.get("tests") for suite in suites] == ["1", "2"]
    one = [*files, "--scale", "fast", "--only"]
    assert command.main(["audits", *one, "b", "--quiet", "--markdown", "m.md"]) == 0
    assert "one.yaml" not in capfd.readouterr().out
    assert command.main(["audits", *one, "c"]) == 2
    assert "--only: unknown case 'c' in one.yaml and two.yaml" in capfd.readouterr().err


def test_junit_has_a_test_for_each_order(write):
    orders = entry("count", parameters={"epsilon": 3}, claims=[{"renyi": {2: 0.1, 4: 99}}])
    assert command.main(["audits", write({"a": orders}), "--junit", "j.xml", "--quiet"]) == 1
    first, second = ElementTree.parse("j.xml").getroot().iter("testcase")  # noqa: S314
    assert [part.get("type") for part in first] == ["violated", None]
    assert [part.tag for part in second] == ["system-out"]


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
    (
        ["mine.yaml", "--markdown", "m", "--junit", "m"],
        "--markdown: names the same file as --junit",
    ),
    (["mine.yaml", "--markdown", "mine.yaml"], "--markdown: 'mine.yaml' is an audited file"),
    (["sizes.yaml"], "--scale: none is given, and sizes.yaml has samples for fast, slow"),
    (["sizes.yaml", "--scale", "fats"], "sizes.yaml: samples.fats: is missing"),
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
    write({"a": {**GOOD, "claimz": []}}, "wrong.yaml")
    Path("empty.yaml").touch()
    assert command.main(["audits", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("epsilometer: ")
    assert message in err
    assert len(err.splitlines()) == 1


def test_without_its_libraries_it_names_the_extra(write, capfd, monkeypatch):
    needing = ("epsilometer_audit.grids", "epsilometer.models", "epsilometer.yaml_files")
    for name in [name for name in sys.modules if name.startswith(needing)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert command.main(["audits", write({"a": GOOD})]) == 2
    error = "audits: needs yaml: pip install pydantic pyyaml, the extra 'audits' of this package"
    assert error in capfd.readouterr().err


def test_a_long_table_of_markdown_is_cut(monkeypatch, write):
    monkeypatch.setattr(summary, "_MOST_BYTES", 3000)
    name = write({"a": entry("raises"), "b": GOOD})
    _, cases = running.read([name], None, None, 0)[name]
    rows = [
        running.Audited(case, verdict)
        for case in cases.values()
        for verdict in verdicts.audited(case.spec, ".", print)
    ]
    text = summary.markdown_of("t", rows[::-1] * 50, 0.05, files=1)
    shown = text.count("\n| a |")
    assert f"\n\n... and {100 - shown} more, left out for their size\n" in text
    assert len(text.encode()) <= 3000
    assert text.count("<details>") == shown > 0
    assert "no \\| budget left" in text
    assert len(summary.markdown_of("t", rows * 50, 0.05, files=2).encode()) <= 1500
