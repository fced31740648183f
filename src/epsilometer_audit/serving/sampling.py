"""Draws from a function, by the names of its parameters."""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import hashlib
import importlib
import inspect
import itertools
import os
import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import Broken, Misuse, counted, error_text, in_serving, shortened, type_text
from .modules import ModuleFolder, contained, np
from .outputs import ATOMS, Failure, compact, of_array, plain, rows

# what a mechanism prints goes there
NOWHERE = open(os.devnull, "w", encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
atexit.register(NOWHERE.close)

_GENERATORS = ("rng", "generator", "random_state", "gen", "prng", "random_generator", "random")
_SEEDS = ("seed", "random_seed", "rng_seed")
RANDOM = (*_GENERATORS, *_SEEDS)
_SIZES = (
    *("size", "n", "samples", "draws", "count", "shots"),
    *("n_samples", "n_draws", "n_shots", "num_samples", "num_draws", "num_shots"),
)
_UNDERSTOOD = "(x), (x, rng), (x, seed), (x, size), (x, size, rng) or (x, size, seed)"
_SEED_LIMIT = 2**31  # R, Java and old NumPy take no larger ones


def _role(parameter: inspect.Parameter) -> str:
    name, kind = parameter.name.lower(), str(parameter.annotation)
    if name not in RANDOM:
        return "size" if name in _SIZES else ""
    if "RandomState" in kind:
        return "RandomState"
    untyped = parameter.annotation is parameter.empty
    if "random.Random" in kind or kind == "Random" or (name == "random" and untyped):
        return "Random"
    return "seed" if "Generator" not in kind and (name in _SEEDS or "int" in kind) else "rng"


def _roles(parameters: Sequence[inspect.Parameter], name: str) -> dict[str, str]:
    """Return the role of each parameter that gets a value: x, size, seed or a generator."""
    roles = {p.name: role for p in parameters if (role := _role(p))}
    required = [p.name for p in parameters if p.default is p.empty]
    # it has no role, or is called like a number of draws but must be given
    may_be = [
        p.name for p in parameters if roles.get(p.name) in (None, p.default is p.empty and "size")
    ]
    x = next(iter(may_be), "")
    if not x:
        raise Misuse(name, f"takes no input; understood are {_UNDERSTOOD}")
    roles[x] = "x"
    counts = [key for key, role in roles.items() if role == "size"]
    if x == "self":
        raise Misuse(name, "is the method of a class; name one of an object")
    if unknown := [key for key in required if key not in roles]:
        raise Misuse(
            name,
            f"needs {' and '.join(map(repr, unknown))} beside its input {x!r}: give it a default "
            f"or wrap it in a function; understood are {_UNDERSTOOD}",
        )
    for names, title in ((counts, "a number of draws"), (_random(roles), "a seed or generator")):
        if len(names) > 1:
            raise Misuse(name, f"has two parameters for {title}: {' and '.join(names)}")
    return roles


def _random(roles: dict[str, str]) -> list[str]:
    return [key for key, role in roles.items() if role not in ("x", "size")]


def parameters_of(function: Any) -> list[inspect.Parameter] | None:
    """Return the parameters of a function; None without a signature, as for many C functions."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the named parameters; None where there are none, but ``*args``."""
    if (known := parameters_of(function)) is None:
        return None
    bound = function.keywords if isinstance(function, functools.partial) else ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [p for p in known if p.kind not in kinds and p.name not in bound]
    return named if named or all(p.kind is not p.VAR_POSITIONAL for p in known) else None


class _Role(str):
    """What a parameter gets, unlike the default of another."""


class Signature:
    """The arguments of a function's calls, by the names of its parameters.

    ``text`` shows them. ``many``: a call returns many draws. ``randomness``: the kind of its seed
    or generator, "" for none; ``constant``: that with its default. ``defaults``: the other
    parameters with their values.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.constant = ""
        only = inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [only] if (known := _parameters(function)) is None else known
        roles = _roles(parameters, name)
        self._kind = next(str(p.annotation) for p in parameters if roles.get(p.name) == "x")
        given = {
            p.name: _Role(roles[p.name]) if p.name in roles else p.default
            for p in parameters
            if p.name in roles or p.kind is p.POSITIONAL_ONLY
        }
        # by position while there is no gap, by name after it
        bound: Any = inspect.BoundArguments(inspect.Signature(parameters), given)
        self._positional, self._named = bound.args, bound.kwargs
        self.text = f"({', '.join(p.name for p in parameters if p.name in roles)})"
        self.size = next((key for key, role in roles.items() if role == "size"), "")
        self.many = bool(self.size)
        own = next((p for p in parameters if p.name in _random(roles)), only)
        self.randomness = "" if own is only else roles[own.name]
        if own.default is not None and own.default is not own.empty:
            seed = own.default if isinstance(own.default, int) else type(own.default).__name__
            self.constant = f"{own.name}={seed}"
        left = [p for p in parameters if p.default is not p.empty and p.name not in roles]
        shown = {p.name: " ".join(repr(p.default).split()) for p in left}
        self.defaults = [
            n if s[:1] == "<" else f"{n} = {shortened(s, 30)}" for n, s in shown.items()
        ]

    def converted(self, x: Any) -> Any:
        """Return an input as an array, if it is annotated as one, or as a table.

        A table of pandas is written as ``{"$frame": {name: type}, "rows": [[value, ...], ...]}``,
        one of Polars with ``$polars``.
        """
        if np is not None and ("ndarray" in self._kind or "NDArray" in self._kind):
            return np.asarray(x)
        for key, library in (("$frame", "pandas"), ("$polars", "polars")):
            if isinstance(x, dict) and set(x) == {key, "rows"}:
                table, types = x["rows"], x[key]
                try:
                    module: Any = importlib.import_module(library)
                except ImportError:
                    needed = f"is given a data frame, which needs {library} where it runs"
                    raise Broken(needed) from None
                if library == "pandas":
                    return module.DataFrame(table, columns=list(types)).astype(types)
                schema = {name: getattr(module, kind) for name, kind in types.items()}
                return module.DataFrame(table, schema=schema, orient="row")
        return x

    def call(self, function: Callable[..., Any], x: Any, size: int, randomness: Any) -> Any:
        """Call the function with those arguments that it takes."""
        values = {"x": x, "size": size, self.randomness or "seed": randomness}
        named = {name: values[role] for name, role in self._named.items()}
        return function(*[values[v] if type(v) is _Role else v for v in self._positional], **named)

    def caller(self, function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
        """Return a function of an input and a seed or generator, for calls of one draw."""
        roles = [value for value in self._positional if type(value) is _Role]
        if not self._named and len(roles) == len(self._positional):
            if roles == ["x", self.randomness]:
                return function
            if roles == ["x"]:
                return lambda x, _: function(x)
        return lambda x, randomness: self.call(function, x, 1, randomness)

    def randomness_of(self, seed: int) -> Any:
        """Return the seed or generator of a call."""
        if not self.randomness:
            return None
        if self.randomness == "seed":
            return folded(seed)
        if self.randomness == "RandomState" and np is not None:
            return np.random.RandomState(folded(seed))
        if self.randomness == "Random" or np is None:
            return random.Random(seed)  # noqa: S311
        return np.random.default_rng(seed)


def folded(seed: int) -> int:
    """Return a seed from 1 to 2^31 - 1 that is far from those of the next ones.

    C has the same draws for 0 and 1, and generators whose first draws grow with the seed.
    """
    digest = hashlib.sha256(str(seed).encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") % (_SEED_LIMIT - 1)


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
        parts = [f"{self.name}{self.signature.text}", calls, *["unseeded"] * (not self.seeded)]
        return ", ".join([*parts, *[f"{', '.join(defaults)} by default"] * bool(defaults)])

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
        if getattr(values, "size", size) == 0:
            raise Broken("returned outputs without entries")
        return compact(values) if isinstance(values, list) else of_array(values)

    def _one_by_one(self, x: Any, size: int, seed: int) -> Any:
        sources: Iterable[Any]
        if self.signature.randomness == "seed":
            sources = random.Random(seed).sample(range(1, _SEED_LIMIT), size)  # noqa: S311
        else:
            sources = itertools.repeat(self.signature.randomness_of(seed), size)
        fresh, values, call = copier(x), [], self.signature.caller(self.function)
        for source in sources:
            try:
                value = call(fresh(), source)
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
        known = [p.name for p in own if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for unknown in (key for key in parameters if key not in known):
            raise Misuse(name, f"takes no parameter {unknown!r}", unknown, known)
    return functools.partial(function, **parameters)


def copier(x: Any) -> Callable[[], Any]:
    """Return a function that copies an input for each call; cheap for numbers, lists and arrays."""

    def flat(x: Any, kind: Any) -> bool:
        return type(x) is kind and all(isinstance(value, ATOMS) for value in x)

    if isinstance(x, ATOMS) or flat(x, tuple):
        return lambda: x
    if flat(x, list):
        return lambda: list(x)
    if type(x) is list and all(flat(row, list) for row in x):
        return lambda: [row.copy() for row in x]
    if np is not None and type(x) is np.ndarray and not x.dtype.hasobject:
        return lambda: np.array(x)
    return lambda: copy.deepcopy(x)
