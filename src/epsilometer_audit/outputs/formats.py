"""Short texts of numbers, inputs and other values, and their JSON values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_UP, Context, Decimal
from itertools import takewhile
from typing import Any

import numpy as np

_EXACT = Context(prec=400)  # of decimals: more digits than a float can have


def percent_sure(alpha: float) -> str:
    """Return 1 - alpha in percent, in few digits; rounded down, so that it is never 100.

    >>> percent_sure(0.05), percent_sure(0.001), percent_sure(1.5e-7)
    ('95', '99.9', '99.999985')
    """
    missing = 100 * Decimal(str(alpha))
    place = min(-2, missing.adjusted() - 1)  # of the second digit of alpha
    kept = _EXACT.subtract(Decimal(100), missing.quantize(Decimal(f"1e{place}"), ROUND_UP))
    return f"{kept:f}".rstrip("0").rstrip(".")


def short(number: float, other: float | None = None) -> str:
    """Return a number in few digits, but enough to differ from another.

    >>> short(0.70512), short(3e-7), short(1.0004, 1.0)
    ('0.705', '3e-07', '1.0004')
    """
    digits = 3 if abs(number) < 10 else 4
    if other is not None and other != number:
        while digits < 9 and f"{number:.{digits}g}" == f"{other:.{digits}g}":
            digits += 1
    return f"{number:.{digits}g}"


def as_plain(value: Any, *, finite: bool = True) -> Any:
    """Return a value for JSON: arrays as lists, unknown types as texts.

    NaN and infinite numbers become None, unless ``finite`` is false.
    """
    if hasattr(value, "to_numpy") and hasattr(value, "columns"):  # a data frame
        value = {name: np.asarray(value[name]) for name in value.columns}
    elif hasattr(value, "to_numpy"):  # a column
        value = value.to_numpy()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) or not finite else None
    if isinstance(value, Mapping):
        return {str(key): as_plain(part, finite=finite) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_plain(part, finite=finite) for part in value]
    if value is None or isinstance(value, str | int | bool):
        return value
    return repr(value)


def input_text(x: Any, most: int = 60) -> str:
    """Return an input in ``most`` letters or fewer."""
    return _cut(_json(as_plain(x, finite=False)), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 4].rstrip()} ..."


def pair_texts(x: Any, x_prime: Any, most: int = 60) -> tuple[str, str]:
    """Return both inputs in ``most`` letters or fewer; where they are long, the parts that differ.

    >>> pair_texts([0] * 30, [0] * 29 + [1])
    ('[29 alike, 0]', '[29 alike, 1]')
    >>> pair_texts([{"id": i, "key": "k" * 9} for i in range(3)], [{"id": 0, "key": "k" * 9}] * 3)
    ('[1 alike, {"id": 1, ...}, {"id": 2, ...}]', '[1 alike, {"id": 0, ...}, {"id": 0, ...}]')
    """
    plain, other = (as_plain(side, finite=False) for side in (x, x_prime))
    texts = _json(plain), _json(other)
    if max(map(len, texts)) > most and texts[0] != texts[1]:
        texts = _differing(plain, other)
    return _cut(texts[0], most), _cut(texts[1], most)


def _differing(x: Any, y: Any) -> tuple[str, str]:
    """Return the texts of two plain values without the parts that are alike."""
    if isinstance(x, dict) and isinstance(y, dict):
        return _differing_mappings(x, y)
    if isinstance(x, list) and isinstance(y, list):
        return _differing_lists(x, y)
    if isinstance(x, str) and isinstance(y, str):
        start, end = ends_alike(x, y)
        if start + end:
            letters = x[start : len(x) - end]
            letters_prime = y[start : len(y) - end]
            text = _between(start, [_json(letters)], end, "letters alike")
            return text, _between(start, [_json(letters_prime)], end, "letters alike")
    return _json(x), _json(y)


def _differing_mappings(x: dict[str, Any], y: dict[str, Any]) -> tuple[str, str]:
    common = [key for key in x if key in y]
    alike = {key for key in common if _json(x[key]) == _json(y[key])}
    texts: dict[str, str] = {}
    texts_prime: dict[str, str] = {}
    for key in common:
        texts[key], texts_prime[key] = _differing(x[key], y[key])
    return _without(alike, x, texts), _without(alike, y, texts_prime)


def _without(alike: set[str], mapping: dict[str, Any], texts: dict[str, str]) -> str:
    """Return the text of a mapping without some keys, with these texts of others."""
    parts = []
    for key, value in mapping.items():
        if key not in alike:
            parts.append(f"{_json(key)}: {texts.get(key) or _json(value)}")
    if alike:
        parts.append("...")
    return f"{{{', '.join(parts)}}}"


def _differing_lists(x: list[Any], y: list[Any]) -> tuple[str, str]:
    start, end = ends_alike(x, y)
    ours = x[start : len(x) - end]
    theirs = y[start : len(y) - end]
    texts = list(map(_json, ours))
    texts_prime = list(map(_json, theirs))
    if len(ours) == len(theirs):
        for i, values in enumerate(zip(ours, theirs, strict=True)):
            texts[i], texts_prime[i] = _differing(*values)
    return _between(start, texts, end), _between(start, texts_prime, end)


def _between(start: int, texts: list[str], end: int, alike: str = "alike") -> str:
    """Return texts between what is alike at both ends, as "[2 alike, 0, 7 alike]"."""
    parts = list(texts)
    if start:
        parts.insert(0, f"{start} {alike}")
    if end:
        parts.append(f"{end} {alike}")
    return f"[{', '.join(parts)}]"


def ends_alike(x: Sequence[Any], y: Sequence[Any]) -> tuple[int, int]:
    """Return at how many places sequences are alike at the start, and at the rest's end."""
    start = _alike(x, y)
    return start, _alike(x[start:][::-1], y[start:][::-1])


def _alike(x: Sequence[Any], y: Sequence[Any]) -> int:
    """Return at how many places, from the first, sequences are alike."""
    equal = (repr(value) == repr(other) for value, other in zip(x, y, strict=False))
    return sum(takewhile(bool, equal))


def _json(plain: Any) -> str:
    return " ".join(json.dumps(plain, ensure_ascii=False).split())
