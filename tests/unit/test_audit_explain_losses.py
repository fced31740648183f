"""The losses of calls and of additive noise against the formulas of their laws."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer_audit.explaining.additive import additive
from epsilometer_audit.explaining.traces import (
    Call,
    Run,
    Trace,
    differences,
    loss_of,
    same,
    value_text,
)


def call(name, count=1, values=None, **arguments):
    return Call("draw", name, arguments, count, values, ())


def trace(*calls, output=None):
    return Trace(calls, {}, output, None)


# --- losses of calls ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("laplace", stats.laplace),
        ("stats.laplace.rvs", stats.laplace),
        ("logistic", stats.logistic),
    ],
)
def test_the_loss_of_a_shift_is_the_largest_ratio_of_densities(name, law):
    loss, unit = loss_of(call(name, loc=0.5, scale=2.0), call(name, loc=2.0, scale=2.0))
    t = np.linspace(-99, 99, 20_001)
    largest = np.abs(law.logpdf(t, 0.5, 2) - law.logpdf(t, 2.0, 2)).max()
    assert unit == "epsilon"
    assert loss == pytest.approx(largest)


@pytest.mark.parametrize("name", ["normal", "random.gauss", "normalvariate", "stats.norm.rvs"])
def test_the_loss_of_normal_noise_is_its_mu(name):
    names = ("mu", "sigma") if "gauss" in name or "variate" in name else ("loc", "scale")
    x, y = (call(name, **dict(zip(names, at, strict=True))) for at in ((0, 2.0), (3, 2.0)))
    assert loss_of(x, y) == (1.5, "mu")


@pytest.mark.parametrize(
    ("x", "y", "loss"),
    [
        (
            call("laplace", 3, loc=[0, 0, 0], scale=2),
            call("laplace", 3, loc=[1, -2, 0], scale=2),
            1.5,
        ),
        (call("laplace", 3, loc=0, scale=2), call("laplace", 3, loc=1, scale=2), 1.5),
        (call("laplace", 2, loc=0, scale=[1, 2]), call("laplace", 2, loc=2, scale=[1, 2]), 3),
        (call("normal", 4, loc=0, scale=2), call("normal", 4, loc=1, scale=2), 1),
        (call("laplace", loc=0, scale=1), call("laplace", loc=0, scale=2), math.inf),
        (call("binomial", n=1, p=0.25), call("binomial", n=1, p=0.5), math.log(2)),
        (call("binomial", n=3, p=0.75), call("binomial", n=3, p=0.5), 3 * math.log(2)),
        (call("binomial", n=1, p=0.0), call("binomial", n=1, p=0.5), math.inf),
        (call("choice", a=2, p=[0.2, 0.8]), call("choice", a=2, p=[0.4, 0.6]), math.log(2)),
        (call("choices", 2, weights=[1, 4]), call("choices", 2, weights=[2, 3]), 2 * math.log(2)),
        (call("choice", a=2, p=[0, 1]), call("choice", a=2, p=[0.5, 0.5]), math.inf),
        (call("choice", a=2), call("choice", a=3), math.inf),
        (call("poisson", lam=1), call("poisson", lam=2), math.inf),
        (call("uniform", low=0, high=1), call("uniform", low=0, high=2), math.inf),
        (call("vonmises", mu=0, kappa=1), call("vonmises", mu=1, kappa=1), None),
        (call("laplace", loc={"digest": "a"}, scale=1), call("laplace", loc=1, scale=1), None),
    ],
)
def test_losses(x, y, loss):
    assert loss_of(x, y)[0] == (None if loss is None else pytest.approx(loss))


def test_differences_end_where_the_calls_part():
    x = trace(call("laplace", loc=0, scale=1), call("random"), call("laplace", loc=0, scale=1))
    y = trace(call("laplace", loc=2, scale=1), call("normal"), call("laplace", loc=9, scale=1))
    first, second = differences(x, y)
    assert (first.kind, first.parameter, first.loss) == ("argument", "loc", 2)
    assert (second.kind, second.index) == ("call", 1)
    (one_sided,) = differences(trace(*x.calls[:2]), x)
    assert one_sided.x is None
    assert one_sided.x_prime == x.calls[2]
    assert not list(differences(x, x))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.1 + 0.2, 0.3, True),
        (1, 1.0, True),
        (1, 1.001, False),
        (math.nan, math.nan, True),
        (None, 0, False),
        (True, 1, False),
        ("a", "a", True),
        ([1, [2.0, "a"]], [1.0, [2, "a"]], True),
        ([1], [1, 1], False),
        ({"digest": "a"}, {"digest": "b"}, False),
    ],
)
def test_equal_values_are_the_same(a, b, expected):
    assert same(a, b) is expected
    assert same(b, a) is expected


def test_values_in_words():
    assert value_text([1, 0.1234567, "a"]) == "[1, 0.123457, 'a']"
    assert value_text(list(range(20))) == "[0, 1, 2, ... of 20]"
    assert value_text({"keys": [["a", 1.0]]}) == "{'a': 1}"
    assert value_text({"failure": "KeyError: 'x'"}) == "KeyError: 'x'"


# --- additive noise -------------------------------------------------------------------------------


def replayed(matrix, start, start_prime, name="laplace", runs=12, weights_prime=None, scale=2.0):
    """Runs whose outputs are a start plus a matrix times noise of a scale."""
    rng, rounds = np.random.default_rng(1), []
    matrix = np.atleast_2d(matrix)
    other = matrix if weights_prime is None else np.atleast_2d(weights_prime)
    for _ in range(runs):
        noise = getattr(rng, name)(0, scale, matrix.shape[1])
        draw = call(name, noise.size, noise.tolist(), loc=0, scale=scale)
        sides = [
            trace(draw, output=np.asarray(at + weights @ noise).tolist())
            for at, weights in ((np.asarray(start), matrix), (np.asarray(start_prime), other))
        ]
        rounds.append(Run(*sides, None))
    return rounds


@pytest.mark.parametrize(
    ("matrix", "shift", "name", "loss"),
    [
        (np.eye(1), [3.0], "laplace", 1.5),
        (np.eye(1) / 10, [3.0], "laplace", 15),
        (np.eye(3), [1.0, -2.0, 0.0], "laplace", 1.5),
        (np.eye(3), [2.0, -4.0, 4.0], "normal", 3),
        (np.diag([1.0, 2.0]), [2.0, 4.0], "laplace", 2),
        ([[1.0, 1.0]], [2.0], "normal", 1 / math.sqrt(2)),
        ([[1.0, 3.0]], [6.0], "laplace", 1),  # the largest noise has the thickest tails
        (np.tril(np.ones((3, 3))), [1.0, 1.0, 1.0], "laplace", 0.5),  # running sums
        ([[1.0], [1.0]], [2.0, 2.0], "laplace", 1),
        ([[1.0], [1.0]], [2.0, 1.0], "laplace", math.inf),  # their difference has no noise
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 2.0], "laplace", 1),
        (np.eye(2), [0.0, 0.0], "laplace", 0),
    ],
)
def test_the_loss_of_additive_noise(matrix, shift, name, loss):
    start = np.arange(1.0, 1 + len(shift))
    noise = additive(replayed(matrix, start, start + shift, name))
    assert noise is not None
    assert noise.distribution == {"laplace": "Laplace", "normal": "normal"}[name]
    assert noise.loss == pytest.approx(loss)
    assert noise.shift == pytest.approx(np.array(shift))
    assert not noise.differ


def test_noise_with_other_weights_on_the_other_side_has_no_bound():
    noise = additive(replayed(np.eye(2), [0, 0], [1, 0], weights_prime=np.diag([1.0, 1.5])))
    assert noise.differ
    assert noise.loss == math.inf
    assert noise.scales_prime == pytest.approx([2 * 1, 2 * 1.5])


def test_outputs_that_are_not_linear_in_the_noise_have_no_additive_noise():
    runs = replayed(np.eye(1), [0], [1])
    for bend in (lambda t: max(t, 0.0), lambda t: t**3, lambda t: "a", round):
        bent = [
            Run(
                *(trace(*side.calls, output=bend(side.output[0])) for side in (run.x, run.x_prime)),
                None,
            )
            for run in runs
        ]
        assert additive(bent) is None
    assert additive(runs[:2]) is None
