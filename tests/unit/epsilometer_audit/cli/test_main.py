"""The command line: its output, its exit codes, the files that it writes, and mistakes."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer_audit import drawing
from epsilometer_audit.cli.main import _left, main
from tests.pages import ROOT

WRONG = "mechanisms.py:noisy_mean --pair [0] [1] --epsilon 1"
RIGHT = "mechanisms.py:noisy_sum --pair [0] [1] --epsilon 1"
FEW = "--samples 2000 --no-checks --quiet"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with mechanisms."""
    shutil.copy(ROOT / "tests/data/audit/mechanisms.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """A function that returns the exit code, stdout and stderr."""

    def run(words):
        code = main(shlex.split(words))
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (RIGHT, 0, "NOT REFUTED"),
        (f"{RIGHT} --detect 1.1", 3, "UNDECIDED"),
        (WRONG, 1, "VIOLATED"),
        ("mechanisms.py:stuck --pair 0 1 --epsilon 1", 4, "INVALID"),
        ("mechanisms.py:drifting --pair 0 1 --epsilon 1", 4, "INVALID"),
    ],
)
def test_each_verdict_has_its_exit_code(run, words, code, verdict):
    exit_code, out, err = run(f"audit {words} --samples 4000")
    assert (exit_code, out.partition(":")[0], err) == (code, verdict, "")
    assert "None" not in out


def test_pairs_of_equal_inputs_are_told(run):
    _, out, _ = run(f"audit {WRONG} --pair [1] [1] --samples 20000 --stop")
    assert "x and x' are equal in 1 of 2 pairs" in out


def test_a_replay_makes_the_same_draws(run):
    first = json.loads(run(f"audit {WRONG} --no-checks --seed 7 --samples 2000 --json -")[1])
    again = json.loads(run(first["replay"].removeprefix("epsilometer "))[1])
    for name in ("draws", "bound", "witness", "seed", "pair"):
        assert again[name] == first[name]


SCALED = """\
def scaled(x, size, rng, epsilon=1.0, label="a"):
    print("adding noise")
    return ((x + rng.laplace(0, 1 / epsilon, size)) * 2**20).round() / 2**20
"""


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("more", ["", f"--python {sys.executable} --timeout 20"])
def test_parameters_are_set_and_defaults_are_shown(folder, run, more):
    (folder / "scaled.py").write_text(SCALED)
    words = f"audit scaled.py:scaled --pair 0 1 --epsilon 1 --samples 500 --no-checks {more}"
    code, out, _ = run(words)
    assert code == 0
    assert "adding noise" not in out
    assert "epsilon = 1.0, label = 'a' by default" in out
    assert run(f"{words} --set epsilon=.5")[0] == 0
    code, out, _ = run(f"{words} --set epsilon=4 --set label=b")
    assert code == 1
    assert "by default" not in out
    assert "--set epsilon=4 --set label=b" in out  # to be replayed


def test_a_worker_that_dies_shows_the_end_of_its_stderr(folder, run):
    (folder / "dies.py").write_text("import sys\nprint('one', file=sys.stderr)\n1 / 0\n")
    code, _, err = run(f"audit --command '{sys.executable} dies.py' --pair 0 1 --epsilon 1")
    assert (code, err.count("\n")) == (4, 1)
    assert err.endswith("ZeroDivisionError: division by zero\n")


def test_files_agree_with_the_output_and_hostile_outputs_are_only_shown(folder, run):
    code, out, _ = run(f"audit mechanisms.py:hostile --pair 0 1 --epsilon .1 --json v.json {FEW}")
    assert code == 1
    assert all(line.isprintable() for line in out.splitlines())
    verdict = json.loads((folder / "v.json").read_text())
    assert len(verdict["provenance"]["made of"]["mechanisms.py"]) == 64
    assert f"VIOLATED: {verdict['claimed']}" in out
    assert {path.name for path in folder.glob("*.*")} == {"v.json", "mechanisms.py"}
    (folder / "other").touch()
    assert (folder / "v.json").stat().st_mode == (folder / "other").stat().st_mode


def test_a_mechanism_that_fails_leaves_no_older_verdict(folder, run):
    (folder / "v.json").write_text('{"verdict": "not refuted"}')
    code, out, err = run(f"audit mechanisms.py:later --pair 0 1 --epsilon 1 {FEW} --json v.json")
    assert (code, out, err.count("\n")) == (4, "", 1)
    verdict = json.loads((folder / "v.json").read_text())
    assert verdict["verdict"] == "invalid"
    assert "MemoryError" in verdict["reasons"][0]


def test_a_device_stays_one_and_a_full_disk_is_an_error_after_the_verdict(run):
    code, _, err = run(f"audit {RIGHT} {FEW} --json /dev/null")
    assert (code, err) == (0, "")
    assert Path("/dev/null").is_char_device()
    code, out, err = run(f"audit {RIGHT} {FEW} --json /dev/full")
    assert code == 2
    assert out.startswith("NOT REFUTED")
    assert err.startswith("epsilometer: --json: '/dev/full' cannot be written")


def test_progress_is_one_line_on_a_terminal(run, monkeypatch):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    monkeypatch.setattr(drawing, "_EVERY", 0.0)
    _, _, err = run(f"audit {RIGHT} --samples 2000")
    assert "s left: " in err
    assert "\n" not in err
    assert err.endswith("\r\x1b[K")
    assert all(len(line) < 90 for line in err.split("\r\x1b[K"))
    assert run(f"audit {RIGHT} {FEW}")[2] == ""


def test_the_time_that_is_left_does_not_count_what_is_compiled():
    assert _left(0.02, 9.0, 0.02, 9.0) == ""  # 9 s to the first report
    assert _left(0.02, 9.0, 0.51, 14.0) == ", 5 s left"


def test_a_fault_of_ours_is_no_verdict(run, monkeypatch):
    monkeypatch.setattr("epsilometer_audit.cli.parser.claim_of", lambda _: 1 / 0)
    code, _, err = run(f"audit {RIGHT} {FEW}")
    assert code == 70
    assert err.endswith("epsilometer: internal error, please report it: ZeroDivisionError\n")


def test_samples_needed_prints_the_number(run):
    code, out, err = run("samples-needed --epsilon 1 --detect 1.5 --power .8 --alpha .1")
    assert (code, err) == (0, "")
    draws, words = out.split(maxsplit=1)
    assert words.startswith("draws of each side find 1.5, where epsilon = 1 is claimed, with prob")
    more = run("samples-needed --epsilon 1 --detect 1.5 --pairs 20 --event .01")[1]
    assert int(more.split()[0]) > int(draws)
    assert more.rstrip().endswith("for an event of probability 0.01")


@pytest.mark.parametrize("command", ["audit", "audits", "samples-needed"])
def test_help_fits_two_screens_of_a_terminal(run, command):
    code, out, _ = run(f"{command} --help")
    assert code == 0
    assert out.count("\n") <= 2 * 40
    assert all(len(line) <= 80 for line in out.splitlines())
    assert ("exit codes: 0 not refuted, 1 violated" in out) == (command != "samples-needed")


def test_without_a_command_there_is_help_and_a_version(run):
    assert run("--help")[0] == 0
    assert run("")[:2] == (2, run("--help")[1])
    assert run("--version")[1].startswith("epsilometer ")


def test_a_reader_that_goes_away_is_no_error():
    audit = f"{sys.executable} -m epsilometer_audit audit {WRONG} {FEW} --json -"
    pipe = f"{audit} | true; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert done.stderr == "1\n"


# --- mistakes: one of a kind; sources, workers, files of outputs have theirs in their own tests ---

FILES = {
    "failing.py": "import json\n1 / 0\n",
    "three.csv": "x,y,z\n" + "1,2,3\n" * 60,
    "ragged.csv": "x,y\n1,2\n1,2,3\n",
    "hangs.py": "import time\ntime.sleep(60)\n",
    "notes/mine.txt": "mine",
    "canaries.csv": "score,included\n" + "0.5,1\n1.5,0\n" * 150,
}
OF_SOURCES = {  # the arguments, and words of the answer
    "--pair 0 1 --epsilon 1": "SOURCE: is missing; write SOURCE or --command",
    "nowhere.py:f --pair 0 1 --epsilon 1": "nowhere.py: cannot be read: no such file",
    "mechanisms.py:wrod --pair 0 1 --epsilon 1": "did you mean 'word'?",
    "failing.py:f --pair 0 1 --epsilon 1": "ZeroDivisionError: division by zero (failing.py:2)",
    f"{RIGHT} --command true": "--command: cannot be used with SOURCE",
    f"{RIGHT} --python /bin/true": "--python: '/bin/true' does not run it",
    "--command nosuchprogram --pair 0 1 --epsilon 1": "--command: 'nosuchprogram' is not a progr",
    "mechanisms.py:word --epsilon 1": "--pair: must be given: pairs of neighbours, or a domain",
    "mechanisms.py:word --pair 0 0 --epsilon 1": "--pair: must have inputs that differ: no claim",
    "--outputs ragged.csv --epsilon 1 --samples 9": "--samples: cannot be used with recorded out",
    "--outputs ragged.csv --epsilon 1": "ragged.csv: cannot be read",
    "--outputs three.csv --epsilon 1": "choose two of them",
    f"{RIGHT} --columns x y": "--columns: needs --outputs or --one-run",
    "--one-run canaries.csv --zcdp 1": "CLAIM: must be of --epsilon or --gdp, in an",
}
OF_VALUES = {
    "--pair 0": "--pair: expected 2 arguments",
    "--pair no yes": """a word is written '"no"'""",
    "--pair [0, 1] [1, 1]": "quote all of it for the shell",
    """--pair "{'a':1}" 1""": "JSON has double quotes inside",
    "--renyi 2": "write ORDER=EPS, as in 2=0.5",
    "--epsilon one": "--epsilon: 'one' is not a number",
    "--epsilon -1": "--epsilon: must lie in [0, 300]",
    "--delta .1": "--delta: needs --epsilon",
    "--alpha .1": "CLAIM: is missing; write --epsilon or --renyi",
    "--epsilon 1 --gdp 1": "--gdp: cannot be used with --epsilon; choose one",
    "--profile three.csv": "must be CSV of two columns of numbers",
    "--samples 2.5": "--samples: '2.5' is not a whole number",
    "--timeout 1x": "--timeout: '1x' is not a time; write 60, 60s, 5m or 1h",
    "--set epsilon": "write NAME=VALUE",
    "--gdp 1 --set a=1 --set a=2": "--set: gives a parameter twice",
    "--gdp 1 --json nowhere/v.json": "--json: 'nowhere/v.json' cannot be written",
    "--gdp 1 --json notes": "--json: 'notes' is a folder",
    "--gdp 1 --json mechanisms.py": "--json: 'mechanisms.py' is an audited file",
    "--epsilom 1": "--epsilom: is not an option; did you mean '--epsilon'?",
    "--explain": "--explain: is not an option; docs/explain.md says how",
    "-v": "-v: is not an option (known: --alpha, ",
    "--gdp 1 --gdp 1": "--gdp: is given twice",
    "--quiet=yes": "--quiet: ignored explicit argument 'yes'",
}
OF_COMMANDS = {
    "audti x": "did you mean 'audit'?",
    "--epsilon 1": "'--epsilon': is not a command (known: audit, audits, samples-needed)",
    "samples-needed --detect 1": "CLAIM: is missing",
    "samples-needed --epsilon 1": "--detect: none is given; write --detect LEVEL",
    "samples-needed --renyi 2=1 --renyi 3=1 --detect 2": "--detect: needs a claim of one",
    "samples-needed --epsilon 1 --detect 1.0000001": "--detect: 1 takes more than",
    "samples-needed x --epsilon 1 --detect 2": "'x': belongs to no option",
}
MISTAKES = {f"audit {words}": message for words, message in OF_SOURCES.items()}
for words, message in OF_VALUES.items():
    MISTAKES[f"audit mechanisms.py:noisy_sum --pair [0] [1] {words}"] = message
MISTAKES |= OF_COMMANDS
FAILURES = {
    "mechanisms.py:broken --pair 0 1 --epsilon 1": "broken on 1: KeyError: 1 (mechanisms.py:",
    f"--command '{sys.executable} hangs.py' --timeout .2 --pair 0 1 --gdp 1": "hangs after 0 of",
}


def contents(folder):
    files = [path for path in folder.rglob("*.*") if "__pycache__" not in path.parts]
    return {path: path.read_bytes() for path in files if path.is_file()}


@pytest.fixture
def refused(folder, run):
    """A function that makes sure that a command is refused, in one line, and changes no file."""
    (folder / "notes").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)

    def refused(words, code, message):
        before = contents(folder)
        exit_code, out, err = run(words)
        assert message in err
        assert (exit_code, out, err.count("\n")) == (code, "", 1)
        assert err.startswith("epsilometer: ")
        assert len(err) < 500
        assert contents(folder) == before

    return refused


@pytest.mark.parametrize("words", MISTAKES)
def test_the_error_of_a_mistake_is_one_line(refused, words):
    refused(words, 2, MISTAKES[words])


@pytest.mark.parametrize("words", FAILURES)
def test_the_error_of_a_mechanism_that_fails_is_one_line(refused, words):
    refused(f"audit {words} --samples 2000", 4, FAILURES[words])
