"""Draws batches of samples from a mechanism under audit, and checks what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import seeds
from epsilometer.errors import EpsilometerError, MechanismError, one_line
from epsilometer.mechanisms.base import Mechanism
from epsilometer.registry import load
from epsilometer.storage import SampleWriter, atomic

_KINDS = {"scalar": np.floating, "index": np.integer}


def write_batch(path: str, spec: Mapping[str, Any], progress: Callable[[str], None]) -> None:
    """Write the samples that ``spec`` (their full identity) asks for to one Parquet file."""
    mechanism = load(spec["registered"])(epsilon=spec["epsilon"], **spec["parameters"])
    first, last = spec["runs"]
    inputs = spec["inputs"]
    with atomic(path) as part, SampleWriter(part, mechanism.outputs, spec) as writer:
        for run in range(first, last + 1):
            for side, x in enumerate(inputs["values"]):
                rng = seeds.generator(
                    spec["seed"],
                    spec["mechanism"],
                    f"epsilon={spec['epsilon']!r}",
                    inputs["id"],
                    f"side={side}",
                    f"run={run}",
                    spec["stage"],
                )
                writer.write(draw(mechanism, x, spec["n"], rng, name=spec["mechanism"]))
            progress(f"run {run - first + 1} of {last - first + 1}")


def draw(
    mechanism: Mechanism, x: Any, size: int, rng: np.random.Generator, *, name: str
) -> NDArray[Any]:
    """Sample a mechanism that is not trusted: it may raise, or return what it should not."""
    where = f"mechanism {name!r} on input {x!r}"
    try:
        returned = mechanism.sample(x, size, rng)
    except EpsilometerError:
        raise
    except Exception as error:
        raise MechanismError(
            f"{where}: sample() raised {type(error).__name__}: {one_line(error)}"
        ) from error
    outputs = np.asarray(returned)
    if outputs.ndim != 1:
        raise MechanismError(f"{where}: sample() returned shape {outputs.shape}, not ({size},)")
    if outputs.size != size:
        raise MechanismError(f"{where}: sample() returned {outputs.size} outputs, not {size}")
    if not np.issubdtype(outputs.dtype, _KINDS[mechanism.outputs]):
        raise MechanismError(
            f"{where}: sample() returned {outputs.dtype}, not {mechanism.outputs} outputs"
        )
    if mechanism.outputs == "scalar":
        bad = size - int(np.count_nonzero(np.isfinite(outputs)))
        if bad:
            raise MechanismError(f"{where}: sample() returned {bad} NaN or infinite outputs")
        return np.asarray(outputs, np.float64)
    return np.asarray(outputs, np.int32)
