"""Parameters are given to a mechanism by name; the rest of its signature is found out as ever."""

import sys

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer_audit.sources.callables import load
from epsilometer_audit.sources.worker import python_worker

MODULE = """
import random

def first(epsilon, x, rng): return x + rng.random() / epsilon
def counts(x, n, rng): return [x] * n
def more(x, rng, **options): return options["epsilon"]
"""
CASES = [  # function, parameters, the rest of the signature, draws of 1
    ("counts", {"n": 2}, "(x, rng), one draw a call", [(1, 1)] * 3),  # no number of draws here
    ("more", {"epsilon": 4}, "(x, rng), one draw a call", [4, 4, 4]),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.py").write_text(MODULE)
    return tmp_path


@pytest.mark.parametrize(("function", "parameters", "signature", "draws"), CASES)
def test_parameters_are_given_by_name(folder, function, parameters, signature, draws):
    source = load(f"own.py:{function}", folder=folder, parameters=parameters)
    assert signature in source.description
    assert np.array_equal(source.draw(1, 3, seed=1), draws)


def test_another_interpreter_gets_the_same_parameters(folder):
    options = {"folder": folder, "parameters": {"epsilon": 2.0}}
    here = load("own.py:first", **options)
    there = python_worker(sys.executable, "own.py:first", **options)
    try:
        assert list(here.draw(1, 5, seed=3)) == list(there.draw(1, 5, seed=3))
    finally:
        there.close()


@pytest.mark.parametrize(
    ("function", "parameters", "message"),
    [
        ("first", {"epsilom": 1}, "takes no parameter 'epsilom'; did you mean 'epsilon'"),
        ("first", {"epsilon": 1, "clip": 2}, "takes no parameter 'clip'"),
        ("first", {"x": 1, "epsilon": 1}, "takes no input"),
    ],
)
def test_an_unknown_parameter_is_an_error(folder, function, parameters, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        load(f"own.py:{function}", folder=folder, parameters=parameters)
    assert "\n" not in str(caught.value)


def test_parameters_are_part_of_the_digest(folder):
    two, three = (
        load("own.py:first", folder=folder, parameters={"epsilon": e}).digest() for e in (2, 3)
    )
    assert two["own.py"] == three["own.py"]
    assert two != three
