"""Records of a draw: its calls into sources of randomness, and the lines that it ran."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ..modules import is_library, np
from ..outputs import Failure, as_json, plain
from ..sampling import parameters_of

_FOREIGN = (  # packages whose lines are not part of a mechanism that calls them
    *("numpy", "scipy", "pandas", "sklearn", "numba", "pyarrow", "joblib", "threadpoolctl"),
    *("torch", "jax", "tensorflow", "_distutils_hack", "setuptools", "pkg_resources"),
)
_TYPED = ("<stdin", "<console", "<ipython", "<python-input", "<doctest")
_HERE = Path(__file__).parents[1]
_CALLERS = tuple(str(_HERE / name) for name in ("sampling.py", "loading.py"))  # of mechanisms
_CALLS = 500  # records of a run
_FRAMES = 6
_LONG = 2000  # characters of a value
_NAMES = 24  # of numbers in a function
_STEPS = 2000
_FEW = 8  # entries of a collection that is kept line by line


class Recorder:
    """Calls in the order in which they were made; a call within another is part of it."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self._inside = 0
        self._numbers = itertools.count(1)  # of generators
        self.of_function = functools.partial(self.wrapped, method=False)

    def wrapped(
        self, function: Any, name: str, names: Any = None, kind: str = "draw", method: bool = True
    ) -> Any:
        """Return a function, or a ``method``, that also records its calls.

        The ``names`` of parameters have decimal defaults, as in ``loc=0.0, size=None``; by default
        they are those of the signature. They may be a function of the method's object. The
        ``kind`` is ``draw``, or ``seed`` if it sets or makes a generator.
        """
        every = parameters_of(function) if names is None else None
        named = [p for p in every or () if p.kind is not p.VAR_KEYWORD and p.name != "self"]
        signature = {p.name: None if p.default is p.empty else p.default for p in named}

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if self._inside or len(self.records) >= _CALLS:
                return function(*arguments, **options)
            source = arguments[0] if method else None
            with self.paused():
                frames = frames_of(sys._getframe(1))
                known = names(source) if callable(names) else names
                given = dict(signature) if known is None else _read(known)
                own = arguments[1:] if method else arguments
                others = [f"argument {i + 1}" for i in range(len(given), len(own))]
                given.update(zip([*given, *others], own), **options)
                facts = {"kind": kind, "name": name, "frames": frames}
                record: dict[str, Any] = {**facts, "source": None, "count": 0}
                record["arguments"] = {key: summary(each) for key, each in given.items()}
                if frames or (frames == [] and kind == "draw"):
                    self.records.append(record)
                value = function(*arguments, **options)
                if kind == "draw":
                    size = len(value) if isinstance(value, (list, tuple)) else value is not None
                    record["count"] = int(getattr(value, "size", size))
                made = value if kind == "seed" and value is not None else source
                with contextlib.suppress(AttributeError, TypeError):  # it cannot hold a number
                    record["source"] = vars(made).setdefault("_epsilometer", next(self._numbers))
            return value

        return call

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing in this context."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1


@contextlib.contextmanager
def lines_in(ran: list[Any]) -> Iterator[None]:
    """Record the lines of a mechanism and its callees that run here, in the order of their end.

    For each its file, its number, and by name what its function holds and did not at its start: the
    single numbers and short collections, and the value that it returns.
    """

    def called(frame: FrameType, *_: Any) -> Any:
        file = frame.f_code.co_filename
        if frame.f_trace is not None or not is_of_user(file):
            return frame.f_trace  # that of a generator, which goes on
        line, start = 0, _numbers(frame)

        def run(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal line
            if line and event in ("line", "return") and len(ran) < _STEPS:
                now = {k: v for k, v in _numbers(frame).items() if k not in start or v != start[k]}
                if event == "return":
                    now["return"] = summary(argument)
                ran.append([file, line, now])
            line = frame.f_lineno
            return run

        return run

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)


def _numbers(frame: FrameType) -> dict[str, Any]:
    """Return the single numbers and short collections in a function, and those of its object."""
    variables = dict(frame.f_locals) if frame.f_code.co_name != "<module>" else {}
    attributes = getattr(variables.pop("self", None), "__dict__", None)
    if type(attributes) is dict:
        variables.update({f"self.{name}": value for name, value in attributes.items()})
    numbers: dict[str, Any] = {}
    for name, value in variables.items():
        number = value.item() if np is not None and isinstance(value, np.generic) else value
        if len(numbers) >= _NAMES or name[:1] == "_":
            continue
        if type(number) in (int, float, bool):
            numbers[name] = number
        elif type(number) in (list, tuple, dict) or hasattr(number, "dtype"):
            size = getattr(number, "size", None) or len(number)
            numbers.update({name: summary(number)} if 0 < size <= _FEW else {})
    return numbers


@functools.lru_cache(maxsize=10_000)
def is_of_user(file: str) -> bool:
    """Tell whether a file belongs to a mechanism or to a library of mechanisms."""
    parts = Path(file).parts
    if file.startswith("<") or _HERE in Path(file).parents:
        return file.startswith(_TYPED)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-1]:
            return parts[parts.index(folder) + 1].partition(".")[0] not in _FOREIGN
    return not is_library(file)


def frames_of(frame: FrameType | None) -> list[Any] | None:
    """Return files and lines of the callers, the innermost first; None for calls of an import.

    So it is for libraries, and for any module while draws are made.
    """
    frames: list[Any] = []
    imported = False
    while frame is not None and frame.f_code.co_filename not in _CALLERS:
        file = frame.f_code.co_filename
        imported = imported or file.startswith("<frozen importlib")
        if is_of_user(file) and not imported:
            del frames[_FRAMES - 1 :]  # the innermost stay, and the outermost
            frames.append([file, frame.f_lineno])
        frame = frame.f_back
    drawing = frame is not None and frame.f_code.co_filename == _CALLERS[0]
    return None if imported and (drawing or not frames) else frames


def summary(value: Any, most: int = _LONG) -> Any:
    """Return a value as JSON values to compare, or behind ``$`` a text about a long or odd one."""
    if isinstance(value, Failure):
        return {"$": value.type_name}
    with contextlib.suppress(Exception):  # of another type
        large = np is not None and isinstance(value, np.ndarray) and value.size > most
        if large and not value.dtype.hasobject:
            data, text = value.tobytes(), str(value.ravel()[:4].tolist())
        elif not hasattr(value, "close"):  # as coroutines have
            known = as_json(plain(value))
            text = json.dumps(known)
            if len(text) <= most:
                return known
            data = text.encode()
        digest = hashlib.sha256(data).hexdigest()[:16]
        return {"$": f"{text[:60]} ...", "digest": digest}
    return {"$": type(value).__name__}


def _read(parameters: str) -> dict[str, Any]:
    pairs = re.findall(r"(\w+)(?:=([^,]*))?", parameters)
    return {name: float(x) if re.fullmatch(r"\d+\.\d+", x) else None for name, x in pairs}
