"""The accuracy that lu2022 promises: errors of estimates, by the number of draws."""

from __future__ import annotations

import math
from collections.abc import Callable

from epsilometer import checks


def cones(dimension: int) -> int:
    """Return an upper bound of c_d, the cones of angle pi/6 that cover R^d (Theorem 2).

    c_1 is 2: the cones of the line are its half-lines; further up (1 + 2/sqrt(2 - sqrt 3))^d - 1.
    """
    d = checks.integer("dimension", dimension)
    return 2 if d == 1 else math.floor((1 + 2 / math.sqrt(2 - math.sqrt(3))) ** d - 1)


def risk_error(n: int, beta: float) -> float:
    """Return sqrt(ln(4/beta)/n): the error of n/2 test points, with chance 1 - beta/2 (Claim 3)."""
    checks.between_0_and_1("beta", beta)
    return math.sqrt(math.log(4 / beta) / checks.integer("n", n))


def neighbours_error(n: int, beta: float, dimension: int = 1) -> float:
    """Return 12 c_d sqrt(ln(4/beta)/n), the excess of kNN with n/2 points over the Bayes risk (5).

    For n large enough. The paper prints ln(4 beta) here and in Corollary 2; solving
    2 exp(-(n/2) a^2 / (72 c_d^2)) = beta/2 for a gives ln(4/beta).
    """
    return 12 * cones(dimension) * risk_error(n, beta)


def estimate_error(
    consistency: Callable[[int, float], float],
    claim: float,
    n: int,
    beta: float,
    *,
    directions: int = 1,
) -> float:
    """Return alpha with |delta' - delta| <= alpha for any n-point classifier, with chance 1 - beta.

    ``consistency(points, chance)`` is the paper's g: with probability 1 - ``chance``, the distance
    from the Bayes risk after training on ``points`` is at most g. ``directions`` = 1 is one
    direction of one pair (Lemma 1); a maximum over 2tm of them, both directions of every row
    removed from t databases of m rows, is Theorem 5.
    """
    share = checks.between_0_and_1("beta", beta) / checks.integer("directions", directions)
    error = consistency(n // 2, share / 2) + risk_error(n, share)
    return 2 * math.exp(checks.real("claim", claim)) * error


def accuracy(
    claim: float, n: int, beta: float, dimension: int = 1, *, directions: int = 1
) -> float:
    """Return `estimate_error` of kNN, for n large enough.

    ``directions`` = 1 is Corollary 2, 2tm as above is Corollary 3, and mt|U|^2 for distributional
    privacy is Corollary 4.
    """

    def consistency(points: int, chance: float) -> float:
        return neighbours_error(2 * points, 2 * chance, dimension)

    return estimate_error(consistency, claim, n, beta, directions=directions)
