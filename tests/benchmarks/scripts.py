"""What all measurements share: how they read arguments, and print tables as Markdown."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence


def parsed(
    doc: str | None, *flags: str, kinds: Sequence[str] = (), **numbers: int
) -> argparse.Namespace:
    """Parse ``--cores``, ``--only``, flags, ``--kinds``, and numbers with their defaults."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--only", default="", help="rows whose names contain this")
    for flag in flags:
        parser.add_argument(f"--{flag}", action="store_true", help="see above")
    if kinds:
        parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="of cases")
    for name, number in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=number, help="how many")
    return parser.parse_args()


def head(titles: str) -> None:
    """Print the first lines of a table, from its titles between bars."""
    line(*titles.split("|"))
    print(f"|---{titles.count('|') * '|---:'}|", flush=True)


def line(*cells: object) -> None:
    """Print a line of a table; floats have four digits."""
    texts = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(f"| {' | '.join(texts)} |", flush=True)
