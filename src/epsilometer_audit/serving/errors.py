"""Errors of serving, each in one line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .modules import is_library

_HERE = str(Path(__file__).parent)


class Misuse(Exception):  # noqa: N818 - becomes an ArgumentError in this package
    """A source that cannot be used; ``choices`` are valid values near ``wanted``."""

    def __init__(
        self, argument: str, message: str, wanted: str = "", choices: Sequence[str] | None = None
    ) -> None:
        super().__init__(f"{argument} {message}")
        self.argument = argument
        self.message = message
        self.wanted = wanted
        self.choices = choices


class Broken(Exception):  # noqa: N818
    """A mechanism that failed while it was sampled."""


def error_text(error: BaseException) -> str:
    """Return an exception in one line: type, message, file and line in the user's code."""
    if isinstance(error, SystemExit):
        text = f"called sys.exit({shortened(text_of(error.code, repr))})"
    else:
        message = text_of(error.msg if isinstance(error, SyntaxError) else error)
        message = " ".join(message.split())
        text = type(error).__name__
        if message:
            text += f": {shortened(message, 200)}"
        if isinstance(error, AttributeError) and "'list' object" in message:
            text += "; a list it is, unless the parameter is annotated as np.ndarray"
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return f"{text} ({Path(error.filename).name}:{error.lineno})"
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if not frame.filename.startswith((_HERE, "<frozen"))]
    of_user = [frame for frame in frames if not is_library(frame.filename)]
    for frame in (of_user or frames)[-1:]:
        text += f" ({Path(frame.filename).name}:{frame.lineno})"
    return text


def text_of(value: Any, form: Callable[[Any], str] = str) -> str:
    """Return the text of a value of the user; "..." where there is none."""
    try:
        return form(value)
    except Exception:  # as of a whole number of more than 4300 digits
        return "..."


def shortened(text: str, length: int = 60) -> str:
    """Return a text of at most ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in ``2 outputs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def type_text(value: Any) -> str:
    """Name the type of a wrong value."""
    return "None" if value is None else f"an object of type {type(value).__name__}"
