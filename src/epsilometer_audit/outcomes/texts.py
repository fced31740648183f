"""Parts of words: their characters, the numbers in them, and the values that they represent."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from epsilometer_audit.outcomes.reals import number_of
from epsilometer_audit.outcomes.words import TIMES, Other, Step, Word

MANY = 64
"""More different words than this are split into parts."""
_ENDS = 8  # characters at the start, and at the end
_NUMBER = re.compile(r"-?(0*)[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def features(values: Iterable[Any], words: Sequence[Word]) -> tuple[list[Step], bool]:
    """Return the parts of many different words, and whether these determine the words.

    ``words`` are those of the ``values``; see `word_of`.
    """
    failures = {value for value in values if type(value).__name__ == "Failure"}
    messages = len(failures) > len({value.type_name for value in failures})
    steps: list[Step] = [("text", "message")] if messages else []
    different = set(words)
    if len(different) <= MANY:
        return steps, True
    if any(isinstance(value, TIMES) for value in values):
        steps.append(("text", "time"))
    binary = {word for word in different if isinstance(word, bytes)}
    texts = {str(as_text(word)) for word in different - binary - {None}}
    if texts and len(set(map(_pattern, texts))) <= MANY:
        steps += [("text", "pattern"), ("text", "numbers")]
        texts = set()
    elif texts:
        steps += [("text", "first number"), ("text", "last number")]
        with suppress(ValueError, RecursionError):
            if isinstance(json.loads(min(texts)), (dict, list)):
                steps.append(("text", "value"))
    longest = max(map(len, [*texts, *binary]), default=0)
    ends = range(min(longest, _ENDS))
    steps += [("text", "length")] if longest else []
    steps += [("character", i) for i in ends] + [("character", -1 - i) for i in ends]
    return steps, longest <= 2 * _ENDS


def feature(step: Step, values: Sequence[Any], texts: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Return the positions of the words that have a part, and the parts."""
    kind, key = step
    if kind == "character":
        size = key + 1 if key >= 0 else -key  # type: ignore[operator]
        at = [i for i, text in enumerate(texts) if text is not None and len(text) >= size]
        return at, [texts[i][key] for i in at]
    at, parts = [], []
    for i, value in enumerate(values if key in ("time", "message") else texts):
        with suppress(IndexError, ValueError, TypeError, AttributeError, RecursionError):
            parts.append(_PARTS[key](value))
            at.append(i)
    return at, parts


def as_text(word: Word) -> str | bytes | None:
    """Return a word as text, bytes as they are."""
    return word.name if isinstance(word, Other) else word


def _pattern(text: str) -> str:
    """Return a text with a pattern of digits in place of each number."""
    return _NUMBER.sub(
        lambda m: f"{m[1]}#{'.' + '#' * (len(m[2]) - 1) if m[2] else ''}{'e' if m[3] else ''}", text
    )


def _numbers(text: str) -> tuple[Any, ...]:
    return tuple(number_of(match[0]) for match in _NUMBER.finditer(text))


def _value(text: str) -> Any:
    return json.loads(text, parse_float=number_of)


def _time(value: Any) -> int:
    """Return a time as a number of its smallest units."""
    if isinstance(value, np.generic):
        return int(value.astype(np.int64))
    if isinstance(nanoseconds := getattr(value, "value", None), int):  # of pandas
        return nanoseconds
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    return int(value.toordinal())


_PARTS: dict[Any, Callable[[Any], Any]] = {
    "length": len,
    "pattern": _pattern,
    "numbers": _numbers,
    "first number": lambda text: _numbers(text)[0],
    "last number": lambda text: _numbers(text)[-1],
    "value": _value,
    "message": lambda failure: failure.message,
    "time": _time,
}
