"""A watched job: it runs in a child process, and every kind of end is reported.

A mechanism under audit is foreign code. It may crash the interpreter, never return, use all memory
or print without end; and the Snakemake above it may be killed. So the parent process stays small
and safe: it waits for the child, enforces its limits, keeps its printed text, stops it when its run
has ended, and reports the cause if the child cannot.
"""

from __future__ import annotations

import ctypes
import faulthandler
import math
import os
import re
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from epsilometer.processes import cause_of
from epsilometer_workflow.runtime.variables import RUN

_DONE, _REPORTED = (100, 101)  # exit codes of a child's own; a mechanism may exit with 0
_PRINTED_BYTES = 1_000_000
_SECONDS_BETWEEN_LOOKS = 0.1
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_INTERRUPTED, _TERMINATED = "was interrupted", "was terminated"
_GONE = "the run that asked for it is gone"
OUTSIDE = (_INTERRUPTED, _TERMINATED, _GONE)
"""Causes outside the child."""


@dataclass(frozen=True)
class Limits:
    """The limits of a job; None means no limit."""

    minutes: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class Usage:
    """The usage of a job: seconds of wall clock and of CPU, and its largest memory in megabytes."""

    seconds: float
    cpu_seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.cpu_seconds:.2f} s of CPU, {self.megabytes:.0f} MB"


class _Stopped(Exception):  # noqa: N818
    """The child had to be stopped; the message is the cause."""


def watched(
    limits: Limits,
    keep: Callable[[str], None],
    ended: Callable[[Usage, str | None], bool],
    client: int | None = None,
) -> int:
    """Fork. Return only in the child, with a descriptor of what was standard error before.

    The child must end by `done` or `failed`: any other end is a crash. This process then ends with
    exit code 0 or 1.

    Parameters
    ----------
    limits
        The limits at which the child is stopped.
    keep
        Called in this process with the text that the child prints, up to a megabyte: whole lines,
        and the beginning of a line where the child pauses in it.
    ended
        Called in this process when the child has ended, with its usage and the cause of a failure:
        ``None`` without one, or if the child reported it. Returns whether the job counts as done.
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
        _wait(child, reader, limits, lines, client)
    except _Stopped as stopped:
        cause = str(stopped)
    except KeyboardInterrupt:
        cause = _INTERRUPTED
    lines.flush()
    for further in (signal.SIGINT, signal.SIGTERM):
        signal.signal(further, signal.SIG_IGN)
    code, usage = _end(child, began)
    well = ended(usage, cause or _cause(code))
    raise SystemExit(0 if well or (cause is None and code == _DONE) else 1)


class _Lines:
    """The text that a child prints, in whole lines: the text of a crash comes in pieces."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        self._keep, self._rest = keep, b""

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


def _wait(child: int, reader: int, limits: Limits, lines: _Lines, client: int | None) -> None:
    """Return when the child has ended; raise `_Stopped` when it has to be."""
    deadline = math.inf if limits.minutes is None else time.monotonic() + 60 * limits.minutes
    printed = 0
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    if client is not None:
        poll.register(client, select.POLLIN)
    ended, run_is_gone = _end_test(child, poll, own=True), _run_end_test(poll)
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
            if ended(ready):
                return
        if client in ready:
            raise _Stopped(_INTERRUPTED)
        if run_is_gone(ready):
            raise _Stopped(_GONE)
        if printed > _PRINTED_BYTES:
            raise _Stopped(f"printed more than {_PRINTED_BYTES / 1e6:g} MB")
        if time.monotonic() > deadline:
            raise _Stopped(f"took longer than its limit of {limits.minutes:g} minutes")
        if limits.megabytes is not None and _megabytes(child) > limits.megabytes:
            raise _Stopped(f"took more memory than its limit of {limits.megabytes:g} MB")


def _run_end_test(poll: select.poll) -> Callable[[set[int]], bool]:
    """Return a test of whether the Snakemake that started this job has ended."""
    process = os.environ.get(RUN, "")
    if not process.isdigit():
        return lambda _: False
    return _end_test(int(process), poll, own=False)


def _end_test(process: int, poll: select.poll, *, own: bool) -> Callable[[set[int]], bool]:
    """Return a test, on the descriptors that are ready, of whether a process has ended.

    The kernel signals it by a descriptor; on old kernels and Pythons, the process is polled.
    """
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return lambda _: True
    except (AttributeError, OSError):
        if own:
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return lambda _: os.waitid(os.P_PID, process, options) is not None
        return lambda _: not Path(f"/proc/{process}").exists()
    poll.register(descriptor, select.POLLIN)
    return lambda ready: descriptor in ready


def _terminated(*_: object) -> None:
    raise _Stopped(_TERMINATED)


def _megabytes(process: int) -> float:
    """Return the private memory of a process: mapped files do not count."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0  # the process is ending
    match = re.search(r"^RssAnon:\s+(\d+) kB", status, flags=re.MULTILINE)
    return int(match[1]) * 1024 / 1e6 if match else 0.0


def _end(child: int, began: float) -> tuple[int, Usage]:
    """Stop all processes of a child, and return its exit code and usage."""
    for stop in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            stop(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    _end_orphans()
    usage = Usage(
        seconds=time.monotonic() - began,
        cpu_seconds=used.ru_utime + used.ru_stime,
        megabytes=used.ru_maxrss * 1024 / 1e6,
    )
    return os.waitstatus_to_exitcode(status), usage


def _end_orphans() -> None:
    """Stop the processes of a child in sessions of their own, such as the workers of an audit."""
    pid = os.getpid()
    for _ in range(100):  # children of a killed orphan become orphans
        try:
            orphans = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        except OSError:  # some kernels do not have this file
            return
        if not orphans:
            return
        for orphan in map(int, orphans):
            with suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)


def _cause(code: int) -> str | None:
    """Return why a child ended that was not stopped; None if it reported that itself."""
    return None if code in (_DONE, _REPORTED) else cause_of(code)
