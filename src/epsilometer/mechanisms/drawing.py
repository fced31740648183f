"""Draws from a mechanism that is not trusted: what it returns is checked."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from epsilometer.errors import EpsilometerError, MechanismError, one_line
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of


def draw(
    mechanism: Mechanism, x: Any, size: int, rng: np.random.Generator, *, name: str
) -> NDArray[Any]:
    """Sample a mechanism that is not trusted: it may raise, or return wrong outputs."""
    context = f"mechanism {name!r} on input {x!r}"
    before = _global_states()
    try:
        returned = mechanism.sample(x, size, rng)
    except EpsilometerError:
        raise
    except Exception as error:
        raise MechanismError(
            f"{context}: sample() raised {type(error).__name__}: {one_line(error)}"
        ) from error
    for owner, state in _global_states().items():
        if state != before[owner]:
            raise MechanismError(
                f"{context}: sample() changed the global random state of {owner}; "
                "it must draw from the generator it is given"
            )
    outputs = np.asarray(returned)
    dimension = dimension_of(mechanism)
    shape = (size,) if dimension is None else (size, dimension)
    if outputs.shape[1:] != shape[1:] or outputs.ndim != len(shape):
        raise MechanismError(f"{context}: sample() returned shape {outputs.shape}, not {shape}")
    if len(outputs) != size:
        raise MechanismError(f"{context}: sample() returned {len(outputs)} outputs, not {size}")
    kind = OUTPUT_KINDS[mechanism.outputs]
    if not np.issubdtype(outputs.dtype, np.floating if kind.real else np.integer):
        raise MechanismError(
            f"{context}: sample() returned {outputs.dtype}, not {mechanism.outputs} outputs"
        )
    if kind.real:
        bad = int(np.count_nonzero(~np.isfinite(outputs)))
        if kind.missing:  # NaN stands for a missing number
            bad -= int(np.count_nonzero(np.isnan(outputs)))
        if bad:
            raise MechanismError(f"{context}: sample() returned {bad} NaN or infinite outputs")
    if not kind.real and outputs.size and not _fits(outputs, kind.dtype):
        raise MechanismError(f"{context}: sample() returned outputs beyond {8 * kind.bytes} bits")
    return np.asarray(outputs, kind.dtype)


def _global_states() -> dict[str, object]:
    """Return the global random states, which a mechanism must not use."""
    _, *numpy = np.random.get_state()  # noqa: NPY002
    return {"NumPy": [np.asarray(part).tobytes() for part in numpy], "Python": random.getstate()}


def _fits(outputs: NDArray[Any], dtype: DTypeLike) -> bool:
    """Tell whether integers keep their values in another type."""
    limits = np.iinfo(np.dtype(dtype))
    return outputs.dtype == dtype or (
        bool(outputs.min() >= limits.min) and bool(outputs.max() <= limits.max)
    )
