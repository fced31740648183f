"""``python -m tests.mutants [--own | --again REPORT] [--modules PATTERN...] [--sample N] ...``.

Puts one small fault at a time into a copy of the project, runs the tests of its subject, and prints
how many faults these noticed, by module, and each that they did not. ``make mutants`` calls it in
an environment of its own, with Cosmic Ray; the tests run in that of development.

Errors and other words for readers get no faults. A fault that cannot change an answer is in
equivalent.csv, with a reason: its module, operator and line as text. It is not counted.

With ``--own``, it tries all faults of own_faults.csv instead, which people thought of; with
``--again``, those that survived in an earlier report.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutants.operators import OPERATORS, check
from tests.mutants.own import own_faults
from tests.mutants.subjects import tests_of

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.csv")
PART = 40  # faults of a subject that one process tries

WORDS = ("raise_stmt", "fstring")  # nodes of what is told: another number there is no wrong answer


class Fault(Protocol):
    """What is put into a module."""

    @property
    def module(self) -> str:
        """The module's path."""

    def changed(self) -> str:
        """Return the module's text with the fault."""


@dataclass(frozen=True)
class Mutant:
    """The fault that an operator makes at one of the places where it can, in a module."""

    module: str
    operator: str
    occurrence: int
    line: int
    text: str  # of the line, without its indentation

    def changed(self) -> str:
        """Return the module's text with the fault."""
        source = (ROOT / self.module).read_text(encoding="utf-8")
        return mutate_code(source, OPERATORS[self.operator], self.occurrence)

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.operator}: {self.text}"


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every fault of a module, but for those in words for readers."""
    source = (ROOT / module).read_text(encoding="utf-8")
    lines = source.splitlines()
    for name, operator in OPERATORS.items():
        occurrence = 0
        for node in ast_nodes(get_ast(source)):
            in_words = node.search_ancestor(*WORDS) is not None
            for start, _ in operator.mutation_positions(node):
                text = lines[start[0] - 1].strip()
                if not in_words:
                    yield Mutant(module, name, occurrence, start[0], text)
                occurrence += 1


def equivalents() -> set[tuple[str, str, str]]:
    """Return the faults that change no answer: module, operator and line; each is of a line."""
    known = set[tuple[str, str, str]]()
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines = (ROOT / row["module"]).read_text(encoding="utf-8").splitlines()
            if row["text"] not in map(str.strip, lines):
                raise SystemExit(f"{EQUIVALENT.name}: {row['module']} has no line {row['text']}")
            known.add((row["module"], row["operator"], row["text"]))
    return known


def sampled(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """Return so many of them, by a seed."""
    if len(mutants) <= number:
        return list(mutants)
    return random.Random(seed).sample(mutants, number)


class FailsAnywayError(Exception):
    """Tests fail without a fault."""


class Trials:
    """Tests of one subject in a copy of the project, which wait for faults."""

    def __init__(self, folder: Path, speed: str, files: Sequence[str]) -> None:
        python = str(ROOT / ".venv/bin/python")
        command = [python, "-m", "tests.mutants.trying", speed, *files]
        pipe = subprocess.PIPE
        with Path(folder, "tests.log").open("w") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=pipe, stdout=pipe, stderr=log, text=True
            )
        answer = self._answer()
        if not answer.startswith("{"):
            raise FailsAnywayError(f"{' '.join(files)}: without any fault, this {answer or 'ends'}")
        self.seconds: dict[str, float] = json.loads(answer)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def noticed_by(self, fault: Fault) -> str | None:
        """Return the test that fails with a fault, "" where no test is named; None if all pass."""
        words = json.dumps({"module": fault.module, "source": fault.changed()})
        assert self._process.stdin is not None
        print(words, file=self._process.stdin, flush=True)
        answer = self._answer()
        return None if answer == "passes" else answer.removeprefix("fails").strip()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def copy_project(folder: Path) -> None:
    """Copy all files that belong to the project."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():  # not one that is deleted and not yet committed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def by_subject(faults: Sequence[Fault]) -> Iterator[tuple[tuple[str, ...], Sequence[Fault]]]:
    """Yield tests and some faults that they are to notice, few enough that no part holds up all."""
    of_tests = defaultdict[tuple[str, ...], list[Fault]](list)
    for fault in faults:
        of_tests[tuple(tests_of(fault.module))].append(fault)
    for files, of_subject in sorted(of_tests.items(), key=lambda item: -len(item[1])):
        for i in range(0, len(of_subject), PART):
            yield files, of_subject[i : i + PART]


@dataclass
class Tried:
    """What tests do with faults: what survives, and what each of them notices."""

    surviving: set[Fault] = field(default_factory=set)
    not_tried: set[Fault] = field(default_factory=set)  # as tests failed without a fault
    seconds: dict[str, float] = field(default_factory=dict)  # of each test
    first: Counter[str] = field(default_factory=Counter)  # faults that no faster test noticed

    def add(self, other: Tried) -> None:
        """Add what was tried elsewhere."""
        self.surviving |= other.surviving
        self.not_tried |= other.not_tried
        self.seconds |= other.seconds
        self.first += other.first

    def idle(self) -> str:
        """Return the tests that noticed no fault that faster ones let pass, the slowest first."""
        cases = Counter[str]()
        seconds = defaultdict[str, float](float)
        first = Counter[str]()
        for test, busy in self.seconds.items():
            name = test.split("[")[0]
            cases[name] += 1
            seconds[name] += busy
            first[name] += self.first[test]
        names = [name for name in sorted(cases, key=lambda name: -seconds[name]) if not first[name]]
        rows = [f"{seconds[name]:.2f},{cases[name]},{name}\n" for name in names]
        return "seconds,cases,test\n" + "".join(rows)


def tried_in_a_copy(part: tuple[Sequence[str], Sequence[Fault]]) -> Tried:
    """Try faults one at a time in a copy of the project.

    The slow tests are asked for those only that all others let pass.
    """
    files, faults = part
    tried = Tried(set(faults))
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        copy_project(folder)
        for speed in ("fast", "slow"):
            if not tried.surviving:
                break
            try:
                trials = Trials(folder, speed, files)
            except FailsAnywayError as error:
                print(error, file=sys.stderr, flush=True)
                tried.not_tried, tried.surviving = tried.surviving, set()
                break
            tried.seconds |= trials.seconds
            for fault in list(tried.surviving):
                test = trials.noticed_by(fault)
                if test is None:
                    print(f"passes the {speed} tests:", fault, file=sys.stderr, flush=True)
                else:
                    tried.first[test] += 1
                    tried.surviving.remove(fault)
            trials.close()
    return tried


def tried(faults: Sequence[Fault], jobs: int) -> Tried:
    """Try faults, each with the tests of its subject, in so many copies at a time."""
    together = Tried()
    with ThreadPoolExecutor(jobs) as pool:
        for of_part in pool.map(tried_in_a_copy, by_subject(faults)):
            together.add(of_part)
    return together


def report(faults: Sequence[Fault], outcome: Tried, left_out: Counter[str]) -> str:
    """Return a table by module, and the faults that were not noticed."""
    lines = [f"{'module':50}  faults noticed equivalent surviving"]
    faults = [fault for fault in faults if fault not in outcome.not_tried]
    for module in sorted({fault.module for fault in faults}):
        of_module = [fault for fault in faults if fault.module == module]
        alive = sum(fault in outcome.surviving for fault in of_module)
        killed = len(of_module) - alive
        row = f"{len(of_module):7} {killed:7} {left_out[module]:10} {alive:9}"
        lines.append(f"{module:50} {row}")
    killed = len(faults) - len(outcome.surviving)
    share = 100 * killed / max(len(faults), 1)
    lines.append(f"{killed} of {len(faults)} noticed ({share:.0f} %)")
    lines += [f"  survives: {fault}" for fault in sorted(outcome.surviving, key=str)]
    for fault in sorted(outcome.not_tried, key=str):
        lines.append(f"  not tried, as tests fail anyway: {fault}")
    return "\n".join(lines)


def wanted_modules(patterns: Sequence[str]) -> Iterator[str]:
    """Yield the studied modules that are like one of the patterns."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        module = file.relative_to(ROOT).as_posix()
        if tests_of(module) and any(fnmatch(module, f"*{pattern}*") for pattern in patterns):
            yield module


def main() -> None:
    """Try faults, and print what was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--modules", nargs="+", default=["*"], help="patterns of paths in src")
    parser.add_argument("--own", action="store_true", help="all of own_faults.csv, no sample")
    parser.add_argument("--again", type=Path, help="a report: only faults that it names")
    parser.add_argument("--idle", type=Path, help="write here the tests that noticed no fault")
    parser.add_argument("--sample", type=int, default=200, help="how many faults are tried (200)")
    parser.add_argument("--seed", type=int, default=0, help="that chooses them")
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    options = parser.parse_args()
    modules = list(wanted_modules(options.modules))
    if not modules:
        raise SystemExit(f"--modules: no studied module is like {' '.join(options.modules)}")
    if options.own:
        own = [fault for fault in own_faults() if fault.module in modules]
        outcome = tried(own, options.jobs)
        print(report(own, outcome, Counter()))
        raise SystemExit(1 if outcome.not_tried else 0)
    check()
    known = equivalents()
    mutants = list[Mutant]()
    left_out = Counter[str]()
    for module in modules:
        for mutant in mutants_of(module):
            if (module, mutant.operator, mutant.text) in known:
                left_out[module] += 1
            else:
                mutants.append(mutant)
    if options.again is not None:
        named = {line.strip() for line in options.again.read_text(encoding="utf-8").splitlines()}
        mutants = [mutant for mutant in mutants if f"survives: {mutant}" in named]
    chosen = sampled(mutants, options.sample, options.seed)
    outcome = tried(chosen, options.jobs)
    if options.idle is not None:
        options.idle.write_text(outcome.idle(), encoding="utf-8")
    print(report(chosen, outcome, left_out))
    raise SystemExit(1 if outcome.not_tried else 0)


if __name__ == "__main__":
    main()
