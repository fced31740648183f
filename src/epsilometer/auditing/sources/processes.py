"""Running programs: requests go through pipes; a program is ended with all its processes."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from epsilometer.auditing.serving.errors import shortened
from epsilometer.auditing.sources.replies import Reply, shown
from epsilometer.errors import MechanismError, one_line

_CHUNK = 1 << 18
_GRACE = 0.5  # seconds to end after the end of its input
_LAST = 5  # lines of its stderr in an error


class EndedError(MechanismError):
    """A program that failed; ``reason`` leaves out its prints."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Process:
    """A running program with pipes to it, in a session of its own."""

    def __init__(self, argv: list[str], name: str, folder: Path, env: Mapping[str, str]) -> None:
        self._name = name
        self._tail = b""  # the end of its stderr
        self._answered = 0
        self._popen = subprocess.Popen(  # noqa: S603 - the user's command
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=dict(env),
            start_new_session=True,
        )
        for stream in _streams(self._popen):
            os.set_blocking(stream.fileno(), False)
        self._end = weakref.finalize(self, _end, self._popen, os.getpid())

    def exchange(
        self, request: bytes, reply: Reply, timeout: float, *, to_the_end: bool = False
    ) -> None:
        """Send a request and read until the reply is complete, or the program has ended.

        Raise `MechanismError` if it hangs, dies, or prints no reply; its last lines on stderr are
        notes of the error.
        """
        try:
            self._exchange(request, reply, timeout, to_the_end)
        except MechanismError as error:
            self._drain(self._popen.stderr)
            lines = self._lines()[-_LAST:]
            if len(lines) > 1 or not str(error).endswith(self._last_line()):
                for line in lines:
                    error.add_note(f"  {shortened(line, 120)}")
            raise

    def _exchange(self, request: bytes, reply: Reply, timeout: float, to_the_end: bool) -> None:
        deadline = time.monotonic() + timeout
        stdin, stdout, stderr = _streams(self._popen)
        if not to_the_end:
            self._refuse_leftovers(stdout)
        left = memoryview(request)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            if request:
                selector.register(stdin, selectors.EVENT_WRITE)
            else:
                stdin.close()
            while to_the_end or not reply.complete:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready or time.monotonic() > deadline:
                    problem = f"{reply.missing(timeout)}{self._last_line()}"
                    raise MechanismError(f"{self._name}: {problem}")
                files = {key.fileobj for key, _ in ready}
                if stdin in files:
                    left = left[self._write(stdin, left) :]
                    if not left:
                        selector.unregister(stdin)
                if stderr in files and not self._drain(stderr):
                    selector.unregister(stderr)
                if stdout in files:
                    chunk = os.read(stdout.fileno(), _CHUNK)
                    reply.feed(chunk)
                    if reply.problem:
                        raise MechanismError(f"{self._name}: {reply.problem}")
                    if not chunk and not to_the_end:
                        raise self._died(reply)
                    if not chunk:
                        return self._ended_well(reply, deadline, timeout)
        self._answered += 1
        return None

    def _refuse_leftovers(self, stdout: Any) -> None:
        with suppress(BlockingIOError):
            if chunk := os.read(stdout.fileno(), _CHUNK):
                line = shown(chunk.splitlines()[0])
                when = "after its last answer was complete" if self._answered else "unasked"
                raise MechanismError(f"{self._name}: printed {line} {when}")

    def _write(self, stdin: Any, left: memoryview) -> int:
        try:
            return os.write(stdin.fileno(), left[:_CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:  # it has ended, or will answer all the same
            return len(left)

    def _drain(self, stderr: Any) -> bool:
        """Read the available bytes; tell whether there may be more."""
        with suppress(BlockingIOError):
            chunk = os.read(stderr.fileno(), _CHUNK)
            self._tail = (self._tail + chunk)[-4096:]
            return bool(chunk)
        return True

    def _last_line(self) -> str:
        lines = self._lines()
        return f"; its last words: {shortened(one_line(lines[-1]), 120)}" if lines else ""

    def _lines(self) -> list[str]:
        text = self._tail.decode(errors="replace")
        return [line.rstrip() for line in text.split("\n") if line.strip()]

    def _wait(self, seconds: float) -> int | None:
        """Return the exit code once the program has ended; none if it does not."""
        if not _ends(self._popen, seconds):
            return None
        for _ in range(100):  # the rest in the pipe
            before = self._tail
            if not self._drain(self._popen.stderr) or self._tail == before:
                break
        _kill(self._popen)
        return self._popen.wait()

    def _died(self, reply: Reply) -> MechanismError:
        code = self._wait(0.5)
        reason = "closed its output" if code is None else _reason(code)
        after = reply.so_far()
        if code == 0 and self._answered and not reply.data:
            after += " (a worker answers until its input ends)"
        return EndedError(f"{self._name}: {reason} {after}{self._last_line()}", reason)

    def _ended_well(self, reply: Reply, deadline: float, timeout: float) -> None:
        code = self._wait(max(0.0, deadline - time.monotonic()))
        if code is None:
            problem = f"did not end within {timeout:g} s{self._last_line()}"
            raise MechanismError(f"{self._name}: {problem}")
        if code != 0:
            raise EndedError(f"{self._name}: {_reason(code)}{self._last_line()}", _reason(code))
        reply.end()
        problem = reply.problem
        if not reply.complete:
            problem = problem or f"ended {reply.so_far()}{self._last_line()}"
        if problem:
            raise MechanismError(f"{self._name}: {problem}")

    def close(self, grace: float = _GRACE) -> None:
        """Give it a moment to end; then kill it with all processes that it has started."""
        _close(self._popen)
        _ends(self._popen, grace)
        self._end()


def _streams(popen: subprocess.Popen[bytes]) -> list[Any]:
    return [popen.stdin, popen.stdout, popen.stderr]


def _ends(popen: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a program; return whether it has ended.

    It keeps its number, which is also that of its group.
    """
    until, pause = time.monotonic() + seconds, 1e-4
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while popen.returncode is None and os.waitid(os.P_PID, popen.pid, flags) is None:
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.01)
    return True


def _kill(popen: subprocess.Popen[bytes]) -> None:
    if popen.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)


def _end(popen: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a program and its children, in the process that started it only."""
    if os.getpid() == owner:
        _kill(popen)
        popen.wait()
        _close(popen)


def _close(popen: subprocess.Popen[bytes]) -> None:
    for stream in _streams(popen):
        with suppress(OSError):
            stream.close()


def _reason(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    named = -code in set(signal.Signals)
    return f"was ended by signal {signal.Signals(-code).name if named else -code}"
