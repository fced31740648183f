"""Odd mechanisms, and options of the command line: audited as meant, or an error of one line."""

import json
import shlex
import sys

import pytest

from epsilometer.errors import MechanismError
from epsilometer_audit.cli.main import main
from epsilometer_audit.sources.worker import WorkerSource

MODULE = """
import numpy as np

def scaled(x, size, rng, epsilon=1.0, label="a"):
    print("adding noise")
    return np.round((x + rng.laplace(0, 1 / epsilon, size)) * 2**20) / 2**20

def mean_age(frame, size, rng):
    assert list(frame.columns) == ["name", "age"], frame
    return np.round(frame["age"].sum() + rng.laplace(0, 100, size), 1)

"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(MODULE)
    (tmp_path / "ages.csv").write_text("name,age\nann,31\nbob,17\ncy,45\n")
    return tmp_path


@pytest.fixture
def run(folder, capfd):
    def ran(words):
        code = main(shlex.split(words))
        out, err = capfd.readouterr()
        return code, out, err

    return ran


def test_a_worker_that_dies_shows_the_last_lines_of_its_stderr(folder):
    (folder / "dies.py").write_text(
        "import sys\nprint('one\\ntwo', file=sys.stderr)\n\ndef inner():\n    1 / 0\ninner()\n"
    )
    source = WorkerSource([sys.executable, "dies.py"])
    with pytest.raises(MechanismError) as caught:
        source.draw(0, 5, 1)
    assert "\n" not in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)
    assert 2 <= len(caught.value.__notes__) <= 5
    assert "inner()" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("python", ["", f"--python {sys.executable}"])
def test_parameters_are_set_and_defaults_are_shown(run, python):
    words = f"audit own.py:scaled {python} --pair 0 1 --epsilon 1 --samples 500 --no-checks"
    code, out, _ = run(words)
    assert code == 0
    assert "adding noise" not in out
    assert "epsilon = 1.0, label = 'a' by default" in out
    code, out, _ = run(f"{words} --set epsilon=4 --set label=b")
    assert code == 1
    assert "by default" not in out
    assert "--set epsilon=4 --set label=b" in out  # to be replayed


@pytest.mark.parametrize(
    ("kind", "python"), [("remove", ""), ("replace", f"--python {sys.executable}")]
)
def test_tables_are_data_frames_on_request(run, kind, python):
    pytest.importorskip("pandas")
    words = f"--{kind}-a-row ages.csv --frame --epsilon 1 --samples 500 --no-checks --json -"
    code, out, err = run(f"audit own.py:mean_age {python} {words}")
    assert (code, err) == (0, "")
    assert json.loads(out)["pairs"] == 3
