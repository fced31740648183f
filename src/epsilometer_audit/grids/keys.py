"""The keys of a file of audits, and their types."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, JsonValue, Tag

from epsilometer.checks import LONGEST
from epsilometer.models import Fractional, Id, Model
from epsilometer_audit.inputs.domains import MOST_PAIRS
from epsilometer_audit.question import MOST_CANARIES, MOST_DRAWS, check_claim

_SOME = Field(min_length=1)


def _reference(value: float | str) -> float | str:
    if isinstance(value, str) and not re.fullmatch(r"\$\w+", value):
        raise ValueError("must be a number, or $name of a parameter")
    return value


Level = Annotated[float | str, AfterValidator(_reference)]
Order = Annotated[float, Field(strict=False)]  # a key may be in quotes, as in JSON
Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
_Listed = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
Values = Annotated[list[bool | int | float | str], _SOME, _Listed]
_Named = BeforeValidator(lambda value: {"function": value} if isinstance(value, str) else value)


class Mechanism(Model):
    """A function, program, recorded outputs or scores of one run; `cases` checks that it is one."""

    function: str | None = None
    python: str | None = None
    environment: str | None = None  # is made from the lock of that name
    command: str | Annotated[list[str], _SOME] | None = None
    outputs: Annotated[list[str], Field(min_length=1, max_length=2), _Listed] | None = None
    one_run: Annotated[str | None, Field(alias="one run")] = None
    columns: Annotated[list[str], _SOME] | None = None


class Inputs(Model):
    """Pairs of a declared domain."""

    domain: dict[str, JsonValue]
    limit: Annotated[int, Field(gt=0, le=MOST_PAIRS)] | None = None  # of pairs


JsonPair = Annotated[list[JsonValue], Field(min_length=2, max_length=2)]


def _kind_of_set(value: object) -> str:
    if isinstance(value, list):
        return "pairs"
    pairs = isinstance(value, dict) and all(isinstance(pair, list) for pair in value.values())
    return "named pairs" if pairs or not isinstance(value, dict) else "inputs"


def _several(value: object) -> object:
    """Return a list of sets of pairs."""
    several = isinstance(value, list) and any(isinstance(part, dict) for part in value)
    return value if several else [value]


Set = Annotated[
    Annotated[dict[str, JsonPair], _SOME, Tag("named pairs")]
    | Annotated[list[JsonPair], _SOME, Tag("pairs")]
    | Annotated[Inputs, Tag("inputs")],
    Discriminator(_kind_of_set),
]


class ClaimEntry(Model):
    """A claim: one notion, at a level that may be a parameter's (``$name``)."""

    epsilon: Level | None = None
    delta: Level | None = None
    renyi: Annotated[dict[Order, Level], _SOME] | None = None
    profile: Annotated[dict[Order, Level], _SOME] | None = None
    tradeoff: Annotated[dict[Order, Level], _SOME] | None = None
    gdp: Level | None = None
    zcdp: Level | None = None
    detect: Level | None = None
    event: Level | None = None

    @pydantic.model_validator(mode="after")
    def _is_one(self) -> ClaimEntry:
        check_claim(self.model_dump())
        return self


Draws = Annotated[int, Field(gt=0, le=MOST_DRAWS)]
Sizes = Annotated[
    Annotated[Draws, Tag("one")] | Annotated[dict[Id, Draws], _SOME, Tag("by scale")],
    Discriminator(lambda value: "by scale" if isinstance(value, dict) else "one"),
]


class About(Model):
    """Facts about a mechanism; each may be the value of a parameter (``$name``)."""

    package: str | None = None
    version: str | None = None
    feature: str | None = None
    relation: str | None = None
    fault: str | None = None
    source: str | None = None


Two = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class AuditEntry(Model):
    """A mechanism, the grid of its parameters, pairs of inputs or canaries, and the claims."""

    mechanism: Annotated[Mechanism, _Named]
    parameters: dict[Name, Values] = Field(default_factory=dict)
    pairs: Annotated[list[Set], BeforeValidator(_several)] | None = None
    canaries: Annotated[int, Field(ge=10, le=MOST_CANARIES)] | None = None
    guesses: pydantic.PositiveInt | Two | None = None
    claims: Annotated[list[ClaimEntry], _SOME]
    samples: Sizes | None = None
    reads: list[str] = Field(default_factory=list)
    failures: bool = False
    as_reals: bool = False
    timeout: Annotated[float, Field(gt=0, le=LONGEST)] | None = None
    about: About = About()
    expected: Literal["violated", "not refuted"] | None = None


class AuditsFile(Model):
    """A file of audits."""

    alpha: Fractional = 0.05
    samples: Sizes = 100_000
    left_out: Annotated[dict[str, str], Field(alias="left out")] = Field(default_factory=dict)
    audits: Annotated[dict[Id, AuditEntry], _SOME]
