"""What each family of looks, summaries, predictors and scores is worth, by leaving it out.

`python -m tests.benchmarks.ablation` takes some twenty minutes; `--only low` leaves out families
with this text in their name. A family pays if without it some bounds of all draws fall by 3 %, some
claims are no longer refuted, or the draws until a refutation rise.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.benchmarks import seen
from tests.benchmarks.scripts import Mechanism, Rng, gaussian, head, laplace, line, parsed
from tests.unit.epsilometer_audit.test_hidden_leaks import CLAIM, HIDDEN

import epsilometer_audit as ea
from epsilometer.events.looks import FAMILIES
from epsilometer.events.vectors import SUMMARIES
from epsilometer_audit.question.claims import AnyClaim
from epsilometer_audit.statistics import portfolio, predictors

FALL, DRAWS = 0.97, 3000
PREDICTORS = "families", "tree", "histogram", "spikes"
MIXTURES = "DISCRETE", "ATOMS", "DENSE", "SCORES"
SCORES = "linear", "sum", "steps", "signs", "learned"
Result = tuple[float, bool, int]  # the bound, whether it refutes, the draws until then


def three_of_six(x: int, size: int, rng: Rng) -> Any:  # only whole rows show the parity
    bits = rng.integers(2, size=(size, 6))
    bits[:, 4] = (bits[:, 0] + bits[:, 2] + (rng.random(size) < (0.15, 0.85)[x])) % 2
    return bits


def on_a_line(x: int, size: int, rng: Rng) -> Any:  # only a difference shows the noise
    wide, others = rng.normal(0, 1e6, size), rng.normal(0, 1, (2, size))
    return np.column_stack([wide, others[0], 3 - 1.37 * wide + rng.laplace(x, 0.2, size)])


OTHERS: Mapping[str, tuple[Mechanism, AnyClaim]] = {
    "three bits of six": (three_of_six, ea.pure(0.5)),
    "entries on a line": (on_a_line, ea.pure(1.0)),
    "Laplace": (laplace, ea.pure(0.5)),
    "Gaussian": (gaussian, ea.gdp(0.5)),
    "Rényi": (gaussian, ea.renyi({2: 0.5})),
    "low bits": (gaussian, ea.pure(4.0)),
    "an atom": (lambda x, size, rng: np.maximum(laplace(x, size, rng), 0.0), ea.pure(0.5)),
    "twelve entries": (lambda x, size, rng: laplace([0.4 * x] * 12, size, rng), ea.pure(1.0)),
}


def by_audit(mechanism: Mechanism, claim: AnyClaim, as_reals: bool) -> Result:
    options: dict[str, Any] = {"as_reals": as_reals, "check_sampler": False}
    full = ea.audit(mechanism, [(0, 1)], claim, samples=DRAWS, **options)
    early = ea.audit(mechanism, [(0, 1)], claim, samples=8 * DRAWS, stop=True, **options)
    return full.bound, full.verdict == "violated", early.draws


def results() -> tuple[dict[str, Result], float]:
    started, found = time.process_time(), dict[str, Result]()
    for name, (mechanism, claim) in OTHERS.items():
        found[name] = by_audit(mechanism, claim, name != "low bits")
    for mechanism in HIDDEN:
        found[mechanism.__name__] = by_audit(mechanism, CLAIM, True)
    for name in seen.LEAKS:
        bound, _, refuted = seen.audited(name, 0)
        found[name] = bound, refuted, 1
    return found, time.process_time() - started


def left_out() -> Iterator[tuple[str, list[Any]]]:
    """Yield the names of families, and the patches that leave each out."""
    for kind, families in (("looks", FAMILIES), ("summary", SUMMARIES)):
        for name in families:
            rest = {key: value for key, value in families.items() if key != name}
            yield f"{kind}: {name}", [patch.dict(families, rest, clear=True)]
    for name in PREDICTORS:
        patches = []
        for mixture in MIXTURES:
            shares = dict(getattr(predictors, mixture))
            shares.pop(getattr(predictors, name), None)
            total = sum(shares.values())
            shares = {key: share / total for key, share in shares.items()}
            patches.append(patch.object(predictors, mixture, shares))
        yield f"predictor: {name}", patches
    every = portfolio._choices
    for score in SCORES:

        def others(past: Any, wanted: Any, score: str = score) -> Any:
            return every(past, lambda key: key != score and wanted(key))

        yield f"bets on: {score}", [patch.object(portfolio, "_choices", others)]


def main() -> None:
    chosen = parsed(__doc__, runs=1)
    for name, leak in seen.LEAKS.items():
        seen.LEAKS[name] = seen.Leak(leak.draw, leak.statistic, min(leak.draws, DRAWS), leak.claim)
    before, whole = results()
    head("left out|bounds that fall|no longer refuted|draws, times|time, times")
    for name, patches in (each for each in left_out() if chosen.only in each[0]):
        with ExitStack() as stack:
            for each in patches:
                stack.enter_context(each)
            after, took = results()
        lost = [case for case in before if before[case][1] and not after[case][1]]
        falls = [case for case in before if after[case][0] < FALL * before[case][0]]
        more = max(after[case][2] / before[case][2] for case in before)
        line(name, len({*falls} - {*lost}), "; ".join(lost) or "-", more, took / whole)


if __name__ == "__main__":
    main()
