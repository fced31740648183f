"""All audits of a file, each case in a process of its own, so that a crash ends no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from epsilometer.errors import ArgumentError, suggest
from epsilometer.processes import ONE_THREAD
from epsilometer_audit.ends import cause_of_end, watched
from epsilometer_audit.formats import as_plain
from epsilometer_audit.grids.cases import Audits, Case
from epsilometer_audit.grids.verdicts import FAILED, Row, audited, without
from epsilometer_audit.verdict import EXIT_CODES, Verdict, as_expected

_LOADED = ("epsilometer_audit.auditing", "epsilometer_audit.canaries.one_run", __name__)
CaseSpec = tuple[Case, Mapping[str, Any]]
MOST_JOBS = 256
_WORST_FIRST = (1, 4, 3, 0)
_PATIENCE = 5.0  # seconds for the end of a process that has answered


@dataclass(frozen=True)
class Audited:
    """A verdict of a file, on one claim about a case; ``word`` may be "failed" in its place."""

    case: Case
    verdict: Verdict
    word: str

    @property
    def unexpected(self) -> bool:
        """Whether another verdict is expected of its audit."""
        return as_expected(self.word, self.case.expected) == "no"

    @property
    def exit_code(self) -> int:
        """The verdict's own, but 0 if it was expected, and never 0 if another was."""
        if as_expected(self.word, self.case.expected) == "yes":
            return 0
        return EXIT_CODES[self.verdict.verdict] or int(self.unexpected)


def exit_code(rows: Sequence[Audited]) -> int:
    """Return the exit code of several verdicts: 1 before 4 before 3."""
    codes = {row.exit_code for row in rows}
    return next(code for code in _WORST_FIRST if code in codes)


def read(
    paths: Sequence[str], only: str | None, scale: str | None, seed: int
) -> Mapping[str, tuple[Audits, Mapping[str, CaseSpec]]]:
    """Return files of audits by path, and those of their cases that ``only`` names, with specs.

    Files without such a case are left out.
    """
    files, known = {}, list[str]()
    for path in paths:
        file = Audits(Path(path), scale or "")
        if scale is None and file.scales:
            names = ", ".join(file.scales)
            raise ArgumentError("scale", f"none is given, and {path} has samples for {names}")
        cases = {f"{c.entry}/{c.parameters}/{c.pairs}": c for c in file.all_cases()}
        known += [*cases, *file.cases]
        files[path] = (
            file,
            {
                name: (case, file.spec(case, file.name, seed))
                for name, case in cases.items()
                if only is None or f"{name}/".startswith(f"{only}/")
            },
        )
    chosen = {path: (file, cases) for path, (file, cases) in files.items() if cases}
    if not chosen:
        where = f"{' and '.join(paths)}{suggest(str(only), known)}"
        raise ArgumentError("only", f"unknown case {only!r} in {where}")
    return chosen


def run(
    cases: Mapping[str, CaseSpec],
    folder: str,
    jobs: int,
    command: str,
    progress: Callable[[float, str], None],
) -> list[Audited]:
    """Return the verdicts on cases, which have names and specs, ``jobs`` of them at a time.

    The answer does not depend on ``jobs``. A process that crashes is a failure of its case.
    ``command`` makes all of them; with the name of a case behind it, the case again.
    """
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(list(_LOADED))
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    rows: dict[str, list[Row]] = {}
    waiting, running = list(cases), dict[str, tuple[Connection, Connection, Any]]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                (reader, writer), (words, last) = context.Pipe(False), context.Pipe(False)
                args = (writer, last, cases[name][1], folder)
                process = context.Process(target=_work, args=args)
                process.start()
                writer.close()
                last.close()
                running[name] = reader, words, process
            wait([e for reader, _, process in running.values() for e in (reader, process.sentinel)])
            for name, (reader, words, process) in list(running.items()):
                message = _received(reader, process)
                if isinstance(message, str):
                    progress(len(rows) / len(cases), f"{name}: {message}")
                elif message is not None:
                    process.join(_PATIENCE)
                    process.kill()  # it may have closed the pipe and live on
                    process.join()
                    told = os.read(words.fileno(), 1 << 16) if words.poll() else b""
                    cause = cause_of_end(process.exitcode, told)
                    rows[name] = message or without(cases[name][1], cause, FAILED)
                    del running[name]
                    progress(len(rows) / len(cases), f"{len(rows)} of {len(cases)} cases")
    finally:
        for _, _, process in running.values():
            process.kill()
    return [
        Audited(case, replace(verdict, replay=f"{command} --only {name}"), word or verdict.verdict)
        for name, (case, _) in cases.items()
        for verdict, _, word in rows[name]
    ]


def _received(reader: Connection, process: Any) -> str | list[Row] | None:
    """Return a line of progress, the rows of a case (none if it ended without), or None yet."""
    try:
        alive = process.is_alive()
        if reader.poll():
            message: str | list[Row] = reader.recv()
            return message
        return None if alive else []
    except EOFError:
        return []


def _work(writer: Connection, last: Connection, spec: Mapping[str, Any], folder: str) -> None:
    """Audit a case; what it prints goes to standard error, and its last words through ``last``."""
    watched(last.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    os.dup2(2, 1)
    rows = audited(spec, folder, writer.send)
    writer.send([(replace(v, pair=as_plain(v.pair, finite=False)), c, w) for v, c, w in rows])
    writer.close()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a mechanism may have closed it
            stream.flush()
    os._exit(0)  # what a mechanism left behind may crash or wait
