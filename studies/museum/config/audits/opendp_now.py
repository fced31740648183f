"""Measurements of OpenDP since 0.11, made by `opendp.prelude`, and what their maps claim."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")


def _atoms(kind: type) -> Any:
    return dp.atom_domain(T=kind, nan=False) if kind is float else dp.atom_domain(T=kind)


# --- randomised response on bits ------------------------------------------------------------------


def _response(f: float) -> Any:
    return dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f
    )


def bits(x: list[int], size: int, f: float = 0.5) -> NDArray[np.uint8]:
    """Draw answers of somebody whose bits are x, a whole number of bytes with a single one at most.

    Each bit is replaced with probability f by a fair coin.
    """
    measurement = _response(f)
    packed = np.packbits(np.asarray(x, np.uint8), bitorder="little").tobytes()
    drawn = b"".join(measurement(packed) for _ in range(size))
    rows = np.frombuffer(drawn, np.uint8).reshape(size, -1)
    return np.unpackbits(rows, axis=1, bitorder="little")


def bits_claim(f: float = 0.5) -> float:
    """Return epsilon of two people who may have any bits."""
    return float(_response(f).map(1))


# --- which words are frequent ---------------------------------------------------------------------


def _threshold(kind: type, scale: float, threshold: float) -> Any:
    counts = _atoms(kind)
    return dp.m.make_laplace_threshold(
        dp.map_domain(dp.atom_domain(T=str), counts),
        dp.l01inf_distance(dp.absolute_distance(T=kind)),
        scale=scale,
        threshold=kind(threshold),
    )


def _words_claim(kind: type, scale: float, threshold: float) -> Any:
    return _threshold(kind, scale, threshold).map((1, kind(1), kind(1)))


def _frequent(
    kind: type, x: dict[str, int], size: int, scale: float, threshold: float
) -> list[dict[str, Any]]:
    """Draw from a table of many copies, each with words of its own: they get independent noise."""
    measurement = _threshold(kind, scale, threshold)
    drawn: list[dict[str, Any]] = []
    while len(drawn) < size:
        copies: list[dict[str, Any]] = [{} for _ in range(min(1000, size - len(drawn)))]
        table = {f"{i} {word}": kind(x[word]) for i in range(len(copies)) for word in x}
        for key, count in measurement(table).items():
            copy, _, word = key.partition(" ")
            copies[int(copy)][word] = count
        drawn += copies
    return drawn


def frequent(
    x: dict[str, int], size: int, scale: float = 1.0, threshold: int = 5
) -> list[dict[str, int]]:
    """Draw which words have a noisy count that reaches a threshold, with these counts."""
    return _frequent(int, x, size, scale, threshold)


def frequent_epsilon(scale: float = 1.0, threshold: int = 5) -> float:
    """Return epsilon for one word more."""
    return float(_words_claim(int, scale, threshold)[0])


def frequent_delta(scale: float = 1.0, threshold: int = 5) -> float:
    """Return delta for one word more."""
    return float(_words_claim(int, scale, threshold)[1])


def frequent_reals(
    x: dict[str, int], size: int, scale: float = 1.0, threshold: int = 5
) -> list[dict[str, float]]:
    """Draw the same with noise in reals, which have next to no mass at the threshold."""
    return _frequent(float, x, size, scale, threshold)


def frequent_reals_epsilon(scale: float = 1.0, threshold: int = 5) -> float:
    """Return epsilon for one word more."""
    return float(_words_claim(float, scale, threshold)[0])


def frequent_reals_delta(scale: float = 1.0, threshold: int = 5) -> float:
    """Return delta for one word more."""
    return float(_words_claim(float, scale, threshold)[1])


# --- a line through points ------------------------------------------------------------------------


def _line(scale: float) -> Any:
    from opendp.extras.sklearn.linear_model import LinearRegression

    model = LinearRegression(
        dp.max_divergence(), [(0.0, 24.0)], (0.0, 4.0), scale=scale, candidates_count=17
    )
    return model.measurement


def line(x: list[list[float]], size: int, scale: float = 0.7) -> NDArray[np.float64]:
    """Draw slope and intercept of a line through points, rows of two entries."""
    measurement = _line(scale)
    points = np.asarray(x, float).reshape(-1, 2)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.array([measurement(points) for _ in range(size)])


def line_claim(scale: float = 0.7) -> float:
    """Return epsilon for a row more."""
    return float(_line(scale).map(1))


# --- noise ----------------------------------------------------------------------------------------


def _laplace(kind: type, scale: float) -> Any:
    return dp.m.make_laplace(_numbers(kind), dp.l1_distance(T=kind), scale)


def _gaussian(kind: type, scale: float) -> Any:
    return dp.m.make_gaussian(_numbers(kind), dp.l2_distance(T=kind), scale)


def _numbers(kind: type) -> Any:
    return dp.vector_domain(_atoms(kind))


def laplace(x: float, size: int, scale: float = 1.0) -> NDArray[np.float64]:
    """Draw x with noise: entries of a vector get independent noise, so one call has all draws."""
    return np.array(_laplace(float, scale)([float(x)] * size))


def laplace_claim(scale: float = 1.0) -> float:
    """Return epsilon for a change of 1."""
    return float(_laplace(float, scale).map(1.0))


def discrete_laplace(x: int, size: int, scale: float = 1.0) -> NDArray[np.int64]:
    """Draw x with whole noise."""
    return np.array(_laplace(int, scale)([int(x)] * size), np.int64)


def discrete_laplace_claim(scale: float = 1.0) -> float:
    """Return epsilon for a change of 1."""
    return float(_laplace(int, scale).map(1))


def gaussian(x: float, size: int, scale: float = 1.0) -> NDArray[np.float64]:
    """Draw x with noise."""
    return np.array(_gaussian(float, scale)([float(x)] * size))


def gaussian_claim(scale: float = 1.0) -> float:
    """Return rho for a change of 1."""
    return float(_gaussian(float, scale).map(1.0))


def discrete_gaussian(x: int, size: int, scale: float = 1.0) -> NDArray[np.int64]:
    """Draw x with whole noise."""
    return np.array(_gaussian(int, scale)([int(x)] * size), np.int64)


def discrete_gaussian_claim(scale: float = 1.0) -> float:
    """Return rho for a change of 1."""
    return float(_gaussian(int, scale).map(1))
