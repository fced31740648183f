"""Functions are drawn from by the names of their parameters; their error is one line."""

import decimal
import functools
import json
import random
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.serving.outputs import Failure
from tests.unit.audits import error_in_one_line


def drawn(function, x=0.0, size=50, seed=1, **options):
    return callable_source(function, **options).draw(x, size, seed)


def globally(x):
    return x + random.random() + np.random.random()  # noqa: NPY002


def state_of_generators():
    return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


def test_global_generators_follow_from_the_seed():
    first = drawn(globally, seed=1)
    assert len(set(first)) == 50
    assert np.array_equal(first, drawn(globally, seed=1))
    assert not np.isin(first, drawn(globally, seed=2)).any()


@pytest.mark.parametrize("function", [globally, lambda x: x / 0])
def test_an_audit_puts_global_generators_back_even_if_it_fails(function):
    before = state_of_generators()
    with suppress(MechanismError):
        ea.audit(function, [(0, 1)], ea.pure(1.0), samples=100)
    assert state_of_generators() == before


def test_settings_of_a_mechanism_end_with_its_call():
    def changing(x):
        np.seterr(all="raise")
        warnings.simplefilter("error")
        decimal.getcontext().prec = 1
        return x

    before = np.geterr(), warnings.filters[:], decimal.getcontext().prec
    drawn(changing)
    assert (np.geterr(), warnings.filters, decimal.getcontext().prec) == before


# --- signatures -----------------------------------------------------------------------------------


def many(x, size, rng):
    return x + rng.laplace(size=size)


def old(x, size, random_state: np.random.RandomState):
    return x + random_state.laplace(size=size)


class Noise:
    def __call__(self, x, shots, generator):
        return x + generator.laplace(size=shots)

    def method(self, x, n_samples):
        return [x] * n_samples


def positional(x, scale=3.0, /, size=1, rng=None):
    return x + scale * rng.laplace(size=size)


SIGNATURES = {
    "(x, size, rng), many draws a call": many,
    "(rng, n, data), many draws a call": lambda rng, /, *, n=1, data: data + rng.laplace(size=n),
    "(x, size, random_state), many draws a call": old,
    "(database, seed), one draw a call": lambda database, seed=None: random.Random(seed).random(),
    "(samples), one draw a call, unseeded, epsilon = 1.0 by default": (
        lambda samples, epsilon=1.0: samples
    ),
    "Noise(x, shots, generator), many draws a call": Noise(),
    "method(x, n_samples), many draws a call, unseeded": Noise().method,
    "(x, size, rng), many draws a call, scale = 3.0 by default": positional,
    "(x, rng), one draw a call": functools.partial(lambda x, b, rng: x + b * rng.random(), b=2),
    "(x), one draw a call, unseeded": lambda x, *args: x,
}


@pytest.mark.parametrize("says", SIGNATURES)
def test_a_signature_is_found_out_and_drawn_from(says):
    source = callable_source(SIGNATURES[says])
    assert source.description.endswith(says)
    assert source.seeded == ("unseeded" not in says)
    first, again, other = (np.asarray(source.draw(1.5, 20, seed)) for seed in (1, 1, 2))
    assert first.shape == (20,)
    if source.seeded:
        assert (first == again).all()
        assert (first != other).any()
        assert len(set(first.tolist())) > 1


def test_seeds_of_single_draws_differ():
    seeds = drawn(lambda x, seed: seed, size=10_000)
    assert len(set(seeds)) == 10_000
    assert 0 < min(seeds) < max(seeds) < 2**31


# --- outputs --------------------------------------------------------------------------------------

ARRAYS = [  # function, dtype, shape
    (many, "float64", (50,)),
    (lambda x, size, rng: rng.random((size, 2, 3)).astype("f4"), "float32", (50, 2, 3)),
    (lambda x, size, rng: (rng.random(size) < 0.5).tolist(), "bool", (50,)),
    (lambda x, size, rng: rng.random(size) + 1j, "float64", (50, 2)),
    (lambda x, rng: rng.random(2), "float64", (50, 2)),
    (lambda x, rng: rng.choice([1, 0.5]).item(), "float64", (50,)),
]
LISTS = [
    lambda x, size: np.array(["a"] * size),
    lambda x, rng: rng.choice(["a", "b"]),
    lambda x, rng: (1.0, True),
    lambda x, rng: [1] * int(rng.integers(3)),
    lambda x: {"a": [1, 2]},
]


@pytest.mark.parametrize(("function", "kind", "shape"), ARRAYS)
def test_outputs_of_one_type_and_shape_become_arrays(function, kind, shape):
    outputs = drawn(function)
    assert (outputs.dtype, outputs.shape) == (kind, shape)


@pytest.mark.parametrize("function", LISTS)
def test_outputs_of_other_kinds_become_lists_of_plain_values(function):
    outputs = drawn(function)
    assert isinstance(outputs, list)
    assert {type(value) for value in outputs} <= {str, tuple, dict}


def test_an_output_that_is_written_over_later_is_kept():
    buffer = np.zeros(2)

    def reused(x, rng):
        buffer[:] = rng.random(2)
        return buffer

    assert len(np.unique(drawn(reused)[:, 0])) == 50


def changing(x):
    """Return an input as text, and change its innermost number."""
    text = repr(x)
    while isinstance(x[0], list):
        x = x[0]
    x[0] = 7
    return text


@pytest.mark.parametrize("x", [[3, 1], [[3], [1]], [[[3]]], np.array([3, 1])])
def test_an_input_that_is_changed_is_not_changed_for_others(x):
    before = repr(x)
    assert drawn(changing, x, size=5) == [before] * 5
    assert drawn(lambda x, size: [changing(x)] * size, x, size=5) == [before] * 5
    assert repr(x) == before


def test_an_input_annotated_as_an_array_is_one():
    def mean(x: np.ndarray):
        return x.mean()

    assert drawn(mean, [1, 2], size=1) == [1.5]
    with pytest.raises(MechanismError, match=r"'list' object .* annotated as np.ndarray"):
        drawn(lambda x: x.mean(), [1, 2])


def failing(x, rng):
    return 1 / x if rng.random() < 0.5 else 0.0


def test_a_failure_is_an_outcome_on_request():
    outputs = drawn(failing, 0, size=200, failures=True)
    assert set(outputs) == {0.0, Failure("ZeroDivisionError", "division by zero")}


# --- errors ---------------------------------------------------------------------------------------


def flawed(x, epsilon, size, rng):
    return x


def raising(x, size):
    raise ValueError("no\nway " + "x" * 500)


def leaving(x):
    sys.exit(3)


WRONG_USE = [  # function, words of the error
    (flawed, ["flawed", "needs 'epsilon' beside its input 'x'", "(x, size, rng)"]),
    (lambda: 0, ["takes no input", "understood are (x)"]),
    (lambda x, rng, seed: 0, ["has two parameters for", "a seed or generator: rng, seed"]),
    (Noise.__call__, ["Noise.__call__", "method of a class"]),
    (Noise, ["Noise is a class; name an object of it"]),
    (3, ["must be a function, got an object of type int"]),
]
BAD_OUTPUTS = [
    (lambda x, size: [1, 2, 3], ["returned 3 outputs where 50 should be"]),
    (lambda x, size: np.ones((2, size)), ["of shape (2, 50) where 50 should be, one a row"]),
    (lambda x, size: 1.0, ["type float where a list or an array of 50", "for every draw"]),
    (lambda x, size: np.ones((size, 0)), ["outputs without entries"]),
    (lambda x: object(), ["returned an object of type object", "return numbers, strings"]),
    (raising, ["_sampling.py:raising on 0.0: ValueError: no way xxx", "... (test_sampling.py"]),
    (leaving, ["leaving on 0.0: called sys.exit(3)"]),
    (lambda x: json.loads("{"), ["JSONDecodeError", "(test_sampling.py:"]),
]


@pytest.mark.parametrize(("function", "words"), WRONG_USE)
def test_the_error_of_a_bad_signature_is_one_line(function, words):
    with error_in_one_line(ArgumentError, words):
        drawn(function)


@pytest.mark.parametrize(("function", "words"), BAD_OUTPUTS)
def test_the_error_of_a_bad_output_is_one_line(function, words):
    with error_in_one_line(MechanismError, words):
        drawn(function)


def test_failures_of_many_draws_a_call_are_no_outcomes():
    with error_in_one_line(ArgumentError, ["failures needs one draw a call", ":raising"]):
        drawn(raising, failures=True)
