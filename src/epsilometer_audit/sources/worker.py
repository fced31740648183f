"""Draws from programs: a worker answers requests through pipes (``docs/worker.md``).

A program is ended with all its processes.
"""

from __future__ import annotations

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
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.errors import ArgumentError, MechanismError, one_line, suggest
from epsilometer.processes import cause_of
from epsilometer_audit.outcomes.reals import NUMBER, number_of
from epsilometer_audit.serving import program
from epsilometer_audit.serving.digests import file_digests, sha256
from epsilometer_audit.serving.errors import Misuse, counted, shortened
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.serving.outputs import Failure, compact, from_json
from epsilometer_audit.serving.sampling import folded
from epsilometer_audit.sources.callables import Origin, Outputs, argument_errors

_CHUNK = 1 << 18
_GRACE = 0.5  # seconds to end after the end of its input
_LAST = 5  # lines of its stderr in an error
_TAIL = 4096  # bytes of it that are read
_WORDS = "its last words"
_DECODER = json.JSONDecoder(object_hook=from_json, parse_float=number_of)
_REPLY = 1 << 31  # bytes of the longest reply, which is kept in memory
T = TypeVar("T")


class WorkerSource:
    """A program that draws, in any language; one process answers all requests.

    They are defined in ``docs/worker.md``. ``command`` is the program with its arguments, a line
    (split like a shell's, but no shell runs it) or a list, in the working directory ``folder``,
    with the variables ``env`` beside those of this process. A batch must be answered within
    ``timeout`` seconds. With ``failures`` an output ``{"error": ...}`` is an outcome. Errors call
    the program ``name``. Raise `ArgumentError` if there is no such program.
    """

    _folds = True  # whether seeds are made small and far apart

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        failures: bool = False,
        folder: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> None:
        self._argv = _split(command)
        self.name = name or _name(self._argv)
        self._timeout = checks.seconds("timeout", timeout)
        self._failures = failures
        self._folder = Path(folder or ".")
        if not self._folder.is_dir():
            raise ArgumentError("folder", f"{str(folder)!r} is not there")
        self._env = {**os.environ, **(env or {})}
        self._program = _program(self._argv[0], self._folder, self._env.get("PATH"))
        self._process: Process | None = None
        self.many = self.seeded = True
        self.description = f"{self.name}, one worker for all draws"

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        reply, own = Reply(size, self._failures), folded(seed) if self._folds else seed
        request = f'{{"input": {_json(x)}, "size": {size}, "seed": {own}}}'
        return self._answer(request, reply, lambda: reply.outputs(own=not self.many))

    def digest(self) -> dict[str, str]:
        """Return the command, and SHA-256 of the program and of the files among its arguments.

        Of a Python file, also of what it imports from its folder.
        """
        digests = {"command": shlex.join(self._argv), self._argv[0]: sha256(self._program)}
        for word in self._argv[1:]:
            with suppress(OSError):  # for example, too long for a name
                path = (self._folder / word).resolve()
                if path.suffix == ".py" and path.is_file():
                    files = file_digests(path)
                    digests[word] = files.pop(path.name)
                    digests.update({key: value for key, value in files.items() if "." in key})
                elif path.is_file():
                    digests[word] = sha256(path)
        return digests

    def close(self) -> None:
        """End the worker, with its own processes."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _answer(self, request: str, reply: Reply, read: Callable[[], T]) -> T:
        """Return what is read of the worker's reply; after any trouble the worker is ended.

        The error of a program has its name, and its last lines on stderr as notes.
        """
        if self._process is None:
            argv = [str(self._program), *self._argv[1:]]
            try:
                self._process = Process(argv, self._folder, self._env)
            except OSError as error:
                hint = "; does it begin with #! and its interpreter?" if error.errno == 8 else ""
                message = f"{self._argv[0]!r} cannot be run: {error.strerror}{hint}"
                raise ArgumentError("command", message) from None
        try:
            self._process.exchange(f"{request}\n".encode(), reply, self._timeout)
            return read()
        except BaseException as error:
            if isinstance(error, MechanismError):
                lines = self._process.lines()[-_LAST:]
                for line in lines if len(lines) > 1 or _WORDS not in str(error) else ():
                    error.add_note(f"  {shortened(line, 120)}")
                error.args = (f"{self.name}: {error}",)
            self._process.close(grace=0)
            self._process = None
            raise


class PythonWorker(WorkerSource):
    """A Python function in another interpreter, which `serving` calls there; see `python_worker`.

    ``origin`` names both, and a folder. ``ask`` alone is used before it is `described`.
    """

    _folds = False

    def __init__(self, origin: Origin, *, timeout: float = 60.0, failures: bool = False) -> None:
        self.origin = origin
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
            name=f"{Path(module).name if is_file else module}:{function}",
        )

    def described(self) -> PythonWorker:
        """Load the function there, and return this source with what it says of itself."""
        try:
            answer = self.ask('{"describe": true}')
        except MechanismError as error:
            text = f"{self.origin.interpreter!r} does not run it: {error}"
            wrong = ArgumentError("python", text)
            wrong.__notes__ = getattr(error, "__notes__", [])
            raise wrong from None
        self.seeded, self.many = bool(answer["seeded"]), bool(answer["many"])
        self.constant = str(answer.get("constant", ""))
        self.description = f"{answer['description']}, in {self.origin.interpreter}"
        self._digest: dict[str, str] = answer["digest"]
        return self

    def ask(self, request: str) -> dict[str, Any]:
        """Return the answer to a request for anything but draws; it has a digest."""
        reply = Reply(1, failures=False)
        answer = self._answer(request, reply, reply.message)
        if "error" in answer:
            self.close()
            argument, wanted = str(answer.get("argument", "python")), answer.get("wanted", "")
            with argument_errors():
                raise Misuse(argument, str(answer["error"]), wanted, answer.get("choices"))
        if "digest" not in answer:
            self.close()
            message = f"must be a Python interpreter, got {self.origin.interpreter!r}"
            raise ArgumentError("python", message)
        return {**answer, "digest": {**answer["digest"], "interpreter": self.origin.interpreter}}

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of files, versions and the interpreter, as found there."""
        return dict(self._digest)


def python_worker(
    interpreter: str,
    spec: str,
    *,
    timeout: float = 60.0,
    failures: bool = False,
    folder: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> PythonWorker:
    """Return the source of ``file.py:function`` or ``package.module:function`` elsewhere.

    The interpreter is a program, as in ``../venv/bin/python``: Python 3.8 or later. Without NumPy a
    function with a generator gets `random.Random`. The other options are those of `load` and
    `WorkerSource`. Raise `ArgumentError` if there is no such interpreter, or the source cannot be
    found, loaded or sampled there.
    """
    origin = Origin(spec, folder or ".", parameters, interpreter, env)
    return PythonWorker(origin, timeout=timeout, failures=failures).described()


def python_replay(
    origin: Origin, pair: tuple[Any, Any], seeds: Sequence[int], seconds: float
) -> dict[str, Any]:
    """Return the record of draws with the same noise, in a process of their own; see `replayed`.

    Raise `ArgumentError` if it cannot be loaded there, or the inputs cannot be written as JSON.
    Raise `MechanismError` if the process fails.
    """
    request = _json({"replay": {"pair": pair, "seeds": list(seeds), "seconds": seconds}})
    with closing(PythonWorker(origin, timeout=60 + 4 * seconds)) as replayer:
        return replayer.ask(request)


def _split(command: str | Sequence[str]) -> list[str]:
    try:
        argv = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise ArgumentError("command", f"{str(command)!r}: {one_line(error)}") from None
    if argv and argv[0]:
        return argv
    raise ArgumentError("command", "names no program")


def _name(argv: Sequence[str]) -> str:
    """Return a command in one short line: without folders, where it is long with them."""
    name = one_line(shlex.join(argv))
    if len(name) > 60:
        name = one_line(shlex.join([word.rpartition(os.sep)[2] or word for word in argv]))
    return shortened(name)


def _program(word: str, folder: Path, search: str | None) -> Path:
    """Return the file of a program, or raise `ArgumentError`."""
    path = folder / word
    if os.sep not in word:
        if found := shutil.which(word, path=search):
            return Path(found).absolute()
        near = f"; did you mean {f'./{word}'!r}?" if path.is_file() else ""
        problem = f"is not a program{near}"
    elif path.is_dir():
        problem = "is a folder"
    elif not path.is_file():
        start = word.rpartition(os.sep)[0]
        known = [f"{start}/{p.name}" for p in path.parent.glob("*") if p.is_file()]
        problem = f"is not there{suggest(word, known) if known else ''}"
    elif not os.access(path, os.X_OK):
        problem = f"is not executable (chmod +x {word})"
    else:
        return path.absolute()
    raise ArgumentError("command", f"{word!r} {problem}")


def _json(x: Any) -> str:
    try:
        return json.dumps(x, default=_as_json)
    except (TypeError, ValueError) as error:
        raise ArgumentError("input", f"cannot be written as JSON: {one_line(error)}") from None


def _as_json(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is unknown to JSON")


# --- running programs -----------------------------------------------------------------------------


class Process:
    """A running program with pipes to it, in a session of its own."""

    def __init__(self, argv: list[str], folder: Path, env: Mapping[str, str]) -> None:
        self._answered = False
        with tempfile.TemporaryFile("a+b") as stderr:  # emptied at each answer
            popen: Any = subprocess.Popen(  # noqa: S603 - the user's command
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                cwd=folder,
                env=dict(env),
                start_new_session=True,
            )
            popen.stderr = os.fdopen(os.dup(stderr.fileno()), "a+b")
        for stream in (popen.stdin, popen.stdout):
            os.set_blocking(stream.fileno(), False)
        self._popen, self._end = popen, weakref.finalize(self, _end, popen, os.getpid())

    def exchange(self, request: bytes, reply: Reply, timeout: float) -> None:
        """Send a request and read until the reply is complete.

        Raise `MechanismError` if the program hangs, dies, or prints no reply.
        """
        deadline, left = time.monotonic() + timeout, memoryview(request)
        stdin, stdout, stderr = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        with suppress(BlockingIOError):
            if chunk := os.read(stdout.fileno(), _CHUNK):
                when = "after its last answer was complete" if self._answered else "unasked"
                raise MechanismError(f"printed {_shown(chunk.splitlines()[0])} {when}")
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stdin, selectors.EVENT_WRITE)
            while not reply.complete:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready or time.monotonic() > deadline:
                    raise MechanismError(f"{reply.missing(timeout)}{self._last_words()}")
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
        stderr.truncate(0)

    def lines(self) -> list[str]:
        """Return the last lines on stderr since the last answer."""
        stderr = self._popen.stderr.fileno()
        tail = os.pread(stderr, _TAIL, max(os.fstat(stderr).st_size - _TAIL, 0))
        text = tail.decode(errors="replace")
        return [line.rstrip() for line in text.split("\n") if line.strip()]

    def _last_words(self) -> str:
        lines = self.lines()
        return f"; {_WORDS}: {shortened(one_line(lines[-1]), 120)}" if lines else ""

    def _died(self, reply: Reply) -> MechanismError:
        reason, after = "closed its output", reply.so_far()
        if _ends(self._popen, 0.5):
            _kill(self._popen)
            code = self._popen.wait()
            reason = cause_of(code) if code < 0 else f"ended with exit code {code}"
            if code == 0 and self._answered and not reply.data:
                after += " (a worker answers until its input ends)"
        return MechanismError(f"{reason} {after}{self._last_words()}")

    def close(self, grace: float = _GRACE) -> None:
        """Give it a moment to end; then kill it with all processes that it has started."""
        _close(self._popen)
        _ends(self._popen, grace)
        self._end()


def _ends(popen: Any, seconds: float) -> bool:
    """Wait for the end of a program; return whether it has ended.

    It keeps its number, which is also that of its group.
    """
    until, flags = time.monotonic() + seconds, os.WEXITED | os.WNOHANG | os.WNOWAIT
    while popen.returncode is None and os.waitid(os.P_PID, popen.pid, flags) is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _kill(popen: Any) -> None:
    if popen.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)


def _end(popen: Any, owner: int) -> None:
    """Kill a program and its children, in the process that started it only."""
    if os.getpid() == owner:
        _kill(popen)
        popen.wait()
        _close(popen)


def _close(popen: Any) -> None:
    for stream in (popen.stdin, popen.stdout, popen.stderr):
        with suppress(OSError):
            stream.close()


# --- answers --------------------------------------------------------------------------------------


class Reply:
    """Prints of a program so far in answer to one request.

    ``data`` is all that arrived, ``complete`` tells whether all is there.
    """

    def __init__(self, size: int, failures: bool) -> None:
        self.size, self.failures = size, failures
        self.complete = False
        self.data = bytearray()
        self._lines = self._last = 0  # ends of lines so far, and the position after the last

    def feed(self, chunk: bytes) -> None:
        """Append bytes, or raise `MechanismError` if they are no part of a reply."""
        start = len(self.data)
        self.data += chunk
        self._lines += chunk.count(b"\n")
        expected = counted(self.size, "output")
        if len(self.data) > _REPLY:
            text = f"sends more than {_REPLY >> 30} GB for {expected}; fewer draws need less"
            raise MechanismError(text)
        if (end := self.data.rfind(b"\n", start)) >= 0:
            self._last = end + 1
            error = _error(bytes(self.data[self.data.rfind(b"\n", 0, end) + 1 : end]))
            if error and (error[1] or not self.failures):
                raise MechanismError(shortened(error[0], 300))
        if self._lines > self.size or (self._lines == self.size and self._last < len(self.data)):
            extra = bytes(self.data).split(b"\n")[self.size]
            raise MechanismError(f"printed more than the {expected} asked for: {_shown(extra)}")
        self.complete = self._lines == self.size

    def so_far(self) -> str:
        """Return a text: how much arrived."""
        return f"after {self._lines} of {counted(self.size, 'output')}"

    def missing(self, timeout: float) -> str:
        """Return the error of a program that prints no more."""
        hint = "" if self.data else " (does it flush its output?)"
        if self._last < len(self.data):
            hint = f", and a line without an end: {_shown(self.data[self._last :])}"
        return f"hangs {self.so_far()}, for {timeout:g} s a batch{hint}"

    def message(self) -> dict[str, Any]:
        """Return the one object of a reply without outputs."""
        with suppress(ValueError):
            if isinstance(reply := json.loads(self.data), dict):
                return reply
        return {}

    def outputs(self, *, own: bool = False) -> NDArray[Any] | list[Any]:
        """Return the outputs of a complete reply, or raise `MechanismError`."""
        text = f"[{self.data[: self._last - 1].decode(errors='replace')}]".replace("\n", ", ")
        with suppress(ValueError, RecursionError):
            values = [] if "{" in text else json.loads(text)
            if len(values) == self.size and json.dumps(values) == text:  # no digit is lost
                return compact(values, own=own)  # type: ignore[no-any-return]
        lines = bytes(self.data).split(b"\n")[: self.size]
        values = [self._value(line, i) for i, line in enumerate(lines, start=1)]
        return compact(values, own=own)  # type: ignore[no-any-return]

    def _value(self, line: bytes, number: int) -> Any:
        try:
            value = _DECODER.decode(line.decode())
        except (ValueError, RecursionError):
            subject, text = f"line {number} of {self.size} is", line.strip()
            if NUMBER.fullmatch(word := text.decode(errors="replace")):  # as of C: .5, nan, -inf
                return number_of(word)
            if not text:
                raise MechanismError(f"{subject} empty") from None
            hint = "; words are written in double quotes" if text.isalpha() else ""
            wrong = f"{subject} not an output in JSON: {_shown(text)}{hint}"
            raise MechanismError(wrong) from None
        if type(value) is dict and (error := _error(line)):
            if not self.failures:
                raise MechanismError(shortened(error[0], 300))
            return Failure(error[0], str(value.get("message", "")))
        return value


def _error(line: bytes) -> tuple[str, bool] | None:
    """Return the message of a line ``{"error": ...}``, and whether it is fatal."""
    with suppress(ValueError):
        value = json.loads(line) if b'"error"' in line else None
        if isinstance(value, dict) and {"error"} <= set(value) <= {"error", "message", "fatal"}:
            return one_line(value["error"]), bool(value.get("fatal"))
    return None


def _shown(line: object) -> str:
    """Return a wrong line in short, for an error."""
    text = bytes(line).decode(errors="replace") if isinstance(line, bytes | bytearray) else line
    return repr(shortened(one_line(text)))
