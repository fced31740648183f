"""All audits of a file, each case in a process of its own, so that a crash ends no other."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from epsilometer.errors import ArgumentError, EpsilometerError, one_line, suggest
from epsilometer.processes import ONE_THREAD
from epsilometer_audit import auditing
from epsilometer_audit.answer.conclusion import without
from epsilometer_audit.answer.verdict import Verdict, as_expected
from epsilometer_audit.cli.cases import AuditsFile, Case
from epsilometer_audit.drawing import Progress
from epsilometer_audit.outputs.child_process import cause_of_end, watched
from epsilometer_audit.outputs.formats import as_plain
from epsilometer_audit.question.request import Request

# by the server of processes, once: what audits import late takes longer than many of them
_LOADED = [__name__, "numba", "scipy.special"]
MOST_JOBS = 256
_WORST_FIRST = (1, 4, 3, 0)
_PATIENCE = 5.0  # seconds for the end of a process that has answered
_log = logging.getLogger("epsilometer")


@dataclass(frozen=True)
class Audited:
    """A case of a file, and its verdict."""

    case: Case
    verdict: Verdict

    @property
    def unexpected(self) -> bool:
        """Whether another verdict is expected of its audit."""
        return as_expected(self.verdict.verdict, self.case.entry.expected) == "no"

    @property
    def exit_code(self) -> int:
        """The verdict's own, but 0 if it was expected, and never 0 if another was."""
        expected = as_expected(self.verdict.verdict, self.case.entry.expected) == "yes"
        return 0 if expected else self.verdict.exit_code or int(self.unexpected)


def exit_code(rows: Sequence[Audited]) -> int:
    """Return the exit code of several verdicts: 1 before 4 before 3."""
    codes = {row.exit_code for row in rows}
    return next(code for code in _WORST_FIRST if code in codes)


def named(file: AuditsFile, only: str | None) -> dict[str, Case]:
    """Return the cases of a file by name; the one that ``only`` names, if it is given."""
    if only is None:
        return file.cases
    if only not in file.cases:
        nearest = suggest(only, file.cases)
        raise ArgumentError("only", f"unknown audit {only!r} in {file.path}{nearest}")
    return {only: file.cases[only]}


def audited(request: Request, folder: str, progress: Callable[[str], None]) -> Verdict:
    """Return the verdict on a request, or on a failure of its mechanism in its place."""
    try:
        with chdir(folder):
            return auditing.run(request, lambda _, line: progress(line))
    except EpsilometerError as error:
        return without(request, one_line(error))
    except Exception as error:
        _log.error("failed", exc_info=error)
        reason = f"{type(error).__name__}: {one_line(error)} (see the traceback)"
        return without(request, reason)


@dataclass(frozen=True)
class _Running:
    """The process of a case, with the pipe of its messages and that of its last words."""

    reader: Connection
    words: Connection
    process: Any

    def news(self) -> tuple[bool, str | Verdict | None]:
        """Return whether it has ended, and a line of progress, or a verdict, if there is one."""
        ended = not self.process.is_alive()
        try:
            return ended, self.reader.recv() if self.reader.poll() else None
        except EOFError:
            return True, None

    def end(self) -> str:
        """Wait for its end, and return the cause if it gave no verdict."""
        self.process.join(_PATIENCE)
        self.process.kill()  # it may have closed the pipe and live on
        self.process.join()
        words = b""
        if self.words.poll():
            words = os.read(self.words.fileno(), 1 << 16)
        return cause_of_end(self.process.exitcode, words)


def run(
    cases: Mapping[str, Case], folder: str, jobs: int, command: str, progress: Progress
) -> list[Audited]:
    """Return the verdicts on cases, ``jobs`` of them at a time.

    The answer does not depend on ``jobs``. A process that crashes is a failure of its case.
    ``command`` makes all of them; with the name of a case behind it, the case again.
    """
    methods = multiprocessing.get_all_start_methods()
    method = "forkserver" if "forkserver" in methods else "spawn"
    context: Any = multiprocessing.get_context(method)
    context.set_forkserver_preload(_LOADED)
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    verdicts: dict[str, Verdict] = {}
    waiting = list(cases)
    running: dict[str, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                (reader, writer), (words, last) = context.Pipe(False), context.Pipe(False)
                args = (writer, last, cases[name], folder)
                process = context.Process(target=_work, args=args)
                process.start()
                writer.close()
                last.close()
                running[name] = _Running(reader, words, process)
            news: list[Any] = []
            for case in running.values():
                news += [case.reader, case.process.sentinel]
            wait(news)
            for name, case in list(running.items()):
                ended, message = case.news()
                if isinstance(message, str):
                    progress(len(verdicts) / len(cases), f"{name}: {message}")
                elif ended or message is not None:
                    cause = case.end()
                    verdict = message or without(cases[name].request(), cause)
                    verdicts[name] = replace(verdict, replay=f"{command} --only {name}")
                    del running[name]
                    done = len(verdicts)
                    progress(done / len(cases), f"{done} of {len(cases)} audits")
    finally:
        for case in running.values():
            case.process.kill()
    return [Audited(case, verdicts[name]) for name, case in cases.items()]


def _work(writer: Connection, last: Connection, case: Case, folder: str) -> None:
    """Audit a case; what it prints goes to standard error, and its last words through ``last``."""
    watched(last.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    os.dup2(2, 1)
    verdict = audited(case.request(), folder, writer.send)
    writer.send(replace(verdict, pair=as_plain(verdict.pair, finite=False)))
    writer.close()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a mechanism may have closed it
            stream.flush()
    os._exit(0)  # what a mechanism left behind may crash or wait


def text_of(name: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a line for each verdict that passed, all lines of the others, and the counts."""
    lines = []
    for row in rows:
        first, *others = row.verdict.lines()
        line = f"{row.case.name}: {first}"
        if row.unexpected:
            line += f" ({row.case.entry.expected} was expected)"
        lines.append(line)
        if row.exit_code:
            lines += others
    words = Counter(row.verdict.verdict for row in rows)
    counts = ", ".join(f"{count} {word}" for word, count in words.items())
    unexpected = sum(row.unexpected for row in rows)
    if unexpected:
        counts += f" ({unexpected} not as expected)"
    return "\n".join([*lines, f"{name}: {counts}; alpha = {alpha:g} for all together"])
