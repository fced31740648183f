"""Joint laws of entries: learned scores, tables of pairs, differences, and summaries of all.

A sum over the entries (`epsilometer.events.looks`) is the best score if they are
independent and draws are many. Dependence between entries, such as a correlation or a product,
needs a classifier: a logistic regression on standardised entries, their squares and products (of
many entries, the products whose means differ most). For an event it learns on one half of the past
draws; the other half evaluates its score.

A product shows a dependence between numbers whose product has another mean. Tables show any
dependence between two columns, also of words and of what is missing: each column is cut into cells,
and the pairs are taken whose tables of both sides differ by more than their columns do alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from epsilometer.events.cells import Numbers
from epsilometer.events.events import Table, View
from epsilometer.events.fine_cells import z_score
from epsilometer.events.vectors import CHECK_SUM, CORRELATION, DISTINCT, SUMMARIES, Formula, product
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import has_spread, ratio
from epsilometer.samples import Columns

PAIRED = 1024  # columns among which pairs are searched for dependence
ENTRIES = 64  # that are looked at, of more
ROWS = 10_000  # of a side that say what is alike in an output
LOOKED = 2000  # draws of either side that choose entries and differences
_FEWEST_ROWS = 100  # rows, of a regression and of a covariance
_DIGITS = 6  # of a weight
CELLS = 16  # of a column of a table
SCREENED = 4000  # draws of a side that choose pairs
_DIFFERENT = 4.0  # standard deviations, by which one pair in 30,000 differs by chance
_PAIRS = 16  # at most
_GROUPS = 6  # columns of an output that is a table, of which all pairs may be correlated

Term = tuple[int, ...]
"""The positions of the one or two factors of a product."""


def learned_score(x: Sample, x_prime: Sample, entries: Sequence[int]) -> View | None:
    """Return the score of a logistic regression; None of few rows.

    Sides have shape ``(n, d)``, NaN where a number is missing. Of the first 1,024 ``entries`` with
    numbers, the 64 are used that differ most.
    """
    if min(len(x), len(x_prime)) < _FEWEST_ROWS:
        return None
    entries = suspects(x, x_prime, entries)
    both = np.concatenate([x, x_prime])
    formula = _varying(both, entries)
    if len(formula.entries) < 2:
        return None
    columns = formula.columns(both)
    terms = _terms(columns, len(x))
    features = np.array([product(columns, factors) for factors in terms])
    means = features.mean(axis=1)
    features -= means[:, None]
    spread = np.sqrt(np.einsum("ij,ij->i", features, features) / len(both))
    varying = np.flatnonzero(has_spread(spread, np.abs(means)))
    features = features[varying] / spread[varying, None]
    weights = _weights(features.T, len(x)) / spread[varying]
    return _view(formula, [terms[i] for i in varying.tolist()], weights)


def _varying(both: Sample, entries: Sequence[int]) -> Formula:
    """Return a formula, without terms yet, of the entries that are not constant."""
    centres, scales = _spreads(both[:, list(entries)].astype(np.float64))
    varies = scales > 0
    kept = np.asarray(entries)[varies]
    return Formula(
        tuple(kept.tolist()), tuple(centres[varies].tolist()), tuple(scales[varies].tolist())
    )


def _terms(columns: Floats, first: int) -> list[Term]:
    """Return all columns, squares of those with more than two values, and products."""
    alone: list[Term] = []
    squares: list[Term] = []
    for i, column in enumerate(columns):
        alone.append((i,))
        if np.unique(column[:_FEWEST_ROWS]).size > 2:
            squares.append((i, i))
    return alone + squares + _strongest(columns, first)


def _view(formula: Formula, terms: Sequence[Term], weights: Floats) -> View:
    """Return the score of terms with weights in few digits."""
    kept = []
    for term, weight in zip(terms, weights.tolist(), strict=True):
        rounded = float(f"{weight:.{_DIGITS}g}")
        if rounded:
            kept.append((term, rounded))
    return View("learned", formula=replace(formula, terms=tuple(kept)))


def linear_score(x: Sample, x_prime: Sample, entries: Sequence[int]) -> View | None:
    """Return the sum of entries, weighted by the difference of their means; None if none vary.

    Sides have shape ``(n, d)``; few rows are enough, as no product has a weight.
    """
    formula = _varying(np.concatenate([x, x_prime]), entries)
    size = len(formula.entries)
    if size < 2:
        return None
    mean = formula.columns(x).mean(axis=1)
    mean_prime = formula.columns(x_prime).mean(axis=1)
    return _view(formula, [(i,) for i in range(size)], mean - mean_prime)


def suspects(
    x: Sample, x_prime: Sample, entries: Sequence[int], number: int = ENTRIES
) -> Sequence[int]:
    """Return so many entries whose means, alone or in products, differ most in a few draws."""
    if len(entries) <= number:
        return entries
    chosen = list(entries[:PAIRED])
    first = min(len(x), LOOKED)
    table = np.concatenate([x[:LOOKED, chosen], x_prime[:LOOKED, chosen]]).astype(np.float64)
    table[~np.isfinite(table)] = np.nan
    centre, spread = _units(table)
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.clip(np.nan_to_num(ratio(table - centre, spread)), -4, 4)
    z = _z_scores(np.column_stack([np.ones(len(table)), table]).astype(np.float32), first)
    best = np.argsort(-z[:, 1:].max(axis=0), kind="stable")[:number]
    return [chosen[i] for i in np.sort(best).tolist()]


def differences(x: Sample, x_prime: Sample, entries: Sequence[int], cells: int) -> list[View]:
    """Return the differences of nearly collinear entries.

    No product separates u from u + noise, where u is far wider. Parameters are those of
    `learned_score`. At most four differences are returned, by how far so many ``cells`` of a few
    draws differ.
    """
    chosen = list(entries[:PAIRED])
    ours = x[:LOOKED, chosen].astype(np.float64)
    theirs = x_prime[:LOOKED, chosen].astype(np.float64)
    rows = np.concatenate([ours, theirs])
    rows = rows[np.isfinite(rows).all(axis=1)]
    if len(chosen) < 2 or len(rows) < _FEWEST_ROWS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.cov(rows, rowvar=False)
        slopes = ratio(spreads, np.diagonal(spreads))
        near = np.nan_to_num(np.triu(slopes * slopes.T, 1))
    candidates = []
    for index in np.argsort(-near, axis=None)[:ENTRIES].tolist():
        i, j = divmod(index, len(chosen))
        if near[i, j] > 0.96:  # of the variance is explained by the other
            factor = float(f"{slopes[j, i]:.3g}")
            view = View("difference", chosen[j], other=chosen[i], factor=factor)
            with np.errstate(all="ignore"):  # numbers may not be finite
                difference = ours[:, j] - factor * ours[:, i]
                difference_prime = theirs[:, j] - factor * theirs[:, i]
            candidates.append((z_score(difference, difference_prime, cells), view))
    best = sorted(candidates, key=lambda pair: -pair[0])[:4]
    return [view for z_scores, view in best if z_scores > 3.0]


@np.errstate(over="ignore", invalid="ignore")  # a spread may be infinite, or NaN
def _units(columns: Floats) -> tuple[Floats, Floats]:
    """Return the centre and the spread of each column, NaN of a column without numbers.

    Where quantiles are equal, the spread is the standard deviation from them: 0 of a constant.
    """
    ordered = np.sort(columns.T, axis=1)  # NaN comes last
    there = np.count_nonzero(~np.isnan(ordered), axis=1)
    centre = _quantile(ordered, there, 0.5)
    # two standard deviations of a normal distribution
    spread = (_quantile(ordered, there, 0.84) - _quantile(ordered, there, 0.16)) / 2
    narrow = np.flatnonzero(spread == 0)
    far = columns[:, narrow] - centre[narrow]
    spread[narrow] = np.sqrt(np.nanmean(far**2, axis=0))
    return centre, spread


def _quantile(ordered: Floats, there: Counts, share: float) -> Floats:
    """Return a quantile of the first numbers of each rising row, which are ``there``."""
    last = np.maximum(there - 1, 0)
    place = share * last
    below = place.astype(np.int64)
    rows = np.arange(len(ordered))
    low = ordered[rows, below]
    high = ordered[rows, np.minimum(below + 1, last)]
    return np.asarray(low + (place - below) * (high - low))


def _spreads(columns: Floats) -> tuple[Floats, Floats]:
    """Return the centre and the spread of each column, in six digits; 0 where there is none."""
    columns = np.where(np.isfinite(columns), columns, np.nan)
    centres, scales = np.zeros((2, columns.shape[1]))
    for i, (centre, scale) in enumerate(zip(*_units(columns), strict=True)):
        if 0 < scale < math.inf:
            far = math.log10(max(abs(centre) / scale, 1.0))
            digits = max(_DIGITS, math.ceil(far) + 4)
            centres[i] = float(f"{centre:.{digits}g}")
            scales[i] = float(f"{scale:.{_DIGITS}g}")
    return centres, scales


def _strongest(columns: Floats, first: int) -> list[Term]:
    """Return pairs of columns: all of few columns, or those whose mean products differ most."""
    pairs: list[Term] = list(combinations(range(len(columns)), 2))
    if len(columns) <= 16:
        return pairs
    z = _z_scores(np.column_stack(list(columns)), first)
    pairs = [pair for pair in pairs if z[pair] > 4.0]  # others would only add noise
    pairs.sort(key=lambda pair: -z[pair])
    return sorted(pairs[:ENTRIES])


def _z_scores(table: Any, first: int) -> Floats:
    """Return z-scores of the differences of mean products of columns; float32 is twice as fast."""
    x = table[:first]
    x_prime = table[first:]
    mean = x.T @ x / len(x)
    mean_prime = x_prime.T @ x_prime / len(x_prime)
    square = (x**2).T @ x**2 / len(x)
    square_prime = (x_prime**2).T @ x_prime**2 / len(x_prime)
    spread: Floats = (square / len(x) + square_prime / len(x_prime)) ** 0.5
    return ratio(np.abs(mean - mean_prime), spread)


def _weights(features: Floats, first: int) -> Floats:
    """Return the weights of a logistic regression that separates the ``first`` rows."""
    target = np.arange(len(features)) < first
    # with a ridge penalty, and an upper bound of the Hessian: steps never overshoot
    inverse = np.linalg.inv(features.T @ features / 4 + np.eye(features.shape[1]))
    weights = np.zeros(features.shape[1])
    constant = 0.0
    for _ in range(25):
        score = np.clip(features @ weights + constant, -500, 500)
        error = target - 1 / (1 + np.exp(-score))
        step = inverse @ (features.T @ error - weights)
        weights = weights + step
        constant = constant + 4 * float(error.mean())
        if np.abs(step).max() < 0.01:
            break
    return weights


# --- tables of pairs, and summaries ---------------------------------------------------------------


def learn_tables(x: Sample, x_prime: Sample, entries: Sequence[int]) -> View | None:
    """Learn the tables of the pairs of entries that differ most; None if none does.

    Sides have shape ``(n, d)``.
    """
    columns = {}
    for entry in suspects(x, x_prime, entries):
        columns[entry] = _Column(x[:, entry], x_prime[:, entry])
    z_scores = _z_scores_of_pairs(columns)
    tables = []
    for pair in sorted(z_scores, key=z_scores.__getitem__, reverse=True)[:_PAIRS]:
        if z_scores[pair] > _DIFFERENT:
            first = columns[pair[0]]
            second = columns[pair[1]]
            counts, counts_prime = first.crossed(second)
            p = (counts + 1.0) / (counts.sum() + 1)
            q = (counts_prime + 1.0) / (counts_prime.sum() + 1)
            log_ratios = np.round(np.log(p) - np.log(q), 6)
            rows = np.reshape(log_ratios, (first.size, second.size)).tolist()
            tables.append(Table(pair, (first.starts, second.starts), tuple(map(tuple, rows))))
    if not tables:
        return None
    return View("score", tables=tuple(tables))


class _Column:
    """A column of either side, cut into cells; the last one holds what is missing."""

    def __init__(self, x: Sample, x_prime: Sample) -> None:
        cut = Numbers(x, x_prime, CELLS, View(), values=False, tails=False)
        self.starts = tuple(cut.starts.tolist())
        self.size = len(self.starts) + 2
        self.codes = [side.astype(np.int64) for side in cut.codes]

    def crossed(self, other: _Column, draws: int | None = None) -> list[Counts]:
        """Return how often each cell of the table with another column occurs, for either side.

        Both have shape ``(size * other.size,)``; they are of the first ``draws``, or of all.
        """
        counts = []
        for mine, theirs in zip(self.codes, other.codes, strict=True):
            codes = mine[:draws] * other.size + theirs[:draws]
            counts.append(np.bincount(codes, None, self.size * other.size))
        return counts

    def alone(self) -> list[Counts]:
        """Return how often each cell occurs in the screened draws of either side."""
        return [np.bincount(side[:SCREENED], None, self.size) for side in self.codes]


def _z_scores_of_pairs(columns: Mapping[int, _Column]) -> dict[tuple[int, int], float]:
    """Return by how many standard deviations the tables of pairs differ beyond their columns."""
    alone = {entry: _pearson(*column.alone()) for entry, column in columns.items()}
    z_scores = {}
    for i, j in combinations(columns, 2):
        counts, counts_prime = columns[i].crossed(columns[j], SCREENED)
        statistic, degrees = _pearson(counts, counts_prime)
        for entry in (i, j):
            of_column, degrees_of_column = alone[entry]
            statistic -= of_column
            degrees -= degrees_of_column
        z_scores[i, j] = 0.0
        if degrees > 0:
            z_scores[i, j] = (statistic - degrees) / math.sqrt(2 * degrees)
    return z_scores


def _pearson(counts: Counts, counts_prime: Counts) -> tuple[float, int]:
    """Return Pearson's statistic of equal distributions, and its degrees of freedom."""
    both = counts + counts_prime
    occurs = both > 0
    both = both[occurs]
    share = counts.sum() / both.sum()
    excess = counts[occurs] - share * both
    statistic = float((excess**2 / both).sum() / (share * (1 - share)))
    return statistic, both.size - 1


def summaries(sides: tuple[Sample, Sample], columns: Columns) -> list[View]:
    """Return summaries of the entries of sequences, arrays and tables, ``(n, d)``."""
    views = []
    for group in columns.groups:
        entries = tuple(chain.from_iterable(group))
        rows = np.concatenate([side[:ROWS, list(entries)] for side in sides])
        names = list(SUMMARIES)
        if not _repeat(rows):
            names.remove(DISTINCT)
        if not np.isin(rows[~np.isnan(rows)], range(10)).all():
            names.remove(CHECK_SUM)
        for name in names:
            views.append(View("summary", summary=name, groups=(entries,)))
        columns_of_table = list(zip(*group, strict=False))
        is_table = len(columns_of_table) * len(group) == len(entries)
        if len(group) > 2 and is_table and len(columns_of_table) <= _GROUPS:
            for pair in combinations(columns_of_table, 2):
                views.append(View("summary", summary=CORRELATION, groups=pair))
    return views


def _repeat(rows: Sample) -> bool:
    """Tell whether any row, of shape ``(d,)``, has equal entries."""
    rising = np.sort(rows, axis=1)
    return bool((rising[:, 1:] == rising[:, :-1]).any())
