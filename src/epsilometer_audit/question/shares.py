"""How audits that belong together divide their alpha: the one rule of all doors.

A **family** of tests has one alpha. If all claims hold, the probability that *any* test of the
family says "violated" is at most alpha, however the tests depend on each other (a union bound).
Families within families divide further:

- the verdicts of a file of audits, and the orders of a claim: all have equal shares;
- the tests of a session of pytest: equal shares, too. How many audits a test makes is not known
  beforehand, so its i-th has 6 / (pi i)^2 of the test's share: .61, .15, .07, ..., 1 in all.
"""

from __future__ import annotations

import math


def share_of(alpha: float, members: int, number: int | None = None) -> float:
    """Return the part of ``alpha`` for a member of a family of so many.

    ``number`` counts the tests of a member from 1, if it makes several.

    >>> share_of(0.05, 4), round(share_of(0.05, 1, number=1), 4)
    (0.0125, 0.0304)
    """
    share = alpha / members
    return share if number is None else share * 6 / (math.pi * number) ** 2
