"""The tasks of the benchmark, from ``config/benchmark.yaml``, and what a job of each is told."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints, model_validator

import auditors
from epsilometer.errors import ConfigError, suggest
from epsilometer.seeds import generator
from epsilometer.settings.models import Id, Model
from epsilometer_workflow.configuration.config import read
from epsilometer_workflow.configuration.functions import public_functions
from epsilometer_workflow.files.printed import Scalar

OURS = "ours"
"""The first implementation of every task but audits, and the beginning of our auditors' names."""

OURS_FIXED, OURS_ANYTIME = "ours, fixed n", "ours, anytime"
"""Our auditors: the first of audits, as other tools test at one fixed n, too, and that of Rényi."""

STEEPEST = 2.2  # a doubling
PROGRAMS = Path(__file__).parent
_FUNCTION = StringConstraints(pattern=r"^[a-z][a-z_]*:[a-z][a-z0-9_]*$")
_POWER = Field(ge=1, le=30)


class Implementation(Model):
    """A function ``module:function`` of the programs, and the package whose version is shown."""

    call: Annotated[str, _FUNCTION]
    package: str | None = None


class Task(Model):
    """Data that several implementations are given, and how their answers are compared.

    ``n`` is draws a side, by scale. A task that ``grows`` is measured at other n, too: ours at
    powers of two, auditors at an eighth of n and at eight times n. ``level`` is the true level that
    an audit's bound should approach; an audit is implemented by every auditor of the list
    (``studies/auditors``).
    """

    title: str
    kind: Literal["estimator", "sampler", "audit"]
    data: Id
    compares: Literal["relative", "peak", "difference", "distribution", "bound"]
    parameters: Annotated[dict[str, Scalar], Field(default_factory=dict)]
    level: float | None = None
    grows: bool = False
    n: dict[Id, PositiveInt]
    implementations: Annotated[dict[str, Implementation], Field(default_factory=dict)]

    @model_validator(mode="after")
    def _has_ours(self) -> Self:
        if self.kind == "audit":
            if self.implementations:
                raise ValueError("an audit has no implementations: they are the list of auditors")
        elif next(iter(self.implementations), None) != OURS:
            raise ValueError(f"implementations must begin with {OURS!r}")
        return self


class Sizes(Model):
    """The repeats and time limits of a measurement at one scale."""

    repeats: PositiveInt
    runs: PositiveInt
    enough: PositiveFloat
    limit: PositiveInt
    grows: Annotated[list[Annotated[int, _POWER]], Field(min_length=2, max_length=2)]


class Comparisons(Model):
    """The whole file; ``environment`` is the lock that other tools run in, or ours if none."""

    environment: str | None = None
    scales: dict[Id, Sizes]
    tasks: dict[Id, Task]


def read_tasks(file: Path, scale: str) -> Comparisons:
    """Read a file; raise `ConfigError` unless it has sizes at a scale, and its programs exist."""
    comparisons = read(file, Comparisons)
    if scale not in comparisons.scales:
        text = f"is missing{suggest(scale, comparisons.scales)}"
        raise ConfigError(str(file), f"scales.{scale}", text)
    for name, task in comparisons.tasks.items():
        if scale not in task.n:
            raise ConfigError(str(file), f"tasks.{name}.n.{scale}", "is missing")
        calls = {"data": f"data:{task.data}"}
        calls |= {f"implementations.{key}": part.call for key, part in task.implementations.items()}
        for key, call in calls.items():
            module, _, function = call.partition(":")
            program = PROGRAMS / f"{module}.py"
            known = public_functions(program) if program.is_file() else []
            if function not in known:
                message = f"{module}.py has no {function!r}{suggest(function, known)}"
                raise ConfigError(str(file), f"tasks.{name}.{key}", message)
    return comparisons


def chosen(comparisons: Comparisons, names: list[str] | None) -> list[str]:
    """Return the tasks of these names, or all; raise `ConfigError` for an unknown name."""
    for name in names or ():
        if name not in comparisons.tasks:
            text = f"unknown task {name!r}{suggest(name, comparisons.tasks)}"
            raise ConfigError("--config", "tasks", text)
    return names or list(comparisons.tasks)


def spec_of(comparisons: Comparisons, name: str, common: dict[str, Any]) -> dict[str, Any]:
    """Return all that the job of a task is told; ``common`` has seed, scale and version."""
    task, sizes = comparisons.tasks[name], comparisons.scales[common["scale"]]
    n, (first, last) = task.n[common["scale"]], sizes.grows
    audit = task.kind == "audit"
    growing = [n // 8, 8 * n] if audit else [2**i for i in range(first, last + 1)]
    return common | {
        "task": name,
        "title": task.title,
        "measures": task.kind,
        "data": task.data,
        "compares": task.compares,
        "parameters": dict(task.parameters),
        "level": task.level,
        "n": n,
        "every_n": sorted({n, *growing}) if task.grows else [n],
        "repeats": 1 if audit else sizes.repeats,
        "runs": sizes.runs if audit else 1,
        "enough": sizes.enough,
        "limit": sizes.limit,
        "task_seed": int(generator(common["seed"], "benchmark", name).integers(2**31)),
        "implementations": _audits(task) if audit else _implementations(task),
    }


def _implementations(task: Task) -> list[dict[str, Any]]:
    return [
        {"name": name, "call": part.call, "package": part.package, "own": name == OURS}
        for name, part in task.implementations.items()
    ]


def _audits(task: Task) -> list[dict[str, Any]]:
    """Return the auditors of the list, ours first: its seconds are those of the ratios."""
    first = OURS_ANYTIME if "order" in task.parameters else OURS_FIXED
    listed = sorted(auditors.listed(), key=lambda auditor: auditor.name != first)
    return [
        {
            "name": auditor.name,
            "call": f"{auditor.file}:lower_bound",
            "package": next(iter(auditor.needs.packages), None),
            "own": auditor.name.startswith(OURS),
        }
        for auditor in listed
    ]


def summary(path: Path) -> str:
    """Return a line about the table of the benchmark."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = {row["implementation"] for row in rows if row["missing"]}
    ours = [row for row in rows if row["implementation"] == OURS and row["growth"]]
    steep = sum(float(row["growth"]) > STEEPEST for row in ours)
    text = f"{len(rows)} rows; ours take more than {STEEPEST} times a doubling in {steep} of them"
    text += f", missing: {', '.join(sorted(missing))}" if missing else ""
    return f"benchmark: {text}: {path}"
