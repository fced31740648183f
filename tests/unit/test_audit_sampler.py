"""Bad samplers are found, and good ones never fail, at any law."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilometer_audit.checks import calls, fresh_processes, sampler
from epsilometer_audit.checks import permutations as tails
from epsilometer_audit.checks.calls import Sample
from epsilometer_audit.checks.fresh_processes import other_process
from epsilometer_audit.checks.sampler import check, check_drawn, check_recorded

NAMES = ["same seed", "other seed", "repetitions", "independent draws", "order of calls"]


def rng(seed):
    return np.random.default_rng(seed)


def words(x, size, seed):
    return [("a", "b", "cc", None)[i] for i in rng(seed).choice(4, size, p=[0.7, 0.2, 0.09, 0.01])]


def mixed(x, size, seed):
    shares = rng(seed).random(size).tolist()
    return [None if u < 0.1 else float("nan") if u < 0.2 else "w" if u < 0.3 else u for u in shares]


HONEST: dict[str, Callable[[Any, int, int], Any]] = {
    "laplace": lambda x, n, s: rng(s).laplace(x, 1, n),
    "cauchy": lambda x, n, s: rng(s).standard_cauchy(n) * 10.0 ** (300 * x),
    "coin": lambda x, n, s: rng(s).random(n) < 0.5 + 0.2 * x,
    "one in a thousand": lambda x, n, s: (rng(s).random(n) < 1e-3 * (1 + x)).astype(int),
    "atom and rare reals": lambda x, n, s: rng(s).random(n) * (rng(s + 1).random(n) < 0.02),
    "no noise": lambda x, n, s: np.full(n, float(x)),
    "words": words,
    "geometric": lambda x, n, s: rng(s).geometric(0.03, n),
    "skewed": lambda x, n, s: rng(s).exponential(1, n) ** 8,
    "mixed": mixed,
    "clamped": lambda x, n, s: np.maximum(rng(s).laplace(x, 1, n), 0),
    "rounded": lambda x, n, s: rng(s).laplace(x, 1, n).round(1),
    "vectors": lambda x, n, s: rng(s).normal(x, 1, (n, 8)),
    "records": lambda x, n, s: [{"a": a, "b": a > 1} for a in rng(s).normal(x, 1, n).tolist()],
    "system": lambda x, n, s: np.random.default_rng().laplace(x, 1, n),
}


class Kept:
    """Noise that is kept for some calls: one number, or an array of it."""

    def __init__(self, calls, *, array=False, own=True):
        self.calls, self.array, self.own, self.made = calls, array, own, 0

    def __call__(self, x, size, seed):
        if self.made % self.calls == 0:
            self.noise = rng(seed).laplace(0, 1, 5000 if self.array else 1)
        self.made += 1
        noise = self.noise[:size] if self.array else np.full(size, self.noise[0])
        return x + noise + (rng(seed + 1).laplace(0, 1, size) if self.own else 0)


class Drifting:
    """A counter that moves or stretches the noise, by so much in 2000 draws."""

    def __init__(self, shift=0.0, stretch=0.0):
        self.shift, self.stretch, self.drawn = shift, stretch, 0

    def __call__(self, x, size, seed):
        passed = (self.drawn + np.arange(size)) / 2000
        self.drawn += size
        return x + self.shift * passed + (1 + self.stretch * passed) * rng(seed).laplace(0, 1, size)


class Remembering:
    """The input of the last call moves the outputs of the next: all of them, or the first."""

    def __init__(self, weight, *, first=False):
        self.weight, self.first, self.last = weight, first, 0.0

    def __call__(self, x, size, seed):
        out = x + rng(seed).laplace(0, 1, size)
        out[: 1 if self.first else size] += self.weight * (self.last - x)
        self.last = x
        return out


def chain(r):
    def draw(x, size, seed):
        noise = rng(seed).normal(0, 1, size)
        for i in range(1, size):
            noise[i] = r * noise[i - 1] + np.sqrt(1 - r * r) * noise[i]
        return x + noise

    return draw


def repeated(law, times):
    def draw(x, size, seed):
        outputs = HONEST[law](x, -(-size // times), seed)
        return [output for output in outputs for _ in range(times)][:size]

    return draw


def tiled(law, times):
    return lambda x, n, s: (list(HONEST[law](x, -(-n // times), s)) * times)[:n]


def constant_seed(law):
    return lambda x, n, s: HONEST[law](x, n, 3)


def partly_constant(x, size, seed):
    return x + rng(5).laplace(0, 1, size) + rng(seed).laplace(0, 1, size)


WITHIN = {"repetitions", "independent draws"}
BETWEEN = {"order of calls"}
CHEATS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "constant seed": (lambda: constant_seed("laplace"), {"other seed"}),
    "constant seed, coin": (lambda: constant_seed("coin"), {"other seed"}),
    "constant seed of a part": (lambda: partly_constant, {"other seed"}),
    "noise kept for a call": (lambda: Kept(1), BETWEEN),
    "noise of a call alone": (lambda: Kept(1, own=False), {"repetitions"}),
    "noise kept for ten calls": (lambda: Kept(10), BETWEEN),
    "an array kept for two calls": (lambda: Kept(2, array=True, own=False), {"other seed"}),
    "an array kept for ever": (lambda: Kept(10**6, array=True, own=False), {"other seed"}),
    "drift": (lambda: Drifting(shift=1.0), BETWEEN),
    "stretching": (lambda: Drifting(stretch=1.0), BETWEEN),
    "the input before": (lambda: Remembering(1.0), BETWEEN),
    "the input before, at first": (lambda: Remembering(4.0, first=True), {"order of calls"}),
    "scaled by the size": (lambda: lambda x, n, s: rng(s).laplace(x, 1 / n, n), BETWEEN),
    "ten times": (lambda: repeated("laplace", 10), WITHIN),
    "twice": (lambda: repeated("laplace", 2), WITHIN),
    "tiled": (lambda: tiled("laplace", 10), WITHIN),
    "chain": (lambda: chain(0.5), {"independent draws"}),
    "alternating chain": (lambda: chain(-0.5), {"independent draws"}),
}


def failed(draw, *, draws=2000, seed=1, seeded=True, inputs=(0.0, 1.0), alpha=1e-3):
    checks = check(draw, inputs, draws=draws, seed=seed, seeded=seeded, alpha=alpha)
    assert [item.name for item in checks] == NAMES
    assert all("\n" not in item.text for item in checks)
    return {item.name: item.text for item in checks if item.result == "failed"}


@pytest.mark.parametrize("name", CHEATS)
def test_bad_samplers_are_found(name):
    make, expected = CHEATS[name]
    failures = failed(make())
    assert failures
    assert set(failures) & expected == set(failures)


@pytest.mark.parametrize("name", HONEST)
def test_a_sampler_never_fails(name):
    for seed, draws in ((1, 1000), (2, 201), (3, 40)):
        assert not failed(HONEST[name], draws=draws, seed=seed)


def test_thresholds_a_hundred_times_as_large_fail_in_one_of_ten_at_most(monkeypatch):
    for name in ("_MATCHES", "_POSITIONS", "_REPETITIONS", "_SERIAL", "_ORDER"):
        monkeypatch.setattr(sampler, name, 100 * getattr(sampler, name))
    laws = ("laplace", "coin", "one in a thousand", "clamped")
    alarms = sum(bool(failed(HONEST[law], draws=200, seed=s)) for law in laws for s in range(12))
    assert alarms <= 0.08 * 48


def test_the_parts_of_all_checks_sum_to_alpha():
    parts = ["_POSITIONS", "_REPETITIONS", "_DRAWN", "_MATCHES", "OTHERS", "_SERIAL", "_ORDER"]
    assert sum(getattr(sampler, part) for part in parts) == pytest.approx(sampler.ALPHA)


def of_calls(alpha, inputs):
    checks = check(HONEST["laplace"], inputs, draws=200, seed=1, seeded=True, alpha=alpha)
    return {item.name for item in checks if item.result != "passed"}


def of_drawn(alpha, inputs):
    found = check_drawn(*rng(1).laplace(size=(2, 3, 100)), alpha=alpha, calls=[[100] * 3] * 2)
    return {found.name} - {found.name if found.result == "passed" else ""}


def of_recorded(alpha, inputs):
    checks = check_recorded(*rng(1).laplace(size=(2, 300)))
    return {item.name for item in checks if item.result == "note"}


PARTS = [  # a test, what it is a part of, the check that fails, and its part of alpha
    ("agreement", of_calls, "other seed", sampler._MATCHES),
    ("places_p", of_calls, "other seed", sampler._POSITIONS),
    ("clustered", of_calls, "repetitions", sampler._REPETITIONS),
    ("serial_p", of_calls, "independent draws", sampler._SERIAL),
    ("unlikely", of_calls, "order of calls", sampler._ORDER),
    ("clustered", of_drawn, "repetitions", sampler._DRAWN / 4),
    ("by_time", of_drawn, "order of calls", sampler._DRAWN / 4),
    ("calls_p", of_drawn, "order of calls", sampler._DRAWN / 4),
    ("serial_p", of_drawn, "independent draws", sampler._DRAWN / 4),
    ("serial_p", of_recorded, "independent draws", 2e-4),
    ("by_time", of_recorded, "independent draws", 2e-4),
]


@pytest.mark.parametrize("inputs", [(0.0,), (0.0, 1.0, 2.0, 3.0)], ids=len)
@pytest.mark.parametrize(("alpha", "share"), [(0.005, 1.0), (sampler.ALPHA / 4, 0.25)])
@pytest.mark.parametrize(("tested", "failing", "name", "part"), PARTS)
def test_a_check_fails_up_to_its_part_of_alpha_over_the_number_of_its_tests(
    tested, failing, name, part, alpha, share, inputs, monkeypatch
):
    made = []

    def failing_at(p):
        def p_value(*arguments):
            if tested == "unlikely":
                made.extend(arguments[1])
                return np.full(len(arguments[1]), p)
            made.append(p)
            return tails.Matches(p, 1, 10, 10) if tested == "agreement" else p

        monkeypatch.setattr(tails, tested, p_value)
        return name in failing(alpha, inputs)

    assert not failing_at(1.0)
    limit = part / len(made) * (1.0 if failing is of_recorded else share)
    assert failing_at(limit)
    assert not failing_at(1.01 * limit)


@pytest.mark.parametrize(("same", "lag", "fails"), [(10, 5, True), (9, 5, False), (10, 10, False)])
def test_dependent_draws_of_a_call_are_those_of_an_earlier_one_if_all_are(
    same, lag, fails, monkeypatch
):
    """A dozen short calls of five draws."""
    monkeypatch.setattr(tails, "serial_p", lambda *_: 0.0)
    monkeypatch.setattr(tails, "places_p", lambda *_: 0.0)  # is not asked
    monkeypatch.setattr(tails, "agreement", lambda *_: tails.Matches(0.0, same, 10, lag))
    names = {"independent draws"} | ({"other seed"} if fails else set())
    assert set(failed(HONEST["laplace"], draws=200)) == names


@pytest.mark.parametrize("size", [5, 130, None])
def test_draws_without_a_seed_repeat_where_short_calls_and_the_long_one_do(size):
    def draw(x, n, seed):
        return rng(seed if n != size else None).normal(size=n)

    first, *_ = check(draw, [0.0], draws=200, seed=1, seeded=False)
    assert first.result == ("passed" if size is None else "skipped")


@pytest.mark.parametrize(("draws", "size"), [(4000, 100), (400, 40), (60, 30), (20, 12)])
@pytest.mark.parametrize(("alpha", "share"), [(0.005, 1.0), (sampler.ALPHA / 4, 0.25)])
def test_equal_draws_of_two_processes_fail_where_chance_makes_them_too_rarely(
    draws, size, alpha, share, monkeypatch
):
    asked = []

    class Other:
        def draw(self, x, size, seed):
            asked.append((size, seed))
            return rng(seed).normal(size=size)

        def close(self):
            pass

    monkeypatch.setattr(fresh_processes, "_another", lambda _: Other())
    assert other_process(None, 0, draws, 1, alpha).result == "passed"
    assert [asked_size for asked_size, _ in asked] == [size, size]
    assert len({seed for _, seed in asked}) == 2
    limit = sampler.OTHERS * share
    states = [(0.99, 1, "failed"), (1.01, size - 1, "passed"), (1.01, size, "note")]
    for times, same, result in states:
        match = tails.Matches(times * limit, same, size, size)
        monkeypatch.setattr(fresh_processes, "agreement", lambda *_, match=match: match)
        assert other_process(None, 0, draws, 1, alpha).result == result


def test_the_text_of_a_check_has_place_and_reason():
    (text,) = failed(CHEATS["constant seed"][0]()).values()
    assert text == (
        "on input 0.0, 550 of 550 outputs are those of an earlier call at another seed: a constant "
        "seed inside, or noise that is kept for further calls"
    )


def test_draws_that_do_not_follow_the_seed_are_noted():
    checks = check(HONEST["system"], [0.0, 1.0], draws=400, seed=1, seeded=True)
    assert [item.result for item in checks] == ["note"] + ["passed"] * 4
    assert checks[0].text.startswith(
        "draws do not follow the seed: this audit cannot be replayed to the draw (10 of 10 differ"
    )
    checks = check(HONEST["system"], [0.0], draws=400, seed=1, seeded=False)
    assert [item.result for item in checks] == ["skipped"] + ["passed"] * 4
    checks = check(HONEST["no noise"], [0.0, 1.0], draws=400, seed=1, seeded=True)
    (note,) = (item for item in checks if item.result != "passed")
    assert (note.name, note.result) == ("other seed", "note")
    assert "there is no noise, or one constant seed" in note.text


def test_the_number_of_draws_is_exact_and_every_seed_is_another():
    calls: list[tuple[float, int, int]] = []

    def draw(x, size, seed):
        calls.append((x, size, seed))
        return rng(seed).laplace(x, 1, size)

    for draws in (40, 999, 999):
        again = list(calls)
        calls.clear()
        check(draw, [0.0, 1.0, 2.0], draws=draws, seed=1, seeded=True)
        for x in (0.0, 1.0, 2.0):
            assert sum(size for y, size, _ in calls if x == y) == draws
        assert len({seed for *_, seed in calls}) == len(calls) - 3  # three are repeated
        assert all(type(seed) is int and 0 <= seed < 2**31 for *_, seed in calls)
        assert max(seed for *_, seed in calls) > 2**28  # but for a chance of 8^-40
    assert calls == again


# --- tails ----------------------------------------------------------------------------------------


def codes_of(outputs):
    return np.unique(np.array(outputs, str), return_inverse=True)[1]


def clustered(codes, sizes):
    return tails.clustered(codes, np.bincount(codes), sizes)


def of_draws(scores):
    return tails.Scores(scores, np.ones(scores.size), np.arange(scores.size))


def of_groups(scores, *groups):
    inside = np.array(groups, float)
    own = of_draws(scores)
    return tails.unlikely(own, inside.sum(axis=1), inside @ own[:])


BOUNDS = {
    "clusters": lambda outputs: clustered(codes_of(outputs), [1, 1, 8, 10, 20, 40, 120]),
    "agreement": lambda outputs: (
        tails.agreement(codes_of(outputs), np.arange(100).reshape(5, 20)).p
    ),
    "Bennett": lambda outputs: float(of_groups(outputs, np.arange(200) < 40)[0]),
}


@pytest.mark.parametrize("law", ["coin", "geometric", "one in a thousand", "rounded", "skewed"])
@pytest.mark.parametrize("name", BOUNDS)
def test_p_values_are_bounds(name, law):
    p_values = [BOUNDS[name](HONEST[law](0, 200, seed) * 1.0) for seed in range(300)]
    for level in (0.02, 0.1, 0.3):
        assert np.mean(np.array(p_values) <= level) <= level


def test_p_values_of_clusters_are_bounds_among_all_orders():
    orders = []
    for pairs in itertools.permutations(range(10), 4):  # all others occur once
        codes = np.arange(10)
        codes[list(pairs)] = [20, 20, 21, 21]
        orders += [codes] if pairs[0] < pairs[1] and pairs[2] < pairs[3] else []
    ranks = [np.unique(codes, return_inverse=True)[1] for codes in orders]
    p_values = np.array([clustered(codes, [2, 3, 5]) for codes in ranks])
    assert (p_values < 0.8).any()
    for level in np.unique(p_values[p_values < 1]):
        assert np.mean(p_values <= level) <= level


def test_the_bet_on_clusters_is_a_ratio_of_likelihoods():
    """Of a Dirichlet-multinomial to a multivariate hypergeometric law, value by value."""
    sizes = [1, 2, 1, 9, 1, 6, 10, 1]
    codes = np.array(
        [7, 0, 0, 1, 2, 2, 2, 8, 9, 1, 3, 3, 3, 4, *[5] * 6, *[6] * 4, 4, 0, 3, 6, 6, 0, 10]
    )
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    of_single = [i for i, size in enumerate(sizes) if size == 1]  # are one call
    group = np.array([0 if i in of_single else 1 + i for i in numbers])
    groups = np.unique(group)
    left = np.array([np.count_nonzero(group == g) for g in groups])
    times = np.bincount(codes)
    wealth, largest = np.zeros(3), 1.0
    for value in np.argsort(times, kind="stable"):
        if times[value] < 2:
            continue
        counts = np.array([np.count_nonzero(codes[group == g] == value) for g in groups])
        drawn, total = counts.sum(), left.sum()
        if 4 * drawn <= total:
            some = left > 0
            chance = stats.multivariate_hypergeom.logpmf(counts, left, drawn)
            for i, overdispersion in enumerate((0.1, 1.0, 10.0)):
                weights = left[some] * drawn / overdispersion / total
                bet = stats.dirichlet_multinomial.logpmf(counts[some], weights, drawn)
                wealth[i] += bet - chance
        largest = max(largest, np.exp(wealth).mean())
        left = left - counts
    assert clustered(codes, sizes) == pytest.approx(1 / largest)
    assert largest > 2
    assert clustered(np.arange(6), [3, 3]) == 1


@pytest.mark.parametrize(("share", "pieces"), [(1.0, 6), (0.011, 6), (0.01, 12), (1e-6, 12)])
def test_of_a_small_alpha_the_checks_have_twice_as_many_pieces(share, pieces, monkeypatch):
    """A p-value of six is not below 5e-9: that of 199 permutations each."""
    asked = set()
    monkeypatch.setattr(tails, "serial_p", lambda pieces, *_: asked.add(len(pieces)) or 1.0)
    monkeypatch.setattr(tails, "places_p", lambda _, __, pieces, ___: asked.add(pieces) or 1.0)
    check(HONEST["laplace"], [0.0], draws=400, seed=1, seeded=True, alpha=share * sampler.ALPHA)
    assert asked == {pieces}


def test_scores_have_mean_0_and_variance_1():
    values, classes = np.array([-1.0, 0.2, 0.9]), np.array([0, 0, 1, 2, 2, 2, 1])
    draws = values[classes]
    scores = tails.Scores(values, np.bincount(classes), classes)
    assert scores[:] == pytest.approx((draws - draws.mean()) / draws.std())
    constant = tails.Scores(np.array([0.3, 0.7]), np.array([4, 0]), np.zeros(4, int))
    assert constant[:].tolist() == [0, 0, 0, 0]


def test_the_bound_of_a_group_is_that_of_bennett():
    """2 exp(-n h(b t / n) / b^2), h(u) = (1 + u) log(1 + u) - u; of the complement if smaller."""
    draws = np.sort(rng(3).exponential(size=50))
    own = of_draws(draws)
    for size in (5, 20, 30, 48):
        total = float(own[:size].sum())
        n, b = min(size, 50 - size), np.abs(own[:]).max()
        u = b * abs(total) / n
        wanted = 2 * math.exp(-n / b**2 * ((1 + u) * math.log(1 + u) - u))
        p = tails.unlikely(own, np.array([size]), np.array([total]))[0]
        assert p == pytest.approx(min(wanted, 1))
    assert p < 1


@pytest.mark.parametrize("n", [120, 125])
def test_a_drift_is_looked_for_in_twelve_stretches_and_nine_beginnings(n):
    draws = rng(n).normal(size=n) + (np.arange(n) < n / 3) * 3
    own = of_draws(draws)
    ends = [math.ceil(i * n / 12) for i in range(13)]
    spans = [(ends[i], ends[i + 1]) for i in range(12)] + [(0, ends[i]) for i in range(2, 11)]
    p = [tails.unlikely(own, np.array([b - a]), own[a:b].sum())[0] for a, b in spans]
    assert tails.by_time(own) == pytest.approx(min(p) * 21)
    assert tails.by_time(own) < 0.5


def test_calls_are_cut_into_equal_pieces():
    """A hundred and twenty-eighth of all draws each; what is left of a call is in none."""
    draws, sizes = rng(0).normal(size=1290), [25, 9, 600, 656]
    own = of_draws(draws)
    parts, numbers = tails.pieces([own], sizes)
    assert numbers.tolist() == [2, 60, 65]  # of ten draws each
    starts = [*range(0, 20, 10), *range(34, 634, 10), *range(634, 1284, 10)]
    sums = np.array([own[start : start + 10].sum() for start in starts])
    assert parts[:, 0] == pytest.approx(sums - sums.mean())
    assert tails.pieces([own], [10, 1280])[1].tolist() == [1, 128]
    assert tails.pieces([of_draws(draws[:120])], [60, 60])[1].tolist() == [60, 60]
    assert tails.pieces([own], [1290]) is None
    assert tails.pieces([own], [600, 600]) is None


@pytest.mark.parametrize(
    ("shift", "limit", "beside"), [(4.0, 0.02, 0), (4.0, 0.006, 0), (0.0, 0.2, 0), (4.0, 0.02, 4)]
)
def test_the_p_value_of_calls_is_that_of_all_orders(shift, limit, beside):
    """Of seven pieces in three calls beside four in two on the other side, by enumeration.

    A p-value counts the observed order, and random ones that are at least as extreme.
    """
    parts, numbers = rng(4).normal(size=(7, 2)), np.array([2, 3, 2])
    parts[:2] += shift
    parts[-2:] -= shift
    others = beside * rng(5).normal(size=(4, 1))
    sides = [
        (parts - parts.mean(axis=0), numbers),
        (others - others.mean(axis=0), np.array([1, 3])),
    ]

    def of_orders(parts, numbers):
        """Return the variances between calls of all orders, the observed one first."""
        sums = []
        for order in itertools.permutations(range(len(parts))):
            calls = np.split(parts[[*order]], np.cumsum(numbers)[:-1])
            of_calls = zip(calls, numbers, strict=True)
            sums.append(sum((call.sum(axis=0) ** 2).sum() / k for call, k in of_calls))
        return np.array(sums)

    totals = np.add.outer(*(of_orders(*side) for side in sides))
    exact = np.mean(totals >= totals[0, 0] * (1 - 1e-9))
    orders = math.ceil(2 / limit)
    possible = np.arange(1, int(limit * orders) + 1)
    chances = stats.binom.pmf(possible - 1, orders - 1, exact)
    assert 0.1 < chances.sum() < 0.9  # both sides of the limit are tried
    given = [None, *(side for side in sides if side[0].any())]
    p_values = [tails.calls_p(given, rng(i), limit) for i in range(200)]
    counts = [p_values.count(k / orders) for k in possible]
    assert sum(counts) + p_values.count(1.0) == 200
    for times, chance in zip(counts, chances, strict=True):  # a false alarm: 1e-4 in each
        assert stats.binom.ppf(5e-5, 200, chance) <= times <= stats.binom.isf(5e-5, 200, chance)


def test_agreement_by_hand():
    codes = np.array([0, 1, 0, 1, 0, 0, 0, 1])  # two calls of two draws, and four others
    result = tails.agreement(codes, np.array([[0, 1], [2, 3]]))
    assert (result.same, result.every, result.lag) == (2, 2, 2)
    chances = 4 / 6, 2 / 5
    wealth = [1 / (chances[0] * chances[1])] + [
        odds**2 / math.prod(1 + chance * (odds - 1) for chance in chances) for odds in (2, 10, 1000)
    ]
    assert result.p == pytest.approx(1 / np.mean(wealth))
    assert [tails.Matches(same=same, every=1).share for same in (0, 1)] == [0, 1]


def test_serial_dependence_is_the_largest_circular_correlation(monkeypatch):
    """Of pieces of four draws or more; without permutations where a normal law is far from it."""
    draws = [rng(i).normal(size=size) for i, size in enumerate((4, 9, 16, 16, 25, 36))]

    def largest(piece):
        centred = piece - piece.mean()
        lags = range(1, len(piece) // 2 + 1)
        return max(abs(centred @ np.roll(centred, k)) for k in lags) / (centred @ centred)

    of_pieces = [len(piece) * stats.norm.sf(len(piece) ** 0.5 * largest(piece)) for piece in draws]
    assert min(of_pieces) < 1 < max(of_pieces)
    p = stats.combine_pvalues(np.minimum(of_pieces, 1)).pvalue
    asked = []

    def asks(pieces, statistic, *_):
        asked.append((pieces, statistic))
        return 0.25

    monkeypatch.setattr(tails, "_pieces_p", asks)
    assert tails.serial_p([*draws, np.arange(3.0)], rng(0), 0.99 * p**2) == 1.0
    assert not asked
    assert tails.serial_p([*draws, np.arange(3.0)], rng(0), 1.01 * p**2) == 0.25
    ((pieces, statistic),) = asked
    assert list(map(len, pieces)) == [4, 9, 16, 16, 25, 36]
    for piece in draws:
        both = statistic(np.array([piece, 2 * piece[::-1]]))
        assert both == pytest.approx([largest(piece)] * 2)


def test_orders_that_tie_but_for_rounding_are_as_extreme():
    """A wrong margin is missed with a probability below 1e-6: about half of many would differ."""
    values = rng(1).normal(size=40)
    tied = tails._pieces_p([values], lambda x: x.cumsum(axis=1)[:, -1] + 40, rng(2), 1.0)
    assert tied == 1.0
    for seed in range(20):  # forty calls of one piece: sums of all squares
        ones = [(rng(seed).normal(size=(40, 1)), np.ones(40, int))]
        assert tails.calls_p(ones, rng(seed), 0.5) == 1.0
    first = tails._pieces_p([values], lambda x: 1.0 + (x == values).all(axis=1), rng(3), 1.0)
    assert first == pytest.approx(1 / 200)


@pytest.mark.parametrize("law", ["laplace", "coin", "one in a thousand"])
def test_p_values_of_pieces_are_no_smaller_than_even(law):
    generator = rng(7)
    draws = (HONEST[law](0, 120, seed).astype(float) for seed in range(120))
    p_values = np.array([tails.serial_p(np.array_split(x, 6), generator, 1.0) for x in draws])
    for level, most in ((0.05, 15), (0.2, 38)):  # with probability .999 each
        assert np.count_nonzero(p_values <= level) <= most


def test_a_p_value_of_pieces_at_the_limit_is_returned_and_one_above_is_1():
    pieces = np.repeat(rng(6).normal(size=(6, 16)), 2, axis=1)
    pieces = [*(pieces + 0.8 * rng(7).normal(size=pieces.shape))]
    p = tails.serial_p(pieces, rng(0), 1.0)
    assert p < 0.2
    assert tails.serial_p(pieces, rng(0), p) == p
    assert tails.serial_p(pieces, rng(0), 0.999 * p) == 1.0
    assert tails.serial_p([np.arange(3.0)], rng(0), 1.0) == 1.0  # too few draws


def test_a_drift_that_the_checks_miss_is_found_in_all_draws_of_an_audit():
    drifting, sides = Drifting(shift=0.02), ([], [])
    for i, size in enumerate((500, 500, 1000, 2000, 4000, 8000, 16_000)):
        for side in (0, 1):
            sides[side].append(drifting(0.5 * side, size, 10 * i + side))
    assert not failed(Drifting(shift=0.02))
    result = check_drawn(*sides)
    assert (result.name, result.result) == ("order of calls", "failed")
    for law in ("laplace", "one in a thousand", "mixed", "no noise", "vectors"):
        batches = [[HONEST[law](side, 500, 2 * i + side) for i in range(6)] for side in (0, 1)]
        assert check_drawn(*batches).result == "passed"


def test_a_drift_is_found_on_the_side_with_more_kinds_of_outputs():
    few, many = ([rng(i).integers(kinds, size=2000) for i in range(4)] for kinds in (2, 50))
    drifting = [np.where(rng(9 + i).random(2000) < i / 20, 49, side) for i, side in enumerate(many)]
    assert check_drawn(few, many).result == check_drawn(many, few).result == "passed"
    for sides, name in (((few, drifting), "on x',"), ((drifting, few), "on x,")):
        assert check_drawn(*sides).text.startswith(name)


def test_equal_outputs_have_equal_scores():
    rows = np.tile(rng(1).choice([0.1, 0.2, 0.7], (7, 11)), (30, 1))
    for score in Sample([rows], "rows").scores:
        assert (score[:].reshape(30, 7) == score[:7]).all()


def standardised(values):
    return (values - values.mean()) / values.std()


def test_scores_are_ranks_their_distances_from_the_median_and_signs():
    """In plain steps: of four entries at most, and of the sum of all with a sign each."""
    numbers = rng(1).normal(size=101)
    ranks, distances = Sample([numbers], "").scores
    shares = (stats.rankdata(numbers) - 0.5) / 101
    assert ranks[:] == pytest.approx(standardised(shares))
    assert distances[:] == pytest.approx(standardised((shares - 0.5) ** 2))

    counts = rng(2).geometric(0.3, 200)
    ranks, _, signs = Sample([counts], "").scores  # outputs repeat
    assert ranks[:] == pytest.approx(standardised((stats.rankdata(counts) - 0.5) / 200))
    assert len(set(signs[:].round(9))) == 2
    assert all(len(set(signs[:][counts == count])) == 1 for count in set(counts))
    for different, number in ((50, 3), (51, 2)):  # half of the outputs, or more
        assert len(Sample([np.arange(100) % different], "").scores) == number
    assert len(Sample([np.tile(counts[:100].reshape(50, 2), (4, 1))], "").scores) == 5

    for width in (2, 3, 6):
        rows = rng(3).normal(size=(50, width))
        *of_entries, of_sum, _ = Sample([rows], "").scores
        wanted = [standardised(stats.rankdata(row)) for row in rows.T]
        assert len(of_entries) == min(width, 4)
        for score in of_entries:
            assert any(np.allclose(score[:], ranks) for ranks in wanted)
        sums = [np.round(signs @ wanted, 6) for signs in sign_rows(width)]
        ranks_of_sums = [standardised(stats.rankdata(each)) for each in sums]
        assert any(np.allclose(of_sum[:], ranks) for ranks in ranks_of_sums)


def sign_rows(width):
    return np.array([*itertools.product([-1, 1], repeat=width)])


def test_many_numbers_have_classes_that_are_finest_near_both_ends():
    numbers = rng(4).permutation(20_000).astype(float)
    of_numbers = calls._classes([numbers[:9000], numbers[9000:]])
    assert (of_numbers.classes[numbers.argsort()] == np.sort(of_numbers.classes)).all()
    assert (np.bincount(of_numbers.classes) == of_numbers.times).all()
    assert math.floor(20_000 / 32) < of_numbers.times.max() <= math.ceil(20_000 / 31)
    assert len(calls._classes([numbers[:8192]]).times) == 8192  # not so many: a class each
    assert len(calls._classes([numbers[:8193]]).times) < 100
    below, above = np.cumsum(of_numbers.times), np.cumsum(of_numbers.times[::-1])
    near = [4**k for k in range(4)]  # draws, up to the width of a class
    assert set(near) <= set(below.tolist())
    assert {1, *(1 + k for k in near)} <= set(above.tolist())


def test_whole_numbers_beyond_four_bytes_stay_apart():
    ends = [-(2**31), 2**31, -(2**31) - 1, 2**31 - 1, 0]
    for numbers in (ends[:2], ends[1:4], ends):
        sample = Sample([np.array(numbers * 3)], "")
        assert sample.times.tolist() == [3] * len(numbers)
        assert sample.codes.tolist() == (stats.rankdata(numbers).astype(int) - 1).tolist() * 3


def test_draws_are_of_short_calls_a_long_one_and_ones_between_which_inputs_change():
    """A fortieth of the draws each: a dozen calls, and as many draws as calls of their own."""
    made = []

    def draw(x, size, seed):
        made.append((x, size))
        return rng(seed).normal(size=size)

    samples = calls.draw_calls(draw, ["a", "b", "c"], 800, rng(0))
    short, ones = 20, 20
    long = 800 - 12 * short - ones - short  # of which one call is repeated later
    for sample, x in zip(samples, "abc", strict=True):
        sizes = [size for y, size in made if y == x]
        assert sizes == sample.batches
        assert sorted(sizes) == [1] * ones + [short] * 12 + [long]
        assert sample.batches[:10] == sample.batches[-10:] == [1] * 10
        assert sample.batches[sample.first] == short
        assert sample.batches[sample.longest] == long == sample.long.stop - sample.long.start
        assert sample.short.shape == (12, short)
    before = [-1, *(["a", "b", "c"].index(x) for x, _ in made[:-1])]
    for number, sample in enumerate(samples):
        own = [(size, b) for (x, size), b in zip(made, before, strict=True) if x == "abc"[number]]
        assert sample.before.tolist() == [b for size, b in own for _ in range(size)]
    assert [x for x, _ in made] != sorted(x for x, _ in made)


def test_groups_of_draws_are_those_of_their_names():
    batches = [(1, -1), (2, 0), (1, 1), (6, 1), (2, 0), (1, 0)]  # sizes, and inputs before
    made = [
        calls.Call(i, before, np.arange(float(size))) for i, (size, before) in enumerate(batches)
    ]
    sample = calls.Calls(1, "x", made)
    groups = [(name, np.flatnonzero(inside).tolist()) for name, inside in sample.groups()]
    assert groups[:7] == [
        ("first outputs of calls", [0, 1, 3, 4, 10, 12]),
        ("outputs of calls of one draw", [0, 3, 12]),
        ("outputs of a call of 6 draws", [*range(4, 10)]),
        ("outputs of calls after one on another input", [1, 2, 10, 11, 12]),
        ("first outputs of calls after one on another input", [1, 10, 12]),
        ("outputs of calls after one on the same input", [*range(3, 10)]),
        ("first outputs of calls after one on the same input", [3, 4]),
    ]
    assert groups[7:] == [
        ("outputs of a call of 2 draws", [1, 2]),
        ("early outputs", [*range(3)]),
        ("outputs of a call of 6 draws", [*range(4, 10)]),
        ("early outputs", [*range(10)]),
        ("outputs of a call of 2 draws", [10, 11]),
        ("early outputs", [*range(12)]),
    ]


# --- recorded outputs -----------------------------------------------------------------------------


def results(x, x_prime=None):
    checks = check_recorded(x, rng(99).laplace(0.5, 1, 2000) if x_prime is None else x_prime)
    return {item.name: item.result for item in checks if item.result != "passed"}


@pytest.mark.parametrize("law", [name for name in HONEST if name != "system"])
def test_recorded_outputs_of_any_law_pass(law):
    for seed in (1, 2):
        assert results(*(HONEST[law](x, 600, seed + 10 * x) for x in (0, 1))) == {}


@pytest.mark.parametrize("law", ["laplace", "geometric", "rounded", "words", "vectors"])
def test_outputs_written_three_times_fail(law):
    outputs = list(HONEST[law](0, 800, 1))
    three = [output for output in outputs for _ in range(3)]
    assert results(three) == {"repetitions": "failed"}
    assert results(three[1:-1]) == {"repetitions": "failed"}
    if law in ("laplace", "vectors"):
        assert results(outputs * 3) == {"repetitions": "failed"}
        assert results([three[i] for i in rng(3).permutation(2400)]) == {"repetitions": "failed"}


def test_outputs_are_multiplied_if_all_of_forty_runs_or_sixty_four_kinds_are():
    """The first and the last run may be cut."""
    for kinds, fails in ((42, True), (41, False)):
        assert (results(np.repeat(np.arange(kinds), 2)) == {"repetitions": "failed"}) == fails
    for kinds, fails in ((64, True), (63, False)):
        outputs = rng(1).permutation(np.repeat(np.arange(kinds), 2))
        assert (results(outputs) == {"repetitions": "failed"}) == fails


def test_forty_recorded_outputs_are_looked_at(monkeypatch):
    monkeypatch.setattr(tails, "by_time", lambda _: 0.0)
    few, many = rng(1).normal(size=39), rng(2).normal(size=40)
    for sides, start in (((few, many), "outputs on x' are"), ((many, few), "outputs on x are")):
        assert check_recorded(*sides)[1].text.startswith(start)
    assert results(few, few) == {}


@pytest.mark.parametrize(("longest", "size"), [(20, 16), (9, 9)])
def test_six_stretches_reach_from_the_first_draw_to_the_last(longest, size):
    own = of_draws(np.arange(100.0))
    stretches = sampler._stretches(own, longest)
    assert [stretch.size for stretch in stretches] == [size] * 6
    starts = [int(np.flatnonzero(own[:] == stretch[0])[0]) for stretch in stretches]
    assert (starts[0], starts[-1]) == (0, 100 - size)
    assert max(np.abs(np.diff(starts) - (100 - size) / 5)) < 1
    for start, stretch in zip(starts, stretches, strict=True):
        assert (stretch == own[start : start + size]).all()


def test_orders_of_their_own_are_noted():
    note = {"independent draws": "note"}
    assert results([1, 2, 3], [1, 2, 3]) == results(np.zeros(100), np.zeros(100)) == {}
    for outputs in (np.sort(rng(1).laplace(0, 1, 2000)), chain(0.5)(0, 2000, 1)):
        assert results(outputs) == note
    assert results(np.sort(rng(1).geometric(0.05, 2000))) == note
