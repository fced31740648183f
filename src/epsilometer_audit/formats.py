"""Short texts of numbers, inputs and other values, and their JSON values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import ROUND_UP, Context, Decimal
from typing import Any

import numpy as np

_EXACT = Context(prec=400)  # of decimals: more digits than a float can have
_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)


def percent_sure(alpha: float) -> str:
    """Return 1 - alpha in percent, in few digits; rounded down, so that it is never 100.

    >>> percent_sure(0.05), percent_sure(0.001), percent_sure(1.5e-7)
    ('95', '99.9', '99.999985')
    """
    missing = 100 * Decimal(str(alpha))
    digit = Decimal(1).scaleb(min(-2, missing.adjusted() - 1))  # the second digit of alpha
    kept = _EXACT.subtract(Decimal(100), missing.quantize(digit, ROUND_UP))
    return f"{kept:f}".rstrip("0").rstrip(".")


def short(number: float, other: float | None = None) -> str:
    """Return a number in few digits, but enough to differ from another.

    >>> short(0.70512), short(3e-7), short(1.0004, 1.0)
    ('0.705', '3e-07', '1.0004')
    """
    digits, differ = 3 if abs(number) < 10 else 4, other not in (None, number)
    while differ and digits < 9 and f"{number:.{digits}g}" == f"{other:.{digits}g}":
        digits += 1
    return f"{number:.{digits}g}"


def as_plain(value: Any, *, finite: bool = True) -> Any:
    """Return a value for JSON: arrays as lists, unknown types as texts.

    NaN and infinite numbers become None, unless ``finite`` is false.
    """
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
    plain = as_plain(x, finite=False)
    text = _json(plain)
    if len(text) <= most:
        return text
    start = ""
    for part in map(_json, plain if isinstance(plain, list) else ()):
        if len(start) + len(part) + 2 > most - 5:
            break
        start += f"{part}, "
    return f"[{start}...]" if start else f"{text[: most - 4].rstrip()} ..."


def _json(plain: Any) -> str:
    return " ".join(json.dumps(plain, ensure_ascii=False).split())


def legal(text: str) -> str:
    """Return a text with escapes for the characters that neither XML nor HTML may hold."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
