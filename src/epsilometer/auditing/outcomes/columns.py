"""Columns: named numbers that are made of each output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from epsilometer.auditing.outcomes.reals import BELOW, NONE
from epsilometer.auditing.outcomes.words import (
    MISSING,
    Other,
    Step,
    Word,
    codes_in,
    listed,
    name_of,
    text_of,
    whole_ranges,
)
from epsilometer.events.events import Ranges, range_texts


@dataclass(frozen=True)
class Column:
    """A number that is made of an output.

    Parameters
    ----------
    name
        Its name for a reader.
    kind
        ``number``; ``rest``, the number less its nearest real; ``word``, a code; ``length``;
        ``present``, 1 or 0.
    path
        The part of the output; empty for the whole output.
    words
        The words of the codes from 0; the next code is for any other word.
    whole
        Whether it is a whole number or missing.
    optional
        Whether some outputs lack it.
    signed
        Whether -0.0 differs from 0.0.
    """

    name: str
    kind: Literal["number", "rest", "word", "length", "present"]
    path: tuple[Step, ...] = ()
    words: tuple[Word, ...] = ()
    whole: bool = True
    optional: bool = False
    signed: bool = False

    @property
    def outcomes(self) -> list[str]:
        """The names of the words, in full."""
        return [w.text(None) if isinstance(w, Other) else repr(w) for w in self.words]

    @cached_property
    def codes(self) -> dict[Word, int]:
        """The codes of the words."""
        return {word: code for code, word in enumerate(self.words)}

    def default(self, whole: bool) -> float | int:
        """Return the number of an output that lacks it, in a table of whole numbers or reals."""
        if self.kind == "word":
            return self.codes.get(MISSING, len(self.words))
        if self.kind == "present":
            return 0
        return NONE if whole else math.nan

    def where(self, ranges: Ranges, missing: bool) -> str:
        """Return a text that says that it lies in one of the ranges."""
        place = name_of(self.path)
        if self.kind in ("word", "present"):
            size = len(self.words) + 1 if self.kind == "word" else 2
            return self._one_of(codes_in(ranges, size), size)
        has, lacks = (
            ("has a length", "has no length")
            if self.kind == "length"
            else ("is a number", "is not a number")
        )
        if (None, None) in ranges and not missing and (self.optional or not self.whole):
            return f"{place} {has}" if self.optional else f"{self.name} is not NaN"
        ranges = whole_ranges(ranges) if self.whole else ranges
        if self.kind == "length":  # never below 0
            ranges = [(0 if last == 0 else first, last) for first, last in ranges]
        texts = range_texts(self.name, ranges)
        if missing:
            lacks = f"{'is missing or ' * bool(self.path)}{lacks}"
            texts.insert(3, f"{place} {lacks}" if self.optional else f"{self.name} is NaN")
        if self.signed:
            texts = [text.replace(repr(BELOW), "-0.0") for text in texts]
        return listed("", texts, " or ", " ranges", most=4) if texts else "no output"

    def value(self, number: int) -> str:
        """Return the name of one of its numbers."""
        if self.kind == "word":
            if 0 <= number < len(self.words):
                return text_of(self.words[number])
            return listed("not ", list(map(text_of, self.words)), most=3)
        if self.kind == "present":
            return "present" if number else "missing"
        return "none" if number == NONE else repr(number)

    def _one_of(self, codes: list[int], size: int) -> str:
        """Name the words, or all others if the code for other words is among them."""
        others = sorted(set(range(size)) - set(codes))
        if not codes:
            return "no output"
        if not others:
            return "any output"
        negated = self.kind == "word" and size - 1 in codes
        texts = [self.value(code) for code in (others if negated else codes)]
        return listed(f"{name_of(self.path)} is {'not ' * negated}", texts)


def shape_of(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the shape of outputs if the columns are those of arrays of numbers."""
    last = columns[-1].path if columns else (("key", ""),)
    shape = tuple(i + 1 for step, i in last if step == "entry" and isinstance(i, int))
    if len(shape) != len(last) or math.prod(shape) != len(columns):
        return None
    paths = [tuple(("entry", i) for i in index) for index in np.ndindex(shape)]
    numbers = [column.path for column in columns if column.kind == "number" and not column.optional]
    return shape if paths == numbers else None
