"""Candidate events: the best sets of cells, one by one, and the levels that they should show."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from epsilometer.claims import Delta, Pure
from epsilometer.events.candidates import (
    FOLDS,
    Cells,
    _ranks,
    deviations,
    expected_level,
    fifths,
)

INF = math.inf


def test_an_event_that_is_rarer_on_the_other_side_promises_more():
    """None of its draws is better than two: of impossible events nothing is given away."""
    others = np.arange(200.0)
    levels = expected_level(np.full(200, 300.0), 1000, others, 1000, 1000, 2.5)
    assert (np.diff(levels) < 0).all()


@pytest.mark.parametrize("level", [None, Pure(1.0).of, Delta(0.5, 0.2).of])
def test_an_event_without_a_draw_promises_nothing(level):
    others = np.arange(200.0)
    assert (expected_level(0 * others, 1000, others, 1000, 1000, 2.5, level) == -INF).all()


@pytest.mark.parametrize("size", [1, 7, 100])
def test_fifths_hold_every_draw_once(size):
    every = np.arange(size)
    parts = [every[part] for part in fifths(size)]
    assert len(parts) == FOLDS
    assert np.ptp([*map(len, parts)]) <= 1
    assert np.concatenate(parts).tolist() == every.tolist()


def wilson(share, n, z):
    """Return the root p of (share - p)^2 = z^2 p (1 - p) / n on the side of z."""
    roots = np.roots([1 + z**2 / n, -2 * share - z**2 / n, share**2]).real
    return max(roots) if z > 0 else min(roots)


def plain_level(hits, n, others, m, draws, caution, level):
    """Return the level of shares, less what past and fresh draws leave open of both."""
    p, q = hits / n, (others + 0.5) / (m + 1)
    low = wilson(wilson(p, n, -caution), draws, -1.645)
    high = min(wilson(wilson(q, m, caution), draws, 1.645), 1.0)
    shown = level(p, q)
    if math.isinf(shown):  # no level has so large a delta
        return -INF
    return shown - math.hypot(shown - level(low, q), shown - level(p, high))


def likelier_first(folds, sign, more):
    """Return cells in the order of their log ratios, and how many are likelier."""
    p, q = (np.sum(side, axis=0) / np.sum(side) for side in folds)
    ratios = sign * np.log((p + more) / (q + more))
    return np.argsort(-ratios, kind="stable"), np.count_nonzero(ratios > 1e-9)


def plain_sets(folds, ordered):
    """Yield sets of cells: their draws on the likelier and the other side, sign and caution."""
    size = folds[0].shape[1]
    for sign, shrinkage in product((1, -1), (2, 16)):
        more = shrinkage / folds[0].sum()
        order, likelier = likelier_first(folds, sign, more)
        for number in range(1, likelier + 1):
            hits = np.zeros(2)
            for k in range(FOLDS):
                others = [np.delete(side, k, axis=0) for side in folds]
                first = likelier_first(others, sign, more)[0][:number]
                hits += [side[k, first].sum() for side in folds]
            yield hits[::sign], sign, 4.0, order[:number]
    for number, sign in product(range(1, size) if ordered else (), (1, -1)):
        for cells in (range(number), range(size - number, size)):
            yield [side[:, cells].sum() for side in folds][::sign], sign, 2.5, cells


class Plain(Cells):
    """Cells whose events are the cells themselves."""

    coded = None

    def __init__(self, folds, ordered):
        super().__init__(*folds)
        self.ordered = ordered

    def event(self, cells):
        return sorted(cells)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("level", [None, Pure(0.3, 0.05).of])
@pytest.mark.parametrize(("size", "most"), [(2, 30), (3, 900), (5, 30), (5, 900)])
def test_the_best_events_are_those_of_all_sets_one_by_one(ordered, level, size, most):
    """A set of likelier cells is counted on the fifths of the draws that did not choose it."""
    rng = np.random.default_rng(size)
    folds = rng.integers(1, most, (5, size)), rng.integers(1, most // 2, (5, size))
    folds[0][:, 1] *= 20  # in the middle, where no half-line ends
    draws = [int(side.sum()) for side in folds]
    more = 1 + 0.25 * math.log10(max(draws[0], 1000) / 1000)
    cautious, bold = [], []
    for (hits, others), sign, caution, cells in plain_sets(folds, ordered):
        n, m = draws[::sign]
        for found, away in ((cautious, caution * more), (bold, 1.5)):
            of = level or (lambda p, q: math.log(p / q))
            shown = plain_level(hits, n, others, m, 700, away, of)
            found.append((shown, sign, sorted(cells)))
    cells = Plain(folds, ordered)
    surest, boldest = cells.judged(700, level, 1.5)
    expected = max(cautious, key=lambda each: each[0])
    assert surest.expected == pytest.approx(expected[0])
    assert (surest.sign, surest.make_event()) == expected[1:]
    expected = max(bold, key=lambda each: each[0])
    assert boldest.optimistic == pytest.approx(expected[0])
    assert (boldest.sign, boldest.make_event()) == expected[1:]
    assert cells.judged(700, lambda p, q: -INF * (p + q), 1.5) == []


def test_log_ratios_are_of_shares_of_all_draws_and_of_four_fifths_of_them():
    folds = np.random.default_rng(4).integers(1, 30, (2, 5, 6))
    of_all, of_others = Plain(folds, ordered=True)._log_ratios(0.05)
    shares = [side.sum(axis=0) / side.sum() + 0.05 for side in folds]
    assert of_all == pytest.approx(np.log(shares[0] / shares[1]))
    for fifth in range(5):
        rest = [np.delete(side, fifth, axis=0) for side in folds]
        shares = [side.sum(axis=0) / side.sum() + 0.05 for side in rest]
        assert of_others[fifth] == pytest.approx(np.log(shares[0] / shares[1]))


def test_of_many_sets_the_small_ones_and_some_of_every_size_are_tried():
    assert _ranks(400).tolist() == list(range(1, 401))
    assert _ranks(800).size <= 400
    sizes = _ranks(5000)
    assert sizes[:20].tolist() == list(range(1, 21))
    assert sizes[-1] == 5000
    assert np.diff(sizes).max() <= 5000 / 199 + 1


def test_cells_are_compared_as_pearson_does():
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 4, (2, 6, 5))
    theirs[4] = ours[5] = 0  # nothing to compare
    excess, variance, free = deviations(ours, theirs)
    for i in range(4):
        there = ours[i] + theirs[i] > 0
        pearson = chi2_contingency([ours[i, there], theirs[i, there]], correction=False)
        squares = excess[i, there] ** 2 / variance[i, there]
        assert squares.sum() == pytest.approx(pearson.statistic)
        assert free[i] == pearson.dof
    assert not excess[4:].any()
    assert not variance[4:].any()
    assert not free[4:].any()
