"""Every exact law at levels where doubles cancel or underflow."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from tests.contract.examples import configured, inputs

EPSILONS = [1e-8, 1.0, 100.0]
ORDERS = [1.01, 2.0, 10.0, 100.0]
ROUNDING = 1e-9


def cases():
    """Yield an entry of every law and, where noise or variant make another law, of each."""
    for entry, about in configured().mechanisms.items():
        if about.mechanism not in EXACT:
            continue
        same = [
            other
            for other, its in configured().mechanisms.items()
            if its.mechanism == about.mechanism
        ]
        if entry in (same[0], same[-1]) or about.mechanism in ("noisy_sum", "noisy_max_value"):
            yield entry


def sides(entry):
    study = configured()
    return study.input_values(entry, next(iter(study.mechanisms[entry].inputs)))[:2]


def law(entry, epsilon):
    about = configured().mechanisms[entry]
    return EXACT.load(about.mechanism)(configured().mechanism(entry, epsilon))


every_law = pytest.mark.parametrize("entry", sorted(cases()))
every_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)


def test_every_law_is_tried():
    tried = {configured().mechanisms[entry].mechanism for entry in cases()}
    assert tried == set(EXACT)
    assert all(inputs(name) for name in tried)


@every_law
@every_epsilon
def test_levels_rise_from_0_to_the_pure_level(entry, epsilon):
    exact, (x, y) = law(entry, epsilon), sides(entry)
    pure = [exact.privacy_loss(x, y), exact.privacy_loss(y, x)]
    for loss, first, other in [(pure[0], x, y), (pure[1], y, x)]:
        levels = [exact.renyi(order, first, other) for order in ORDERS]
        assert levels[0] > 0
        assert all(
            b >= a * (1 - ROUNDING) for a, b in zip(levels, [*levels[1:], loss], strict=True)
        )
        if max(pure) < 1e-5:  # a divergence is order / 2 times the mean square of the loss
            rates = np.array(levels) / ORDERS
            spread = 3 * max(ORDERS) * max(pure)
            assert rates == pytest.approx(np.full(len(ORDERS), rates[0]), rel=spread + 1e-8, abs=0)
            assert rates[0] <= max(pure) ** 2 / 2 * (1 + spread + 1e-8)


@every_law
@every_epsilon
def test_spectra_fall_from_the_total_variation_to_0(entry, epsilon):
    exact, (x, y) = law(entry, epsilon), sides(entry)
    if not hasattr(exact, "spectrum"):
        with pytest.raises(ArgumentError, match="has no spectrum"):
            spectrum(exact, [0.0], x, y)
        return
    starts = []
    for first, other in [(x, y), (y, x)]:
        loss = exact.privacy_loss(first, other)
        top = loss if math.isfinite(loss) else 5 * epsilon
        claims = np.array([0, 1e-6, 0.1, 0.5, 0.9, 0.999, 1, 1 + 1e-9, 2, 1000]) * top
        deltas = spectrum(exact, claims, first, other)
        starts.append(deltas[0])
        assert 0 < deltas[0] <= 1
        assert deltas.min() >= 0
        assert (deltas[1:] <= deltas[:-1] * (1 + ROUNDING)).all()
        if math.isfinite(loss):
            assert not deltas[6:].any()
            assert deltas[0] <= -math.expm1(-loss) * (1 + ROUNDING)
        # in exp(claim) delta is convex, and falls by Q(loss > claim) at most
        if top > 500:  # exp(claim) is no number there
            continue
        steps = np.exp(claims[:5]) * np.expm1(np.diff(claims[:6]))
        slopes, noise = np.diff(deltas[:6]) / steps, 1e-12 * deltas[:5] / steps
        assert (slopes >= -1 - noise).all()
        assert (np.diff(slopes) >= -(noise[1:] + noise[:-1]) - 1e-12 * np.abs(slopes[1:])).all()
    assert starts[0] == pytest.approx(starts[1], rel=1e-8, abs=0)
