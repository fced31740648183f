"""The ceiling of one run: how high a bound any auditor can show of Gaussian noise.

Let each of m canaries be in by a fair coin, and its score be N(0, 1), or N(mu, 1) if it is in. From
the score the log odds of its coin are L = mu (score - mu / 2). There are mechanisms with a smaller
level that no auditor can tell from this one. With probability 1 - w such a mechanism draws scores
with the same distribution, but without regard to the coins. Otherwise it draws them such that each
canary, independently of all others, has these scores, but log odds of g(L) only, where g is odd,
g(L) = L up to c, and g(L) = c + slope (L - c) beyond.

- Its hockey-stick divergences are at most w H(e), with H(e) those of one canary where the log odds
  are g(L), because which of the two it did is independent of the coins. So it satisfies every claim
  that allows w H(e) at each epsilon e.
- Let an auditor refute the claim with probability ``power`` on Gaussian noise, and with q where
  w = 1. Then kl(power, q) <= m E kl(L, g(L)), by the data-processing inequality; kl compares coins.
- On the mechanism it refutes the claim with probability w q at least. So an auditor of level alpha
  refutes no claim that the mechanism satisfies with some w > alpha / q.

The smallest level that some c and slope allow is the ceiling: any lower bound at 1 - alpha exceeds
it with at most this power, whatever it is computed from.

`python -m tests.benchmarks.one_run_ceiling` prints the table of docs/training.md: the number of
canaries, the claim, the median bound of Gaussian noise with mu = 1, its epsilon at delta = 1e-5,
and the ceilings of mu and of epsilon.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, rel_entr
from tests.benchmarks.one_run_levels import divergences, least_mu
from tests.benchmarks.scripts import head, line, parsed

from epsilometer import checks
from epsilometer.claims import Gaussian, gaussian_deltas
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.bisection import bisected
from epsilometer_audit.statistics.guessing import Counted, count, refuted, rules_of

ALPHA, DELTA = 0.05, 1e-5
CASES = ((100, 0.3, 1001), (1000, 0.5, 1001), (10_000, 0.65, 401), (100_000, 0.75, 201))
_NODES, _EPSILONS = 1000, 160
_REACH = 9.0  # of |L|, over mu
_SLOPES = (0.0, 0.4)
_STEPS, _APART = 50, 1e-15  # values of c; ends of a bisection


def ceiling(
    mu: float, canaries: int, alpha: float = 0.05, power: float = 0.5, delta: float | None = None
) -> float:
    """Return the ceiling of the lower bound of any auditor of one run, to about three digits.

    Parameters
    ----------
    mu
        The level of the Gaussian noise.
    alpha, power
        The probability of a bound above the truth, and that of a bound above the ceiling.
    delta
        By default the bound is one of Gaussian privacy, a mu; with delta an epsilon.

    >>> round(ceiling(1.0, 100_000, delta=1e-5), 1)  # where the noise has 4.38
    3.2
    """
    mu = checks.positive("mu", mu)
    checks.integer("canaries", canaries)
    alpha, power = checks.between_0_and_1("alpha", alpha), checks.between_0_and_1("power", power)
    odds = (np.arange(_NODES) + 0.5) / _NODES * _REACH * mu
    signed = np.array([odds, -odds]) / mu
    masses = np.exp(-((signed - mu / 2) ** 2) / 2).sum(axis=0)
    masses /= masses.sum()
    best = math.inf
    for slope in _SLOPES:
        for c in np.linspace(0, min(_REACH, 6) * mu, _STEPS):
            shown = np.where(odds > c, c + slope * (odds - c), odds)
            kl = canaries * float(masses @ _kl(expit(odds), expit(shown)))
            if kl >= _kl(power, alpha):
                continue
            q = bisected(partial(_above, kl, power), 0.0, power, _APART)[0]
            epsilons = np.linspace(0, shown[-1], _EPSILONS)
            allowed = divergences(epsilons, shown, masses * alpha / q)
            if delta is None:
                best = min(best, least_mu(epsilons, allowed, mu, 1e-5 * mu))
            else:  # the last is 0
                best = min(best, float(epsilons[np.argmax(allowed <= delta)]))
    return best


def _kl(p: float | Floats, q: float | Floats) -> Floats:
    return np.asarray(rel_entr(p, q) + rel_entr(1 - np.asarray(p), 1 - np.asarray(q)))


def _above(kl: float, power: float, q: float) -> bool:
    return bool(_kl(power, q) > kl)


def main() -> None:
    parsed(__doc__)
    head("canaries|claim|mu|its epsilon|ceiling of mu|of epsilon")
    for m, mu, runs in CASES:
        rules, right = rules_of(m, Gaussian(mu), ALPHA), []
        for seed in range(runs):
            rng = np.random.default_rng(seed + 1000)
            included = rng.random(m) < 0.5
            scores = included + rng.normal(0, 1, m)
            right.append(count(scores, included, rules, seed)[0].right)
        middle = Counted(rules[0], int(np.quantile(right, 0.5, method="lower")), m, 1.0)
        bound, epsilon = max(refuted([middle], Gaussian(mu), ALPHA), 0.0), 0.0
        if bound >= 0.02:
            epsilon = brentq(lambda e, b=bound: gaussian_deltas(np.array([e]), b)[0] - DELTA, 0, 60)
        numbers = bound, epsilon, ceiling(1.0, m), ceiling(1.0, m, delta=DELTA)
        line(m, mu, *map(float, numbers))


if __name__ == "__main__":
    main()
