"""``python -m tests.mutants.trying fast|slow FILE...``: tries faults that it reads, in a copy.

It collects tests once, and runs them once without a fault, to know which functions each calls. For
a fault, a fork of it gets the changed functions, and runs the tests that call one of them, the
fastest first, until one fails. A fault outside of functions, or in machine code, needs a new
interpreter. Tests that take long hold up all others: with "slow" it runs those with this mark, and
with "fast" those without. The longest, whole audits that say that something differs, it never runs.

It prints first a JSON object with the seconds of each test. A line of its input is an object with
`module`, a path, and `source`, its changed text. It prints a line for each: "passes", or "fails"
and the test that failed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TextIO

import pytest

_LONGEST = {"fast": 4.0, "slow": 40.0}  # seconds of the processor, with a note of each call
_MARKS = {"fast": "not slow", "slow": "slow"}
_FAILED = Path("failed").absolute()  # the file that names the first test that failed
_SLOWER = 6  # times the tests' time without a fault, after which a fault counts as noticed
_OWN_NAMES = 0x1  # the flag of a function's code; a module's and a class's have none
_CHOSEN = "not examples and not runs and not stored"
_ARGUMENTS = ["-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "-m"]

Function = tuple[str, int]
"""The qualified name of a function, and its first line."""


class OutsideFunctionsError(Exception):
    """A fault is in what runs on import."""


@dataclass
class Called:
    """Of a test: its seconds, those of the processor, and the functions that it calls, by file.

    They are those of the project, also where a fixture that several tests share calls them.
    """

    seconds: float = 0.0
    busy: float = 0.0
    functions: set[tuple[str, str, int]] = field(default_factory=set)

    def any_of(self, file: str, functions: dict[Function, CodeType]) -> bool:
        """Return whether it calls one of these functions of a file."""
        return any((file, *function) in self.functions for function in functions)


def changed_functions(old: CodeType, new: CodeType) -> dict[Function, CodeType]:
    """Return the new code of the functions of a module that differ; raise if other code does."""
    if old.co_code != new.co_code or _plain(old) != _plain(new):
        raise OutsideFunctionsError
    changed = dict[Function, CodeType]()
    for was, becomes in zip(_codes(old), _codes(new), strict=True):
        if not was.co_flags & _OWN_NAMES:
            changed |= changed_functions(was, becomes)
        elif was != becomes:
            if was.co_name.startswith("<") and was.co_name != "<lambda>":
                raise OutsideFunctionsError
            changed[was.co_qualname, was.co_firstlineno] = becomes
    return changed


def _codes(code: CodeType) -> list[CodeType]:
    return [value for value in code.co_consts if isinstance(value, CodeType)]


def _plain(code: CodeType) -> tuple[str, tuple[str, ...], int]:
    """Return what code names, and its constants as text, without other code."""
    values = [value for value in code.co_consts if not isinstance(value, CodeType)]
    return repr(values), code.co_names, len(_codes(code))


def put_in(file: str, functions: dict[Function, CodeType]) -> None:
    """Give functions of a file their new code."""
    for function in gc.get_objects():
        if not isinstance(function, FunctionType) or function.__code__.co_filename != file:
            continue
        code = functions.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None:
            function.__code__ = code


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """End a process at its first failure."""
    if report.failed:
        _FAILED.write_text(report.nodeid)
        os._exit(1)


class Trying:
    """A plugin of pytest: it runs the tests as faults ask for them."""

    def __init__(
        self, arguments: Sequence[str], longest: float, faults: TextIO, answers: TextIO
    ) -> None:
        self.arguments = arguments
        self.longest = longest
        self.faults = faults
        self.answers = answers
        self.called = dict[str, Called]()
        self._noted = set[tuple[str, str, int]]()
        self._of_fixtures = dict[tuple[str, str], set[tuple[str, str, int]]]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all faults."""
        file = Path(f"called-{os.getpid()}.json")
        _FAILED.unlink(missing_ok=True)
        if not self._passes(lambda: self._record(session.items, file), 3600):
            self._answer(passes=False)
            os._exit(1)
        for test, (seconds, busy, functions) in json.loads(file.read_text()).items():
            self.called[test] = Called(seconds, busy, {tuple(function) for function in functions})
        seconds_of = {test: called.seconds for test, called in self.called.items()}
        print(json.dumps(seconds_of), file=self.answers, flush=True)
        for line in self.faults:
            fault = json.loads(line)
            _FAILED.unlink(missing_ok=True)
            passes = self._try(session, Path(fault["module"]).absolute(), fault["source"])
            self._answer(passes)
        return True

    def _answer(self, passes: bool) -> None:
        answer = "passes"
        if not passes:  # or take too long, or cannot be collected: then none is named
            answer = f"fails {_FAILED.read_text() if _FAILED.exists() else ''}"
        print(answer, file=self.answers, flush=True)

    def _try(self, session: pytest.Session, file: Path, source: str) -> bool:
        """Return whether the tests pass with a file's changed text."""
        before = file.read_text(encoding="utf-8")
        stat = file.stat()
        try:
            old = compile(before, str(file), "exec", dont_inherit=True)
            functions = changed_functions(
                old, compile(source, str(file), "exec", dont_inherit=True)
            )
        except OutsideFunctionsError:
            functions = None
        lines = before.splitlines()
        if functions and any(lines[first - 1].startswith("@compiled") for _, first in functions):
            functions = None  # Numba compiles it in a new interpreter
        items = [item for item in session.items if self.called[item.nodeid].busy <= self.longest]
        if functions is None:
            run = functools.partial(self._start_again, items)
        else:
            items = self._tests_of(items, str(file), functions)
            run = functools.partial(self._run_with, items, str(file), functions)
        seconds = sum(self.called[item.nodeid].seconds for item in items)
        compiles = "numerics.compiled" in before
        try:
            if functions is None or not compiles:  # machine code on the disk is of this text
                file.write_text(source, encoding="utf-8")
            return self._passes(run, 30 + _SLOWER * seconds)
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def _tests_of(
        self, items: Sequence[pytest.Item], file: str, functions: dict[Function, CodeType]
    ) -> list[pytest.Item]:
        """Return the tests that call functions of a file, the fastest first."""
        chosen = [item for item in items if self.called[item.nodeid].any_of(file, functions)]
        return sorted(chosen, key=lambda item: self.called[item.nodeid].seconds)

    def _run_with(
        self, items: Sequence[pytest.Item], file: str, functions: dict[Function, CodeType]
    ) -> None:
        put_in(file, functions)
        self._run(items)

    def _run(self, items: Sequence[pytest.Item]) -> None:
        """Run some tests; none where no test calls a function, whose faults all survive."""
        for item, after in zip(items, _next(items), strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note apart what a fixture calls that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        of_test = self._noted
        self._noted = set()
        try:
            return (yield)
        finally:
            self._of_fixtures[fixturedef.baseid, fixturedef.argname] = self._noted
            self._noted = of_test

    def _called_by_fixtures(self, item: Any) -> set[tuple[str, str, int]]:
        """Return what the fixtures of a test call that it shares with others."""
        functions = set[tuple[str, str, int]]()
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for fixture in definitions:
                functions |= self._of_fixtures.get((fixture.baseid, fixture.argname), set())
        return functions

    def _record(self, items: Sequence[pytest.Item], file: Path) -> None:
        """Run all tests, and write for each how long it takes and what it calls."""
        source = str(Path("src").absolute())
        caches = [thing for thing in gc.get_objects() if _is_cache(thing)]
        recorded = dict[str, tuple[float, float, list[tuple[str, str, int]]]]()
        for item, after in zip(items, _next(items), strict=True):
            for cache in caches:
                cache.cache_clear()
            self._noted = set()
            began = time.monotonic()
            busy = time.process_time()
            with self._noting_calls_into(source):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            functions = sorted(self._noted | self._called_by_fixtures(item))
            seconds = time.monotonic() - began
            recorded[item.nodeid] = seconds, time.process_time() - busy, functions
        file.write_text(json.dumps(recorded))

    @contextlib.contextmanager
    def _noting_calls_into(self, source: str) -> Iterator[None]:
        """Note the functions of files in a folder that are called meanwhile."""

        def note(frame: FrameType, event: str, argument: Any) -> None:
            code = frame.f_code
            if code.co_filename.startswith(source):
                self._noted.add((code.co_filename, code.co_qualname, code.co_firstlineno))

        sys.settrace(note)
        threading.settrace(note)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]

    def _start_again(self, items: Sequence[pytest.Item]) -> None:
        """Become a new interpreter that runs these tests, where there are any."""
        if not items:
            return
        tests = [item.nodeid for item in items]
        command = [sys.executable, "-m", "pytest", "-p", __spec__.name, *self.arguments, *tests]
        os.execv(sys.executable, command)  # noqa: S606 (our own words)

    def _passes(self, run: Any, limit: float) -> bool:
        """Return whether a fork runs without a failure, within so many seconds."""
        process = os.fork()
        if process == 0:
            code = 1
            try:
                os.setsid()
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends where its parent does
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
                run()
                code = 0
            finally:
                os._exit(code)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                return status == 0
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return False


def _next(items: Sequence[pytest.Item]) -> list[pytest.Item | None]:
    """Return what follows on each."""
    return [*items[1:], None][: len(items)]


def _is_cache(thing: Any) -> bool:
    if type(thing).__name__ != "_lru_cache_wrapper":
        return False
    return str(getattr(thing, "__module__", "")).startswith("epsilometer")


def main() -> None:
    """Try what the input says."""
    faults = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # pytest prints beside the answers
    speed, *files = sys.argv[1:]
    arguments = [*_ARGUMENTS, f"{_CHOSEN} and {_MARKS[speed]}"]
    temporary = f"--basetemp={Path('tmp').absolute()}"
    trying = Trying(arguments, _LONGEST[speed], faults, answers)
    pytest.main([*arguments, temporary, *files], plugins=[trying, sys.modules[__name__]])


if __name__ == "__main__":
    main()
