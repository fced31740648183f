"""Draws from a function, by the names of its parameters."""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import hashlib
import inspect
import itertools
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import Broken, Misuse, counted, error_text, shortened, text_of, type_text
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
    name = parameter.name.lower()
    kind = str(parameter.annotation)
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
    roles = {}
    required = []
    for p in parameters:
        role = _role(p)
        if role:
            roles[p.name] = role
        if p.default is p.empty:
            required.append(p.name)
    for p in parameters:  # it has no role, or is called like a number of draws but must be given
        if p.name not in roles or (roles[p.name] == "size" and p.name in required):
            roles[p.name] = "x"
            break
    else:
        raise Misuse(name, f"takes no input; understood are {_UNDERSTOOD}")
    if p.name == "self":
        raise Misuse(name, "is the method of a class; name one of an object")
    unknown = [key for key in required if key not in roles]
    if unknown:
        text = f"needs {' and '.join(map(repr, unknown))} beside its input {p.name!r}: give it a "
        text += f"default or wrap it in a function; understood are {_UNDERSTOOD}"
        raise Misuse(name, text)
    others = [key for key, role in roles.items() if role != "x"]
    if len({roles[key] == "size" for key in others}) < len(others):
        kinds = "a number of draws, or for a seed or generator"
        raise Misuse(name, f"has two parameters for {kinds}: {', '.join(others)}")
    return roles


def _parameters_of(function: Any) -> list[inspect.Parameter] | None:
    """Return the parameters of a function; None without a signature, as for many C functions."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _default(parameter: inspect.Parameter) -> str:
    """Name a parameter with its default, if that is short."""
    default = shortened(" ".join(repr(parameter.default).split()), 30)
    if default[:1] == "<":
        return parameter.name
    return f"{parameter.name} = {default}"


def _constant(parameter: inspect.Parameter) -> str:
    """Name the constant seed or generator that is a default; nothing if there is none."""
    default = parameter.default
    if default is None or default is parameter.empty:
        return ""
    if isinstance(default, int):
        return f"{parameter.name}={default}"
    return f"{parameter.name}={type(default).__name__}"


class _Role(str):
    """What a parameter gets, unlike the default of another."""


def hashed_seed(seed: int) -> int:
    """Return a seed from 1 to 2^31 - 1 that is far from those of the next ones.

    C has the same draws for 0 and 1, and generators whose first draws grow with the seed.
    """
    digest = hashlib.sha256(str(seed).encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") % (_SEED_LIMIT - 1)


class Sampler:
    """A function, and everything that draws from it.

    The names of its parameters decide how it is called. ``name`` is its name in errors, ``home``
    the folder of its modules. What it prints is lost. With ``failures`` an exception is an outcome,
    where a call is one draw, not ``many``. ``randomness`` is the kind of its seed or generator, ""
    for none; ``constant`` is that with its default.
    """

    def __init__(
        self, function: Any, name: str, *, failures: bool = False, home: ModuleFolder | None = None
    ) -> None:
        if inspect.isclass(function):
            raise Misuse(name, "is a class; name an object of it, or a function that makes one")
        if not callable(function):
            raise Misuse(name, f"must be a function, got {type_text(function)}")
        self.function = function
        self.name = name
        self.failures = failures
        self.home = home or ModuleFolder()
        bound = function.keywords if isinstance(function, functools.partial) else ()
        parameters = []
        for p in _parameters_of(function) or ():
            if "VAR_" not in p.kind.name and p.name not in bound:
                parameters.append(p)
        roles = _roles(parameters, name)
        given: dict[str, Any] = {}
        self.randomness = ""
        self.constant = ""
        for p in parameters:
            role = roles.get(p.name)
            if role or p.kind is p.POSITIONAL_ONLY:
                given[p.name] = _Role(role) if role else p.default
            if role == "x":
                self._kind = str(p.annotation)
            elif role and role != "size":
                self.randomness = role
                self.constant = _constant(p)
        # by position while there is no gap, by name after it
        call: Any = inspect.BoundArguments(inspect.Signature(parameters), given)
        self._positional = call.args
        self._named = call.kwargs
        self.seeded = bool(self.randomness)
        self.many = "size" in roles.values()
        if failures and self.many:
            raise Misuse("failures", f"needs one draw a call, but {name} takes a number of draws")
        self.description = self._described(parameters, roles)

    def _described(self, parameters: Iterable[inspect.Parameter], roles: Mapping[str, str]) -> str:
        """Return how the function is called, in a line."""
        arguments = []
        defaults = []
        for p in parameters:
            if p.name in roles:
                arguments.append(p.name)
            else:
                defaults.append(_default(p))
        facts = [f"{self.name}({', '.join(arguments)})"]
        facts.append("many draws a call" if self.many else "one draw a call")
        if not self.seeded:
            facts.append("unseeded")
        if defaults:
            facts.append(f"{', '.join(defaults)} by default")
        return ", ".join(facts)

    def draw(self, x: Any, size: int, seed: int) -> Any:
        """Return ``size`` outputs, an array or a list.

        Meanwhile the global generators of Python and NumPy follow from the seed. Raise `Broken` if
        the mechanism fails or does not return that many.
        """
        global_seed = hashed_seed(-1 - seed)  # unlike the call's
        with globals_kept():
            random.seed(global_seed)
            if np is not None:
                with contextlib.suppress(TypeError):  # replaced by another kind of generator
                    np.random.seed(global_seed)
            with self.home.entered(), contextlib.redirect_stdout(NOWHERE), contained():
                try:
                    x = self._converted(x)
                    if not self.many:
                        return self._one_by_one(x, size, seed)
                    return self._together(x, size, seed)
                except (Broken, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    raise Broken(error_text(error)) from error

    def _together(self, x: Any, size: int, seed: int) -> Any:
        randomness = self._randomness_of(seed)
        result = rows(self._call(copier(x)(), size, randomness))
        values: Any
        if np is not None and hasattr(result, "__array__") and np.ndim(result):
            values = result.copy() if isinstance(result, np.ma.MaskedArray) else np.array(result)
        elif isinstance(result, Sequence) and not isinstance(result, (str, bytes, bytearray)):
            values = list(result)
        else:
            needed = f"a list or an array of {counted(size, 'output')} is needed"
            hint = "without a parameter for this number it is called for every draw"
            raise Broken(f"returned {type_text(result)} where {needed}: {hint}")
        if len(values) != size:
            outputs = counted(len(values), "output")
            if getattr(values, "ndim", 1) > 1:
                outputs = f"outputs of shape {values.shape}"
            raise Broken(f"returned {outputs} where {size} should be, one a row")
        if isinstance(values, list):
            return compact(values)
        if values.size == 0:
            raise Broken("returned outputs without entries")
        return of_array(values)

    def _one_by_one(self, x: Any, size: int, seed: int) -> Any:
        sources: Iterable[Any]
        if self.randomness == "seed":
            sources = random.Random(seed).sample(range(1, _SEED_LIMIT), size)  # noqa: S311
        else:
            sources = itertools.repeat(self._randomness_of(seed), size)
        fresh = copier(x)
        values = []
        call = self._caller()
        for source in sources:
            try:
                value = call(fresh(), source)
            except Exception as error:
                if not self.failures:
                    raise
                value = Failure(type(error).__name__, text_of(error))
            if _is_array_of_numbers(value):
                value = value.copy()
            elif type(value) not in ATOMS:
                value = plain(value)
            values.append(value)
        return compact(values, (*ATOMS, tuple, dict, frozenset))

    def _converted(self, x: Any) -> Any:
        """Return an input, as an array if it is annotated as one."""
        if np is not None and ("ndarray" in self._kind or "NDArray" in self._kind):
            return np.asarray(x)
        return x

    def _call(self, x: Any, size: int, randomness: Any) -> Any:
        of_role = {"x": x, "size": size, self.randomness or "seed": randomness}
        named = {name: of_role[role] for name, role in self._named.items()}
        positional = [of_role[v] if type(v) is _Role else v for v in self._positional]
        return self.function(*positional, **named)

    def _caller(self) -> Callable[[Any, Any], Any]:
        """Return a function of an input and a seed or generator, for calls of one draw."""
        function = self.function
        roles = [v for v in self._positional if type(v) is _Role]
        if not self._named and len(roles) == len(self._positional):
            if roles == ["x", self.randomness]:
                return function  # type: ignore[no-any-return]
            if roles == ["x"]:
                return lambda x, _: function(x)
        return lambda x, randomness: self._call(x, 1, randomness)

    def _randomness_of(self, seed: int) -> Any:
        """Return the seed or generator of a call."""
        if not self.randomness:
            return None
        if self.randomness == "seed":
            return hashed_seed(seed)
        if self.randomness == "RandomState" and np is not None:
            return np.random.RandomState(hashed_seed(seed))
        if self.randomness == "Random" or np is None:
            return random.Random(seed)  # noqa: S311
        return np.random.default_rng(seed)


@contextlib.contextmanager
def globals_kept() -> Iterator[None]:
    """Restore the global generators at the end."""
    state = random.getstate()
    numbers = None if np is None else np.random.get_state(legacy=False)
    try:
        yield
    finally:
        random.setstate(state)
        if np is not None:
            np.random.set_state(numbers)


def bind(function: Any, parameters: Mapping[str, Any] | None, name: str) -> Any:
    """Return a function with parameters bound by name; raise `Misuse` if it has none of a name."""
    if not parameters or inspect.isclass(function) or not callable(function):
        return function  # `Sampler` refuses it
    signature = _parameters_of(function)
    if signature is not None and all(p.kind is not p.VAR_KEYWORD for p in signature):
        known = [p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for key in parameters:
            if key not in known:
                raise Misuse(name, f"takes no parameter {key!r}", key, known)
    return functools.partial(function, **parameters)


def copier(x: Any) -> Callable[[], Any]:
    """Return a function that copies an input for each call; cheap for numbers, lists and arrays."""
    if isinstance(x, ATOMS):
        return lambda: x
    if _is_array_of_numbers(x) or _is_flat(x):
        return x.copy  # type: ignore[no-any-return]
    if type(x) is list and all(map(_is_flat, x)):
        return lambda: [row.copy() for row in x]
    return lambda: copy.deepcopy(x)


def _is_array_of_numbers(x: Any) -> bool:
    """Tell whether a value is an array without objects."""
    return np is not None and type(x) is np.ndarray and not x.dtype.hasobject


def _is_flat(x: Any) -> bool:
    """Tell whether a value is a list without lists inside."""
    return type(x) is list and all(isinstance(value, ATOMS) for value in x)
