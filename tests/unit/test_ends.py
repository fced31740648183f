"""Mechanisms that end their process, or never return: never exit code 0, and always an end."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import epsilometer_audit as ea
from epsilometer_audit.cli.main import main
from epsilometer_audit.ends import OverdueError, ends_after
from tests.unit.processes import gone, pid_in, until

CODE = """
import ctypes, os, signal, sys, time
import numpy as np

def good(x, size, rng):
    return sum(x) + rng.geometric(0.5, size) - rng.geometric(0.5, size)

def ends(x, size, rng):
    os._exit(0)

def ends_in_c(x, size, rng):
    ctypes.CDLL(None)._exit(0)

def exits(x, size, rng):
    sys.exit(0)

def interrupts(x, size, rng):
    raise KeyboardInterrupt

def is_killed(x, size, rng):
    os.kill(os.getpid(), signal.SIGKILL)

def sleeps(x, size, rng):
    open("pid", "w").write(str(os.getpid()))
    while True:
        time.sleep(0.05)

def stays(x, size, rng):
    while True:
        try:
            time.sleep(0.05)
        except BaseException:
            pass

def forks(x, size, rng):  # an exit of a child is no exit of the audit
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return good(x, size, rng)

def changes(x, size, rng):
    import decimal, warnings
    np.seterr(all="raise")
    warnings.simplefilter("error")
    decimal.getcontext().prec = 1
    return good(x, size, rng) * 1e-320
"""
PAIR = ("--pair", "[0]", "[1]", "--epsilon", "1", "--quiet")
ENDS = {
    "ends": "called os._exit(0) (own.py:9)",
    "ends_in_c": "before its verdict: the mechanism ended the interpreter with exit code 0",
    "exits": "called sys.exit(0)",
    "interrupts": "interrupted",
    "is_killed": "before its verdict: it crashed: Killed (signal 9)",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with mechanisms."""
    (tmp_path / "own.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words, **options):
    """Run a command in a process of its own."""
    argv = [sys.executable, "-m", "epsilometer_audit", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, **options)


@pytest.mark.parametrize("name", ENDS)
def test_a_command_without_a_verdict_does_not_end_with_0(name):
    ended = command("audit", f"own.py:{name}", *PAIR, "--samples", "100", "--json", "v.json")
    assert ended.returncode == (130 if name == "interrupts" else 4)
    (line,) = ended.stderr.splitlines()
    assert ENDS[name] in line


def write_audits(**timeouts):
    """Write a file of audits, of these mechanisms with these timeouts."""
    audits = {
        name: {"mechanism": f"own.py:{name}", "pairs": [[[0], [1]]], "claims": [{"epsilon": 1}]}
        | ({} if timeout is None else {"timeout": timeout})
        for name, timeout in timeouts.items()
    }
    Path("a.yaml").write_text(json.dumps({"samples": 100, "audits": audits}))


def test_pytest_does_not_end_with_0(folder):
    test = "import own\n\ndef test(audit):\n    audit(own.ends, pairs=[([0], [1])], epsilon=1)\n"
    (folder / "test_it.py").write_text(test)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "_exit(0) (own.py:" in ended.stdout


def test_a_fork_of_a_mechanism_may_end():
    ended = command("audit", "own.py:forks", *PAIR, "--samples", "100", "--no-checks")
    assert ended.stdout.startswith(("NOT REFUTED", "UNDECIDED"))


BUDGET, TIMEOUT = ("--budget", "1s"), ("--timeout", ".5", "--samples", "500")


@pytest.mark.parametrize("name", ["sleeps", "stays"])
@pytest.mark.parametrize("limit", [BUDGET, TIMEOUT])
def test_a_call_that_never_returns_ends(name, limit):
    ended = command("audit", f"own.py:{name}", *PAIR, *limit, "--no-checks")
    if name == "sleeps" and limit[0] == "--budget":
        assert ended.returncode == 3
        assert ended.stdout.startswith("UNDECIDED: the time was over before a call")
        return
    assert ended.returncode == 4
    (line,) = ended.stderr.splitlines()
    if name == "sleeps":
        assert line.endswith("does not return within 0.5 s a batch")
    else:
        assert "did not return in time, and could not be interrupted (own.py:" in line


def test_calls_of_a_file_of_audits_end(capfd):
    write_audits(sleeps=0.5, stays=0.5, good=None)
    assert main(["audits", "a.yaml", "--quiet", "--jobs", "3"]) == 4
    out, _ = capfd.readouterr()
    assert "sleeps: does not return within 0.5 s a batch" in out
    assert "did not return in time, and could not be interrupted (own.py:" in out
    assert "2 failed, 1 not refuted" in out


def test_a_call_in_python_ends():
    def mechanism(x, size):
        while True:
            time.sleep(0.05)

    before = signal.getsignal(signal.SIGALRM)
    verdict = ea.audit(mechanism, [(0, 1)], ea.pure(1.0), budget=0.3)
    assert verdict.verdict == "undecided"
    assert verdict.reasons == ["the time was over before a call of the mechanism returned"]
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_nearer_of_two_limits_ends_a_block():
    for outer, inner in ((0.1, 9.0), (9.0, 0.1)):
        with pytest.raises(OverdueError) as raised, ends_after(outer), ends_after(inner):
            time.sleep(5)
        assert raised.value.args == (0.1,)
    with ends_after(0.2), suppress(OverdueError):
        with ends_after(0.1), suppress(OverdueError):
            time.sleep(1)
        time.sleep(1)
        pytest.fail("the outer limit was lost")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_of_a_command_end_with_it(number, folder):
    argv = ["env", "--default-signal=INT"]  # which a shell's background jobs ignore
    argv += [sys.executable, "-m", "epsilometer_audit", "audit", "own.py:sleeps", *PAIR]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, start_new_session=True) as child:
        pid = pid_in(folder / "pid")
        child.send_signal(number)
        _, err = child.communicate(timeout=20)  # which waits for all processes
    assert child.returncode == (130 if number == signal.SIGINT else -number)
    assert err == (b"epsilometer: interrupted\n" if number == signal.SIGINT else b"")
    assert until(lambda: gone(pid))


def test_settings_of_a_mechanism_do_not_change_its_audit():
    own = {}
    exec(CODE, own)  # noqa: S102
    verdicts = [
        ea.audit(own[name], [([0], [1])], ea.pure(0.1), samples=2000, check_sampler=False)
        for name in ("changes", "good")
    ]
    assert [verdict.verdict for verdict in verdicts] == ["violated", "violated"]
