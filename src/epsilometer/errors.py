"""Errors for users: one line with the place, the problem and the nearest valid choice."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable


class EpsilometerError(Exception):
    """An error that the user can correct; its text is one line, shown without a traceback."""


class ConfigError(EpsilometerError):
    """An invalid configuration file."""

    def __init__(self, file: str, key: str, message: str) -> None:
        place = f"{one_line(file)}: {one_line(key)}" if key else one_line(file)
        super().__init__(f"{place}: {message}")

    @classmethod
    def joined(cls, lines: Iterable[str]) -> ConfigError:
        """Return one error out of several, a line each."""
        error = cls.__new__(cls)
        EpsilometerError.__init__(error, "\n".join(lines))
        return error


class ArgumentError(EpsilometerError, ValueError):
    """An argument out of its range."""

    def __init__(self, argument: str, message: str) -> None:
        self.argument = argument
        super().__init__(f"{argument} {message}")


class UnknownNameError(EpsilometerError, KeyError):
    """A name that is not registered."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}{suggest(name, choices)}")

    def __str__(self) -> str:
        return str(self.args[0])


class DataError(EpsilometerError):
    """A file whose content does not match its path."""

    def __init__(self, path: object, message: str) -> None:
        super().__init__(f"{path}: {message}")


class DamagedError(DataError):
    """A file that was truncated or changed since it was written; it has to be made again."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "is truncated or damaged")
        self.path = path


class MechanismError(EpsilometerError):
    """A mechanism under audit that broke its contract while it was sampled."""


class NoGuaranteeError(ArgumentError):
    """A claimed smoothness too weak for any guarantee (gorla2022 needs C < 2/W^2)."""


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?``, or the known names where none is similar."""
    known = sorted(set(choices))
    if not known:
        return " (none is defined)"
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f" (known: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''})"


def one_line(text: object) -> str:
    """Fold any message into a single line."""
    return " ".join(text_of(text).split())


def text_of(value: object, form: Callable[[object], str] = str) -> str:
    """Return the text of a value of the user; "..." where there is none."""
    try:
        return form(value)
    except Exception:  # as of a whole number of more than 4300 digits
        return "..."


def shown(value: object, most: int = 60) -> str:
    """Return a value in a message, in ``most`` letters or fewer."""
    text = text_of(value, repr)
    return text if len(text) <= most else f"{text[: most - 3]}..."
