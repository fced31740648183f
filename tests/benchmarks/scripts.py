"""What measurements share: arguments, tables as Markdown, noise on an answer, older code."""

from __future__ import annotations

import argparse
import io
import math
import os
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.numerics.proportions import clopper_pearson

ROOT = Path(__file__).parents[2]
Rng = np.random.Generator
Mechanism = Callable[..., Any]


def laplace(x: Any, size: int, rng: Rng, scale: float = 1.0) -> Any:
    return np.asarray(x) + rng.laplace(0, scale, (size, *np.shape(x)))


def gaussian(x: Any, size: int, rng: Rng) -> Any:
    return np.asarray(x) + rng.normal(0, 1, (size, *np.shape(x)))


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


def unpack(commit: str, folder: Path, *paths: str) -> None:
    """Write the files of a commit into a folder; with paths, those only."""
    archive = ["git", "archive", commit, *paths]
    packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


def head(titles: str) -> None:
    """Print the first lines of a table, from its titles between bars."""
    line(*titles.split("|"))
    print(f"|---{titles.count('|') * '|---:'}|", flush=True)


def line(*cells: object) -> None:
    """Print a line of a table; floats have four digits."""
    texts = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(f"| {' | '.join(texts)} |", flush=True)


def interval(hits: int, runs: int) -> tuple[float, float]:
    """Return the exact interval of a share at 99.9 %."""
    low, high = clopper_pearson(hits, runs, 0.999)
    return float(low), float(high)


def most(runs: int, alpha: float) -> float:
    """Return the alarms that all rows together may have: 2.6 standard errors above alpha."""
    return alpha * runs + 2.6 * math.sqrt(runs * alpha * (1 - alpha))
