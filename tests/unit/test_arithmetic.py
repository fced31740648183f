"""Tables are the same to the byte with and without AVX2: nothing behind them depends on it."""

import ast
from pathlib import Path

import numpy as np
import pytest

from epsilometer.numerics.arrays import complex_product

SOURCE = Path(__file__).parents[2] / "src"
BEHIND_TABLES = [
    *(f"epsilometer/{part}" for part in ("classifiers", "densities", "estimators", "exact")),
    *("epsilometer/mechanisms", "epsilometer_workflow/stages", "epsilometer_workflow/reports"),
]
FILES = [file for part in BEHIND_TABLES for file in sorted((SOURCE / part).rglob("*.py"))]
# What NumPy computes by other code, with other last digits, where a processor has AVX2; linear
# algebra is chosen for it, too. In `partition` and unstable sorts it is the order of ties.
OTHERWISE = {"tanh", "dot", "vdot", "inner", "matmul", "convolve", "correlate", "polyfit", "cov"}
OTHERWISE |= {"partition", "argpartition", "fftconvolve", "float32"}


def dependent(tree: ast.AST) -> list[str]:
    """Return what depends on the processor: such functions of NumPy, ``@``, and unstable sorts."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(f"@ in line {node.lineno}")
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("np", "fft"):
            name, line = node.attr, node.lineno
            found += [f"{name} in line {line}"] if name in OTHERWISE else []
        if isinstance(node, ast.Call) and _may_be_unstable(node):
            kinds = [word.value.value for word in node.keywords if word.arg == "kind"]
            found += [] if kinds == ["stable"] else [f"a sort in line {node.lineno}"]
    return found


def _may_be_unstable(call: ast.Call) -> bool:
    """Tell whether a sort may reorder ties; by several columns, pandas does not."""
    name = getattr(call.func, "attr", "")
    by = call.args[0] if call.args else None
    several = isinstance(by, ast.List) and len(by.elts) > 1
    return name == "argsort" or (name == "sort_values" and not several)


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(SOURCE)) for file in FILES])
def test_no_table_depends_on_the_processor(file):
    assert dependent(ast.parse(file.read_text(encoding="utf-8"))) == []


def test_what_depends_on_it_is_found():
    lines = ["a @ b", "np.tanh(a)", "np.argsort(a)", 'np.argsort(a, kind="stable")', "math.tanh(a)"]
    lines += ['table.sort_values("n")', 'table.sort_values(["n", "m"])']
    assert [len(dependent(ast.parse(line))) for line in lines] == [1, 1, 1, 0, 0, 1, 0]


def test_a_complex_product_is_that_of_its_parts():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 99)) + 1j * rng.normal(size=(2, 99))
    np.testing.assert_allclose(complex_product(a, b), a * b, rtol=1e-13)
