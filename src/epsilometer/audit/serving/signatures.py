"""What a function takes, by the names of its parameters, and the seeds that it is given."""

from __future__ import annotations

import hashlib
import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any

from .errors import Misuse
from .optional import np

_GENERATORS = ("rng", "generator", "random_state", "gen", "prng", "random_generator", "random")
_SEEDS = ("seed", "random_seed", "rng_seed")
_SIZES = (
    *("size", "n", "samples", "draws", "count", "shots"),
    *("n_samples", "n_draws", "n_shots", "num_samples", "num_draws", "num_shots"),
)
_UNDERSTOOD = "(x), (x, rng), (x, seed), (x, size), (x, size, rng) or (x, size, seed)"
_LEVELS = ("epsilon", "eps", "delta", "rho", "mu", "scale", "sigma", "sensitivity")
_SEED_LIMIT = 2**31  # R, Java and old NumPy take no larger ones


def _role(parameter: inspect.Parameter) -> str:
    name, kind = parameter.name.lower(), str(parameter.annotation)
    untyped = parameter.annotation is parameter.empty
    if name in _SIZES:
        return "size"
    if name not in _GENERATORS and name not in _SEEDS:
        return ""
    if "RandomState" in kind:
        return "RandomState"
    if "random.Random" in kind or kind == "Random" or (name == "random" and untyped):
        return "Random"
    if "Generator" in kind:
        return "rng"
    return "seed" if name in _SEEDS or "int" in kind else "rng"


def _roles(parameters: Sequence[inspect.Parameter], name: str) -> dict[str, str]:
    """Return the role of each parameter that will be given: x, size, seed or a generator."""
    roles = {p.name: role for p in parameters if (role := _role(p))}
    rest = [p for p in parameters if p.name not in roles]
    required = [p for p in rest if p.default is p.empty]
    counts = [p.name for p in parameters if roles.get(p.name) == "size"]
    first = next((p for p in parameters if roles.get(p.name, "size") == "size"), None)
    if (
        first is not None
        and first.name in counts
        and first.default is first.empty
        and (not required or required[0].name in _LEVELS)
    ):
        x = first.name  # f(count, rng), f(samples, epsilon): these are no numbers of draws
        counts.remove(x)
    elif rest:
        x = (required or rest)[0].name
    elif counts:
        x = counts.pop(0)
    else:
        raise Misuse(name, f"takes no input; understood are {_UNDERSTOOD}")
    roles[x] = "x"
    unknown = [p.name for p in required if p.name != x]
    if x == "self":
        raise Misuse(name, "is the method of a class; name one of an object")
    if unknown:
        raise Misuse(
            name,
            f"needs {' and '.join(map(repr, unknown))} beside its input {x!r}: give it a default "
            f"or wrap it in a function; understood are {_UNDERSTOOD}",
        )
    for twice, what in ((counts, "a number of draws"), (_random(roles), "a seed or generator")):
        if len(twice) > 1:
            raise Misuse(name, f"has two parameters for {what}: {' and '.join(twice)}")
    return roles


def _random(roles: dict[str, str]) -> list[str]:
    return [key for key, role in roles.items() if role not in ("x", "size")]


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return those that can be given, or nothing where the signature does not name any."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # C functions often have none
        return None
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [p for p in given if p.kind not in variable]
    return named if named or all(p.kind is not p.VAR_POSITIONAL for p in given) else None


class Signature:
    """Which arguments a function is given, by the names of its parameters.

    ``text`` shows them; ``many``: a call returns many draws; ``randomness``: the kind of seed or
    generator that it takes, "" for none; ``array``: it asks for its input as an array.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._positional: list[str] = []
        self._named: dict[str, str] = {}
        self._values: dict[str, Any] = {}
        self.array = False
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

    def _arrange(self, parameters: list[inspect.Parameter], roles: dict[str, str]) -> None:
        """Pass by position while there is no gap, by name after it."""
        by_position = True
        for p in parameters:
            role = roles.get(p.name)
            if role == "x":
                self.array = "ndarray" in str(p.annotation) or "NDArray" in str(p.annotation)
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
        """Call the function with what it takes of these."""
        values = {**self._values, "x": x, "size": size, self.randomness or "seed": randomness}
        named = {name: values[role] for name, role in self._named.items()}
        return function(*[values[role] for role in self._positional], **named)

    def source(self, seed: int) -> Any:
        """Return the seed or generator that a call is given."""
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
