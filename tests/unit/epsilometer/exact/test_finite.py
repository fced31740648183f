"""Laws of few outputs, by their probabilities in many digits."""

import math
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.exact.base import divergence
from epsilometer.exact.finite import ExactBernoulliPair
from epsilometer.mechanisms.finite import BernoulliPair, CountingExponential
from tests.unit.epsilometer.exact.laws import EPSILONS, check_both_ways, close, law


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("outcomes", [2, 5])
def test_randomised_response(outcomes, epsilon):
    lie = 1 / (Decimal(epsilon).exp() + outcomes - 1)
    truth, others = 1 - (outcomes - 1) * lie, [lie] * (outcomes - 2)
    exact = law("randomized_response", epsilon, outcomes=outcomes)
    check_both_ways(exact, 0, 1, [truth, lie, *others], [lie, truth, *others])
    assert close(exact.smallest_probability, lie)


BITS = list(product((0, 1), repeat=3))


def chances_of_bits(x, epsilon):
    """Return the probabilities of all answers of three people, each kept with its chance."""
    keep = 1 / (1 + Decimal(-epsilon).exp())
    flip = Decimal(-epsilon).exp() * keep

    def chance(bits):
        flips = sum(a != b for a, b in zip(x, bits, strict=True))
        return flip**flips * keep ** (3 - flips)

    return [chance(bits) for bits in BITS]


def shuffled(chances):
    """Return the same where answers with as many ones are equally likely."""
    of_ones = [Decimal(0)] * 4
    for bits, chance in zip(BITS, chances, strict=True):
        of_ones[sum(bits)] += chance
    return [of_ones[sum(bits)] / math.comb(3, sum(bits)) for bits in BITS]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("x", "y"), [((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 0, 1)), ((1, 0, 1), (0, 1, 1))]
)
def test_randomised_bits(x, y, epsilon):
    exact, mixed = (law("randomized_bits", epsilon, 3, shuffled=both) for both in (False, True))
    p, q = chances_of_bits(x, epsilon), chances_of_bits(y, epsilon)
    check_both_ways(exact, x, y, p, q)
    if sum(x) == sum(y):
        assert mixed.privacy_loss(x, y) == mixed.renyi(2.0, x, y) == 0
    else:
        check_both_ways(mixed, x, y, shuffled(p), shuffled(q))


@pytest.mark.parametrize("epsilon", np.geomspace(1e-4, 10, 30).tolist())
def test_shuffled_bits_of_losses_of_every_size(epsilon):
    """Formulas change where a loss is no longer small."""
    x, y = (1, 0, 0), (0, 0, 0)
    p, q = shuffled(chances_of_bits(x, epsilon)), shuffled(chances_of_bits(y, epsilon))
    check_both_ways(law("randomized_bits", epsilon, 3, shuffled=True), x, y, p, q)


def test_a_law_enumerates_the_bits_of_twenty_people_at_most():
    law("randomized_bits", 1.0, people=20)
    with pytest.raises(ArgumentError, match="20"):
        law("randomized_bits", 1.0, people=21)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("x", "y"), [([0, 1, 1], [0, 1]), ([0, 0, 1, 2], [0, 1, 2]), ([], [2])])
def test_the_exponential_mechanism(x, y, epsilon):
    def chances(database):
        weights = [(Decimal(epsilon) * database.count(v) / 2).exp() for v in range(3)]
        return [w / sum(weights) for w in weights]

    check_both_ways(law("counting_exponential", epsilon), x, y, chances(x), chances(y))


def test_the_exponential_mechanism_takes_thousands_of_people():
    """Their weight alone is beyond any double."""
    p = CountingExponential(4.0, values=2).weights([0] * 1000 + [1] * 999)
    assert p == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize(
    ("budget", "delta", "order"), [(1000, 0.8, 3.0), (1000, 0.8, math.inf), (1, 0.99, math.inf)]
)
def test_coins(budget, delta, order, epsilon):
    exact = law("bernoulli_pair", epsilon, budget, delta, order)
    likely = Decimal(BernoulliPair(epsilon, budget, delta, order).chances[0])
    power = 1 if math.isinf(order) else Decimal(order) / (Decimal(order) - 1)
    rare = (power * likely.ln() - Decimal(epsilon)).exp()
    check_both_ways(exact, 0, 1, [1 - likely, likely], [1 - rare, rare])
    assert close(exact.smallest_probability, rare)


@pytest.mark.parametrize("rarity", [1e-8, 0.5, 40.0, 200.0])
def test_a_rare_match(rarity):
    chance = Decimal(-rarity).exp()
    check_both_ways(law("rare_match", 1.0, rarity), 1, 0, [1 - chance, chance], [1, Decimal(0)])


@pytest.mark.parametrize("others", [(0.5, 0.5), (0.1, 0.1, 0.9), ()])
@pytest.mark.parametrize(("known", "other"), [(0.3, 0.8), (0.0, 1.0)])
def test_random_rows(known, other, others):
    def chances(rows):
        of_counts = [Decimal(0)] * (len(rows) + 1)
        for bits in product((0, 1), repeat=len(rows)):
            drawn = zip(map(Decimal, rows), bits, strict=True)
            of_counts[sum(bits)] += math.prod(r if bit else 1 - r for r, bit in drawn)
        return of_counts

    x, y = [known, *others], [other, *others]
    check_both_ways(law("random_rows", 1.0), x, y, chances(x), chances(y))


@pytest.mark.parametrize(("x", "y"), [([100, 0], [100, 1]), ([4, 0], [6, 0])])
def test_a_noiseless_count(x, y):
    def chances(rows, bit):
        """Return the probabilities of 0, ..., 100 ones."""
        ways = [Decimal(math.comb(rows - 1, k)) / 2 ** (rows - 1) for k in range(101)]
        return ways if bit == 0 else [Decimal(0), *ways[:-1]]

    check_both_ways(law("noiseless_count", 1.0), x, y, chances(*x), chances(*y))


# --- gorla2022, theorems 1 and 5: within its budget every estimator errs as often as they say -----


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, math.inf])
@pytest.mark.parametrize("budget", [10, 10**9])
@pytest.mark.parametrize("delta", [0.1, 0.99])
def test_the_pair_defeats_the_budget(order, budget, delta):
    for answer in (-1.0, 0.4):
        pair = BernoulliPair.against(answer, gamma=0.7, budget=budget, delta=delta, order=order)
        level = divergence(ExactBernoulliPair(pair), order, 0, 1)
        assert level >= pair.epsilon * (1 - 1e-9)
        assert pair.epsilon == pytest.approx(max(answer, 0.0) + 2 * 0.7)  # no more than is needed
    # all of the budget may go to the likelier coin; zeros only is then still likely enough
    assert (1 - max(pair.chances)) ** budget > 1 - delta
    assert (1 - budget * max(pair.chances)) ** 3 == pytest.approx(1 - delta)  # rho of the theorem
