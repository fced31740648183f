"""Pairs of neighbouring inputs, by name.

A pair is ``(x, x')``: ``Candidates({"one row": ([0, 1], [0])})``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Pair = tuple[Any, Any]
"""Two neighbouring inputs."""


class Candidates(dict[str, Pair]):
    """Pairs ``(x, x')`` by their names; those that a mechanism refuses are left out.

    ``required`` pairs are not left out: those of any other mapping that is joined with ``|``.
    ``untried`` are notes on inputs that are not among the pairs, ``relations`` say which inputs are
    neighbours. ``searches`` find pairs near them.
    """

    def __init__(
        self,
        pairs: Mapping[str, Pair],
        required: Iterable[str] = (),
        *,
        untried: Sequence[str] = (),
        relations: Sequence[str] = (),
        searches: Sequence[Any] = (),
    ) -> None:
        super().__init__(pairs)
        self.required = frozenset(required)
        self.untried = list(untried)
        self.relations = list(relations)
        self.searches = list(searches)

    def __or__(self, other: Mapping[str, Pair]) -> Candidates:  # type: ignore[override]
        other = other if isinstance(other, Candidates) else Candidates(other, required=other)
        return Candidates(
            {**self, **other},
            self.required | other.required,
            untried=self.untried + other.untried,
            relations=self.relations + other.relations,
            searches=self.searches + other.searches,
        )

    def __ror__(self, other: Mapping[str, Pair]) -> Candidates:  # type: ignore[override]
        return Candidates(other, required=other) | self
