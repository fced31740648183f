"""Draws from programs: a worker answers requests through pipes (``docs/worker.md``)."""

from __future__ import annotations

import errno
import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.errors import ArgumentError, MechanismError, one_line, text_of
from epsilometer.processes import cause_of
from epsilometer_audit.outputs.callables import Origin, Outputs, argument_errors
from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.outputs.reals import NUMBER, number_of
from epsilometer_audit.serving import program
from epsilometer_audit.serving.digests import file_digests, sha256
from epsilometer_audit.serving.errors import Misuse, counted, shortened
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.serving.outputs import Failure, compact, from_json
from epsilometer_audit.serving.sampling import hashed_seed

_CHUNK = 262_144  # bytes that are read or written at once
_GRACE = 0.5  # seconds to end after the end of its input
_TAIL = 200  # bytes of its stderr in an error
_DECODER = json.JSONDecoder(object_hook=from_json, parse_float=number_of)
_REPLY = 1 << 31  # bytes of the longest reply, which is kept in memory
T = TypeVar("T")


class WorkerSource:
    """A program that draws, in any language; one process answers all requests.

    They are defined in ``docs/worker.md``. ``command`` is the program with its arguments, a line
    (split like a shell's, but no shell runs it) or a list, in the working directory ``folder``,
    with the variables ``env`` beside those of this process. A batch must be answered within
    ``timeout`` seconds. With ``failures`` an output ``{"error": ...}`` is an outcome. Raise
    `ArgumentError` if there is no such program.
    """

    _hashes_seeds = True  # whether seeds are made small and far apart

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        failures: bool = False,
        folder: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._argv = _split(command) or [""]
        self.name = shortened(one_line(shlex.join(self._argv)))
        self._timeout = checks.seconds("timeout", timeout)
        self._failures = failures
        self._folder = Path(folder or ".")
        if not self._folder.is_dir():
            raise ArgumentError("folder", f"{str(folder)!r} is not there")
        self._env = {**os.environ, **(env or {})}
        word = self._argv[0]
        name: Path | str = word
        if os.sep in word:
            name = (self._folder / word).absolute()
        path = shutil.which(name, path=self._env.get("PATH"))
        if path is None:
            option = "command" if self._hashes_seeds else "python"
            raise ArgumentError(option, f"{word!r} is not a program that can be run")
        self._program = Path(path).absolute()
        self._process: Process | None = None
        self.many = self.seeded = True
        self.description = f"{self.name}, one worker for all draws"

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        reply = Reply(size, self._failures)
        sent_seed = hashed_seed(seed) if self._hashes_seeds else seed
        request = f'{{"input": {_json(x)}, "size": {size}, "seed": {sent_seed}}}'
        return self._answer(request, reply, reply.outputs, x)

    def digest(self) -> dict[str, str]:
        """Return the command, and SHA-256 of its files and of what those of Python import."""
        digests = {"command": shlex.join(self._argv), self._argv[0]: sha256(self._program)}
        for word in self._argv[1:]:
            with suppress(OSError):  # for example, no file, or too long for a name
                path = (self._folder / word).resolve()
                if path.is_file():  # no device
                    digests[word] = sha256(path)
                    if path.suffix == ".py":
                        imported = file_digests(path)
                        digests |= {key: imported[key] for key in imported if key.endswith(".py")}
        return digests

    def close(self) -> None:
        """End the worker, with its own processes."""
        process = self._process
        self._process = None
        if process is not None:
            process.close()

    def _answer(self, request: str, reply: Reply, read: Callable[[], T], *x: Any) -> T:
        """Return what is read of the worker's reply; after any trouble the worker is ended."""
        if self._process is None:
            argv = [str(self._program), *self._argv[1:]]
            try:
                self._process = Process(argv, self._folder, self._env)
            except OSError as error:
                message = f"{self._argv[0]!r} cannot be run: {error.strerror}"
                if error.errno == errno.ENOEXEC:
                    message += "; does it begin with #! and its interpreter?"
                raise ArgumentError("command", message) from None
        try:
            self._process.exchange(f"{request}\n".encode(), reply, self._timeout)
            return read()
        except BaseException as error:
            if isinstance(error, MechanismError):
                where = f" on {text_of(x[0], input_text)}: " if x else ": "
                error.args = (f"{self.name}{where}{error}",)
            self._process.close(grace=0)
            self._process = None
            raise


class PythonWorker(WorkerSource):
    """A Python function in another interpreter, which loads it and describes it."""

    _hashes_seeds = False

    def __init__(self, origin: Origin, *, timeout: float = 60.0, failures: bool = False) -> None:
        with argument_errors():
            module, function, is_file = parsed(origin.spec)
        options = json.dumps({"failures": failures, "parameters": origin.parameters})
        server = str(Path(program.__file__).resolve())
        super().__init__(
            [origin.interpreter, server, origin.spec, options],
            timeout=timeout,
            failures=failures,
            folder=origin.folder,
            env=origin.env,
        )
        if is_file:
            module = Path(module).name
        self.name = f"{module}:{function}"
        reply = Reply(1, failures=False)
        try:
            answer: Any = self._answer('{"describe": true}', reply, reply.message)
        except MechanismError as error:
            text = f"{origin.interpreter!r} does not run it: {error}"
            raise ArgumentError("python", text) from None
        if "error" in answer:
            self.close()
            with argument_errors():
                raise Misuse(*map(answer.get, ("argument", "error", "wanted", "choices")))
        self.seeded = answer["seeded"]
        self.many = answer["many"]
        self.constant: str = answer["constant"]
        self.description = f"{answer['description']}, in {origin.interpreter}"
        self._digest: dict[str, str] = {**answer["digest"], "interpreter": origin.interpreter}

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of files, versions and the interpreter, as found there."""
        return dict(self._digest)


def python_worker(
    interpreter: str,
    spec: str,
    *,
    timeout: float = 60.0,
    failures: bool = False,
    folder: str | os.PathLike[str] = ".",
    parameters: Mapping[str, Any] | None = None,
) -> PythonWorker:
    """Return the source of ``file.py:function`` or ``package.module:function`` elsewhere.

    The interpreter, as in ``../venv/bin/python``, is Python 3.8 or later. Without NumPy a function
    with a generator gets `random.Random`. The other options are those of `load`. Raise
    `ArgumentError` if the source cannot be loaded or sampled there.
    """
    origin = Origin(spec, folder, parameters, interpreter)
    return PythonWorker(origin, timeout=timeout, failures=failures)


def _split(command: str | Sequence[str]) -> list[str]:
    if not isinstance(command, str):
        return list(map(str, command))
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ArgumentError("command", f"{command!r}: {one_line(error)}") from None


def _json(x: Any) -> str:
    try:
        return json.dumps(x, default=methodcaller("tolist"))  # of arrays
    except (TypeError, ValueError, AttributeError) as error:
        raise ArgumentError("input", f"cannot be written as JSON: {one_line(error)}") from None


class Process:
    """A running program with pipes to it, in a session of its own."""

    def __init__(self, argv: list[str], folder: Path, env: Mapping[str, str]) -> None:
        self._answered = False
        with tempfile.TemporaryFile("a+b") as stderr:  # emptied at each answer
            popen: Any = subprocess.Popen(  # noqa: S603 - the user's command
                argv,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=env,
                start_new_session=True,
            )
            popen.stderr = os.fdopen(os.dup(stderr.fileno()), "a+b")
        for stream in (popen.stdin, popen.stdout):
            os.set_blocking(stream.fileno(), False)
        self._popen = popen
        self._end = weakref.finalize(self, _end, popen, os.getpid())

    def exchange(self, request: bytes, reply: Reply, timeout: float) -> None:
        """Send a request and read all of the reply; raise `MechanismError` if there is none."""
        deadline = time.monotonic() + timeout
        left = memoryview(request)
        stdin = self._popen.stdin
        stdout = self._popen.stdout
        with suppress(BlockingIOError):
            if chunk := os.read(stdout.fileno(), _CHUNK):
                raise MechanismError(f"printed {_shown(chunk.splitlines()[0])} without a request")
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stdin, selectors.EVENT_WRITE)
            while not reply.complete:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready or time.monotonic() > deadline:
                    hint = "" if reply.data else " (does it flush its output?)"
                    hangs = f"hangs {reply.so_far()}, for {timeout:g} s a batch{hint}"
                    raise MechanismError(f"{hangs}{self._last_words()}")
                files = {key.fileobj for key, _ in ready}
                if stdin in files:
                    try:
                        left = left[os.write(stdin.fileno(), left[:_CHUNK]) :]
                    except BrokenPipeError:  # it has ended, or will answer all the same
                        left = left[:0]
                    if not left:
                        selector.unregister(stdin)
                if stdout in files:
                    chunk = os.read(stdout.fileno(), _CHUNK)
                    reply.feed(chunk)
                    if not chunk:
                        raise self._died(reply)
        self._answered = True
        self._popen.stderr.truncate(0)

    def _last_words(self) -> str:
        """Return the end of what it wrote to stderr since the last answer."""
        stderr = self._popen.stderr.fileno()
        tail = os.pread(stderr, _TAIL, max(os.fstat(stderr).st_size - _TAIL, 0))
        words = one_line(tail.decode(errors="replace"))
        return f"; its last words: {words}" if words else ""

    def _died(self, reply: Reply) -> MechanismError:
        reason = "closed its output"
        after = reply.so_far()
        with suppress(subprocess.TimeoutExpired):
            code = self._popen.wait(_GRACE)
            reason = f"ended with exit code {code}"
            if code < 0:
                reason = cause_of(code)
            if code == 0 and self._answered and not reply.data:
                after += " (a worker answers until its input ends)"
        return MechanismError(f"{reason} {after}{self._last_words()}")

    def close(self, grace: float = _GRACE) -> None:
        """Give it a moment to end; then kill it with all processes that it has started."""
        _close(self._popen)
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(grace)
        self._end()


def _end(popen: Any, owner: int) -> None:
    """Kill a program and its children, in the process that started it only."""
    if os.getpid() == owner:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
        _close(popen)


def _close(popen: Any) -> None:
    for stream in (popen.stdin, popen.stdout, popen.stderr):
        with suppress(OSError):
            stream.close()


@dataclass(eq=False)
class Reply:
    """Prints of a program so far in answer to one request, and whether they are ``complete``."""

    size: int
    failures: bool
    data: bytearray = field(default_factory=bytearray)
    complete: bool = False
    _lines: int = 0  # that have ended

    def feed(self, chunk: bytes) -> None:
        """Append bytes, or raise `MechanismError` if they are too many."""
        start = len(self.data)
        self.data += chunk
        self._lines += chunk.count(b"\n")
        if len(self.data) > _REPLY:
            many = f"{_REPLY >> 30} GB for {counted(self.size, 'output')}"
            raise MechanismError(f"sends more than {many}; fewer draws need less")
        end = max(self.data.rfind(b"\n", start), 0)
        last_line = self.data[self.data.rfind(b"\n", 0, end) + 1 : end]
        failed = _error(bytes(last_line), self.failures)
        self.complete = self._lines >= self.size or isinstance(failed, MechanismError)

    def so_far(self) -> str:
        """Return a text: how much arrived."""
        return f"after {self._lines} of {counted(self.size, 'output')}"

    def message(self) -> dict[str, Any]:
        """Return the one object of a reply without outputs."""
        with suppress(ValueError):
            reply = json.loads(self.data)
            if isinstance(reply, dict) and {"digest", "error"} & set(reply):
                return reply
        raise MechanismError("answers like no Python interpreter")

    def outputs(self) -> NDArray[Any] | list[Any]:
        """Return the outputs of a complete reply, or raise `MechanismError`."""
        is_cut = self._lines == self.size and self.data[-1:] != b"\n"
        if self._lines > self.size or is_cut:
            extra = self.data.split(b"\n")[self.size]
            expected = counted(self.size, "output")
            raise MechanismError(f"printed more than the {expected} asked for: {_shown(extra)}")
        text = f"[{self.data[:-1].decode(errors='replace')}]".replace("\n", ", ")
        if "{" not in text:
            with suppress(ValueError, RecursionError):
                values = json.loads(text)
                if len(values) == self.size and json.dumps(values) == text:  # no digit is lost
                    return compact(values)  # type: ignore[no-any-return]
        lines = bytes(self.data[:-1]).split(b"\n")
        values = [self._value(line, i) for i, line in enumerate(lines, start=1)]
        return compact(values)  # type: ignore[no-any-return]

    def _value(self, line: bytes, number: int) -> Any:
        try:
            value = _DECODER.decode(line.decode())
        except (ValueError, RecursionError):
            word = line.decode(errors="replace").strip()
            if NUMBER.fullmatch(word):  # as of C: .5, nan, -inf
                return number_of(word)
            wrong = f"line {number} of {self.size} is not an output in JSON: {_shown(word)}"
            if word.isalpha():
                wrong += "; words are written in double quotes"
            raise MechanismError(wrong) from None
        if type(value) is not dict:
            return value
        failed = _error(line, self.failures)
        if isinstance(failed, MechanismError):
            raise failed
        return failed or value


def _error(line: bytes, failures: bool) -> MechanismError | Failure | None:
    """Return the error of a line ``{"error": ...}``, or the outcome that it is."""
    if b'"error"' not in line:
        return None
    with suppress(ValueError):
        value = json.loads(line)
        if isinstance(value, dict) and {"error"} <= set(value) <= {"error", "message", "fatal"}:
            if value.get("fatal") or not failures:
                return MechanismError(shortened(one_line(value["error"]), 300))
            return Failure(one_line(value["error"]), str(value.get("message", "")))
    return None


def _shown(line: object) -> str:
    """Return a wrong line in short, for an error."""
    if isinstance(line, bytes | bytearray):
        line = bytes(line).decode(errors="replace")
    return repr(shortened(one_line(line)))
