"""A function in another interpreter draws the same as here, and needs no package there."""

import ast
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import serving
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.outputs.worker import python_worker
from epsilometer_audit.serving.outputs import Failure
from tests.unit.audits import error_in_one_line

SYSTEM = "/usr/bin/python3"  # often without NumPy
SERVING = sorted(Path(serving.__file__).parent.rglob("*.py"))
SURVEY = """\
from decimal import Decimal
from fractions import Fraction
import helper

def noisy(x, size, rng, scale=1):
    print("noise")
    return x + scale * helper.SCALE * rng.laplace(size=size)

def word(x, rng):
    return ("a", None, float("nan"), x)[int(4 * rng.random())]

def failing(x, rng):
    return 1 / int(2 * rng.random())

def exact(x, rng):
    number = int(rng.integers(9))
    return Fraction(number, 3) + x, Decimal(number) / 7 + Decimal(x)

def long(x, size, rng):
    return rng.integers(9, size=size).astype("g") / 3 + x

def reading(x):
    import os, sys
    os.system("echo printed")
    return sys.stdin.read()
"""
NAMES = """\
import loading, outputs, epsilometer
def names(x):
    try:
        import answering
    except ImportError as error:
        return loading.NAME, outputs.NAME, epsilometer.NAME, str(error)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.py").write_text(SURVEY)
    (tmp_path / "helper.py").write_text("SCALE = 2\n")
    (tmp_path / "broken.py").write_text("import nowhere\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "parameters"), [("noisy", {"scale": 3}), ("exact", {}), ("long", {})]
)
def test_another_interpreter_draws_the_same_as_this_one(name, parameters):
    spec = f"survey.py:{name}"
    here = load(spec, parameters=parameters)
    with closing(python_worker(sys.executable, spec, parameters=parameters)) as there:
        assert there.description == f"{here.description}, in {sys.executable}"
        digest = {**load(spec).digest(), "interpreter": sys.executable}
        assert there.digest() == digest
        assert there.seeded
        drawn = there.draw(1.0, 100, 5)
    expected = here.draw(1.0, 100, 5)
    if name == "long":
        drawn = [np.longdouble(str(value)) for value in drawn]
    else:
        assert getattr(drawn, "dtype", None) == getattr(expected, "dtype", None)
    assert np.array_equal(drawn, expected)


@pytest.mark.skipif(not Path(SYSTEM).exists(), reason="no other interpreter")
def test_another_interpreter_without_packages():
    def drawn(name, size, **options):
        with closing(python_worker(SYSTEM, f"survey.py:{name}", **options)) as there:
            return there.draw(3, size, 1)

    assert {str(value) for value in drawn("word", 200)} == {"a", "None", "nan", "3"}
    failure = Failure("ZeroDivisionError", "division by zero")
    assert set(drawn("failing", 50, failures=True)) == {1.0, failure}
    with pytest.raises(MechanismError, match=r"^survey.py:failing on 3: ZeroDiv.*\(survey"):
        drawn("failing", 50)
    assert drawn("reading", 1) == [""]


def test_another_interpreter_imports_modules_beside_the_mechanism(folder):
    for name in ("loading", "outputs", "epsilometer"):
        (folder / f"{name}.py").write_text(f"NAME = 'my {name}'\n")
    (folder / "names.py").write_text(NAMES)
    with closing(python_worker(sys.executable, "names.py:names")) as source:
        (names,) = source.draw(0, 1, 1)
    own = ("my loading", "my outputs", "my epsilometer")
    assert names == (*own, "No module named 'answering'")


@pytest.mark.parametrize(
    ("interpreter", "spec", "words"),
    [
        (SYSTEM, "survey.py:noise", ["has no function 'noise'; did you mean 'noisy'?"]),
        (SYSTEM, "broken.py:f", ["broken.py cannot be loaded", "use the interpreter that has it"]),
        ("venv", "survey.py:noisy", ["'venv' is not a program"]),
        ("/bin/true", "survey.py:noisy", ["'/bin/true' does not run it", "exit code 0"]),
    ],
)
def test_the_error_of_a_bad_interpreter_is_one_line(interpreter, spec, words):
    with error_in_one_line(ArgumentError, words):
        python_worker(interpreter, spec)


@pytest.mark.parametrize("file", SERVING, ids=lambda file: file.stem)
def test_it_runs_on_python_3_8_without_anything(file):
    known = {"numpy", *sys.stdlib_module_names}
    beside = {each.stem for each in SERVING}
    assert not beside & known  # whose place it must not take
    for node in ast.walk(ast.parse(file.read_text(), feature_version=(3, 8))):
        if isinstance(node, ast.Import):
            assert {alias.name.partition(".")[0] for alias in node.names} <= known
        elif isinstance(node, ast.ImportFrom):
            assert node.module.partition(".")[0] in (beside if node.level else known)
