"""The arguments of a function, by the names of its parameters, and its seeds."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

from .errors import Broken, Misuse, shortened
from .optional import np

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
    untyped = parameter.annotation is parameter.empty
    if name in _SIZES:
        return "size"
    if name not in RANDOM:
        return ""
    if "RandomState" in kind:
        return "RandomState"
    if "random.Random" in kind or kind == "Random" or (name == "random" and untyped):
        return "Random"
    if "Generator" in kind:
        return "rng"
    return "seed" if name in _SEEDS or "int" in kind else "rng"


def _roles(parameters: Sequence[inspect.Parameter], name: str) -> dict[str, str]:
    """Return the role of each parameter that gets a value: x, size, seed or a generator."""
    roles = {p.name: role for p in parameters if (role := _role(p))}
    required = [p for p in parameters if p.default is p.empty]
    x = next((p.name for p in parameters if _may_be_input(p, roles.get(p.name, ""))), "")
    if not x:
        raise Misuse(name, f"takes no input; understood are {_UNDERSTOOD}")
    roles[x] = "x"
    counts = [key for key, role in roles.items() if role == "size"]
    unknown = [p.name for p in required if p.name not in roles]
    if x == "self":
        raise Misuse(name, "is the method of a class; name one of an object")
    if unknown:
        raise Misuse(
            name,
            f"needs {' and '.join(map(repr, unknown))} beside its input {x!r}: give it a default "
            f"or wrap it in a function; understood are {_UNDERSTOOD}",
        )
    for names, title in ((counts, "a number of draws"), (_random(roles), "a seed or generator")):
        if len(names) > 1:
            raise Misuse(name, f"has two parameters for {title}: {' and '.join(names)}")
    return roles


def _may_be_input(parameter: inspect.Parameter, role: str) -> bool:
    """Tell whether it has no role, or is called like a number of draws but must be given."""
    return not role or (role == "size" and parameter.default is parameter.empty)


def _random(roles: dict[str, str]) -> list[str]:
    return [key for key, role in roles.items() if role not in ("x", "size")]


def parameters_of(function: Any) -> list[inspect.Parameter] | None:
    """Return the parameters of a function; None without a signature, as for many C functions."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def by_name(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """Return the names of those that can be passed by name."""
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the named parameters; None where there are none, but ``*args``."""
    if (known := parameters_of(function)) is None:
        return None
    bound = function.keywords if isinstance(function, functools.partial) else ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [p for p in known if p.kind not in kinds and p.name not in bound]
    return named if named or all(p.kind is not p.VAR_POSITIONAL for p in known) else None


def _defaults(function: Callable[..., Any], bound: Collection[str]) -> list[str]:
    """Return the parameters that are not ``bound`` and have defaults, with their values."""
    left = [p for p in _parameters(function) or () if p.default is not p.empty]
    shown = {p.name: " ".join(repr(p.default).split()) for p in left if p.name not in bound}
    return [n if s[:1] == "<" else f"{n} = {shortened(s, 30)}" for n, s in shown.items()]


def _frame(table: list[list[Any]], types: dict[str, str], library: str) -> Any:
    """Return a data frame of rows, and the types of its columns by their names."""
    try:
        module: Any = importlib.import_module(library)
    except ImportError:
        raise Broken(f"is given a data frame, which needs {library} where it runs") from None
    if library == "pandas":
        return module.DataFrame(table, columns=list(types)).astype(types)
    schema = {name: getattr(module, kind) for name, kind in types.items()}
    return module.DataFrame(table, schema=schema, orient="row")


class Signature:
    """The arguments of a function's calls, by the names of its parameters.

    ``text`` shows them. ``many``: a call returns many draws. ``randomness``: the kind of its seed
    or generator, "" for none; ``constant``: that with its default. ``defaults``: the other
    parameters with their values.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._positional: list[str] = []
        self._named: dict[str, str] = {}
        self._values: dict[str, Any] = {}
        self._kind = ""  # annotation of its input
        self.constant = ""
        parameters = _parameters(function)
        if parameters is None:
            self._positional, self.text, roles = ["x"], "(x)", {"x": "x"}
        else:
            roles = _roles(parameters, name)
            self._arrange(parameters, roles)
            self.text = f"({', '.join(p.name for p in parameters if p.name in roles)})"
        self.size = next((key for key, role in roles.items() if role == "size"), "")
        self.many = bool(self.size)
        self.randomness = next((roles[key] for key in _random(roles)), "")
        own = next((p for p in parameters or () if p.name in _random(roles)), None)
        if own is not None and own.default is not None and own.default is not own.empty:
            seed = own.default if isinstance(own.default, int) else type(own.default).__name__
            self.constant = f"{own.name}={seed}"
        self.defaults = _defaults(function, roles)

    def converted(self, x: Any) -> Any:
        """Return an input as an array, if it is annotated as one, or as a table.

        A table of pandas is written as ``{"$frame": {name: type}, "rows": [[value, ...], ...]}``,
        one of Polars with ``$polars``.
        """
        if np is not None and ("ndarray" in self._kind or "NDArray" in self._kind):
            return np.asarray(x)
        for key, library in (("$frame", "pandas"), ("$polars", "polars")):
            if isinstance(x, dict) and set(x) == {key, "rows"}:
                return _frame(x["rows"], x[key], library)
        return x

    def _arrange(self, parameters: list[inspect.Parameter], roles: dict[str, str]) -> None:
        """Pass by position while there is no gap, by name after it."""
        by_position = True
        for p in parameters:
            role = roles.get(p.name)
            if role == "x":
                self._kind = str(p.annotation)
            if p.kind is p.POSITIONAL_ONLY:
                self._positional.append(role or f"={p.name}")
                if not role:
                    self._values[f"={p.name}"] = p.default
            elif role and by_position and p.kind is p.POSITIONAL_OR_KEYWORD:
                self._positional.append(role)
            elif role:
                self._named[p.name] = role
            else:
                by_position = False

    def call(self, function: Callable[..., Any], x: Any, size: int, randomness: Any) -> Any:
        """Call the function with those arguments that it takes."""
        values = {**self._values, "x": x, "size": size, self.randomness or "seed": randomness}
        named = {name: values[role] for name, role in self._named.items()}
        return function(*[values[role] for role in self._positional], **named)

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


def distinct_seeds(seed: int, size: int) -> list[int]:
    """Return ``size`` different seeds, for functions and programs of one draw."""
    return random.Random(seed).sample(range(1, _SEED_LIMIT), size)  # noqa: S311
