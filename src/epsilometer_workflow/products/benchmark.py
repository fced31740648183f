"""The products of the benchmark: the measurements of each task, and the table of all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from epsilometer.errors import EpsilometerError
from epsilometer.seeds import generator
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.comparison import OURS, PROGRAMS, Comparisons, Sizes, Task
from epsilometer_workflow.configuration.costs import Load
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products import sources
from epsilometer_workflow.products.audited import Environment, digest_of, rows_of
from epsilometer_workflow.products.products import Needs, Product, Spec, entry
from epsilometer_workflow.reports.benchmark.figures import STEEPEST


@dataclass(frozen=True)
class Measured(Product, rule="measure", template=paths.MEASURED):
    """The cost and answers of all implementations of one task, measured one after another."""

    task: str

    def check(self) -> None:
        entry(tasks_of(self.study), "task", self.task)

    @property
    def _all(self) -> Comparisons:
        if self.study.comparisons is None:
            raise EpsilometerError(f"unknown task {self.task!r}")
        return self.study.comparisons

    @property
    def definition(self) -> Task:
        """Its entry in the configuration."""
        return self._all.tasks[self.task]

    @property
    def sizes(self) -> Sizes:
        """The repeats and limits at this scale."""
        return self._all.scales[self.study.scale]

    @cached_property
    def every_n(self) -> list[int]:
        """Draws a side, in rising order: where all are measured, and where ours grow."""
        first, last = self.sizes.grows
        growing = [2**i for i in range(first, last + 1)] if self.definition.grows else []
        return sorted({self.definition.n[self.study.scale], *growing})

    def needs(self) -> Needs:
        name = self._all.environment
        if name is None:
            return {}
        return {"environment": [Environment(self.study, self.study.lock(name).key)]}

    def spec(self) -> Spec:
        task, sizes, scale = self.definition, self.sizes, self.study.scale
        seed = generator(self.study.main.seed, "benchmark", self.task).integers(2**31)
        name = self._all.environment
        programs = sorted(file for file in PROGRAMS.glob("*") if file.suffix in (".py", ".R"))
        auditors = self.study.auditors if task.kind == "audit" else []
        programs += [Path(auditor.file) for auditor in auditors]
        return self.common | {
            "task": self.task,
            "measures": task.kind,
            "data": task.data,
            "compares": task.compares,
            "parameters": dict(task.parameters),
            "level": task.level,
            "n": task.n[scale],
            "every_n": self.every_n,
            "repeats": 1 if task.kind == "audit" else sizes.repeats,
            "runs": sizes.runs if task.kind == "audit" else 1,
            "enough": sizes.enough,
            "limit": sizes.limit,
            "task_seed": int(seed),
            "ours": OURS,
            "implementations": [
                {"name": name, "call": part.call, "package": part.package}
                for name, part in task.implementations.items()
            ]
            + [
                {"name": a.name, "call": f"{a.file}:lower_bound", "package": None} for a in auditors
            ],
            "environment": None if name is None else self.study.lock(name).digest,
            "programs": digest_of([file.read_text(encoding="utf-8") for file in programs]),
        }

    def code(self) -> str:
        """Return a digest of its own code, and of all of ours that is measured."""
        return sources.digest(self.rule, PROGRAMS / "data.py", PROGRAMS / "ours.py")

    def load(self) -> Load:
        return Load(numbers=2 * sum(self.every_n) * self.sizes.repeats, side=max(self.every_n))


@dataclass(frozen=True)
class Compared(Product, rule="compare", template=paths.BENCHMARK):
    """All measurements, as a table and a figure."""

    @cached_property
    def measured(self) -> list[Measured]:
        """All tasks, in the order of the configuration."""
        return [Measured(self.study, name) for name in tasks_of(self.study)]

    def needs(self) -> Needs:
        return {"measured": list(self.measured)}

    def spec(self) -> Spec:
        spec = {
            "members": [{"identity": m.spec(), "title": m.definition.title} for m in self.measured]
        }
        return {"identity": self.common | {"made_of": digest_of(spec)}, **spec}


def tasks_of(study: Study) -> dict[str, Task]:
    """Return the tasks of a study at its scale."""
    benchmark = study.comparisons
    return {} if benchmark is None or study.scale not in benchmark.scales else dict(benchmark.tasks)


def benchmark_lines(study: Study) -> list[str]:
    """Return a line about the benchmark if it was made."""
    path = Path(paths.BENCHMARK.format(scale=study.scale))
    try:
        rows = rows_of(path)
        missing = {row["implementation"] for row in rows if row["missing"]}
        ours = [row for row in rows if row["implementation"] == OURS and row["growth"]]
        steep = sum(float(row["growth"]) > STEEPEST for row in ours)
    except (OSError, KeyError, ValueError):
        return []
    text = f"{len(rows)} rows; ours take more than {STEEPEST} times a doubling in {steep} of them"
    text += f", missing: {', '.join(sorted(missing))}" if missing else ""
    return [f"  benchmark: {text}: {path}"]
