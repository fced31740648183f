"""Faults that people thought of: a table of them, own_faults.csv.

A row is a module, a text that is in it once, another in its place, and what is then wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("own_faults.csv")


@dataclass(frozen=True)
class OwnFault:
    """A text of a module, and another in its place."""

    module: str
    old: str
    new: str
    says: str

    def changed(self) -> str:
        """Return the module's text with the fault; raise `ValueError` where it has no one place."""
        source = (ROOT / self.module).read_text(encoding="utf-8")
        places = source.count(self.old)
        if places != 1:
            raise ValueError(f"{self.module} has {places} times, not once: {self.old}")
        return source.replace(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.module}: {self.says}: {self.new}"


def own_faults() -> Iterator[OwnFault]:
    """Yield those of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield OwnFault(**row)
