"""Numbers of draws and of runs in configuration and paths: ``N``, ``1..N`` or ``n+N``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from epsilometer.errors import EpsilometerError, one_line

_SIZE = "[1-9][0-9]{0,14}"  # exact in floating point
_PATTERN = re.compile(rf"(?P<searched>1\.\.)?(?P<first>{_SIZE})(\+(?P<fresh>{_SIZE}))?")


@dataclass(frozen=True)
class Draws:
    """Numbers of draws of each side, in one run.

    The ``first`` ones are for the estimate, or for a search: ``1..N`` has an estimate at every
    prefix of N draws. With ``n+N`` the first n select pair and event, and the ``fresh`` N confirm.

    >>> Draws.parse("20000+50000")
    Draws(first=20000, searched=False, fresh=50000)
    >>> str(Draws(100, searched=True))
    '1..100'
    """

    first: int
    searched: bool = False
    fresh: int = 0

    @classmethod
    def parse(cls, text: str) -> Draws:
        """Read configuration or a path; raise `EpsilometerError` if it is invalid."""
        match = _PATTERN.fullmatch(text)
        if match is None or (match["searched"] and match["fresh"]):
            raise EpsilometerError(
                f"n={one_line(text)} must be a whole number from 1, 1..N for a search up to N, or "
                "n+N to confirm by N fresh samples"
            )
        return cls(int(match["first"]), bool(match["searched"]), int(match["fresh"] or 0))

    def __str__(self) -> str:
        searched, fresh = "1.." if self.searched else "", f"+{self.fresh}" if self.fresh else ""
        return f"{searched}{self.first}{fresh}"

    @property
    def first_stage(self) -> Draws:
        """The first draws alone."""
        return Draws(self.first, self.searched)


@dataclass(frozen=True)
class Batch:
    """The runs, ``first`` to ``last``, whose draws share a file."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Batch:
        """Read a path; raise `EpsilometerError` if it is invalid."""
        first, _, last = text.partition("-")
        for run in (first, last):
            if not re.fullmatch(f"0|{_SIZE}", run):
                message = f"runs={one_line(text)} must be two whole numbers from 0, as 0-9"
                raise EpsilometerError(message)
        if int(first) > int(last):
            raise EpsilometerError(f"runs={text} ends before it begins")
        return cls(int(first), int(last))

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __len__(self) -> int:
        return self.last - self.first + 1
