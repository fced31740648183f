"""What files say of themselves, and what jobs are asked: a frozen dataclass for each kind.

A file's identity is all that can change its content. Products make identities; Snakemake takes
them to the jobs as plain values (`plain`), and a stage reads them with `job_of`. The parameters of
most jobs are the identity of the file that they make. Numbers of runs and of draws are those of
`epsilometer_workflow.files.parsing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

from epsilometer.errors import DataError, suggest
from epsilometer.estimators.base import Claims, pairs_of
from epsilometer.settings.registry import load

Plain = Mapping[str, Any]
"""An identity as plain values, for jobs that only compare it with what a file says."""

Kind = TypeVar("Kind")

Pairing = Literal["all", "consecutive"]
"""The pairs of sides: ``all``, or ``consecutive`` where each pair has its own."""


class Common(TypedDict):
    """What the identities of all files of a study have in common."""

    seed: int
    scale: str
    version: str


LAMBDA: Plain = {"key": "lambda"}
VALUES: Plain = {"key": "values"}
"""Of fields that plain values have under another name."""

IF_ANY: Plain = {"absent": True}
"""Of fields that plain values lack where these are None."""


@dataclass(frozen=True, kw_only=True)
class FileIdentity:
    """The common part of all identities."""

    seed: int
    scale: str
    version: str


Identity = FileIdentity | Plain


@dataclass(frozen=True, kw_only=True)
class Method:
    """An estimator: its class as ``module:Class``, and its options."""

    registered: str
    parameters: Mapping[str, Any]

    def load(self) -> Any:
        """Return the estimator."""
        return load(self.registered)(**self.parameters)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a mechanism by their name in the configuration, one for each side."""

    id: str
    sides: list[Any] = field(metadata=VALUES)


@dataclass(frozen=True, kw_only=True)
class InputsOfPairs(Inputs):
    """Inputs, and the pairs of sides that are estimated, with their names if they have any."""

    pairing: Pairing
    names: list[str] | None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The sides of each pair."""
        return pairs_of(len(self.sides), self.pairing)


@dataclass(frozen=True, kw_only=True)
class SamplesIdentity(FileIdentity):
    """A batch of samples: the runs from the first to the last of ``runs``, ``n`` draws a side."""

    stage: str
    mechanism: str
    registered: str
    parameters: Mapping[str, Any]
    epsilon: float
    inputs: Inputs
    sides: int
    n: int
    runs: list[int]

    def load(self) -> Any:
        """Return the mechanism."""
        return load(self.registered)(epsilon=self.epsilon, **self.parameters)

    @property
    def seed_names(self) -> tuple[str, str]:
        """The names of mechanism and epsilon from which seeds derive."""
        return self.mechanism, f"epsilon={self.epsilon!r}"


@dataclass(frozen=True, kw_only=True)
class ConfirmationIdentity(SamplesIdentity):
    """A batch of fresh samples of the pairs that a first stage selected."""

    selected_by: LossesIdentity


@dataclass(frozen=True, kw_only=True)
class DescribedSamples:
    """A batch of samples, the provider's claims about them, and the region of the local loss."""

    identity: SamplesIdentity
    claims: Claims
    region: list[float] | None


@dataclass(frozen=True, kw_only=True)
class HistogramsIdentity(FileIdentity):
    """Counts of a batch, in cells of the support; integers have none."""

    samples: SamplesIdentity
    support: list[float] | None
    cells: int
    n: str


@dataclass(frozen=True, kw_only=True)
class PairsIdentity(FileIdentity):
    """A reduction of every pair of a batch of samples."""

    samples: SamplesIdentity
    pairing: Pairing


@dataclass(frozen=True, kw_only=True)
class DensitiesIdentity(PairsIdentity):
    """Densities of every pair, by cells, or by the points and the power of kernels."""

    cells: float | None = field(default=None, metadata=IF_ANY)
    points: float | None = field(default=None, metadata=IF_ANY)
    power: float | None = field(default=None, metadata=IF_ANY)

    @property
    def reduction(self) -> dict[str, float]:
        """The settings that are given."""
        every = {"cells": self.cells, "points": self.points, "power": self.power}
        return {name: value for name, value in every.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class VerdictsIdentity(PairsIdentity, Method):
    """Verdicts of a trained classifier; only the options that training uses count."""

    classifier: str | None


@dataclass(frozen=True, kw_only=True)
class AnswersIdentity(PairsIdentity, Method):
    """Answers of an estimator that reads samples themselves."""

    order: str = field(metadata=LAMBDA)
    claims: Claims


@dataclass(frozen=True, kw_only=True)
class LossesIdentity(PairsIdentity, Method):
    """Local losses of every pair, searched in a region."""

    region: list[float] | None


@dataclass(frozen=True, kw_only=True)
class EvidenceIdentity(FileIdentity):
    """Evidence of fresh samples."""

    fresh: ConfirmationIdentity


@dataclass(frozen=True, kw_only=True)
class EstimatesIdentity(FileIdentity, Method):
    """Estimates of one combination; ``after`` is the estimator that chose pairs before, if any."""

    mechanism: str
    mechanism_registered: str
    mechanism_parameters: Mapping[str, Any]
    epsilon: float
    inputs: InputsOfPairs
    order: str = field(metadata=LAMBDA)
    estimator: str
    after: Method | None
    region: list[float] | None
    claims: Claims
    cells: int
    n: str
    runs: int


@dataclass(frozen=True, kw_only=True)
class EstimateJob:
    """Estimates, and the identities of the reductions that the estimator ``reads``."""

    identity: EstimatesIdentity
    reads: str
    data: list[Plain]


@dataclass(frozen=True, kw_only=True)
class ExperimentIdentity(FileIdentity):
    """Summary, runs or timings of an experiment; ``made_of`` is a digest of all members."""

    report: str
    experiment: str
    made_of: str


@dataclass(frozen=True, kw_only=True)
class EstimatesToSummarise:
    """A file of estimates, the exact law of its mechanism, and what its estimator promises."""

    identity: EstimatesIdentity
    law: str | None
    precision: float | None
    symmetric: bool
    guarantee: str


@dataclass(frozen=True, kw_only=True)
class SummariseJob:
    """A summary of several files of estimates."""

    identity: ExperimentIdentity
    members: list[EstimatesToSummarise]


@dataclass(frozen=True, kw_only=True)
class EstimatesToTime:
    """What is drawn and estimated, with ``fresh`` draws of the selected pair."""

    samples: SamplesIdentity
    estimates: EstimatesIdentity
    fresh: int


@dataclass(frozen=True, kw_only=True)
class TimeJob:
    """Timings of several estimates."""

    identity: ExperimentIdentity
    members: list[EstimatesToTime]


@dataclass(frozen=True, kw_only=True)
class TableIdentity(FileIdentity):
    """A table of a report; ``made_of`` is a digest of all that it is built of.

    The file of a table also has its ``caption``; who reads it does not ask for that.
    """

    report: str
    artifact: str
    made_of: str
    caption: str | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True)
class RenderJob:
    """A figure of a table."""

    identity: TableIdentity
    caption: str
    renderer: str


def plain(value: Any) -> Any:
    """Return identities, also in lists and mappings, as plain values; others as they are."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if not is_dataclass(value):
        return value
    values = {}
    for entry in fields(value):
        content = getattr(value, entry.name)
        if content is not None or "absent" not in entry.metadata:
            values[_key(entry)] = plain(content)
    return values


def job_of(snakemake: Any, kind: type[Kind]) -> Kind:
    """Return the parameters of a job; raise `DataError` for one that is missing or unknown."""
    return read(kind, snakemake.params.spec, snakemake.output[0])


def read(kind: type[Kind], values: Plain, file: str, key: str = "") -> Kind:
    """Return an identity, or the parameters of a job, from plain values of a file.

    Raise `DataError` where a key is missing or unknown; ``key`` leads to these values.
    """
    known = {_key(entry): entry for entry in fields(kind)}  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            wrong = f"unknown {_at(key, name)!r} in its identity{suggest(name, known)}"
            raise DataError(file, wrong)
    hints = _hints(kind)  # type: ignore[arg-type]
    arguments = {}
    for name, entry in known.items():
        if name in values:
            hint = hints[entry.name]
            arguments[entry.name] = _value(hint, values[name], file, _at(key, name))
        elif entry.default is MISSING:
            raise DataError(file, f"{_at(key, name)!r} is missing in its identity")
    return kind(**arguments)


def _value(hint: Any, value: Any, file: str, key: str) -> Any:
    """Return a value of a field, of which a hint says whether it is an identity or has some."""
    if value is None:
        return None
    if get_origin(hint) in (UnionType, Union):
        hint = get_args(hint)[0]  # X of `X | None`
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if is_dataclass(hint):
        return read(hint, value, file, key)  # type: ignore[arg-type]
    if get_origin(hint) is list:
        (inner,) = get_args(hint)
        return [_value(inner, entry, file, f"{key}.{i}") for i, entry in enumerate(value)]
    if get_origin(hint) is dict:
        _, inner = get_args(hint)
        return {name: _value(inner, entry, file, f"{key}.{name}") for name, entry in value.items()}
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _key(entry: Field[Any]) -> str:
    """Return the name of a field in plain values."""
    return str(entry.metadata.get("key", entry.name))


def _at(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
