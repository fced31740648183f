"""First steps of a user: `ea.audit` as a function, the first verdict, pytest's summary."""

import ast
import importlib
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
import epsilometer_audit.statistics.claims
from epsilometer.densities.frequencies import count_outcomes
from epsilometer_audit.events.events import Event, View
from epsilometer_audit.outcomes.outcomes import learn
from tests.seeds import FIVE

pytest_plugins = ["pytester"]
# This loads Numba whole: a suite forgets its imports, and a second Numba fails.
count_outcomes(np.zeros(1, int), 1)

QUICK = {"samples": 10_000, "alpha": 0.001}


# --- ea.audit -------------------------------------------------------------------------------------


def test_type_checkers_and_python_load_the_same_names():
    """The names that only type checkers import are those of `__all__`, from the same modules."""
    tree = ast.parse(Path(ea.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    modules = {name.name: node.module for node in block.body for name in node.names}
    assert sorted(modules) == sorted(ea.__all__)
    for name, module in modules.items():
        assert getattr(importlib.import_module(module), name) is getattr(ea, name)


@pytest.mark.parametrize("function", [ea.audit, ea.audit_outputs], ids=lambda f: f.__name__)
def test_help_has_every_parameter(function):
    lines = inspect.getdoc(function).splitlines()
    start = lines.index("Parameters")
    assert ">>> " in "\n".join(lines[:start])
    heads = [line for line in lines[start:] if not line.startswith(" ")]
    assert set(inspect.signature(function).parameters) <= set(", ".join(heads).split(", "))


# --- witnesses ------------------------------------------------------------------------------------


def test_the_text_of_an_event_mentions_a_missing_part():
    layout = learn([{"a": 1, "b": 3}, {"a": 1}, {"a": 2, "b": 9.5}])
    place = [column.name for column in layout.columns].index("key 'b'")
    event = Event(((7, None),), missing=True, view=View("entry", place))
    assert layout.text(event) == "key 'b' >= 7 or key 'b' is missing or is not a number"
    outputs = [{"a": 1}, {"b": 8}, {"b": 3}, {"b": None}, {"b": float("nan")}]
    inside = event.holds(layout.encode(outputs)).tolist()
    assert inside == [True, True, False, True, True]


@pytest.mark.parametrize("seed", FIVE)
def test_an_event_can_be_counted_again_from_the_json_alone(seed):
    sizes = (60, 30)

    def code(x, size, rng):
        return [f"w{i}" for i in rng.integers(sizes[x], size=size)]

    verdict = ea.audit(code, [(0, 1)], ea.pure(0.3), seed=seed, **QUICK)
    assert verdict.verdict == "violated"
    assert "all are in the JSON, witness.ranges" in str(verdict)
    witness = json.loads(verdict.to_json())["witness"]
    (words,) = witness["ranges"]["words"].values()
    places = {word: i for i, word in enumerate(words)}
    ends = [(a or 0, len(words) if b is None else b) for a, b in witness["ranges"]["ranges"]]
    inside = [
        any(a <= places.get(repr(f"w{i}"), len(words)) <= b for a, b in ends) for i in range(60)
    ]
    shares = [np.mean(inside[: sizes[x]]) for x in map(int, verdict.direction.split(" against "))]
    for share, side in zip(shares, ("", "_prime"), strict=True):
        draws, count = witness[f"draws{side}"], witness[f"count{side}"]
        assert abs(count - draws * share) <= 5 * np.sqrt(draws * share * (1 - share))


# --- low bits -------------------------------------------------------------------------------------


def test_the_readme_mentions_as_reals_beside_its_audit():
    (section,) = (s for s in Path("README.md").read_text().split("\n## ") if s.startswith("Audit"))
    assert "low bits" in section
    assert "--as-reals" in section


def test_the_readmes_estimates_are_what_it_says(capsys):
    code = Path("README.md").read_text().split("```python\n")[1].split("```")[0]
    run_code = compile(code, "README.md", "exec")
    printed = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    eval(run_code, {})  # noqa: S307
    assert capsys.readouterr().out.splitlines() == printed


# --- inputs that were not tried -------------------------------------------------------------------


@pytest.mark.parametrize("seed", FIVE)
def test_numbers_beyond_a_declared_range_are_tried_or_noted(seed):
    """The mechanism forgets to clip: outputs leak where inputs lie beyond."""

    def leaks(x, size, rng):
        return np.round(x + rng.laplace(0, 1, size), 2)

    verdicts = []
    for clipped in (False, True):
        inputs = {"values": [0, 1], "clipped": clipped, "limit": 3}
        verdict = ea.audit(leaks, ea.domain(inputs), ea.pure(1.0), seed=seed, **QUICK)
        noted = any("not tried" in check["words"] for check in verdict.checks)
        verdicts.append((verdict.verdict, noted))
    assert verdicts == [("not refuted", True), ("violated", False)]


# --- pytest's summary -----------------------------------------------------------------------------


SUITE = """
import epsilometer_audit as ea
import numpy as np


QUICK = {"samples": 1000, "check_sampler": False}


def noisy(x, size, rng):
    return np.round(rng.laplace(x, 1.0, size), 3)


def test_large(audit):
    audit(noisy, [(0.0, 1.0)], ea.pure(1.0), **QUICK)


def test_small(audit):
    audit(noisy, [(0.0, 0.1)], ea.pure(0.1), **QUICK)


def test_of_a_fault(audit):
    audit(noisy, [(0, 3)], ea.pure(0.01), **QUICK, expect="violated")
"""


def test_the_summary_names_the_least_sensitive_test(pytester):
    pytester.makepyfile(test_it=SUITE)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=3)
    (line,) = [line for line in result.outlines if "least sensitive" in line]
    assert line.endswith("where 0.1 is claimed: test_it.py::test_small")
    level = float(line.partition("would catch epsilon >= ")[2].split()[0])
    assert level > 0.2
