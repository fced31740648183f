"""Declared domains of inputs: up to a hundred pairs of neighbours, the most useful first.

A declaration consists of plain values for JSON or YAML; docs/audit.md has all kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.seeds import generator
from epsilometer_audit.outputs.formats import pair_texts
from epsilometer_audit.outputs.words import listed
from epsilometer_audit.question.declarations import MAPPING, must, read
from epsilometer_audit.question.entries import Change, Space
from epsilometer_audit.question.pairs import Candidates, Pair
from epsilometer_audit.question.relations import contains, neighbours, relation

MOST_PAIRS = 1000  # that a limit may ask for
_MOST = 100  # pairs
_TRIES = 20  # moves of each of the best pairs
_LARGEST = 100_000_000  # entries of all inputs, which are kept in memory
STRICT = False  # whether a pair that is not one of neighbours is an error, as in our tests


def domain(declaration: Mapping[str, Any], *, limit: int | None = None) -> Candidates:
    """Return candidate pairs of neighbours of a declared domain, by names that describe them.

    ``declaration`` is a mapping, as ``{"rows": {"values": [0, 5]}, "length": [0, 20]}``;
    docs/audit.md has all kinds and keys. ``limit`` is the largest number of pairs, 100 if neither
    it nor the declaration says; there are fewer if these are all. No two pairs are equal, in any
    order. An audit adds some near its best ones, and leaves out pairs of which a mechanism refuses
    both inputs. Raise `ArgumentError` if the declaration is wrong.

    >>> list(domain({"bits": 3}, limit=2))
    ['[0, 0, 0] against [0, 0, 1]', '[1, 1, 1] against [0, 1, 1]']
    """
    if not isinstance(declaration, Mapping):
        must("domain", MAPPING, declaration)
    inputs = dict(declaration)
    most = inputs.pop("limit", _MOST)
    seed = inputs.pop("seed", 0)
    space: Space = read("domain", inputs)
    if limit is not None:
        most = limit
    most = checks.integer("domain.limit", most, maximum=MOST_PAIRS)
    seed = checks.integer("domain.seed", seed, minimum=0)
    if most * space.width > _LARGEST:
        fewer = _LARGEST // space.width
        message = f"must be at most {fewer} for inputs of {space.width} entries, got {most}"
        raise ArgumentError("domain.limit", message)
    pairs = _Pairs(space)
    rng = generator(seed, "domain", json.dumps(inputs, sort_keys=True))
    chosen, list_goes_on = pairs.added(space.changes(rng), most)
    if not chosen:
        raise ArgumentError("domain", "has no two inputs that are neighbours")
    notes = _beyond(space)
    searches = []
    if list_goes_on or pairs.has_others(rng):
        searches = [pairs]
        advice = "; a larger limit tries more" if list_goes_on else ""
        notes.append(f"{len(chosen)} pairs of the domain were tried, others were not{advice}")
    notes += pairs.notes
    return Candidates(chosen, untried=notes, relations=[relation(space)], searches=searches)


@dataclass
class _Pairs:
    """The pairs of a domain so far: of each name the change, as ``space`` made it."""

    space: Space
    tried: dict[str, Change] = field(default_factory=dict)
    known: set[frozenset[str]] = field(default_factory=set)
    wrong: int = 0

    def copy(self) -> _Pairs:
        """Return the same pairs, to which others may be added."""
        return replace(self, tried=dict(self.tried), known=set(self.known), wrong=0)

    def added(self, changes: Iterable[Change], size: int) -> tuple[dict[str, Pair], bool]:
        """Return up to so many new pairs, by names, and whether there are more.

        All pairs of a domain come from here: each is one of inputs that are neighbours.
        """
        new: dict[str, Pair] = {}
        for change in changes:
            texts = json.dumps(change.x), json.dumps(change.x_prime)
            if texts[0] == texts[1] or frozenset(texts) in self.known:
                continue
            x, x_prime = map(json.loads, texts)  # without shared rows
            if not self._is_right(x, x_prime):
                continue
            if len(new) == size:
                return new, True
            self.known.add(frozenset(texts))
            name = self._free(change.name or " against ".join(pair_texts(x, x_prime)))
            self.tried[name] = replace(change, x=x, x_prime=x_prime)
            new[name] = x, x_prime
        return new, False

    def nearby(self, names: Sequence[str], size: int, rng: np.random.Generator) -> dict[str, Pair]:
        """Return up to so many new pairs near those of these names, by names."""
        changes = [self.tried[name] for name in names if name in self.tried]
        new, _ = self.added(islice(self._moved(changes, rng), _TRIES * size), size)
        return new

    def has_others(self, rng: np.random.Generator) -> bool:
        """Tell whether there is any other pair near these."""
        _, is_another = self.added(self._moved([*self.tried.values()], rng), 0)
        return is_another

    def _moved(self, changes: Sequence[Change], rng: np.random.Generator) -> Iterator[Change]:
        for _ in range(_TRIES):
            for change in changes:
                yield self.space.moved(change, rng)

    def _is_right(self, x: Any, x_prime: Any) -> bool:
        """Tell whether inputs are in the domain, and neighbours; count those that are not."""
        space = self.space
        if contains(space, x) and contains(space, x_prime) and neighbours(space, x, x_prime):
            return True
        if STRICT:
            raise AssertionError(f"no neighbours in {space}: {x} and {x_prime}")
        self.wrong += 1
        return False

    def _free(self, name: str) -> str:
        """Return a name that no other pair has."""
        free = name
        number = 2
        while free in self.tried:
            free = f"{name} ({number})"
            number += 1
        return free

    @property
    def notes(self) -> list[str]:
        """What is to be said of pairs that are left out."""
        if not self.wrong:
            return []
        text = "pairs are left out, as their inputs are no neighbours: please report this error"
        return [f"{self.wrong} {text}"]


def _beyond(space: Space) -> list[str]:
    """Return a note on numbers outside the declared ranges."""
    ranges = list(dict.fromkeys(json.dumps(ends) for ends in space.ranges()))
    if not ranges:
        return []
    advice = 'if the mechanism clips its inputs, declare "clipped": true'
    return [f"numbers beyond {listed('', ranges)} were not tried; {advice}"]
