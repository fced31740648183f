"""The configuration's types, and how its YAML files are read.

Everything is checked here or in `products.checking`, before the DAG exists.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from itertools import chain, combinations, product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    JsonValue,
    PositiveInt,
    RootModel,
    Tag,
    model_validator,
)

from epsilometer.errors import EpsilometerError, suggest
from epsilometer.settings.models import ID, Epsilon, Fractional, Id, Model, ModelType, Order, parse
from epsilometer.settings.yaml_files import read_yaml
from epsilometer_workflow.files.identities import Pairing
from epsilometer_workflow.files.parsing import Draws
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import Layout, PaperNumbers, Scalar

PLANNED = "planned"  # the n that a theorem gives


def _draws(value: int | str) -> int | str:
    if isinstance(value, int) and value < 1:
        raise ValueError("must be positive")
    quoted = isinstance(value, str) and value.isdigit()
    try:
        if value != PLANNED:
            Draws.parse("" if quoted else str(value))
    except EpsilometerError:
        forms = "1..N for a search up to N, n+N to confirm by N fresh samples, or planned"
        raise ValueError(f"must be a positive integer, {forms}") from None
    return value


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


class Listed(RootModel[Annotated[list[Any], Field(min_length=2)]]):
    """Inputs one by one, of which every pair is estimated."""

    pairing: ClassVar[Pairing] = "all"
    names: ClassVar[None] = None

    def sides(self) -> list[Any]:
        """Return the input of every side."""
        return self.root


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
    names: ClassVar[None] = None

    @property
    def pairing(self) -> Pairing:
        """The pairs of sides."""
        return "all" if self.samples == "shared" else "consecutive"

    def sides(self) -> list[float]:
        """Return the input of every side: a grid point each, or two a pair."""
        width = self.stop - self.start
        points = []
        for i in range(self.points):
            if self.at == "ends":
                points.append(self.start + width * i / (self.points - 1))
            else:
                points.append(self.start + width * (i + 0.5) / self.points)
        if self.samples == "shared":
            return points
        return list(chain.from_iterable(combinations(points, 2)))


class NamedPair(NamedTuple):
    """Two inputs, with the name of their pair."""

    name: str
    x: Any
    x_prime: Any


class OfPairs(Model, ABC):
    """Inputs in pairs with names; each side of each pair has samples of its own."""

    pairing: ClassVar[Pairing] = "consecutive"

    @abstractmethod
    def named_pairs(self) -> list[NamedPair]:
        """Return the pairs."""

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        sides = []
        for pair in self.named_pairs():
            sides += [pair.x, pair.x_prime]
        return sides

    @property
    def names(self) -> list[str]:
        """The names of the pairs."""
        return [pair.name for pair in self.named_pairs()]


class Pairs(OfPairs):
    """Pairs of inputs by name."""

    pairs: Annotated[dict[str, Annotated[list[Any], Field(min_length=2, max_length=2)]], _SOME]

    def named_pairs(self) -> list[NamedPair]:
        """Return the pairs as they are given."""
        return [NamedPair(name, *inputs) for name, inputs in self.pairs.items()]


class Neighbourhood(OfPairs):
    """An input and all its neighbours: vectors of as many entries, each one of ``entries``.

    The largest level of its pairs is the data-centric level of ``around``.
    """

    around: Annotated[list[float], _SOME]
    entries: Annotated[list[float], _SOME]

    @model_validator(mode="after")
    def _has_neighbours(self) -> Neighbourhood:
        if len(set(self.entries)) < len(self.entries):
            raise ValueError("entries must differ")
        if not self.named_pairs():
            raise ValueError("entries give no neighbour other than the input itself")
        return self

    def named_pairs(self) -> list[NamedPair]:
        """Return the input beside every other vector, which is the name of the pair."""
        pairs = []
        for vector in map(list, product(self.entries, repeat=len(self.around))):
            if vector != self.around:
                name = " ".join(f"{entry:g}" for entry in vector)
                pairs.append(NamedPair(name, self.around, vector))
        return pairs


class RowsRemoved(OfPairs):
    """Databases of rows, each beside itself without one row, for every row in turn.

    The largest level of its pairs, in both directions, is that of privacy relative to the databases
    (lu2022, Definition 13).
    """

    databases: Annotated[list[Annotated[list[Any], _SOME]], _SOME]

    def named_pairs(self) -> list[NamedPair]:
        """Return the pairs; names are the numbers of the database and of the row, from 1."""
        pairs = []
        for number, rows in enumerate(self.databases, 1):
            for i in range(len(rows)):
                x, x_prime = self._neighbours(rows, i)
                pairs.append(NamedPair(f"{number}-{i + 1}", x, x_prime))
        return pairs

    def _neighbours(self, rows: list[Any], i: int) -> tuple[list[Any], list[Any]]:
        return rows, rows[:i] + rows[i + 1 :]


class Distributions(RowsRemoved):
    """Distributions of databases of bits: for each row, independently, the probability of a one.

    In turn each row is known, and is 0 or 1. The largest level of these pairs, in both directions,
    is that of distributional privacy (lu2022, Definition 15).
    """

    databases: Annotated[
        list[Annotated[list[float], _SOME]], Field(alias="distributions", min_length=1)
    ]

    def _neighbours(self, rows: list[Any], i: int) -> tuple[list[Any], list[Any]]:
        """Return the known row's bit in place of its probability, 0 and 1."""
        return [*rows[:i], 0.0, *rows[i + 1 :]], [*rows[:i], 1.0, *rows[i + 1 :]]


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
    Annotated[Listed, Tag("a list")]
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
        draws = []
        for n in self.n if isinstance(self.n, list) else [self.n]:
            draws.append(None if n == PLANNED else Draws.parse(str(n)))
        return draws


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

    def points(self) -> list[tuple[str, float, str, float, str]]:
        """Return every combination."""
        axes = self.mechanism, self.epsilon, self.inputs, self.order, self.estimator
        return list(product(*axes))


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
    file = Place(str(path))
    if not isinstance(entries, dict) or not entries:
        raise file.error("must map ids to entries")
    read = {}
    for name, own in entries.items():
        if not isinstance(name, str) or not re.fullmatch(ID.strip("^$"), name):
            raise file.at(name).error("an id has letters, digits and ._=- only")
        entry = own
        if isinstance(own, dict) and "like" in own:
            entry = _like(entries, own, file.at(name, "like"))
        read[name] = parse(model, entry, str(path), name)
    return read


def _like(entries: dict[str, Any], own: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return an entry with the keys of the one that it is like."""
    whole = {k: v for k, v in entries.items() if isinstance(v, dict) and "like" not in v}
    like = own["like"]
    if not isinstance(like, str) or like not in whole:
        raise place.error(f"no entry {like!r} without `like` of its own{suggest(str(like), whole)}")
    entry = whole[like] | own
    del entry["like"]
    return entry
