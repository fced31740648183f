"""The configuration's types, and how its YAML files are read.

Everything is checked here or in `products.checking`, before the DAG exists.
"""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    JsonValue,
    PositiveInt,
    Tag,
    model_validator,
)

from epsilometer.errors import ConfigError, EpsilometerError, suggest
from epsilometer.models import ID, Fractional, Id, Model, ModelType, parse
from epsilometer.yaml_files import read_yaml
from epsilometer_workflow.files.options import Epsilon, Order
from epsilometer_workflow.files.parsing import Draws

PLANNED = "planned"  # the n that a theorem gives


def _draws(value: int | str) -> int | str:
    if isinstance(value, int) and value < 1:
        raise ValueError("must be positive")
    try:
        if value != PLANNED:
            Draws.parse(str(value))
        if isinstance(value, str) and value.isdigit():
            raise EpsilometerError("a number needs no quotes")
    except EpsilometerError:
        raise ValueError(
            "must be a positive integer, 1..N for a search up to N, n+N to confirm by N fresh "
            "samples, or planned"
        ) from None
    return value


Scalar = bool | int | float | str
_SOME = Field(min_length=1)


class Scale(Model):
    """The options of one scale; sizes are in the reports."""

    temporary_samples: bool


class Main(Model):
    """``config/config.yaml``; by default ``reports`` are all reports.

    ``code`` are folders of the study's own packages, from the folder that holds ``config``; a
    package with the name of a report has its tables and figures.
    """

    seed: Annotated[int, Field(ge=0)]
    scale: Id
    scales: Annotated[dict[Id, Scale], _SOME]
    batch_bytes: PositiveInt
    code: list[str] = ["code"]
    reports: Annotated[list[Id], _SOME] | None = None


class Grid(Model):
    """Evenly spaced inputs: ``points`` of them, the ends included, or as mid-points of buckets.

    All their pairs are estimated, from one sample an input (``shared``) or from two samples a pair
    (``fresh``), of which there are ``points`` - 1 times as many.
    """

    start: Annotated[float, Field(alias="from")]
    stop: Annotated[float, Field(alias="to")]
    points: Annotated[int, Field(ge=2)]
    at: Literal["ends", "midpoints"] = "ends"
    samples: Literal["shared", "fresh"] = "shared"

    def sides(self) -> list[float]:
        """Return the input of every side: a grid point each, or two a pair."""
        if self.samples == "shared":
            return self._points()
        return [x for pair in combinations(self._points(), 2) for x in pair]

    def _points(self) -> list[float]:
        width = self.stop - self.start
        if self.at == "ends":
            return [self.start + width * i / (self.points - 1) for i in range(self.points)]
        return [self.start + width * (i + 0.5) / self.points for i in range(self.points)]


class Pairs(Model):
    """Pairs of inputs by name; each side of each pair has samples of its own."""

    pairs: Annotated[dict[str, Annotated[list[Any], Field(min_length=2, max_length=2)]], _SOME]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        return [x for pair in self.pairs.values() for x in pair]

    def names(self) -> list[str]:
        """Return the pairs' names."""
        return list(self.pairs)


class Neighbourhood(Model):
    """An input and all its neighbours: vectors of as many entries, each one of ``entries``.

    The largest level of its pairs is the data-centric level of ``around``.
    """

    around: Annotated[list[float], _SOME]
    entries: Annotated[list[float], _SOME]

    @model_validator(mode="after")
    def _has_neighbours(self) -> Neighbourhood:
        if len(set(self.entries)) < len(self.entries):
            raise ValueError("entries must differ")
        if not self.neighbours():
            raise ValueError("entries give no neighbour other than the input itself")
        return self

    def neighbours(self) -> list[list[float]]:
        """Return every vector of the entries but ``around`` itself."""
        vectors = product(self.entries, repeat=len(self.around))
        return [list(vector) for vector in vectors if list(vector) != self.around]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        return [x for neighbour in self.neighbours() for x in (self.around, neighbour)]

    def names(self) -> list[str]:
        """Return the neighbours, written out."""
        return [" ".join(f"{entry:g}" for entry in vector) for vector in self.neighbours()]


class RowsRemoved(Model):
    """Databases of rows, each beside itself without one row, for every row in turn.

    The largest level of its pairs, in both directions, is that of privacy relative to the databases
    (lu2022, Definition 13).
    """

    databases: Annotated[list[Annotated[list[Any], _SOME]], _SOME]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        return [
            x
            for rows in self.databases
            for i in range(len(rows))
            for x in (rows, rows[:i] + rows[i + 1 :])
        ]

    def names(self) -> list[str]:
        """Return which row of which database is removed."""
        return [
            f"{d}-{i}" for d, rows in enumerate(self.databases, 1) for i in range(1, len(rows) + 1)
        ]


class Distributions(RowsRemoved):
    """Distributions of databases of bits: for each row, independently, the probability of a one.

    In turn each row is known, and is 0 or 1. The largest level of these pairs, in both directions,
    is that of distributional privacy (lu2022, Definition 15).
    """

    databases: Annotated[
        list[Annotated[list[float], _SOME]], Field(alias="distributions", min_length=1)
    ]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair: the known row's bit in place of its probability."""
        return [
            [*rows[:i], bit, *rows[i + 1 :]]
            for rows in self.databases
            for i in range(len(rows))
            for bit in (0.0, 1.0)
        ]


class ClaimsEntry(Model):
    """The claims of the provider of a mechanism; ``exact`` takes the true value."""

    support: tuple[float, float] | None = Field(default=None, strict=False)
    lipschitz: float | Literal["exact"] | None = None
    outcomes: int | None = None
    smallest_probability: float | Literal["exact"] | None = None


_KINDS = {"around": "a neighbourhood", "entries": "a neighbourhood", "pairs": "named pairs"}
_KINDS |= {"databases": "databases", "distributions": "distributions"}


def _kind_of_inputs(value: object) -> str:
    """Return the intended kind, so that only its errors are reported."""
    if not isinstance(value, dict):
        return "a list"
    return next((kind for key, kind in _KINDS.items() if key in value), "a grid")


Inputs = Annotated[
    Annotated[list[Any], Field(min_length=2), Tag("a list")]
    | Annotated[Grid, Tag("a grid")]
    | Annotated[Pairs, Tag("named pairs")]
    | Annotated[Neighbourhood, Tag("a neighbourhood")]
    | Annotated[RowsRemoved, Tag("databases")]
    | Annotated[Distributions, Tag("distributions")],
    Discriminator(_kind_of_inputs),
]


class MechanismEntry(Model):
    """One entry of ``config/mechanisms.yaml``.

    ``region`` is where an auditor looks for the local loss, in each dimension.
    """

    mechanism: str
    parameters: dict[str, Scalar] = {}
    claims: ClaimsEntry = ClaimsEntry()
    region: tuple[float, float] | None = Field(default=None, strict=False)
    inputs: Annotated[dict[Id, Inputs], _SOME]


class EstimatorEntry(Model):
    """One entry of ``config/estimators.yaml``."""

    estimator: str
    parameters: dict[str, JsonValue] = {}


Samples = Annotated[int | str, AfterValidator(_draws)]


class Size(Model):
    """The size of an experiment: runs, and samples a side in each (a list: several sizes)."""

    runs: PositiveInt
    n: Annotated[
        Annotated[Samples, Tag("one")] | Annotated[list[Samples], _SOME, Tag("several")],
        Discriminator(lambda value: "several" if isinstance(value, list) else "one"),
    ]

    def draws(self) -> list[Draws | None]:
        """Return every n; none where it is planned."""
        sizes = self.n if isinstance(self.n, list) else [self.n]
        return [None if n == PLANNED else Draws.parse(str(n)) for n in sizes]


def _some(entries: str) -> AfterValidator:
    """Return a check that a list has entries, and what they are where it has none."""

    def check(values: list[Any]) -> list[Any]:
        if not values:
            raise ValueError(f"must not be empty: give {entries}")
        return values

    return AfterValidator(check)


class Block(Model):
    """A grid: every mechanism x epsilon x inputs x lambda x estimator."""

    mechanism: Annotated[list[str], _some("entries of mechanisms.yaml")]
    epsilon: Annotated[list[Epsilon], _some("numbers, as [0.5, 1]")]
    inputs: Annotated[list[str], _some("names of the mechanism's inputs, in mechanisms.yaml")]
    order: Annotated[list[Order], Field(alias="lambda"), _some("orders above 1, as [2, inf]")]
    estimator: Annotated[list[str], _some("entries of estimators.yaml")]


class Plan(Model):
    """The source of n at ``n: planned``: the theorem of this estimator at this confidence.

    ``as_published`` takes the paper's n where the theorem needs a larger one.
    """

    delta: Fractional
    estimator: str | None = None
    as_published: bool = False


class Experiment(Model):
    """A grid of estimates, summarised together."""

    grid: Annotated[list[Block], Field(min_length=1)]
    plan: Plan | None = None


class TableEntry(Model):
    """The table of an artifact: its builder, inputs and options.

    It reads experiments of the report (``data``), or tables of any report (``tables``:
    ``report/artifact``, or ``report/*``). ``files`` are options that name files of the
    configuration's folder.
    """

    builder: str
    data: list[str] = []
    tables: list[str] = []
    files: dict[str, str | list[str]] = {}
    options: dict[str, Any] = {}


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


class Artifact(Model):
    """A table, of which a page shows so many rows, and the figure drawn from it if it is one.

    If it ``opens`` the page, that begins with what its rows say, in the columns ``artifact``,
    ``said`` and ``reason``; the first is a headline, of an artifact that has it all.
    """

    caption: str
    table: TableEntry
    figure: str | None = None
    paper: PaperNumbers | None = None
    layout: Layout | None = None
    rows_shown: PositiveInt = 40
    opens: bool = False


class Report(Model):
    """``config/reports/<report>.yaml``: a paper's tables and figures, or any others.

    ``scales`` gives every experiment its size, at every scale that the report can be made at.
    """

    title: str
    scales: dict[Id, dict[Id, Size]] = {}
    experiments: dict[Id, Experiment] = {}
    artifacts: Annotated[dict[Id, Artifact], _SOME]


def read(path: Path, model: type[ModelType]) -> ModelType:
    """Read one YAML file as a model."""
    return parse(model, read_yaml(path), str(path))


def read_entries(path: Path, model: type[ModelType]) -> dict[str, ModelType]:
    """Read one YAML file that maps ids to entries of one model.

    An entry with ``like: NAME`` has all keys of the entry NAME, but for those that it has itself.
    """
    entries = read_yaml(path)
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(str(path), "", "must map ids to entries")
    whole = {
        key: own for key, own in entries.items() if isinstance(own, dict) and "like" not in own
    }
    read = {}
    for name, own in entries.items():
        if not isinstance(name, str) or not re.fullmatch(ID.strip("^$"), name):
            raise ConfigError(str(path), str(name), "an id has letters, digits and ._=- only")
        like = own.get("like") if isinstance(own, dict) else None
        if like is not None and like not in [*whole]:
            message = f"no entry {like!r} without `like` of its own{suggest(str(like), whole)}"
            raise ConfigError(str(path), f"{name}.like", message)
        entry = own if like is None else whole[like] | {k: own[k] for k in own if k != "like"}
        read[name] = parse(model, entry, str(path), name)
    return read
