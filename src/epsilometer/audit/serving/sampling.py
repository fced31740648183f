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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import Broken, Misuse, is_ours, told, what_is
from .optional import np
from .outputs import ATOMS, Failure, compact, of_array
from .places import Place
from .signatures import Signature, distinct_seeds, folded


class Sampler:
    """A function with all that is needed to draw from it.

    Parameters
    ----------
    function
        A callable whose parameters `Signature` understands.
    name
        How errors call it.
    failures
        Whether an exception is an outcome, where a call is one draw.
    place
        Where its modules are found.
    """

    def __init__(
        self,
        function: Any,
        name: str,
        *,
        failures: bool = False,
        place: Place | None = None,
    ) -> None:
        if inspect.isclass(function):
            function = _instance(function, name)
        if not callable(function):
            raise Misuse(name, f"is no function but {what_is(function)}")
        called = inspect.unwrap(getattr(function, "func", function))
        if inspect.iscoroutinefunction(called):
            raise Misuse(name, "is an async function; give it one that returns its outputs")
        self.function, self.name, self.failures = function, name, failures
        self.signature = Signature(function, name)
        self.seeded = bool(self.signature.randomness)
        self.place = place or Place()

    @property
    def description(self) -> str:
        """One line: what was found out."""
        calls = "many draws a call" if self.signature.many else "one draw a call"
        return f"{self.name}{self.signature.text}, {calls}{'' if self.seeded else ', unseeded'}"

    def draw(self, x: Any, size: int, seed: int) -> Any:
        """Return ``size`` outputs, an array or a list.

        The global generators of Python and NumPy, from which a mechanism may draw, follow from the
        seed meanwhile.

        Raises
        ------
        Broken
            If the mechanism fails or does not return that many.
        """
        with _globals_seeded(seed):
            return self.drawn(x, size, seed)

    def drawn(self, x: Any, size: int, seed: int) -> Any:
        """Return the same, where global generators are as they were left."""
        if self.signature.array and np is not None:
            x = np.asarray(x)
        with self.place.entered(), contextlib.redirect_stdout(sys.stderr):
            try:
                if self.signature.many:
                    return self._together(x, size, seed)
                return self._one_by_one(x, size, seed)
            except (Broken, KeyboardInterrupt):
                raise
            except BaseException as error:
                message = told(error)
                if self.failures and self.signature.many:
                    message += "; an exception is an outcome only where a call is one draw"
                raise Broken(message) from error

    def _together(self, x: Any, size: int, seed: int) -> Any:
        source = self.signature.source(seed)
        result = self.signature.call(self.function, copier(x)(), size, source)
        if isinstance(result, Iterator):
            result = list(itertools.islice(result, size + 1))
            if len(result) > size:
                raise Broken(f"returned more outputs than the {size} asked for")
        wanted = f"where {size} {'was' if size == 1 else 'were'} asked for"
        if np is not None and hasattr(result, "__array__") and not isinstance(result, np.generic):
            array = np.array(result) if not isinstance(result, np.ma.MaskedArray) else result.copy()
            if array.ndim:
                if len(array) != size:
                    swapped = array.ndim > 1 and array.shape[1] == size
                    shape = f" of shape {array.shape}" if array.ndim > 1 else ""
                    hint = ": outputs are the rows; transpose it" if swapped else ""
                    raise Broken(f"returned {_outputs(len(array))}{shape} {wanted}{hint}")
                return of_array(array)
            result = array.item()
        if isinstance(result, Sequence) and not isinstance(result, (str, bytes, bytearray)):
            if len(result) != size:
                raise Broken(f"returned {_outputs(len(result))} {wanted}")
            return compact(list(result))
        if result is None or isinstance(result, (dict, set, frozenset)):
            raise Broken(f"returned {what_is(result)} {wanted}: return a list or an array")
        raise Broken(
            f"returned one {type(result).__name__} {wanted}: "
            f"without the parameter {self.signature.size!r} it is called once for every draw"
        )

    def _one_by_one(self, x: Any, size: int, seed: int) -> Any:
        sources: Iterable[Any]
        if self.signature.randomness == "seed":
            sources = distinct_seeds(seed, size)
        else:
            sources = itertools.repeat(self.signature.source(seed), size)
        fresh, values = copier(x), []
        for source in sources:
            try:
                value = self.signature.call(self.function, fresh(), 1, source)
            except Exception as error:
                if not self.failures or _never_ran(error):
                    raise
                value = Failure(type(error).__name__)
            if type(value) not in ATOMS and _may_change(value):
                value = copy.deepcopy(value)
            values.append(value)
        return compact(values)


@contextlib.contextmanager
def _globals_seeded(seed: int) -> Iterator[None]:
    """Let the global generators follow from a seed, unlike what is given; then put them back."""
    own = folded(-1 - seed)
    state = random.getstate()
    numbers = None if np is None else np.random.get_state(legacy=False)
    random.seed(own)
    if np is not None:
        with contextlib.suppress(TypeError):  # of another kind, which somebody has put there
            np.random.seed(own)
    try:
        yield
    finally:
        random.setstate(state)
        if np is not None:
            np.random.set_state(numbers)


def bound(function: Any, parameters: Mapping[str, Any], name: str) -> Any:
    """Return a function that is given parameters by name; what it takes beside them is unchanged.

    Raises
    ------
    Misuse
        If it takes no parameter of such a name.
    """
    if not callable(function):
        return function  # which will be told
    if inspect.isclass(function) and _makes_callables(function):
        return _instance(function, name, parameters)
    try:
        given = inspect.signature(function)
    except (TypeError, ValueError):  # C functions often have none
        return functools.partial(function, **parameters)
    try:
        signature = inspect.signature(functools.partial(function, **parameters))
    except ValueError:
        known = [key for key in given.parameters if key != "self"]
        unknown = next((key for key in parameters if key not in known), "")
        raise Misuse(name, f"takes no parameter {unknown!r}", unknown, known) from None

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options, **parameters)

    rest = [p for p in signature.parameters.values() if p.name not in parameters]
    call.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return call


def _makes_callables(cls: type) -> bool:
    return any("__call__" in vars(base) for base in cls.__mro__)


def _instance(cls: type, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return an object of a class whose objects can be called; the class itself otherwise."""
    if not _makes_callables(cls):
        return cls
    try:
        return cls(**(parameters or {}))
    except Exception as error:
        helps = "" if parameters else "; name an object of it"
        message = f"is a class, and {cls.__name__}() fails: {told(error)}{helps}"
        raise Misuse(name, message) from error


def _never_ran(error: BaseException) -> bool:
    """Tell whether the call itself was wrong, so that it would fail on every input alike."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, TypeError) and all(map(is_ours, frames))


def _may_change(value: Any) -> bool:
    return isinstance(value, (list, dict, set, bytearray)) or hasattr(value, "__array__")


def copier(x: Any) -> Callable[[], Any]:
    """Return what gives each call an input of its own; cheap for numbers, lists and arrays."""
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


def _outputs(count: int) -> str:
    return f"{count} output{'' if count == 1 else 's'}"
