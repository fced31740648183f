"""Outcomes: outputs of any kind as columns of named numbers.

Events are learned and counted on arrays. A `Layout`, learned from past outputs, defines the numbers
that are made of an output. They depend on this output alone, so an event of these numbers is a
fixed set of outputs.

- Numbers are one column, of whole numbers or reals; equal ones are one, whatever their types, but
  -0.0 is below 0.0. Words are codes, the most frequent first; the last code is for any other word.
  Where both occur there is a column of each. Numbers that reals do not hold exactly, such as
  2^60 + 1 among reals, a fraction or a decimal, have a further column, of remainders.
- Sequences of equal length have a column for each entry, and long ones of words or of sequences
  one for the presence of a member, wherever it is. Other outputs with parts are looked at
  part by part: their length and type, the presence of a key or a member, and its value; for varying
  lengths, also the last entries. Tables are dictionaries by label, with their types under ``$``.
- Of many different words, the parts are looked at, too (`words`): length, first and last
  characters, numbers within, JSON, dates as times; of failures, the message.

Some different outputs have equal columns: a list, a tuple and an array with equal entries. Values
under a mask are not looked at. Beyond 256 columns, 8 levels of nesting, 4096 words and 32 digits,
for rare words and keys among many, and in objects of unknown types, `Layout.left_out` reports that
more could differ (arrays of numbers of one shape have all their columns).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from epsilometer.errors import ArgumentError, one_line
from epsilometer.events.events import (
    MINUS_ZERO,
    Event,
    Ranges,
    equality_text,
    low_bit_texts,
    parity_text,
    range_texts,
)
from epsilometer.events.scores import PAIRED
from epsilometer.numerics.arrays import Counts
from epsilometer_audit.outputs import reals, words
from epsilometer_audit.outputs.reals import NONE, Array
from epsilometer_audit.outputs.shapes import COLUMNS, Part, parts_of, raw, typical
from epsilometer_audit.outputs.words import Other, Step, Word

_BESIDE = ((("text", "first number"),), (("text", "last number"),))  # not all that is looked at
_SMALL = 1 << 20  # numbers, 8 MB


@dataclass(frozen=True)
class Column:
    """A number that is made of an output.

    Kinds: ``number``; ``remainder``, the number less its nearest real; ``word``, a code;
    ``length``; ``present``, 1 or 0.
    """

    name: str  # for a reader
    kind: Literal["number", "remainder", "word", "length", "present"]
    path: tuple[Step, ...] = ()  # of the part of the output; empty for the whole output
    words: tuple[Word, ...] = ()  # of the codes from 0; the next code is for any other word
    whole: bool = True  # or missing
    optional: bool = False  # whether some outputs lack it
    count: int = field(default=0, compare=False)  # of past outputs that have it
    rank: int = field(default=2, compare=False)  # of equal events, the first is shown

    @cached_property
    def codes(self) -> dict[Word, int]:
        """The codes of the words."""
        return {word: code for code, word in enumerate(self.words)}

    def word_texts(self) -> list[str]:
        """Return the words of the codes as texts that tell them apart."""
        texts = []
        for word in self.words:
            texts.append(word.text(None) if isinstance(word, Other) else repr(word))
        return texts

    def default(self, whole: bool) -> float | int:
        """Return the number of an output that lacks it, in a table of whole numbers or reals."""
        if self.kind == "word":
            return self.codes.get(words.MISSING, len(self.words))
        if self.kind == "present":
            return 0
        return NONE if whole else math.nan

    def where(self, ranges: Ranges, missing: bool) -> str:
        """Return a text that says that it lies in one of the ranges."""
        if self.kind in ("word", "present"):
            return self._one_of(ranges)
        place = words.name_of(self.path)
        is_number = "is a number"
        is_none = "is not a number"
        if self.kind == "length":
            is_number = "has a length"
            is_none = "has no length"
        if (None, None) in ranges and not missing:
            if self.optional:
                return f"{place} {is_number}"
            if not self.whole:
                return f"{self.name} is not NaN"
        if self.whole:
            ranges = words.whole_ranges(ranges)
        texts = range_texts(self.name, ranges)
        if missing and not self.optional:
            texts.insert(3, f"{self.name} is NaN")
        elif missing and self.path:
            texts.insert(3, f"{place} is missing or {is_none}")
        elif missing:
            texts.insert(3, f"{place} {is_none}")
        if not texts:
            return "no output"
        return words.listed("", texts, " or ", " ranges", most=4)

    def value(self, number: int) -> str:
        """Return the name of one of its numbers."""
        if self.kind == "word":
            if 0 <= number < len(self.words):
                return words.text_of(self.words[number])
            return words.listed("not ", list(map(words.text_of, self.words)), most=3)
        if self.kind == "present":
            return "present" if number else "missing"
        return "none" if number == NONE else repr(number)

    def _one_of(self, ranges: Ranges) -> str:
        """Name the words, or all others if the code for other words is among them."""
        size = len(self.words) + 1 if self.kind == "word" else 2
        codes: set[int] = set()
        for first, last in words.whole_ranges(ranges):
            until = size if last is None else min(int(last) + 1, size)
            codes.update(range(max(int(first or 0), 0), until))
        others = sorted(set(range(size)) - codes)
        if len(others) in (0, size):
            return "no output" if others else "any output"
        place = words.name_of(self.path)
        if self.kind == "word" and size - 1 in codes:
            return words.listed(f"{place} is not ", list(map(self.value, others)))
        return words.listed(f"{place} is ", list(map(self.value, sorted(codes))))


def shape_of(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the shape of outputs if the columns are those of arrays of numbers."""
    if not columns:
        return None
    shape: list[int] = []
    for _, key in columns[-1].path:
        if not isinstance(key, int) or key < 0:
            return None
        shape.append(key + 1)
    if math.prod(shape) != len(columns):
        return None
    for index, column in zip(np.ndindex(*shape), columns, strict=True):
        path = tuple(("entry", i) for i in index)
        if column.path != path or column.kind != "number":
            return None
    return tuple(shape)


def _first_entry(path: Sequence[Step]) -> int | None:
    """Return the place of the first entry in a path, None if some are counted from the end."""
    first = None
    for place, (kind, key) in enumerate(path):
        if kind == "entry":
            if str(key).startswith("-"):
                return None
            if first is None:
                first = place
    return first


@dataclass(frozen=True)
class Layout:
    """The columns of outputs, learned from past outputs of both sides.

    ``kind`` describes the outputs for a reader; ``left_out`` are notes on what the columns omit.
    With ``as_reals``, outputs stand for reals.

    >>> from epsilometer.events.events import View
    >>> layout = learn_layout([0.5, None, 3.25], [None, 8.0, "none today"])
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
    as_reals: bool = False

    @cached_property
    def whole(self) -> bool:
        """Whether the table is one of whole numbers."""
        return all(column.whole and not column.optional for column in self.columns)

    @cached_property
    def reals(self) -> tuple[int, ...]:
        """The numbers of the columns of reals."""
        numbers = []
        for i, column in enumerate(self.columns):
            if column.kind == "number" and not column.whole:
                numbers.append(i)
        return tuple(numbers)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all columns but those of words."""
        return tuple(i for i, column in enumerate(self.columns) if column.kind != "word")

    @cached_property
    def groups(self) -> list[list[tuple[int, ...]]]:
        """The numbers of columns of numbers that lie in one sequence, three at least, by row.

        Entries that are counted from the end are left out.
        """
        sequences: dict[tuple[Step, ...], dict[Step, list[int]]] = {}
        for i, column in enumerate(self.columns):
            place = _first_entry(column.path)
            if column.kind == "number" and place is not None:
                sequence = sequences.setdefault(column.path[:place], {})
                sequence.setdefault(column.path[place], []).append(i)
        groups = []
        for sequence in sequences.values():
            rows = [tuple(row) for row in sequence.values()]
            if len(rows) > 1 and sum(map(len, rows)) > 2:
                groups.append(rows)
        return groups

    @cached_property
    def _shape(self) -> tuple[int, ...] | None:
        """The shape of an output if all are arrays of numbers of one shape."""
        return shape_of(self.columns)

    def encode(self, outputs: object) -> Array:
        """Return the columns of outputs, of shape ``(n,)``, or ``(n, d)`` for d columns.

        ``outputs`` are an array of any type, the outputs along its first axis, or any values. The
        result is int64 if all columns are whole and complete, else float64, NaN where a number is
        missing. It lies column by column, for speed, unless it is a large array, which is not
        copied if it has this form already. An output unlike any past output has no number: NaN, in
        int64 the least number (the nearest one beyond its limits); or it is another word.
        """
        values = raw(outputs)
        if isinstance(values, np.ndarray) and values.shape[1:] == self._shape:
            encoded = reals.as_numbers(values)
            numbers = encoded.whole if self.whole else self._signed(encoded.floats)
            if len(self.columns) == 1:
                return numbers.reshape(len(values))
            numbers = numbers.reshape(len(values), -1)
            return np.asfortranarray(numbers) if numbers.size <= _SMALL else numbers
        defaults = [column.default(self.whole) for column in self.columns]
        dtype = np.int64 if self.whole else np.float64
        table = np.full((len(values), len(defaults)), defaults, dtype, order="F")
        if len(values):
            _fill(list(enumerate(self.columns)), 0, values, None, table)
        if not self.whole:
            table = self._signed(table)
        return table[:, 0] if len(self.columns) == 1 else table

    def _signed(self, numbers: Array) -> Array:
        """Return reals with `MINUS_ZERO` for -0.0 unless outputs stand for reals."""
        is_minus_zero = np.signbit(numbers) & (numbers == 0)
        if self.as_reals or not is_minus_zero.any():
            return numbers
        return np.where(is_minus_zero, MINUS_ZERO, numbers)

    @cached_property
    def places(self) -> list[str]:
        """The names of the numbers of columns, of words those of their places."""
        names = []
        for column in self.columns:
            if column.kind in ("word", "present"):
                names.append(words.name_of(column.path))
            else:
                names.append(column.name)
        return names

    def number_of(self, event: Event) -> str:
        """Name the number that an event is about."""
        name = event.view.text(self.places)
        return f"a {name}" if event.view.kind in ("score", "learned") else name

    def text(self, event: Event) -> str:
        """Return a line that says which outputs an event of the columns holds."""
        view = event.view
        if view.kind == "row":
            text = self._rows(view.rows)
        elif view.kind == "all":
            text = " and ".join(map(self.text, view.parts))
        elif view.kind == "parity":
            text = parity_text(event, [self.text(part) for part in view.parts])
        elif view.kind == "equal":
            text = equality_text(event, [column.name for column in self.columns])
        elif view.kind in ("output", "entry"):
            text = self.columns[view.entry].where(event.ranges, event.missing)
        else:
            text = self._score_text(event)
        return words.short(one_line(text), words.LINE)

    def _score_text(self, event: Event) -> str:
        """Say which outputs an event of low bits, or of a score, holds."""
        view = event.view
        names = [column.name for column in self.columns]
        name = view.text(names)
        if view.kind == "low bit":
            texts = low_bit_texts(names[view.entry], event.ranges)
        else:
            texts = range_texts(name, view.closed(event.ranges))
        if event.missing:
            texts.append(f"{name} is NaN")
        return words.listed("", texts, " or ", " ranges", most=3)

    def plain(self, event: Event) -> dict[str, Any]:
        """Return an event as plain values for JSON, with the words of the codes of its columns."""
        plain = event.to_plain()
        view = event.view
        if view.parts:
            plain["parts"] = [self.plain(part) for part in view.parts]
            return plain
        columns: Sequence[Column] = self.columns
        if view.kind in ("output", "entry", "low bit", "remainder") and view.inner is None:
            columns = [self.columns[view.entry]]
        if len(self.columns) > 1:
            plain["columns"] = [column.name for column in columns]
        coded = [column for column in columns if column.kind == "word"]
        if coded:
            plain["words"] = {column.name: column.word_texts() for column in coded}
        return plain

    def _rows(self, rows: Sequence[Sequence[int]]) -> str:
        """Name rows of numbers of the columns, three at most."""
        start = "output" if self._shape is not None else words.in_brackets(self.places)
        texts = []
        for row in rows[:3]:
            values = list(map(Column.value, self.columns, row))
            texts.append(words.in_brackets(values))
        return words.listed(f"{start} is ", texts, " or ", " rows", more=len(rows) - len(texts))


def _fill(
    columns: list[tuple[int, Column]], depth: int, values: Any, at: Counts | None, table: Array
) -> None:
    """Write columns, with their numbers, of outputs or parts of them into some rows of a table."""
    inside: dict[Step, list[tuple[int, Column]]] = {}
    for i, column in columns:
        if len(column.path) > depth:
            inside.setdefault(column.path[depth], []).append((i, column))
    ending = [(i, column) for i, column in columns if len(column.path) == depth]
    for part in parts_of(values, depth, at):
        rows = slice(None) if part.at is None else part.at
        for i, column in ending:
            numbers = _numbers(part, column, table.dtype == np.int64)
            if numbers is not None:
                table[rows, i] = numbers
        for step, columns_inside in inside.items():
            rows_inside, inner = part.inner(step)
            if len(inner):
                _fill(columns_inside, depth + 1, inner, rows_inside, table)


def _numbers(part: Part, column: Column, whole: bool) -> Array | float | None:  # noqa: PLR0911
    """Return a column of the values, None where they have none."""
    if column.kind == "present":
        return 1
    if column.kind == "word":
        other = len(column.words)
        if part.form != "word":
            return column.codes.get(part.word, other)
        codes = [column.codes.get(word, other) for word in part.values.words]
        return np.asarray(np.array(codes)[part.values.codes])
    if column.kind == "length":
        return part.lengths if part.sized else None
    if part.form != "number":
        return None
    if column.kind == "remainder":
        remainders = part.numbers.remainders
        return 0.0 if remainders is None else remainders
    return part.numbers.whole if whole else part.numbers.floats


# --- columns of past outputs ----------------------------------------------------------------------


def learn_layout(*batches: object, as_reals: bool = False) -> Layout:
    """Learn the layout of outputs from batches.

    Each batch is an array, the outputs along its first axis, or any values. With ``as_reals``,
    outputs stand for reals: their low bits are not looked at.
    """
    filled = [batch for batch in map(raw, batches) if len(batch)]
    if not filled:
        raise ArgumentError("batches", "must hold outputs, got none")
    values = typical(filled)
    parts = parts_of(values, 0)
    notes: list[str] = []
    candidates = list(_columns(parts, (), len(values), len(values), notes))
    kind = _kind(parts, candidates)
    if not candidates:  # all outputs are empty containers
        return Layout(kind, (Column("type", "word", words=(parts[0].word,)),), (), as_reals)
    without_remainders = [column for column in candidates if column.kind != "remainder"]
    if Layout(kind, tuple(without_remainders)).whole:
        candidates = without_remainders
    candidates = _without_members(candidates)
    columns = _chosen(candidates)
    if len(columns) < len(candidates):
        notes.append(f"{len(columns):,} of {len(candidates):,} columns of outputs are looked at")
    if len(columns) > PAIRED:
        left = f"of {len(columns):,} entries the first {PAIRED:,} are looked at together"
        notes.append(f"{left}, all one by one")
    return Layout(kind, tuple(columns), tuple(dict.fromkeys(notes)), as_reals)


def _columns(
    parts: list[Part], path: tuple[Step, ...], beside: int, total: int, notes: list[str]
) -> Iterator[Column]:
    """Yield the columns of ``total`` outputs, or of a part of ``beside``; add to the notes."""
    place = words.name_of(path)
    count = sum(map(len, parts))
    last_step = path[-1][0] if path else ""
    present = Column(f"{place} present", "present", path, count=count, rank=1)
    if last_step in ("member", "listed"):
        yield present
        return
    is_absent = count < total
    is_mixed = len(parts) > 1
    for part in parts:
        if part.form == "number":
            yield from _of_numbers(part, path, is_absent or is_mixed)
            if path[-1:] not in _BESIDE and not part.numbers.exact:
                notes.append(f"numbers of {place} are not told apart to the last digit")
    if is_mixed or parts[0].form == "word":
        yield _of_words(parts, path, is_absent, count)
    elif count < beside and last_step != "entry":  # the length tells which entries there are
        yield present
    sized = [part for part in parts if part.sized]
    ends = [(part.lengths.min(), part.lengths.max()) for part in sized]
    if len(set(chain.from_iterable(ends))) > 1:
        keyed = all(part.form != "sequence" for part in sized)
        yield Column(
            _named("length", path),
            "length",
            path,
            optional=is_absent or len(sized) < len(parts),
            count=count,
            rank=2 if keyed else 0,  # a key says more than the number of keys
        )
    if last_step == "character":
        return
    for part in parts:
        for step in part.steps(place, notes):
            _, values = part.inner(step)
            inner = parts_of(values, len(path) + 1)
            if inner:
                yield from _columns(inner, (*path, step), len(part), total, notes)


def _named(what: str, path: tuple[Step, ...]) -> str:
    return f"{what} of {words.name_of(path)}" if path else what


def _of_numbers(part: Part, path: tuple[Step, ...], optional: bool) -> Iterator[Column]:
    """Yield the column of numbers, and one of their remainders if not all are 0."""
    place = words.name_of(path)
    whole = part.numbers.nearest.dtype == np.int64
    yield Column(place, "number", path, whole=whole, optional=optional, count=len(part))
    if part.numbers.remainders is not None:
        name = f"{place} less its nearest real"
        yield Column(name, "remainder", path, whole=False, optional=optional, count=len(part))


def _of_words(parts: list[Part], path: tuple[Step, ...], absent: bool, count: int) -> Column:
    """Return the column of words, of which the forms of other values come first."""
    codes: list[Word] = [part.word for part in parts if part.form != "word"]
    codes.sort(key=lambda form: (form != words.NUMBER, form))
    if absent:
        codes.append(words.MISSING)
    for part in parts:
        if part.form == "word":
            codes += part.frequent
    if any(part.sized for part in parts):
        return Column(_named("type", path), "word", path, tuple(codes), count=count, rank=0)
    return Column(_named("word", path), "word", path, tuple(codes), count=count)


def _without_members(candidates: list[Column]) -> list[Column]:
    """Leave out the rarest members of sequences where columns are many: entries show them, too."""
    too_many = len(candidates) - COLUMNS
    columns = []
    for column in reversed(candidates):
        if too_many > 0 and column.path and column.path[-1][0] == "listed":
            too_many -= 1
        else:
            columns.append(column)
    return columns[::-1]


def _chosen(candidates: list[Column]) -> list[Column]:
    """Return 256 columns at most, lengths and types first, then presence, then the others."""
    chosen = candidates
    if shape_of(candidates) is None:
        order = range(len(candidates))
        first = sorted(order, key=lambda i: (candidates[i].rank > 0, -candidates[i].count))
        chosen = [candidates[i] for i in sorted(first[:COLUMNS])]
    return sorted(chosen, key=lambda column: column.rank)


def _kind(parts: list[Part], candidates: list[Column]) -> str:
    """Return the name of the outputs for a reader."""
    first, *others = parts
    if not others and first.form == "number":
        return "integers" if reals.are_whole(first.values) else "reals"
    if not others and first.form == "sequence":
        shape = shape_of([column for column in candidates if column.kind != "remainder"])
        if shape is not None:
            form = "vectors" if len(shape) == 1 else "arrays"
            numbers = [column.whole for column in candidates if column.kind == "number"]
            entries = "integers" if all(numbers) else "reals"
            return f"{form} of {' x '.join(map(str, shape))} {entries}"
        if first.lengths.min() == first.lengths.max():
            return f"tuples of length {first.lengths[0]}"
        return "sequences of varying length"
    *names, last = chain.from_iterable(map(Part.names, parts))
    return f"mixed: {', '.join(names)} and {last}" if names else last
