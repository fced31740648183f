"""Public functions document the shapes of their arrays, and every estimator has an example."""

import ast
import re
from pathlib import Path

import pytest

from epsilometer.estimators import ESTIMATORS

SOURCE = Path("src/epsilometer").absolute()
PACKAGES = ("estimators", "densities", "classifiers")
ARRAY = re.compile(r"\b(NDArray|ndarray|ArrayLike|Floats|Counts|Integers|Sample|Bools)\b")
SHAPE = re.compile(r"shape|scalar|``\(")


def public():
    """Return the public functions and classes of all modules, by module and name."""
    files = [file for kind in PACKAGES for file in sorted((SOURCE / kind).glob("*.py"))]
    return {
        f"epsilometer.{file.parent.name}.{file.stem}:{node.name}": node
        for file in files
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    }


def annotations(node):
    """Return the annotations of a function, or of the fields of a class."""
    if isinstance(node, ast.ClassDef):
        parts = [part.annotation for part in node.body if isinstance(part, ast.AnnAssign)]
    else:
        arguments = (
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
        )
        parts = [*(part.annotation for part in arguments if part), node.returns]
    return [ast.unparse(annotation) for annotation in parts if annotation]


PUBLIC = public()


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_of_arrays_document_the_shapes(name):
    text = ast.get_docstring(PUBLIC[name])
    assert text, "has no docstring"
    if any(map(ARRAY.search, annotations(PUBLIC[name]))):
        assert SHAPE.search(text), "says no shape"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_registered_estimator_has_a_worked_example(name):
    assert ">>>" in ast.get_docstring(PUBLIC[ESTIMATORS[name]])
