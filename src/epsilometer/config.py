"""The configuration's types, and how its YAML files are read.

Everything a user may write is checked here or in `epsilometer.study`, before the DAG exists; an
error is one line with file, key, what is wrong and the nearest valid name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    PositiveInt,
    StringConstraints,
    Tag,
    ValidationError,
    create_model,
    model_validator,
)

from epsilometer.errors import ConfigError, one_line, suggest

_ID = r"^[A-Za-z0-9][A-Za-z0-9._=-]*$"  # safe as a part of a path and of a shell word


def _number(value: object) -> object:
    """Read ``1/3`` and ``inf`` where YAML has only strings for them."""
    if isinstance(value, str) and re.fullmatch(r"\d+/[1-9]\d*", value):
        return float(Fraction(value))
    return math.inf if value == "inf" else value


def _privacy(value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError("must be positive and finite")
    return value


def _order(value: float) -> float:
    if not value > 1:
        raise ValueError("must be above 1 (inf for pure privacy)")
    return value


def _size(value: int | str) -> int | str:
    if isinstance(value, int) and value < 1:
        raise ValueError("must be positive")
    if isinstance(value, str) and not re.fullmatch(r"planned|(1\.\.|[1-9]\d*\+)[1-9]\d*", value):
        raise ValueError(
            "must be a positive integer, 1..N for a search up to N, n+N to confirm by N fresh "
            "samples, or planned"
        )
    return value


Id = Annotated[str, StringConstraints(pattern=_ID)]
Epsilon = Annotated[float, BeforeValidator(_number), AfterValidator(_privacy)]
Order = Annotated[float, BeforeValidator(_number), AfterValidator(_order)]
Fractional = Annotated[float, Field(gt=0, lt=1)]
Scalar = bool | int | float | str
_SOME = Field(min_length=1)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class Main(_Model):
    """``config/config.yaml``."""

    seed: Annotated[int, Field(ge=0)]
    scale: Id
    papers: Annotated[list[Id], Field(min_length=1)]
    batch_bytes: PositiveInt


class Rate(_Model):
    """What a job of one rule takes, in ``rates.yaml``.

    ``seconds`` and ``megabytes`` come with any job; ``nanoseconds`` with each number drawn or read,
    by what draws or reads it, and ``bytes`` of memory with each number of one side of one run.
    """

    seconds: Annotated[float, Field(ge=0)]
    megabytes: Annotated[float, Field(ge=0)]
    bytes: dict[Id, Annotated[float, Field(ge=0)]] = {}
    nanoseconds: dict[Id, Annotated[float, Field(ge=0)]] = {}


class Grid(_Model):
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


class Pairs(_Model):
    """Pairs of inputs by name; each side of each pair has samples of its own."""

    pairs: Annotated[dict[str, Annotated[list[Any], Field(min_length=2, max_length=2)]], _SOME]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        return [x for pair in self.pairs.values() for x in pair]

    def names(self) -> list[str]:
        """Return the pairs' names."""
        return list(self.pairs)


class Neighbourhood(_Model):
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
        every = product(self.entries, repeat=len(self.around))
        return [list(vector) for vector in every if list(vector) != self.around]

    def sides(self) -> list[Any]:
        """Return the inputs, two a pair."""
        return [x for neighbour in self.neighbours() for x in (self.around, neighbour)]

    def names(self) -> list[str]:
        """Return the neighbours, written out."""
        return [" ".join(f"{entry:g}" for entry in vector) for vector in self.neighbours()]


class RowsRemoved(_Model):
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


class ClaimsEntry(_Model):
    """What the provider of a mechanism states; ``exact`` takes the true value."""

    support: tuple[float, float] | None = Field(default=None, strict=False)
    lipschitz: float | Literal["exact"] | None = None
    outcomes: int | None = None
    smallest_probability: float | Literal["exact"] | None = None


def _kind_of_inputs(value: object) -> str:
    """Tell which kind is meant, so that only its own errors are told."""
    if isinstance(value, dict):
        if "pairs" in value:
            return "named pairs"
        if "databases" in value:
            return "databases"
        return "a neighbourhood" if {"around", "entries"} & set(value) else "a grid"
    return "a list"


Inputs = Annotated[
    Annotated[list[Any], Field(min_length=2), Tag("a list")]
    | Annotated[Grid, Tag("a grid")]
    | Annotated[Pairs, Tag("named pairs")]
    | Annotated[Neighbourhood, Tag("a neighbourhood")]
    | Annotated[RowsRemoved, Tag("databases")],
    Discriminator(_kind_of_inputs),
]


class MechanismEntry(_Model):
    """One entry of ``config/mechanisms.yaml``.

    ``region`` is where an auditor looks for the local loss, in each dimension.
    """

    mechanism: str
    parameters: dict[str, Scalar] = {}
    claims: ClaimsEntry = ClaimsEntry()
    region: tuple[float, float] | None = Field(default=None, strict=False)
    inputs: Annotated[dict[Id, Inputs], _SOME]


class EstimatorEntry(_Model):
    """One entry of ``config/estimators.yaml``."""

    estimator: str
    parameters: dict[str, JsonValue] = {}


Samples = Annotated[int | str, AfterValidator(_size)]


class Size(_Model):
    """How much an experiment draws: runs, and samples a side in each (several sizes, if a list)."""

    runs: PositiveInt
    n: Annotated[
        Annotated[Samples, Tag("one")] | Annotated[list[Samples], _SOME, Tag("several")],
        Discriminator(lambda value: "several" if isinstance(value, list) else "one"),
    ]

    def sizes(self) -> list[str]:
        """Return every n, as paths write it."""
        return [str(n) for n in (self.n if isinstance(self.n, list) else [self.n])]


class Scale(_Model):
    """``config/scales/<scale>.yaml``."""

    temporary_samples: bool
    papers: dict[Id, dict[Id, Size]]


class Block(_Model):
    """A grid: every mechanism x epsilon x inputs x lambda x estimator."""

    mechanism: Annotated[list[str], Field(min_length=1)]
    epsilon: Annotated[list[Epsilon], Field(min_length=1)]
    inputs: Annotated[list[str], Field(min_length=1)]
    order: Annotated[list[Order], Field(alias="lambda", min_length=1)]
    estimator: Annotated[list[str], Field(min_length=1)]


class Plan(_Model):
    """Where n comes from at ``n: planned``: the theorem of this estimator at this confidence."""

    delta: Fractional
    estimator: str | None = None


class Experiment(_Model):
    """A grid of estimates, summarised together."""

    grid: Annotated[list[Block], Field(min_length=1)]
    plan: Plan | None = None


class TableEntry(_Model):
    """The table of an artifact: a registered builder, its summaries and its options."""

    builder: str
    data: list[str] = []
    options: dict[str, Any] = {}


class PaperNumbers(_Model):
    """The numbers a paper prints: rows that join ours on the key columns."""

    keys: Annotated[list[str], Field(min_length=1)]
    columns: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[list[float | int | str | bool | None]], Field(min_length=1)]


class Artifact(_Model):
    """A table, and the figure drawn from it if it is one."""

    caption: str
    table: TableEntry
    figure: str | None = None
    paper: PaperNumbers | None = None


class Paper(_Model):
    """``config/papers/<paper>.yaml``."""

    title: str
    experiments: dict[Id, Experiment]
    artifacts: Annotated[dict[Id, Artifact], Field(min_length=1)]


ModelType = TypeVar("ModelType", bound=BaseModel)


def read(path: Path, model: type[ModelType]) -> ModelType:
    """Read one YAML file as a model."""
    return parse(model, _load(path), str(path))


def read_entries(path: Path, model: type[ModelType]) -> dict[str, ModelType]:
    """Read one YAML file that maps ids to entries of one model."""
    entries = _load(path)
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(str(path), "", "must map ids to entries")
    for name in entries:
        if not isinstance(name, str) or not re.fullmatch(_ID.strip("^$"), name):
            raise ConfigError(str(path), str(name), "an id has letters, digits and ._=- only")
    return {name: parse(model, entry, str(path), name) for name, entry in entries.items()}


def parse(model: type[ModelType], value: object, file: str, prefix: str = "") -> ModelType:
    """Check a value against a model; every error is a line of the `ConfigError`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        by_key: dict[str, list[Any]] = {}
        for problem in error.errors():
            key = ".".join(filter(None, [prefix, *_path(problem, value)]))
            by_key.setdefault(key, []).append(problem)
        raise ConfigError.joined(
            str(ConfigError(file, key, _message(problems, model)))
            for key, problems in by_key.items()
        ) from None


def options_model(function: Any) -> type[BaseModel]:
    """Return a model of a function's keyword-only parameters."""
    hints = get_type_hints(function, include_extras=True)
    defaults = function.__kwdefaults__ or {}
    names = function.__code__.co_varnames[function.__code__.co_argcount :]
    fields: dict[str, Any] = {
        name: (hints[name], defaults.get(name, ...))
        for name in names[: function.__code__.co_kwonlyargcount]
    }
    return create_model(function.__name__, __base__=_Model, **fields)


def _path(problem: Any, value: object) -> list[str]:
    """Return the keys that lead to a problem, without the names pydantic gives to alternatives."""
    keys = []
    *_, last = problem["loc"] or (None,)
    for part in problem["loc"]:
        is_key = isinstance(value, dict) and part in value
        is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_key or is_index:
            value = value[part]  # type: ignore[index]
        elif not (part is last and problem["type"] == "missing"):
            continue
        keys.append(str(part))
    return keys


def _message(problems: list[Any], model: type[BaseModel]) -> str:
    """Return one message for a key; where alternatives were tried, it names them all."""
    first = problems[0]
    if first["type"] == "extra_forbidden":
        return f"unknown key{suggest(str(first['loc'][-1]), _keys(model))}"
    if first["type"] == "missing":
        return "is missing"
    said = [one_line(problem["msg"]).removeprefix("Value error, ") for problem in problems]
    said = [re.sub(r"a valid dictionary or instance of (\w+)", r"a \1", text) for text in said]
    others = [message.removeprefix("Input should be ") for message in said[1:]]
    return f"{' or '.join(dict.fromkeys([said[0], *others]))}, got {first['input']!r}"[:240]


def _keys(model: type[BaseModel]) -> set[str]:
    """Return every key that the model and the models within it know."""
    keys: set[str] = set()
    for name, field in model.model_fields.items():
        keys.add(field.alias or name)
        for found in re.findall(r"epsilometer\.config\.(\w+)", repr(field.annotation)):
            inner = globals().get(found)
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                keys |= _keys(inner)
    return keys


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # <<: merges another mapping, whose keys may be overridden
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                line = key_node.start_mark.line + 1
                raise yaml.MarkedYAMLError(problem=f"{key}: given twice (again in line {line})")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(str(path), "", "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"cannot be read: {one_line(error)}") from None
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        raise ConfigError(str(path), "", one_line(error)) from None
