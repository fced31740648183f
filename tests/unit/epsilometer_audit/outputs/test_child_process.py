"""Mechanisms that end their process, or never return: never exit code 0, and always an end."""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import epsilometer_audit as ea
from epsilometer.errors import MechanismError
from epsilometer_audit.cli.main import main
from epsilometer_audit.outputs.child_process import OverdueError, answered, ends_after
from tests.unit.processes import gone, pid_in, until

CODE = """
import os, signal, time
import numpy as np

def good(x, size, rng):
    return sum(x) + rng.geometric(0.5, size) - rng.geometric(0.5, size)

def ends(x, size, rng):
    os._exit(0)

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
"""
PAIR = ("--pair", "[0]", "[1]", "--epsilon", "1", "--quiet")
FEW = ("--samples", "100", "--no-checks")
TIMEOUT = ("--timeout", ".5", *FEW)
STAYS = "did not return in time, and could not be interrupted (own.py:"
ENDS = [  # a mechanism, options, the exit code, and a part of the one line
    ("ends", FEW, 4, "its verdict: the mechanism ended the interpreter with exit code 0"),
    ("interrupts", FEW, 130, "interrupted"),
    ("is_killed", FEW, 4, "before its verdict: the mechanism crashed: Killed (signal 9)"),
    ("forks", FEW, 0, "NOT REFUTED"),
    ("sleeps", TIMEOUT, 4, "does not return within 0.5 s a batch"),
    ("stays", TIMEOUT, 4, STAYS),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with mechanisms."""
    (tmp_path / "own.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(*words):
    """Return the exit code of a command and what it prints, in a process with these modules."""
    with tempfile.TemporaryFile("a+") as printed:
        if (child := os.fork()) == 0:
            for stream in (1, 2):
                os.dup2(printed.fileno(), stream)
            sys.argv[1:], sys.stdout, sys.stderr = words, os.fdopen(1, "w"), os.fdopen(2, "w")
            with suppress(BaseException):
                code = main()
                sys.stdout.flush()
                os._exit(code)
            os._exit(99)
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        return os.waitstatus_to_exitcode(status), printed.read()


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(("name", "options", "code", "line"), ENDS)
def test_a_command_ends_with_a_verdict_or_not_with_0(name, options, code, line):
    returned, printed = ended("audit", f"own.py:{name}", *PAIR, *options)
    assert returned == code
    assert line in printed
    assert code == 0 or len(printed.splitlines()) == 1


@pytest.mark.slow(seconds=3)
def test_calls_of_a_file_of_audits_end(capfd):
    audit = {"pairs": [[[0], [1]]], "claim": {"epsilon": 1}, "timeout": 0.5}
    names = ("sleeps", "stays", "good")
    audits = {name: {"mechanism": f"own.py:{name}", **audit} for name in names}
    Path("a.yaml").write_text(json.dumps({"samples": 100, "audits": audits}))
    assert main(["audits", "a.yaml", "--quiet", "--jobs", "3"]) == 4
    out, _ = capfd.readouterr()
    assert "sleeps on [0]: does not return within 0.5 s a batch" in out
    assert STAYS in out
    assert "2 failed, 1 not refuted" in out


def answer_of(run):
    """Return what `answered` does in this process, and end its child."""
    before = signal.getsignal(signal.SIGINT)
    process = os.getpid()
    code = 99
    try:
        code = answered(run)
    finally:
        if os.getpid() != process:
            os._exit(code)
        signal.signal(signal.SIGINT, before)
    return code


def test_the_exit_code_of_a_function_is_that_of_its_child():
    assert answer_of(lambda: 3) == 3


def test_the_exit_code_of_a_copy_of_the_child_does_not_count():
    def copies():
        if os.fork() == 0:
            return 5
        os.wait()
        return 3

    assert answer_of(copies) == 3


def test_code_that_cannot_be_interrupted_is_ended_after_some_patience(monkeypatch):
    def waits(seconds):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})  # as compiled code does
        with suppress(OverdueError), ends_after(0.02):
            time.sleep(seconds)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        return 3

    assert answer_of(lambda: waits(0.1)) == 3
    monkeypatch.setattr("epsilometer_audit.outputs.child_process._PATIENCE", 0.02)
    words = answer_of(lambda: waits(5))
    assert words.startswith("the audit ended before its verdict: the mechanism did not return")
    assert "could not be interrupted (test_child_process.py:" in words


def test_a_call_in_python_ends():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(MechanismError, match=r"on 0: does not return within 0\.3 s a batch"):
        ea.audit(lambda x, size: time.sleep(60), [(0, 1)], ea.pure(1.0), timeout=0.3)
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


def test_a_limit_outside_of_another_goes_on_when_that_ends():
    """With what is left of its time, and its later interruptions."""
    with ends_after(9.0):
        before = signal.getitimer(signal.ITIMER_REAL)
        with suppress(OverdueError), ends_after(0.05):
            time.sleep(5)
        left, again = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= before[0] - 0.05
        assert again == before[1] > 0


def test_there_is_no_limit_at_infinity_or_outside_of_the_main_thread():
    def sleeps():
        with ends_after(0.01):
            time.sleep(0.03)
            return signal.getitimer(signal.ITIMER_REAL)

    with ends_after(math.inf):
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(sleeps).result() == (0, 0)


def survives(interruptions):
    """Sleep, in spite of so many interruptions."""
    for _ in range(interruptions):
        with suppress(OverdueError):
            time.sleep(5)


def test_a_limit_that_passed_in_a_block_with_a_limit_of_its_own_ends_the_rest():
    def rest():
        with ends_after(0.02):
            survives(1)
            time.sleep(0.1)
        time.sleep(5)

    began = time.monotonic()
    with pytest.raises(OverdueError) as raised, ends_after(0.08):
        rest()
    assert raised.value.args == (0.08,)
    assert time.monotonic() - began < 4


def test_code_that_survives_interruptions_is_interrupted_again(monkeypatch):
    monkeypatch.setattr("epsilometer_audit.outputs.child_process._AGAIN", 0.02)
    began = time.monotonic()
    with suppress(OverdueError), ends_after(0.02):
        survives(3)
        time.sleep(5)
    assert time.monotonic() - began < 4


def test_a_child_ends_with_the_process_that_waits_for_it(folder):
    def waits():
        (folder / "pid").write_text(str(os.getpid()))
        time.sleep(20)
        return 0

    if (parent := os.fork()) == 0:
        try:
            answered(waits)
        finally:  # also of its child, if that outlives it
            os._exit(0)
    pid = pid_in(folder / "pid")
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert until(lambda: gone(pid), 10)


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
