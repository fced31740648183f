"""Histogram estimators of the privacy level of a pair of inputs.

gorla2022: Algorithm 1 (pure privacy, order infinity) and Algorithm 3 (Rényi), which differ only in
what they return; Remark 2 is the same on finite outputs. Algorithms 2 and 4 run them on all pairs
of a grid of inputs: `epsilometer.estimators.base.over_pairs` and `maximum`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Counts, Floats
from epsilometer.checks import Count, Positive
from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.estimators import planner
from epsilometer.estimators.base import Claims, HistogramMethod, PairEstimates, check_countable

MOST_CELLS = 10**7  # above it, a histogram is larger than its sample


@dataclass(frozen=True)
class HistogramEstimator(HistogramMethod):
    """Log ratios of cell frequencies (gorla2022, Algorithms 1 and 3).

    Its precision has a guarantee at the planned n.

    Parameters
    ----------
    gamma
        The precision, in nats; it sets the number of cells.
    unguaranteed_cells
        The number of cells where the claimed C is not below 2/W^2 and no theorem gives one. Without
        it such a mechanism is an error.
    empty_cells
        ``fail`` as in the paper: an empty cell on either side makes the estimate fail; ``skip``:
        only cells that both sides hit count, and levels are 0 or above. Outputs of one side only
        are then overlooked, so the level is below the mechanism's.

    The paper's plan for epsilon = 1 at precision .5, and an estimate in both directions:

    >>> claims = Claims(support=(0.0, 1.0), lipschitz=1.58198)
    >>> HistogramEstimator(gamma=0.5).cells(claims, math.inf)
    91
    >>> result = HistogramEstimator(gamma=0.5).estimate(
    ...     np.array([60, 30, 10]), np.array([30, 30, 40]), Claims(outcomes=3), math.inf
    ... )
    >>> float(result.forward.round(3)), float(result.reverse.round(3)), bool(result.failed)
    (0.693, 1.386, False)
    """

    gamma: Positive
    unguaranteed_cells: Count | None = None
    empty_cells: Literal["fail", "skip"] = "fail"

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        check_countable(outputs)

    def cells(self, claims: Claims, order: float) -> int:
        """Return m of (6) or (15), or the number of outcomes.

        Raise `NoGuaranteeError` where C is too large for them and ``unguaranteed_cells`` is not
        given, and `ArgumentError` for more than `MOST_CELLS`.
        """
        if claims.outcomes is not None:
            return claims.outcomes
        if claims.lipschitz is None:
            raise ArgumentError("lipschitz", "must be claimed to choose the number of cells")
        try:
            cells = planner.histogram_cells(
                gamma=self.gamma, lipschitz=claims.lipschitz, width=claims.width, order=order
            )
        except NoGuaranteeError:
            if self.unguaranteed_cells is None:
                raise
            return self.unguaranteed_cells
        if cells > MOST_CELLS:
            raise ArgumentError("gamma", f"asks for {cells:.3g} cells, more than {MOST_CELLS:g}")
        return cells

    @property
    def precision(self) -> float:
        """The error that counts as a success."""
        return self.gamma

    def planned_samples(
        self, claims: Claims, order: float, delta: float, *, as_published: bool = False
    ) -> int:
        """Return n of (7) or (16), or of their finite counterparts.

        It keeps the promise at any number of cells; ``as_published`` gives the paper's smaller n.
        """
        goal = {"delta": delta, "order": order, "union": not as_published}
        return int(self._of(claims, planner.finite_sample_size, planner.sample_size, goal))

    def confidence(self, n: int, claims: Claims, order: float) -> float:
        """Return the confidence that the error is gamma at most, at n samples of each side."""
        goal = {"n": n, "order": order}
        return max(
            1 - self._of(claims, planner.finite_failure_bound, planner.failure_bound, goal), 0
        )

    def _of(
        self,
        claims: Claims,
        finite: Callable[..., float],
        smooth: Callable[..., float],
        goal: Mapping[str, Any],
    ) -> float:
        """Return the answer of the planner's function for finite outputs, or for smooth ones."""
        if claims.outcomes is not None:
            if claims.smallest_probability is None:
                raise ArgumentError("smallest_probability", "must be claimed for a guarantee")
            return finite(
                gamma=self.gamma,
                outcomes=claims.outcomes,
                smallest_probability=claims.smallest_probability,
                **goal,
            )
        if claims.lipschitz is None:
            raise ArgumentError("lipschitz", "must be claimed for a guarantee")
        return smooth(gamma=self.gamma, lipschitz=claims.lipschitz, width=claims.width, **goal)

    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Return both directions for histograms of shape ``(..., cells)``."""
        return histogram_estimate(x, x_prime, order=order, empty_cells=self.empty_cells)


def histogram_estimate(
    x: Counts,
    x_prime: Counts,
    *,
    order: float = math.inf,
    empty_cells: Literal["fail", "skip"] = "fail",
) -> PairEstimates:
    """Estimate the privacy level from two histograms over the same cells.

    ``x`` and ``x_prime`` are counts N and M of shape ``(..., cells)``; their totals may differ. See
    `HistogramEstimator` for ``empty_cells``. Raise `ArgumentError` where they differ in shape or
    have no cell.

    Returns
    -------
    max_j log(N_j/n) - log(M_j/n') (Algorithm 1), or (17) at a finite order, in both directions and
    nats, of shape ``(...)``. A failure is a NaN marked as failed, not an exception.

    >>> float(histogram_estimate(np.array([3, 1]), np.array([1, 3])).forward.round(4))
    1.0986
    """
    x, x_prime = np.asarray(x), np.asarray(x_prime)
    if x.shape != x_prime.shape or x.ndim == 0 or x.shape[-1] == 0:
        raise ArgumentError("x_prime", f"has shape {x_prime.shape}, x has {x.shape}")
    checks.order("order", order)
    common = (x > 0) & (x_prime > 0)
    enough = common.all(axis=-1) if empty_cells == "fail" else common.any(axis=-1)
    failed = np.asarray(~enough)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(x) - np.log(x.sum(axis=-1, keepdims=True))
        log_q = np.log(x_prime) - np.log(x_prime.sum(axis=-1, keepdims=True))
        forward = _level(log_p, log_q, common, order)
        reverse = _level(log_q, log_p, common, order)
    if empty_cells == "skip":  # without the skipped cells' mass a ratio may fall below 0
        forward, reverse = np.maximum(forward, 0.0), np.maximum(reverse, 0.0)
    return PairEstimates(
        np.where(failed, np.nan, forward), np.where(failed, np.nan, reverse), failed
    )


def _level(log_p: Floats, log_q: Floats, common: np.ndarray, order: float) -> Floats:
    if math.isinf(order):
        loss: Floats = np.where(common, log_p - log_q, -np.inf).max(axis=-1)
        return loss
    terms = np.where(common, order * log_p + (1 - order) * log_q, -np.inf)
    top = terms.max(axis=-1, keepdims=True)
    total: Floats = top[..., 0] + np.log(np.exp(terms - top).sum(axis=-1))
    return total / (order - 1)
