"""A file of audits: a case has a mechanism, pairs of inputs, a claim and options.

    alpha: 0.05
    audits:
      count:
        mechanism: release.py:noisy_count
        pairs: {adjacent: [[0, 1], [1, 1]]}
        claim: {epsilon: 1}

The keys of a case are the fields of a `Request`. No code of a mechanism is run or imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag

from epsilometer.claims import ClaimOption
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.seeds import generator
from epsilometer.settings.models import Fractional, Id, Model, parse
from epsilometer.settings.yaml_files import read_yaml
from epsilometer_audit.outputs.callables import argument_errors
from epsilometer_audit.question import claims
from epsilometer_audit.question.domains import domain
from epsilometer_audit.question.request import (
    Kind,
    NamedMechanism,
    Request,
    claim_of,
    named_mechanism,
    options_of,
    types_of,
)
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.statistics.rounds import least_samples

_MOST_AUDITS = 10_000  # of a file, each in a process of its own
_SOME = Field(min_length=1)

JsonPair = Annotated[list[JsonValue], Field(min_length=2, max_length=2)]
Order = Annotated[float, Field(strict=False)]  # a key may be in quotes, as in JSON
Curve = Annotated[dict[Order, float], _SOME]


class Inputs(Model):
    """Pairs of a declared domain."""

    domain: dict[str, JsonValue]


def _kind_of_pairs(value: object) -> str:
    if isinstance(value, list):
        return "pairs"
    named = isinstance(value, dict) and all(isinstance(pair, list) for pair in value.values())
    return "named pairs" if named else "inputs"


Pairs = Annotated[
    Annotated[dict[str, JsonPair], _SOME, Tag("named pairs")]
    | Annotated[list[JsonPair], _SOME, Tag("pairs")]
    | Annotated[Inputs, Tag("inputs")],
    Discriminator(_kind_of_pairs),
]


def _level_of(option: ClaimOption) -> Any:
    """Return the field of a model for an option of a claim."""
    return (Curve | None if option.takes_points else float | None), None


_levels = {name: _level_of(option) for name, option in claims.options().items()}
ClaimEntry = pydantic.create_model("ClaimEntry", __base__=Model, __module__=__name__, **_levels)


class About(Model):
    """Facts about a mechanism."""

    package: str | None = None
    version: str | None = None
    feature: str | None = None
    relation: str | None = None
    fault: str | None = None
    source: str | None = None


def _optional(kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass for a model, but those that audits of a file share."""
    options = options_of(kind)
    types = types_of(kind)
    return {name: (types[name] | None, None) for name in options if not options[name].shared}


_named = pydantic.create_model(
    "MechanismEntry", __base__=Model, __module__=__name__, **_optional(NamedMechanism)
)
_Function = BeforeValidator(lambda value: {"function": value} if isinstance(value, str) else value)


class _Own(Model):
    """The keys of a case that are no options, or have a type of their own in a file."""

    mechanism: Annotated[_named, _Function]
    pairs: Pairs | None = None
    claim: ClaimEntry
    reads: list[str] = Field(default_factory=list)
    about: About = About()
    expected: Literal["violated", "not refuted"] | None = None


_options = {name: of for name, of in _optional(Request).items() if name not in _Own.model_fields}
Entry = pydantic.create_model("Entry", __base__=_Own, __module__=__name__, **_options)
MechanismEntry = _named  # the names under which processes find them


class _File(Model):
    alpha: Fractional = 0.05
    samples: int | None = None
    left_out: Annotated[dict[str, str], Field(alias="left out")] = Field(default_factory=dict)
    audits: Annotated[dict[Id, Entry], Field(min_length=1, max_length=_MOST_AUDITS)]


@dataclass(frozen=True)
class Case:
    """An audit of a file, by name, with its share of alpha and its seed."""

    name: str
    entry: Any  # an `Entry`
    alpha: float
    seed: int

    @property
    def mechanism(self) -> NamedMechanism:
        """The mechanism by name."""
        return named_mechanism(self.entry.mechanism.model_dump(exclude_none=True))

    def request(self) -> Request:
        """Return its request; raise `ArgumentError` if that is impossible."""
        options = self.entry.model_dump(include={*_options}, exclude_none=True)
        pairs = self.entry.pairs
        return Request(
            mechanism=self.mechanism,
            pairs=domain(pairs.domain) if isinstance(pairs, Inputs) else pairs,
            claim=claim_of(self.entry.claim.model_dump()),
            alpha=self.alpha,
            seed=self.seed,
            **options,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return all that its verdict follows from, as JSON values."""
        left_out = {"about", "expected", "reads"}
        entry = self.entry.model_dump(mode="json", exclude_none=True, exclude=left_out)
        return {"name": self.name, "alpha": self.alpha, "seed": self.seed, "entry": entry}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Case:
        """Return a case that was written as JSON values."""
        entry = Entry.model_validate(plain["entry"])
        return cls(plain["name"], entry, plain["alpha"], plain["seed"])


class AuditsFile:
    """One file of audits, in YAML, and its ``cases`` by name, in the order of the file.

    ``environments`` tells whether mechanisms may name one, as in studies. Raise `ConfigError`, a
    line for each mistake.
    """

    def __init__(self, path: Path, seed: int = 0, *, environments: bool = False) -> None:
        # paths in the file are relative to it
        self.path = path
        self.folder = path.parent
        file = parse(_File, read_yaml(path), str(path))
        self.alpha = file.alpha
        self.left_out = file.left_out
        share = share_of(file.alpha, len(file.audits))
        self.cases: dict[str, Case] = {}
        for name, entry in file.audits.items():
            case_seed = int(generator(seed, "audits", path.stem, name).integers(2**31))
            try:
                case = Case(name, _with_samples(entry, file.samples), share, case_seed)
                _check(case, environments)
            except ArgumentError as error:
                key = f"audits.{name}.{_key(error.argument)}"
                message = str(error).removeprefix(f"{error.argument} ")
                raise ConfigError(str(path), key, message) from None
            self.cases[name] = case


def _with_samples(entry: Any, samples: int | None) -> Any:
    """Return a case with the file's number of draws, if it draws and has no own."""
    mechanism = entry.mechanism
    recorded = mechanism.outputs is not None or mechanism.one_run is not None
    if recorded or entry.canaries is not None or entry.samples is not None:
        return entry
    return entry.model_copy(update={"samples": samples})


def _check(case: Case, environments: bool) -> None:
    """Check a case without running any code of its mechanism."""
    if case.mechanism.environment is not None and not environments:
        raise ArgumentError("environment", "is made by studies only; name a python")
    if case.mechanism.function is not None:
        try:
            with argument_errors():
                parsed(case.mechanism.function)
        except ArgumentError as error:
            raise ArgumentError("function", str(error)) from None
    request = case.request()
    if request.kind is Kind.DRAWS and request.samples is not None:
        least = least_samples(len(request.pairs))
        pairs = len(request.pairs)
        if request.samples < least:
            many = f"must be at least {least} for {pairs} pairs"
            raise ArgumentError("samples", f"{many}, got {request.samples}")


def _key(argument: str) -> str:
    """Return the key of a case that an argument stands under."""
    first = argument.partition(".")[0]
    if first in options_of(NamedMechanism):
        return f"mechanism.{argument}"
    if first == "domain":
        return f"pairs.{argument}"
    known = options_of(Request)
    return argument if first in known or first == "mechanism" else f"claim.{argument}"
