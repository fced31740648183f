"""Outcomes: outputs of any kind as columns of named numbers.

A mechanism may return numbers, words, vectors, dictionaries, nothing at all or a failure, and each
of these may leak. Events are learned and counted on arrays. A `Layout`, learned from past outputs,
defines the numbers that are made of an output. They depend on this output alone, so an event of
these numbers is a fixed set of outputs.

- Numbers are one column, of whole numbers or reals. Words are codes, the most frequent first; the
  last code is for any other word. Where both occur there is a column of each. Where zeros of both
  signs occur, -0.0 differs from 0.0. What a batch, a column or a file has in common is no outcome:
  there is a column of types only where single draws carry them, in calls of one draw, and where
  equal numbers of several types occur within a list.
- Sequences of equal length have a column for each entry, and long ones of words or of sequences
  one for the presence of a member, wherever it is. Other outputs with parts are looked at
  part by part: their length and type, the presence of a key or a member, and its value; for varying
  lengths, also the last entries. Records and tables are dictionaries by label, with their types
  under the key ``$``.
- Of many different words, the parts are looked at, too (`texts`): length, first and last
  characters, numbers within, JSON, dates as times; of failures, the message.
- Numbers that reals do not hold exactly, such as 2^60 + 1 among reals, a fraction or a decimal,
  have further columns, of remainders.

Some different outputs have equal columns: a list, a tuple and an array with equal entries; numbers
of different width. Values under a mask are not looked at. Beyond 256 columns, 8 levels of nesting,
4096 words and the range of reals, for rare words and keys among many, and in objects of unknown
types, `Layout.left_out` reports that more could differ (arrays of numbers of one shape have all
their columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from epsilometer.arrays import Counts
from epsilometer.errors import ArgumentError, one_line
from epsilometer_audit.events.events import MINUS_ZERO, Event, low_bit_texts, range_texts
from epsilometer_audit.outcomes.kinds import Column, kind_and_columns, shape_of
from epsilometer_audit.outcomes.reals import (
    Array,
    Values,
    are_real,
    as_numbers,
    as_whole,
    floats,
    remainders_of,
    with_signs,
)
from epsilometer_audit.outcomes.shapes import Part, parts_of, raw
from epsilometer_audit.outcomes.words import (
    LINE,
    Other,
    Step,
    in_brackets,
    listed,
    name_of,
    short,
    whole_ranges,
)

__all__ = ["Column", "Layout", "Other", "learn"]


@dataclass
class _Node:
    """The columns of a part of outputs, with their numbers in the table, and its own parts."""

    columns: list[tuple[int, Column]] = field(default_factory=list)
    parts: dict[Step, _Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The columns of outputs, learned from past outputs of both sides.

    ``kind`` describes the outputs for a reader; ``left_out`` are notes on what the columns omit.

    >>> from epsilometer_audit.events.events import View
    >>> layout = learn([0.5, None, 3.25], [None, 8.0, "none today"])
    >>> layout.kind
    'mixed: numbers, None and words'
    >>> layout.encode([0.75, None, "tomorrow"]).tolist()
    [[0.75, 0.0], [nan, 1.0], [nan, 3.0]]
    >>> layout.text(Event(((1, 2),), view=View("entry", 1)))
    "output is None or 'none today'"
    """

    kind: str
    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()

    @cached_property
    def whole(self) -> bool:
        """Whether the table is one of whole numbers."""
        return all(column.whole and not column.optional for column in self.columns)

    @cached_property
    def reals(self) -> tuple[int, ...]:
        """The numbers of the columns of reals."""
        columns = enumerate(self.columns)
        return tuple(i for i, column in columns if column.kind == "number" and not column.whole)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all columns but those of words."""
        return tuple(i for i, column in enumerate(self.columns) if column.kind != "word")

    @cached_property
    def groups(self) -> list[list[tuple[int, ...]]]:
        """The numbers of columns of numbers that lie in one sequence, three at least, by row.

        Entries that are counted from the end are left out.
        """
        of: dict[Any, dict[Any, list[int]]] = {}
        for i, column in enumerate(self.columns):
            at = [k for k, (kind, _) in enumerate(column.path) if kind == "entry"]
            counted = (column.path[k][1] for k in at)
            if column.kind == "number" and at and all(str(key)[0] != "-" for key in counted):
                of.setdefault(column.path[: at[0]], {}).setdefault(column.path[at[0]], []).append(i)
        groups = [[tuple(row) for row in rows.values()] for rows in of.values()]
        return [rows for rows in groups if len(rows) > 1 and sum(map(len, rows)) > 2]

    @cached_property
    def _shape(self) -> tuple[int, ...] | None:
        """The shape of an output if all are arrays of numbers of one shape."""
        return shape_of(self.columns)

    @cached_property
    def _signed(self) -> list[bool]:
        return [column.signed for column in self.columns]

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
        """Return the columns of outputs, of shape ``(n,)``, or ``(n, d)`` for d columns.

        ``outputs`` are an array of any type, the outputs along its first axis, or any values. The
        result is int64 if all columns are whole and complete, else float64, NaN where a number is
        missing. Arrays that have this form already are not copied. An output unlike any past output
        has no number: NaN, in int64 the least number (the nearest one beyond its limits); or it is
        another word.
        """
        values = raw(outputs)
        if isinstance(values, np.ndarray) and values.shape[1:] == self._shape and are_real(values):
            numbers, rest = as_numbers(values)
            numbers = as_whole(numbers, rest) if self.whole else floats(numbers)
            if any(self._signed):
                numbers = with_signs(numbers, np.reshape(self._signed, numbers.shape[1:]))
            return numbers.reshape(-1 if len(self.columns) == 1 else (len(values), -1))
        table = np.empty((len(values), len(self.columns)), np.int64 if self.whole else np.float64)
        for i, column in enumerate(self.columns):
            table[:, i] = column.default(self.whole)
        if len(values):
            _fill(self._tree, values, None, table, 0)
        return table.reshape(-1) if len(self.columns) == 1 else table

    def encode_all(self, batches: Sequence[object]) -> Array:
        """Return the columns of several batches of outputs, one after another."""
        encoded = [self.encode(batch) for batch in batches]
        return encoded[0] if len(encoded) == 1 else np.concatenate(encoded)

    def number_of(self, event: Event) -> str:
        """Name the number that an event is about."""
        view, columns = event.view, self.columns
        if view.kind in ("score", "learned"):
            size = len(view.read)
            return f"a score of {size} {'entries' if len(columns) > 1 else 'bits'}"
        if view.kind == "summary":
            return view.text([column.name for column in columns])
        column = columns[view.entry if view.kind in ("entry", "low bit") else 0]
        name = name_of(column.path) if column.kind in ("word", "present") else column.name
        return f"the lowest bit of {name}" if view.kind == "low bit" else name

    def text(self, event: Event) -> str:
        """Return a line that says which outputs an event of the columns holds."""
        view, columns = event.view, self.columns
        if view.kind == "row":
            text = self._rows(view.rows)
        elif view.kind == "all":
            text = " and ".join(map(self.text, view.parts))
        elif view.kind == "score":
            name = f"score of {len(view.read)} {'entries' if len(columns) > 1 else 'bits'}"
            text = listed("", range_texts(name, event.ranges), " or ", " ranges", most=3)
        elif view.kind == "bit":
            name = f"bit {view.entry} of {columns[0].name}"
            text = listed("", range_texts(name, whole_ranges(event.ranges)), " or ")
        elif view.kind in ("learned", "remainder", "difference", "summary"):
            name = view.text([column.name for column in columns])
            texts = range_texts(name, view.closed(event.ranges))
            texts += [f"{name} is NaN"] * event.missing
            text = listed("", texts, " or ", " ranges", most=3)
        elif view.kind == "low bit":
            texts = low_bit_texts(columns[view.entry].name, event.ranges)
            text = listed("", texts, " or ", " such", most=3)
        else:
            entry = view.entry if view.kind == "entry" else 0
            text = columns[entry].where(event.ranges, event.missing)
        return short(one_line(text), LINE)

    def plain(self, event: Event) -> dict[str, Any]:
        """Return an event as plain values for JSON, with the words of the codes of its columns."""
        plain = event.to_plain()
        if event.view.parts:
            return plain | {"parts": [self.plain(part) for part in event.view.parts]}
        single = ("output", "entry", "low bit", "bit", "remainder")
        every = event.view.kind not in single
        entry = 0 if event.view.kind == "bit" else event.view.entry
        columns = self.columns if every else self.columns[entry:][:1]
        if len(self.columns) > 1:
            plain["columns"] = [column.name for column in columns]
        words = {column.name: column.word_names for column in columns if column.kind == "word"}
        if words:
            plain["words"] = words
        if any(column.signed for column in columns):
            plain["minus zero"] = MINUS_ZERO
        return plain

    def _rows(self, rows: Sequence[Sequence[int]]) -> str:
        start = "output is "
        if self._shape is None:
            names = [c.name if c.kind != "present" else name_of(c.path) for c in self.columns]
            start = f"{in_brackets(names)} is "
        texts = [
            in_brackets([c.value(number) for c, number in zip(self.columns, row, strict=False)])
            for row in rows[:3]
        ]
        return listed(start, texts, " or ", " rows", more=len(rows) - len(texts))


def learn(*batches: object, as_reals: bool = False) -> Layout:
    """Learn the layout of outputs from batches.

    Each batch is an array, the outputs along its first axis, or any values. With ``as_reals``,
    representations of the same real are equal: 1 and 1.0, 0.0 and -0.0.
    """
    values = [batch for batch in map(raw, batches) if len(batch)]
    if not values:
        raise ArgumentError("batches", "must hold outputs, got none")
    return Layout(*kind_and_columns(values, as_reals))


def _fill(node: _Node, values: Values, rows: Counts | None, table: Array, depth: int) -> None:
    """Write parts of the outputs of some rows into their columns of a table."""
    for part in parts_of(values, depth):
        at: Any = slice(None)
        if part.at is not None or rows is not None:
            at = rows if part.at is None else part.at if rows is None else rows[part.at]
        for i, column in node.columns:
            numbers = _numbers(part, column, table.dtype == np.int64)
            if numbers is not None:
                table[at, i] = numbers
        for step, inside in node.parts.items():
            where, inner = part.inner(step)
            if len(inner):
                if rows is not None:
                    where = rows if where is None else rows[where]
                _fill(inside, inner, where, table, depth + 1)


def _numbers(  # noqa: PLR0911
    part: Part, column: Column, whole: bool
) -> Array | float | int | None:
    """Return a column of the values, None where they have none."""
    if column.kind == "present":
        return 1
    if column.kind == "word":
        other = len(column.words)
        if part.form != "word":
            return column.codes.get(part.word, other)
        codes = (column.codes.get(word, other) for word in part.keys)
        return np.fromiter(codes, np.int64, part.size)
    if column.kind == "length":
        return part.lengths if part.sized else None
    if part.form != "number":
        return None
    numbers, rest = part.numbers
    if column.kind == "rest":
        remainders = remainders_of(numbers, rest)
        if remainders is None or column.level > remainders.shape[1]:
            return 0.0
        return remainders[:, column.level - 1]
    if whole:
        return as_whole(numbers, rest)
    return with_signs(floats(numbers)) if column.signed else floats(numbers)
