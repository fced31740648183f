"""A watched job: it runs in a child process, and every kind of end is reported.

A mechanism under audit is foreign code. It may crash the interpreter, use all memory or print
without end; and the Snakemake above it may be killed. So the parent process stays small and safe:
it waits for the child, keeps its printed text, stops it when its run has ended, and reports the
cause if the child cannot. This costs 32 ms of CPU a job. It has no limit of time: a machine may be
slow, and a cluster has its own. It has none of memory: measured in 2 GB, the system kills the same
job a second later, with the memory of its workers counted, and a job that a limit would have ended
for no reason succeeds.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from epsilometer.processes import cause_of, end_orphans, has_ended
from epsilometer_workflow.runtime.variables import RUN

_DONE = 100  # exit codes of a child's own
_REPORTED = 101  # a mechanism may exit with 0
_PRINTED_BYTES = 1_000_000
_SECONDS_BETWEEN_LOOKS = 0.1
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_INTERRUPTED = "was interrupted"
_TERMINATED = "was terminated"
_GONE = "the run that asked for it is gone"
OUTSIDE = (_INTERRUPTED, _TERMINATED, _GONE)
"""Causes outside the child."""


class _Stopped(Exception):  # noqa: N818
    """The child had to be stopped; the message is the cause."""


def watched(
    keep: Callable[[str], None],
    ended: Callable[[str, str | None], bool],
    client: int | None = None,
) -> int:
    """Fork. Return only in the child, with a descriptor of what was standard error before.

    The child must end by `done` or `failed`: any other end is a crash. This process then ends with
    exit code 0 or 1.

    Parameters
    ----------
    keep
        Called in this process with the text that the child prints, up to a megabyte: whole lines,
        and the beginning of a line where the child pauses in it.
    ended
        Called in this process when the child has ended, with its usage in words, and the cause of
        a failure: ``None`` without one, or if the child reported it. Returns whether the job counts
        as done.
    client
        A descriptor that becomes readable when the job is no longer wanted.
    """
    reader, writer = os.pipe()
    watcher = os.getpid()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # adopts orphans of the child; see `_end`
    child = os.fork()
    if child == 0:
        return _become_child(watcher, reader, writer, client)
    os.close(writer)
    began = time.monotonic()
    cause = None
    lines = _Lines(keep)
    try:
        signal.signal(signal.SIGTERM, _terminated)
        _wait(child, reader, lines, client)
    except _Stopped as stopped:
        cause = str(stopped)
    except KeyboardInterrupt:
        cause = _INTERRUPTED
    lines.flush()
    for further in (signal.SIGINT, signal.SIGTERM):
        signal.signal(further, signal.SIG_IGN)
    code, usage = _end(child, began)
    reported = code in (_DONE, _REPORTED)  # by the child itself
    well = ended(usage, cause or (None if reported else cause_of(code)))
    raise SystemExit(0 if well or (cause is None and code == _DONE) else 1)


class _Lines:
    """The text that a child prints, in whole lines: the text of a crash comes in pieces."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        self._keep = keep
        self._rest = b""

    def add(self, printed: bytes) -> None:
        """Pass the lines on that are whole."""
        lines, end, self._rest = (self._rest + printed).rpartition(b"\n")
        self._pass_on(lines + end)

    def flush(self) -> None:
        """Pass on the beginning of a line."""
        self._pass_on(self._rest)
        self._rest = b""

    def _pass_on(self, printed: bytes) -> None:
        if printed:
            self._keep(printed.decode(errors="backslashreplace"))


def done() -> NoReturn:
    """End a watched child that has done its job."""
    raise SystemExit(_DONE)


def failed() -> NoReturn:
    """End a watched child that has reported its failure."""
    raise SystemExit(_REPORTED)


def _become_child(watcher: int, reader: int, writer: int, client: int | None) -> int:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # it is killed with the watcher
    if os.getppid() != watcher:
        os._exit(_REPORTED)
    os.setpgid(0, 0)  # so that it can be stopped with all its processes
    with suppress(OSError):  # where memory runs out, the system ends a job, not the user's browser
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    terminal = os.dup(2)
    os.close(reader)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, standard in ((nothing, 0), (writer, 1), (writer, 2)):
        os.dup2(descriptor, standard)
    if client is not None:  # only the watcher reports to the client
        os.dup2(nothing, client)
    for descriptor in (nothing, writer):
        os.close(descriptor)
    faulthandler.enable()  # after a crash, the log has the lines of Python
    return terminal


def _wait(child: int, reader: int, lines: _Lines, client: int | None) -> None:
    """Return when the child has ended; raise `_Stopped` when it has to be."""
    run = os.environ.get(RUN, "")
    printed = 0
    poll = select.poll()
    with suppress(AttributeError, OSError):  # old kernels and Pythons: the end is seen by turns
        poll.register(os.pidfd_open(child), select.POLLIN)
    for descriptor in (reader, client):
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(1000 * _SECONDS_BETWEEN_LOOKS)}
        if reader in ready:
            text = os.read(reader, 65536)
            printed += len(text)
            lines.add(text)
            if not text:
                poll.unregister(reader)
        else:
            lines.flush()
            if has_ended(child):
                return
        if client in ready:
            raise _Stopped(_INTERRUPTED)
        if run.isdigit() and has_ended(int(run)):
            raise _Stopped(_GONE)
        if printed > _PRINTED_BYTES:
            raise _Stopped(f"printed more than {_PRINTED_BYTES / 1e6:g} MB")


def _terminated(*_: object) -> None:
    raise _Stopped(_TERMINATED)


def _end(child: int, began: float) -> tuple[int, str]:
    """Stop all processes of a child, and return its exit code and what it used."""
    for stop in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            stop(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    end_orphans()
    seconds = time.monotonic() - began
    cpu_seconds = used.ru_utime + used.ru_stime
    usage = f"{seconds:.1f} s, {cpu_seconds:.2f} s of CPU, {used.ru_maxrss * 1024 / 1e6:.0f} MB"
    return os.waitstatus_to_exitcode(status), usage
