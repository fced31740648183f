"""Budgets of time and of draws are promises; the answer does not depend on the processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import MechanismError
from epsilometer_audit.checks.accepted_pairs import Candidates
from epsilometer_audit.sources.callables import load
from epsilometer_audit.sources.worker import WorkerSource, python_worker
from tests.seeds import FIVE
from tests.unit.processes import gone, until

ONE = [(0.0, 1.0)]


class Slow:
    """A mechanism whose draws take so many seconds on x and on x'; it adds them up."""

    def __init__(self, seconds: float, times: float = 1.0, scale: float = 2.0) -> None:
        self.seconds, self.times, self.scale, self.spent = seconds, times, scale, 0.0

    def __call__(self, x: float, rng: np.random.Generator) -> float:
        return float(self.together(x, 1, rng)[0])

    def together(self, x: float, size: int, rng: np.random.Generator) -> np.ndarray:
        took = size * self.seconds * (self.times if x else 1.0)
        time.sleep(took)
        self.spent += took
        return x + rng.laplace(0, self.scale, size)


@pytest.fixture(scope="module")
def compiled():
    """All that an answer is made with, compiled and loaded, as it is but for a first audit."""
    ea.audit(Slow(0).together, ONE, ea.pure(1.0), samples=20_000)


@pytest.fixture
def clock(compiled, monkeypatch):
    """A clock that counts only the work of this process; sleeps pass in it without waiting."""
    slept = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: time.process_time() + slept[0])
    monkeypatch.setattr(time, "sleep", lambda took: slept.__setitem__(0, slept[0] + took))
    return time.perf_counter


# --- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", FIVE)
def test_a_slow_mechanism_keeps_to_its_budget(clock, seed):
    slow = Slow(0.02)
    verdict = ea.audit(slow, ONE, ea.pure(1.0), budget=1.5, seed=seed)
    assert slow.spent <= 1.2 * 1.5 + 2 * 0.02
    assert verdict.verdict == "undecided"
    assert "1.5 s" in verdict.reasons[0]
    assert "sampler" in [check["name"] for check in verdict.checks]


@pytest.mark.parametrize(
    ("seconds", "times", "pairs", "budget"),
    [
        *[(0.002, 1.0, 1, 1), (0.001, 10.0, 1, 1), (0.01, 0.1, 1, 1)],
        *[(0.05, 1.0, 1, 0.5), (0.05, 1.0, 3, 0.5), (0.01, 1.0, 200, 1.5)],
    ],
)
@pytest.mark.parametrize("many", [True, False])
def test_a_budget_is_kept_at_any_speed(clock, seconds, times, pairs, budget, many):
    slow = Slow(seconds, times)
    inputs = {f"pair {i}": (0.0, 1.0 + i) for i in range(pairs)}
    tried = Candidates(inputs) if pairs > 100 else inputs
    verdict = ea.audit(slow.together if many else slow, tried, ea.pure(1.0), budget=budget)
    assert slow.spent <= 1.2 * budget + seconds * (1 + times)
    assert verdict.verdict in ("undecided", "not refuted")


@pytest.mark.parametrize("seed", FIVE)
def test_a_violation_in_time_is_found(clock, seed):
    slow = Slow(0.001, scale=0.02)
    verdict = ea.audit(slow, ONE, ea.pure(1.0), budget=8, seed=seed)
    assert verdict.verdict == "violated"


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("samples", "pairs"), [(100, 1), (1000, 1), (4000, 1), (1000, 2)])
@pytest.mark.parametrize("many", [True, False])
def test_samples_are_a_promise(samples, many, pairs):
    """Over all pairs, with a fifth at most for the checks of the sampler."""
    drawn = [0, 0]

    def together(x, size, rng):
        drawn[x > 0] += size
        return x + rng.laplace(0, 1, size)

    def single(x, rng):
        drawn[x > 0] += 1
        return x + rng.laplace()

    inputs = {f"pair {i}": (0.0, 1.0 + i) for i in range(pairs)}
    draw = together if many else single
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples)
    assert max(drawn) <= 1.2 * samples
    drawn[:] = 0, 0
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples, check_sampler=False)
    assert max(drawn) <= samples


# --- processes ------------------------------------------------------------------------------------

MECHANISMS = """\
import os, sys, time
import numpy as np
PIDS = os.environ.get("PIDS")
def here():
    if PIDS:
        open(os.path.join(PIDS, str(os.getpid())), "w").close()
def noisy(x, rng):
    here()
    return int(x + rng.geometric(.4)) if rng.random() < .5 else 1.5
def slow(x, rng):
    here()
    time.sleep(.02)
    return x + rng.laplace()
if __name__ == "__main__":
    import json
    here()
    for line in sys.stdin:
        request = json.loads(line)
        rng = np.random.default_rng(request["seed"])
        for _ in range(request["size"]):
            print(request["input"] + rng.geometric(.4))
        sys.stdout.flush()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MECHANISMS)
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def all_gone(place: Path) -> bool:
    """Tell whether the processes that have drawn are over, but for this one."""
    pids = {int(file.name) for file in (place / "pids").iterdir()} - {os.getpid()}
    return until(lambda: all(map(gone, pids)), 10)


@pytest.mark.parametrize("kind", ["function", "python", "worker"])
def test_the_answer_does_not_depend_on_jobs(place, kind):
    answers = []
    for jobs in (1, 3):
        if kind == "function":
            source = load("own.py:noisy")
        elif kind == "python":
            source = python_worker(sys.executable, "own.py:noisy")
        else:
            source = WorkerSource([sys.executable, "own.py"])
        try:
            options = {"samples": 500, "jobs": jobs, "check_sampler": False}
            verdict = ea.audit(source, [(0, 1), (0, 2)], ea.pure(0.5), **options)
            answers.append((verdict.bound, verdict.p_value, verdict.witness, verdict.draws))
        finally:
            source.close()
    assert answers[0] == answers[1]
    assert all_gone(place)


def test_noise_without_a_seed_is_drawn_by_one_process():
    rng = np.random.default_rng(3)  # forks of which would draw the same
    pids = set()

    def noisy(x):
        pids.add(os.getpid())
        return x + rng.laplace()

    verdict = ea.audit(noisy, ONE, ea.pure(1.0), samples=2000, jobs=2, as_reals=True)
    assert verdict.verdict == "not refuted"
    assert [check["result"] for check in verdict.checks if check["name"] == "jobs"] == ["note"]
    assert pids == {os.getpid()}


def test_errors_of_processes_are_the_same(place):
    def fails(x, rng):
        if rng.random() < 0.01:
            raise ValueError("no luck")
        return x + rng.laplace()

    def dies(x, rng):
        if os.getpid() != PARENT:
            os.kill(os.getpid(), signal.SIGKILL)
        return x + rng.laplace()

    def odd(x, rng):
        return Local()

    class Local:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    errors = {}
    for draw, jobs in ((fails, 1), (fails, 2), (dies, 2), (odd, 2)):
        with pytest.raises(MechanismError) as caught:
            ea.audit(
                draw, {"a": (0, 1)}, ea.pure(1.0), samples=2000, jobs=jobs, check_sampler=False
            )
        errors[draw, jobs] = str(caught.value)
        assert "\n" not in errors[draw, jobs]
    assert errors[fails, 1] == errors[fails, 2]
    assert "a process ended before it answered" in errors[dies, 2]
    assert "returned an object of type Local" in errors[odd, 2]


PARENT = os.getpid()


@pytest.mark.parametrize("source", ["own.py:slow", "--python {python} own.py:slow"])
def test_nothing_is_left_behind_by_an_interrupt(place, source):
    options = "--pair 0 1 --epsilon 1 --samples 2000 --no-checks --jobs 2"
    words = f"{source} {options}".format(python=sys.executable).split()
    command = ["env", "--default-signal=INT", sys.executable, "-m", "epsilometer_audit", "audit"]
    child = subprocess.Popen([*command, *words], stderr=subprocess.PIPE, text=True)
    assert until(lambda: len(list((place / "pids").iterdir())) > 1, 60)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "epsilometer: interrupted\n")
    assert all_gone(place)
