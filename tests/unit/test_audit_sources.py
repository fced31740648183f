"""Any callable can be drawn from; the error of anything else is one line that names it."""

import ast
import contextlib
import functools
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import serving
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.sources.callables import callable_source, digests, load
from epsilometer_audit.sources.worker import python_worker
from tests.unit.one_line import error_in_one_line

SERVING = sorted(Path(serving.__file__).parent.rglob("*.py"))


def drawn(function, x=0.0, size=50, seed=1, **options):
    return callable_source(function, **options).draw(x, size, seed)


def test_global_generators_follow_from_the_seed_and_are_put_back():
    def globally(x):
        return x + random.random() + np.random.random()  # noqa: NPY002

    def state():
        return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002

    before = state()
    first, again, other = (drawn(globally, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.isin(first, other).any()
    assert len(set(first)) == 50
    assert before == state()
    for function in (globally, lambda x: x / 0):  # an audit puts them back once, even if it fails
        with contextlib.suppress(MechanismError):
            ea.audit(function, [(0, 1)], ea.pure(1.0), samples=100)
        assert before == state()


# --- signatures -----------------------------------------------------------------------------------


def many(x, size, rng):
    return x + rng.laplace(size=size)


def keywords(rng, /, *, n=1, data):
    return data + rng.laplace(size=n)


def single(x, random_state):
    return x + random_state.laplace()


def old(x, size, random_state: np.random.RandomState):
    return x + random_state.laplace(size=size)


def seeded(database, seed=None):
    return database + random.Random(seed).random()


def plain_random(x, random):
    return x + random.random()


def sampled(samples, epsilon=1.0):
    return samples


class Noise:
    scale = 2.0

    def __call__(self, x, shots, generator):
        return x + generator.laplace(size=shots) * self.scale

    def method(self, x, n_samples):
        return [x] * n_samples


def positional(x, scale=3.0, /, size=1, rng=None):
    return x + scale * rng.laplace(size=size)


SIGNATURES = [
    (many, "(x, size, rng), many draws a call", True),
    (keywords, "(rng, n, data), many draws a call", True),
    (single, "(x, random_state), one draw a call", True),
    (old, "(x, size, random_state), many draws a call", True),
    (seeded, "(database, seed), one draw a call", True),
    (plain_random, "(x, random), one draw a call", True),
    (sampled, "(samples), one draw a call, unseeded, epsilon = 1.0 by default", False),
    (Noise(), "Noise(x, shots, generator), many draws a call", True),
    (Noise().method, "method(x, n_samples), many draws a call, unseeded", False),
    (positional, "(x, size, rng), many draws a call, scale = 3.0 by default", True),
    (
        functools.partial(lambda x, b, rng: x + b * rng.random(), b=2),
        "(x, rng), one draw a call",
        True,
    ),
    (lambda *args: args[0], "(x), one draw a call, unseeded", False),
]


@pytest.mark.parametrize(("function", "says", "takes_seed"), SIGNATURES)
def test_a_signature_is_found_out_and_drawn_from(function, says, takes_seed):
    source = callable_source(function)
    assert source.description.endswith(says)
    assert source.seeded is takes_seed
    first, again, other = (np.asarray(source.draw(1.5, 20, seed)) for seed in (1, 1, 2))
    assert first.shape == (20,)
    if takes_seed:
        assert (first == again).all()
        assert (first != other).any()
        assert len(set(first.tolist())) > 1


def test_seeds_of_single_draws_differ():
    seeds = drawn(lambda x, seed: seed, size=10_000)
    assert len(set(seeds)) == 10_000
    assert 0 < min(seeds) < max(seeds) < 2**31


def flawed(x, epsilon, size, rng):
    return x


BAD_SIGNATURES = [
    (flawed, ["flawed", "needs 'epsilon' beside its input 'x'", "(x, size, rng)"]),
    (lambda: 0, ["takes no input", "understood are (x)"]),
    (lambda x, rng, seed: 0, ["two parameters for a seed or generator: rng and seed"]),
    (Noise.__call__, ["Noise.__call__", "method of a class"]),
    (Noise, ["Noise is a class; name an object of it"]),
    (3, ["must be a function, got an object of type int"]),
]


@pytest.mark.parametrize(("function", "words"), BAD_SIGNATURES)
def test_the_error_of_a_bad_signature_is_one_line(function, words):
    with error_in_one_line(ArgumentError, words):
        callable_source(function)


# --- outputs --------------------------------------------------------------------------------------


OUTPUTS = [  # function of x, dtype, shape; a list if there is no dtype
    (many, "float64", (50,)),
    (lambda x, size, rng: rng.integers(0, 9, (size, 3)), "int64", (50, 3)),
    (lambda x, size, rng: rng.random((size, 2, 3)).astype(np.float32), "float32", (50, 2, 3)),
    (lambda x, size, rng: (rng.random(size) < 0.5).tolist(), "bool", (50,)),
    (lambda x, size, rng: rng.random(size) + 1j, "float64", (50, 2)),
    (lambda x, size: [(1, 0.5)] * size, None, ()),
    (lambda x, size: np.array(["a"] * size), None, ()),
    (lambda x, rng: rng.choice(["a", "b"]), None, ()),
    (lambda x, rng: rng.random(2), "float64", (50, 2)),
    (lambda x, rng: (1.0, True), None, ()),
    (lambda x, rng: [1] * int(rng.integers(3)), None, ()),
    (lambda x, rng: rng.choice([1, 0.5]).item(), "float64", (50,)),
    (lambda x: {"a": [1, 2]}, None, ()),
    (lambda x, rng: {1, 2}, None, ()),
]


@pytest.mark.parametrize(("function", "kind", "shape"), OUTPUTS)
def test_outputs_of_any_kind_become_arrays_where_nothing_is_lost(function, kind, shape):
    outputs = drawn(function)
    assert len(outputs) == 50
    if kind is None:
        assert isinstance(outputs, list)
        assert all(not isinstance(value, np.generic | list | np.ndarray) for value in outputs)
    else:
        assert outputs.dtype == kind
        assert outputs.shape == shape


def test_an_output_that_is_written_over_later_is_kept():
    buffer = np.zeros(2)

    def reused(x, rng):
        buffer[:] = rng.random(2)
        return buffer

    assert len(np.unique(drawn(reused)[:, 0])) == 50


@pytest.mark.parametrize(
    "x", [[3, 1, 2], [[3], [1]], [[[3]]], np.array([3, 1]), {"a": [1]}, (3, [1])]
)
def test_an_input_that_is_changed_is_not_changed_for_others(x):
    before = repr(x)

    def changing(x):
        text = repr(x)
        inner = x["a"] if isinstance(x, dict) else x[1] if isinstance(x, tuple) else x
        inner[0] = inner[0] * 2 if isinstance(x, np.ndarray) else 7
        return text

    def changing_many(x, size):
        return [changing(x)] + [before] * (size - 1)

    for function in (changing, changing_many):
        assert drawn(function, x, size=5) == [before] * 5
    assert repr(x) == before


def test_an_input_annotated_as_an_array_is_one():
    def mean(x: np.ndarray):
        return x.mean()

    assert drawn(mean, [1, 2], size=1) == [1.5]
    with pytest.raises(MechanismError, match=r"'list' object .* annotated as np.ndarray"):
        drawn(lambda x: x.mean(), [1, 2])


def test_a_failure_is_an_outcome_on_request():
    def failing(x, rng):
        return 1 / x if rng.random() < 0.5 else 0.0

    outputs = drawn(failing, 0, size=200, failures=True)
    assert set(outputs) == {0.0, Failure("ZeroDivisionError", "division by zero")}
    with pytest.raises(MechanismError, match=r"failing: ZeroDivisionError: .*_sources.py:\d+\)$"):
        drawn(failing, 0)


def raising(x, size):
    raise ValueError("no\nway " + "x" * 500)


def leaving(x):
    sys.exit(3)


BAD_OUTPUTS = [
    (lambda x, size: [1, 2, 3], ["returned 3 outputs where 50 should be"]),
    (lambda x, size: np.ones((2, size)), ["2 outputs of shape (2, 50)", "transpose it"]),
    (lambda x, size: 1.0, ["type float where a list or an array of 50", "parameter 'size'"]),
    (lambda x, size: np.ones((size, 0)), ["outputs without entries"]),
    (lambda x: object(), ["returned an object of type object", "return numbers, strings"]),
    (lambda x: (i for i in range(3)), ["a generator as one output"]),
    (raising, ["_sources.py:raising: ValueError: no way xxx", "... (test_audit_sources.py:"]),
    (leaving, ["leaving: called sys.exit(3)"]),
    (lambda x: json.loads("{"), ["JSONDecodeError", "(test_audit_sources.py:"]),
]


@pytest.mark.parametrize(("function", "words"), BAD_OUTPUTS)
def test_the_error_of_a_bad_output_is_one_line(function, words):
    with error_in_one_line(MechanismError, words):
        drawn(function)


def test_a_call_that_is_wrong_is_no_outcome():
    with pytest.raises(MechanismError, match="TypeError"):
        drawn(functools.partial(lambda a: a, b=1), failures=True)


# --- files and modules ----------------------------------------------------------------------------

SURVEY = """\
import helper
from tools.noise import draw

def noisy(x, size, rng):
    import late
    return x + draw(size, rng) * helper.SCALE * late.ONE

class Scaled:
    def __init__(self, scale):
        self.scale = scale
    def call(self, x):
        return x * self.scale

scaled = Scaled(2)
constant = 3

def first(epsilon, x, rng): return x + rng.random() / epsilon
def counts(x, n, rng): return [x] * n
def more(x, rng, **options): return options["epsilon"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, scale=2)
    return tmp_path


def write(folder, scale):
    (folder / "tools").mkdir(parents=True)
    (folder / "survey.py").write_text(SURVEY)
    (folder / "helper.py").write_text(f"SCALE = {scale}\n")
    (folder / "late.py").write_text("ONE = 1\n")
    (folder / "unused.py").write_text("ONE = 1\n")
    (folder / "tools" / "__init__.py").write_text("")
    (folder / "tools" / "noise.py").write_text(
        "from .more import one\ndef draw(size, rng):\n    return one * rng.laplace(size=size)\n"
    )
    (folder / "tools" / "more.py").write_text("import numpy as np\none = np.float64(1)\n")


def test_a_file_is_loaded_with_what_lies_beside_it(folder):
    before = set(sys.modules), list(sys.path)
    for spec in ("survey.py:noisy", f"{folder}/survey.py:noisy"):
        source = load(spec)
        assert source.draw(1.0, 20, 1).shape == (20,)
    assert source.description == "survey.py:noisy(x, size, rng), many draws a call"
    assert load("survey.py:scaled.call").draw(2, 3, 1) == [4, 4, 4]
    left = {name for name in set(sys.modules) - before[0] if "epsilometer_source" not in name}
    assert (left, sys.path) == (set(), before[1])


def test_two_files_each_have_the_helpers_of_their_own_folder(folder):
    write(folder / "other", scale=200)
    a, b = load("survey.py:noisy"), load("other/survey.py:noisy")
    x, y = a.draw(0.0, 20, 1), b.draw(0.0, 20, 1)
    assert np.allclose(100 * x, y)
    assert np.allclose(a.draw(0.0, 20, 1), x)


def test_a_module_is_loaded_by_name(folder):
    assert load("numpy.linalg:norm").draw([3.0, 4.0], 2, 1).tolist() == [5, 5]
    try:
        source = load("survey:noisy")
        assert source.description == "survey:noisy(x, size, rng), many draws a call"
        assert (source.draw(0.0, 9, 1) == load("survey.py:noisy").draw(0.0, 9, 1)).all()
        assert source.digest() == digests("survey.py:noisy")
    finally:
        for name in ("survey", "helper", "late", "tools", "tools.noise", "tools.more"):
            sys.modules.pop(name, None)


def test_digests_name_the_imports_from_the_same_tree(folder):
    digest = digests("survey.py:noisy")
    files = {"survey.py", "helper.py", "late.py", "tools/__init__.py", "tools/noise.py"}
    assert set(digest) == files | {"tools/more.py", "python", "numpy"}
    assert digest["numpy"] == np.__version__
    source = load("survey.py:noisy")
    assert source.digest() == digest
    (folder / "tools" / "more.py").write_text("import numpy as np\none = np.float64(2)\n")
    assert {key for key, value in digests("survey.py:noisy").items() if value != digest[key]} == {
        "tools/more.py"
    }
    library = digests("numpy.linalg:norm")
    assert library["numpy"] == np.__version__
    assert "numpy/linalg/__init__.py" in library
    assert set(digests("math:sqrt")) == {"python"}


def test_digests_of_callables():
    assert len(callable_source(many).digest()["tests/unit/test_audit_sources.py"]) == 64
    assert "arguments" in callable_source(functools.partial(positional, size=1)).digest()
    typed = {}
    exec("f = lambda x: x\ng = lambda x: x + 1", typed)  # noqa: S102
    digest_f, digest_g = (callable_source(typed[name]).digest()["<lambda>"] for name in "fg")
    assert digest_f != digest_g
    assert callable_source(np.linalg.norm).digest()["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("function", "parameters", "draws"),
    [("counts", {"n": 2}, [(1, 1)] * 3), ("more", {"epsilon": 4}, [4, 4, 4])],
)
def test_parameters_are_given_by_name(folder, function, parameters, draws):
    source = load(f"survey.py:{function}", parameters=parameters)
    assert "(x, rng), one draw a call" in source.description  # n is no number of draws here
    assert np.array_equal(source.draw(1, 3, seed=1), draws)


def test_parameters_are_part_of_the_digest_and_reach_another_interpreter(folder):
    two, three = (load("survey.py:first", parameters={"epsilon": e}) for e in (2.0, 3.0))
    assert two.digest()["survey.py"] == three.digest()["survey.py"]
    assert two.digest() != three.digest()
    with contextlib.closing(
        python_worker(sys.executable, "survey.py:first", parameters={"epsilon": 2.0})
    ) as there:
        assert list(two.draw(1, 5, seed=3)) == list(there.draw(1, 5, seed=3))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilom": 1}, "takes no parameter 'epsilom'; did you mean 'epsilon'"),
        ({"epsilon": 1, "clip": 2}, "takes no parameter 'clip'"),
        ({"x": 1, "epsilon": 1}, "takes no input"),
    ],
)
def test_an_unknown_parameter_is_an_error(folder, parameters, message):
    with error_in_one_line(ArgumentError, [message]):
        load("survey.py:first", parameters=parameters)


BAD_SPECS = [
    ("", ["names no file"]),
    ("survey.py", ["survey.py names no function; write file:function"]),
    ("survey.py:noisy(1)", ["'noisy(1)' is not a Python name"]),
    ("surwey.py:noisy", ["surwey.py is not there; did you mean 'survey.py'?"]),
    ("there/survey.py:noisy", ["there/survey.py is not there, nor is its folder"]),
    ("./notes.txt:noisy", ["./notes.txt", "ends in .py"]),
    ("survey.py:noise", ["survey.py has no function 'noise'; did you mean 'noisy'?"]),
    ("survey.py:scaled.cal", ["survey.py: Scaled has no function 'cal'; did you mean 'call'?"]),
    ("survey.py:Scaled.call", ["Scaled.call is the method of a class; name one of an object"]),
    ("survey.py:constant", ["survey.py:constant must be a function, got an object of type int"]),
    ("broken.py:f", ["broken.py cannot be loaded: SyntaxError", "(broken.py:2)"]),
    (
        "lonely.py:f",
        ["lonely.py cannot be loaded: ModuleNotFoundError", "'nowhere'", "(lonely.py:1)"],
    ),
    ("relative.py:f", ["relative.py cannot be loaded: ImportError", "package.module:function"]),
    ("leaving.py:f", ["leaving.py cannot be loaded: called sys.exit(0)"]),
    ("numpi.linalg:norm", ["no module 'numpi'; did you mean 'numpy'?"]),
    ("numpy.linalg:norn", ["numpy.linalg has no function 'norn'; did you mean 'norm'?"]),
    ("two words:f", ["is not a source; write file.py:function"]),
]


@pytest.mark.parametrize(("spec", "words"), BAD_SPECS)
def test_the_error_of_a_bad_source_is_one_line(folder, spec, words):
    (folder / "notes.txt").write_text("x")
    (folder / "broken.py").write_text("x = 1\ndef f(:\n")
    (folder / "lonely.py").write_text("import nowhere\n")
    (folder / "relative.py").write_text("from . import survey\n")
    (folder / "leaving.py").write_text("raise SystemExit(0)\n")
    with error_in_one_line(ArgumentError, words):
        load(spec)


def test_a_module_in_the_folder_that_fails_while_drawing_is_an_error(folder):
    (folder / "late.py").write_text("import nowhere\n")
    with pytest.raises(MechanismError, match=r"noisy: ModuleNotFoundError: .* \(late.py:1\)"):
        load("survey.py:noisy").draw(1.0, 2, 1)


# --- imports --------------------------------------------------------------------------------------


def test_sources_are_light():
    heavy = {"pandas", "scipy", "matplotlib", "sklearn", "pyarrow", "numba"}
    names = ("serving.answering", "sources.worker", "sources.recorded", "inputs.neighbours")
    imports = ", ".join(f"epsilometer_audit.{name}" for name in names)
    code = f"import sys, {imports}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(run.stdout.split())


@pytest.mark.parametrize("file", SERVING, ids=lambda file: file.stem)
def test_the_worker_runs_on_python_3_8_without_anything(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    beside = {each.stem for each in SERVING}
    assert not beside & {"numpy", *sys.stdlib_module_names}  # whose place it must not take
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            assert names - {"numpy"} <= set(sys.stdlib_module_names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                assert node.module.rpartition(".")[2] in beside
            else:
                assert node.module.partition(".")[0] in sys.stdlib_module_names
