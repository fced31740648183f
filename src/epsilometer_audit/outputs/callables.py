"""Sources of an audit's draws: any callable, from Python or named as ``file.py:function``."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Protocol

from numpy.typing import NDArray

from epsilometer.checks import seconds
from epsilometer.errors import ArgumentError, MechanismError, suggest, text_of
from epsilometer_audit.outputs.child_process import OverdueError, ends_after
from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.serving import loading
from epsilometer_audit.serving.digests import file_digests, source_digests
from epsilometer_audit.serving.errors import Broken, Misuse
from epsilometer_audit.serving.modules import is_library
from epsilometer_audit.serving.sampling import Sampler

Outputs = NDArray[Any] | Sequence[Any]
"""``n`` outputs: numbers of shape ``(n,)``, vectors ``(n, d)``, or a list of plain values.

Plain are numbers, texts, None, bytes, `Failure`, tuples and dictionaries of these.
"""


class Source(Protocol):
    """The object of an audit: it draws outputs on any input."""

    @property
    def description(self) -> str:
        """One line for the reader."""

    @property
    def seeded(self) -> bool:
        """Whether it takes a seed or generator at all."""

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of its files and versions of what they import."""

    def close(self) -> None:
        """End all that was started."""


@dataclass(frozen=True)
class Origin:
    """The address of a Python function, for another process to load it."""

    spec: str
    folder: str | os.PathLike[str] = "."
    parameters: Mapping[str, Any] | None = None
    interpreter: str = sys.executable
    env: Mapping[str, str] | None = None


class CallableSource:
    """A Python callable of this process; see `callable_source` and `load`."""

    def __init__(
        self,
        sampler: Sampler,
        digests: Callable[[], dict[str, str]],
        origin: Origin | None = None,
        timeout: float | None = None,
    ) -> None:
        self.sampler = sampler
        self.origin = origin
        self._digests = digests
        self._timeout = math.inf if timeout is None else seconds("timeout", timeout)
        self.description = sampler.description
        self.seeded = sampler.seeded
        self.constant = sampler.constant
        self.many = sampler.many

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise `MechanismError`."""
        try:
            with ends_after(self._timeout):
                return self.sampler.draw(x, size, seed)  # type: ignore[no-any-return]
        except OverdueError as error:
            if error.args != (self._timeout,):  # the limit of another
                raise
            text = f"does not return within {self._timeout:g} s a batch"
            cause = None
        except Broken as error:
            text = str(error)
            cause = error.__cause__
        raise MechanismError(f"{self.sampler.name} on {text_of(x, input_text)}: {text}") from cause

    def digest(self) -> dict[str, str]:
        """Return SHA-256 of its files, with what they import from their tree, and versions."""
        return self._digests()

    def close(self) -> None:
        """Nothing is open."""


def callable_source(
    function: Any, *, failures: bool = False, timeout: float | None = None
) -> CallableSource:
    """Return the source of any callable; the names of its parameters decide how it is called.

    They are ``(x)``, ``(x, rng)`` or ``(x, seed)``, one draw a call, or that many with a parameter
    ``size``; others need defaults. With ``failures`` an exception is an outcome, a `Failure`, where
    a call is one draw. A batch of draws may take ``timeout`` seconds. Raise `ArgumentError` if it
    cannot be called, or needs more than these.
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner)
    if not (inspect.isroutine(inner) or inspect.isclass(inner)):
        inner = type(inner)  # an object that can be called
    file = _file(inner)
    title = str(getattr(inner, "__qualname__", type(function).__name__)).replace(".<locals>", "")
    with argument_errors():
        name = f"{file.name}:{title}" if file else title
        sampler = Sampler(function, name, failures=failures)
    return CallableSource(sampler, lambda: _digests_of(function, inner, file), timeout=timeout)


def load(
    spec: str,
    *,
    failures: bool = False,
    folder: str | os.PathLike[str] = ".",
    parameters: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> CallableSource:
    """Return the source named ``file.py:function`` or ``package.module:function``.

    Modules are looked for in ``folder`` first; those beside a file are its own. The function gets
    ``parameters`` by name at every call. A batch of draws may take ``timeout`` seconds. Raise
    `ArgumentError` if it cannot be found, loaded or sampled.
    """
    with argument_errors():
        sampler = loading.load(spec, folder, failures=failures, parameters=parameters)
    options = {}
    if parameters:
        options["parameters"] = json.dumps(parameters, sort_keys=True)
    origin = Origin(spec, folder, parameters)
    return CallableSource(sampler, lambda: digests(spec, folder=folder) | options, origin, timeout)


def digests(spec: str, *, folder: str | os.PathLike[str] = ".") -> dict[str, str]:
    """Return SHA-256 of the files that `load` reads, and versions, or raise `ArgumentError`."""
    with argument_errors():
        return source_digests(spec, folder)


@contextmanager
def argument_errors() -> Iterator[None]:
    """Turn `Misuse` into `ArgumentError`, with the nearest choice."""
    try:
        yield
    except Misuse as error:
        message = error.message
        if error.choices is not None:
            message += suggest(error.wanted, error.choices)
        raise ArgumentError(error.argument, message) from error.__cause__


def _file(function: Any) -> Path | None:
    """Return the file in which a function is defined, if there is one."""
    with suppress(TypeError, OSError):  # C functions, and code from a prompt
        file = Path(inspect.getsourcefile(function) or "")
        return file.resolve() if file.is_file() else None
    return None


def _digests_of(function: Any, inner: Any, file: Path | None) -> dict[str, str]:
    digests = {"python": platform.python_version()}
    if isinstance(function, functools.partial):
        digests["arguments"] = repr((function.args, function.keywords))
    if file is not None and is_library(str(file)):
        return {**source_digests(f"{inner.__module__}:_"), **digests}
    if file is not None:
        root = file.parent
        while (root / "__init__.py").is_file():  # a package
            root = root.parent
        return {**file_digests(file, root), **digests}
    code = getattr(inner, "__code__", None)
    text = _text_of_code(code) if code else repr(inner)
    digests[getattr(inner, "__qualname__", "code")] = hashlib.sha256(text.encode()).hexdigest()
    return digests


def _text_of_code(code: CodeType) -> str:
    """Return what code does, with the functions in it, as a text: equal in every process."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # which would name its place in memory
            constants.append(_text_of_code(constant))
        elif isinstance(constant, frozenset):  # in an order of this process
            constants.append(f"a set of {sorted(map(repr, constant))}")
        else:
            constants.append(repr(constant))
    return repr((code.co_code, code.co_names, constants))
