"""Bad samplers are found, and good ones never fail, at any law."""

import numpy as np
import pytest

from epsilometer_audit.checks import permutations, sampler
from epsilometer_audit.checks.permutations import Matches
from epsilometer_audit.checks.sampler import ALPHA, check, check_drawn, check_recorded
from tests.unit.epsilometer_audit.checks.laws import HONEST, Drifting, chain, entropic, rng

NAMES = ["same seed", "other seed", "repetitions", "independent draws", "order of calls"]


class Kept:
    """An array of noise that is kept for some calls, or its first number, beside fresh noise."""

    def __init__(self, calls, *, array=False, fresh=0.0):
        self.calls = calls
        self.array = array
        self.fresh = fresh
        self.made = 0

    def __call__(self, x, size, seed):
        if self.made % self.calls == 0:
            self.noise = rng(seed).laplace(0, 1, 5000)
        self.made += 1
        noise = self.noise[:size] if self.array else self.noise[0]
        return x + noise + self.fresh * rng(seed + 1).laplace(0, 1, size)


class Remembering:
    """The input of the last call moves the outputs of the next: all of them, or the first."""

    def __init__(self, weight, moved=None):
        self.weight = weight
        self.moved = moved
        self.last = 0.0

    def __call__(self, x, size, seed):
        out = x + rng(seed).laplace(0, 1, size)
        out[: self.moved] += self.weight * (self.last - x)
        self.last = x
        return out


def constant_seed(x, size, seed):
    return rng(3).laplace(x, 1, size)


def partly_constant(x, size, seed):
    return constant_seed(x, size, seed) + rng(seed).laplace(0, 1, size)


def scaled_by_size(x, size, seed):
    return rng(seed).laplace(x, 1 / size, size)


def repeated(times):
    return lambda x, n, s: np.repeat(rng(s).laplace(x, 1, n), times)[:n]


def tiled(x, size, seed):
    return np.tile(rng(seed).laplace(x, 1, -(-size // 10)), 10)[:size]


WITHIN = {"repetitions", "independent draws"}
CHEATS = {  # how a sampler is made, and the checks of which some fail
    "constant seed": (lambda: constant_seed, {"other seed"}),
    "constant seed of a part": (lambda: partly_constant, {"other seed"}),
    "noise kept for a call": (lambda: Kept(1, fresh=1.0), {"order of calls"}),
    "noise of a call alone": (lambda: Kept(1), {"repetitions"}),
    "an array kept for two calls": (lambda: Kept(2, array=True), {"other seed"}),
    "drift": (lambda: Drifting(shift=1.0), {"order of calls"}),
    "stretching": (lambda: Drifting(stretch=1.0), {"order of calls"}),
    "the input before": (lambda: Remembering(1.0), {"order of calls"}),
    "the input before, at first": (lambda: Remembering(4.0, moved=1), {"order of calls"}),
    "scaled by the size": (lambda: scaled_by_size, {"order of calls"}),
    "twice": (lambda: repeated(2), WITHIN),
    "tiled": (lambda: tiled, WITHIN),
    "chain": (lambda: chain(0.5), {"independent draws"}),
}


def checked(draw, *, draws=400, seed=1, inputs=(0.0, 1.0), **how):
    """Return the results of all checks by name."""
    how = {"seeded": True, **how}
    checks = check(draw, inputs, draws=draws, seed=seed, **how)
    assert [item.name for item in checks] == NAMES
    assert not any("\n" in item.text for item in checks)
    return {item.name: item for item in checks}


def failed(draw, **how):
    """Return the names of the checks that fail."""
    return {name for name, item in checked(draw, **how).items() if item.result == "failed"}


@pytest.mark.parametrize("name", CHEATS)
def test_bad_samplers_are_found(name):
    make, expected = CHEATS[name]
    failures = failed(make(), draws=2000)
    assert failures
    assert failures <= expected


@pytest.mark.parametrize("law", [*HONEST.values(), entropic], ids=[*HONEST, "entropic"])
def test_a_sampler_never_fails(law):
    for seed, draws in ((1, 1000), (2, 201), (3, 40)):
        assert not failed(law, draws=draws, seed=seed)


def test_thresholds_a_hundred_times_as_large_fail_in_one_of_ten_at_most(monkeypatch):
    for name in ("_MATCHES", "_POSITIONS", "_REPETITIONS", "_SERIAL", "_ORDER"):
        monkeypatch.setattr(sampler, name, 100 * getattr(sampler, name))
    alarms = 0
    for law in ("laplace", "coin", "one in a thousand", "atom and rare reals"):
        for seed in range(12):
            alarms += bool(failed(HONEST[law], draws=200, seed=seed))
    assert alarms <= 0.08 * 48


# --- shares of alpha ------------------------------------------------------------------------------


def test_the_parts_of_all_checks_sum_to_alpha():
    parts = ["_POSITIONS", "_REPETITIONS", "_DRAWN", "_MATCHES", "OTHERS", "_SERIAL", "_ORDER"]
    assert sum(getattr(sampler, part) for part in parts) == pytest.approx(ALPHA)


def of_calls(alpha, inputs):
    checks = checked(HONEST["laplace"], draws=200, inputs=inputs, alpha=alpha)
    return {name for name, item in checks.items() if item.result != "passed"}


def of_drawn(alpha, inputs):
    found = check_drawn(*rng(1).laplace(size=(2, 3, 100)), alpha=alpha, calls=[[100] * 3] * 2)
    return set() if found.result == "passed" else {found.name}


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
@pytest.mark.parametrize(("alpha", "share"), [(0.005, 1.0), (ALPHA / 4, 0.25)])
@pytest.mark.parametrize(("tested", "failing", "name", "part"), PARTS)
def test_a_check_fails_up_to_its_part_of_alpha_over_the_number_of_its_tests(
    tested, failing, name, part, alpha, share, inputs, monkeypatch
):
    tests = 0

    def fails_at(p):
        def p_value(*arguments):
            nonlocal tests
            if tested == "unlikely":
                tests += len(arguments[1])
                return np.full(len(arguments[1]), p)
            tests += 1
            return Matches(p, 1, 10, 10) if tested == "agreement" else p

        monkeypatch.setattr(permutations, tested, p_value)
        return name in failing(alpha, inputs)

    assert not fails_at(1.0)
    limit = part / tests
    if failing is not of_recorded:
        limit *= share
    assert fails_at(limit)
    assert not fails_at(1.01 * limit)


@pytest.mark.parametrize(("same", "lag", "fails"), [(10, 5, True), (9, 5, False), (10, 10, False)])
def test_dependent_draws_of_a_call_are_those_of_an_earlier_one_if_all_are(
    same, lag, fails, monkeypatch
):
    """A dozen short calls of five draws."""
    monkeypatch.setattr(permutations, "serial_p", lambda *_: 0.0)
    monkeypatch.setattr(permutations, "places_p", lambda *_: 0.0)  # is not asked
    monkeypatch.setattr(permutations, "agreement", lambda *_: Matches(0.0, same, 10, lag))
    failures = failed(HONEST["laplace"], draws=200)
    assert failures == ({"independent draws", "other seed"} if fails else {"independent draws"})


@pytest.mark.parametrize(("share", "pieces"), [(0.011, 6), (0.01, 12)])
def test_of_a_small_alpha_the_checks_have_twice_as_many_pieces(share, pieces, monkeypatch):
    """A p-value of six is not below 5e-9: that of 199 permutations each."""
    asked = set()

    def serial_p(parts, rng, limit):
        asked.add(len(parts))
        return 1.0

    def places_p(rows, rng, number, limit):
        asked.add(number)
        return 1.0

    monkeypatch.setattr(permutations, "serial_p", serial_p)
    monkeypatch.setattr(permutations, "places_p", places_p)
    checked(HONEST["laplace"], alpha=share * ALPHA)
    assert asked == {pieces}


# --- what the checks say --------------------------------------------------------------------------


def test_the_text_of_a_check_has_place_and_reason():
    assert checked(constant_seed, draws=2000)["other seed"].text == (
        "on input 0.0, 550 of 550 outputs are those of an earlier call at another seed: a constant "
        "seed inside, or noise that is kept for further calls"
    )


@pytest.mark.parametrize("size", [5, 130, None])
def test_draws_without_a_seed_repeat_where_short_calls_and_the_long_one_do(size):
    def draw(x, n, seed):
        return rng(None if n == size else seed).normal(size=n)

    same = checked(draw, draws=200, inputs=[0.0], seeded=False)["same seed"]
    assert same.result == ("passed" if size is None else "skipped")


def test_draws_that_do_not_follow_the_seed_are_noted():
    first, *others = checked(entropic).values()
    assert first.result == "note"
    assert "draws do not follow the seed" in first.text
    assert "(10 of 10 differ" in first.text
    assert {item.result for item in others} == {"passed"}


def test_outputs_without_noise_are_noted():
    other = checked(HONEST["no noise"])["other seed"]
    assert other.result == "note"
    assert "there is no noise, or one constant seed" in other.text


def test_the_number_of_draws_is_exact_and_the_same_seed_makes_the_same_calls():
    asked = []

    def draw(x, size, seed):
        asked.append((x, size, seed))
        return rng(seed).laplace(x, 1, size)

    for draws in (40, 999, 999):
        before = list(asked)
        asked.clear()
        checked(draw, draws=draws, inputs=[0.0, 1.0])
        for x in (0.0, 1.0):
            assert sum(size for y, size, _ in asked if x == y) == draws
    assert asked == before


# --- all draws of an audit ------------------------------------------------------------------------


def test_a_drift_that_the_checks_miss_is_found_in_all_draws_of_an_audit():
    drifting = Drifting(shift=0.02)
    sides = [], []
    for i, size in enumerate((500, 500, 1000, 2000, 4000, 8000, 16_000)):
        for x in (0, 1):
            sides[x].append(drifting(0.5 * x, size, 10 * i + x))
    assert not failed(Drifting(shift=0.02), draws=2000)
    result = check_drawn(*sides)
    assert (result.name, result.result) == ("order of calls", "failed")


@pytest.mark.parametrize("law", ["laplace", "one in a thousand", "mixed", "no noise", "vectors"])
def test_all_draws_of_an_honest_audit_pass(law):
    batches = [[HONEST[law](x, 500, 2 * i + x) for i in range(6)] for x in (0, 1)]
    assert check_drawn(*batches).result == "passed"


def test_a_drift_is_found_on_its_side():
    still = [rng(i).normal(size=2000) for i in range(4)]
    drifting = [rng(i).integers(50, size=2000) + 20 * i for i in range(4)]
    assert check_drawn(still, drifting).text.startswith("on x',")
    assert check_drawn(drifting, still).text.startswith("on x,")


# --- recorded outputs -----------------------------------------------------------------------------


def results(x, x_prime=None):
    """Return the checks of recorded outputs that do not pass."""
    checks = check_recorded(x, rng(99).laplace(0.5, 1, 2000) if x_prime is None else x_prime)
    return {item.name: item.result for item in checks if item.result != "passed"}


@pytest.mark.parametrize("law", HONEST)
def test_recorded_outputs_of_any_law_pass(law):
    for seed in (1, 2):
        assert results(*(HONEST[law](x, 600, seed + 10 * x) for x in (0, 1))) == {}


@pytest.mark.parametrize("law", ["laplace", "geometric", "words", "vectors"])
def test_outputs_written_three_times_fail(law):
    outputs = np.repeat(HONEST[law](0, 800, 1), 3, axis=0)
    assert results(outputs[1:-1]) == {"repetitions": "failed"}


@pytest.mark.parametrize("fails", [True, False])
def test_outputs_are_multiplied_if_all_of_forty_runs_or_sixty_four_kinds_are(fails):
    """The first and the last run may be cut."""
    runs = np.repeat(np.arange(42 if fails else 41), 2)
    kinds = rng(1).permutation(np.repeat(np.arange(64 if fails else 63), 2))
    for outputs in (runs, kinds):
        assert (results(outputs) == {"repetitions": "failed"}) == fails


def test_forty_recorded_outputs_are_looked_at(monkeypatch):
    monkeypatch.setattr(permutations, "by_time", lambda _: 0.0)
    few, many = rng(1).normal(size=39), rng(2).normal(size=40)
    assert check_recorded(few, many)[1].text.startswith("outputs on x' are")
    assert check_recorded(many, few)[1].text.startswith("outputs on x are")
    assert results(few, few) == {}


@pytest.mark.parametrize(("longest", "size"), [(20, 16), (9, 9)])
def test_six_stretches_reach_from_the_first_draw_to_the_last(longest, size):
    own = permutations.Scores(np.arange(100.0), np.ones(100), np.arange(100))
    draws = np.searchsorted(own[:], sampler._stretches(own, longest))
    starts = np.linspace(0, 100 - size, 6).astype(int)
    assert draws.tolist() == [[*range(start, start + size)] for start in starts]


def test_orders_of_their_own_are_noted():
    note = {"independent draws": "note"}
    assert results([1, 2, 3], [1, 2, 3]) == results(np.zeros(100), np.zeros(100)) == {}
    for outputs in (np.sort(rng(1).laplace(0, 1, 2000)), chain(0.5)(0, 2000, 1)):
        assert results(outputs) == note
    assert results(np.sort(rng(1).geometric(0.05, 2000))) == note
