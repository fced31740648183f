"""Candidate pairs: which of them a mechanism takes at all.

A mechanism may refuse some inputs of a domain, as an empty table: pairs of which it refuses both
are left out, and the verdict says so. Where it refuses one only, that alone tells them apart.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from epsilometer.auditing.checks.sampler import Check
from epsilometer.auditing.formats import input_text
from epsilometer.auditing.serving.outputs import Failure
from epsilometer.auditing.sources.callables import Source
from epsilometer.errors import MechanismError
from epsilometer.seeds import generator

Pair = tuple[Any, Any]

_PATIENCE = 60.0  # seconds in which at least one input should be taken
_TOLD = 3  # names of pairs that are told


class Candidates(Mapping[str, Pair]):
    """Pairs ``(x, x')`` by their names, of which those are left out that a mechanism refuses.

    Not those that are ``given`` by name: of a mapping that is added with ``|``, all. ``untried``
    names inputs that are not among them.
    """

    def __init__(
        self, pairs: Mapping[str, Pair], given: Iterable[str] = (), untried: Sequence[str] = ()
    ) -> None:
        self._pairs = dict(pairs)
        self.given = frozenset(given)
        self.untried = untried

    def __getitem__(self, name: str) -> Pair:
        return self._pairs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"Candidates({self._pairs!r})"

    def __or__(self, other: Mapping[str, Pair]) -> Candidates:
        """Return these pairs and others."""
        return _both(self, other)

    def __ror__(self, other: Mapping[str, Pair]) -> Candidates:
        """Return other pairs and these."""
        return _both(other, self)


def _both(first: Mapping[str, Pair], second: Mapping[str, Pair]) -> Candidates:
    given = [one.given if isinstance(one, Candidates) else set(one) for one in (first, second)]
    untried = [text for one in (first, second) for text in getattr(one, "untried", ())]
    return Candidates({**first, **second}, given[0] | given[1], untried)


def accepted(
    source: Source, pairs: Candidates, seed: int, late: Callable[[], bool] = lambda: False
) -> tuple[dict[str, Pair], list[Check]]:
    """Return the pairs that a mechanism takes, and what is to be said of the others.

    One draw is made of each input, with seeds of their own: what is left out does not depend on
    the draws of the audit. Pairs with inputs on which it failed as an outcome come last. Once it is
    ``late``, and a pair is found, those that were not tried are left out.

    Raises
    ------
    MechanismError
        If a mechanism takes one input of a pair only, or none of any pair.
    """
    began = time.monotonic()
    known: dict[str, tuple[bool, MechanismError | None]] = {}

    def tried(x: Any, name: str) -> tuple[bool, MechanismError | None]:
        """Return whether a draw is a failure, and why there is none."""
        key = name if name in pairs.given else json.dumps(x)
        if key not in known or name in pairs.given:
            own = int(generator(seed, "audit", "candidates", key).integers(2**31))
            try:
                output = source.draw(x, 1, own)
                known[key] = isinstance(output[0], Failure), None
            except MechanismError as error:
                known[key] = False, error
        return known[key]

    found: dict[str, Pair] = {}
    failing: dict[str, Pair] = {}
    refused: dict[str, MechanismError] = {}
    for name, (x, y) in pairs.items():
        if (found or failing) and late():
            break
        (failed, error), (failed_prime, error_prime) = tried(x, name), tried(y, name)
        if error is None and error_prime is None:
            (failing if failed or failed_prime else found)[name] = (x, y)
        elif error is not None and error_prime is not None:
            if name in pairs.given:
                raise named_error(error, name)
            refused[name] = error
            if not found and not failing and time.monotonic() > began + _PATIENCE:
                break
        else:
            taken, other = (y, x) if error is not None else (x, y)
            raise MechanismError(
                f"{error or error_prime}: on {input_text(other, 40)}, but not on its neighbour "
                f"{input_text(taken, 40)}, which may tell them apart ({name}); let failures be "
                "outcomes, or declare inputs on which it draws"
            )
    if refused and not found and not failing:
        raise next(iter(refused.values()))
    untried = [Check("range", "note", text) for text in pairs.untried]
    return found | failing, [*_told(refused, len(pairs)), *untried]


def named_error(error: MechanismError, name: str) -> MechanismError:
    """Return an error that says on which pair it was, where pairs have names."""
    if name:
        error.args = (f"{error}: pair {name!r}",)
    return error


def _told(refused: Mapping[str, MechanismError], number: int) -> list[Check]:
    if not refused:
        return []
    names = ", ".join(repr(name) for name in list(refused)[:_TOLD])
    more = f" and {len(refused) - _TOLD} more" if len(refused) > _TOLD else ""
    words = (
        f"{len(refused)} of {number} pairs are left out, of which it refuses both inputs: {names}"
        f"{more}; {next(iter(refused.values()))}"
    )
    return [Check("inputs", "note", words)]
