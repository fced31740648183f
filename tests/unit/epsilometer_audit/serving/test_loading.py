"""Functions are loaded from files and modules, with what lies beside them, and nothing else."""

import sys
from types import ModuleType

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.outputs.callables import digests, load
from tests.unit.audits import error_in_one_line

FILES = {
    "survey.py": """\
import helper
from tools.noise import draw

def noisy(x, size, rng):
    import late
    return x + draw(size, rng) * helper.SCALE * late.ONE

class Scaled:
    def call(self, x):
        return 2 * x

scaled = Scaled()
constant = 3

def first(epsilon, x, rng): return x + rng.random() / epsilon
def counts(x, n, rng): return [x] * n
def more(x, rng, **options): return options["epsilon"]
""",
    "late.py": "ONE = 1\n",
    "unused.py": "ONE = 1\n",
    "tools/__init__.py": "",
    "tools/noise.py": """\
from .more import one
def draw(size, rng):
    return one * rng.laplace(size=size)
""",
    "tools/more.py": "import numpy as np\none = np.float64(1)\n",
}


def write(folder, scale):
    (folder / "tools").mkdir(parents=True)
    for name, text in {**FILES, "helper.py": f"SCALE = {scale}\n"}.items():
        (folder / name).write_text(text)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, scale=2)
    return tmp_path


def drawn(source):
    return source.draw(0.0, 20, 1).tolist()


def test_a_file_is_loaded_with_what_lies_beside_it(folder):
    modules, path = set(sys.modules), list(sys.path)
    source = load(f"{folder}/survey.py:noisy")
    assert source.description == "survey.py:noisy(x, size, rng), many draws a call"
    assert drawn(source) == drawn(load("survey.py:noisy"))
    assert load("survey.py:scaled.call").draw(2, 3, 1).tolist() == [4, 4, 4]
    left = {name for name in set(sys.modules) - modules if "epsilometer_source" not in name}
    assert (left, sys.path) == (set(), path)


def test_two_files_each_have_the_helpers_of_their_own_folder(folder):
    write(folder / "other", scale=200)
    own, other = load("survey.py:noisy"), load("other/survey.py:noisy")
    expected = drawn(own)
    assert np.allclose(drawn(other), 100 * np.array(expected))
    assert drawn(own) == expected


def test_a_module_of_the_same_name_from_elsewhere_is_not_used_and_stays(folder, monkeypatch):
    source = load("survey.py:noisy")
    expected = drawn(load("survey.py:noisy"))
    other = ModuleType("late")
    other.__file__ = str(folder.parent / "elsewhere" / "late.py")
    other.ONE = 7
    monkeypatch.setitem(sys.modules, "late", other)
    for _ in range(2):  # `late` is imported by the first call, and is there in the second
        assert drawn(source) == expected
        assert sys.modules["late"] is other
    monkeypatch.delitem(sys.modules, "late")
    assert drawn(source) == expected
    assert "late" not in sys.modules


def test_a_module_is_loaded_by_name():
    assert load("numpy.linalg:norm").draw([3.0, 4.0], 2, 1).tolist() == [5, 5]
    try:
        source = load("survey:noisy")
        assert source.description == "survey:noisy(x, size, rng), many draws a call"
        assert drawn(source) == drawn(load("survey.py:noisy"))
        assert source.digest() == digests("survey.py:noisy")
    finally:
        for name in ("survey", "helper", "late", "tools", "tools.noise", "tools.more"):
            sys.modules.pop(name, None)


def test_digests_name_the_imports_from_the_same_tree(folder):
    digest = digests("survey.py:noisy")
    files = {"survey.py", "helper.py", "late.py", "tools/__init__.py", "tools/noise.py"}
    assert set(digest) == files | {"tools/more.py", "python", "numpy"}
    assert digest["numpy"] == np.__version__
    assert load("survey.py:noisy").digest() == digest
    (folder / "tools" / "more.py").write_text("import numpy as np\none = np.float64(2)\n")
    after = digests("survey.py:noisy")
    assert {key for key in digest if after[key] != digest[key]} == {"tools/more.py"}


@pytest.mark.parametrize(
    ("function", "parameters", "draws"),
    [("counts", {"n": 2}, [(1, 1)] * 3), ("more", {"epsilon": 4}, [4, 4, 4])],
)
def test_parameters_are_given_by_name(function, parameters, draws):
    source = load(f"survey.py:{function}", parameters=parameters)
    assert "(x, rng), one draw a call" in source.description  # n is no number of draws here
    assert np.array_equal(source.draw(1, 3, seed=1), draws)


BAD_SPECS = [  # a source, words of the error, parameters
    ("", ["'' is no source; write file.py:function"], {}),
    ("survey.py", ["'survey.py' is no source"], {}),
    ("two words:f", ["'two words:f' is no source"], {}),
    ("surwey.py:noisy", ["surwey.py cannot be read: no such file; did you mean 'survey.py'?"], {}),
    ("./notes.txt:noisy", ["./notes.txt is not a Python file"], {}),
    ("survey.py:noise", ["survey.py has no function 'noise'; did you mean 'noisy'?"], {}),
    ("survey.py:constant", ["survey.py:constant must be a function"], {}),
    ("broken.py:f", ["broken.py cannot be loaded: SyntaxError", "(broken.py:2)"], {}),
    ("lonely.py:f", ["cannot be loaded: ModuleNotFoundError", "'nowhere'", "(lonely.py:1)"], {}),
    ("numpi.linalg:norm", ["numpi.linalg cannot be imported: no module 'numpi'"], {}),
    ("numpy.linalgs:norm", ["no module 'numpy.linalgs'", "did you mean 'linalg'?"], {}),
    ("survey.py:first", ["no parameter 'epsilom'; did you mean 'epsilon'"], {"epsilom": 1}),
    ("survey.py:first", ["takes no parameter 'clip'"], {"epsilon": 1, "clip": 2}),
]


@pytest.mark.parametrize(("spec", "words", "parameters"), BAD_SPECS)
def test_the_error_of_a_bad_source_is_one_line(folder, spec, words, parameters):
    (folder / "notes.txt").write_text("x")
    (folder / "broken.py").write_text("x = 1\ndef f(:\n")
    (folder / "lonely.py").write_text("import nowhere\n")
    with error_in_one_line(ArgumentError, words):
        load(spec, parameters=parameters)


def test_a_module_in_the_folder_that_fails_while_drawing_is_an_error(folder):
    (folder / "late.py").write_text("import nowhere\n")
    with pytest.raises(MechanismError, match=r"noisy on 0.0: ModuleNotFound.* \(late.py:1\)"):
        drawn(load("survey.py:noisy"))
