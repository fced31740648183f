"""The safety check on a claimed Lipschitz constant (gorla2022, Theorem 3).

If the densities are C-Lipschitz, neighbouring cells of both histograms differ by at most
2 c + C w^2 in frequency, all of them at once, with probability at least 1 - 8 m exp(-n c^2 / 3).
A share of runs that pass significantly below that speaks against the claim.

The paper's proof uses a multiplicative Chernoff bound, which asks for c <= p_j; Hoeffding's
inequality gives exp(-2 n c^2) for any c, so the theorem holds as stated for every c > 0.
"""

from dataclasses import dataclass

import numpy as np

from epsilometer.checks import Fractional, Positive, Several
from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.estimators.base import (
    Claims,
    HistogramMethod,
    PairEstimates,
    check_countable,
    check_pure,
)
from epsilometer.numerics.arrays import Counts


@dataclass(frozen=True)
class SafetyCheck(HistogramMethod):
    """Answers 1 where event (9) holds and 0 where it does not, with c = C w^2 / 2.

    Parameters
    ----------
    gamma
        The precision, in nats, that sets the number of cells through (6).
    lipschitz
        The C under test, as in `Claims`; the provider's claim if not given.
    cells_given
        m, instead of the one from C.
    probability
        The lower bound of Theorem 3 that the planned n must reach.

    Ten cells on [0, 1] whose frequencies jump by .4 are not those of a density with C = 1:

    >>> even, jump = np.full(10, 100), np.array([500] + 9 * [55])
    >>> claims = Claims(support=(0.0, 1.0), lipschitz=1.0)
    >>> SafetyCheck(gamma=0.5, cells_given=10).estimate(even, even, claims, np.inf).both.item()
    1.0
    >>> SafetyCheck(gamma=0.5, cells_given=10).estimate(even, jump, claims, np.inf).both.item()
    0.0
    """

    gamma: Positive
    lipschitz: Positive | None = None
    cells_given: Several | None = None
    probability: Fractional = 0.9

    def _constant(self, claims: Claims) -> float:
        constant = self.lipschitz if self.lipschitz is not None else claims.lipschitz
        if constant is None:
            raise ArgumentError("lipschitz", "must be claimed or given to be checked")
        return constant

    def check(self, outputs: str, order: float) -> None:
        check_countable(outputs)
        check_pure(order, "the safety check has no order")

    def cells(self, claims: Claims, order: float) -> int:
        """Return m of (6) for the constant under test, unless given."""
        width = claims.width
        if self.cells_given is not None:
            return self.cells_given
        cells = planner.histogram_cells(
            gamma=self.gamma, lipschitz=self._constant(claims), width=width
        )
        if cells < 2:
            raise ArgumentError("gamma", "asks for one cell, which has no neighbour to check")
        return cells

    def planned_samples(
        self, claims: Claims, order: float, delta: float, *, as_published: bool = False
    ) -> int:
        """Return n of (7), or more where Theorem 3 needs more to promise ``probability``.

        ``as_published`` takes the paper's n of (7), without the union over cells.
        """
        outputs = {"lipschitz": self._constant(claims), "width": claims.width}
        cells = self.cells(claims, order)
        slack = planner.safety_slack(cells=cells, **outputs)
        return max(
            planner.sample_size(gamma=self.gamma, delta=delta, union=not as_published, **outputs),
            planner.safety_sample_size(slack=slack, cells=cells, probability=self.probability),
        )

    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Return 1.0 where both histograms pass, else 0.0; it never fails."""
        width = claims.width / x.shape[-1]
        constant = self._constant(claims)
        slack = planner.safety_slack(lipschitz=constant, cells=x.shape[-1], width=claims.width)
        allowed = 2 * slack + constant * width**2
        shares = [counts / counts.sum(axis=-1, keepdims=True) for counts in (x, x_prime)]
        steps = np.abs(np.diff(shares, axis=-1))  # of either side, between neighbours (9)
        passed = np.asarray((steps <= allowed).all(axis=(0, -1)), float)
        return PairEstimates(passed, passed, np.zeros(passed.shape, bool))
