"""The papers' methods on an audit's draws: near the truth, or a reason why they do not apply."""

import json
import math

import numpy as np
import pytest

from epsilometer_audit.estimates import estimates
from epsilometer_audit.statistics.claims import approximate, gdp, pure, renyi, zcdp

DPL, MPL, EXACT = "local loss (DPL)", "MPL", "exact bound (Berger-Boos)"
BOUND, HISTOGRAM = "Rényi bound", "histogram"


def laplace(n, seed, unit=1.0):
    rng = np.random.default_rng(seed)
    return unit * rng.laplace(0, 1, n), unit * rng.laplace(0.7, 1, n)


def bits(n, seed, entries=0):
    """Randomised response of level log 2, of one bit or of several with one that differs."""
    rng = np.random.default_rng(seed)
    shape = (n, entries) if entries else (n,)
    x, x_prime = (rng.integers(0, 3, shape) > 0).astype(np.int64), rng.integers(0, 3, shape) > 0
    changed = (x_prime if not entries else x_prime[:, 0]).copy()
    if entries:
        x_prime[:, 0] = ~changed
    else:
        x_prime = ~changed
    return x, x_prime.astype(np.int64)


def checked_estimates(draw, claim, *, n=20_000, alpha=0.05, seed=1, **options):
    answers = estimates(
        draw(n, seed), draw(n, seed + 1000), claim, alpha=alpha, seed=seed, **options
    )
    for answer in answers:
        assert (answer.kind == "does not apply") == (answer.value is None)
        assert answer.value is not None or answer.reason
        assert "\n" not in answer.reason
        json.dumps(answer.to_plain(), allow_nan=False)
    return answers


def by_name(answers):
    return {answer.method: answer for answer in answers}


def refusals(answers):
    return {answer.method: answer.reason for answer in answers if answer.kind == "does not apply"}


def test_all_methods_have_an_answer_or_a_reason():
    answers = by_name(checked_estimates(laplace, pure(0.5)))
    assert list(answers) == [DPL, MPL, EXACT, "kNN spectrum", BOUND, HISTOGRAM]
    assert answers[DPL].kind == "estimate"
    assert 0.6 < answers[DPL].value < 1.1
    assert answers[MPL].kind == "asymptotic bound"
    assert 0.2 < answers[MPL].value == answers[MPL].low < 0.75
    assert answers[EXACT].kind == "finite-sample bound"
    assert 0.6 < answers[EXACT].value == answers[EXACT].low < 0.72
    spectrum = answers["kNN spectrum"]
    assert (spectrum.kind, spectrum.quantity) == ("interval", "delta at epsilon = 0.5")
    assert spectrum.low < 1 - math.exp(-0.1) < spectrum.high
    assert spectrum.low < spectrum.value < spectrum.high
    assert answers[BOUND].reason == "method is for finite orders, and epsilon = 0.5 names none"
    assert answers[BOUND].quantity == "renyi epsilon"
    assert "the declared number" in answers[HISTOGRAM].reason
    assert {answer.paper.split(",")[0] for answer in answers.values()} >= {
        *("askin2022", "kutta2022", "lu2022", "gorla2022")
    }


def test_discrete_outputs_are_counted():
    answers = by_name(checked_estimates(bits, pure(0.5), outcomes=2))
    assert list(answers) == [DPL, MPL, EXACT, "counting spectrum", BOUND, HISTOGRAM]
    level = math.log(2)
    assert answers[DPL].value == pytest.approx(level, abs=0.06)
    assert answers[HISTOGRAM].value == pytest.approx(answers[DPL].value, abs=1e-9)
    assert answers[HISTOGRAM].paper == "gorla2022, Algorithm 1"
    for name in (MPL, EXACT):
        assert level - 0.1 < answers[name].value < level + 0.02
    delta = (2 - math.exp(0.5)) / 3
    spectrum = answers["counting spectrum"]
    assert spectrum.low < delta < spectrum.high
    refused = refusals(checked_estimates(bits, pure(0.5), outcomes=3))
    assert "some outcome was not drawn" in refused[HISTOGRAM]
    refused = refusals(checked_estimates(lambda n, s: bits(n, s, 3), pure(0.5), outcomes=2))
    assert "outside the claimed outcomes" in refused[HISTOGRAM]


def test_rows_of_whole_numbers_are_outcomes():
    answers = by_name(checked_estimates(lambda n, s: bits(n, s, 3), pure(0.5), outcomes=8))
    assert refusals(answers.values()).keys() == {BOUND}
    for name in (DPL, HISTOGRAM):
        assert 0.5 < answers[name].value < 1.2
    assert 0.6 < answers[EXACT].value < 0.72
    answers = checked_estimates(lambda n, s: bits(n, s, 3), renyi({2: 0.1}), outcomes=8)
    assert 0.35 < by_name(answers)[BOUND].value < math.log(1.5)


def test_nothing_has_a_unit():
    plain, scaled = (
        checked_estimates(lambda n, s, unit=unit: laplace(n, s, unit), pure(0.5), n=5000)
        for unit in (1.0, 1e-7)
    )
    for answer, other in zip(plain, scaled, strict=True):
        assert other.kind == answer.kind
        if answer.value is not None:
            assert other.value == pytest.approx(answer.value, abs=1e-6)


def test_orders_of_a_claim():
    answers = checked_estimates(laplace, renyi({2: 0.3, 7: 0.5}))
    bounds = [answer for answer in answers if answer.method == BOUND]
    names = [f"renyi epsilon of order {order}" for order in (2, 7)]
    assert [answer.quantity for answer in bounds] == names
    exact = [0.354, 0.603]
    for answer, truth in zip(bounds, exact, strict=True):
        assert answer.kind == "asymptotic bound"
        assert truth - 0.08 < answer.value < truth + 0.01
    refused = refusals(answers)
    assert refused.keys() == {DPL, MPL, EXACT, "kNN spectrum", HISTOGRAM}
    assert refused[DPL].startswith(
        "method is for pure epsilon, not for a Rényi divergence of order 2"
    )
    assert "which do not bound a Rényi divergence" in refused[EXACT]
    answers = checked_estimates(bits, renyi({2: 0.1, 3: 0.2}), outcomes=2)
    histograms = [answer for answer in answers if answer.method == HISTOGRAM]
    assert [answer.paper for answer in histograms] == ["gorla2022, Algorithm 3"] * 2
    assert histograms[0].value == pytest.approx(math.log(1.5), abs=0.06)


def test_a_zcdp_claim_asks_for_several_orders():
    answers = checked_estimates(laplace, zcdp(0.2), n=5000)
    assert [answer.method for answer in answers].count(BOUND) == 7
    assert [answer.method for answer in answers].count(HISTOGRAM) == 1


def test_bounds_are_for_the_claim():
    answers = by_name(checked_estimates(laplace, approximate(0.3, 0.05)))
    assert answers[EXACT].quantity == "epsilon at delta = 0.05"
    truth = 0.7 + 2 * math.log(1 - 0.05)  # delta is 1 - e^((epsilon - .7) / 2)
    assert truth - 0.1 < answers[EXACT].value < truth
    assert answers["kNN spectrum"].low > 0.1
    assert "is for pure epsilon" in refusals(answers.values())[MPL]
    answers = by_name(checked_estimates(laplace, gdp(0.5)))
    assert (answers[EXACT].kind, answers[EXACT].quantity) == ("finite-sample bound", "mu")
    assert 0.5 < answers[EXACT].value < 0.9
    assert "needs an epsilon, and mu = 0.5" in refusals(answers.values())["kNN spectrum"]


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
    reasons = refusals(checked_estimates(draw, claim, n=3000))
    assert {name for name, text in reasons.items() if text.startswith(reason)} == refused


def test_draws_that_choose_do_not_confirm():
    past = laplace(3000, 1)
    answers = refusals(estimates(past, past, pure(0.5), alpha=0.05, seed=1))
    for name in (MPL, EXACT):
        assert answers[name] == "draws that confirm must be others than those that choose"
    constant = np.zeros(3000, np.int64), np.ones(3000, np.int64)
    answers = by_name(estimates(constant, constant, pure(0.5), alpha=0.05, seed=1))
    assert answers[EXACT].value > 5  # draws without noise are all the same, and evidence


def test_bounds_of_equal_laws_are_rarely_above_zero():
    above = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sides = [rng.laplace(0, 1, 1000) for _ in range(4)]
        answers = estimates(
            (sides[0], sides[1]), (sides[2], sides[3]), pure(0.5), alpha=0.05, seed=1
        )
        above += by_name(answers)[EXACT].value > 0
    assert above <= 5  # with probability .997


def test_few_draws():
    for n in (1, 2, 3, 60):
        for draw in (laplace, bits, vectors):
            for claim in (pure(0.5), renyi({2: 0.1}), approximate(1.0, 0.1)):
                checked_estimates(draw, claim, n=n, outcomes=2)
    past, fresh = laplace(50, 1), (laplace(40, 2)[0], laplace(30, 2)[1])
    answers = by_name(estimates(past, fresh, pure(0.5), alpha=0.05, seed=1))
    assert answers[EXACT].kind == "finite-sample bound"


def test_the_same_seed_gives_the_same_answers():
    first, again = (checked_estimates(laplace, pure(0.5), n=3000, seed=5) for _ in range(2))
    assert first == again


def test_samples_are_cut_where_methods_are_slow():
    answers = by_name(checked_estimates(laplace, pure(0.5), n=120_000))
    assert answers[DPL].reason == "of 100000 draws a side"
    assert answers["kNN spectrum"].reason.endswith("; of 100000 draws a side")
    answers = by_name(checked_estimates(vectors, pure(0.5), n=12_000))
    assert (answers[DPL].reason, answers[EXACT].reason) == ("of 10000 draws a side", "")
