"""Draws from a function."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import random
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .containing import contained
from .errors import Broken, Misuse, counted, error_text, in_serving, shortened, type_text
from .modules import ModuleFolder
from .optional import np
from .outputs import ATOMS, Failure, compact, of_array, plain, rows
from .signatures import Signature, by_name, defaults, distinct_seeds, folded, parameters_of

_KINDS = ("Generator", "BitGenerator", "RandomState", "SeedSequence")
_GENERATORS = (random.Random, *(getattr(np.random, kind) for kind in _KINDS if np is not None))


class Sampler:
    """A function, and everything that draws from it.

    It is a callable whose parameters `Signature` understands; a class whose objects can be called;
    or an `ObjectFactory`. ``name`` is its name in errors, ``home`` the
    folder of its modules. With ``failures`` an exception is an outcome, where a call is one draw.
    """

    def __init__(
        self, function: Any, name: str, *, failures: bool = False, home: ModuleFolder | None = None
    ) -> None:
        if inspect.isclass(function) and _makes_callables(function):
            function = ObjectFactory(function, name)
        self._factory = function if isinstance(function, ObjectFactory) else None
        self.per_draw = self._factory is not None and self._factory.per_draw
        function = self._factory.first if self._factory else function
        if not callable(function):
            raise Misuse(name, f"must be a function, got {type_text(function)}")
        self.function, self.name, self.failures = function, name, failures
        self.signature = Signature(function, name)
        self.seeded = bool(self.signature.randomness)
        self.home = home or ModuleFolder()
        self.printed = Printed()

    @property
    def description(self) -> str:
        """One line that says how it is called."""
        calls = "many draws a call" if self.signature.many else "one draw a call"
        if self.per_draw:
            calls = "one draw a call, each of a new object"
        defaults = [*(self._factory.defaults if self._factory else ()), *self.signature.defaults]
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
        with self.home.entered(), contextlib.redirect_stdout(self.printed), contained():
            try:
                x = self.signature.converted(x)
                if not self.signature.many:
                    return self._one_by_one(x, size, seed)
                if not self.per_draw:
                    return self._together(x, size, seed)
                seeds = distinct_seeds(seed, size)
                return compact([self._together(x, 1, each)[0] for each in seeds])
            except (Broken, KeyboardInterrupt):
                raise
            except BaseException as error:
                message = error_text(error)
                if self.failures and self.signature.many:
                    message += "; an exception is an outcome only where a call is one draw"
                raise Broken(message) from error

    def _call(self, x: Any, size: int, randomness: Any) -> Any:
        function = self._factory.make() if self._factory and self.per_draw else self.function
        result = self.signature.call(function, x, size, randomness)
        if inspect.iscoroutine(result):
            result.close()
            raise Broken("returned a coroutine; it must return asyncio.run(...) of it")
        return result

    def _together(self, x: Any, size: int, seed: int) -> Any:
        result = self._call(copier(x)(), size, self.signature.randomness_of(seed))
        if isinstance(result, Iterator):
            result = list(itertools.islice(result, size + 1))
            if len(result) > size:
                raise Broken(f"returned more outputs than the {size} asked for")
        result = rows(result)
        expected = f"where {size} {'was' if size == 1 else 'were'} asked for"
        if np is not None and hasattr(result, "__array__") and not isinstance(result, np.generic):
            array = np.array(result) if not isinstance(result, np.ma.MaskedArray) else result.copy()
            if array.ndim:
                if len(array) != size:
                    swapped = array.ndim > 1 and array.shape[1] == size
                    shape = f" of shape {array.shape}" if array.ndim > 1 else ""
                    hint = ": outputs are the rows; transpose it" if swapped else ""
                    outputs = counted(len(array), "output")
                    raise Broken(f"returned {outputs}{shape} {expected}{hint}")
                return of_array(array)
            result = array.item()
        if isinstance(result, Sequence) and not isinstance(result, (str, bytes, bytearray)):
            if len(result) != size:
                raise Broken(f"returned {counted(len(result), 'output')} {expected}")
            return compact(list(result))
        if result is None or isinstance(result, (dict, set, frozenset)):
            raise Broken(f"returned {type_text(result)} {expected}: return a list or an array")
        raise Broken(
            f"returned one {type(result).__name__} where a list or an array of "
            f"{counted(size, 'output')} is needed: without the parameter {self.signature.size!r} "
            "it is called for every draw"
        )

    def _one_by_one(self, x: Any, size: int, seed: int) -> Any:
        sources: Iterable[Any]
        if self.signature.randomness == "seed":
            sources = distinct_seeds(seed, size)
        else:
            sources = itertools.repeat(self.signature.randomness_of(seed), size)
        fresh, values = copier(x), []
        for source in sources:
            try:
                value = self._call(fresh(), 1, source)
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


class ObjectFactory:
    """A class whose objects can be called, or have the method that draws.

    All draws share the ``first`` object. If two objects differ in more than their generators, as
    where the constructor draws noise, there is one ``per_draw``. ``parameters`` are those of the
    constructor, or of the method; ``defaults`` are the constructor's others. Raise `Misuse` if it
    takes no parameter of such a name, or its constructor fails.
    """

    def __init__(
        self, cls: Any, name: str, method: str = "", parameters: Mapping[str, Any] | None = None
    ) -> None:
        options = {} if method else dict(parameters or {})
        _refuse_unknown(cls, options, name)
        self.defaults = defaults(cls, options)

        def callable_of(value: Any) -> Any:
            return bind(getattr(value, method), parameters, name) if method else value

        try:
            first = cls(**options)
        except Exception as error:
            hint = "" if options else "; name an object of it"
            problem = f"is {'a method' if method else 'a class'}, and {cls.__name__}() fails"
            raise Misuse(name, f"{problem}: {error_text(error)}{hint}") from error
        self.first = callable_of(first)
        self.make: Callable[[], Any] = lambda: callable_of(cls(**options))
        try:
            self.per_draw = not _alike(first, cls(**options))
        except Exception:  # parts of it cannot be compared
            self.per_draw = True


def _alike(a: Any, b: Any) -> bool:  # noqa: PLR0911
    """Tell whether two objects hold equal values; all generators count as equal."""
    if type(a) is not type(b):
        return False
    if a is b or isinstance(a, _GENERATORS):
        return True
    if np is not None and isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b)) if not a.dtype.hasobject else _alike(list(a), list(b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_alike, a, b))
    if inspect.isfunction(a):
        same = a.__code__ is b.__code__ and _alike(a.__defaults__, b.__defaults__)
        cells = [[cell.cell_contents for cell in f.__closure__ or ()] for f in (a, b)]
        return same and _alike(*cells)
    if inspect.isbuiltin(a):  # a method of an object of compiled code
        return a.__name__ == b.__name__ and _alike(a.__self__, b.__self__)
    if inspect.ismethod(a):
        return a.__func__ is b.__func__ and _alike(a.__self__, b.__self__)
    return _alike(vars(a), vars(b)) if hasattr(a, "__dict__") else bool(a == b)


class Printed:
    """A replacement of stdout, which counts printed lines and keeps the first and the last."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.last: deque[str] = deque(maxlen=5)
        self._count, self._open = 0, ""

    def write(self, text: str) -> int:
        """Take a text; return its length."""
        *lines, rest = (self._open + text).split("\n")
        self._open = rest[:200]
        lines = [shortened(line, 120) for line in lines if line.strip()]
        self._count += len(lines)
        self.first += lines[: 3 - len(self.first)]
        self.last += lines
        return len(text)

    def summary(self) -> str:
        """Return one line about the prints; "" without any."""
        more = self._count - len(self.first)
        rest = f" ... and {more:,} more line{'s' if more > 1 else ''}" if more else ""
        return f"it prints {', '.join(map(repr, self.first))}{rest}" if self.first else ""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


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
    if not parameters or isinstance(function, ObjectFactory) or not callable(function):
        return function  # `Sampler` refuses it
    if isinstance(function, type) and _makes_callables(function):
        return ObjectFactory(function, name, parameters=parameters)
    _refuse_unknown(function, parameters, name)
    partial = functools.partial(function, **parameters)
    if (rest := parameters_of(partial)) is None:
        return partial

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options, **parameters)

    rest = [p for p in rest if p.name not in parameters]
    call.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
    return call


def _refuse_unknown(function: Any, parameters: Mapping[str, Any], name: str) -> None:
    own = parameters_of(function)
    if own is None or any(p.kind is p.VAR_KEYWORD for p in own):
        return
    known = by_name(own)
    for unknown in (key for key in parameters if key not in known):
        raise Misuse(name, f"takes no parameter {unknown!r}", unknown, known)


def _makes_callables(cls: type) -> bool:
    return any("__call__" in vars(base) for base in cls.__mro__)


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
