"""The accuracy that lu2022 promises: errors of estimates, by the number of draws."""

from __future__ import annotations

import math

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


def accuracy(claim: float, n: int, beta: float, dimension: int = 1) -> float:
    """Return alpha with |delta' - delta| <= alpha for kNN with n points, with chance 1 - beta.

    For n large enough (Lemma 1 and Corollary 2).
    """
    error = neighbours_error(2 * (n // 2), beta, dimension) + risk_error(n, beta)
    return 2 * math.exp(checks.real("claim", claim)) * error
