"""A constant seed inside a mechanism is found: other processes, or objects, make the same draws."""

import importlib
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from epsilometer_audit.checks import fresh_processes, sampler
from epsilometer_audit.checks.fresh_processes import other_process
from epsilometer_audit.checks.permutations import Matches
from epsilometer_audit.outputs.callables import callable_source, load
from epsilometer_audit.outputs.worker import WorkerSource, python_worker
from tests.unit.epsilometer_audit.checks.laws import rng


class Constant:
    """Has a generator with a constant seed."""

    def __init__(self, epsilon=1.0):
        self.rng = np.random.default_rng(42)
        self._epsilon = epsilon

    def __call__(self, x):
        return x + self.rng.laplace(0, 1 / self._epsilon)

    def release(self, x):
        return self(x)


class Counter(Constant):
    """Has few whole numbers as outputs."""

    def __call__(self, x):
        return x + self.rng.geometric(0.6) - self.rng.geometric(0.6)


class Entropic(Constant):
    """Takes a generator, or one of the system."""

    def __init__(self, epsilon=1.0, rng=None):
        super().__init__(epsilon)
        self.rng = np.random.default_rng() if rng is None else rng


class Closed(Constant):
    """Cannot be made again: needs an argument that is no plain value."""

    def __init__(self, generator):
        super().__init__()
        self.generator = generator


class Rare(Entropic):
    """Is nearly always 0."""

    def __call__(self, x):
        return int(self.rng.random() < 0.1)


GENERATOR = np.random.default_rng(7)
FILE = """
import random
import numpy as np

class Constant:
    def __init__(self):
        self.rng = np.random.default_rng(42)
    def release(self, x):
        return x + self.rng.laplace()

constant = Constant()
OWN = random.Random(3)

def pythons_own(x):
    return x + OWN.random()
"""
WORKER = """
import json, random, sys
own = random.Random(1 if len(sys.argv) > 1 else None)
for line in sys.stdin:
    request = json.loads(line)
    for _ in range(request["size"]):
        print(request["input"] + own.random())
    sys.stdout.flush()
"""


def result(source, seed=0):
    return other_process(source, 0, 400, seed, 0.005).result


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "library.py"
    path.write_text(FILE)
    return str(path)


@pytest.mark.parametrize("mechanism", [Constant(), Constant().release, Counter()])
def test_a_constant_seed_in_an_object_is_found(mechanism):
    assert result(callable_source(mechanism)) == "failed"


@pytest.mark.parametrize("mechanism", [Entropic(), Entropic(rng=GENERATOR)])
def test_a_seed_of_the_system_or_of_the_caller_is_none(mechanism):
    assert result(callable_source(mechanism)) == "passed"


def test_a_constant_seed_in_a_file_is_found(file):
    assert result(load(f"{file}:constant.release")) == "failed"
    with closing(python_worker(sys.executable, f"{file}:pythons_own")) as source:
        assert result(source) == "failed"


def test_a_constant_seed_of_a_module_is_found(file, monkeypatch):
    monkeypatch.syspath_prepend(Path(file).parent)
    library = importlib.import_module("library")  # another process imports it, too
    try:
        assert result(callable_source(library.pythons_own)) == "failed"
    finally:
        del sys.modules["library"]


@pytest.mark.parametrize(("words", "expected"), [(["constant"], "failed"), ([], "passed")])
def test_a_worker_with_a_constant_seed_is_found(tmp_path, words, expected):
    program = tmp_path / "worker.py"
    program.write_text(WORKER)
    with closing(WorkerSource([sys.executable, "-S", str(program), *words])) as source:
        assert result(source) == expected


@pytest.mark.parametrize("mechanism", [Closed(GENERATOR), lambda x: x + GENERATOR.laplace()])
def test_where_no_other_can_be_had_it_is_noted(mechanism):
    assert result(callable_source(mechanism)) == "note"


def test_outputs_of_others_that_agree_by_chance_pass():
    results = {result(callable_source(Rare()), seed) for seed in range(40)}
    assert results <= {"passed", "note"}  # a note of one in 70 runs


class Other:
    """Normal noise; it keeps what it is asked for."""

    def __init__(self):
        self.asked = []

    def draw(self, x, size, seed):
        self.asked.append((size, seed))
        return rng(seed).normal(size=size)

    def close(self):
        pass


@pytest.mark.parametrize(("draws", "size"), [(4000, 100), (400, 40), (60, 30), (20, 12)])
@pytest.mark.parametrize(("alpha", "share"), [(0.005, 1.0), (sampler.ALPHA / 4, 0.25)])
def test_equal_draws_of_two_processes_fail_where_chance_makes_them_too_rarely(
    draws, size, alpha, share, monkeypatch
):
    other = Other()
    monkeypatch.setattr(fresh_processes, "_another", lambda _: other)
    assert other_process(None, 0, draws, 1, alpha).result == "passed"
    assert [asked_size for asked_size, _ in other.asked] == [size, size]
    assert len({seed for _, seed in other.asked}) == 2
    limit = sampler.OTHERS * share
    for p, same, expected in (
        (0.99 * limit, 1, "failed"),
        (1.01 * limit, size - 1, "passed"),
        (1.01 * limit, size, "note"),
    ):
        match = Matches(p, same, size, size)
        monkeypatch.setattr(fresh_processes, "agreement", lambda *_, match=match: match)
        assert other_process(None, 0, draws, 1, alpha).result == expected
