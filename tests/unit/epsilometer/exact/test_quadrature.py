"""Integrals with kinks, by closed forms."""

import math

import numpy as np
import pytest

from epsilometer.exact import quadrature


@pytest.mark.parametrize("faster", [1.0, 10.0])
@pytest.mark.parametrize("scale", [1e-6, 0.5, 1e6])
def test_what_falls_off_beside_kinks_is_integrated(scale, faster):
    """At kinks that are near and far apart."""
    kinks = scale * np.array([-60.0, -2.0, 0.0, 0.2, 400.0])
    z, weights = quadrature.nodes(kinks, scale)
    for kink in kinks:
        u = faster * np.abs(z - kink) / scale
        area = scale / faster
        assert weights @ np.exp(-u) == pytest.approx(2 * area, rel=1e-12)
        assert weights @ np.exp(-u * u / 2) == pytest.approx(math.sqrt(2 * math.pi) * area, 1e-12)
