"""Whether audits find the levels that verdicts print: `python -m tests.benchmarks.detectable`.

A cell is a claim, a form of outputs and the probability of an event on the less likely side. One of
its pairs has exactly the level that a verdict prints as detectable; of the others the event is as
likely on both sides. Audits of 120 seeds find it with probability .9. A third of them are repeated
at .9, .8, ... of its excess over the claim, down to the last level that .9 of them still find.
The command ends with 1 if a level is found in fewer than .9 of the audits by more than chance, or
if the median of the last level over the printed one is below .8: that would be too cautious.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer.claims import AnyClaim, Claim
from epsilometer.events.scores import CELLS as SIZE
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics.power import POWER, _event, detectable
from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule

ALPHA, CHANCE, LEAST = 0.05, 1e-3, 0.8
PARTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)  # of the excess of a printed level over the claim
WORDS = np.array([f"w{i}" for i in range(SIZE)])

Outputs = Callable[[Any, np.random.Generator], Any]
"""Outputs of which these, true or false, lie in the event."""


def value(inside: Any, rng: np.random.Generator) -> Any:
    """One value among reals."""
    return np.where(inside, 0.3, rng.laplace(0, 1, inside.size))


def whole(inside: Any, rng: np.random.Generator) -> Any:
    """One of whole numbers, of which others are about as frequent."""
    others = np.rint(rng.laplace(0, 20, inside.size)).astype(int)
    return np.where(inside, 3, np.where(others == 3, 4, others))


def outermost(inside: Any, rng: np.random.Generator) -> Any:
    """Reals beyond an end."""
    return 2 + np.where(inside, 1, -1) * rng.exponential(1, inside.size)


def word(inside: Any, rng: np.random.Generator) -> Any:
    """One of many words."""
    return np.where(inside, "w15", WORDS[rng.integers(0, SIZE - 1, inside.size)]).tolist()


def entry(inside: Any, rng: np.random.Generator) -> Any:
    """A range of one of ten entries."""
    others = rng.normal(0, 1, (inside.size, 9))
    return np.insert(others, 4, outermost(inside, rng), axis=1)


def row(inside: Any, rng: np.random.Generator) -> Any:
    """A row of whole numbers; each of its entries is as likely outside."""
    entries = rng.integers(0, 5, (inside.size, 3))
    entries[(entries == 2).all(axis=1), 0] = 1
    return np.where(inside[:, None], 2, entries)


def corner(inside: Any, rng: np.random.Generator) -> Any:
    """Two of six reals that are both large."""
    numbers = rng.random((inside.size, 6))
    while (wrong := ~inside & (numbers[:, :2] > 2 / 3).all(axis=1)).any():
        numbers[wrong, :2] = rng.random((np.count_nonzero(wrong), 2))
    numbers[inside, :2] = (2 + numbers[inside, :2]) / 3
    return numbers


def cells(inside: Any, rng: np.random.Generator, band: int) -> tuple[Any, Any]:
    """Return cells of two columns: bands along the diagonal, of which some are the event.

    Each column alone has the same law on both sides.
    """
    of, other = rng.integers(0, band, inside.size), rng.integers(band, SIZE, inside.size)
    chosen = np.where(inside, of, other)
    first = rng.integers(0, SIZE, inside.size)
    return first, (STRIPES[chosen] - first) % SIZE


# a checkerboard where half of the bands are the event
STRIPES = np.concatenate([np.arange(0, SIZE, 2), np.arange(1, SIZE, 2)])


def two_words(inside: Any, rng: np.random.Generator) -> Any:
    """Cells of two columns of words."""
    return [*zip(*(WORDS[side].tolist() for side in cells(inside, rng, 2)), strict=True)]


def two_reals(inside: Any, rng: np.random.Generator) -> Any:
    """A checkerboard of two columns of reals."""
    return np.stack(cells(inside, rng, SIZE // 2), axis=1) + rng.random((inside.size, 2))


@dataclass(frozen=True)
class Cell:
    """A claim, outputs, their number, and the event."""

    claim: AnyClaim
    outputs: Outputs
    samples: int
    event: float
    joint: bool = False
    pairs: int = 1

    @property
    def first(self) -> Claim:
        """The part of the claim that verdicts are about."""
        return self.claim.parts[0]

    @property
    def printed(self) -> float:
        """The level that a verdict prints."""
        alpha = share_of(ALPHA, len(self.claim.parts))
        steps, of = schedule(self.samples, self.pairs), {"event": self.event, "joint": self.joint}
        level = detectable(self.first, steps, alpha=alpha, **of)  # type: ignore[arg-type]
        assert level is not None
        return level


CELLS = [
    Cell(ea.pure(1.0), value, 20_000, 0.01),
    Cell(ea.pure(0.1), whole, 20_000, 0.1),
    Cell(ea.gdp(1.0), outermost, 5_000, 0.1),
    Cell(ea.profile({1.0: 1e-3, 2.0: 1e-4}), word, 10_000, 0.5),
    Cell(ea.renyi({2: 0.5}), word, 5_000, 0.1),
    Cell(ea.zcdp(0.5), outermost, 10_000, 0.001),
    Cell(ea.pure(1.0), entry, 4_000, 0.1),
    Cell(ea.pure(1.0), row, 10_000, 0.01),
    Cell(ea.pure(1.0), word, 20_000, 0.01, pairs=10),
    Cell(ea.gdp(1.0), two_words, 20_000, 0.1, joint=True),
    Cell(ea.pure(1.0), two_reals, 20_000, 0.5, joint=True),
    Cell(ea.approximate(1.0, 1e-3), corner, 20_000, 0.1, joint=True),
]


def found(cell: Cell, level: float, seed: int) -> bool:
    """Tell whether an audit of a mechanism of this level refutes the claim."""
    rng = np.random.default_rng([CELLS.index(cell), seed])
    p, q = (float(each[0]) for each in _event(cell.first, np.array([level]), cell.event))
    bad, likelier = int(rng.integers(cell.pairs)), seed % 2

    def draw(sides: Any, size: int) -> Any:
        shares = [p if (pair, side) == (bad, likelier) else q for pair, side in sides]
        return [cell.outputs(rng.random(size) < share, rng) for share in shares]

    evidence = Evidence(cell.claim, cell.pairs, ALPHA)
    return run_rounds(
        draw, schedule(cell.samples, cell.pairs), evidence, Evidence.refuted
    ).refuted()


def main() -> int:
    """Print a row for each cell; return 1 if the promise is not kept."""
    chosen = parsed(__doc__, runs=120)
    head("claim|outputs|pairs|draws|event|printed|found|last level found|of the printed one")
    missed, ratios, fewer = 0, [], chosen.runs // 3
    with ProcessPoolExecutor(chosen.cores) as pool:
        for cell in (cell for cell in CELLS if chosen.only in cell.claim.text()):
            printed, claimed = cell.printed, cell.first.level
            hits = sum(pool.map(partial(found, cell, printed), range(chosen.runs), chunksize=5))
            missed += binom.cdf(hits, chosen.runs, POWER) < CHANCE
            last = printed
            for part in PARTS:
                level = claimed + part * (printed - claimed)
                if sum(pool.map(partial(found, cell, level), range(fewer))) < POWER * fewer:
                    break
                last = level
            ratios.append(last / printed)
            name = cell.outputs.__doc__ or ""
            about = cell.claim.text(), name.rstrip("."), cell.pairs, cell.samples, cell.event
            line(*about, printed, hits / chosen.runs, last, ratios[-1])
    return int(missed > 0 or float(np.median(ratios)) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
