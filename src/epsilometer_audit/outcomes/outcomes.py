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
from typing import Any, Literal

import numpy as np

from epsilometer.arrays import Counts
from epsilometer.errors import ArgumentError, one_line
from epsilometer.events.events import MINUS_ZERO, Event, Ranges, low_bit_texts, range_texts
from epsilometer.events.scores import PAIRED
from epsilometer_audit.outcomes import reals, words
from epsilometer_audit.outcomes.reals import NONE, Array
from epsilometer_audit.outcomes.shapes import COLUMNS, Part, Records, parts_of, raw, typical
from epsilometer_audit.outcomes.words import Other, Step, Word

_PLAIN = ("text", "pattern")  # words without parts
_BESIDE = ((("text", "first number"),), (("text", "last number"),))  # not all that is looked at
_SMALL = 1 << 20  # numbers, 8 MB


@dataclass(frozen=True)
class Column:
    """A number that is made of an output.

    Kinds: ``number``; ``rest``, the number less its nearest real; ``word``, a code; ``length``;
    ``present``, 1 or 0.
    """

    name: str  # for a reader
    kind: Literal["number", "rest", "word", "length", "present"]
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

    def default(self, whole: bool) -> float | int:
        """Return the number of an output that lacks it, in a table of whole numbers or reals."""
        if self.kind == "word":
            return self.codes.get(words.MISSING, len(self.words))
        return 0 if self.kind == "present" else NONE if whole else math.nan

    def where(self, ranges: Ranges, missing: bool) -> str:
        """Return a text that says that it lies in one of the ranges."""
        place = words.name_of(self.path)
        if self.kind in ("word", "present"):
            return self._one_of(ranges)
        has, lacks = "is a number", "is not a number"
        if self.kind == "length":
            has, lacks = "has a length", "has no length"
        if (None, None) in ranges and not missing and (self.optional or not self.whole):
            return f"{place} {has}" if self.optional else f"{self.name} is not NaN"
        ranges = words.whole_ranges(ranges) if self.whole else ranges
        texts = range_texts(self.name, ranges)
        if missing:
            lacks = f"{'is missing or ' * bool(self.path)}{lacks}"
            texts.insert(3, f"{place} {lacks}" if self.optional else f"{self.name} is NaN")
        return words.listed("", texts, " or ", " ranges", most=4) if texts else "no output"

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
        negated = self.kind == "word" and size - 1 in codes
        texts = [self.value(code) for code in (others if negated else sorted(codes))]
        return words.listed(f"{words.name_of(self.path)} is {'not ' * negated}", texts)


def shape_of(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the shape of outputs if the columns are those of arrays of numbers."""
    last = columns[-1].path if columns else (("key", ""),)
    shape = tuple(i + 1 for step, i in last if step == "entry" and isinstance(i, int))
    if len(shape) != len(last) or math.prod(shape) != len(columns):
        return None
    paths = [tuple(("entry", i) for i in index) for index in np.ndindex(shape)]
    numbers = [column.path for column in columns if column.kind == "number" and not column.optional]
    return shape if paths == numbers else None


@dataclass(frozen=True)
class Layout:
    """The columns of outputs, learned from past outputs of both sides.

    ``kind`` describes the outputs for a reader; ``left_out`` are notes on what the columns omit.
    With ``as_reals``, outputs stand for reals.

    >>> from epsilometer.events.events import View
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
    as_reals: bool = False

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
    def _keys(self) -> list[Any] | None:
        """The keys of an output if all columns are the numbers of keys that all have."""
        numbers = [c for c in self.columns if c.kind == "number" and not c.optional]
        keys = [c.path[0][1] for c in numbers if len(c.path) == 1 and c.path[0][0] == "key"]
        return keys if len(keys) == len(self.columns) else None

    def encode(self, outputs: object) -> Array:
        """Return the columns of outputs, of shape ``(n,)``, or ``(n, d)`` for d columns.

        ``outputs`` are an array of any type, the outputs along its first axis, or any values. The
        result is int64 if all columns are whole and complete, else float64, NaN where a number is
        missing. It lies column by column, for speed, unless it is a large array, which is not
        copied if it has this form already. An output unlike any past output has no number: NaN, in
        int64 the least number (the nearest one beyond its limits); or it is another word.
        """
        values = raw(outputs)
        of = values.rows(self._keys) if type(values) is Records else values
        if isinstance(of, np.ndarray) and (of is not values or of.shape[1:] == self._shape):
            numbers, rest, _ = reals.as_numbers(of)
            numbers = reals.as_whole(numbers, rest) if self.whole else self._signed(numbers)
            numbers = numbers.reshape(-1 if len(self.columns) == 1 else (len(values), -1))
            return np.asfortranarray(numbers) if numbers.size <= _SMALL else numbers
        defaults = [column.default(self.whole) for column in self.columns]
        shape, kind = (len(values), len(defaults)), np.int64 if self.whole else np.float64
        table = np.full(shape, defaults, kind, order="F")
        if len(values):
            _fill(list(enumerate(self.columns)), 0, values, None, table)
        table = table if self.whole else self._signed(table)
        return table.reshape(-1) if len(self.columns) == 1 else table

    def _signed(self, numbers: Array) -> Array:
        """Return numbers as reals, with `MINUS_ZERO` for -0.0 unless outputs stand for reals."""
        numbers = reals.floats(numbers)
        minus = np.signbit(numbers) & (numbers == 0)
        told = minus.any() and not self.as_reals
        return np.where(minus, MINUS_ZERO, numbers) if told else numbers

    @cached_property
    def places(self) -> list[str]:
        """The names of the numbers of columns, of words those of their places."""
        named = "word", "present"
        return [words.name_of(c.path) if c.kind in named else c.name for c in self.columns]

    def number_of(self, event: Event) -> str:
        """Name the number that an event is about."""
        return "a " * (event.view.kind in ("score", "learned")) + event.view.text(self.places)

    def text(self, event: Event) -> str:
        """Return a line that says which outputs an event of the columns holds."""
        view, columns = event.view, self.columns
        if view.kind == "row":
            text = self._rows(view.rows)
        elif view.kind == "all":
            text = " and ".join(map(self.text, view.parts))
        elif view.kind in ("output", "entry"):
            text = columns[view.entry].where(event.ranges, event.missing)
        else:
            name = view.text([column.name for column in columns])
            texts = range_texts(name, view.closed(event.ranges))
            if view.kind == "low bit":
                texts = low_bit_texts(columns[view.entry].name, event.ranges)
            texts += [f"{name} is NaN"] * event.missing
            text = words.listed("", texts, " or ", " ranges", most=3)
        return words.short(one_line(text), words.LINE)

    def plain(self, event: Event) -> dict[str, Any]:
        """Return an event as plain values for JSON, with the words of the codes of its columns."""
        plain = event.to_plain()
        if event.view.parts:
            return plain | {"parts": [self.plain(part) for part in event.view.parts]}
        columns = self.columns
        if event.view.kind in ("output", "entry", "low bit", "bit", "remainder"):
            columns = columns[0 if event.view.kind == "bit" else event.view.entry :][:1]
        if len(self.columns) > 1:
            plain["columns"] = [column.name for column in columns]
        if coded := [column for column in columns if column.kind == "word"]:
            plain["words"] = {
                c.name: [w.text(None) if isinstance(w, Other) else repr(w) for w in c.words]
                for c in coded
            }
        return plain

    def _rows(self, rows: Sequence[Sequence[int]]) -> str:
        start = "output" if self._shape is not None else words.in_brackets(self.places)
        each = (zip(self.columns, row, strict=False) for row in rows[:3])
        texts = [words.in_brackets([c.value(number) for c, number in row]) for row in each]
        return words.listed(f"{start} is ", texts, " or ", " rows", more=len(rows) - len(texts))


def _fill(
    columns: list[tuple[int, Column]], depth: int, values: Any, at: Counts | None, table: Array
) -> None:
    """Write columns, with their numbers, of outputs or parts of them into some rows of a table."""
    inside: dict[Step, list[tuple[int, Column]]] = {}
    for i, column in columns:
        if len(column.path) > depth:
            inside.setdefault(column.path[depth], []).append((i, column))
    for part in parts_of(values, depth, at):
        rows = slice(None) if part.at is None else part.at
        for i, column in columns:
            if len(column.path) == depth:
                numbers = _numbers(part, column, table.dtype == np.int64)
                if numbers is not None:
                    table[rows, i] = numbers
        for step, some in inside.items():
            where, inner = part.inner(step)
            if len(inner):
                _fill(some, depth + 1, inner, where, table)


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
    numbers, rest, _ = part.numbers
    if column.kind == "rest":
        rest = reals.remainders_of(numbers, rest)
        return 0.0 if rest is None else rest
    return reals.as_whole(numbers, rest) if whole else reals.floats(numbers)


# --- columns of past outputs ----------------------------------------------------------------------


def learn(*batches: object, as_reals: bool = False) -> Layout:
    """Learn the layout of outputs from batches.

    Each batch is an array, the outputs along its first axis, or any values. With ``as_reals``,
    outputs stand for reals: their low bits are not looked at.
    """
    some = [batch for batch in map(raw, batches) if len(batch)]
    if not some:
        raise ArgumentError("batches", "must hold outputs, got none")
    values = typical(some)
    parts, cut = parts_of(values, 0), list[str]()
    candidates = list(_columns(parts, (), len(values), len(values), cut))
    kind = _kind(parts, candidates)
    if not candidates:  # all outputs are empty containers
        return Layout(kind, (Column("type", "word", words=(parts[0].word,)),), (), as_reals)
    exact = [c for c in candidates if c.kind != "rest"]
    if all(c.whole and not c.optional for c in exact):
        candidates = exact
    rare = [c for c in candidates if c.path and c.path[-1][0] == "listed"]
    for column in rare[::-1][: max(len(candidates) - COLUMNS, 0)]:  # entries show them, too
        candidates.remove(column)
    chosen = _chosen(candidates)
    if len(chosen) < len(candidates):
        cut.append(f"{len(chosen):,} of {len(candidates):,} columns of outputs are looked at")
    entries = sum(column.kind != "word" for column in chosen)
    if entries > PAIRED:
        left = f"of {entries:,} entries the first {PAIRED:,} are looked at together"
        cut.append(f"{left}, all one by one")
    return Layout(kind, tuple(chosen), tuple(dict.fromkeys(cut)), as_reals)


def _columns(
    parts: list[Part], path: tuple[Step, ...], beside: int, total: int, cut: list[str]
) -> Iterator[Column]:
    """Yield the columns of ``total`` outputs, or of a part of ``beside``; add notes to ``cut``."""
    place, count = words.name_of(path), sum(len(part.values) for part in parts)
    if path and path[-1][0] in ("member", "listed"):
        yield Column(f"{place} present", "present", path, count=count, rank=1)
        return
    absent, mixed = count < total, len(parts) > 1
    for part in parts:
        if part.form == "number":
            numbers, rest, told = part.numbers
            facts: Any = {"path": path, "optional": absent or mixed, "count": len(part)}
            yield Column(place, "number", whole=numbers.dtype == np.int64, **facts)
            if reals.remainders_of(numbers, rest) is not None:
                yield Column(f"{place} less its nearest real", "rest", whole=False, **facts)
            if path[-1:] not in _BESIDE and not told:
                cut.append(f"numbers of {place} are not told apart to the last digit")
    if mixed or parts[0].form == "word":
        forms = [part.word for part in parts if part.form != "word"]
        forms.sort(key=lambda form: (form != words.NUMBER, form))
        kept = (*forms, words.MISSING) if absent else tuple(forms)
        frequent = (word for part in parts if part.form == "word" for word in part.frequent)
        kinds = any(part.sized for part in parts)
        name = f"{'type' if kinds else 'word'}{f' of {place}' * bool(path)}"
        rank = 0 if kinds else 2
        yield Column(name, "word", path, (*kept, *frequent), count=count, rank=rank)
    elif count < beside and path[-1][0] != "entry":  # the length tells which entries there are
        yield Column(f"{place} present", "present", path, count=count, rank=1)
    sized = [part for part in parts if part.sized]
    if len({f(part.lengths) for part in sized for f in (np.min, np.max)}) > 1:
        optional = absent or len(sized) < len(parts)
        keyed = all(part.form != "sequence" for part in sized)
        rank = 2 if keyed else 0  # a key says more than the number of keys
        name = f"length{f' of {place}' * bool(path)}"
        yield Column(name, "length", path, optional=optional, count=count, rank=rank)
    if path and (path[-1][0] == "character" or path[-1] == _PLAIN):
        return
    for part in parts:
        for step in part.steps(place, cut):
            if inner := parts_of(part.inner(step)[1], len(path) + 1):
                yield from _columns(inner, (*path, step), len(part), total, cut)


def _chosen(candidates: list[Column]) -> list[Column]:
    """Return 256 columns at most, lengths and types first, then presence, then the others."""
    order = list(range(len(candidates)))
    if len(order) > COLUMNS and shape_of(candidates) is None:
        order.sort(key=lambda i: (candidates[i].rank > 0, -candidates[i].count, i))
        order = order[:COLUMNS]
    return [candidates[i] for i in sorted(order, key=lambda i: (candidates[i].rank, i))]


def _kind(parts: list[Part], candidates: list[Column]) -> str:
    """Return the name of the outputs for a reader."""
    part, numbers = parts[0], [c for c in candidates if c.kind == "number"]
    name = "integers" if all(c.whole for c in numbers) else "reals"
    if len(parts) == 1 and part.form == "number":
        return "integers" if reals.are_whole(part.values) else name
    if len(parts) == 1 and part.form == "sequence":
        shape = shape_of([c for c in candidates if c.kind != "rest"])
        if shape is not None:
            form = "vectors" if len(shape) == 1 else "arrays"
            return f"{form} of {' x '.join(map(str, shape))} {name}"
        same = part.lengths.min() == part.lengths.max()
        return f"tuples of length {part.lengths[0]}" if same else "sequences of varying length"
    names = [name for part in parts for name in part.names()]
    return names[0] if len(names) == 1 else f"mixed: {', '.join(names[:-1])} and {names[-1]}"
