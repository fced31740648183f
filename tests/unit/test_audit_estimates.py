"""What the papers' methods say of an audit's draws: near the truth, or why they do not apply."""

import json
import math

import numpy as np
import pytest

from epsilometer.auditing.estimates import estimates
from epsilometer.auditing.statistics.claims import approximate, gdp, pure, renyi, zcdp

DPL, MPL, EXACT = "local loss (DPL)", "MPL", "exact bound (Berger-Boos)"
BOUND, HISTOGRAM = "Rényi bound", "histogram"


def laplace(n, seed, unit=1.0):
    rng = np.random.default_rng(seed)
    return unit * rng.laplace(0, 1, n), unit * rng.laplace(0.7, 1, n)


def bits(n, seed, entries=0):
    """Randomised response of level log 2, of one bit or of several of which one differs."""
    rng = np.random.default_rng(seed)
    shape = (n, entries) if entries else (n,)
    x, x_prime = (rng.integers(0, 3, shape) > 0).astype(np.int64), rng.integers(0, 3, shape) > 0
    changed = (x_prime if not entries else x_prime[:, 0]).copy()
    if entries:
        x_prime[:, 0] = ~changed
    else:
        x_prime = ~changed
    return x, x_prime.astype(np.int64)


def asked(draw, claim, *, n=20_000, alpha=0.05, seed=1, **options):
    found = estimates(draw(n, seed), draw(n, seed + 1000), claim, alpha=alpha, seed=seed, **options)
    for one in found:
        assert (one.kind == "does not apply") == (one.value is None)
        assert one.value is not None or one.reason
        assert "\n" not in one.reason
        json.dumps(one.to_plain(), allow_nan=False)
    return found


def by_name(found):
    return {one.method: one for one in found}


def refusals(found):
    return {one.method: one.reason for one in found if one.kind == "does not apply"}


def test_all_methods_answer_or_say_why_not():
    found = by_name(asked(laplace, pure(0.5)))
    assert list(found) == [DPL, MPL, EXACT, "kNN spectrum", BOUND, HISTOGRAM]
    assert found[DPL].kind == "estimate"
    assert 0.6 < found[DPL].value < 1.1
    assert found[MPL].kind == "asymptotic bound"
    assert 0.2 < found[MPL].value == found[MPL].low < 0.75
    assert found[EXACT].kind == "finite-sample bound"
    assert 0.6 < found[EXACT].value == found[EXACT].low < 0.72
    spectrum = found["kNN spectrum"]
    assert (spectrum.kind, spectrum.quantity) == ("interval", "delta at epsilon = 0.5")
    assert spectrum.low < 1 - math.exp(-0.1) < spectrum.high
    assert spectrum.low < spectrum.value < spectrum.high
    assert found[BOUND].reason == "method is for finite orders, and epsilon = 0.5 names none"
    assert found[BOUND].quantity == "renyi epsilon"
    assert "the provider's word" in found[HISTOGRAM].reason
    assert {one.paper.split(",")[0] for one in found.values()} >= {
        *("askin2022", "kutta2022", "lu2022", "gorla2022")
    }


def test_discrete_outputs_are_counted():
    found = by_name(asked(bits, pure(0.5), outcomes=2))
    assert list(found) == [DPL, MPL, EXACT, "counting spectrum", BOUND, HISTOGRAM]
    level = math.log(2)
    assert found[DPL].value == pytest.approx(level, abs=0.06)
    assert found[HISTOGRAM].value == pytest.approx(found[DPL].value, abs=1e-9)
    assert found[HISTOGRAM].paper == "gorla2022, Algorithm 1"
    for name in (MPL, EXACT):
        assert level - 0.1 < found[name].value < level + 0.02
    delta = (2 - math.exp(0.5)) / 3
    spectrum = found["counting spectrum"]
    assert spectrum.low < delta < spectrum.high
    refused = refusals(asked(bits, pure(0.5), outcomes=3))
    assert "some outcome was not drawn" in refused[HISTOGRAM]
    refused = refusals(asked(lambda n, s: bits(n, s, 3), pure(0.5), outcomes=2))
    assert "outside the claimed outcomes" in refused[HISTOGRAM]


def test_rows_of_whole_numbers_are_outcomes():
    found = by_name(asked(lambda n, s: bits(n, s, 3), pure(0.5), outcomes=8))
    assert refusals(found.values()).keys() == {BOUND}
    for name in (DPL, HISTOGRAM):
        assert 0.5 < found[name].value < 1.2
    assert 0.6 < found[EXACT].value < 0.72
    found = asked(lambda n, s: bits(n, s, 3), renyi({2: 0.1}), outcomes=8)
    assert 0.35 < by_name(found)[BOUND].value < math.log(1.5)


def test_nothing_has_a_unit():
    plain, scaled = (
        asked(lambda n, s, unit=unit: laplace(n, s, unit), pure(0.5), n=5000)
        for unit in (1.0, 1e-7)
    )
    for one, other in zip(plain, scaled, strict=True):
        assert other.kind == one.kind
        if one.value is not None:
            assert other.value == pytest.approx(one.value, abs=1e-6)


def test_orders_that_are_claimed():
    found = asked(laplace, renyi({2: 0.3, 7: 0.5}))
    bounds = [one for one in found if one.method == BOUND]
    names = [f"renyi epsilon of order {order}" for order in (2, 7)]
    assert [one.quantity for one in bounds] == names
    exact = [0.354, 0.603]
    for one, truth in zip(bounds, exact, strict=True):
        assert one.kind == "asymptotic bound"
        assert truth - 0.08 < one.value < truth + 0.01
    refused = refusals(found)
    assert refused.keys() == {DPL, MPL, EXACT, "kNN spectrum", HISTOGRAM}
    assert refused[DPL].startswith(
        "method is for pure epsilon, not for a Rényi divergence of order 2"
    )
    assert "which do not bound a Rényi divergence" in refused[EXACT]
    found = asked(bits, renyi({2: 0.1, 3: 0.2}), outcomes=2)
    histograms = [one for one in found if one.method == HISTOGRAM]
    assert [one.paper for one in histograms] == ["gorla2022, Algorithm 3"] * 2
    assert histograms[0].value == pytest.approx(math.log(1.5), abs=0.06)


def test_a_zcdp_claim_asks_for_several_orders():
    found = asked(laplace, zcdp(0.2), n=5000)
    assert [one.method for one in found].count(BOUND) == 7
    assert [one.method for one in found].count(HISTOGRAM) == 1


def test_bounds_are_for_what_is_claimed():
    found = by_name(asked(laplace, approximate(0.3, 0.05)))
    assert found[EXACT].quantity == "epsilon at delta = 0.05"
    truth = 0.7 + 2 * math.log(1 - 0.05)  # delta is 1 - e^((epsilon - .7) / 2)
    assert truth - 0.1 < found[EXACT].value < truth
    assert found["kNN spectrum"].low > 0.1
    assert "is for pure epsilon" in refusals(found.values())[MPL]
    found = by_name(asked(laplace, gdp(0.5)))
    assert (found[EXACT].kind, found[EXACT].quantity) == ("finite-sample bound", "mu")
    assert 0.5 < found[EXACT].value < 0.9
    assert "needs an epsilon, which mu = 0.5" in refusals(found.values())["kNN spectrum"]


def clamped(n, seed):
    x, x_prime = laplace(n, seed)
    return np.maximum(x, 0), np.maximum(x_prime, 0)


def missing(n, seed):
    x, x_prime = laplace(n, seed)
    x[::3], x_prime[::5] = np.nan, np.nan
    return x, x_prime


def vectors(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 2)), rng.normal(0.5, 1, (n, 2))


def infinite(n, seed):
    x, x_prime = laplace(n, seed)
    return np.where(x > 2, np.inf, x), np.where(x_prime > 2, np.inf, x_prime)


@pytest.mark.parametrize(
    ("draw", "claim", "reason", "refused"),
    [
        (clamped, pure(0.5), "outputs are reals with an atom", {DPL, MPL}),
        (missing, pure(0.5), "outputs must all be finite", {DPL, MPL, "kNN spectrum"}),
        (infinite, pure(0.5), "outputs must all be finite", {DPL, MPL, "kNN spectrum"}),
        (vectors, pure(0.5), "outputs must be scalar or index", {"kNN spectrum"}),
        (missing, renyi({2: 1.0}), "outputs must be numbers", {BOUND}),
        (vectors, renyi({2: 1.0}), "outputs must be scalar, index, bits or tuple", {BOUND}),
    ],
)
def test_reasons_are_the_methods_own(draw, claim, reason, refused):
    found = refusals(asked(draw, claim, n=3000))
    assert {name for name, text in found.items() if text.startswith(reason)} == refused


def test_who_chooses_does_not_confirm():
    past = laplace(3000, 1)
    found = refusals(estimates(past, past, pure(0.5), alpha=0.05, seed=1))
    for name in (MPL, EXACT):
        assert found[name] == "draws that confirm must be others than those that choose"
    constant = np.zeros(3000, np.int64), np.ones(3000, np.int64)
    found = by_name(estimates(constant, constant, pure(0.5), alpha=0.05, seed=1))
    assert found[EXACT].value > 5  # draws without noise are all the same, and evidence


def test_bounds_of_equal_laws_are_rarely_above_zero():
    above = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sides = [rng.laplace(0, 1, 1000) for _ in range(4)]
        found = estimates((sides[0], sides[1]), (sides[2], sides[3]), pure(0.5), alpha=0.05, seed=1)
        above += by_name(found)[EXACT].value > 0
    assert above <= 5  # with probability .997


def test_few_draws():
    for n in (1, 2, 3, 60):
        for draw in (laplace, bits, vectors):
            for claim in (pure(0.5), renyi({2: 0.1}), approximate(1.0, 0.1)):
                asked(draw, claim, n=n, outcomes=2)
    past, fresh = laplace(50, 1), (laplace(40, 2)[0], laplace(30, 2)[1])
    found = by_name(estimates(past, fresh, pure(0.5), alpha=0.05, seed=1))
    assert found[EXACT].kind == "finite-sample bound"


def test_the_same_seed_says_the_same():
    first, again = (asked(laplace, pure(0.5), n=3000, seed=5) for _ in range(2))
    assert first == again


def test_samples_are_cut_where_methods_are_slow():
    found = by_name(asked(laplace, pure(0.5), n=120_000))
    assert found[DPL].reason == "of 100000 draws a side"
    assert found["kNN spectrum"].reason.endswith("; of 100000 draws a side")
    found = by_name(asked(vectors, pure(0.5), n=12_000))
    assert (found[DPL].reason, found[EXACT].reason) == ("of 10000 draws a side", "")
