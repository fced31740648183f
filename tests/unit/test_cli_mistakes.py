"""Mistakes on the command line: the error is one line, and nothing is written.

One of a kind; sources, workers and files of outputs have all of theirs in their own tests.
"""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from epsilometer_audit.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "audit"
PYTHON = sys.executable

FILES = {
    "failing.py": "import json\n1 / 0\n",
    "one.csv": "x\n1\n2\n",
    "three.csv": "x,y,z\n" + "1,2,3\n" * 60,
    "ragged.csv": "x,y\n1,2\n1,2,3\n",
    "copies.csv": "x,y\n" + "".join(f"{i},{i + 0.5}\n" * 10 for i in range(60)),
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
SOURCES = [
    (f"{PAIR} {CLAIM}", 2, "SOURCE: none is given; write file.py:function"),
    (f"nowhere.py:f {PAIR} {CLAIM}", 2, "nowhere.py: is not there"),
    (f"{M}:wrod {PAIR} {CLAIM}", 2, "did you mean 'word'?"),
    (f"failing.py:f {PAIR} {CLAIM}", 2, "ZeroDivisionError: division by zero (failing.py:2)"),
    (f"{M}:word --command true {PAIR} {CLAIM}", 2, "--command: cannot be used with SOURCE"),
    (f"{M}:word --python /bin/true {PAIR} {CLAIM}", 2, "--python: '/bin/true' does not run it"),
]
SIGNATURES = [
    (f"{M}:two_inputs {PAIR} {CLAIM}", 2, "needs 'y'"),
    (f"{M}:short {PAIR} {CLAIM}", 4, "where"),
    (f"{M}:broken {PAIR} {CLAIM}", 4, "KeyError: 1 (mechanisms.py:"),
]
INPUTS = [
    (f"{M}:word {CLAIM}", 2, "--pair: none is given; write --pair X X'"),
    (f"{M}:noisy_sum --pair [1] [1] {CLAIM}", 2, "--pair: must have inputs that differ: no claim"),
    (f"{M}:word --pair 0 {CLAIM}", 2, "--pair: expected 2 arguments; write --pair X X'"),
    (f"{M}:word --pair no yes {CLAIM}", 2, """a word is written '"no"'"""),
    (f"{M}:noisy_sum --pair [0, 1] [1, 1] {CLAIM}", 2, "quote all of it for the shell"),
    (f"""{M}:noisy_sum --pair "{{'a':1}}" 1 {CLAIM}""", 2, "JSON has double quotes inside"),
    (f"{M}:word --pair 0 2 {CLAIM}", 4, "IndexError"),
    (f"{M}:noisy_sum --pair 0 1 {CLAIM}", 4, "'int' object is not iterable"),
    (f"{M}:noisy_sum --remove-a-row nowhere.csv {CLAIM}", 2, "nowhere.csv: is not there"),
    (f"{M}:noisy_sum --remove-a-row ragged.csv {CLAIM}", 2, "ragged.csv: cannot be read"),
]
CLAIMS = [
    (OK, 2, "CLAIM: none is given; write --epsilon E [--delta D], --renyi"),
    (f"{OK} --epsilon one", 2, "--epsilon: 'one' is not a number"),
    (f"{OK} --epsilon -1", 2, "--epsilon: must lie in [0, 300]"),
    (f"{OK} --delta .1", 2, "--delta: needs --epsilon"),
    (f"{OK} --epsilon 1 --gdp 1", 2, "--gdp: cannot be used with --epsilon; choose one"),
    (f"{OK} --renyi 2", 2, "write ORDER=EPS, as in 2=0.5"),
    (f"{OK} --renyi 1=.5", 2, "--renyi: order must be above 1 and finite, got 1.0"),
    (f"{OK} --renyi 2=.5 --renyi 2=.6", 2, "--renyi: must name each order once"),
    (f"{OK} --zcdp 1 --exact", 2, "--exact: cannot be used with --zcdp"),
    (f"{OK} --epsilon 1 --detect 1", 2, "--detect: must be above the claim, 1, got 1"),
    (f"{OK} --renyi 2=1 --renyi 3=1 --detect 2", 2, "--detect: needs a claim of one order"),
]
TARGETS = [
    (f"{OK} {CLAIM} --json nowhere/v.json", 2, "--json: 'nowhere/v.json': there is no folder"),
    (f"{OK} {CLAIM} --json notes", 2, "--json: 'notes' is a folder"),
    (f"{OK} {CLAIM} --json {M}", 2, "--json: 'mechanisms.py' is an audited file"),
    (f"{OK} {CLAIM} --json one.csv/v.json", 2, "--json: "),
]
RECORDED = [
    (f"--outputs nowhere.csv {CLAIM}", 2, "nowhere.csv: is not there"),
    (f"--outputs three.csv {CLAIM}", 2, "choose two of them"),
    (f"--outputs three.csv {CLAIM} {PAIR}", 2, "--pair: cannot be used with --outputs"),
    (f"{OK} {CLAIM} --columns x y", 2, "--columns: needs --outputs or --one-run"),
]
WORKERS = [
    (f"--command nosuchprogram {PAIR} {CLAIM}", 2, "--command: 'nosuchprogram' is not a program"),
    (f"--command '{PYTHON} hangs.py' --timeout .2 {PAIR} {CLAIM}", 4, "hangs after 0 of"),
]
OPTIONS = [
    (f"{OK} --epsilom 1", 2, "--epsilom: is not an option; did you mean '--epsilon'?"),
    (f"{OK} {CLAIM} --eps 1", 2, "did you mean '--epsilon'?"),
    (f"{OK} {CLAIM} -v", 2, "-v: is not an option; --help lists them"),
    (f"{OK} {CLAIM} {CLAIM}", 2, "--epsilon: is given twice"),
    (f"{OK} {CLAIM} --samples", 2, "--samples: expected 1 argument; write --samples N"),
    (f"{OK} {CLAIM} --samples 2.5", 2, "--samples: '2.5' is not a whole number"),
    (f"{OK} {CLAIM} --samples 9", 2, "--samples: must be at least 10"),
    (f"{OK} {CLAIM} --set epsilon", 2, "write NAME=VALUE"),
    (f"{OK} {CLAIM} --set a=1 --set a=2", 2, "--set: gives a parameter twice"),
    (f"{OK} {CLAIM} --set y=1", 2, "takes no parameter 'y'"),
    (f"{OK} {CLAIM} --frame", 2, "--frame: needs --remove-a-row or --replace-a-row"),
    (f"{OK} {CLAIM} --samples 100 --budget 3", 2, "--samples: cannot be used with --budget"),
    (f"{OK} {CLAIM} --alpha 0", 2, "--alpha: must lie strictly between 0 and 1"),
    (f"{OK} {CLAIM} --stop --exact", 2, "--stop: cannot be used with --exact"),
    (f"{OK} {CLAIM} --quiet=yes", 2, "--quiet: expected no arguments; write --quiet"),
]
CANARIES = [
    ("--one-run canaries.csv --zcdp 1", 2, "--zcdp: cannot be used with --one-run"),
    (f"--one-run canaries.csv own.py:f {CLAIM}", 2, "--one-run: cannot be used with SOURCE"),
    (f"--one-run canaries.csv {CLAIM} --guesses 999", 2, "--guesses: must be 1 to 300"),
    (f"--one-run canaries.csv {CLAIM} --json canaries.csv", 2, "--json: 'canaries.csv' is an aud"),
]
COMMANDS = [
    ("audti x", 2, "did you mean 'audit'?"),
    ("--epsilon 1", 2, "COMMAND: none is given"),
    ("samples-needed --detect 1", 2, "CLAIM: none is given"),
    ("samples-needed --renyi 2=1 --renyi 3=1 --detect 2", 2, "--renyi: must be of one order"),
    ("samples-needed --epsilon 1 --detect 1.0000001", 2, "--detect: 1 takes more than"),
    ("samples-needed x --epsilon 1 --detect 2", 2, "'x': belongs to no option"),
]
AUDITS = [*SOURCES, *SIGNATURES, *INPUTS, *CLAIMS, *TARGETS, *RECORDED, *WORKERS, *OPTIONS]
AUDITS += CANARIES


FREE = {"--samples", "--budget", "--outputs", "--one-run", "--canaries"}  # no --samples beside


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    shutil.copy(DATA / "mechanisms.py", folder)
    return folder


def _contents(folder):
    files = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {path: path.read_bytes() if path.is_file() else None for path in files}


@pytest.mark.parametrize(
    ("words", "code", "message"), [(f"audit {words}", *rest) for words, *rest in AUDITS] + COMMANDS
)
def test_the_error_of_a_mistake_is_one_line(prepared, monkeypatch, capsys, words, code, message):
    monkeypatch.chdir(prepared)
    before = _contents(prepared)
    typed = shlex.split(words)
    if typed[:1] == ["audit"] and not FREE & set(typed):
        typed += ["--samples", "2000"]
    exit_code = main(typed)
    out, err = capsys.readouterr()
    assert message in err
    assert exit_code == code
    assert out == ""
    assert 1 <= err.count("\n") <= 2
    assert err.startswith("epsilometer: ")
    assert len(err) < 500
    assert "Traceback" not in err
    assert "nakemake" not in err
    assert _contents(prepared) == before


def test_the_verdict_of_a_bad_sampler_is_invalid(prepared, monkeypatch, capsys):
    monkeypatch.chdir(prepared)
    assert main(shlex.split(f"audit --outputs copies.csv {CLAIM}")) == 4
    assert capsys.readouterr().out.startswith("INVALID: ")
