"""``python -m tests.mutants [--modules PATTERN...] [--sample N] [--seed S] [--jobs J]``.

Puts one small fault at a time into a copy of the project, runs the tests of its subject, and prints
how many faults these noticed, by module, and each that they did not. ``make mutants`` calls it in
an environment of its own, with Cosmic Ray; the tests run in that of development.

A fault that cannot change an answer is in equivalent.csv, with a reason: its module, operator and
line as text. It is not counted.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from queue import Queue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutants.operators import OPERATORS, check
from tests.mutants.subjects import tests_of

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.csv")
COPIED = ("src", "tests", "studies", "config", "docs", "pyproject.toml", "README.md")
_SLOWER = 4  # times the tests' time without a fault, after which a fault counts as noticed


@dataclass(frozen=True)
class Mutant:
    """The fault that an operator makes at one of the places where it can, in a module."""

    module: str
    operator: str
    occurrence: int
    line: int
    text: str  # of the line, without its indentation

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.operator}: {self.text}"


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every fault of a module."""
    source = (ROOT / module).read_text(encoding="utf-8")
    lines = source.splitlines()
    for name, operator in OPERATORS.items():
        occurrence = 0
        for node in ast_nodes(get_ast(source)):
            for start, _ in operator.mutation_positions(node):
                text = lines[start[0] - 1].strip()
                yield Mutant(module, name, occurrence, start[0], text)
                occurrence += 1


def equivalents() -> set[tuple[str, str, str]]:
    """Return the faults that change no answer: module, operator and line."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        return {(row["module"], row["operator"], row["text"]) for row in csv.DictReader(file)}


def sampled(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """Return so many of them, by a seed."""
    if len(mutants) <= number:
        return list(mutants)
    return random.Random(seed).sample(mutants, number)


class Copy:
    """A copy of the project, in which the tests of one fault run at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            ignored = shutil.ignore_patterns("__pycache__", ".snakemake", "results")
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy(source, folder / name)

    def passes(self, files: Sequence[str], limit: float | None = None) -> bool:
        """Return whether tests pass, within so many seconds."""
        command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "-x", "-p", "no:xdist"]
        command += ["-p", "no:cacheprovider", "-m", "not examples and not runs and not stored"]
        try:
            done = subprocess.run(
                [*command, *files], cwd=self.folder, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def survives(self, mutant: Mutant, limit: float) -> bool:
        """Return whether the tests of the subject pass with a fault."""
        file = self.folder / mutant.module
        source = file.read_text(encoding="utf-8")
        changed = mutate_code(source, OPERATORS[mutant.operator], mutant.occurrence)
        file.write_text(changed, encoding="utf-8")
        try:
            return self.passes(tests_of(mutant.module), limit)
        finally:
            file.write_text(source, encoding="utf-8")


class Copies:
    """Copies of the project, each for one run of tests at a time."""

    def __init__(self, folder: Path, number: int) -> None:
        self._free: Queue[Copy] = Queue()
        for i in range(number):
            self._free.put(Copy(folder / str(i)))

    @contextmanager
    def one(self) -> Iterator[Copy]:
        """Yield a copy that is free, when there is one."""
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)

    def limit(self, files: Sequence[str]) -> float:
        """Return the seconds that tests may take; exit if they fail without a fault."""
        with self.one() as copy:
            began = time.monotonic()
            if not copy.passes(files):
                raise SystemExit(f"{' '.join(files)}: these fail without any fault")
        return 30 + _SLOWER * (time.monotonic() - began)

    def survives(self, mutant: Mutant, limit: float) -> bool:
        """Return whether the tests of its subject pass with a fault."""
        with self.one() as copy:
            survives = copy.survives(mutant, limit)
        print("survives" if survives else "noticed ", mutant, file=sys.stderr, flush=True)
        return survives


def surviving(mutants: Sequence[Mutant], jobs: int) -> set[Mutant]:
    """Return the faults that no test of their subject notices."""
    subjects = [tuple(tests_of(mutant.module)) for mutant in mutants]
    different = sorted(set(subjects))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(Path(folder), jobs)
        limits = dict(zip(different, pool.map(copies.limit, different), strict=True))
        allowed = [limits[subject] for subject in subjects]
        survived = list(pool.map(copies.survives, mutants, allowed))
    return {mutant for mutant, alive in zip(mutants, survived, strict=True) if alive}


def report(mutants: Sequence[Mutant], unnoticed: set[Mutant], left_out: Counter[str]) -> str:
    """Return a table by module, and the faults that were not noticed."""
    lines = [f"{'module':50} mutants noticed equivalent surviving"]
    for module in sorted({mutant.module for mutant in mutants}):
        of_module = [mutant for mutant in mutants if mutant.module == module]
        alive = sum(mutant in unnoticed for mutant in of_module)
        killed = len(of_module) - alive
        row = f"{len(of_module):7} {killed:7} {left_out[module]:10} {alive:9}"
        lines.append(f"{module:50} {row}")
    killed = len(mutants) - len(unnoticed)
    lines.append(f"{killed} of {len(mutants)} noticed ({100 * killed / len(mutants):.0f} %)")
    lines += [f"  survives: {mutant}" for mutant in sorted(unnoticed, key=str)]
    return "\n".join(lines)


def main() -> None:
    """Try faults, and print what was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--modules", nargs="+", default=["*"], help="patterns of paths in src")
    parser.add_argument("--sample", type=int, default=200, help="how many faults are tried (200)")
    parser.add_argument("--seed", type=int, default=0, help="that chooses them")
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    options = parser.parse_args()
    check()
    known = equivalents()
    mutants = list[Mutant]()
    left_out = Counter[str]()
    for file in sorted((ROOT / "src").rglob("*.py")):
        module = file.relative_to(ROOT).as_posix()
        wanted = any(fnmatch(module, f"*{pattern}*") for pattern in options.modules)
        if not wanted or not tests_of(module):
            continue
        for mutant in mutants_of(module):
            if (module, mutant.operator, mutant.text) in known:
                left_out[module] += 1
            else:
                mutants.append(mutant)
    if not mutants:
        raise SystemExit(f"--modules: no studied module is like {' '.join(options.modules)}")
    chosen = sampled(mutants, options.sample, options.seed)
    print(report(chosen, surviving(chosen, options.jobs), left_out))


if __name__ == "__main__":
    main()
