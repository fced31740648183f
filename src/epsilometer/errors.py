"""Errors for people: one line that says where, what is wrong and the nearest valid choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EpsilometerError(Exception):
    """Anything the user can put right; its text is one line, shown without a traceback."""


class ConfigError(EpsilometerError):
    """A configuration file says something that cannot be run."""

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
    """An argument lies outside what the formula allows."""

    def __init__(self, argument: str, message: str) -> None:
        self.argument = argument
        super().__init__(f"{argument} {message}")


class UnknownNameError(EpsilometerError, KeyError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}{suggest(name, choices)}")

    def __str__(self) -> str:
        return str(self.args[0])


class DataError(EpsilometerError):
    """A file is not what its path promises."""

    def __init__(self, path: object, message: str) -> None:
        super().__init__(f"{path}: {message}")


class DamagedError(DataError):
    """A file lost a part, or a bit, since it was written; only making it again helps."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "is truncated or damaged")
        self.path = path


class MechanismError(EpsilometerError):
    """A mechanism under audit broke its contract while being sampled."""


class NoGuaranteeError(ArgumentError):
    """The claimed smoothness is too weak for any guarantee (gorla2022 needs C < 2/W^2)."""


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?``, or what is known where nothing is near."""
    known = sorted(set(choices))
    if not known:
        return " (none is defined)"
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f" (known: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''})"


def one_line(text: object) -> str:
    """Fold any message into a single line."""
    return " ".join(str(text).split())
