"""Draws from programs: a worker that answers requests (``docs/worker.md``), or one run a batch."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from epsilometer import checks
from epsilometer.errors import ArgumentError, MechanismError, one_line, suggest
from epsilometer_audit.serving import program
from epsilometer_audit.serving.digests import file_digests, sha256
from epsilometer_audit.serving.errors import Misuse, shortened
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.serving.outputs import owned
from epsilometer_audit.serving.sampling import folded
from epsilometer_audit.sources.callables import Origin, Outputs, argument_errors
from epsilometer_audit.sources.processes import Process, Reply


class WorkerSource:
    """A program that draws, in any language.

    Raise `ArgumentError` if there is no such program.

    Parameters
    ----------
    command
        The program and its arguments, a line (split like a shell's, but no shell runs it) or a
        list. One process answers all requests, as defined in ``docs/worker.md``.
    timeout
        Seconds within which a batch must be answered.
    failures
        Whether an output ``{"error": ...}`` is an outcome.
    folder
        Its working directory.
    env
        Variables beside those of this process.
    name
        Its name in errors; the command by default.
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
        reply = Reply(size, self._failures)
        own = folded(seed) if self._folds else seed
        self._exchange(f'{{"input": {_json(x)}, "size": {size}, "seed": {own}}}\n', reply)
        try:
            outputs = reply.outputs()
        except MechanismError as error:
            self.close()
            raise MechanismError(f"{self.name}: {error}") from None
        return outputs if self.many else owned(outputs)

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

    def forked(self) -> None:
        """Begin anew in a fork of this process, and leave its worker alone."""
        self._parents, self._process = self._process, None

    def close(self) -> None:
        """End the worker, with its own processes."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _exchange(self, request: str, reply: Reply) -> None:
        """Send a request to the worker and wait for its reply; after any trouble it is ended."""
        if self._process is None:
            argv = [str(self._program), *self._argv[1:]]
            try:
                self._process = Process(argv, self.name, self._folder, self._env)
            except OSError as error:
                hint = "; does it begin with #! and its interpreter?" if error.errno == 8 else ""
                message = f"{self._argv[0]!r} cannot be run: {error.strerror}{hint}"
                raise ArgumentError("command", message) from None
        try:
            self._process.exchange(request.encode(), reply, self._timeout)
        except BaseException:
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
        self._exchange(f"{request}\n", reply)
        answer = reply.message()
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
    if not argv or not argv[0]:
        raise ArgumentError("command", "names no program")
    return argv


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
