"""Ends of foreign code: its limits of time, the child that runs it, and where it was."""

from __future__ import annotations

import ctypes
import faulthandler
import math
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epsilometer.processes import cause_of

_AGAIN = 1.0  # seconds until code that survived an interruption is interrupted again
_SOON = 1e-3  # seconds, as a timer of 0 would never end
_PATIENCE = 3.0  # seconds until code that cannot be interrupted is ended
_END_WITH_PARENT = 1  # for ``prctl``
_CODE = re.compile(rb"^exit code (\d+)$", re.MULTILINE)
_PLACE = re.compile(rb'File "(.+)", line (\d+)')

_last_words: int | None = None  # the file of what a process without an answer was doing


def cause_of_end(code: int, words: bytes) -> str:
    """Return why a process ended without an answer, also if `ends_after` ended it with words."""
    if place := _PLACE.search(words):
        where = f"{Path(place[1].decode()).name}:{int(place[2])}"
        return f"did not return in time, and could not be interrupted ({where})"
    return cause_of(code)


class OverdueError(KeyboardInterrupt):
    """An interruption of code that takes longer than a limit; handlers of failures let it pass."""


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """Raise `OverdueError` in the block, in the main thread, once it has taken so many seconds.

    Compiled code that does not return to Python is ended with its process, if that is `watched`.
    """
    if math.isinf(seconds) or threading.current_thread() is not threading.main_thread():
        yield
        return
    began, (outer, again) = time.monotonic(), signal.getitimer(signal.ITIMER_REAL)
    if 0 < outer <= seconds:  # which ends sooner
        yield
        return
    inside = True

    def interrupt(*_: object) -> None:
        if inside:
            raise OverdueError(seconds)

    before = signal.signal(signal.SIGALRM, interrupt)
    _start(max(seconds, _SOON), _AGAIN)
    try:
        try:
            yield
        finally:
            inside = False
    finally:
        _start(0.0, 0.0)
        signal.signal(signal.SIGALRM, before)
        if outer:
            _start(max(outer - (time.monotonic() - began), _SOON), again)


def _start(seconds: float, again: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds, again)
    if _last_words is not None:
        faulthandler.cancel_dump_traceback_later()
        if seconds:
            watched(_last_words, seconds + _PATIENCE)


def watched(file: int, seconds: float | None = None) -> None:
    """Let `ends_after` end this process and write to a file where it was, or end after seconds."""
    global _last_words  # noqa: PLW0603 - there is one timer in a process
    _last_words = file
    if seconds is not None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)


def answered(run: Callable[[], int]) -> int | str:
    """Return the exit code of a function, or in words why it did not return one.

    It runs in a child process, as what it calls may end its process, crash, or never return.
    An interruption is passed on, and the child ends with this process.
    """
    answers, answer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(answers)
        with suppress(AttributeError):  # where there is no Linux
            ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        return _child(run, answer)
    os.close(answer)

    def pass_on(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second one ends this process, and so the child
        os.kill(child, number)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, pass_on)
    _, status = os.waitpid(child, 0)
    os.set_blocking(answers, False)
    words = b""
    with suppress(BlockingIOError):  # a process of the child is left
        words = os.read(answers, select.PIPE_BUF)
    if codes := _CODE.findall(words):
        return int(codes[-1])
    code = os.waitstatus_to_exitcode(status)
    return f"the audit ended before its verdict: the mechanism {cause_of_end(code, words)}"


def _child(run: Callable[[], int], answer: int) -> int:
    """Run the function in the child, and write its exit code."""

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both processes
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    watched(answer)
    own = os.getpid()
    code = run()
    if os.getpid() != own:  # a mechanism has copied this process
        os._exit(code)
    os.write(answer, b"\nexit code %d\n" % code)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a mechanism may have closed it
            stream.flush()
    watched(answer, _PATIENCE)  # threads that a mechanism left may never end
    return code
