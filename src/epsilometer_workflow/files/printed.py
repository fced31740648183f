"""What a paper prints, as its report's configuration says it; and the jobs that show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PositiveInt

from epsilometer.settings.models import Model
from epsilometer_workflow.files.identities import IF_ANY, FileIdentity, Plain, TableIdentity

Scalar = bool | int | float | str


class PaperNumbers(Model):
    """The numbers a paper prints: rows that join ours on the key columns.

    ``of`` are the values of axes of identity that they belong to, as ``{mechanism: laplace}``, and
    ``across`` the axes along which a printed number is the same.
    """

    of: dict[str, Scalar] = {}
    across: list[str] = []
    keys: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[list[float | int | str | bool | None]], Field(min_length=1)]


def _head(column: list[str]) -> list[str]:
    if column[1:] and column[1] != "count":
        format(1.0, column[1])
    return column


Column = Annotated[list[str], Field(min_length=1, max_length=3), AfterValidator(_head)]


class Layout(Model):
    """How a paper arranges a table, by our columns.

    Each has a head in TeX, a format (Python's, or ``count``: 9588, 8.7e6) and a text for cells
    without a value. The values of ``across`` head groups of columns, those of ``rows`` rows;
    ``cells`` fill them. Rows with a value of ``leave_out`` are not shown; the others stand in so
    many ``blocks`` side by side, in the order of ``names``, which texts in cells have. LaTeX has
    the paper's numbers ``beside`` ours if that is asked for; a page always has them.
    """

    rows: dict[str, Column] = {}
    across: dict[str, Column] = {}
    cells: dict[str, Column] = {}
    names: dict[str, str] = {}
    leave_out: dict[str, list[Scalar]] = {}
    blocks: PositiveInt = 1
    beside: bool = False


@dataclass(frozen=True, kw_only=True)
class LawOfMechanism:
    """How the exact distribution of a mechanism is made; ``law`` is None where it is not known."""

    law: str | None
    registered: str
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class TableContents:
    """All that a table is made of; ``data`` are identities of files, a list an experiment.

    For a builder that reads draws run by run, they are `DescribedSamples` as plain values.
    """

    caption: str
    builder: str
    options: dict[str, Any]
    paper: PaperNumbers | None
    data: list[list[Plain]]
    laws: dict[str, LawOfMechanism] | None = field(default=None, metadata=IF_ANY)
    files: dict[str, str] | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True)
class TabulateJob:
    """A table, and what it is made of."""

    identity: TableIdentity
    table: TableContents


@dataclass(frozen=True, kw_only=True)
class TypesetJob:
    """A table in its paper's layout."""

    identity: TableIdentity
    layout: Layout


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The grid of an experiment: the values of each axis, each once, and the number of points."""

    experiment: str
    estimates: int
    mechanism: list[str]
    epsilon: list[str]
    inputs: list[str]
    order: list[str]
    estimator: list[str]
    n: list[str]
    runs: list[str]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """How a table is made, for readers."""

    builder: str
    options: dict[str, str]
    files: list[str]
    tables: list[str]
    experiments: list[Grid]
    measured: bool
    code: str


@dataclass(frozen=True, kw_only=True)
class ShownArtifact:
    """An artifact on a page: of its table so many rows, its figure if it has one, its origin."""

    id: str
    identity: TableIdentity
    caption: str
    figure: bool
    layout: Layout | None
    rows_shown: int
    made: Origin
    command: str


@dataclass(frozen=True, kw_only=True)
class PageJob(FileIdentity):
    """A page; what the artifact ``opens`` says is its beginning."""

    template: str
    report: str
    title: str
    opens: str | None
    artifacts: list[ShownArtifact]
