"""Odd mechanisms, and options of the command line: audited as meant, or an error of one line."""

import json
import shlex
import sys
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.auditing import audit
from epsilometer_audit.cli.main import main
from epsilometer_audit.sources.callables import callable_source, load
from epsilometer_audit.sources.worker import WorkerSource, python_worker
from epsilometer_audit.statistics.claims import Pure
from tests.seeds import FIVE, with_five_seeds

MODULE = """
import sys
from dataclasses import dataclass
import numpy as np

class Drawn:
    "The constructor draws the noise."
    def __init__(self, scale=1.0):
        self.noise = np.random.default_rng().laplace(0, scale)
    def __call__(self, x):
        return round(x + self.noise, 3)
    def method(self, x, factor=1.0):
        return round(factor * x + self.noise, 3)

class Kept:
    "The constructor makes a generator only, and is slow."
    count = 0
    def __init__(self):
        Kept.count += 1
        self.rng = np.random.default_rng()
    def __call__(self, x):
        return round(x + self.rng.laplace(), 3)

def chatty(x, rng):
    print("adding noise")
    return round(x + rng.laplace(), 3)

def failing(x, rng):
    for i in range(9):
        print("step", i)
    raise ValueError("no more")

def scaled(x, size, rng, epsilon=1.0, label="a"):
    return np.round((x + rng.laplace(0, 1 / epsilon, size)) * 2**20) / 2**20

def mean_age(frame, size, rng):
    assert list(frame.columns) == ["name", "age"], frame
    return np.round(frame["age"].sum() + rng.laplace(0, 100, size), 1)

@dataclass
class Person:
    age: int

def of_people(people: "list[Person]", rng):
    return sum(person.age for person in people) + int(rng.integers(9))
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


def verdict(mechanism, seed, claim=1.2, samples=1500, pair=(0.0, 1.0)):
    return audit(mechanism, [pair], Pure(claim), samples=samples, seed=seed)


# --- classes --------------------------------------------------------------------------------------


class Drawn:
    def __init__(self):
        self.noise = np.random.default_rng().laplace()

    def __call__(self, x):
        return round(x + self.noise, 3)


class DrawnMany(Drawn):
    def __call__(self, x, size, rng):
        return np.round(x + np.full(size, self.noise), 3)


class Locked(Drawn):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()  # no pickle takes it


@pytest.mark.parametrize(("cls", "seed"), [(DrawnMany, 0), (Locked, 0), *with_five_seeds(Drawn)])
def test_a_class_whose_constructor_draws_noise_has_an_object_for_each_draw(cls, seed):
    assert verdict(cls, seed).verdict == "not refuted"
    assert verdict(cls, seed, claim=0.3).verdict == "violated"


@pytest.mark.parametrize("function", ["Drawn", "Drawn.method"])
def test_so_has_a_class_of_a_file(folder, function):
    source = load(f"own.py:{function}")
    assert "each of a new object" in source.description
    assert len(set(source.draw(0.0, 100, 1).tolist())) > 90
    there = python_worker(sys.executable, f"own.py:{function}")
    try:
        assert len(set(there.draw(0.0, 100, 1).tolist())) > 90
    finally:
        there.close()


def test_a_class_whose_constructor_only_makes_a_generator_has_one_object(folder):
    source = load("own.py:Kept")
    assert len(set(source.draw(0.0, 100, 1).tolist())) > 90
    assert "new object" not in source.description
    count = type(source.sampler.function).count
    source.draw(0.0, 100, 1)
    assert type(source.sampler.function).count == count <= 3


@dataclass
class Declared:
    scale: float = 1.0
    names: list = field(default_factory=list)

    def __call__(self, x, size, rng):
        return np.round(x + rng.laplace(0, self.scale, size), 3)


@dataclass
class Row:
    age: int


@pytest.mark.parametrize("seed", FIVE)
def test_dataclasses_are_mechanisms_and_inputs(seed):
    assert verdict(Declared, seed).verdict == "not refuted"
    assert verdict(Declared(0.3), seed).verdict == "violated"
    assert "scale = 1.0, names by default" in callable_source(Declared).description

    def ages(rows: list[Row], size, rng):
        return np.round(sum(row.age for row in rows) + rng.laplace(size=size), 3)

    for pair in (([Row(1)], [Row(2)]), ([{"age": 1}], [{"age": 2}])):
        answer = verdict(ages, seed, pair=pair)
        assert answer.verdict == "not refuted"


def test_a_dataclass_of_another_interpreter_gets_mappings(folder):
    there = python_worker(sys.executable, "own.py:of_people")
    try:
        assert there.draw([{"age": 40}, {"age": 2}], 50, 1).min() >= 42
        assert there.draw([Row(40), Row(2)], 50, 1).min() >= 42
    finally:
        there.close()


# --- printed lines --------------------------------------------------------------------------------


@pytest.mark.parametrize("python", ["", f"--python {sys.executable}"])
def test_lines_that_are_printed_are_counted_once_for_an_audit(run, python):
    code, out, err = run(
        f"audit own.py:chatty {python} --pair 0 1 --epsilon 1.2 --samples 500 --json -"
    )
    answer = json.loads(out)  # nothing else is there
    assert code == answer["exit_code"] if "exit_code" in answer else code == 0
    (note,) = [check for check in answer["checks"] if check["name"] == "printed"]
    assert note["words"].count("adding noise") == 3
    assert "more lines" in note["words"]
    assert "adding noise" not in err


@pytest.mark.parametrize("python", ["", f"--python {sys.executable}"])
def test_the_last_lines_stand_below_an_error(run, python):
    code, out, err = run(f"audit own.py:failing {python} --pair 0 1 --epsilon 1")
    first, *rest = err.splitlines()
    assert (code, out) == (4, "")
    assert "ValueError: no more (own.py:" in first
    assert rest == [f"  step {i}" for i in range(4, 9)]


# --- programs -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("word", ["epsilon", "inptu", "HOME"])
def test_an_unknown_name_in_braces_is_refused(word):
    with pytest.raises(ArgumentError, match=f"no place '{word}'.*input.*{{{{{word}}}}}") as caught:
        WorkerSource(f"echo {{input}} {{{word}}}")
    assert "\n" not in str(caught.value)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("python", "seed"), [(f"--python {sys.executable}", 0), *with_five_seeds("")]
)
def test_parameters_are_set_and_defaults_are_shown(run, seed, python):
    words = f"audit own.py:scaled {python} --pair 0 1 --epsilon 1 --samples 1000 --seed {seed}"
    code, out, _ = run(words)
    assert code == 0
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
    words = f"--{kind}-a-row ages.csv --frame --epsilon 1 --samples 2000 --json -"
    code, out, err = run(f"audit own.py:mean_age {python} {words}")
    assert (code, err) == (0, "")
    assert json.loads(out)["pairs"] == 3
