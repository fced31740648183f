"""The projection onto claims, against generic solvers, and the limits of audits that follow."""

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, linprog, minimize
from scipy.special import ndtr

from epsilometer.claims import Delta
from epsilometer.errors import ArgumentError
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_audit.question.claims import approximate, gdp, pure, renyi, zcdp
from limit import projection as limit
from limit.kl_inf import fans
from limit.kl_inf.project import project

HALF = np.array([0.5, 0.5])
CLAIMS = [
    pure(0.3),
    approximate(0.3, 0.05),
    approximate(0.0, 0.05),
    renyi({2: 0.1}),
    renyi({1.5: 0.05, 4.0: 0.3}),
    gdp(0.4),
    zcdp(0.05),
]


def law(name, *arguments, **parameters):
    return EXACT.load(name)(MECHANISMS.load(name)(*arguments, **parameters))


def laws(seed, cells, concentration=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(cells, concentration), 2)


def kl(p, q):
    kept = p > 0
    return float((p[kept] * np.log(p[kept] / q[kept])).sum())


def constraints(claim, x, y):
    """The claim's constraints at a pair of laws: each is at most 0."""
    plain = claim.to_plain()
    both = ((x, y), (y, x))
    if plain["notion"] in ("pure", "approximate"):
        pairs = [(plain["epsilon"], plain["delta"])]
    elif plain["notion"] == "gdp":
        mu, grid = plain["mu"], np.linspace(0, 3, 61)
        t = grid / mu - mu / 2
        pairs = zip(grid, ndtr(-t) - np.exp(grid) * ndtr(-t - mu), strict=True)
    else:
        bounds = plain.get("orders") or {plain.get("order"): plain.get("epsilon")}
        if plain["notion"] == "zcdp":
            bounds = {a: plain["rho"] * a for a in 1 + np.geomspace(0.01, 50, 40)}
        return [
            math.log((a**order * b ** (1 - order)).sum()) / (order - 1) - rho
            for order, rho in ((float(o), r) for o, r in bounds.items())
            for a, b in both
        ]
    epsilons, deltas = np.array(list(pairs)).T
    sides = (np.maximum(a - np.exp(epsilons)[:, None] * b, 0).sum(axis=1) for a, b in both)
    return np.concatenate([side - deltas for side in sides])


def brute_force(p, q, claim):
    """KL_inf by SLSQP, in the masses and, for hockey sticks, the excess of every cell."""
    k = p.size
    plain = claim.to_plain()
    start = np.concatenate([(p + q) / 2, (p + q) / 2])
    sums = np.kron(np.eye(2), np.ones(k))
    rules = []
    if plain["notion"] in ("pure", "approximate"):
        start = np.concatenate([start, np.zeros(2 * k)])
        s, unit = math.exp(plain["epsilon"]), np.eye(k)
        sums = np.hstack([sums, np.zeros((2, 2 * k))])
        above = np.block([[unit, -s * unit, -unit, 0 * unit], [-s * unit, unit, 0 * unit, -unit]])
        total = np.hstack([np.zeros((2, 2 * k)), np.kron(np.eye(2), np.ones(k))])
        rules += [LinearConstraint(above, -np.inf, 0), LinearConstraint(total, 0, plain["delta"])]
    else:
        rules += [
            NonlinearConstraint(lambda v: constraints(claim, v[:k], v[k : 2 * k]), -np.inf, 0)
        ]
    rules.append(LinearConstraint(sums, 1, 1))
    bounds = [(1e-9, 1)] * (2 * k) + [(0, 1)] * (start.size - 2 * k)
    result = minimize(
        lambda v: kl(p, v[:k]) + kl(q, v[k : 2 * k]),
        start,
        method="SLSQP",
        bounds=bounds,
        constraints=rules,
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return result.fun


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("claim", CLAIMS[:5], ids=lambda claim: claim.text())
def test_kl_inf_is_that_of_a_generic_solver(claim, seed):
    p, q = laws(seed, 4)
    result = project(p, q, claim)
    assert result.kl_inf == pytest.approx(brute_force(p, q, claim), abs=1e-6)
    assert result.gap < 1e-9


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("cells", [2, 3, 16, 100])
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text())
def test_the_projection_satisfies_the_claim_at_the_distance_kl_inf(claim, cells):
    p, q = laws(cells, cells)
    result = project(p, q, claim)
    x, y = result.p_star, result.q_star
    assert max(constraints(claim, x, y)) < 1e-5
    assert kl(p, x) + kl(q, y) == pytest.approx(result.kl_inf, abs=1e-5)
    assert x.sum() == pytest.approx(1)
    assert y.sum() == pytest.approx(1)
    assert result.gap < 1e-4 * max(result.growth, 1e-2)
    positive = (x > 0) & (p > 0)
    assert (p / x)[positive] == pytest.approx(result.payoff[positive], rel=1e-3)


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text())
def test_no_pair_of_laws_of_the_claim_has_a_mean_above_one(claim):
    rng = np.random.default_rng(5)
    p, q = laws(6, 5, 0.5)
    result = project(p, q, claim)
    f, g = result.e_values
    for _ in range(100):
        x, y = rng.dirichlet(np.full(5, 0.5), 2)
        if rng.random() < 0.5:  # near the projection itself
            x, y = (0.9 * a + 0.1 * b for a, b in ((result.p_star, x), (result.q_star, y)))
        low, high = 0.0, 1.0  # the largest share of the pair that satisfies the claim
        middle = (x + y) / 2
        for _ in range(20):
            t = (low + high) / 2
            ok = max(constraints(claim, t * x + (1 - t) * middle, t * y + (1 - t) * middle)) <= 0
            low, high = (t, high) if ok else (low, t)
        x, y = (low * side + (1 - low) * middle for side in (x, y))
        assert x @ f + y @ g <= 2 + 1e-9
        assert (x @ f) * (y @ g) <= 1 + 1e-9


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_largest_sum_is_that_of_a_linear_programme(epsilon, delta):
    rng = np.random.default_rng(3)
    k, s = 6, math.exp(epsilon)
    for _ in range(5):
        f, g = rng.exponential(size=(2, k)) ** rng.choice([0.5, 1, 3])
        unit = np.eye(k)
        above = np.block([[unit, -s * unit, -unit, 0 * unit], [-s * unit, unit, 0 * unit, -unit]])
        total = np.hstack([np.zeros((2, 2 * k)), np.kron(np.eye(2), np.ones(k))])
        solution = linprog(
            -np.concatenate([f, g, np.zeros(2 * k)]),
            A_ub=np.vstack([above, total]),
            b_ub=np.concatenate([np.zeros(2 * k), [delta, delta]]),
            A_eq=np.hstack([np.kron(np.eye(2), np.ones(k)), np.zeros((2, 2 * k))]),
            b_eq=[1, 1],
        )
        assert fans.largest_sum(f, g, epsilon, delta) == pytest.approx(-solution.fun, rel=1e-9)


def test_rounded_payoffs_have_a_largest_sum_of_their_own():
    p, q = laws(9, 20)
    result = project(p, q, approximate(0.2, 1e-3))
    f, g = result.payoff.round(2), result.payoff_prime.round(2)
    assert abs(fans.largest_sum(f, g, 0.2, 1e-3) - 2) < 0.02


def test_two_coins_have_a_closed_form():
    p, q = np.array([0.9, 0.1]), np.array([0.1, 0.9])
    for epsilon in (0.1, 1.0, 2.0):
        share = 1 / (1 + math.exp(-epsilon))
        star = np.array([share, 1 - share])
        assert project(p, q, pure(epsilon)).kl_inf == pytest.approx(2 * kl(p, star), abs=1e-10)
        top = (math.exp(epsilon) + 0.01) / (1 + math.exp(epsilon))
        star = np.array([top, 1 - top])
        result = project(p, q, approximate(epsilon, 0.01))
        assert result.kl_inf == pytest.approx(2 * kl(p, star), abs=1e-10)
        assert result.p_star == pytest.approx(star)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text())
def test_what_satisfies_the_claim_is_its_own_projection(claim):
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.49, 0.31, 0.2, 0.0])
    result = project(p, q, claim)
    assert result.kl_inf == 0
    assert result.p_star == pytest.approx(p)
    assert (result.payoff == 1).all()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text())
def test_disjoint_laws_and_empty_cells(claim):
    p, q = np.array([0.7, 0.3, 0, 0, 0]), np.array([0, 0, 0.5, 0.5, 0])
    result = project(p, q, claim)
    assert 0 < result.kl_inf <= 2 * math.log(2)
    assert result.gap < 1e-4
    assert np.isfinite(result.payoff).all()
    # cells of the same law are alike: the answer is that for two coins
    two = project(np.array([1.0, 0.0]), np.array([0.0, 1.0]), claim)
    assert result.kl_inf == pytest.approx(two.kl_inf, abs=1e-4)


@pytest.mark.parametrize("claim", [pure(0.0), renyi({2: 0.0}), zcdp(0.0)], ids=lambda c: c.text())
def test_a_claim_of_level_0_is_of_equal_laws(claim):
    p, q = laws(1, 7)
    mean = (p + q) / 2
    result = project(p, q, claim)
    assert result.kl_inf == pytest.approx(kl(p, mean) + kl(q, mean), abs=1e-10)
    assert result.p_star == pytest.approx(mean)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text())
def test_the_order_of_the_laws_and_of_the_cells_does_not_matter(claim):
    p, q = laws(11, 9)
    result, turned = project(p, q, claim), project(q[::-1], p[::-1], claim)
    assert turned.kl_inf == pytest.approx(result.kl_inf, abs=1e-6)
    assert turned.payoff[::-1] == pytest.approx(result.payoff_prime, abs=1e-3)


def test_huge_ratios():
    p = np.array([1 - 1e-9, 1e-9, 0.0])
    q = np.array([1 - 1e-9 - 1e-15, 1e-15, 1e-9])
    for claim in [*CLAIMS, pure(20.0), approximate(10.0, 1e-12)]:
        result = project(p, q, claim)
        assert 0 <= result.kl_inf < 1e-8


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.6], HALF, "p must have sum 1"),
        (HALF, [1.0], "q must have the 2 cells of p"),
        ([-0.5, 1.5], HALF, "p must be finite and not negative"),
        ([HALF], HALF, "p must have one dimension"),
    ],
)
def test_bad_laws_are_refused(p, q, message):
    with pytest.raises(ArgumentError, match=message):
        project(np.array(p), np.array(q), pure(1.0))


def gaussian(mean, scale):
    return lambda z: ndtr((z - mean) / scale)


def laplace(mean, scale):
    def cdf(z):
        tail = np.exp(-np.abs(z - mean) / scale) / 2
        return np.where(z < mean, tail, 1 - tail)

    return cdf


@pytest.mark.parametrize(
    ("noise", "epsilon", "floor"),
    [
        (gaussian, 0.01, 16.4),
        (gaussian, 0.1, 18.8),
        (gaussian, 1.0, 58.8),
        (laplace, 0.01, 28.5),
        (laplace, 0.1, 34.6),
        (laplace, 1.0, 184.2),
    ],
)
def test_the_floors_of_two_mechanisms_that_are_not_private(noise, epsilon, floor):
    ends = np.sinh(np.linspace(-8, 8, 4000)) / np.sinh(8) * 60 / epsilon
    sides = noise(0, 2 / epsilon)(ends), noise(0.5, 1 / epsilon)(ends)
    p, q = (np.clip(np.diff(side, prepend=0.0, append=1.0), 0, 1) for side in sides)
    kl_inf = project(p, q, pure(epsilon)).kl_inf
    assert round(limit.floor(kl_inf, 0.05), 1) == floor
    assert limit.floor(kl_inf, 0.05) < limit.floor(
        project(p, q, approximate(epsilon, 1e-5)).kl_inf, 0.05
    )


@pytest.mark.parametrize(("draws", "share"), [(4000, 0.950), (50_000, 0.986), (200_000, 0.993)])
def test_the_ceilings_of_laplace_noise(draws, share):
    bound = limit.ceiling(law("laplace", 0.7), 0.0, 1.0, pure(0.1), draws)
    assert round(bound / 0.7, 3) == share


@pytest.mark.parametrize(("draws", "share"), [(4000, 0.596), (50_000, 0.750), (200_000, 0.796)])
def test_the_ceilings_of_a_sparse_vector(draws, share):
    exact, x, y = law("sparse_vector", 0.7, 6), [1] * 10, [0] * 5 + [2] * 5
    bound = limit.ceiling(exact, x, y, pure(0.1), draws)
    assert round(bound / exact.privacy_loss(x, y), 3) == share


@pytest.mark.parametrize(
    ("name", "parameters", "x", "y"),
    [
        ("laplace", {"epsilon": 1.0}, 0.0, 1.0),
        ("gaussian", {"epsilon": 1.0, "delta": 1e-5}, 0.0, 1.0),
        (
            "gaussian_vector",
            {"epsilon": 1.0, "dimension": 2, "delta": 1e-5},
            [0.0, 0.0],
            [1.0, 0.0],
        ),
        ("laplace_vector", {"epsilon": 1.0, "dimension": 2}, [0.0, 0.0], [1.0, 0.0]),
        ("exponential_half_line", {"epsilon": 1.0}, 0.0, 1.0),
        ("randomized_response", {"outcomes": 4, "epsilon": 1.0}, 0, 1),
    ],
)
def test_cells_of_exact_laws(name, parameters, x, y):
    exact = law(name, **parameters)
    p, q = limit.cells(exact, x, y)
    assert p.sum() == pytest.approx(1)
    kept = (p > 0) & (q > 0)
    renyi_2 = math.log((p[kept] ** 2 / q[kept]).sum())
    assert renyi_2 == pytest.approx(exact.renyi(2.0, x, y), rel=1e-9)
    level = max(renyi_2, exact.renyi(2.0, y, x))
    assert 0 < limit.limit(exact, x, y, renyi({2: level / 2})).kl_inf < 2 * math.log(2)
    assert limit.limit(exact, x, y, renyi({2: level * 1.001})).kl_inf == 0


def test_a_law_without_cells_is_refused():
    with pytest.raises(ArgumentError, match="differ in several entries"):
        limit.cells(law("laplace_vector", epsilon=1.0, dimension=2), [0.0, 0.0], [1.0, 1.0])


@pytest.mark.slow(seconds=1)
def test_more_draws_have_a_higher_ceiling_of_any_quantity():
    exact = law("laplace", 0.7)
    for claim, truth in ((renyi({2: 0.1}), exact.renyi(2.0, 0.0, 1.0)), (Delta(0.1, 0.1), 0.26)):
        few, many = (limit.ceiling(exact, 0.0, 1.0, claim, n) for n in (500, 50_000))
        assert 0 < few < many < truth


def test_limits_of_numbers():
    assert limit.floor(0.0, 0.05) == math.inf
    assert limit.least_draws(0.01, 0.05, 0.9) == pytest.approx(limit.coins(0.9, 0.05) / 0.01)
    assert limit.coins(0.05, 0.05) == 0
    with pytest.raises(ArgumentError, match="alpha must lie strictly"):
        limit.floor(0.1, 1.0)


def test_randomised_response_needs_fewer_draws_than_laplace_noise_of_its_level():
    coin = np.array([1 / (1 + math.exp(-1.2)), 1 / (1 + math.exp(1.2))])
    noise = limit.limit(law("laplace", 1.2), 0.0, 1.0, pure(1.0))
    needed = [
        limit.least_draws(each.kl_inf, 0.05, 0.9)
        for each in (project(coin, coin[::-1], pure(1.0)), noise)
    ]
    assert 322 < needed[0] < 323 < needed[1] < 480
