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

DATA = Path(__file__).parents[3] / "data" / "audit"
COMMAND = (sys.executable, "-m", "epsilometer_audit")
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


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (f"{RIGHT} --samples 2000", 0, "NOT REFUTED"),
        (f"{RIGHT} --samples 2000 --detect 1.1", 3, "UNDECIDED"),
        (f"{RIGHT} --samples 2000 --detect 2", 0, "NOT REFUTED"),
        (f"{RIGHT} --samples 2000 --detect 2 --event .001", 3, "UNDECIDED"),
        (f"{WRONG} --samples 2000", 1, "VIOLATED"),
        (f"{WRONG} --pair [1] [1] --samples 20000 --stop", 1, "VIOLATED"),
        ("mechanisms.py:stuck --pair 0 1 --epsilon 1 --samples 4000", 4, "INVALID"),
        ("mechanisms.py:drifting --pair 0 1 --epsilon 1 --samples 4000", 4, "INVALID"),
    ],
)
def test_each_verdict_has_its_exit_code(run, words, code, verdict):
    exit_code, out, err = run(f"audit {words}")
    assert (exit_code, out.partition(":")[0], err) == (code, verdict, "")
    assert "None" not in out
    assert ("x and x' are equal in 1 of 2 pairs" in out) == ("[1] [1]" in words)


@pytest.mark.slow(seconds=3)
def test_a_replay_notes_other_draws(run, folder):
    (folder / "own.py").write_text(
        "import random, os\n"
        "def globally(x):\n    return x[0] + (random.random() < .5)\n"
        "def anew(x):\n    return x[0] + os.urandom(1)[0] % 2\n"
    )
    anew = " (other draws: the mechanism follows no seed)"
    for name, words in (("globally", ""), ("anew", anew)):
        command = f"audit own.py:{name} --pair '[0]' '[1]' --epsilon 1 --samples 1000 --quiet"
        code, out, err = run(command)
        assert out.splitlines()[-1].split(maxsplit=1) == ["replay", f"epsilometer {command}{words}"]
        assert (code, err) == (1, "")
        assert out.startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least ")


def test_a_replay_makes_the_same_draws(run):
    first = json.loads(run(f"audit {WRONG} --no-checks --seed 7 --samples 2000 --json -")[1])
    again = json.loads(run(first["replay"].removeprefix("epsilometer "))[1])
    for name in ("draws", "bound", "witness", "seed", "pair"):
        assert again[name] == first[name]


OWN = """\
def scaled(x, size, rng, epsilon=1.0, label="a"):
    print("adding noise")
    return ((x + rng.laplace(0, 1 / epsilon, size)) * 2**20).round() / 2**20

"""
ELSEWHERE = f"--python {sys.executable}"


@pytest.fixture
def own(folder):
    (folder / "own.py").write_text(OWN)
    sys.modules.pop("own", None)
    yield
    sys.modules.pop("own", None)


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("source", ["own:scaled", f"own.py:scaled {ELSEWHERE} --timeout 20"])
def test_parameters_are_set_and_defaults_are_shown(own, run, source):
    words = f"audit {source} --pair 0 1 --epsilon 1 --samples 500 --no-checks"
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
    (folder / "dies.py").write_text(
        "import sys\nprint('one\\ntwo', file=sys.stderr)\n\ndef inner():\n    1 / 0\ninner()\n"
    )
    code, _, err = run(f"audit --command '{sys.executable} dies.py' --pair 0 1 --epsilon 1")
    (line,) = err.splitlines()
    assert code == 4
    assert "inner()" in line
    assert line.endswith("ZeroDivisionError: division by zero")


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
    assert {path.name for path in folder.glob("*.*")} == {"v.json", "mechanisms.py"}
    (folder / "other").touch()
    assert (folder / "v.json").stat().st_mode == (folder / "other").stat().st_mode


def test_a_mechanism_that_fails_leaves_no_older_verdict(folder, run):
    (folder / "v.json").write_text('{"verdict": "not refuted"}')
    code, out, err = run(f"audit mechanisms.py:later --pair 0 1 --epsilon 1 {FEW} --json v.json")
    assert (code, out) == (4, "")
    assert err.count("\n") == 1
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


# --- mistakes: one of a kind; sources, workers, files of outputs have theirs in their own tests ---

FILES = {
    "failing.py": "import json\n1 / 0\n",
    "one.csv": "x\n1\n2\n",
    "three.csv": "x,y,z\n" + "1,2,3\n" * 60,
    "ragged.csv": "x,y\n1,2\n1,2,3\n",
    "hangs.py": "import time\ntime.sleep(60)\n",
    "notes/mine.txt": "mine",
    "canaries.csv": "score,included\n" + "0.5,1\n1.5,0\n" * 150,
    "own.py": "def scores(included):\n    return included\n",
}

CLAIM = "--epsilon 1"
PAIR = "--pair 0 1"
M = "mechanisms.py"
OK = f"{M}:noisy_sum --pair [0] [1]"

# the arguments, the exit code, and words of the answer
AUDITS = [
    (f"{PAIR} {CLAIM}", 2, "SOURCE: is missing; write SOURCE or --command"),
    (f"nowhere.py:f {PAIR} {CLAIM}", 2, "nowhere.py: cannot be read: no such file"),
    (f"{M}:wrod {PAIR} {CLAIM}", 2, "did you mean 'word'?"),
    (f"failing.py:f {PAIR} {CLAIM}", 2, "ZeroDivisionError: division by zero (failing.py:2)"),
    (f"{M}:word --command true {PAIR} {CLAIM}", 2, "--command: cannot be used with SOURCE"),
    (f"{M}:word --python /bin/true {PAIR} {CLAIM}", 2, "--python: '/bin/true' does not run it"),
    (f"{M}:broken {PAIR} {CLAIM}", 4, "broken on 1: KeyError: 1 (mechanisms.py:"),
    (f"{M}:broken --pair .5 1 {CLAIM} --no-checks", 4, "broken on 0.5: KeyError: 0.5"),
    (f"{M}:word {CLAIM}", 2, "--pair: must be given: pairs of neighbours, or a domain"),
    (f"{M}:noisy_sum --pair [1] [1] {CLAIM}", 2, "--pair: must have inputs that differ: no claim"),
    (f"{M}:word --pair 0 {CLAIM}", 2, "--pair: expected 2 arguments"),
    (f"{M}:word --pair no yes {CLAIM}", 2, """a word is written '"no"'"""),
    (f"{M}:noisy_sum --pair [0, 1] [1, 1] {CLAIM}", 2, "quote all of it for the shell"),
    (f"""{M}:noisy_sum --pair "{{'a':1}}" 1 {CLAIM}""", 2, "JSON has double quotes inside"),
    (f"{M}:noisy_sum {CLAIM} --outputs ragged.csv", 2, "--outputs: cannot be used with SOURCE"),
    (f"--outputs ragged.csv {CLAIM} --samples 9", 2, "--samples: cannot be used with recorded out"),
    (f"{M}:word {CLAIM} --pair 0 1 --guesses 3", 2, "--guesses: cannot be used with draws of a m"),
    (f"--outputs ragged.csv {CLAIM}", 2, "ragged.csv: cannot be read"),
    (OK, 2, "CLAIM: is missing; write --epsilon or --renyi"),
    (f"{OK} --epsilon one", 2, "--epsilon: 'one' is not a number"),
    (f"{OK} --epsilon -1", 2, "--epsilon: must lie in [0, 300]"),
    (f"{OK} --delta .1", 2, "--delta: needs --epsilon"),
    (f"{OK} --profile three.csv", 2, "must be CSV of two columns of numbers"),
    (f"{OK} --epsilon 1 --gdp 1", 2, "--gdp: cannot be used with --epsilon; choose one"),
    (f"{OK} --renyi 2", 2, "write ORDER=EPS, as in 2=0.5"),
    (f"{OK} --renyi 1=.5", 2, "--renyi: order must be above 1 and finite, got 1.0"),
    (f"{OK} --renyi 2=.5 --renyi 2=.6", 2, "--renyi: must name each order once"),
    (f"{OK} --epsilon 1 --detect 1", 2, "--detect: must be above the claim, 1, got 1"),
    (f"{OK} --renyi 2=1 --renyi 3=1 --detect 2", 2, "--detect: needs a claim of one order"),
    (f"{OK} {CLAIM} --json nowhere/v.json", 2, "--json: 'nowhere/v.json' cannot be written"),
    (f"{OK} {CLAIM} --json notes", 2, "--json: 'notes' is a folder"),
    (f"{OK} {CLAIM} --json {M}", 2, "--json: 'mechanisms.py' is an audited file"),
    (f"{OK} {CLAIM} --json one.csv/v.json", 2, "--json: "),
    (f"--outputs three.csv {CLAIM}", 2, "choose two of them"),
    (f"--outputs three.csv {CLAIM} {PAIR}", 2, "--pair: cannot be used with recorded outputs"),
    (f"{OK} {CLAIM} --columns x y", 2, "--columns: needs --outputs or --one-run"),
    (f"--command nosuchprogram {PAIR} {CLAIM}", 2, "--command: 'nosuchprogram' is not a program"),
    (f"--command '{sys.executable} hangs.py' --timeout .2 {PAIR} {CLAIM}", 4, "hangs after 0 of"),
    (f"{OK} --epsilom 1", 2, "--epsilom: is not an option; did you mean '--epsilon'?"),
    (f"{OK} {CLAIM} --explain", 2, "--explain: is not an option; docs/explain.md says how"),
    (f"{OK} {CLAIM} -v", 2, "-v: is not an option (known: --alpha, "),
    (f"{OK} {CLAIM} {CLAIM}", 2, "--epsilon: is given twice"),
    (f"{OK} {CLAIM} --samples", 2, "--samples: expected one argument"),
    (f"{OK} {CLAIM} --samples 2.5", 2, "--samples: '2.5' is not a whole number"),
    (f"{OK} {CLAIM} --samples 9", 2, "--samples: must be at least 10"),
    (f"{OK} {CLAIM} --set epsilon", 2, "write NAME=VALUE"),
    (f"{OK} {CLAIM} --set a=1 --set a=2", 2, "--set: gives a parameter twice"),
    (f"{OK} {CLAIM} --set y=1", 2, "takes no parameter 'y'"),
    (f"{OK} {CLAIM} --frame", 2, "--frame: is not an option; write pairs of tables, --pair or"),
    (f"{OK} {CLAIM} --budget 60s", 2, "--budget: is not an option; --samples and --stop limit"),
    (f"{OK} {CLAIM} --alpha 0", 2, "--alpha: must lie strictly between 0 and 1"),
    (f"{OK} {CLAIM} --exact", 2, "--exact: is not an option; --outputs makes an exact test"),
    (f"{OK} {CLAIM} --quiet=yes", 2, "--quiet: ignored explicit argument 'yes'"),
    (
        f"--one-run canaries.csv {CLAIM} --event .1",
        2,
        "--event: cannot be used with canaries of one run",
    ),
    ("--one-run canaries.csv --zcdp 1", 2, "CLAIM: must be of --epsilon or --gdp, in an"),
    (f"own.py:f --one-run canaries.csv {CLAIM}", 2, "--one-run: cannot be used with SOURCE"),
    (f"--one-run canaries.csv {CLAIM} --guesses 999", 2, "--guesses: must be 1 to 300"),
    (f"--one-run canaries.csv {CLAIM} --json canaries.csv", 2, "--json: 'canaries.csv' is an aud"),
]
COMMANDS = [
    ("audti x", 2, "did you mean 'audit'?"),
    ("--epsilon 1", 2, "'--epsilon': is not a command (known: audit, audits, samples-needed)"),
    ("samples-needed --detect 1", 2, "CLAIM: is missing"),
    ("samples-needed --renyi 2=1 --renyi 3=1 --detect 2", 2, "--detect: needs a claim of one"),
    ("samples-needed --epsilon 1 --detect 1.0000001", 2, "--detect: 1 takes more than"),
    ("samples-needed x --epsilon 1 --detect 2", 2, "'x': belongs to no option"),
]
FREE = {"--samples", "--outputs", "--one-run", "--canaries"}  # no --samples beside


def _contents(folder):
    files = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {path: path.read_bytes() if path.is_file() else None for path in files}


@pytest.mark.parametrize(
    ("words", "code", "message"), [(f"audit {words}", *rest) for words, *rest in AUDITS] + COMMANDS
)
def test_the_error_of_a_mistake_is_one_line(folder, run, words, code, message):
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    before = _contents(folder)
    typed = shlex.split(words)
    if typed[:1] == ["audit"] and not FREE & set(typed):
        typed += ["--samples", "2000"]
    exit_code, out, err = run("", *typed)
    assert message in err
    assert (exit_code, out) == (code, "")
    assert 1 <= err.count("\n") <= 2
    assert err.startswith("epsilometer: ")
    assert len(err) < 500
    assert _contents(folder) == before


def test_the_verdict_of_a_bad_sampler_is_invalid(folder, run):
    rows = "".join(f"{i},{i + 0.5}\n" * 10 for i in range(60))
    (folder / "copies.csv").write_text(f"x,y\n{rows}")
    code, out, _ = run(f"audit --outputs copies.csv {CLAIM}")
    assert (code, out[:9]) == (4, "INVALID: ")
