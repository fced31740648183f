"""The command line: its output, its exit codes and the files that it writes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epsilometer_audit import drawing
from epsilometer_audit.cli.main import main
from epsilometer_audit.statistics import power

DATA = Path(__file__).parents[1] / "data" / "audit"
COMMAND = (sys.executable, "-m", "epsilometer_audit.cli.main")
WRONG = "mechanisms.py:noisy_mean --pair [0] [1] --epsilon 1"
RIGHT = "mechanisms.py:noisy_sum --pair [0] [1] --epsilon 1"
FEW = "--samples 2000 --no-checks --quiet"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with mechanisms."""
    shutil.copy(DATA / "mechanisms.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """A function that returns the exit code, stdout and stderr."""

    def run(words, *more):
        code = main([*shlex.split(words), *more])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def audited(run):
    """The JSON of an audit, and its exit code beside it."""

    def audited(words, samples=2000):
        code, out, err = run(f"audit {words} --samples {samples} --no-checks --quiet --json -")
        assert err == ""
        verdict = json.loads(out)
        assert (code == 0) == (verdict["verdict"] in ("not refuted", "holds"))
        return verdict

    return audited


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (f"{RIGHT} --samples 2000", 0, "NOT REFUTED"),
        (f"{RIGHT} --samples 2000 --detect 1.1", 3, "UNDECIDED"),
        (f"{WRONG} --samples 2000 --exact", 1, "VIOLATED"),
        (f"{WRONG} --samples 20000 --stop", 1, "VIOLATED"),
        ("mechanisms.py:stuck --pair 0 1 --epsilon 1 --samples 4000", 4, "INVALID"),
        ("mechanisms.py:drifting --pair 0 1 --epsilon 1 --samples 4000", 4, "INVALID"),
    ],
)
def test_each_verdict_has_its_exit_code(run, words, code, verdict):
    exit_code, out, err = run(f"audit {words}")
    assert (exit_code, out.partition(":")[0], err) == (code, verdict, "")
    assert "None" not in out


@pytest.mark.parametrize(
    ("claim", "quantity", "bounds"),
    [
        ("--epsilon 1 --delta .01", "epsilon", 2),
        ("--renyi 2=.3 --renyi 5=.6", "renyi epsilon", 2),
        ("--gdp 1", "mu", 1),
        ("--zcdp .3", "rho", 1),
    ],
)
def test_each_notion_of_privacy_can_be_claimed(audited, claim, quantity, bounds):
    verdict = audited(f"mechanisms.py:noisy_mean --pair [0] [1] {claim}")
    assert verdict["bounds"][0]["quantity"] == quantity
    assert len(verdict["bounds"]) == bounds
    assert verdict["verdict"] == "violated"


def test_equal_inputs_are_noted(run):
    pairs = "--pair [1] [1] --pair [1] [0]"
    code, out, _ = run(f"audit mechanisms.py:noisy_sum {pairs} --epsilon .1 {FEW}")
    assert code == 1
    assert "x and x' are equal in 1 of 2 pairs" in out


def test_a_replay_writes_no_files_and_notes_other_draws(run, folder):
    (folder / "own.py").write_text(
        "import random, os\n"
        "def globally(x):\n    return x[0] + (random.random() < .5)\n"
        "def anew(x):\n    return x[0] + os.urandom(1)[0] % 2\n"
    )
    own = "own.py:{} --pair '[0]' '[1]' --epsilon 1 --samples 1000"
    anew = " (other draws: the mechanism follows no seed)"
    for name, words in (("globally", ""), ("anew", anew)):
        code, out, err = run(f"audit {own.format(name)} --json=a.json --quiet")
        replay = out.splitlines()[-1].split(maxsplit=1)
        assert replay == ["replay", f"epsilometer audit {own.format(name)}{words}"]
        assert (code, err) == (1, "")
        assert out.startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least ")


@pytest.mark.parametrize("many", ["--samples 2000", "--budget 1s"])
def test_a_replay_makes_the_same_draws(run, many, monkeypatch):
    monkeypatch.setattr(time, "perf_counter", time.process_time)  # as if nobody else was at work
    words = f"audit {WRONG} --no-checks --seed 7 {many} --json -"
    first = json.loads(run(words)[1])
    assert "--samples" in first["replay"]
    assert "--budget" not in first["replay"]
    assert "--json" not in first["replay"]
    again = json.loads(run(f"{first['replay'].removeprefix('epsilometer ')} --json -")[1])
    if first["evidence"][-1]["share"] == 1:  # in time, on a machine that is not too busy
        for name in ("draws", "bound", "witness", "seed", "pair"):
            assert again[name] == first[name]
    else:
        assert again["draws"] > first["draws"]


# --- sources and inputs ---------------------------------------------------------------------------

OWN = """\
def noisy(x, random):
    return x + random.choice([-1, 0, 0, 1])

def scaled(x, size, rng, epsilon=1.0, label="a"):
    print("adding noise")
    return ((x + rng.laplace(0, 1 / epsilon, size)) * 2**20).round() / 2**20

def mean_age(frame, size, rng):
    assert list(frame.columns) == ["name", "age"], frame
    return (frame["age"].sum() + rng.laplace(0, 100, size)).round(1)
"""
PROGRAM = """\
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    for _ in range(request["size"]):
        print(request["input"] + rng.choice([-1, 0, 0, 1]))
    sys.stdout.flush()
"""
ELSEWHERE = f"--python {sys.executable}"


@pytest.fixture
def own(folder, monkeypatch):
    (folder / "own.py").write_text(OWN)
    (folder / "program.py").write_text(PROGRAM)
    (folder / "ages.csv").write_text("name,age\nann,31\nbob,17\ncy,45\n")
    monkeypatch.delitem(sys.modules, "own", raising=False)
    yield
    sys.modules.pop("own", None)


@pytest.mark.parametrize(
    "source",
    [
        "own:noisy",
        f"own.py:noisy {ELSEWHERE} --timeout 20",
        f"--command '{sys.executable} program.py'",
    ],
)
def test_a_source_is_a_function_here_or_elsewhere_or_a_program(own, audited, source):
    verdict = audited(f"{source} --pair 0 1 --epsilon 1")
    assert verdict["outputs"] == "integers"
    assert verdict["witness"]["count"] > 20 * verdict["witness"]["count_prime"]


@pytest.mark.parametrize("python", ["", ELSEWHERE])
def test_parameters_are_set_and_defaults_are_shown(own, run, python):
    words = f"audit own.py:scaled {python} --pair 0 1 --epsilon 1 --samples 500 --no-checks"
    code, out, _ = run(words)
    assert code == 0
    assert "adding noise" not in out
    assert "epsilon = 1.0, label = 'a' by default" in out
    code, out, _ = run(f"{words} --set epsilon=4 --set label=b")
    assert code == 1
    assert "by default" not in out
    assert "--set epsilon=4 --set label=b" in out  # to be replayed


@pytest.mark.parametrize(("kind", "python"), [("remove", ""), ("replace", ELSEWHERE)])
def test_tables_are_data_frames_on_request(own, audited, kind, python):
    pytest.importorskip("pandas")
    words = f"own.py:mean_age {python} --{kind}-a-row ages.csv --frame --epsilon 1"
    assert audited(words, samples=700)["pairs"] == 3


def test_a_worker_that_dies_shows_the_last_lines_of_its_stderr(folder, run):
    (folder / "dies.py").write_text(
        "import sys\nprint('one\\ntwo', file=sys.stderr)\n\ndef inner():\n    1 / 0\ninner()\n"
    )
    code, _, err = run(f"audit --command '{sys.executable} dies.py' --pair 0 1 --epsilon 1")
    first, *notes = err.splitlines()
    assert code == 4
    assert "ZeroDivisionError" in first
    assert 2 <= len(notes) <= 5
    assert "inner()" in "".join(notes)


def test_many_neighbours_may_be_named(folder, audited):
    (folder / "ages.csv").write_text("age\n31\n17\n45\n")
    noisy = "mechanisms.py:noisy_sum --epsilon 50"
    assert audited(f"{noisy} --domain '{{\"patterns\": 8}}'", samples=4000)["pairs"] == 9
    verdict = audited(f"{noisy} --replace-a-row ages.csv --pair [1,1] [1,0]")
    assert (verdict["pairs"], verdict["verdict"]) == (4, "undecided")  # 50 would not be found
    assert len(verdict["provenance"]["made of"]["ages.csv"]) == 64


# --- files ----------------------------------------------------------------------------------------


def test_files_agree_with_the_output_and_hostile_outputs_are_only_shown(folder, run):
    words = "audit mechanisms.py:hostile --pair 0 1 --epsilon .1 --json v.json"
    code, out, _ = run(f"{words} {FEW}")
    assert code == 1
    assert all(line.isprintable() for line in out.splitlines())
    verdict = json.loads((folder / "v.json").read_text())
    assert len(verdict["provenance"]["made of"]["mechanisms.py"]) == 64
    shares = [look["share"] for look in verdict["evidence"]]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert f"VIOLATED: {verdict['claimed']}" in out
    written = {"v.json", "mechanisms.py"}
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == written
    mode = (folder / "v.json").stat().st_mode & 0o777
    assert mode == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_mechanism_that_fails_leaves_no_older_verdict(folder, run):
    (folder / "v.json").write_text('{"verdict": "not refuted"}')
    code, out, err = run(f"audit mechanisms.py:later --pair 0 1 --epsilon 1 {FEW} --json v.json")
    assert (code, out) == (4, "")
    assert err.count("\n") == 1
    assert "MemoryError" in err
    verdict = json.loads((folder / "v.json").read_text())
    assert verdict["verdict"] == "invalid"
    assert "MemoryError" in verdict["reasons"][0]


# --- around it ------------------------------------------------------------------------------------


def test_a_device_stays_one_and_a_full_disk_is_an_error_after_the_verdict(run):
    code, out, err = run(f"audit {RIGHT} {FEW} --json /dev/null")
    assert (code, err) == (0, "")
    assert Path("/dev/null").is_char_device()
    code, out, err = run(f"audit {RIGHT} {FEW} --json /dev/full")
    assert code == 2
    assert out.startswith("NOT REFUTED")
    assert err.startswith("epsilometer: --json: '/dev/full' cannot be written")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_one_line_on_a_terminal_elsewhere_a_line_now_and_then(
    run, monkeypatch, terminal
):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: terminal)
    monkeypatch.setattr(drawing, "_EVERY", 0.0)
    monkeypatch.setattr("epsilometer_audit.cli.main._PAUSE", 0.01)
    _, _, err = run(f"audit {RIGHT} --samples 2000")
    assert "s left: " in err
    assert ("\n" in err) != terminal
    assert err.endswith("\r\x1b[K") == terminal
    assert all(len(line) < 90 for line in err.replace("\n", "\r\x1b[K").split("\r\x1b[K"))
    assert run(f"audit {RIGHT} {FEW}")[2] == ""


def test_a_fault_of_ours_is_no_verdict(run, monkeypatch):
    monkeypatch.setattr("epsilometer_audit.cli.arguments.stated", lambda _: 1 / 0)
    code, _, err = run(f"audit {RIGHT} {FEW}")
    assert code == 70
    assert (
        err.splitlines()[-1] == "epsilometer: internal error, please report it: ZeroDivisionError"
    )


def test_samples_needed_prints_the_number(run, monkeypatch):
    monkeypatch.setattr(power, "_RUNS", (12, 16))  # simulated audits; see test_audit_statistics.py
    code, out, err = run("samples-needed --epsilon 1 --detect 1.5 --power .8 --alpha .1")
    assert (code, err) == (0, "")
    draws, words = out.rstrip().split(maxsplit=1)
    assert words == (
        "draws of each side find 1.5, where epsilon = 1 is claimed, with probability 0.8, "
        "for Laplace noise"
    )
    more = run("samples-needed --epsilon 1 --detect 1.5 --pairs 20 --event .01")[1]
    assert int(more.split()[0]) > int(draws)
    assert more.rstrip().endswith("for an event of probability 0.01")


# --- for real -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["audit", "audits", "samples-needed"])
def test_help_fits_two_screens_of_a_terminal(run, command):
    code, out, _ = run(f"{command} --help")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) <= 2 * 40
    assert all(len(line) <= 80 for line in lines)
    assert command == "samples-needed" or "exit codes: 0 not refuted, 1 violated" in out
    assert run("--help")[0] == 0
    assert run("--version")[1].startswith("epsilometer ")


def test_a_reader_that_goes_away_is_no_error():
    words = f"audit {WRONG} {FEW} --json -"
    pipe = f"{shlex.join(COMMAND)} {words} | true; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert done.stderr == "1\n"
