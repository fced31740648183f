"""The columns of outputs, named numbers that are made of each, and how past outputs define them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from epsilometer_audit.events.events import MINUS_ZERO, Number, Ranges, range_texts
from epsilometer_audit.outcomes.reals import (
    NONE,
    Array,
    Values,
    are_told,
    are_whole,
    as_numbers,
    both_zeros,
    remainders_of,
    type_of,
    typed,
)
from epsilometer_audit.outcomes.shapes import (
    COLUMNS,
    PAIRED,
    TYPE,
    Part,
    listing,
    parts_of,
    same_shape,
)
from epsilometer_audit.outcomes.words import (
    MISSING,
    NUMBER,
    Other,
    Step,
    Word,
    codes_in,
    listed,
    name_of,
    text_of,
    whole_ranges,
)
from epsilometer_audit.serving.outputs import Own, OwnArray, Plain

_PLAIN = (TYPE, ("text", "pattern"))  # words without parts
_BESIDE = ((("text", "first number"),), (("text", "last number"),))  # not all that is looked at
_HEAD = 4096  # outputs of a batch that are looked at for repeated reals


@dataclass(frozen=True)
class Column:
    """A number that is made of an output.

    Kinds: ``number``; ``rest``, the number less its nearest reals; ``word``, a code; ``length``;
    ``present``, 1 or 0.
    """

    name: str  # for a reader
    kind: Literal["number", "rest", "word", "length", "present"]
    path: tuple[Step, ...] = ()  # of the part of the output; empty for the whole output
    words: tuple[Word, ...] = ()  # of the codes from 0; the next code is for any other word
    whole: bool = True  # or missing
    optional: bool = False  # whether some outputs lack it
    signed: bool = False  # whether -0.0 differs from 0.0
    level: int = 1  # of a rest: the number of reals that are subtracted

    @property
    def word_names(self) -> list[str]:
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
        if self.signed:
            signed = zip(texts, ranges, strict=True)
            texts = [_with_sign(text, first, last) for text, (first, last) in signed]
        if missing:
            lacks = f"{'is missing or ' * bool(self.path)}{lacks}"
            texts.insert(3, f"{place} {lacks}" if self.optional else f"{self.name} is NaN")
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


def _with_sign(text: str, first: Number | None, last: Number | None) -> str:
    """Say which zero a range holds: they are equal in a comparison."""
    text = text.replace(repr(MINUS_ZERO), "-0.0")
    if first == 0.0:
        return f"{text}, but not -0.0"
    return f"{text}, but not 0.0" if last == MINUS_ZERO else text


def shape_of(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the shape of outputs if the columns are those of arrays of numbers."""
    last = columns[-1].path if columns else (("key", ""),)
    shape = tuple(i + 1 for step, i in last if step == "entry" and isinstance(i, int))
    if len(shape) != len(last) or math.prod(shape) != len(columns):
        return None
    paths = [tuple(("entry", i) for i in index) for index in np.ndindex(shape)]
    numbers = [column.path for column in columns if column.kind == "number" and not column.optional]
    return shape if paths == numbers else None


# --- columns of past outputs ----------------------------------------------------------------------


def kind_and_columns(
    batches: list[Values], as_reals: bool
) -> tuple[str, tuple[Column, ...], tuple[str, ...]]:
    """Return the kind of outputs for a reader, their columns, and notes on what these leave out."""
    own = not as_reals and any(map(_own, batches))
    numbers = _numbers_of(batches, own)
    if numbers is not None:
        whole = numbers[0].dtype == np.int64
        paths = [tuple(("entry", i) for i in at) for at in np.ndindex(numbers[0].shape[1:])]
        if paths:
            signed = (both_zeros(numbers) & (not as_reals)).reshape(-1).tolist()
            columns = (
                Column(name_of(path), "number", path, whole=whole, signed=sign)
                for path, sign in zip(paths, signed, strict=True)
            )
            bits, shape = whole and all(map(_bits, numbers)), numbers[0].shape[1:]
            kind = _named(shape, whole, bits, not whole and not shape and _repeats(numbers))
            return kind, tuple(columns), _unpaired(len(paths))
    values = batches[0] if len(batches) == 1 else [v for batch in batches for v in listing(batch)]
    parts = parts_of(values, 0)
    cut: list[str] = []
    candidates = list(
        _candidates(parts, (), len(values), len(values), as_reals=as_reals, own=own, cut=cut)
    )
    kind = _kind(parts, candidates)
    if not candidates:  # all outputs are empty containers
        return kind, (Column("type", "word", words=(parts[0].word,)),), ()
    exact = [c for c in candidates if c.column.kind != "rest"]
    if all(c.column.whole and not c.column.optional for c in exact):
        candidates = exact
    listed = [c for c in candidates if c.column.path and c.column.path[-1][0] == "listed"]
    for _ in range(
        min(len(candidates) - COLUMNS, len(listed))
    ):  # rare ones: entries show them, too
        candidates.remove(listed.pop())
    chosen = _chosen(candidates)
    if len(chosen) < len(candidates):
        cut.append(f"{len(chosen):,} of {len(candidates):,} columns of outputs are looked at")
    cut += _unpaired(sum(column.kind != "word" for column in chosen))
    return kind, tuple(chosen), tuple(dict.fromkeys(cut))


def _own(batch: Values) -> bool:
    """Tell whether the types of outputs are those of each, not of an array or a column."""
    if isinstance(batch, np.ndarray):
        return isinstance(batch, OwnArray)
    return isinstance(batch, Own) or not isinstance(batch, Plain)


def _of_columns(values: Values) -> bool:
    """Tell whether numbers are of columns of several types, of which some have no -0.0."""
    return not isinstance(values, np.ndarray) and len(set(map(type_of, set(map(type, values))))) > 1


def _unpaired(entries: int) -> tuple[str, ...]:
    """Return the limit of the search for dependent entries, where it is exceeded."""
    left = f"of {entries:,} entries the first {PAIRED:,} are looked at together, all one by one"
    return (left,) if entries > PAIRED else ()


@dataclass(frozen=True)
class _Candidate:
    """A column, the number of outputs that have it, and whether it holds bits."""

    column: Column
    count: int
    rank: int = 2  # 0 lengths and types, 1 presence, 2 others: of equal events, the first is shown
    bits: bool = False


def _candidates(
    parts: list[Part],
    path: tuple[Step, ...],
    beside: int,
    total: int,
    *,
    as_reals: bool,
    own: bool,
    cut: list[str],
) -> Iterator[_Candidate]:
    """Yield the columns of outputs, or of a part of them, by form.

    ``beside`` counts the values that may have this part, and ``total`` all outputs. ``own`` tells
    whether numbers have types of their own. Notes on what columns leave out are added to ``cut``.
    """
    place, count = name_of(path), sum(part.size for part in parts)
    if path and path[-1][0] in ("member", "listed"):
        yield _Candidate(Column(f"{place} present", "present", path), count, rank=1)
        return
    absent = count < total
    optional = absent or len(parts) > 1
    for part in parts:
        if part.form == "number":
            yield from _of_numbers(part, path, optional, as_reals=as_reals, own=own)
            if path[-1:] not in _BESIDE and not are_told(part.values):
                cut.append(f"numbers of {place} beyond the range of reals are not told apart")
    mixed = len(parts) > 1
    if mixed or parts[0].form == "word":
        forms = [part.word for part in parts if part.form != "word"]
        forms.sort(key=lambda form: (form != NUMBER, form))
        kept = (*forms, MISSING) if absent else tuple(forms)
        frequent = (word for part in parts if part.form == "word" for word in part.frequent)
        kinds = any(part.form not in ("word", "number") for part in parts)
        name = "type" if kinds else "word"
        column = Column(f"{name} of {place}" if path else name, "word", path, (*kept, *frequent))
        yield _Candidate(column, count, rank=0 if kinds else 2)
    elif count < beside and path[-1][0] != "entry":  # the length tells which entries are present
        yield _Candidate(Column(f"{place} present", "present", path), count, rank=1)
    sizes = [part.lengths for part in parts if part.sized]
    if sizes and min(s.min() for s in sizes) < max(s.max() for s in sizes):
        optional = absent or len(sizes) < len(parts)
        name = f"length of {place}" if path else "length"
        keyed = all(part.form != "sequence" for part in parts if part.sized)
        rank = 2 if keyed else 0  # a key says more than the number of keys
        yield _Candidate(Column(name, "length", path, optional=optional), count, rank)
    if path and (path[-1][0] == "character" or path[-1] in _PLAIN):
        return
    for part in parts:
        steps = part.steps(place, cut)
        if part.form == "number" and own and typed(part.values):
            steps.append(TYPE)
        for step in steps:
            if inner := parts_of(part.inner(step)[1], len(path) + 1):
                yield from _candidates(
                    inner, (*path, step), part.size, total, as_reals=as_reals, own=own, cut=cut
                )


def _of_numbers(
    part: Part, path: tuple[Step, ...], optional: bool, *, as_reals: bool, own: bool
) -> Iterator[_Candidate]:
    """Yield the columns of numbers: their nearest reals, and their remainders."""
    place, (numbers, rest) = name_of(path), part.numbers
    whole = numbers.dtype == np.int64
    signed = (own or not (as_reals or _of_columns(part.values))) and bool(both_zeros([numbers]))
    column = Column(place, "number", path, whole=whole, optional=optional, signed=signed)
    yield _Candidate(column, part.size, bits=whole and _bits(numbers))
    remainders = remainders_of(numbers, rest)
    for level in range(1, 1 if remainders is None else remainders.shape[1] + 1):
        name = f"{place} less its {'nearest real' if level == 1 else f'{level} nearest reals'}"
        column = Column(name, "rest", path, whole=False, optional=optional, level=level)
        yield _Candidate(column, part.size)


def _chosen(candidates: list[_Candidate]) -> list[Column]:
    """Return 256 columns at most, lengths and types first, then presence, then the others."""
    order = list(range(len(candidates)))
    if len(order) > COLUMNS and shape_of([c.column for c in candidates]) is None:
        order.sort(key=lambda i: (candidates[i].rank > 0, -candidates[i].count, i))
        order = order[:COLUMNS]
    return [candidates[i].column for i in sorted(order, key=lambda i: (candidates[i].rank, i))]


def _kind(parts: list[Part], candidates: list[_Candidate]) -> str:
    numbers = [c for c in candidates if c.column.kind == "number"]
    whole, bits = all(c.column.whole for c in numbers), all(c.bits for c in numbers)
    part = parts[0]
    if len(parts) == 1 and part.form == "number":
        whole = whole or are_whole(part.values)
        return _named((), whole, bits, not whole and _repeats([part.numbers[0]]))
    if len(parts) == 1 and part.form == "sequence":
        shape = shape_of([c.column for c in candidates if c.column.kind != "rest"])
        if shape is not None:
            return _named(shape, whole, bits)
        if part.lengths.min() < part.lengths.max():
            return "sequences of varying length"
        size = part.lengths[0]
        return f"tuples of {size} {'entry' if size == 1 else 'entries'}"
    names = [name for part in parts for name in part.names()]
    return names[0] if len(names) == 1 else f"mixed: {', '.join(names[:-1])} and {names[-1]}"


def _named(shape: Sequence[int], whole: bool, bits: bool, repeats: bool = False) -> str:
    """Return the name of numbers, or of arrays of them."""
    name = "bit" if bits else "integer" if whole else "real"
    if not shape:
        return f"{name}s with repeated values" if repeats else f"{name}s"
    if len(shape) == 1:
        return f"vectors of {shape[0]} {name}{'' if shape[0] == 1 else 's'}"
    return f"arrays of {' x '.join(map(str, shape))} {name}s"


def _bits(numbers: Array) -> bool:
    head = numbers[:_HEAD]
    if not numbers.size or head.min() < 0 or head.max() > 1:
        return False
    return bool(numbers.min() >= 0 and numbers.max() <= 1)


def _repeats(arrays: list[Array]) -> bool:
    """Tell whether reals repeat: a value 8 times, or one in a hundred."""
    rising = np.sort(np.concatenate([array[:_HEAD] for array in arrays]))  # NaN is last

    def times(lag: int) -> int:
        equal = (rising[lag:] == rising[:-lag]) | np.isnan(rising[:-lag])
        return int(np.count_nonzero(equal))

    return times(7) > 0 or times(1) > rising.size / 100


def _numbers_of(batches: list[Values], own: bool) -> list[Array] | None:
    """Return whole numbers or reals of one shape, if that is what batches are; None otherwise."""
    numbers = [as_numbers(array) for array in same_shape(batches, own=own) or ()]
    if not numbers or any(rest is not None for _, rest in numbers):
        return None
    return same_shape([array for array, _ in numbers])
