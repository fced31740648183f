"""Scores that a classifier learns: what several entries say together.

The score that adds up over the entries (`epsilometer.estimators.witness`) is the best there is
where these are independent and draws are many. What lies in how they go together, a correlation, a
product, a direction among many, takes a classifier: scikit-learn's logistic regression, where it is
installed, on entries in units of their spread with their squares and products. It learns on one
half of the past, and what its score is worth is judged on the other.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.estimators.candidates import Numbers
from epsilometer.estimators.events import View
from epsilometer.estimators.formula import Formula, product, standardised

Floats = NDArray[np.float64]
Sample = NDArray[Any]

_ROWS = 20_000  # of either side, that are learned from
_FEWEST = 100
_ENTRIES = 64
_WITH_PRODUCTS = 16  # entries of which all products are looked at
_DIGITS = 6
_SPREAD = (0.16, 0.84)  # quantiles, two standard deviations of a normal law apart


def learned_scores(
    x: Sample, x_prime: Sample, entries: Sequence[int], cells: int
) -> Iterator[Numbers]:
    """Yield the cells of a score that tells the sides apart, if one can be learned.

    Parameters
    ----------
    x, x_prime
        Both sides, of shape ``(n, d)``, NaN where there is no number.
    entries
        Those that hold numbers, of which the first 64 are looked at.
    cells
        How many cells quantiles of the score make.
    """
    halves = len(x) // 2, len(x_prime) // 2
    if len(entries) < 2 or min(halves) < _FEWEST:
        return
    formula = _learned(x[: halves[0]][:_ROWS], x_prime[: halves[1]][:_ROWS], entries[:_ENTRIES])
    if formula is not None:
        total, total_prime = formula.of(x[halves[0] :]), formula.of(x_prime[halves[1] :])
        view = View("learned", formula=formula)
        yield Numbers(total, total_prime, cells, view, values=False, fine=True)


def _learned(x: Sample, x_prime: Sample, entries: Sequence[int]) -> Formula | None:
    """Return what a logistic regression makes of two samples; None without scikit-learn."""
    both = np.concatenate([x, x_prime])
    centres, scales = _spreads(both[:, list(entries)].astype(np.float64))
    kept = np.flatnonzero(scales > 0)
    if kept.size < 2:
        return None
    chosen = tuple(entries[i] for i in kept.tolist())
    columns = standardised(both, chosen, centres[kept].tolist(), scales[kept].tolist())
    terms: list[tuple[int, ...]] = [(i,) for i in range(kept.size)]
    terms += [(i, i) for i in range(kept.size) if np.unique(columns[i][:_FEWEST]).size > 2]
    if kept.size <= _WITH_PRODUCTS:
        terms += combinations(range(kept.size), 2)
    features = np.column_stack([product(columns, factors) for factors in terms])
    spread = features.std(axis=0)
    terms = [term for term, s in zip(terms, spread, strict=True) if s > 0]
    features, spread = features[:, spread > 0], spread[spread > 0]
    weights = _weights((features - features.mean(axis=0)) / spread, len(x))
    if weights is None:
        return None
    rounded = [float(f"{w:.{_DIGITS}g}") for w in (weights / spread).tolist()]
    return Formula(
        chosen,
        tuple(centres[kept].tolist()),
        tuple(scales[kept].tolist()),
        tuple((term, weight) for term, weight in zip(terms, rounded, strict=True) if weight),
    )


def _spreads(columns: Floats) -> tuple[Floats, Floats]:
    """Return the centre and the spread of each column, in few digits; 0 where it is constant."""
    columns = np.where(np.isfinite(columns), columns, np.nan)
    centres, scales = np.zeros((2, columns.shape[1]))
    for i, column in enumerate(columns.T):
        numbers = column[~np.isnan(column)]
        if numbers.size:
            low, centre, high = np.quantile(numbers, (_SPREAD[0], 0.5, _SPREAD[1]))
            scale = (high - low) / 2 or numbers.std()
            centres[i], scales[i] = (float(f"{value:.{_DIGITS}g}") for value in (centre, scale))
    return centres, scales


def _weights(features: Floats, first: int) -> Floats | None:
    """Return the weights of features by which the ``first`` rows are told from the others."""
    try:
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits
    except ImportError:
        return None
    labels = np.arange(len(features)) < first
    with contextlib.ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))  # the same sums in the same order
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # a score that has not converged is a score
        fitted = LogisticRegression(C=1.0, tol=1e-4, max_iter=100).fit(features, labels)
    return np.asarray(fitted.coef_[0], np.float64)
