"""Gauss-Legendre quadrature on the real line for integrands with kinks at known places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.arrays import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_TAIL = 2.0 ** np.arange(-4, 7)  # ends of the pieces of a tail, in scales


def nodes(kinks: ArrayLike, scale: float) -> tuple[Floats, Floats]:
    """Return nodes and weights: pieces end at the kinks, and at growing distances beyond them.

    An integrand that is smooth between kinks and falls off exponentially over ``scale``, or faster
    by a factor up to about 10, is integrated to about 1e-12.
    """
    inner = np.unique(np.asarray(kinks, float))
    pieces = [inner]
    for start, end in pairwise(inner):  # long gaps are cut as tails are
        middle = (start + end) / 2
        steps = _TAIL[_TAIL * scale < middle - start] * scale
        pieces += [start + steps, end - steps, np.array([middle])]
    pieces += [inner[0] - scale * _TAIL, inner[-1] + scale * _TAIL]
    ends = np.unique(np.concatenate(pieces))
    half = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half * (1 + _NODES)
    return z.ravel(), (half * _WEIGHTS).ravel()
