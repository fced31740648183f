"""The prefix lengths at which a search over the sample size n looks."""

from __future__ import annotations

from epsilometer import checks


def ladder(largest: int) -> list[int]:
    """Return the prefix lengths of a search over n: half octaves 1, 2, 3, 4, 6, 8, 11, ..., n.

    Raise `ArgumentError` where n is below 1.
    """
    checks.integer("n", largest)
    rungs = {round(2 ** (i / 2)) for i in range(2 * largest.bit_length())}
    return sorted({rung for rung in rungs if rung < largest} | {largest})
