"""Kinds of input that mechanisms share: a number for each person, or an answer to each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epsilometer import checks
from epsilometer.checks import Checked
from epsilometer.errors import ArgumentError


def check_list(x: object, entries: str, count: int | None = None) -> Sequence[Any]:
    """Return ``x``; raise `ArgumentError` unless it is a list of ``count`` entries, if given."""
    if not isinstance(x, Sequence) or isinstance(x, str) or count not in (None, len(x)):
        number = "" if count is None else f"{count} "
        raise ArgumentError("input", f"must be a list of {number}{entries}, got {x!r}")
    return x


def check_people(x: object, count: int) -> Sequence[Any]:
    """Return ``x``; raise `ArgumentError` unless it is a list of ``count`` numbers in [0, 1]."""
    people = check_list(x, "people's numbers", count)
    for person in people:
        if not 0 <= checks.real("input", person) <= 1:
            raise ArgumentError("input", f"must hold numbers in [0, 1], got {person!r}")
    return people


def check_answers(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` finite query answers."""
    for answer in check_list(x, "query answers", count):
        checks.real("input", answer)


class QueryAnswers(Checked):
    """Mechanisms whose inputs are lists of ``queries`` finite query answers."""

    queries: int

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer for each query."""
        check_answers(x, self.queries)
