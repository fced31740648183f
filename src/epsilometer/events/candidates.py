"""Candidate events: sets of cells of outputs, with the privacy level that the draws support.

`cells` makes the cells, and `choosing` chooses among their candidates. For 1,000 draws a side of
whole numbers from 0 to 2,

    cells = Numbers(x, x_prime, 64, View())
    cells.folds[0]              # counts of x, (5, 3): a row for each fifth of the draws
    cells.judged(1000, None, 1.5)  # the candidates "output >= 2", with the level it should show
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from epsilometer.events.events import Event, View
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import ratio

FOLDS = 5  # successive parts of the draws of a side
SHRINKAGES = 2.0, 16.0  # counts that are added to both sides of a cell: of many and of few draws
_LIKELIER = 1e-12  # log ratio, above which a cell is likelier in any rounding
_CAUTION = 4.0  # standard deviations, of a set
_CAUTION_LINE = 2.5  # the same of a half-line, of which there are fewer
_MORE = 0.25  # share of more caution for ten times the draws, as it costs less
_FEW_DRAWS = 1000  # up to which there is no more of it
_FRESH = 1.645  # standard deviations that a bound at 95 % subtracts on the fresh draws
_RANKS = 200  # sizes of sets that are tried
NOTHING = -math.inf

Level = Callable[[Floats, Floats], Floats]
"""The smallest privacy level at which an event may have two probabilities; it rises with the first
and falls with the second."""


@dataclass(frozen=True)
class Candidate:
    """An event, and the levels that fresh draws should show: a cautious and an optimistic estimate.

    ``sign`` is 1 if the event is likelier on x, -1 if on x'.
    """

    expected: float
    optimistic: float
    sign: int
    make_event: Callable[[], Event]


@dataclass(frozen=True, eq=False)
class _Family:
    """Sets of cells: the first ones of an ``order``, as many as each of the ``sizes``, ``(k,)``.

    ``hits`` and ``others`` are the draws in each set, ``(k,)``, on x and on x' for the ``sign`` 1,
    on x' and on x for -1. ``caution`` is a number of standard deviations.
    """

    hits: Floats
    others: Floats
    order: Counts
    sizes: Counts
    sign: int
    caution: float


class Cells(ABC):
    """Counts of both sides in cells, by fold; a set of cells is an event.

    ``folds`` are the counts of either side in each successive fifth of its draws, two of shape
    ``(5, size)``.
    """

    ordered = repeats = False
    view: View
    """The number of an output that the cells divide."""

    def __init__(self, x: Counts, x_prime: Counts) -> None:
        self.folds = x, x_prime
        self._all = x.sum(axis=0), x_prime.sum(axis=0)
        self._n = int(x.sum())
        self._m = int(x_prime.sum())

    @abstractmethod
    def event(self, cells: Counts) -> Event:
        """Return the event of some cells, whose numbers have shape ``(c,)``."""

    @abstractmethod
    def coded(self, sample: Sample) -> Counts:
        """Return the cell of other outputs, of shape ``(n,)``; ``size`` where they have none."""

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self._all[0].size)

    def judged(self, draws: int, level: Level | None, little: float) -> list[Candidate]:
        """Return the events of the largest cautious and the largest optimistic ``level``, if any.

        It is that expected from so many fresh ``draws`` a side (the log ratio of probabilities if
        no level is given). The cautious estimate subtracts several standard deviations, the
        optimistic one ``little`` of them.
        """
        families = self._likelier_cells()
        if self.ordered:
            families += self._half_lines()
        many = math.log10(max(self._n, _FEW_DRAWS) / _FEW_DRAWS)
        cautious = []
        optimistic = []
        for family in families:
            n = self._n
            m = self._m
            if family.sign < 0:
                n, m = m, n
            caution = np.array([[family.caution * (1 + _MORE * many)], [little]])
            levels = expected_level(family.hits, n, family.others, m, draws, caution, level)
            surest, boldest = levels.argmax(axis=1)
            cautious.append(self._candidate(family, levels, surest))
            optimistic.append(self._candidate(family, levels, boldest))
        if not families:
            return []
        largest = max(cautious, key=attrgetter("expected"))
        boldest = max(optimistic, key=attrgetter("optimistic"))
        return [event for event in (largest, boldest) if event.optimistic > NOTHING]

    def _candidate(self, family: _Family, levels: Floats, k: int) -> Candidate:
        """Return the set at this place of a family, whose levels have shape ``(2, sets)``."""
        expected, optimistic = levels[:, k].tolist()
        cells = family.order[: family.sizes[k]]
        return Candidate(expected, optimistic, family.sign, partial(self.event, cells))

    def _likelier_cells(self) -> list[_Family]:
        """Return sets of the first cells by shrunken log ratio, of x to x' and of x' to x.

        An order is learned on four fifths of the draws, whose last fifth counts its sets, five
        times in turn.
        """
        if self.ordered and self.size <= 2:
            return []  # they are half-lines
        families = []
        for sign in (1, -1):
            for shrinkage in SHRINKAGES:
                log_ratios, learned = self._log_ratios(shrinkage / self._n)
                likelier = int(np.count_nonzero(sign * log_ratios > _LIKELIER))
                if likelier:
                    order = np.argsort(-sign * log_ratios, kind="stable")
                    orders = np.argsort(-sign * learned, axis=1, kind="stable")
                    ours, theirs = self.folds[::sign]
                    sizes = _ranks(likelier)
                    hits = _in_first_cells(ours, orders, sizes)
                    others = _in_first_cells(theirs, orders, sizes)
                    families.append(_Family(hits, others, order, sizes, sign, _CAUTION))
        return families

    def _log_ratios(self, more: float) -> tuple[Floats, Floats]:
        """Return log ratios of shares in cells, ``(size,)``, and without each fifth, ``(5, size)``.

        Shares are larger by ``more``.
        """
        logs = []
        logs_of_others = []
        for side, folds in zip(self._all, self.folds, strict=True):
            logs.append(np.log(side / side.sum() + more))
            others = side - folds
            shares = ratio(others, others.sum(axis=1, keepdims=True))
            logs_of_others.append(np.log(shares + more))
        return logs[0] - logs[1], logs_of_others[0] - logs_of_others[1]

    def _half_lines(self) -> list[_Family]:
        """Return all half-lines from the left, and from the right, for either side."""
        families = []
        left = np.arange(self.size)
        sizes = np.arange(1, self.size)
        for order in (left, left[::-1]):
            of_x = np.cumsum(self._all[0][order])[:-1].astype(float)
            of_x_prime = np.cumsum(self._all[1][order])[:-1].astype(float)
            families.append(_Family(of_x, of_x_prime, order, sizes, 1, _CAUTION_LINE))
            families.append(_Family(of_x_prime, of_x, order, sizes, -1, _CAUTION_LINE))
        return families


def _in_first_cells(folds: Counts, orders: Counts, sizes: Counts) -> Floats:
    """Return the draws in the first cells, ``(k,)``, by sizes; each fifth has an order of its own.

    ``folds`` and ``orders`` have shape ``(5, size)``.
    """
    counts = np.take_along_axis(folds, orders, axis=1)
    first = counts.cumsum(axis=1).sum(axis=0)
    return np.asarray(first[sizes - 1], np.float64)


def fifths(size: int) -> list[slice]:
    """Return the successive fifths of so many draws."""
    ends = [-(-size * i // FOLDS) for i in range(FOLDS + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def deviations(ours: Counts, theirs: Counts) -> tuple[Floats, Floats, Counts]:
    """Return the terms of Pearson's test of equal distributions, for each row of counts ``(k, c)``.

    These are the excess of ``ours`` over the expected counts, and its variances, both ``(k, c)``;
    and the degrees of freedom of each row, ``(k,)``.
    """
    n = ours.sum(axis=1, keepdims=True)
    m = theirs.sum(axis=1, keepdims=True)
    both = (n > 0) & (m > 0)
    times = np.where(both, ours + theirs, 0)
    share = ratio(n, n + m)
    share_prime = ratio(m, n + m)
    excess = np.where(both, ours - times * share, 0.0)
    return excess, times * share * share_prime, (times > 0).sum(axis=1) - both[:, 0]


def _ranks(most: int) -> Counts:
    """Return the sizes of sets that are tried: all, or the small ones close together."""
    if most <= 2 * _RANKS:
        return np.arange(1, most + 1)
    spread = np.concatenate([np.geomspace(1, most, _RANKS), np.linspace(1, most, _RANKS)])
    return np.unique(spread.round().astype(np.int64))


def expected_level(
    hits: Floats,
    n: Any,
    others: Floats,
    m: Any,
    draws: Any,
    caution: Any,
    level: Level | None = None,
) -> Floats:
    """Return the level of two estimated probabilities less the errors of past and fresh draws.

    Both errors are those of Wilson's limits, which also hold for very small counts. There are
    ``hits`` of ``n`` and ``others`` of ``m`` draws; they and ``caution`` broadcast to the shape of
    the result.
    """
    level = level or _log_ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        p = hits / n
        q = (others + 0.5) / (m + 1)
        shown = level(p, q)
        less = _wilson(p, n, -caution)  # what past draws leave open
        more = _wilson(q, m, caution)
        low = _wilson(less, draws, -_FRESH)
        high = np.minimum(_wilson(more, draws, _FRESH), 1.0)
        error = shown - level(low, q)
        error_prime = shown - level(p, high)
        expected = shown - np.sqrt(error**2 + error_prime**2)
        return np.where((hits > 0) & np.isfinite(expected), expected, NOTHING)


def _log_ratio(p: Floats, q: Floats) -> Floats:
    return np.asarray(np.log(p / q))


def _wilson(share: Floats, n: Any, z: Any) -> Floats:
    """Return Wilson's limit of a probability, z standard deviations above the observed share."""
    spread = np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.asarray((share + z**2 / (2 * n) + z * spread) / (1 + z**2 / n))
