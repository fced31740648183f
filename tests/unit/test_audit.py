"""The Python interface of the audit: its verdicts and its errors."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.formats import percent_sure

ONE = [([0, 0, 1], [0, 1, 1])]
QUICK: dict[str, Any] = {"samples": 4000}


def rounded(reals: Any) -> Any:
    """Multiples of 2^-20, whose low bits carry no information."""
    return np.round(reals * 2**20) / 2**20


def noisy_sum(x: list[int], size: int, rng: np.random.Generator) -> Any:
    return rounded(sum(x) + rng.laplace(0, 1, size))


def too_little_noise(x: list[int], size: int, rng: np.random.Generator) -> Any:
    return rounded(sum(x) + rng.laplace(0, 0.5, size))


def truthful(x: int, rng: np.random.Generator) -> int:
    return x if rng.random() < 0.75 else 1 - x


def test_a_violation_has_a_witness():
    verdict = ea.audit(too_little_noise, ONE, ea.pure(1.0), samples=4000)
    assert verdict.verdict == "violated"
    assert verdict.exit_code == 1
    assert verdict.bound is not None
    assert 1 < verdict.bound < 2
    assert verdict.pair == ONE[0]
    assert verdict.direction in ("[0, 0, 1] against [0, 1, 1]", "[0, 1, 1] against [0, 0, 1]")
    witness = verdict.witness
    assert witness is not None
    assert "output" in witness.event
    assert witness.count / witness.draws > 2 * witness.count_prime / witness.draws_prime
    assert str(verdict).startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least 1.")
    assert "many draws a call" in verdict.source


def test_a_claim_that_is_not_refuted_has_a_detectable_level():
    verdict = ea.audit(noisy_sum, ONE, ea.pure(1.0), **QUICK)
    assert verdict.verdict == "not refuted"
    assert verdict.exit_code == 0
    assert verdict.detectable is not None
    assert 1.1 < verdict.detectable < 1.5
    assert verdict.bound is not None
    assert 0.5 < verdict.bound < 1


def test_a_violation_in_the_tails_only_is_found():
    """Noise that is drawn again beyond 5: in one output of 150 one side is impossible."""

    def cut(x: int, size: int, rng: np.random.Generator) -> Any:
        z = rng.laplace(0, 1, 2 * size)
        return rounded(x + z[np.abs(z) <= 5][:size])

    verdict = ea.audit(cut, [(0, 1)], ea.pure(1.1), samples=50_000)
    assert verdict.verdict == "violated"
    assert verdict.bound is not None
    assert verdict.bound > 1.5
    witness = verdict.witness
    assert witness is not None
    assert witness.count > 10 * max(witness.count_prime, 1)


@pytest.mark.parametrize(
    ("alpha", "words"),
    [(0.05, "95"), (0.001 / 26, "99.9961"), (2.03e-8, "99.9999979"), (1e-40, f"99.{'9' * 38}")],
)
def test_no_confidence_is_all(alpha, words):
    assert percent_sure(alpha) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": []}, "pairs must name at least one pair"),
        ({"pairs": [1, 2]}, r"pairs 'pair 1' must be pairs \(x, x'\), got 1"),
        ({"pairs": [(1, 2, 3)]}, r"pairs must be pairs"),
        ({"claim": 1.0}, "claim must be pure"),
        ({"samples": 1e5}, "samples must be an integer"),
        ({"method": "best"}, "method must be anytime or exact"),
        ({"mechanism": 3}, "must be a function, got an object of type int"),
    ],
)
def test_errors_of_arguments_are_one_line(change, words):
    """Those that the command line can show are in test_cli.py."""
    arguments = {
        "mechanism": noisy_sum,
        "pairs": ONE,
        "claim": ea.pure(1.0),
        "samples": 4000,
    } | change
    with pytest.raises((ArgumentError, MechanismError), match=words) as caught:
        ea.audit(**arguments)
    assert "\n" not in str(caught.value)


def test_type_checkers_and_python_load_the_same_names():
    """The names that only type checkers import are those of `__all__`, from the same modules."""
    tree = ast.parse(Path(ea.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    modules = {name.name: node.module for node in block.body for name in node.names}
    assert sorted(modules) == sorted(ea.__all__) == dir(ea)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ea.nothing  # noqa: B018
    for name, module in modules.items():
        assert getattr(importlib.import_module(module), name) is getattr(ea, name)


@pytest.mark.parametrize("function", [ea.audit, ea.audit_outputs], ids=lambda f: f.__name__)
def test_help_has_every_parameter(function):
    lines = inspect.getdoc(function).splitlines()
    start = lines.index("Parameters")
    assert ">>> " in "\n".join(lines[:start])
    heads = [line for line in lines[start:] if not line.startswith(" ")]
    assert set(inspect.signature(function).parameters) <= set(", ".join(heads).split(", "))


def test_a_notebook_shows_a_table_of_escaped_text():
    verdict = ea.Verdict("invalid", {"notion": "pure"}, "e", 0.05, "exact", reasons=["<b>"])
    page = verdict._repr_html_()
    assert page.count("<tr>") == len(verdict.lines()) - 1
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
