"""A leak anywhere in outputs is found: in labels, ends, words, messages, of any type."""

import collections
import dataclasses
import datetime
import math

import attrs
import numpy as np
import pandas as pd
import pytest

import epsilometer_audit as ea
from tests.sharing import FIVE
from tests.unit.columns import drawn, rows_of

Red = collections.namedtuple("Red", "a")
Blue = collections.namedtuple("Blue", "a")


@dataclasses.dataclass
class Answer:
    a: object


@attrs.define
class Noted:
    a: object


def mostly(make):
    """Return a mechanism of one draw that makes its output of x, or of 1 - x one time in ten."""
    return lambda x, rng: make(x if rng.random() < 0.9 else 1 - x, rng)


def reals(make):
    """Return a mechanism that makes all its outputs of an array of Laplace noise."""
    return lambda x, size, rng: make(rng.laplace(3 * x, 1, size))


def texts(write):
    """Return a mechanism that writes reals, one by one."""
    return reals(lambda values: list(map(write, values.tolist())))


def histogram(x, rng):
    output = {"a": 3 + rng.laplace(), "b": 2 + rng.laplace()}
    if x:
        output["c"] = 1.0
    return output


def fail(x, rng):
    raise ValueError(f"bad row {x}, {rng.random():.3f}")


def hashes(x, size, rng):
    return [f"{number:x}-{x}" for number in rng.integers(2**60, size=size).tolist()]


def masked(x, size, rng):
    return np.ma.masked_array(np.ones(size), rng.random(size) < 0.1 + 0.7 * x)


def minute(value):
    return datetime.time(minute=min(max(int(5 * value) + 30, 0), 59))


def first_two(x, *rest):
    return dict(sorted({"a": 1, "b": 2}.items(), reverse=bool(x)))


DAY = np.datetime64("2020-01-01", "ns")
LEAKS = {
    "key of 200": mostly(lambda x, rng: {f"k{i}": x if i == 150 else 0 for i in range(200)}),
    "end of a text": hashes,
    "number": texts(str),
    "time": texts(minute),
    "message": mostly(fail),
    "zero": mostly(lambda x, rng: -0.0 if x else 0.0),
    "zeros": lambda x, size, rng: np.where(rng.random(size) < 0.5, -0.0 if x else 0.0, 1),
    "index": mostly(lambda x, rng: pd.DataFrame({"n": histogram(x, rng)})),
    "columns": mostly(lambda x, rng: pd.DataFrame({f"column {x}": [1]})),
    "mask": masked,
    "field": reals(lambda v: np.rec.fromarrays([v.astype(int), v])),
    "named tuple": mostly(lambda x, rng: Red(1) if x else Blue(1)),
    "dataclass": mostly(lambda x, rng: Answer(Noted(x))),
    "order of keys": mostly(first_two),
    "date in an array": mostly(lambda x, rng: DAY + np.array([x])),
    "dates in arrays": reals(lambda v: DAY + (1e9 * v[:, None]).astype(int)),
    "imaginary part": mostly(lambda x, rng: complex(rng.normal(), x)),
}
PAIRS = [(0, 1)]
CLAIM = ea.pure(1.0)


def largest_distance(x, y):
    """Return the largest distance of the distribution functions of a column."""
    both = np.sort(np.concatenate([x, y]))
    shares = [np.searchsorted(np.sort(side), both, "right") / len(side) for side in (x, y)]
    return np.abs(shares[0] - shares[1]).max()


@pytest.mark.parametrize("name", sorted({*LEAKS} - {"time"}))  # which shows in a set of words
def test_a_leak_anywhere_in_outputs_is_in_a_column(name):
    """By chance, with a probability of 1e-6 for 300 columns."""
    x, y = rows_of(drawn(LEAKS[name], failures=name == "message"))
    assert max(map(largest_distance, x.T, y.T)) > 0.4


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("name", ["message", "time"])
def test_such_a_leak_is_a_violation(name, seed):
    options = {"samples": 400, "seed": seed, "check_sampler": False, "failures": name == "message"}
    assert ea.audit(LEAKS[name], PAIRS, CLAIM, **options).verdict == "violated"


@pytest.mark.slow(seconds=2)
def test_ignored_parts_of_outputs_leave_the_audit_open():
    def letters(x, rng):
        return "".join(rng.choice(list("abcdefgh"), 20))

    verdict = ea.audit(letters, PAIRS, CLAIM, samples=300, seed=0, check_sampler=False)
    assert (verdict.verdict, verdict.detectable) == ("undecided", None)
    assert [check["name"] for check in verdict.checks] == ["outputs"]
    assert "words of output" in verdict.reasons[0]


@pytest.mark.parametrize("likelier", [np.finfo(float).max, -math.inf])
def test_outputs_as_large_as_floats_can_be_warn_of_nothing(likelier):
    values = [-likelier, likelier, 0.5]

    def mechanism(x, size, rng):
        return rng.choice(values, size, p=[0.2, 0.2, 0.6] if x else [0.2, 0.6, 0.2])

    verdict = ea.audit(mechanism, PAIRS, ea.pure(0.5), samples=600, check_sampler=False)
    assert verdict.verdict == "violated"
