"""Records of calls into sources of randomness: functions, arguments, lines of the callers."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..modules import is_library
from ..optional import np
from ..signatures import parameters_of

if TYPE_CHECKING:
    Record = dict[str, Any]  # values for JSON
else:
    Record = dict  # Python 3.8 cannot subscript it

_FOREIGN = frozenset(
    (
        *("numpy", "scipy", "pandas", "sklearn", "numba", "pyarrow", "joblib", "threadpoolctl"),
        *("torch", "jax", "tensorflow", "_distutils_hack", "setuptools", "pkg_resources"),
    )
)
"""Packages whose lines are not part of a mechanism that calls them."""

_TYPED = ("<stdin", "<console", "<ipython", "<python-input", "<doctest")
_HERE = Path(__file__).parents[1]
_CALLERS = tuple(str(_HERE / name) for name in ("sampling.py", "loading.py"))  # of mechanisms
_CALLS = 500  # records of a run
_ENTRIES = 256  # recorded entries of an array
_FRAMES = 6
_NAMES = 24  # of numbers in a frame
_DETAILED = 100  # calls whose frames have numbers
_TEXT = 60


class Recorder:
    """Calls in the order in which they were made; a call within another is part of it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._inside = 0
        self._sources = 0

    def wrapped(
        self,
        function: Callable[..., Any],
        name: str | Callable[[Any], str],
        parameters: str | None = None,
        kind: str = "draw",
    ) -> Callable[..., Any]:
        """Return a function or method that also records its calls.

        ``name`` is a text, or a function of the method's object. ``parameters`` are names, with
        decimal defaults, as in ``loc=0.0, scale=1.0, size=None``; by default those of its
        signature. Its ``kind`` is ``draw``, or ``seed`` if it sets or makes a generator.
        """
        names = _signature(function) if parameters is None else _read(parameters)

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if self._inside:
                return function(*arguments, **options)
            own, title, source = arguments, name, None
            if callable(name):
                title, own, source = name(arguments[0]), arguments[1:], arguments[0]
            with self.paused():
                record = self._record(kind, str(title), _bound(names, own, options))
                value = function(*arguments, **options)
                if record is not None:
                    creates = kind == "seed" and value is not None
                    record["source"] = self._number(value if creates else source)
                if record is not None and kind == "draw":
                    record["count"] = _count(value)
                    record["values"] = summary(value)
            return value

        return call

    def _record(self, kind: str, name: str, arguments: dict[str, Any]) -> Record | None:
        """Record a call; return None if it is not kept."""
        frames = frames_of(sys._getframe(2), detailed=len(self.records) < _DETAILED)
        if frames is None or (kind == "seed" and not frames):
            return None  # a call by a library during its import, or by the audit itself
        if len(self.records) >= _CALLS:
            return None
        values = {key: summary(value) for key, value in arguments.items()}
        record = {"kind": kind, "name": name, "arguments": values, "count": 0, "frames": frames}
        self.records.append(record)
        return record

    def _number(self, source: Any) -> int | None:
        """Return a generator's number; None for objects that cannot hold it."""
        attributes = getattr(source, "__dict__", None)
        if type(attributes) is not dict:
            return None
        self._sources += 1
        return int(attributes.setdefault("_epsilometer_number", self._sources))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing in this context."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1


# --- places ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=10_000)
def is_of_user(file: str) -> bool:
    """Tell whether a file belongs to a mechanism or to a library of mechanisms."""
    if file.startswith("<"):
        return file.startswith(_TYPED)
    parts = Path(file).parts
    if _HERE in Path(file).parents:
        return False
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-1]:
            return parts[parts.index(folder) + 1].partition(".")[0] not in _FOREIGN
    return not is_library(file)


def frames_of(frame: FrameType | None, *, detailed: bool) -> list[Record] | None:
    """Return the callers, the innermost first: function, file, line, and its numbers.

    Return None for calls during an import, of a library, or of any module while draws are made.
    """
    frames: list[Record] = []
    imported = False
    while frame is not None and frame.f_code.co_filename not in _CALLERS:
        file = frame.f_code.co_filename
        imported = imported or file.startswith("<frozen importlib")
        if is_of_user(file) and not imported:
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # from 3.11 on
            record = {"function": name, "file": file, "line": frame.f_lineno}
            if detailed and name != "<module>":
                record["numbers"] = _numbers(frame)
            del frames[_FRAMES - 1 :]  # the innermost stay, and the outermost
            frames.append(record)
        frame = frame.f_back
    drawing = frame is not None and frame.f_code.co_filename == _CALLERS[0]
    return None if imported and (drawing or not frames) else frames


def _numbers(frame: FrameType) -> dict[str, Any]:
    """Return the single numbers in a function, and those of its object."""
    numbers: dict[str, Any] = {}
    variables = dict(frame.f_locals)
    attributes = getattr(variables.pop("self", None), "__dict__", None)
    if type(attributes) is dict:
        variables.update({f"self.{name}": value for name, value in attributes.items()})
    for name, value in variables.items():
        if np is not None and isinstance(value, np.generic):
            value = value.item()  # noqa: PLW2901
        if type(value) in (int, float, bool) and len(numbers) < _NAMES and name[:1] != "_":
            numbers[name] = value
    return numbers


# --- values ---------------------------------------------------------------------------------------


def summary(value: Any) -> Any:  # noqa: PLR0911
    """Return a value for JSON; a long one as its digest, with its first entries."""
    if np is not None and isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, (bytes, bytearray)):
        value = value.hex()
    if isinstance(value, str):
        long = len(value) > _TEXT
        return _digested(value.encode(), [len(value)], value[:_TEXT]) if long else value
    if isinstance(value, (dict, set, frozenset)):
        parts = sorted(map(repr, value.items() if isinstance(value, dict) else value))
        return _digested(repr(parts).encode(), [len(value)], type(value).__name__)
    if isinstance(value, (list, tuple, range)):
        entries = [summary(entry) for entry in value[:_ENTRIES]]
        if len(value) <= _ENTRIES and _size(entries) <= _ENTRIES:
            return entries
        return _digested(repr(value).encode(), [len(value)], entries[:4])
    if np is not None and isinstance(value, np.ndarray):
        if value.size <= _ENTRIES:
            return summary(value.tolist())
        data = repr(value.tolist()).encode() if value.dtype.hasobject else value.tobytes()
        return _digested(data, list(value.shape), summary(value.ravel()[:4].tolist()))
    return {"type": type(value).__name__}


def _size(value: Any) -> int:
    return sum(map(_size, value)) if isinstance(value, list) else 1


def _digested(data: bytes, shape: list[int], first: Any) -> Record:
    return {"digest": hashlib.sha256(data).hexdigest()[:16], "shape": shape, "first": first}


def _count(value: Any) -> int:
    if np is not None and isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, (list, tuple)):
        return len(value)
    return 0 if value is None else 1


# --- arguments ------------------------------------------------------------------------------------


def _read(parameters: str) -> dict[str, Any]:
    pairs = re.findall(r"(\w+)(?:=([^,]*))?", parameters)
    return {name: float(x) if re.fullmatch(r"\d+\.\d+", x) else None for name, x in pairs}


def _signature(function: Callable[..., Any]) -> dict[str, Any]:
    named = [p for p in parameters_of(function) or () if p.name != "self"]
    named = [p for p in named if p.kind is not p.VAR_KEYWORD]
    return {p.name: None if p.default is p.empty else p.default for p in named}


def _bound(names: dict[str, Any], positional: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by name, with the defaults of the others."""
    arguments = dict(names)
    for i, value in enumerate(positional):
        arguments[list(names)[i] if i < len(names) else f"argument {i + 1}"] = value
    arguments.update(options)
    return arguments
