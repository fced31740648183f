"""The protocol of mechanisms, calibrated objects that are sampled on an input; kinds of input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Sample

Outputs = Literal["scalar", "index", "bits", "vector", "tuple", "mixed"]
"""The kind of one output, and the array that holds a sample of ``n``.

``scalar``: a real number, float64 of shape ``(n,)``; ``index``: an integer 0, ..., k - 1, int32 of
shape ``(n,)`` (bit i of it for entry i of a short bit vector); ``bits``: a bit vector of up to 62
entries, int64 of shape ``(n,)``. With a property ``dimension`` d, of shape
``(n, d)``: ``vector``, d real numbers with a joint density; ``tuple``, d integers; ``mixed``, d
numbers of which some have atoms and others densities, NaN where there is none.
"""


@dataclass(frozen=True)
class Kind:
    """A kind of output: the type of an entry, and whether an output has ``several`` of them.

    Entries may be ``missing`` (NaN).
    """

    dtype: type[np.generic]
    several: bool = False
    missing: bool = False

    @property
    def real(self) -> bool:
        """Whether entries are real numbers, not integers."""
        return issubclass(self.dtype, np.floating)

    @property
    def bytes(self) -> int:
        """The size of an entry, in memory and in a file."""
        return np.dtype(self.dtype).itemsize


OUTPUT_KINDS: Mapping[str, Kind] = {
    "scalar": Kind(np.float64),
    "index": Kind(np.int32),
    "bits": Kind(np.int64),
    "vector": Kind(np.float64, several=True),
    "tuple": Kind(np.int32, several=True),
    "mixed": Kind(np.float64, several=True, missing=True),
}
"""By the names of `Outputs`: types in memory and in files."""


class Mechanism(Protocol):
    """A randomised mechanism at one privacy parameter.

    Implementations are frozen dataclasses whose first field is ``epsilon``; all fields are
    checked when the object is made, so a mechanism that exists can be sampled.
    """

    outputs: ClassVar[Outputs]
    epsilon: float

    def check_input(self, x: Any) -> None:
        """Raise `ArgumentError` if ``x`` is outside the mechanism's domain."""

    def sample(self, x: Any, size: int, rng: np.random.Generator) -> Sample:
        """Draw ``size`` independent outputs on input ``x``, as `Outputs` says."""


def dimension_of(mechanism: Mechanism) -> int | None:
    """Return how many entries an output has; none where it is a single number."""
    if mechanism.outputs in ("scalar", "index", "bits"):
        return None
    return int(mechanism.dimension)  # type: ignore[attr-defined]


def check_list(x: object, entries: str, count: int | None = None) -> Sequence[Any]:
    """Return ``x``; raise `ArgumentError` unless it is a list of ``count`` entries, if given."""
    if not isinstance(x, Sequence) or isinstance(x, str) or count not in (None, len(x)):
        number = "" if count is None else f"{count} "
        raise ArgumentError("input", f"must be a list of {number}{entries}, got {x!r}")
    return x


def check_people(x: object, count: int | None = None) -> Sequence[Any]:
    """Return ``x``; raise `ArgumentError` unless it is a list of numbers in [0, 1], so many."""
    people = check_list(x, "people's numbers", count)
    for person in people:
        if not 0 <= checks.real("input", person) <= 1:
            raise ArgumentError("input", f"must hold numbers in [0, 1], got {person!r}")
    return people


def check_answers(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` finite query answers."""
    for answer in check_list(x, "query answers", count):
        checks.real("input", answer)


class QueryAnswers(Checked):
    """Mechanisms whose inputs are lists of ``queries`` finite query answers."""

    queries: int

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer for each query."""
        check_answers(x, self.queries)
