"""The command line: ``epsilometer audit``, ``audits`` and ``samples-needed`` (docs/audit.md)."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from epsilometer.errors import ArgumentError, EpsilometerError, MechanismError, one_line, suggest
from epsilometer_audit.outputs.child_process import answered

WRONG_USE = 2
FAILED = 4
INTERNAL_ERROR = 70
INTERRUPTED = 130

_SEED = 2022  # of the workflow's config/config.yaml: both give the same verdicts


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """Show progress on a terminal, in one line that changes."""
    shown = sys.stderr.isatty() and not quiet
    reports: list[tuple[float, float]] = []

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
    if part <= first:
        return ""
    seconds = (now - since) * (1 - part) / (part - first)
    return f", {seconds:.0f} s left"


def _audit(options: dict[str, Any]) -> int:
    from epsilometer_audit.answer.conclusion import without
    from epsilometer_audit.auditing import run
    from epsilometer_audit.cli import parser

    request = parser.request_of(options)
    curve = parser.curve_of(options)
    output = options.get("json")
    read = [*request.mechanism.files, (request.mechanism.function or "").rpartition(":")[0]]
    if curve:
        read.append(curve.file)
    path = None
    if output not in (None, "-"):
        path = _writable(output, read)
    failure = None
    try:
        with _progress("quiet" in options) as progress:
            verdict = run(request, progress)
    except MechanismError as error:
        failure = error
        source = options.get("function") or options["command"]
        verdict = replace(without(request, str(error), "invalid"), source=source)
    if curve and failure is None:
        from epsilometer_audit.serving.digests import sha256

        verdict.provenance["made of"][curve.file] = sha256(Path(curve.file))
    verdict = replace(verdict, replay=options["replay"])
    if output == "-":
        _print(verdict.to_json(ascii_only=True))
    elif failure is None:
        _print("\n".join(map(_printable, verdict.lines())))
    if path is not None:
        _write(path, verdict.to_json() + "\n")
    if failure is not None:
        raise failure
    return verdict.exit_code


def _audits(options: dict[str, Any]) -> int:
    if "file" not in options:
        raise ArgumentError("FILE", "none is given; write a file of audits, in YAML")
    try:
        from epsilometer_audit.cli import running
        from epsilometer_audit.cli.cases import AuditsFile
    except ImportError as error:
        message = "pip install pydantic pyyaml, the extra 'audits' of this package"
        raise ArgumentError("audits", f"needs {error.name}: {message}") from None
    from epsilometer import checks

    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    jobs = options.get("jobs", min(cores, running.MOST_JOBS))
    checks.integer("jobs", jobs, maximum=running.MOST_JOBS)
    file = AuditsFile(Path(options["file"]), options.get("seed", _SEED))
    cases = running.named(file, options.get("only"))
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # so the cases end, too
    command = ["epsilometer", "audits", options["file"]]
    if "seed" in options:
        command += ["--seed", str(options["seed"])]
    with _progress("quiet" in options) as progress:
        rows = running.run(cases, str(file.folder), jobs, shlex.join(command), progress)
    shown = running.text_of(options["file"], rows, file.alpha)
    _print("\n".join(map(_printable, shown.splitlines())))
    return running.exit_code(rows)


def _needed(options: dict[str, Any]) -> int:
    from epsilometer_audit.cli import parser

    claim = parser.claim_of(options)
    if "detect" not in options:
        raise ArgumentError("detect", "none is given; write --detect LEVEL, above the claim")
    from epsilometer_audit.statistics.power import POWER, samples_needed

    names = ("detect", "power", "alpha", "pairs", "event")
    settings = {name: options[name] for name in names if name in options}
    draws = samples_needed(claim, **settings)
    event = settings.get("event")
    shown_by = "additive noise"
    if event is not None:
        shown_by = f"an event of probability {event:g}"
    text = f"{draws} draws of each side find {options['detect']:g}, where {claim.text()} is"
    _print(f"{text} claimed, with probability {settings.get('power', POWER):g}, for {shown_by}")
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
        command = words[0] if words and words[0] in _COMMANDS else ""
        text, code = _problem(error, command)
        if code == INTERNAL_ERROR:
            traceback.print_exc()
        lines = [text]
        if code == WRONG_USE and not isinstance(error, ArgumentError):  # a line for each mistake
            lines = text.split("\n")
        for line in lines:
            _print_error(line, code)
        return code


def _problem(error: BaseException, command: str) -> tuple[str, int]:
    """Return a line about an error, and its exit code."""
    if isinstance(error, ArgumentError):
        from epsilometer_audit.cli import parser

        return parser.line_of(error, command), WRONG_USE
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


def _command(words: Sequence[str]) -> int:
    from epsilometer_audit.cli import parser

    name = words[0] if words else ""
    if name == "--version":
        from epsilometer import __version__

        _print(f"epsilometer {__version__}")
        return 0
    if name in ("", "-h", "--help"):
        _print(parser.help_of(""))
        return 0 if words else WRONG_USE
    if name not in _COMMANDS:
        raise ArgumentError(repr(name), f"is not a command{suggest(name, _COMMANDS)}")
    if {"-h", "--help"} & {*words}:
        _print(parser.help_of(name))
        return 0
    options = parser.parsed(name, words[1:])
    return _COMMANDS[name](options | {"replay": shlex.join(["epsilometer", *words])})


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
