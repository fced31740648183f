"""Histogram estimators of the privacy level of a pair of inputs.

gorla2022: Algorithm 1 (pure privacy, order infinity) and Algorithm 3 (Rényi), which differ only in
what they return; Remark 2 is the same on finite outputs. Algorithms 2 and 4 run them on all pairs
of a grid of inputs: `epsilometer.estimators.base.over_pairs`.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilometer import checks
from epsilometer.checks import Count, Positive
from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.estimators import planner
from epsilometer.estimators.base import Claims, HistogramMethod, PairEstimates, check_countable
from epsilometer.numerics.arrays import Counts, Floats

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
        return self.gamma

    def planned_samples(
        self, claims: Claims, order: float, delta: float, *, as_published: bool = False
    ) -> int:
        """Return n of (7) or (16), or of their finite counterparts.

        It keeps the promise at any number of cells; ``as_published`` gives the paper's smaller n.
        """
        union = not as_published
        return planner.sample_size(delta=delta, union=union, **self._plan(claims, order))

    def confidence(self, n: int, claims: Claims, order: float) -> float:
        """Return the confidence that the error is gamma at most, at n samples of each side."""
        return max(1 - planner.failure_bound(n, **self._plan(claims, order)), 0)

    def _plan(self, claims: Claims, order: float) -> dict[str, Any]:
        """Return the arguments of the planner for finite outputs, or for smooth ones."""
        finite = claims.outcomes is not None
        needed = "smallest_probability" if finite else "lipschitz"
        if getattr(claims, needed) is None:
            raise ArgumentError(needed, "must be claimed for a guarantee")
        outputs = {"outcomes": claims.outcomes} if finite else {"width": claims.width}
        return {"gamma": self.gamma, "order": order, needed: getattr(claims, needed), **outputs}

    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Return max_j log(N_j/n) - log(M_j/n') (Algorithm 1), or (17) at a finite order.

        Counts N and M have shape ``(..., cells)``, and their totals may differ; levels of both
        directions, ``(...)``, are in nats. A failure is a NaN marked as failed. Raise
        `ArgumentError` where N and M differ in shape or have no cell.
        """
        x = np.asarray(x)
        x_prime = np.asarray(x_prime)
        if x.shape != x_prime.shape or x.ndim == 0 or x.shape[-1] == 0:
            raise ArgumentError("x_prime", f"has shape {x_prime.shape}, x has {x.shape}")
        checks.order("order", order)
        skip = self.empty_cells == "skip"
        common = (x > 0) & (x_prime > 0)
        failed = np.asarray(~(common.any(axis=-1) if skip else common.all(axis=-1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.log(x) - np.log(x.sum(axis=-1, keepdims=True))
            log_q = np.log(x_prime) - np.log(x_prime.sum(axis=-1, keepdims=True))
            forward = _level(log_p, log_q, common, order)
            reverse = _level(log_q, log_p, common, order)
        if skip:  # without the skipped cells' mass a ratio may fall below 0
            forward = np.maximum(forward, 0.0)
            reverse = np.maximum(reverse, 0.0)
        forward = np.where(failed, np.nan, forward)
        reverse = np.where(failed, np.nan, reverse)
        return PairEstimates(forward, reverse, failed)


def _level(log_p: Floats, log_q: Floats, common: np.ndarray, order: float) -> Floats:
    if math.isinf(order):
        loss: Floats = np.where(common, log_p - log_q, -np.inf).max(axis=-1)
        return loss
    terms = np.where(common, order * log_p + (1 - order) * log_q, -np.inf)
    top = terms.max(axis=-1, keepdims=True)
    total: Floats = top[..., 0] + np.log(np.exp(terms - top).sum(axis=-1))
    return total / (order - 1)
