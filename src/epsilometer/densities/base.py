"""The densities of a pair of samples.

Of a bit that is kept, or flipped, with probability 3/4 they are frequencies:

    Densities(np.array([0.25, 0.75]), np.array([0.75, 0.25]))
"""

from __future__ import annotations

from dataclasses import dataclass

from epsilometer.numerics.arrays import Floats


@dataclass(frozen=True)
class Densities:
    """Relative frequencies of k outcomes or cells (``spacing`` 1), or values on an even grid.

    Both sides have shape ``(k,)``. ``spacing`` and ``bandwidths`` are in the unit of outputs,
    values on a grid in one over that unit. Bandwidths are 0 where draws were counted.
    """

    p: Floats
    q: Floats
    spacing: float = 1.0
    bandwidths: tuple[float, float] = (0.0, 0.0)

    def swapped(self) -> Densities:
        """Return the same with the sides exchanged."""
        return Densities(self.q, self.p, self.spacing, self.bandwidths[::-1])
