"""Draws from a function."""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import inspect
import itertools
import os
import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .containing import contained
from .errors import Broken, Misuse, counted, error_text, in_serving, type_text
from .modules import ModuleFolder
from .optional import np
from .outputs import ATOMS, Failure, compact, of_array, plain, rows
from .signatures import Signature, by_name, distinct_seeds, folded, parameters_of

# what a mechanism prints goes there
NOWHERE = open(os.devnull, "w", encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
atexit.register(NOWHERE.close)


class Sampler:
    """A function, and everything that draws from it.

    It is a callable whose parameters `Signature` understands. ``name`` is its name in errors,
    ``home`` the folder of its modules. What it prints is lost. With ``failures`` an exception is an
    outcome, where a call is one draw.
    """

    def __init__(
        self, function: Any, name: str, *, failures: bool = False, home: ModuleFolder | None = None
    ) -> None:
        if inspect.isclass(function):
            raise Misuse(name, "is a class; name an object of it, or a function that makes one")
        if not callable(function):
            raise Misuse(name, f"must be a function, got {type_text(function)}")
        self.function, self.name, self.failures = function, name, failures
        self.signature = Signature(function, name)
        self.seeded = bool(self.signature.randomness)
        self.home = home or ModuleFolder()

    @property
    def description(self) -> str:
        """One line that says how it is called."""
        calls = "many draws a call" if self.signature.many else "one draw a call"
        defaults = self.signature.defaults
        parts = (
            f"{self.name}{self.signature.text}",
            calls,
            "" if self.seeded else "unseeded",
            f"{', '.join(defaults)} by default" if defaults else "",
        )
        return ", ".join(filter(None, parts))

    def draw(self, x: Any, size: int, seed: int) -> Any:
        """Return ``size`` outputs, an array or a list.

        Meanwhile the global generators of Python and NumPy follow from the seed. Raise `Broken` if
        the mechanism fails or does not return that many.
        """
        with _globals_seeded(seed):
            return self.drawn(x, size, seed)

    def drawn(self, x: Any, size: int, seed: int) -> Any:
        """Return the same, with the global generators as they are."""
        with self.home.entered(), contextlib.redirect_stdout(NOWHERE), contained():
            try:
                x = self.signature.converted(x)
                if not self.signature.many:
                    return self._one_by_one(x, size, seed)
                return self._together(x, size, seed)
            except (Broken, KeyboardInterrupt):
                raise
            except BaseException as error:
                message = error_text(error)
                if self.failures and self.signature.many:
                    message += "; an exception is an outcome only where a call is one draw"
                raise Broken(message) from error

    def _together(self, x: Any, size: int, seed: int) -> Any:
        randomness = self.signature.randomness_of(seed)
        result = rows(self.signature.call(self.function, copier(x)(), size, randomness))
        values: Any
        if np is not None and hasattr(result, "__array__") and np.ndim(result):
            values = result.copy() if isinstance(result, np.ma.MaskedArray) else np.array(result)
        elif isinstance(result, Sequence) and not isinstance(result, (str, bytes, bytearray)):
            values = list(result)
        else:
            raise Broken(
                f"returned {type_text(result)} where a list or an array of "
                f"{counted(size, 'output')} is needed: without the parameter "
                f"{self.signature.size!r} it is called for every draw"
            )
        if len(values) != size:
            vectors = getattr(values, "ndim", 1) > 1
            shape = f" of shape {values.shape}" if vectors else ""
            hint = ": outputs are the rows; transpose it" if vectors else ""
            outputs = counted(len(values), "output")
            raise Broken(f"returned {outputs}{shape} where {size} should be{hint}")
        return compact(values) if isinstance(values, list) else of_array(values)

    def _one_by_one(self, x: Any, size: int, seed: int) -> Any:
        sources: Iterable[Any]
        if self.signature.randomness == "seed":
            sources = distinct_seeds(seed, size)
        else:
            sources = itertools.repeat(self.signature.randomness_of(seed), size)
        fresh, values = copier(x), []
        for source in sources:
            try:
                value = self.signature.call(self.function, fresh(), 1, source)
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                wrong_call = isinstance(error, TypeError) and all(map(in_serving, frames))
                if wrong_call or not self.failures:  # it would fail on every input alike
                    raise
                value = Failure.of(error)
            if type(value) not in ATOMS:
                array = np is not None and type(value) is np.ndarray and not value.dtype.hasobject
                value = value.copy() if array else plain(value)
            values.append(value)
        return compact(values, (*ATOMS, tuple, dict, frozenset), own=True)


@contextlib.contextmanager
def globals_kept() -> Iterator[None]:
    """Restore the global generators at the end, not after each call in between."""
    if _keeping:
        yield
        return
    state = random.getstate()
    numbers = None if np is None else np.random.get_state(legacy=False)
    _keeping.append(True)
    try:
        yield
    finally:
        _keeping.clear()
        random.setstate(state)
        if np is not None:
            np.random.set_state(numbers)


_keeping: list[bool] = []


@contextlib.contextmanager
def _globals_seeded(seed: int) -> Iterator[None]:
    """Let the global generators follow from a seed, unlike a call's own; then restore them."""
    global_seed = folded(-1 - seed)
    with globals_kept():
        random.seed(global_seed)
        if np is not None:
            with contextlib.suppress(TypeError):  # replaced by another kind of generator
                np.random.seed(global_seed)
        yield


def bind(function: Any, parameters: Mapping[str, Any] | None, name: str) -> Any:
    """Return a function with parameters bound by name; its other parameters are unchanged.

    Raise `Misuse` if it takes no parameter of such a name.
    """
    if not parameters or inspect.isclass(function) or not callable(function):
        return function  # `Sampler` refuses it
    own = parameters_of(function)
    if own is not None and all(p.kind is not p.VAR_KEYWORD for p in own):
        known = by_name(own)
        for unknown in (key for key in parameters if key not in known):
            raise Misuse(name, f"takes no parameter {unknown!r}", unknown, known)
    return functools.partial(function, **parameters)


def copier(x: Any) -> Callable[[], Any]:
    """Return a function that copies an input for each call; cheap for numbers, lists and arrays."""
    if isinstance(x, ATOMS) or (isinstance(x, tuple) and all(isinstance(v, ATOMS) for v in x)):
        return lambda: x
    if type(x) is list and all(isinstance(v, ATOMS) for v in x):
        return x.copy
    if type(x) is list and all(
        type(row) is list and all(isinstance(v, ATOMS) for v in row) for row in x
    ):
        return lambda: [row.copy() for row in x]
    if np is not None and type(x) is np.ndarray and not x.dtype.hasobject:
        return x.copy
    return lambda: copy.deepcopy(x)
