"""The command line: ``epsilometer audit``, ``audits`` and ``samples-needed`` (docs/audit.md)."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from epsilometer.errors import ArgumentError, EpsilometerError, MechanismError, one_line, suggest
from epsilometer_audit.child_process import answered
from epsilometer_audit.cli import arguments

WRONG_USE, FAILED, INTERNAL_ERROR, INTERRUPTED = 2, 4, 70, 130

_SEED = 2022  # of the workflow's config/config.yaml: both give the same verdicts


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """Show progress on a terminal, in one line that changes."""
    shown, reports = sys.stderr.isatty() and not quiet, list[tuple[float, float]]()

    def show(part: float, line: str) -> None:
        if shown:
            reports[1:] = [(part, time.monotonic())]
            text = _printable(f"{part:4.0%}{_left(*reports[0], *reports[-1])}: {line}")
            text = text[: shutil.get_terminal_size().columns - 1]
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _left(first: float, since: float, part: float, now: float) -> str:
    """Return the time that is left, by the speed since the first report: loops are compiled."""
    seconds = (now - since) * (1 - part) / (part - first) if part > first else math.inf
    return f", {seconds:.0f} s left" if seconds < math.inf else ""


def _audit(argv: Sequence[str]) -> int:
    options, rest = arguments.parsed("audit", argv, 1)
    options |= {"source": rest[0]} if rest else {}
    arguments.check_options(options, of_audit=True)
    claim = arguments.stated(options)
    from epsilometer_audit.grids.verdicts import auditor, without

    curves = [options["profile"][-1]] if "profile" in options else []
    read = [*curves, *options.get("outputs", ()), *arguments.chosen(options, "one_run").values()]
    read.append(options.get("source", "").rpartition(":")[0])
    asked = options.get("json")
    path = None if asked in (None, "-") else _writable(asked, read)
    spec, failure = arguments.spec_of(options), None
    try:
        with _progress("quiet" in options) as progress, auditor(spec, progress) as audit:
            verdict = audit(claim, **arguments.chosen(options, "detect", "event"))
    except MechanismError as error:
        failure = error
        (verdict,) = without(spec, str(error), "invalid")
        verdict = replace(verdict, source=options.get("source") or options["command"])
    if curves and failure is None:
        from epsilometer_audit.serving.digests import sha256

        verdict.provenance["made of"].update({name: sha256(Path(name)) for name in curves})
    verdict = replace(verdict, replay=shlex.join(["epsilometer", "audit", *argv]))
    if asked == "-":
        _print(verdict.to_json(ascii_only=True))
    elif failure is None:
        _print("\n".join(map(_printable, verdict.lines())))
    if path is not None:
        _write(path, verdict.to_json() + "\n")
    if failure is not None:
        raise failure
    return verdict.exit_code


def _audits(argv: Sequence[str]) -> int:
    options, paths = arguments.parsed("audits", argv, 1)
    if not paths:
        raise ArgumentError("FILE", "none is given; write a file of audits, in YAML")
    try:
        from epsilometer_audit.grids import running, summary
        from epsilometer_audit.grids.cases import Audits
    except ImportError as error:
        message = "pip install pydantic pyyaml, the extra 'audits' of this package"
        raise ArgumentError("audits", f"needs {error.name}: {message}") from None
    from epsilometer import checks

    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    jobs = options.get("jobs", min(cores, running.MOST_JOBS))
    checks.integer("jobs", jobs, maximum=running.MOST_JOBS)
    file = Audits(Path(paths[0]), options.get("scale"), options.get("seed", _SEED))
    sizes = [file.file.samples, *(entry.samples for entry in file.file.audits.values())]
    known = {name for size in sizes if isinstance(size, dict) for name in size}
    if (scale := options.get("scale", "")) not in {"", *known}:
        raise ArgumentError("scale", f"{scale!r} is not in {paths[0]}{suggest(scale, known)}")
    cases = running.named(file, options.get("only"))
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # so the cases end, too
    given = arguments.chosen(options, "scale", "seed").items()
    again = [word for name, value in given for word in (f"--{name}", str(value))]
    command = shlex.join(["epsilometer", "audits", *paths, *again])
    with _progress("quiet" in options) as progress:
        rows = running.run(cases, str(file.folder), jobs, command, progress)
    shown = summary.text_of(paths[0], rows, file.file.alpha)
    _print("\n".join(map(_printable, shown.splitlines())))
    return running.exit_code(rows)


def _needed(argv: Sequence[str]) -> int:
    options, _ = arguments.parsed("samples-needed", argv)
    arguments.check_options(options, of_audit=False)
    claim = arguments.stated(options)
    if "detect" not in options:
        raise ArgumentError("detect", "none is given; write --detect LEVEL, above the claim")
    from epsilometer_audit.statistics.power import POWER, samples_needed

    settings = arguments.chosen(options, "detect", "power", "alpha", "pairs", "event")
    draws = samples_needed(claim, **settings)
    event = settings.get("event")
    shown = "additive noise" if event is None else f"an event of probability {event:g}"
    found = f"{draws} draws of each side find {options['detect']:g}, where {claim.text()} is"
    _print(f"{found} claimed, with probability {settings.get('power', POWER):g}, for {shown}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; see docs/audit.md.

    Without arguments they are those of the process, and an audit runs in a child process: whatever
    a mechanism does to it, the exit code is that of a verdict, or says that there is none.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None and words[:1] == ["audit"]:
        code = answered(lambda: _exit_code(words))
        return code if isinstance(code, int) else _print_error(code, FAILED)
    return _exit_code(words)


def _exit_code(words: Sequence[str]) -> int:
    """Run a command; return its exit code, also of its errors."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        return _command(words)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        text, code = _problem(error, of_audit=words[:1] == ["audit"])
        if code == INTERNAL_ERROR:
            traceback.print_exc()
        one = code != WRONG_USE or isinstance(error, ArgumentError)
        return max(_print_error(line, code) for line in ([text] if one else text.split("\n")))


def _problem(error: BaseException, of_audit: bool) -> tuple[str, int]:
    """Return a line about an error, and its exit code."""
    if isinstance(error, ArgumentError):
        message = str(error).removeprefix(f"{error.argument} ")
        if part := re.fullmatch(r"domain\b[. ]*(.+)", error.argument):
            return f"--domain: {part[1]} {message}", WRONG_USE
        return f"{arguments.spelled(error.argument, of_audit)}: {message}", WRONG_USE
    deep = "an input, an output or an option is nested too deeply"
    small = "the memory is not enough; fewer draws, or smaller outputs, need less"
    for kind, text, code in (
        (KeyboardInterrupt, "interrupted", INTERRUPTED),
        (MechanismError, str(error), FAILED),
        (EpsilometerError | ImportError, str(error), WRONG_USE),
        (RecursionError, deep, FAILED),
        (MemoryError, small, FAILED),
    ):
        if isinstance(error, kind):
            return text, code
    return f"internal error, please report it: {type(error).__name__}", INTERNAL_ERROR


def _command(argv: Sequence[str]) -> int:
    name = argv[0] if argv else ""
    if name in _COMMANDS:
        if not {"-h", "--help"} & {*argv}:
            return _COMMANDS[name](argv[1:])
        _print(arguments.help_of(name))
        return 0
    if name == "--version":
        from epsilometer import __version__

        _print(f"epsilometer {__version__}")
        return 0
    if not argv or name in ("-h", "--help"):
        _print(arguments.help_of("epsilometer"))
        return 0 if argv else WRONG_USE
    raise ArgumentError(repr(name), f"is not a command{suggest(name, _COMMANDS)}")


def _print(text: str) -> None:
    """Write to stdout, whose reader may have ended."""
    try:
        print(text, flush=True)
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):  # no second error at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise ArgumentError("stdout", f"cannot be written: {error.strerror}") from None


def _print_error(message: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(_printable(f"epsilometer: {one_line(message)}"), file=sys.stderr, flush=True)
    return code


def _writable(name: str, read: Sequence[str]) -> Path:
    """Return the file for the JSON, with links followed; it is none of those that are ``read``."""
    path = Path(name)
    with _written(name):
        if path.is_dir():
            raise ArgumentError("json", f"{name!r} is a folder; name a file in it")
        if path.is_file() and any(Path(f).exists() and path.samefile(f) for f in read):
            raise ArgumentError("json", f"{name!r} is an audited file; name another file")
        if path.is_file() or not path.exists():  # else a device or pipe, written as it is
            path = path.resolve()
            _part(path).touch()
            _part(path).unlink()
    return path


def _write(path: Path, text: str) -> None:
    """Write a text in one step; raise `ArgumentError` if that is impossible."""
    data = text.encode("utf-8", "backslashreplace")
    with _written(path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        try:
            _part(path).write_bytes(data)
            _part(path).replace(path)
        finally:
            _part(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f".epsilometer-{os.getpid()}.part")


@contextlib.contextmanager
def _written(path: object) -> Iterator[None]:
    """Name the option in an error of a file, such as a name that is too long."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # links in a circle
        reason = getattr(error, "strerror", None) or one_line(error)
        raise ArgumentError("json", f"{str(path)[:200]!r} cannot be written: {reason}") from None


def _printable(text: str) -> str:
    """Return a text without control characters, which inputs and outputs may hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_COMMANDS = {"audit": _audit, "audits": _audits, "samples-needed": _needed}
