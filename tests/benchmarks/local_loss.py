"""One run of MPL beside the textbook evaluation, and the samplers of the Sparse Vector Technique.

Both run in one process on the same samples: `make measurements`. A timing is never an assertion.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from epsilometer.densities.kernel import density_at, nrd0
from epsilometer.estimators.base import OutputEvidence
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss, undersmoothed
from epsilometer.mechanisms.real_line import Laplace
from epsilometer.mechanisms.sparse_vector import SparseVector

FIRST, FRESH, FLOOR, POINTS = 20_000, 50_000, 1e-3, 1001
Pair = tuple[np.ndarray, np.ndarray]
Fresh = Callable[[int], Pair]


def ours(pairs: list[Pair], fresh: Fresh) -> float:
    """Return MPL's bound as the library computes it."""
    method = LocalLoss(floor=FLOOR, points=POINTS)
    chosen, losses = method.screen(pairs, region=(-1.0, 1.0), draws=FRESH)
    evidence = method.weigh(*fresh(chosen), losses[chosen].target)
    return float(MaximumPrivacyLoss("benchmark").bound(evidence))


def textbook(pairs: list[Pair], fresh: Fresh) -> float:
    """Return it from densities of every sample at every grid point."""
    grid = np.linspace(-1.0, 1.0, POINTS)
    largest = []
    for pair in pairs:
        logs = [np.log(np.maximum(_everywhere(x, grid, nrd0(x)), FLOOR)) for x in pair]
        loss = np.abs(logs[0] - logs[1])
        at = int(loss.argmax())
        largest.append((loss[at], grid[at], 1 if logs[0][at] >= logs[1][at] else -1))
    chosen = int(np.argmax([loss for loss, *_ in largest]))
    _, output, sign = largest[chosen]
    at = np.array([output])
    densities, variances = [], []
    pair = fresh(chosen)
    h = undersmoothed(*pair)
    for x in pair:
        densities.append(max(float(density_at(x, at, h)[0]), FLOOR))
        variances.append(1 / (2 * math.sqrt(math.pi) * densities[-1] * x.size * h))
    evidence = OutputEvidence(*densities, *variances, sign)
    return float(MaximumPrivacyLoss("benchmark").bound(evidence))


def _everywhere(x: np.ndarray, grid: np.ndarray, h: float) -> np.ndarray:
    sums = np.zeros(grid.size)
    for part in np.array_split(x, 20):  # a thousand draws at a time, or it would not fit a cache
        sums += np.exp(-0.5 * ((grid[:, None] - part) / h) ** 2).sum(axis=1)
    return sums / (x.size * h * math.sqrt(2 * math.pi))


def seconds(call: Callable[[], object], times: int) -> float:
    """Return the time of the fastest call, after one to warm up."""
    call()
    times_taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        times_taken.append(time.perf_counter() - start)
    return min(times_taken)


def main() -> None:
    """Print the comparisons."""
    mechanism = Laplace(1.5)
    heads = f"{'ours ms':>9}{'plain ms':>10}{'ratio':>7}{'LB':>10}{'differs':>10}"
    print(f"{'one run of MPL, Laplace':28}{heads}")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pairs = [
            (mechanism.sample(0.0, FIRST, rng), mechanism.sample(b / 10, FIRST, rng))
            for b in range(1, 11)
        ]
        drawn = [
            (mechanism.sample(0.0, FRESH, rng), mechanism.sample(b / 10, FRESH, rng))
            for b in range(1, 11)
        ]
        fast = seconds(lambda p=pairs, d=drawn: ours(p, d.__getitem__), 5)
        slow = seconds(lambda p=pairs, d=drawn: textbook(p, d.__getitem__), 1)
        bounds = ours(pairs, drawn.__getitem__), textbook(pairs, drawn.__getitem__)
        print(
            f"{f'  seed {seed}':28}{fast * 1e3:9.1f}{slow * 1e3:10.0f}{slow / fast:7.0f}"
            f"{bounds[0]:10.5f}{abs(bounds[0] - bounds[1]):10.1e}"
        )
    print(f"{'Sparse Vector, Mdraws/s':28}{'all 1':>9}{'2 0 .. 0':>10}")
    for variant in (2, 4, 5, 6):
        sampler = SparseVector(0.7, variant, corrected=variant == 4)
        rates = []
        for answers in ([1] * 10, [2, *[0] * 9]):
            rng = np.random.default_rng(0)
            taken = seconds(lambda s=sampler, a=answers, r=rng: s.sample(a, 10**6, r), 5)
            rates.append(1 / taken)
        print(f"{f'  SVT{variant}':28}{rates[0]:9.1f}{rates[1]:10.1f}")


if __name__ == "__main__":
    main()
