"""Where an audit's draws come from: any callable, named in Python or as ``file.py:function``."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from epsilometer.auditing.serving import loading
from epsilometer.auditing.serving.digests import file_digests, sha256, source_digests
from epsilometer.auditing.serving.errors import Broken, Misuse
from epsilometer.auditing.serving.places import is_library
from epsilometer.auditing.serving.sampling import Sampler
from epsilometer.errors import ArgumentError, MechanismError, suggest

Outputs = NDArray[Any] | Sequence[Any]
"""``n`` outputs: numbers of shape ``(n,)``, vectors ``(n, d)``, or a list of plain values.

Plain are numbers, words, None, bytes, `Failure`, tuples and dictionaries of these.
"""


class Source(Protocol):
    """What is audited: it can be drawn from on any input."""

    @property
    def description(self) -> str:
        """One line for the reader: what was found out."""

    @property
    def seeded(self) -> bool:
        """Whether it takes a seed or generator at all."""

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of its files and versions of what they import."""

    def close(self) -> None:
        """Leave nothing behind."""


@dataclass(frozen=True)
class Origin:
    """Where a Python function is loaded from again, in a process of its own."""

    spec: str
    folder: str | os.PathLike[str] = "."
    parameters: Mapping[str, Any] | None = None
    interpreter: str = sys.executable
    env: Mapping[str, str] | None = None


class CallableSource:
    """A Python callable of this process; see `callable_source` and `load`."""

    seeds_globals = True

    def __init__(
        self,
        sampler: Sampler,
        made_of: Callable[[], dict[str, str]],
        origin: Origin | None = None,
    ) -> None:
        self.sampler = sampler
        self.origin = origin
        self._made_of = made_of
        self.description = sampler.description
        self.seeded = sampler.seeded
        self.constant, self.many = sampler.signature.constant, sampler.signature.many

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        try:
            return self.sampler.draw(x, size, seed)  # type: ignore[no-any-return]
        except Broken as error:
            failed = MechanismError(f"{self.sampler.name}: {error}")
            for line in self.sampler.printed.last:
                failed.add_note(f"  {line}")
            raise failed from error.__cause__

    def printed(self) -> str:
        """Say in one line what the mechanism has printed, if anything."""
        return self.sampler.printed.words()

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of its files, with what they import from their tree, and versions."""
        found = self._made_of()
        place = self.sampler.place
        for module in place.modules.values():  # what no import statement names
            file = Path(str(module.__file__)).resolve()
            assert place.folder is not None
            found.setdefault(file.relative_to(place.folder).as_posix(), sha256(file))
        return found

    def close(self) -> None:
        """Nothing is open."""


def callable_source(
    function: Any, *, failures: bool = False, name: str | None = None
) -> CallableSource:
    """Return the source of any callable, whose signature is found out by its parameters' names.

    Parameters
    ----------
    function
        ``(x)``, ``(x, rng)`` or ``(x, seed)``, one draw a call, or that many with a parameter
        ``size``; others need defaults. An input annotated as ``np.ndarray`` is given as one.
    failures
        Whether an exception is an outcome, a `Failure`, where a call is one draw.
    name
        What errors call it; its file and name by default.

    Raises
    ------
    ArgumentError
        If it cannot be called, or needs more than these.
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner)
    if not (inspect.isroutine(inner) or inspect.isclass(inner)):
        inner = type(inner)  # an object that can be called
    file = _file(inner)
    if name is None:
        title = getattr(inner, "__qualname__", type(function).__name__)
        name = f"{file.name}:{title}" if file else str(title)
    try:
        sampler = Sampler(function, name.replace(".<locals>", ""), failures=failures)
    except Misuse as error:
        raise as_argument_error(error) from error.__cause__
    return CallableSource(sampler, lambda: _made_of(function, inner, file))


def load(
    spec: str,
    *,
    failures: bool = False,
    folder: str | os.PathLike[str] = ".",
    parameters: Mapping[str, Any] | None = None,
) -> CallableSource:
    """Return the source named ``file.py:function`` or ``package.module:function``.

    The name may have dots: the method of an object, or of a class that needs no arguments. A file's
    folder can be imported from, and the modules it finds there are its own; modules are looked for
    in ``folder`` first. ``parameters`` are given to the function by name, at every call.

    Raises
    ------
    ArgumentError
        If it cannot be found, loaded or sampled.
    """
    try:
        sampler = loading.load(spec, folder, failures=failures, parameters=parameters)
    except Misuse as error:
        raise as_argument_error(error) from error.__cause__
    given = {"parameters": json.dumps(parameters, sort_keys=True)} if parameters else {}
    origin = Origin(spec, folder, parameters)
    return CallableSource(sampler, lambda: digests(spec, folder=folder) | given, origin)


def digests(spec: str, *, folder: str | os.PathLike[str] = ".") -> dict[str, str]:
    """Return what `load` would find, without running any of it: SHA-256 of files, and versions.

    Raises
    ------
    ArgumentError
        If there is no such file or module.
    """
    try:
        return source_digests(spec, folder)
    except Misuse as error:
        raise as_argument_error(error) from error.__cause__


def as_argument_error(error: Misuse) -> ArgumentError:
    """Return a wrong use as the error of this package, with the nearest choice."""
    nearest = "" if error.choices is None else suggest(error.wanted, error.choices)
    return ArgumentError(error.argument, error.message + nearest)


def _file(function: Any) -> Path | None:
    """Return the file in which a function is defined, if there is one."""
    try:
        file = Path(inspect.getsourcefile(function) or "")
    except (TypeError, OSError):  # C functions, and what was typed in
        return None
    return file.resolve() if file.is_file() else None


def _made_of(function: Any, inner: Any, file: Path | None) -> dict[str, str]:
    found = {"python": platform.python_version()}
    if isinstance(function, functools.partial):
        found["arguments"] = repr((function.args, function.keywords))
    if file is None:
        code = getattr(inner, "__code__", None)
        text = code.co_code + repr(code.co_consts).encode() if code else repr(inner).encode()
        digest = hashlib.sha256(text)
        return {**found, getattr(inner, "__qualname__", "code"): digest.hexdigest()}
    module = str(getattr(inner, "__module__", "") or "").split(".")
    depth = len(module) - (file.name != "__init__.py")  # folders that are packages
    root = file.parents[min(depth, len(file.parents) - 1)]
    if root.joinpath(*module[:depth]) != file.parent:
        root = file.parent
    if is_library(str(file)):
        return {**found, **source_digests(f"{'.'.join(module)}:_")}
    return {**file_digests(file, root), **found}
