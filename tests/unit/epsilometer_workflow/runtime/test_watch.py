"""Jobs that are watched: the cause of any failure is told and nothing is left of them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epsilometer_workflow.runtime.variables import RUN
from tests.unit.processes import gone, pid_in, ran, until

SCRIPT = """
import ctypes, os, signal, subprocess, sys, time
from epsilometer_workflow.runtime.watch import done, failed, watched
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
def keep(text): print("KEPT", repr(text), flush=True)
def ended(usage, cause): print("CAUSE", cause, flush=True)
terminal = watched(keep, ended)
{body}
done()
"""


def script(body: str) -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(body=body)]


def run(body: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return ran(*script(body), env={**os.environ, **environment})


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("ctypes.string_at(0)", "crashed: Segmentation fault (signal 11)"),
        ("os.kill(os.getpid(), 9)", "crashed: Killed (signal 9), as systems do when memory runs"),
        ("os._exit(0)", "ended the interpreter with exit code 0"),
        ("sys.exit(7)", "ended the interpreter with exit code 7"),
        ("while True: print('x' * 999)", "printed more than 1 MB"),
    ],
)
def test_the_cause_is_reported(body, cause):
    done = run(body)
    assert f"CAUSE {cause}" in done.stdout
    assert done.returncode == 1


def test_where_memory_runs_out_the_system_ends_the_job_first():
    score = "print(open('/proc/self/oom_score_adj').read())"
    assert "1000" in run(f"{score}; subprocess.run([sys.executable, '-c', {score!r}])").stdout
    assert Path("/proc/self/oom_score_adj").read_text() != "1000\n"


LEAVES = """
quiet = dict(stdout=subprocess.DEVNULL, start_new_session=True)
first = subprocess.Popen(["sleep", "60"], **quiet)
if os.fork() == 0:
    second = subprocess.Popen(["sleep", "60"], **quiet)
    os.write(1, b"PIDS %d %d" % (first.pid, second.pid))
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("end", ["while True: print('x' * 999)", "ctypes.string_at(0)", "done()"])
def test_nothing_of_it_is_left_in_another_session(end):
    result = run(f"{LEAVES}\n{end}")
    pids = re.search(r"PIDS (\d+) (\d+)", result.stdout)
    assert not [pid for pid in pids.groups() if Path("/proc", pid).exists()]


def test_a_cause_that_the_job_has_printed_is_not_repeated():
    done = run("os.write(terminal, b'because'); failed()")
    assert done.stdout.strip() == "CAUSE None"
    assert done.stderr == "because"
    assert done.returncode == 1


def test_printed_text_is_kept_and_harmless():
    words = "for word in (b'in ', b'sample', b'\\n', b'and ', b'more'): os.write(1, word)"
    printed = "print('hello'); os.write(2, bytes([0xff, 0xfe, 10])); os.system('echo deep')"
    done = run(f"{printed}\n{words}")
    assert done.returncode == 0
    assert "hello" in done.stdout
    assert r"\\xff\\xfe" in done.stdout
    assert "deep" in done.stdout
    assert "in sample\\n'" in done.stdout
    assert done.stderr == ""
    assert "CAUSE None" in done.stdout


SLEEPS = "open({!r}, 'w').write(str(os.getpid())); time.sleep(60)"


def test_a_job_ends_with_its_run(tmp_path):
    pids = tmp_path / "pid"
    with subprocess.Popen(["sleep", "99"]) as asking:
        environment = {**os.environ, RUN: str(asking.pid)}
        body = SLEEPS.format(str(pids))
        with subprocess.Popen(script(body), env=environment, stdout=-1, text=True) as watcher:
            child = pid_in(pids)
            asking.kill()
            assert "the run that asked for it is gone" in watcher.communicate(timeout=120)[0]
            assert until(lambda: gone(child))


def test_a_job_whose_run_is_gone_does_not_begin():
    over = subprocess.run(["sh", "-c", "echo $$"], stdout=-1, text=True, check=True)
    done = run("time.sleep(60)", **{RUN: over.stdout.strip()})
    assert "the run that asked for it is gone" in done.stdout


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_job_ends_with_its_watcher(tmp_path, sent):
    pids = tmp_path / "pid"
    with subprocess.Popen(script(SLEEPS.format(str(pids))), stdout=-1, text=True) as watcher:
        child = pid_in(pids)
        time.sleep(1)  # until the watcher listens
        watcher.send_signal(sent)
        said, _ = watcher.communicate(timeout=120)
        assert ("CAUSE was terminated" in said) == (sent == signal.SIGTERM)
        assert watcher.returncode != 0
        assert until(lambda: gone(child))


def test_without_descriptors_of_processes_it_looks_by_turns():
    """Older kernels, and some builds of Python, have no pidfd_open."""
    for body, cause in (("x = 1", "None"), ("os.abort()", "crashed: Aborted")):
        code = "import os; del os.pidfd_open\n" + SCRIPT.format(body=body)
        assert f"CAUSE {cause}" in ran(sys.executable, "-c", code).stdout
