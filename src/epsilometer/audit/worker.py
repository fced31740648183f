"""Draws from programs: a worker that answers requests (``docs/worker.md``), or one run a batch."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from epsilometer import checks
from epsilometer.audit.processes import EndedError, Process
from epsilometer.audit.replies import Reply, ReplyError
from epsilometer.audit.serving import program
from epsilometer.audit.serving.digests import file_digests, sha256
from epsilometer.audit.serving.errors import Misuse, shortened
from epsilometer.audit.serving.loading import parsed
from epsilometer.audit.serving.outputs import Failure, compact
from epsilometer.audit.serving.signatures import distinct_seeds, folded
from epsilometer.audit.sources import Origin, Outputs, as_argument_error
from epsilometer.errors import ArgumentError, MechanismError, one_line, suggest

_PLACES = ("input", "size", "seed")
_PLACE = re.compile(r"\{(input|size|seed)\}")


class WorkerSource:
    """A program that draws, in any language.

    Parameters
    ----------
    command
        The program and its arguments, a line (split like a shell's, but no shell runs it) or a
        list. With ``{input}`` in it, and perhaps ``{size}`` and ``{seed}``, it is run with these
        filled in: once a batch, or once a draw without ``{size}``, and prints an output a line.
        Otherwise one process answers all requests.
    timeout
        Seconds within which a batch must be answered.
    failures
        Whether a failure is an outcome: an output ``{"error": ...}``, or the exit code of a program
        that is run once a draw.
    folder
        Where it runs.
    env
        Variables beside those of this process.
    name
        What errors call it; the command by default.

    Raises
    ------
    ArgumentError
        If there is no such program.
    """

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
        self._timeout = checks.positive("timeout", timeout)
        self._failures = failures
        self._folder = Path(folder or ".")
        if not self._folder.is_dir():
            raise ArgumentError("folder", f"{str(folder)!r} is not there")
        self._env = {**os.environ, **(env or {})}
        self._program = _program(self._argv[0], self._folder, self._env.get("PATH"))
        self._process: Process | None = None
        found = {place for word in self._argv for place in _PLACE.findall(word)}
        self._filled = bool(found)
        self._one_draw = self._filled and "size" not in found
        if self._filled and "input" not in found:
            raise ArgumentError("command", f"has no {{input}} beside {{{min(found)}}}: {self.name}")
        self.seeded = not self._filled or "seed" in found
        runs = "one draw a run" if self._one_draw else "one run a batch"
        how = runs if self._filled else "one worker for all draws"
        self.description = f"{self.name}, {how}{'' if self.seeded else ', unseeded'}"

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        try:
            text = json.dumps(x, default=_as_json)
        except (TypeError, ValueError) as error:
            raise ArgumentError("input", f"cannot be written as JSON: {one_line(error)}") from None
        if self._one_draw:
            return self._draw_by_draw(text, size, seed)
        reply = Reply(size, self._failures)
        seed = self._seed(seed)
        if self._filled:
            self._run(reply, text, size, seed)
        else:
            self._ask(f'{{"input": {text}, "size": {size}, "seed": {seed}}}\n', reply)
        return self._read(reply)

    def _seed(self, seed: int) -> int:
        return folded(seed)

    def digest(self) -> dict[str, str]:
        """Return the command, and SHA-256 of the program and of the files among its arguments.

        Of a Python file, also of what it imports from its folder.
        """
        found = {"command": shlex.join(self._argv), self._argv[0]: sha256(self._program)}
        for word in self._argv[1:]:
            with suppress(OSError):  # too long for a name, for one
                path = (self._folder / word).resolve()
                if path.suffix == ".py" and path.is_file():
                    files = file_digests(path)
                    found[word] = files.pop(path.name)
                    found.update({key: value for key, value in files.items() if "." in key})
                elif path.is_file():
                    found[word] = sha256(path)
        return found

    def close(self) -> None:
        """End the worker, and whatever it has started."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _draw_by_draw(self, text: str, size: int, seed: int) -> Outputs:
        values: list[Any] = []
        for own in distinct_seeds(seed, size):
            reply = Reply(1, self._failures)
            try:
                self._run(reply, text, 1, own)
            except EndedError as error:
                if not self._failures:
                    raise
                values.append(Failure(error.how))
            else:
                values += list(self._read(reply))
        return compact(values)  # type: ignore[no-any-return]

    def _start(self, argv: Sequence[str]) -> Process:
        try:
            return Process([str(self._program), *argv[1:]], self.name, self._folder, self._env)
        except OSError as error:
            if sum(map(len, argv)) > 100_000:
                message = "is too long for a command line; a worker reads it from its input"
                raise ArgumentError("input", message) from None
            hint = "; does it begin with #! and its interpreter?" if error.errno == 8 else ""
            message = f"cannot be run: {error.strerror}{hint}"
            raise ArgumentError("command", f"{self._argv[0]!r} {message}") from None

    def _run(self, reply: Reply, text: str, size: int, seed: int) -> None:
        """Run the program once, to its end."""
        filled = {"input": text, "size": str(size), "seed": str(seed)}
        process = self._start(
            [_PLACE.sub(lambda match: filled[match[1]], word) for word in self._argv]
        )
        try:
            process.exchange(b"", reply, self._timeout, to_the_end=True)
        finally:
            process.close(grace=0)

    def _ask(self, request: str, reply: Reply) -> None:
        """Send a request to the worker and wait for its reply; after any trouble it is ended."""
        if self._process is None:
            self._process = self._start(self._argv)
        try:
            self._process.exchange(request.encode(), reply, self._timeout)
        except BaseException:
            self._process.close(grace=0)
            self._process = None
            raise

    def _read(self, reply: Reply) -> Outputs:
        try:
            return reply.outputs()
        except ReplyError as error:
            self.close()
            raise MechanismError(f"{self.name}: {error}") from None


class _PythonProgram(WorkerSource):
    """What `serving` runs in another interpreter."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, **options)
        self._interpreter = command[0]

    def _told(self, request: str) -> dict[str, Any]:
        """Return the answer to a request that is not for draws; it has a digest."""
        reply = Reply(1, failures=False)
        self._ask(f"{request}\n", reply)
        found = reply.message()
        if "error" in found:
            self.close()
            misuse = Misuse(
                str(found.get("argument", "python")),
                str(found["error"]),
                found.get("wanted", ""),
                found.get("choices"),
            )
            raise as_argument_error(misuse)
        if "digest" not in found:
            self.close()
            raise ArgumentError("python", f"{self._interpreter!r} is no interpreter of Python")
        return {**found, "digest": {**found["digest"], "interpreter": self._interpreter}}


class PythonWorker(_PythonProgram):
    """A Python function in another interpreter; see `python_worker`."""

    seeds_globals = True

    def __init__(self, command: Sequence[str], origin: Origin, **options: Any) -> None:
        super().__init__(command, **options)
        self.origin = origin
        try:
            found = self._told('{"describe": true}')
        except MechanismError as error:
            message = f"{self._interpreter!r} does not run it: {error}"
            raise ArgumentError("python", message) from None
        self.seeded = bool(found["seeded"])
        self.description = f"{found['description']}, in {self._interpreter}"
        self._digest: dict[str, str] = found["digest"]

    def digest(self) -> dict[str, str]:
        """Return what the other interpreter finds: SHA-256 of files, versions, and itself."""
        return dict(self._digest)

    def _seed(self, seed: int) -> int:
        return seed


class _PythonReplay(_PythonProgram):
    """What is recorded in another interpreter; see `python_replay`."""

    def replayed(self, request: str) -> dict[str, Any]:
        """Return what it was; see `serving.replaying.replayed`."""
        return self._told(request)


class _PythonAccountant(_PythonProgram):
    """An accountant in another interpreter; see `python_account`."""

    def number(self, parameters: Mapping[str, Any]) -> tuple[float, dict[str, str]]:
        """Return what it answers, and what it is made of."""
        found = self._told(json.dumps({"account": dict(parameters)}))
        return float(found["number"]), found["digest"]


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

    Parameters
    ----------
    interpreter
        A program, as in ``../venv/bin/python``: Python 3.8 or later, with NumPy or without; a
        function that wants a generator gets `random.Random` where there is no NumPy.
    spec, parameters
        As for `sources.load`.

    Raises
    ------
    ArgumentError
        If there is no such interpreter, or the source cannot be found, loaded or sampled there.
    """
    words, name = _python_program(interpreter, spec, folder)
    options = json.dumps({"failures": failures, "parameters": parameters})
    given: dict[str, Any] = {"timeout": timeout, "failures": failures, "folder": folder, "env": env}
    origin = Origin(spec, folder or ".", parameters, interpreter, env)
    return PythonWorker([*words, options], origin, **given, name=name)


def python_account(
    interpreter: str,
    spec: str,
    parameters: Mapping[str, Any],
    *,
    timeout: float = 60.0,
    folder: str | os.PathLike[str] | None = None,
) -> tuple[float, dict[str, str]]:
    """Return what an accountant answers in another interpreter, and what it is made of.

    Parameters
    ----------
    interpreter
        As for `python_worker`.
    spec
        ``file.py:function`` or ``package.module:function``; it is given what it names of the
        ``parameters``.

    Raises
    ------
    ArgumentError
        If there is no such interpreter or function.
    MechanismError
        If it fails, or answers with no level.
    """
    words, name = _python_program(interpreter, spec, folder)
    accountant = _PythonAccountant(words, timeout=timeout, folder=folder, name=name)
    try:
        return accountant.number(parameters)
    finally:
        accountant.close()


def python_replay(
    origin: Origin, pair: tuple[Any, Any], seeds: Sequence[int], seconds: float
) -> dict[str, Any]:
    """Return what draws with the same noise do, in a process of their own.

    Parameters
    ----------
    origin
        The mechanism.
    pair, seeds, seconds
        As for `serving.replaying.replayed`, which has what is returned, too.

    Raises
    ------
    ArgumentError
        If it cannot be loaded there, or the inputs are not known to JSON.
    MechanismError
        If the process fails.
    """
    words, name = _python_program(origin.interpreter, origin.spec, origin.folder)
    options = json.dumps({"parameters": origin.parameters})
    replay = {"pair": pair, "seeds": list(seeds), "seconds": seconds}
    try:
        request = json.dumps({"replay": replay}, default=_as_json)
    except (TypeError, ValueError) as error:
        raise ArgumentError("input", f"cannot be written as JSON: {one_line(error)}") from None
    worker = _PythonReplay(
        [*words, options],
        timeout=60 + 4 * seconds,
        folder=origin.folder,
        env=origin.env,
        name=name,
    )
    try:
        return worker.replayed(request)
    finally:
        worker.close()


def _python_program(
    interpreter: str, spec: str, folder: str | os.PathLike[str] | None
) -> tuple[list[str], str]:
    """Return what runs a function elsewhere, and what errors call it."""
    try:
        where, function, is_file = parsed(spec)
    except Misuse as error:
        raise as_argument_error(error) from None
    path = Path(folder or ".") / interpreter
    if path.is_dir():
        inside = path / "bin" / "python"
        hint = f"; did you mean {f'{interpreter}/bin/python'!r}?" if inside.exists() else ""
        raise ArgumentError("python", f"{interpreter!r} is a folder{hint}")
    name = f"{Path(where).name if is_file else where}:{function}"
    return [interpreter, str(Path(program.__file__).resolve()), spec], name


def _split(command: str | Sequence[str]) -> list[str]:
    try:
        argv = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise ArgumentError("command", f"{str(command)!r}: {one_line(error)}") from None
    if not argv or not argv[0]:
        raise ArgumentError("command", "names no program")
    for word in argv:
        for name in re.findall(r"\{(\w+)\}", word):
            if name not in _PLACES and difflib.get_close_matches(name, _PLACES, cutoff=0.75):
                near = suggest(name, _PLACES)
                raise ArgumentError("command", f"has no place {name!r} to be filled{near}")
    return argv


def _name(argv: Sequence[str]) -> str:
    """Return a command in one short line: without folders, where it is long with them."""
    name = one_line(shlex.join(argv))
    if len(name) > 60:
        name = one_line(shlex.join([word.rpartition(os.sep)[2] or word for word in argv]))
    return shortened(name)


def _program(word: str, folder: Path, search: str | None) -> Path:
    """Return the file of a program, or raise `ArgumentError`."""
    if os.sep not in word:
        found = shutil.which(word, path=search)
        if found is None:
            if (folder / word).is_file():
                raise ArgumentError("command", f"{word!r} is no program; did you mean './{word}'?")
            folders = [Path(entry) for entry in (search or "").split(os.pathsep) if entry]
            names = {path.name for entry in folders if entry.is_dir() for path in entry.iterdir()}
            near = difflib.get_close_matches(word, sorted(names), n=1, cutoff=0.75)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ArgumentError("command", f"{word!r} is no program{hint}")
        return Path(found).absolute()
    path = folder / word
    if path.is_dir():
        raise ArgumentError("command", f"{word!r} is a folder")
    if not path.is_file():
        start = word.rpartition(os.sep)[0]
        known = [f"{start}/{p.name}" for p in path.parent.glob("*") if p.is_file()]
        raise ArgumentError("command", f"{word!r} is not there{suggest(word, known)}")
    if not os.access(path, os.X_OK):
        raise ArgumentError("command", f"{word!r} is not executable (chmod +x {word})")
    return path.absolute()


def _as_json(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is unknown to JSON")
