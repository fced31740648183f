"""Files of samples, read pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer_workflow.files.identities import PairsIdentity
from epsilometer_workflow.files.storage import by_run, read_samples

Answer = TypeVar("Answer")


class Pair(NamedTuple):
    """Two sides of one run."""

    run: int
    side_x: int
    side_x_prime: int


def over_pairs(
    path: str,
    job: PairsIdentity,
    answer: Callable[[Pair, NDArray[Any], NDArray[Any]], Answer],
    progress: Callable[[str], None],
) -> Iterator[tuple[Pair, Answer]]:
    """Yield every pair of every run, with what a function answers about its draws."""
    for run, sides in by_run(read_samples(path, job.samples)):
        for i, j in pairs_of(len(sides), job.pairing):
            pair = Pair(run, i, j)
            try:
                result = answer(pair, sides[i], sides[j])
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            yield pair, result
        progress(f"run {run} of runs {job.samples.runs}")


def key_columns(pairs: Sequence[Pair], n: int) -> dict[str, Any]:
    """Return the columns that say which pair a row is of, and of how many draws a side."""
    runs, side_x, side_x_prime = np.array(pairs, np.int32).T
    sizes = np.full(runs.size, n, np.int64)
    return {"run": runs, "n": sizes, "side_x": side_x, "side_x_prime": side_x_prime}
