"""Kinds of input that mechanisms share: a number for each person, or an answer to each query."""

from __future__ import annotations

from collections.abc import Sequence

from epsilometer import checks
from epsilometer.checks import Checked
from epsilometer.errors import ArgumentError


def _list(x: object, count: int, entries: str) -> Sequence[object]:
    """Return ``x``; raise `ArgumentError` unless it is a list of ``count`` entries."""
    if not isinstance(x, Sequence) or isinstance(x, str) or len(x) != count:
        raise ArgumentError("input", f"must be a list of {count} {entries}, got {x!r}")
    return x


def check_people(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` numbers in [0, 1]."""
    for person in _list(x, count, "people's numbers"):
        if not 0 <= checks.real("input", person) <= 1:
            raise ArgumentError("input", f"must hold numbers in [0, 1], got {person!r}")


def check_answers(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` finite query answers."""
    for answer in _list(x, count, "query answers"):
        checks.real("input", answer)


class QueryAnswers(Checked):
    """Mechanisms whose inputs are lists of ``queries`` finite query answers."""

    queries: int

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer for each query."""
        check_answers(x, self.queries)


def check_bits(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` zeros and ones."""
    check_people(x, count)
    if isinstance(x, Sequence) and not set(x) <= {0, 1}:
        raise ArgumentError("input", f"must hold zeros and ones, got {x!r}")
