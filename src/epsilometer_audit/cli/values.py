"""The values of options, from words of a command line; a mistake is a line for argparse."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epsilometer.errors import one_line, shown
from epsilometer_audit.question.claims import options

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}  # of a unit of time


@dataclass(frozen=True)
class Curve:
    """A curve of a file: the ``name`` of its option, and its points."""

    name: str
    points: list[tuple[float, float]]
    file: str


def real(text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{shown(text)} is not a number") from None


def whole(text: str) -> int:
    """Return a whole number, which may be written as 1e6."""
    with contextlib.suppress(ValueError):
        return int(text)
    number = real(text)
    if not number.is_integer():
        raise ArgumentTypeError(f"{shown(text)} is not a whole number")
    return int(number)


def seconds(text: str) -> float:
    """Return a time, as in 60, 60s, 5m or 1h."""
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smh]?)", text)
    if not match:
        raise ArgumentTypeError(f"{shown(text)} is not a time; write 60, 60s, 5m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def plain(text: str) -> Any:
    """Return a value in JSON, or a number such as .5, which JSON does not know."""
    if re.fullmatch(r"\s*[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        return float(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else one_line(error)
        hint = "; quote all of it for the shell, as in '[0, 1]'" if text[:1] in "[{" else ""
        if hint and "'" in text:
            hint = """; JSON has double quotes inside, as in '{"a": 1}'"""
        if re.fullmatch(r"\w+", text):
            hint = f"""; a word is written '"{text}"'"""
        raise ArgumentTypeError(f"{shown(text, 40)} is not JSON: {reason}{hint}") from None


def named(text: str) -> tuple[str, Any]:
    """Return a name and its value: JSON, a number, or else a text."""
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r}: write NAME=VALUE, as in epsilon=0.5")
    with contextlib.suppress(ArgumentTypeError):
        return name, plain(value)
    return name, value


def point(text: str, placeholder: str) -> tuple[float, float]:
    """Return two numbers: where a claim is made, and its level there."""
    at, sign, level = text.partition("=")
    if not sign:
        raise ArgumentTypeError(f"{text!r}: write {placeholder}, as in 2=0.5")
    return real(at), real(level)


def curve(text: str) -> Curve:
    """Return the curve of a CSV file, whose columns name the claim."""
    try:
        header, *rows = csv.reader(Path(text).read_text(encoding="utf-8").splitlines())
        points = [(float(at), float(level)) for at, level in rows]
    except OSError as error:
        raise ArgumentTypeError(f"{text!r} cannot be read: {error.strerror}") from None
    except ValueError:
        header = []
    curves = [option for option in options().values() if option.columns]
    for option in curves:
        if option.columns == tuple(header):
            return Curve(option.name, points, text)
    columns = ", or ".join(" and ".join(option.columns) for option in curves)
    raise ArgumentTypeError(f"{text!r} must be CSV of two columns of numbers, {columns}")
