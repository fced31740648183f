"""Tables are the same to the byte with and without AVX2: nothing behind them depends on it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[4] / "src"
BEHIND_TABLES = (
    "epsilometer/classifiers",
    "epsilometer/densities",
    "epsilometer/estimators",
    "epsilometer/exact",
    "epsilometer/mechanisms",
    "epsilometer_workflow/stages",
    "epsilometer_workflow/reports",
)
# What NumPy computes by other code, with other last digits, where a processor has AVX2; linear
# algebra is chosen for it, too. In `partition` and unstable sorts it is the order of ties.
OTHERWISE = {"tanh", "dot", "vdot", "inner", "matmul", "convolve", "correlate", "polyfit", "cov"}
OTHERWISE |= {"partition", "argpartition", "fftconvolve", "float32"}


def depends(node: ast.AST) -> bool:
    """Tell what depends on the processor: such functions of NumPy, ``@``, and unstable sorts."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    if isinstance(node, ast.Attribute):
        return node.attr in OTHERWISE and getattr(node.value, "id", "") in ("np", "fft")
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", "")
        stable = any(ast.unparse(word) == "kind='stable'" for word in node.keywords)
        columns = bool(node.args) and isinstance(node.args[0], ast.List) and len(node.args[0].elts)
        # by several columns, pandas does not reorder ties
        return not stable and (name == "argsort" or (name == "sort_values" and columns < 2))
    return False


@pytest.mark.parametrize("folder", BEHIND_TABLES)
def test_no_table_depends_on_the_processor(folder):
    files = list((SOURCE / folder).rglob("*.py"))
    assert files
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found = [ast.unparse(node) for node in ast.walk(tree) if depends(node)]
        assert not found, file


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a @ b", True),
        ("np.tanh(a)", True),
        ("math.tanh(a)", False),
        ("np.argsort(a)", True),
        ('np.argsort(a, kind="stable")', False),
        ('table.sort_values("n")', True),
        ('table.sort_values(["n"])', True),
        ('table.sort_values(["n", "m"])', False),
    ],
)
def test_what_depends_on_it_is_found(line, found):
    assert any(map(depends, ast.walk(ast.parse(line)))) == found
