"""Outcomes: outputs of any kind, put into columns of numbers that a reader can name.

A mechanism may answer with numbers, words, vectors, dictionaries, nothing at all or a failure, and
any of these may leak. Events are learned and counted on arrays, so that a `Layout`, learned from
outputs of the past, says which numbers are made of an output; it makes the same of the same output
forever, whatever it comes with. So an event of these numbers is a fixed set of outputs.

- Numbers are one column, of whole numbers or reals; words are codes, the most frequent first, the
  last code for any other word; where both occur there is a column of each. -0.0 is told apart from
  0.0, and a number has a column for its type where equal numbers are of several.
- Sequences of equal length are a column an entry. Whatever else has parts is looked at part by
  part: its length and type, whether it has a key or a member, and what is there; of lengths that
  vary, also the last entries. Records and tables are dictionaries of what they hold by its label,
  with their types under the key ``$``.
- Many different words are taken apart, too (`texts`): length, first and last characters, numbers
  within, JSON, bytes as numbers, dates as times; of failures, the message.
- Numbers that no real holds, such as 2^60 + 1 among reals, a fraction or a decimal, have another
  column for what their nearest real leaves out.

What two outputs must differ in to be told apart, then: not in being a list, a tuple or an array;
nor in how many bits hold a number, beyond 1.8e308, or beyond 106 bits; nor in what lies under a
mask. Beyond 256 columns, 8 levels of nesting, 4096 words, words and keys of many that are there
less than three times, and in objects of unknown types, `Layout.left_out` says that more could
differ (arrays of numbers of one shape have all their columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.columns import Column, shape_of
from epsilometer.auditing.outcomes.kinds import kind_and_columns
from epsilometer.auditing.outcomes.reals import (
    Array,
    Values,
    are_real,
    as_numbers,
    as_whole,
    floats,
    left_out,
    with_signs,
)
from epsilometer.auditing.outcomes.shapes import Part, parts_of, raw
from epsilometer.auditing.outcomes.words import (
    LINE,
    Other,
    Step,
    in_brackets,
    listed,
    place_of,
    short,
    whole_ranges,
)
from epsilometer.errors import ArgumentError, one_line
from epsilometer.events.events import Event, ranges_words

__all__ = ["Column", "Layout", "Other", "learn"]


@dataclass
class _Node:
    """Columns of a part of outputs, by their place in a table, and of its own parts."""

    columns: list[tuple[int, Column]] = field(default_factory=list)
    parts: dict[Step, _Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """Which columns outputs are put into; learned from the outputs of both sides of the past.

    Parameters
    ----------
    kind
        What outputs were found to be, for a reader.
    columns
        The columns.
    left_out
        What the columns do not say of outputs, in sentences.

    >>> from epsilometer.events.events import View
    >>> layout = learn([0.5, None, 3.25], [None, 8.0, "none today"])
    >>> layout.kind
    'mixed: numbers, None and words'
    >>> layout.encode([0.75, None, "tomorrow"]).tolist()
    [[0.75, 0.0], [nan, 1.0], [nan, 3.0]]
    >>> layout.words(Event(((1, 2),), view=View("entry", 1)))
    "output is None or 'none today'"
    """

    kind: str
    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the table is one of whole numbers."""
        return all(column.whole and not column.optional for column in self.columns)

    @cached_property
    def reals(self) -> tuple[int, ...]:
        """Which columns are reals, as they are."""
        places = enumerate(self.columns)
        return tuple(i for i, column in places if column.what == "number" and not column.whole)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Which columns say how much: all but words."""
        return tuple(i for i, column in enumerate(self.columns) if column.what != "word")

    @cached_property
    def _shape(self) -> tuple[int, ...] | None:
        """The shape of an output where all are arrays of numbers of one shape."""
        return shape_of(self.columns)

    @cached_property
    def _tree(self) -> _Node:
        tree = _Node()
        for i, column in enumerate(self.columns):
            node = tree
            for step in column.path:
                node = node.parts.setdefault(step, _Node())
            node.columns.append((i, column))
        return tree

    def encode(self, outputs: object) -> Array:
        """Put outputs into the columns.

        Parameters
        ----------
        outputs
            An array of any type, the outputs along its first axis, or any values.

        Returns
        -------
        An array of shape ``(n,)``, or ``(n, d)`` for d columns: of whole numbers (int64) where all
        columns are, else of reals (float64), NaN where there is none. Arrays that are so already
        are not copied. What is unlike anything that was learned from has no number: NaN, among
        whole numbers the least of int64 (numbers beyond them, the nearest); or it is another word.
        """
        values = raw(outputs)
        if isinstance(values, np.ndarray) and values.shape[1:] == self._shape and are_real(values):
            numbers, rest = as_numbers(values)
            numbers = as_whole(numbers, rest) if self.whole else floats(numbers)
            signed = [column.signed for column in self.columns]
            if any(signed):
                numbers = with_signs(numbers, np.reshape(signed, numbers.shape[1:]))
            one = len(self.columns) == 1
            return numbers.reshape(-1) if one else numbers.reshape(len(values), -1)
        table = np.empty((len(values), len(self.columns)), np.int64 if self.whole else np.float64)
        for i, column in enumerate(self.columns):
            table[:, i] = column.default(self.whole)
        if len(values):
            _fill(self._tree, values, None, table, 0)
        return table.reshape(-1) if len(self.columns) == 1 else table

    def words(self, event: Event) -> str:
        """Say in a line which outputs an event of the columns holds."""
        view = event.view
        if view.kind == "row":
            text = self._rows(view.rows)
        elif view.kind == "score":
            among = "entries" if len(self.columns) > 1 else "bits"
            note = f" (a sum over the {among} of what each says)"
            ends = ranges_words(f"score of all {among}", event.ranges)
            text = listed("", ends, " or ", " ranges", most=3, line=LINE - len(note)) + note
        elif view.kind == "low bit" and view.entry < len(self.columns):
            words = view.low_words(self.columns[view.entry].name, event.ranges)
            text = listed("", words, " or ", " such", most=3)
        elif view.formula is not None or view.kind in ("remainder", "difference"):
            name = view.words([column.name for column in self.columns])
            ends = ranges_words(name, view.plainly(event.ranges))
            ends += [f"{name} is NaN"] * event.missing
            text = listed("", ends, " or ", " ranges", most=3)
        elif view.kind == "bit":
            name = f"bit {view.entry} of {self.columns[0].name}"
            ends = ranges_words(name, whole_ranges(event.ranges))
            text = listed("", ends, " or ")
        else:
            at = view.entry if view.kind == "entry" else 0
            if not 0 <= at < len(self.columns):
                return short(event.words(), LINE) or "no output"
            text = self.columns[at].where(event.ranges, event.missing)
        return short(one_line(text), LINE)

    def plain(self, event: Event) -> dict[str, Any]:
        """Return an event as JSON has it, with the words that codes of its columns stand for."""
        plain = event.to_plain()
        every = event.view.kind in ("score", "row", "learned")
        columns = self.columns if every else self.columns[event.view.entry :][:1]
        words = {column.name: column.outcomes for column in columns if column.what == "word"}
        return plain | {"words": words} if words else plain

    def _rows(self, rows: Sequence[Sequence[int]]) -> str:
        start = "output is "
        if self._shape is None:
            names = [c.name if c.what != "present" else place_of(c.path) for c in self.columns]
            start = f"{in_brackets(names)} is "
        texts = [
            in_brackets([c.value(number) for c, number in zip(self.columns, row, strict=False)])
            for row in rows[:3]
        ]
        more = len(rows) - len(texts)
        return listed(start, texts, " or ", " rows", more=more)


def learn(*batches: object, as_reals: bool = False) -> Layout:
    """Find out what outputs are, and the columns that hold them.

    Parameters
    ----------
    batches
        Any number of batches, each an array, the outputs along its first axis, or any values.
    as_reals
        Whether numbers are the same that stand for the same real: 1 and 1.0, 0.0 and -0.0.
    """
    values = [batch for batch in map(raw, batches) if len(batch)]
    if not values:
        raise ArgumentError("batches", "must hold outputs, got none")
    return Layout(*kind_and_columns(values, as_reals))


def _fill(
    node: _Node, values: Values, rows: NDArray[np.int64] | None, table: Array, depth: int
) -> None:
    """Put parts of outputs, which are those of some rows, into their columns of a table."""
    for part in parts_of(values, depth):
        at: Any = slice(None)
        if part.at is not None or rows is not None:
            at = rows if part.at is None else part.at if rows is None else rows[part.at]
        for i, column in node.columns:
            numbers = _made(part, column, table.dtype == np.int64)
            if numbers is not None:
                table[at, i] = numbers
        for step, inside in node.parts.items():
            where, inner = part.inner(step)
            if len(inner):
                if rows is not None:
                    where = rows if where is None else rows[where]
                _fill(inside, inner, where, table, depth + 1)


def _made(  # noqa: PLR0911
    part: Part, column: Column, whole: bool
) -> Array | float | int | None:
    """Return a column of the values, None where they have none."""
    if column.what == "present":
        return 1
    if column.what == "word":
        return _codes(part, column)
    if column.what == "length":
        return part.lengths if part.sized else None
    if part.form != "number":
        return None
    numbers, rest = part.numbers
    if column.what == "rest":
        left = left_out(numbers, rest)
        return 0.0 if left is None else left
    if whole:
        return as_whole(numbers, rest)
    return with_signs(floats(numbers)) if column.signed else floats(numbers)


def _codes(part: Part, column: Column) -> Array | int:
    """Return the codes that a column of words has for the values."""
    another = len(column.words)
    if part.form != "word":
        return column.codes.get(part.word, another)
    codes = (column.codes.get(word, another) for word in part.keys)
    return np.fromiter(codes, np.int64, part.size)
