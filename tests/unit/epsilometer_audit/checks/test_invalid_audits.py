"""Whole audits: of constant outputs, of a constant seed, and of draws that share noise."""

import numpy as np
import pytest

import epsilometer_audit as ea
from tests.sharing import FIVE


def audited(mechanism, seed, claim=1.0, samples=1000):
    options = {"samples": samples, "seed": seed, "as_reals": True}
    return ea.audit(mechanism, [(0, 1)], ea.pure(claim), **options)


# --- constant outputs -----------------------------------------------------------------------------


def assert_no_output_varied(verdict):
    assert verdict.verdict == "undecided"
    (reason,) = verdict.reasons
    assert reason.startswith("no output varied: all outputs are ")
    assert "on both inputs" in reason


@pytest.mark.parametrize("output", [3, (1.0, 2.0), None])
def test_constant_outputs_are_undecided(output):
    assert_no_output_varied(ea.audit_outputs(([output] * 200, [output] * 200), ea.pure(1.0)))
    assert_no_output_varied(audited(lambda x: output, 0, claim=0.0, samples=200))


def less_than_a_count(x, rng):
    """Return 0 on both inputs, of different noise."""
    return x * rng.random() * 1e-9 // 1


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize(
    ("mechanism", "claim", "verdict"),
    [
        (lambda x: x, 1.0, "violated"),
        (less_than_a_count, 1.0, "undecided"),
        (lambda x, rng: x * rng.integers(2), 2.0, "violated"),
    ],
)
def test_constants_that_differ_are_violated_and_random_outputs_are_audited(
    mechanism, claim, verdict, seed
):
    assert audited(mechanism, seed, claim).verdict == verdict


# --- constant seeds -------------------------------------------------------------------------------

GENERATOR = np.random.default_rng(0)


class Constant:
    """Has a generator with a constant seed."""

    def __init__(self):
        self.rng = np.random.default_rng(42)

    def __call__(self, x):
        return x + self.rng.laplace()


def of_a_default_seed(x, size, seed=42):
    return x + np.random.default_rng(seed).laplace(size=size)


def of_a_default_generator(x, size, random_state=GENERATOR):
    return x + random_state.laplace(size=size)


def test_a_constant_seed_is_invalid():
    assert audited(Constant(), 0, samples=500).verdict == "invalid"


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (lambda x: x + GENERATOR.laplace(), "other process"),
        (of_a_default_seed, "default seed"),
        (of_a_default_generator, "default seed"),
    ],
)
def test_a_seed_that_may_be_constant_is_noted(mechanism, name, seed):
    verdict = audited(mechanism, seed, claim=1.5)
    assert verdict.verdict == "not refuted"
    notes = [check["name"] for check in verdict.checks if check["result"] == "note"]
    assert notes.count(name) == 1


# --- noise that is shared within a call -----------------------------------------------------------


def pool(x, size, rng):
    return x + rng.choice(rng.laplace(size=1000), size)


def twice(x, size, rng):
    return x + rng.permutation(np.repeat(rng.laplace(size=size), 2)[:size])


def offset(x, size, rng):
    """Each call has an offset of .05 standard deviations of its own."""
    return x + rng.laplace(0, 1, size) + 0.05 * np.sqrt(2) * rng.normal()


def magnitudes(x, size, rng):
    """Four draws at a time share the magnitude of their Laplace noise."""
    shared = np.repeat(np.sqrt(2 * rng.exponential(1, size)), 4)[:size]
    return x + shared * rng.normal(size=size)


def twice_in_long_calls(x, size, rng):
    """The checks have no calls of so many draws; the audit itself has."""
    return twice(x, size, rng) if size > 2000 else x + rng.laplace(size=size)


@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("mechanism", [pool, offset, magnitudes, twice_in_long_calls])
def test_draws_that_share_noise_within_a_call_are_invalid(mechanism, seed):
    assert audited(mechanism, seed, samples=20_000).verdict == "invalid"
