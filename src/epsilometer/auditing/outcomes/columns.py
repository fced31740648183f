"""A column: a number that is made of each output, with a name."""

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
    place_of,
    text_of,
    whole_ranges,
)
from epsilometer.events.events import Ranges, ranges_words


@dataclass(frozen=True)
class Column:
    """A number that is made of an output.

    Parameters
    ----------
    name
        What a reader calls it.
    what
        ``number``; ``rest``, what the nearest real leaves out of it; ``word``, a code; ``length``;
        ``present``, 1 or 0.
    path
        Which part of the output is meant, none for all of it.
    words
        What the codes from 0 stand for; the next is any other.
    whole
        Whether it is a whole number where there is one.
    optional
        Whether outputs lack it.
    signed
        Whether -0.0 is told apart from 0.0.
    """

    name: str
    what: Literal["number", "rest", "word", "length", "present"]
    path: tuple[Step, ...] = ()
    words: tuple[Word, ...] = ()
    whole: bool = True
    optional: bool = False
    signed: bool = False

    @property
    def outcomes(self) -> list[str]:
        """What the words are, in full."""
        return [w.words(None) if isinstance(w, Other) else repr(w) for w in self.words]

    @cached_property
    def codes(self) -> dict[Word, int]:
        """The codes of the words."""
        return {word: code for code, word in enumerate(self.words)}

    def default(self, whole: bool) -> float | int:
        """Return what stands for an output that lacks it, in a table of whole numbers or reals."""
        if self.what == "word":
            return self.codes.get(MISSING, len(self.words))
        if self.what == "present":
            return 0
        return NONE if whole else math.nan

    def where(self, ranges: Ranges, missing: bool) -> str:
        """Say in words that it lies in one of the ranges."""
        if self.what == "word":
            return self._one_of(codes_in(ranges, len(self.words) + 1))
        if self.what == "present":
            held = codes_in(ranges, 2)
            if not held:
                return "no output"
            said = f"{place_of(self.path)} is {self.value(held[0])}"
            return said if len(held) == 1 else "any output"
        there = "has a length" if self.what == "length" else "is a number"
        if (None, None) in ranges and not missing and (self.optional or not self.whole):
            return f"{place_of(self.path)} {there}" if self.optional else f"{self.name} is not NaN"
        ranges = whole_ranges(ranges) if self.whole else ranges
        if self.what == "length":  # none is below 0
            ranges = [(0 if last == 0 else first, last) for first, last in ranges]
        parts = ranges_words(self.name, ranges)
        if missing:
            lacks = f"{'is missing or ' * bool(self.path)}{there.replace(' a ', ' no ')}"
            no_number = f"{place_of(self.path)} {lacks}" if self.optional else f"{self.name} is NaN"
            parts.insert(3, no_number)
        if self.signed:
            parts = [part.replace(repr(BELOW), "-0.0") for part in parts]
        return listed("", parts, " or ", " ranges", most=4) if parts else "no output"

    def value(self, number: int) -> str:
        """Name one of its numbers."""
        if self.what == "word":
            return self._text(number)
        if self.what == "present":
            return "present" if number else "missing"
        return "none" if number == NONE else repr(number)

    def _text(self, code: int) -> str:
        if 0 <= code < len(self.words):
            return text_of(self.words[code])
        return listed("not ", list(map(text_of, self.words)), most=3) or "another"

    def _one_of(self, codes: list[int]) -> str:
        """Name the outcomes, or all others where it holds those that were never seen."""
        others = sorted(set(range(len(self.words) + 1)) - set(codes))
        if not codes:
            return "no output"
        if not others:
            return "any output"
        unseen = len(self.words) in codes
        texts = [self._text(code) for code in (others if unseen else codes)]
        return listed(f"{place_of(self.path)} is {'not ' * unseen}", texts)


def shape_of(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the shape of outputs where the columns are those of arrays of numbers."""
    last = columns[-1].path if columns else (("key", ""),)
    shape = tuple(place + 1 for step, place in last if step == "entry" and isinstance(place, int))
    if len(shape) != len(last) or math.prod(shape) != len(columns):
        return None
    places = [tuple(("entry", i) for i in place) for place in np.ndindex(shape)]
    numbers = [column.path for column in columns if column.what == "number" and not column.optional]
    return shape if places == numbers else None
