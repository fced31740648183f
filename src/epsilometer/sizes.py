"""How many draws are meant: ``N``, ``1..N`` or ``n+N``, as configuration and paths write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from epsilometer.errors import EpsilometerError, one_line

_SIZE = "[1-9][0-9]{0,14}"  # up to what floating point holds to the last digit
_WRITTEN = re.compile(rf"(?P<searched>1\.\.)?(?P<first>{_SIZE})(\+(?P<fresh>{_SIZE}))?")


@dataclass(frozen=True)
class Draws:
    """Numbers of draws of each side, in one run.

    ``first`` of them are estimated from, or searched: ``1..N`` asks for an answer at every prefix
    of N draws. With ``n+N`` the first n choose pair and event, and the ``fresh`` N confirm.

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
        """Read what configuration or a path says; raise `EpsilometerError` if it means nothing."""
        found = _WRITTEN.fullmatch(text)
        if found is None or (found["searched"] and found["fresh"]):
            raise EpsilometerError(
                f"n={one_line(text)} must be a whole number from 1, 1..N for a search up to N, or "
                "n+N to confirm by N fresh samples"
            )
        return cls(int(found["first"]), bool(found["searched"]), int(found["fresh"] or 0))

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
        """Read what a path says; raise `EpsilometerError` if it means nothing."""
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
