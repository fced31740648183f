"""All audits of a file, each case in a process of its own, so that a crash ends no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from epsilometer.errors import ArgumentError, suggest
from epsilometer.processes import ONE_THREAD
from epsilometer_audit.child_process import cause_of_end, watched
from epsilometer_audit.drawing import Progress
from epsilometer_audit.formats import as_plain
from epsilometer_audit.grids.cases import Audits, Case
from epsilometer_audit.grids.verdicts import audited, without
from epsilometer_audit.verdict import Verdict, as_expected

# by the server of processes, once: what audits import late takes longer than many of them
_LOADED = ["epsilometer_audit.auditing", "epsilometer_audit.canaries.one_run", __name__]
_LOADED += ["numba", "scipy.special"]
MOST_JOBS = 256
_WORST_FIRST = (1, 4, 3, 0)
_PATIENCE = 5.0  # seconds for the end of a process that has answered


@dataclass(frozen=True)
class Audited:
    """A verdict of a file, on one claim about a case."""

    case: Case
    verdict: Verdict

    @property
    def unexpected(self) -> bool:
        """Whether another verdict is expected of its audit."""
        return as_expected(self.verdict.verdict, self.case.expected) == "no"

    @property
    def exit_code(self) -> int:
        """The verdict's own, but 0 if it was expected, and never 0 if another was."""
        expected = as_expected(self.verdict.verdict, self.case.expected) == "yes"
        return 0 if expected else self.verdict.exit_code or int(self.unexpected)


def exit_code(rows: Sequence[Audited]) -> int:
    """Return the exit code of several verdicts: 1 before 4 before 3."""
    return next(code for code in _WORST_FIRST if code in {row.exit_code for row in rows})


def named(file: Audits, only: str | None) -> dict[str, Case]:
    """Return the cases of a file by name; those that ``only`` names, if it is given."""
    under = "" if only is None else f"{only}/"
    cases = {name: case for name, case in file.cases.items() if f"{name}/".startswith(under)}
    if not cases:
        near = suggest(str(only), [*file.cases, *file.file.audits])
        raise ArgumentError("only", f"unknown case {only!r} in {file.path}{near}")
    return cases


def run(
    cases: Mapping[str, Case], folder: str, jobs: int, command: str, progress: Progress
) -> list[Audited]:
    """Return the verdicts on cases, ``jobs`` of them at a time.

    The answer does not depend on ``jobs``. A process that crashes is a failure of its case.
    ``command`` makes all of them; with the name of a case behind it, the case again.
    """
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(_LOADED)
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    verdicts: dict[str, list[Verdict]] = {}
    waiting, running = list(cases), dict[str, tuple[Connection, Connection, Any]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                (reader, writer), (words, last) = context.Pipe(False), context.Pipe(False)
                args = (writer, last, cases[name].spec, folder)
                process = context.Process(target=_work, args=args)
                process.start()
                writer.close()
                last.close()
                running[name] = reader, words, process
            wait([e for reader, _, process in running.values() for e in (reader, process.sentinel)])
            for name, (reader, words, process) in list(running.items()):
                # a line of progress, verdicts (none if it ended without), or None yet
                message: str | list[Verdict] | None = None if process.is_alive() else []
                try:
                    message = reader.recv() if reader.poll() else message
                except EOFError:
                    message = []
                if isinstance(message, str):
                    progress(len(verdicts) / len(cases), f"{name}: {message}")
                elif message is not None:
                    process.join(_PATIENCE)
                    process.kill()  # it may have closed the pipe and live on
                    process.join()
                    told = os.read(words.fileno(), 1 << 16) if words.poll() else b""
                    cause = cause_of_end(process.exitcode, told)
                    made = message or without(cases[name].spec, cause)
                    verdicts[name] = [replace(v, replay=f"{command} --only {name}") for v in made]
                    del running[name]
                    done = len(verdicts)
                    progress(done / len(cases), f"{done} of {len(cases)} cases")
    finally:
        for _, _, process in running.values():
            process.kill()
    return [Audited(case, verdict) for name, case in cases.items() for verdict in verdicts[name]]


def _work(writer: Connection, last: Connection, spec: Mapping[str, Any], folder: str) -> None:
    """Audit a case; what it prints goes to standard error, and its last words through ``last``."""
    watched(last.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    os.dup2(2, 1)
    verdicts = audited(spec, folder, writer.send)
    writer.send([replace(each, pair=as_plain(each.pair, finite=False)) for each in verdicts])
    writer.close()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a mechanism may have closed it
            stream.flush()
    os._exit(0)  # what a mechanism left behind may crash or wait
