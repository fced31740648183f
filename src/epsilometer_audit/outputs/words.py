"""Words: values that are not numbers, in a comparable form, their names and their parts.

Parts are their characters, the numbers in them, and the values that they represent.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from numbers import Number
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from epsilometer.events.events import Ranges
from epsilometer_audit.outputs.reals import number_of
from epsilometer_audit.serving.outputs import Failure

Step = tuple[str, Hashable]  # from an output to a part of it: ("entry", 3), ("key", "a")

DEPTH = 8
"""Levels of nesting that are looked at."""
LINE = 160
_LABEL = 40
_SPANS = (datetime.timedelta, np.timedelta64)
_TIMES = (datetime.date, datetime.time, np.datetime64, *_SPANS)


@dataclass(frozen=True, order=True)
class Other:
    """An outcome other than text that is a word, of some sort, identified by its name."""

    sort: Literal["form", "failure", "value", "object"]
    name: str

    def text(self, size: int | None = _LABEL) -> str:
        """Return its name, in so many letters at most."""
        text = f"failure {self.name}" if self.sort == "failure" else self.name
        return text if size is None else short(text, size)


Word = str | bytes | None | Other
MISSING = Other("form", "missing")
NUMBER = Other("form", "a number")


def word_of(value: Any) -> Word:
    """Return the word of a plain value: different words belong to different values."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Failure):
        return Other("failure", value.type_name)
    name = type(value).__name__
    if isinstance(value, Enum):
        return Other("value", f"{name}.{value.name}")
    if isinstance(value, (tuple, list, dict, set, frozenset, type)):  # in too many others
        return Other("object", f"a {name}")
    return Other("value", str(value))


def key_of(value: Any) -> Hashable:
    """Return what is equal for values with the same word and parts only."""
    word = word_of(value)
    if isinstance(value, (*_TIMES, Failure)):  # some of NumPy's have no hash
        return word, repr(value)
    return word


def text_of(word: Word) -> str:
    """Return the name of a word, in a line."""
    return word.text() if isinstance(word, Other) else short(repr(word))


def label(value: Any, depth: int = 0) -> str:
    """Return the name of a key or a member."""
    if isinstance(value, (Number, np.bool_)):
        return short(str(value))
    if isinstance(value, (tuple, frozenset)) and depth < DEPTH:
        texts = [label(inside, depth + 1) for inside in value]
        if isinstance(value, frozenset):
            return short(f"{{{', '.join(sorted(texts))}}}")
        return short(f"({', '.join(texts)})")
    return text_of(word_of(value))


def name_of(path: tuple[Step, ...]) -> str:
    """Return the name of a part of an output."""
    names = []
    for kind, key in path:
        if (kind, key) == ("key", "$"):
            names.append("type")
        elif kind in ("part", "text"):
            names.append(str(key))
        elif kind in ("entry", "key", "character"):
            names.append(f"{kind} {label(key)}")
        else:
            names.append(label(key))
    return ".".join(names) or "output"


def whole_ranges(ranges: Ranges) -> Ranges:
    """Return ranges with whole ends, without those that hold no whole number."""
    whole: list[tuple[int | None, int | None]] = []
    for first, last in ranges:
        if first == math.inf or last == -math.inf:
            continue
        start = None
        end = None
        if first not in (None, -math.inf):
            start = math.ceil(first)
        if last not in (None, math.inf):
            end = math.floor(last)
        if start is None or end is None or start <= end:
            whole.append((start, end))
    return whole


def listed(
    start: str,
    items: Sequence[str],
    comma: str = ", ",
    unit: str = "",
    most: int = 64,
    more: int = 0,
) -> str:
    """Join the items that fit a line, and say how many are left, with ``more`` unlisted ones."""
    for count in range(min(most, len(items)), 0, -1):
        shown = list(items[:count])
        left = len(items) - count + more
        if left:
            shown.append(f"{left} more{unit}")
        *first, last = shown
        text = start + last
        if first:
            text = f"{start}{comma.join(first)} or {last}"
        if len(text) <= LINE or count == 1:
            return text
    return f"{start}nothing"


def in_brackets(items: Sequence[str]) -> str:
    """Join the items in brackets, in a third of a line."""
    return short(f"({', '.join(items)})", LINE // 3)


def short(text: str, size: int = _LABEL) -> str:
    """Return a text, without its middle where it is long."""
    if len(text) <= size:
        return text
    end = (size - 3) // 3
    return f"{text[: size - 3 - end]}...{text[-end:]}"


# --- parts of words -------------------------------------------------------------------------------

MANY = 64
"""More different words than this are split into parts."""
_ENDS = 8  # characters at the start, and at the end
_DIGIT = re.compile(r"[0-9]")
_MODULI = 9 * 10 * 11 * 97  # usual moduli of check digits divide it, as 9, 10, 11, 97 do
_NUMBER = re.compile(r"-?(0*)[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def features(values: Iterable[Any], words: Sequence[Word]) -> tuple[list[Step], bool]:
    """Return the parts of many different words, and whether these determine the words.

    ``words`` are those of the ``values``; see `word_of`.
    """
    failures = {value for value in values if isinstance(value, Failure)}
    steps: list[Step] = []
    if len(failures) > len({value.type_name for value in failures}):
        steps.append(("text", "message"))
    different = set(words)
    if len(different) <= MANY:
        return steps, True
    if any(isinstance(value, _TIMES) for value in values):
        steps.append(("text", "time"))
    binary = {word for word in different if isinstance(word, bytes)}
    texts = {str(as_text(word)) for word in different - binary - {None}}
    if texts:
        steps.append(("text", "checksum"))
    if any(map(_DIGIT.search, texts)):
        steps += [("text", name) for name in _OF_DIGITS]
    if texts and len(set(map(_pattern, texts))) <= MANY:
        steps += [("text", "pattern"), ("text", "numbers")]
        texts = set()
    elif texts:
        steps += [("text", "first number"), ("text", "last number")]
        if any(map(_has_entries, texts)):
            steps.append(("text", "value"))
    longest = max(map(len, [*texts, *binary]), default=0)
    if longest:
        steps.append(("text", "length"))
    ends = range(min(longest, _ENDS))
    steps += [("character", i) for i in ends]
    steps += [("character", -1 - i) for i in ends]
    return steps, longest <= 2 * _ENDS


def feature(
    step: Step, values: Sequence[Any], words: Sequence[Word]
) -> tuple[list[int], list[Any]]:
    """Return the positions of the ``words`` of values that have a part, and the parts."""
    kind, key = step
    read: Callable[[Any], Any] = itemgetter(key) if kind == "character" else _PARTS[key]
    texts: Iterable[Any] = map(as_text, words)
    if key in ("time", "message"):  # which the words do not hold
        texts = values
    positions = []
    parts = []
    for i, text in enumerate(texts):
        with suppress(IndexError, ValueError, TypeError, AttributeError, RecursionError):
            parts.append(read(text))
            positions.append(i)
    return positions, parts


def as_text(word: Word) -> str | bytes | None:
    """Return a word as text, bytes as they are."""
    return word.name if isinstance(word, Other) else word


def _pattern(text: str) -> str:
    """Return a text with a pattern of digits in place of each number."""

    def digits(number: re.Match[str]) -> str:
        zeros, decimals, exponent = number.groups(default="")
        pattern = f"{zeros}#"
        if decimals:
            pattern += "." + "#" * (len(decimals) - 1)
        if exponent:
            pattern += "e"
        return pattern

    return _NUMBER.sub(digits, text)


def _has_entries(text: str) -> bool:
    """Return whether a text is an object or an array in JSON."""
    if text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            json.loads(text)
            return True
    return False


def _numbers(text: str) -> tuple[Any, ...]:
    return tuple(number_of(match[0]) for match in _NUMBER.finditer(text))


def _digits(text: str) -> list[int]:
    """Return the digits of a text, at least one; raise `ValueError` if it has none."""
    digits = list(map(int, _DIGIT.findall(text)))
    if not digits:
        raise ValueError("no digit")
    return digits


def _check_sum(text: str) -> int:
    """Return the sum of Luhn's rule, a multiple of 10 where the last digit checks the others."""
    digits = _digits(text)
    doubled = [2 * digit for digit in digits[-2::-2]]
    return sum(digits[::-2]) + sum(double // 10 + double % 10 for double in doubled)


def _by_place(text: str) -> int:
    """Return the sum of digits times their places from the right, as ISBN-10 does; X is 10."""
    digits = _digits(text)
    if text[-1] in "xX":
        digits.append(10)
    return sum(place * digit for place, digit in enumerate(reversed(digits), start=1))


def _one_and_three(text: str) -> int:
    """Return the sum of digits from the right, each second one times 3, as EAN does."""
    digits = _digits(text)
    return sum(digits[::-2]) + 3 * sum(digits[-2::-2])


def _digits_modulo(text: str) -> int:
    """Return the number that all digits of a text make, modulo 96,030."""
    rest = 0
    for digit in _digits(text):
        rest = (10 * rest + digit) % _MODULI
    return rest


def _time(value: Any) -> int:
    """Return a time as a number of its smallest units."""
    if not isinstance(value, _TIMES):
        raise TypeError
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value)
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    kind = np.timedelta64 if isinstance(value, _SPANS) else np.datetime64
    return int(kind(value).astype(np.int64))


_OF_DIGITS: dict[str, Callable[[str], int]] = {
    "check sum of digits": _check_sum,
    "digits times their places": _by_place,
    "digits times 1 and 3": _one_and_three,
    "digits modulo 96,030": _digits_modulo,
}
_PARTS: dict[Any, Callable[[Any], Any]] = {
    "length": len,
    "pattern": _pattern,
    "numbers": _numbers,
    "first number": lambda text: _numbers(text)[0],
    "last number": lambda text: _numbers(text)[-1],
    "value": lambda text: json.loads(text, parse_float=number_of),
    "checksum": lambda text: zlib.crc32(text if isinstance(text, bytes) else text.encode()),
    **_OF_DIGITS,
    "message": lambda failure: failure.message,
    "time": _time,
}
