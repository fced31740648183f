"""The types of ``config/benchmark.yaml``, and its checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints, model_validator

from epsilometer.errors import ConfigError, suggest
from epsilometer_audit.grids.options import Id, Model
from epsilometer_workflow.configuration.config import Scalar
from epsilometer_workflow.configuration.functions import public_functions

OURS = "ours"
PROGRAMS = Path(__file__).parents[3] / "workflow/benchmark"
_FUNCTION = StringConstraints(pattern=r"^[a-z][a-z_]*:[a-z][a-z0-9_]*$")
_POWER = Field(ge=1, le=30)


class Implementation(Model):
    """A function ``module:function`` of the programs, and the package whose version is shown."""

    call: Annotated[str, _FUNCTION]
    package: str | None = None


class Task(Model):
    """Data that several implementations are given, and how their answers are compared.

    ``n`` is draws a side, by scale. For a task that ``grows``, ours is also measured at powers of
    two. ``level`` is the true level that an audit's bound should approach.
    """

    title: str
    kind: Literal["estimator", "sampler", "audit"]
    data: Id
    compares: Literal["relative", "peak", "difference", "distribution", "bound"]
    parameters: Annotated[dict[str, Scalar], Field(default_factory=dict)]
    level: float | None = None
    grows: bool = False
    n: dict[Id, PositiveInt]
    implementations: dict[str, Implementation]

    @model_validator(mode="after")
    def _has_ours(self) -> Self:
        if next(iter(self.implementations), None) != OURS:
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


def check_comparisons(comparisons: Comparisons, file: Path, scale: str) -> None:
    """Raise `ConfigError` unless all tasks have a size at a scale, and their programs exist."""
    for name, task in comparisons.tasks.items():
        if scale in comparisons.scales and scale not in task.n:
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
