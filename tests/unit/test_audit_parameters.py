"""Parameters are given to a mechanism by name; what it takes beside them is found out as ever."""

import sys

import numpy as np
import pytest

from epsilometer.auditing.sources.callables import load
from epsilometer.auditing.sources.worker import python_worker
from epsilometer.errors import ArgumentError

MODULE = """
import random

def first(epsilon, x, rng): return x + rng.random() / epsilon
def counts(x, n, rng): return [x] * n
def more(x, rng, **options): return options["epsilon"]
class Noisy:
    def __init__(self, epsilon): self.epsilon = epsilon
    def __call__(self, x, size): return [x + self.epsilon] * size
"""
CASES = [  # function, parameters, what is found out, draws of 1
    ("counts", {"n": 2}, "(x, rng), one draw a call", [(1, 1)] * 3),  # no number of draws here
    ("more", {"epsilon": 4}, "(x, rng), one draw a call", [4, 4, 4]),
    ("Noisy", {"epsilon": 3}, "(x, size), many draws a call", [4, 4, 4]),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(MODULE)
    return tmp_path


@pytest.mark.parametrize(("function", "parameters", "told", "draws"), CASES)
def test_parameters_are_given_by_name(folder, function, parameters, told, draws):
    source = load(f"own.py:{function}", folder=folder, parameters=parameters)
    assert told in source.description
    assert np.array_equal(source.draw(1, 3, seed=1), draws)


def test_another_interpreter_is_given_the_same(folder):
    given = {"folder": folder, "parameters": {"epsilon": 2.0}}
    here = load("own.py:first", **given)
    there = python_worker(sys.executable, "own.py:first", **given)
    try:
        assert list(here.draw(1, 5, seed=3)) == list(there.draw(1, 5, seed=3))
    finally:
        there.close()


@pytest.mark.parametrize(
    ("function", "parameters", "message"),
    [
        ("first", {"epsilom": 1}, "takes no parameter 'epsilom'; did you mean 'epsilon'"),
        ("first", {"epsilon": 1, "clip": 2}, "takes no parameter 'clip'"),
        ("Noisy", {"scale": 1}, "takes no parameter 'scale'; did you mean|known: epsilon"),
        ("first", {"x": 1, "epsilon": 1}, "takes no input"),
    ],
)
def test_a_parameter_that_is_not_taken_is_told(folder, function, parameters, message):
    with pytest.raises(ArgumentError, match=message) as told:
        load(f"own.py:{function}", folder=folder, parameters=parameters)
    assert "\n" not in str(told.value)


def test_parameters_are_part_of_what_it_is_made_of(folder):
    two, three = (
        load("own.py:first", folder=folder, parameters={"epsilon": e}).digest() for e in (2, 3)
    )
    assert two["own.py"] == three["own.py"]
    assert two != three
