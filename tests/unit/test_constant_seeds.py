"""Audits of constant outputs, constant seeds, and draws that share noise."""

import importlib
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.checks.fresh_processes import other_process
from epsilometer_audit.outputs.callables import callable_source, load
from epsilometer_audit.outputs.worker import WorkerSource, python_worker
from tests.sharing import FIVE


def audited(mechanism, seed=0, claim=1.0, samples=1000, **options):
    options = {"as_reals": True, **options}
    return ea.audit(mechanism, [(0, 1)], ea.pure(claim), samples=samples, seed=seed, **options)


def noted(verdict, name):
    return [entry for entry in verdict.checks if (entry["name"], entry["result"]) == (name, "note")]


# --- constant outputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("output", [3, (1.0, 2.0), None, {"a": 1, "b": "x"}, ("a", 1.5)])
def test_constant_outputs_are_undecided(output, seed):
    recorded = ea.audit_outputs(([output] * 200, [output] * 200), ea.pure(1.0), seed=seed)
    drawn = [audited(lambda x: output, seed, claim, samples=200) for claim in (0.0, 1.0)]
    pairs = [(0, 1), (0, 2)]
    several = ea.audit(lambda x: output, pairs, ea.pure(1.0), samples=1000, seed=seed)
    for verdict in (*drawn, several, recorded):
        assert verdict.verdict == "undecided"
        (reason,) = verdict.reasons
        assert reason.startswith("no output varied: all outputs are ")
        assert "on both inputs" in reason


@pytest.mark.parametrize("seed", FIVE)
def test_constants_that_differ_are_violated_and_random_outputs_are_audited(seed):
    assert audited(lambda x: x, seed).verdict == "violated"
    assert audited(lambda x: x + 2, seed, claim=30.0, samples=200).verdict == "undecided"
    one_side = audited(lambda x, rng: x * rng.random() * 1e-9 // 1, seed)  # both are constant
    assert one_side.verdict == "undecided"
    assert audited(lambda x, rng: x * rng.integers(2), seed, claim=2.0).verdict == "violated"
    assert audited(lambda x, rng: rng.integers(2), seed).verdict == "not refuted"


# --- constant seeds -------------------------------------------------------------------------------


class Constant:
    """Has a generator with a constant seed."""

    def __init__(self, epsilon=1.0):
        self.rng, self._epsilon = np.random.default_rng(42), epsilon

    def __call__(self, x):
        return x + self.rng.laplace(0, 1 / self._epsilon)

    def release(self, x):
        return self(x)


class Entropic(Constant):
    """Takes a generator, or one of the system."""

    def __init__(self, epsilon=1.0, rng=None):
        super().__init__(epsilon)
        self.rng = np.random.default_rng() if rng is None else rng


class Closed:
    """Cannot be made again: needs an argument that is no plain value."""

    def __init__(self, generator):
        self.generator = generator

    def __call__(self, x):
        return x + self.generator.laplace()


FILE = """
import random
import numpy as np

class Constant:
    def __init__(self):
        self.rng = np.random.default_rng(42)
    def __call__(self, x):
        return x + self.rng.laplace()
    def release(self, x):
        return self(x)

constant = Constant()
OWN = random.Random(3)

def pythons_own(x):
    return x + OWN.random()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("seeds") / "library.py"
    path.write_text(FILE)
    return str(path)


class Counter(Constant):
    def __call__(self, x):
        return x + self.rng.geometric(0.6) - self.rng.geometric(0.6)


@pytest.mark.parametrize("seed", FIVE)
def test_a_constant_seed_in_an_object_is_invalid(seed):
    for mechanism in (Constant(), Constant().release, Counter()):  # also of few whole numbers
        assert audited(mechanism, seed, samples=500).verdict == "invalid"


@pytest.mark.parametrize("seed", FIVE)
def test_a_seed_of_the_system_or_of_the_caller_is_none(seed):
    for mechanism in (Entropic(), Entropic(rng=np.random.default_rng(5))):
        verdict = audited(mechanism, seed, claim=1.5)
        assert verdict.verdict == "not refuted"
        assert noted(verdict, "other process") == []


@pytest.mark.parametrize("name", ["constant.release", "pythons_own"])
def test_a_constant_seed_in_a_file_is_invalid(file, name):
    assert other_process(load(f"{file}:{name}"), 0, 400, 0, 0.005).result == "failed"


GENERATOR = np.random.default_rng(7)


def test_a_constant_seed_of_a_module_is_invalid(file, monkeypatch):
    monkeypatch.syspath_prepend(Path(file).parent)
    library = importlib.import_module("library")  # another process imports it, too
    assert audited(library.pythons_own).verdict == "invalid"


def test_a_worker_with_a_constant_seed_is_invalid(tmp_path, file):
    program = tmp_path / "worker.py"
    program.write_text(
        textwrap.dedent("""
        import json, random, sys
        own = random.Random(1 if len(sys.argv) > 1 else None)
        for line in sys.stdin:
            request = json.loads(line)
            for _ in range(request["size"]):
                print(request["input"] + own.random())
            sys.stdout.flush()
        """)
    )
    for words, expected in ((["constant"], "failed"), ([], "passed")):
        source = WorkerSource([sys.executable, str(program), *words])
        assert other_process(source, 0, 400, 1, 0.005).result == expected
        source.close()
    source = python_worker(sys.executable, f"{file}:constant")
    assert other_process(source, 0, 400, 1, 0.005).result == "failed"
    source.close()


def test_where_no_other_can_be_had_it_is_noted():
    for mechanism in (Closed(np.random.default_rng()), lambda x: x + GENERATOR.laplace()):
        verdict = audited(mechanism, claim=1.5)
        assert verdict.verdict == "not refuted"
        assert len(noted(verdict, "other process")) == 1


class Rare:
    """Is nearly always 0."""

    def __init__(self):
        self.rng = np.random.default_rng()

    def __call__(self, x):
        return int(self.rng.random() < 0.1)


def test_outputs_of_others_that_agree_by_chance_pass():
    rare = [other_process(callable_source(Rare()), 0, 400, seed, 0.005) for seed in range(40)]
    assert {outcome.result for outcome in rare} <= {"passed", "note"}  # a note of one in 70 runs


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize(
    "default", [42, np.random.default_rng(0), np.random.RandomState(0)], ids=str
)
def test_a_constant_default_is_noted(default, seed):
    def noisy(x, size, seed=default):
        return x + np.random.default_rng(seed).laplace(size=size)

    def drawn(x, size, random_state=default):
        return x + random_state.laplace(size=size)

    verdict = audited(noisy if isinstance(default, int) else drawn, seed, claim=1.5)
    assert verdict.verdict == "not refuted"
    assert len(noted(verdict, "default seed")) == 1


# --- noise that is shared within a call -----------------------------------------------------------


def laplace(x, size, rng):
    return x + rng.laplace(size=size)


def pool(x, size, rng):
    return x + rng.choice(rng.laplace(size=1000), size)


def twice(x, size, rng):
    return x + rng.permutation(np.repeat(rng.laplace(size=-(-size // 2)), 2))[:size]


def offset(x, size, rng):
    """Each call has an offset of .05 standard deviations of its own."""
    return x + rng.laplace(0, 1, size) + 0.05 * np.sqrt(2) * rng.normal()


def magnitudes(x, size, rng):
    """Four draws at a time share the magnitude of their Laplace noise."""
    shared = np.repeat(np.sqrt(2 * rng.exponential(1, -(-size // 4))), 4)[:size]
    return x + shared * rng.normal(size=size)


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("mechanism", [pool, twice, offset, magnitudes])
def test_draws_that_share_noise_within_a_call_are_invalid(mechanism, seed):
    assert audited(mechanism, seed, samples=20_000).verdict == "invalid"


@pytest.mark.parametrize("seed", FIVE)
def test_draws_shared_in_long_calls_only_are_detected_in_the_audits_own_draws(seed):
    def long(x, size, rng):
        return (twice if size > 2000 else laplace)(x, size, rng)

    assert audited(long, seed, samples=20_000).verdict == "invalid"
