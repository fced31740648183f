"""Draws from programs: a worker that answers requests (``docs/worker.md``), or one run a batch."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
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
from epsilometer_audit.serving.outputs import Failure, compact, owned
from epsilometer_audit.serving.signatures import distinct_seeds, folded
from epsilometer_audit.sources.callables import Origin, Outputs, argument_errors
from epsilometer_audit.sources.processes import EndedError, Process, Reply

_FIELDS = ("input", "size", "seed")
_FIELD = re.compile(r"\{(\{)?([A-Za-z_]\w*)\}(?(1)\})")  # {word}, or {{word}} for a literal {word}


class WorkerSource:
    """A program that draws, in any language.

    Raise `ArgumentError` if there is no such program.

    Parameters
    ----------
    command
        The program and its arguments, a line (split like a shell's, but no shell runs it) or a
        list. With ``{input}``, and perhaps ``{size}`` and ``{seed}``, it is run with these filled
        in: once a batch, or once a draw without ``{size}``, and prints an output a line.
        Otherwise one process answers all requests. ``{{word}}`` stands for ``{word}``.
    timeout
        Seconds within which a batch must be answered.
    failures
        Whether a failure is an outcome: an output ``{"error": ...}``, or the exit code of a program
        that is run once a draw.
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
        fields = _fields(self._argv)
        self._one_run, self._one_draw = bool(fields), bool(fields) and "size" not in fields
        self.many = not self._one_draw
        self.seeded = not fields or "seed" in fields
        if fields and "input" not in fields:
            message = f"has no {{input}} beside {{{min(fields)}}}: {self.name}"
            raise ArgumentError("command", message)
        runs = f"one {'run a batch' if self.many else 'draw a run'}"
        mode = runs if fields else "one worker for all draws"
        self.description = f"{self.name}, {mode}{'' if self.seeded else ', unseeded'}"

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        input_text = _json(x)
        if not self._one_draw:
            outputs = self._batch(input_text, size, folded(seed) if self._folds else seed)
            return outputs if self.many else owned(outputs)
        values: list[Any] = []
        for draw_seed in distinct_seeds(seed, size):
            try:
                values += list(self._batch(input_text, 1, draw_seed))
            except EndedError as error:
                if not self._failures:
                    raise
                values.append(Failure(error.reason))
        return compact(values, own=True)  # type: ignore[no-any-return]

    def _batch(self, text: str, size: int, seed: int) -> Outputs:
        """Return the outputs of one run, or of one request to the worker."""
        reply = Reply(size, self._failures)
        if self._one_run:
            process = self._start({"input": text, "size": str(size), "seed": str(seed)})
            try:
                process.exchange(b"", reply, self._timeout, to_the_end=True)
            finally:
                process.close(grace=0)
        else:
            self._exchange(f'{{"input": {text}, "size": {size}, "seed": {seed}}}\n', reply)
        try:
            return reply.outputs()
        except MechanismError as error:
            self.close()
            raise MechanismError(f"{self.name}: {error}") from None

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

    def _start(self, values: Mapping[str, str]) -> Process:
        argv = [
            _FIELD.sub(lambda match: match[0][1:-1] if match[1] else values[match[2]], word)
            for word in self._argv
        ]
        try:
            return Process([str(self._program), *argv[1:]], self.name, self._folder, self._env)
        except OSError as error:
            if sum(map(len, argv)) > 100_000:
                message = "is too long for a command line; a worker reads it from its input"
                raise ArgumentError("input", message) from None
            hint = "; does it begin with #! and its interpreter?" if error.errno == 8 else ""
            message = f"cannot be run: {error.strerror}{hint}"
            raise ArgumentError("command", f"{self._argv[0]!r} {message}") from None

    def _exchange(self, request: str, reply: Reply) -> None:
        """Send a request to the worker and wait for its reply; after any trouble it is ended."""
        if self._process is None:
            self._process = self._start({})
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

    seeds_globals = True
    _folds = False

    def __init__(self, origin: Origin, *, timeout: float = 60.0, failures: bool = False) -> None:
        self.origin = origin
        with argument_errors():
            module, function, is_file = parsed(origin.spec)
        path = Path(origin.folder, origin.interpreter)
        if path.is_dir():
            inside = path / "bin" / "python"
            suggestion = f"{origin.interpreter}/bin/python"
            hint = f"; did you mean {suggestion!r}?" if inside.exists() else ""
            raise ArgumentError("python", f"{origin.interpreter!r} is a folder{hint}")
        options = json.dumps({"failures": failures, "parameters": origin.parameters})
        server = str(Path(program.__file__).resolve())
        words = [origin.interpreter, server, origin.spec, options]
        super().__init__(
            [_FIELD.sub(lambda match: f"{{{match[0]}}}", word) for word in words],
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

    def printed(self) -> str:
        """Return one line about the mechanism's prints, "" without any."""
        ended = self._process is None  # it has failed, or been closed
        return "" if ended else str(self.ask('{"printed": true}')["words"])

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
    for name in _fields(argv):
        if name not in _FIELDS:
            near = suggest(name, _FIELDS)
            message = f"has no place {name!r} to be filled{near}; {{{{{name}}}}} is {{{name}}}"
            raise ArgumentError("command", message)
    return argv


def _fields(argv: Sequence[str]) -> list[str]:
    """Return the names in single braces."""
    return [name for word in argv for double, name in _FIELD.findall(word) if not double]


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
        folders = [Path(entry) for entry in (search or "").split(os.pathsep) if entry]
        names = {file.name for entry in folders if entry.is_dir() for file in entry.iterdir()}
        near = difflib.get_close_matches(word, sorted(names), n=1, cutoff=0.75)
        near = [f"./{word}"] if path.is_file() else near
        problem = f"is not a program{f'; did you mean {near[0]!r}?' if near else ''}"
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
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} is unknown to JSON")
