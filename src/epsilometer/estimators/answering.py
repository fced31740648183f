"""The answers of any estimator from raw draws, in one call.

Stages of the workflow do the same in one job for each step, with a file after each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from epsilometer.densities.histogram import histogram
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims, both_ways, over_pairs, pairs_of
from epsilometer.numerics.arrays import Sample

if TYPE_CHECKING:
    from epsilometer.estimators.spectrum import Tested


@dataclass(frozen=True)
class Answer:
    """The answer for a pair of sides: levels in nats, or deltas at each claim, ``(m,)``.

    A level is NaN where the estimator fails. ``trusted`` returns whether there are enough draws for
    a bound; ``tested`` has both directions of a spectrum, for intervals.
    """

    sides: tuple[int, int]
    forward: Any
    reverse: Any
    trusted: Callable[[], bool] = lambda: True
    tested: Sequence[Tested] = ()

    @property
    def both(self) -> float:
        """The largest of both directions, and of all claims."""
        return float(np.max([self.forward, self.reverse]))


def answers(
    estimator: Any,
    sides: Iterable[Sample],
    *,
    order: float,
    pairing: Literal["all", "consecutive"] = "consecutive",
    claims: Claims | None = None,
    screen: Any = None,
    fresh: Callable[[tuple[int, int]], Sequence[Sample]] | None = None,
    region: Sequence[float] | None = None,
    rng: np.random.Generator | None = None,
    outputs: str | None = None,
) -> Iterator[Answer]:
    """Yield the answer for each pair of sides; after a screening, for the selected pair only.

    Raise `ArgumentError` where the estimator does not apply to these draws.

    Parameters
    ----------
    sides, pairing
        Samples of shape ``(n,)`` or ``(n, d)``, and their pairs; see `pairs_of`. Histograms read
        one sample at a time. Densities need as many draws of both sides of a pair: the first ones.
    screen, fresh
        For an estimator that reads evidence: the method that selects a pair, and a function that
        returns fresh samples of it.
    region
        As in `epsilometer.estimators.base.ScreeningMethod.screen`.
    rng
        For an estimator that reads verdicts or samples; of seed 0, if not given.
    outputs
        Their kind (`epsilometer.mechanisms.base.Outputs`), if the arrays do not show it: ``bits``
        or ``mixed``.
    """
    claims = claims or Claims()
    sides = iter(sides)
    first = next(sides, np.empty(0))
    estimator.check(outputs or _kind_of(first), order)
    sides = chain([first], sides)
    if estimator.reads == "histograms":
        cells = estimator.cells(claims, order)
        counts = np.stack([histogram(side, cells, claims.support)[0] for side in sides])
        for pair, levels in over_pairs(estimator, counts, claims, order, pairing).items():
            yield Answer(pair, levels.forward, levels.reverse)
        return
    samples = list(sides)
    pairs = pairs_of(len(samples), pairing)
    pair_samples = ((samples[i], samples[j]) for i, j in pairs)
    if estimator.reads == "densities":
        estimator.check_pairs(len(pairs), own_samples=pairing == "consecutive")
        for pair, both in zip(pairs, pair_samples, strict=True):
            n = min(map(len, both))
            d = reduce_pair(both[0][:n], both[1][:n], estimator.reduction)
            forward, reverse = estimator.bounds(d, order=order, n=n, pairs=len(pairs))
            yield Answer(pair, forward, reverse, partial(estimator.trusted, d, order=order, n=n))
    elif estimator.reads == "verdicts":
        for pair, both in zip(pairs, pair_samples, strict=True):
            tested = estimator.test(*both, rng or np.random.default_rng(0))
            yield Answer(pair, tested[0].delta, tested[1].delta, tested=tested)
    elif estimator.reads == "samples":
        for pair, both in zip(pairs, pair_samples, strict=True):
            ways = both_ways(estimator, *both, claims, order, rng or np.random.default_rng(0))
            yield Answer(pair, ways[0].level, ways[1].level)
    elif estimator.reads == "losses":
        _, losses = estimator.screen(pair_samples, region)
        for pair, result in zip(pairs, losses, strict=True):
            yield Answer(pair, result.loss, result.loss)
    else:
        if screen is None or fresh is None:
            raise ArgumentError("after", "must name the estimator that selects a pair")
        selected, losses = screen.screen(pair_samples, region)
        evidence = screen.weigh(*fresh(pairs[selected]), losses[selected].target)
        columns = {name: [value] for name, value in vars(evidence).items()}
        (bound,) = estimator.bound(type(evidence)(**columns))
        yield Answer(pairs[selected], bound, bound)


def _kind_of(sample: Sample) -> str:
    """Return the kind of real outputs, or of integers."""
    names = ("index", "tuple") if np.issubdtype(sample.dtype, np.integer) else ("scalar", "vector")
    return names[sample.ndim > 1]
