"""Callables and programs in any language are drawn from; the error of others is one line."""

import ast
import functools
import gc
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import closing, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import serving
from epsilometer_audit.outputs.callables import callable_source, digests, load
from epsilometer_audit.outputs.worker import WorkerSource, python_worker
from epsilometer_audit.serving.outputs import Failure
from tests.unit.audits import error_in_one_line
from tests.unit.processes import gone, ran, until

DATA = Path(__file__).parents[1] / "data" / "audit"
SYSTEM = "/usr/bin/python3"  # often without NumPy
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
        with suppress(MechanismError):
            ea.audit(function, [(0, 1)], ea.pure(1.0), samples=100)
        assert before == state()


# --- signatures -----------------------------------------------------------------------------------


def many(x, size, rng):
    return x + rng.laplace(size=size)


def old(x, size, random_state: np.random.RandomState):
    return x + random_state.laplace(size=size)


class Noise:
    def __call__(self, x, shots, generator):
        return x + generator.laplace(size=shots)

    def method(self, x, n_samples):
        return [x] * n_samples


def positional(x, scale=3.0, /, size=1, rng=None):
    return x + scale * rng.laplace(size=size)


SIGNATURES = {
    "(x, size, rng), many draws a call": many,
    "(rng, n, data), many draws a call": lambda rng, /, *, n=1, data: data + rng.laplace(size=n),
    "(x, random_state), one draw a call": lambda x, random_state: x + random_state.laplace(),
    "(x, size, random_state), many draws a call": old,
    "(database, seed), one draw a call": lambda database, seed=None: random.Random(seed).random(),
    "(x, random), one draw a call": lambda x, random: x + random.random(),
    "(samples), one draw a call, unseeded, epsilon = 1.0 by default": (
        lambda samples, epsilon=1.0: samples
    ),
    "Noise(x, shots, generator), many draws a call": Noise(),
    "method(x, n_samples), many draws a call, unseeded": Noise().method,
    "(x, size, rng), many draws a call, scale = 3.0 by default": positional,
    "(x, rng), one draw a call": functools.partial(lambda x, b, rng: x + b * rng.random(), b=2),
    "(x), one draw a call, unseeded": lambda x, *args: x,
}


@pytest.mark.parametrize("says", SIGNATURES)
def test_a_signature_is_found_out_and_drawn_from(says):
    source, takes_seed = callable_source(SIGNATURES[says]), "unseeded" not in says
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
    (lambda x, rng, seed: 0, ["has two parameters for", "a seed or generator: rng, seed"]),
    (Noise.__call__, ["Noise.__call__", "method of a class"]),
    (Noise, ["Noise is a class; name an object of it"]),
    (3, ["must be a function, got an object of type int"]),
]


# --- outputs --------------------------------------------------------------------------------------


OUTPUTS = [  # function of x, dtype, shape; a list if there is no dtype
    (many, "float64", (50,)),
    (lambda x, size, rng: rng.integers(0, 9, (size, 3)), "int64", (50, 3)),
    (lambda x, size, rng: rng.random((size, 2, 3)).astype(np.float32), "float32", (50, 2, 3)),
    (lambda x, size, rng: (rng.random(size) < 0.5).tolist(), "bool", (50,)),
    (lambda x, size, rng: rng.random(size) + 1j, "float64", (50, 2)),
    (lambda x, size: np.array(["a"] * size), None, ()),
    (lambda x, rng: rng.choice(["a", "b"]), None, ()),
    (lambda x, rng: rng.random(2), "float64", (50, 2)),
    (lambda x, rng: (1.0, True), None, ()),
    (lambda x, rng: [1] * int(rng.integers(3)), None, ()),
    (lambda x, rng: rng.choice([1, 0.5]).item(), "float64", (50,)),
    (lambda x: {"a": [1, 2]}, None, ()),
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
    with pytest.raises(MechanismError, match=r"failing on 0: ZeroDivision.*_sources.py:\d+\)$"):
        drawn(failing, 0)
    with pytest.raises(ArgumentError, match=r"failures needs one draw a call, but .*:raising"):
        drawn(raising, 0, failures=True)


def raising(x, size):
    raise ValueError("no\nway " + "x" * 500)


def leaving(x):
    sys.exit(3)


BAD_OUTPUTS = [
    (lambda x, size: [1, 2, 3], ["returned 3 outputs where 50 should be"]),
    (lambda x, size: np.ones((2, size)), ["of shape (2, 50) where 50 should be, one a row"]),
    (lambda x, size: 1.0, ["type float where a list or an array of 50", "for every draw"]),
    (lambda x, size: np.ones((size, 0)), ["outputs without entries"]),
    (lambda x: object(), ["returned an object of type object", "return numbers, strings"]),
    (lambda x: (i for i in range(3)), ["an object of type generator"]),
    (raising, ["_sources.py:raising on 0.0: ValueError: no way xxx", "... (test_audit_sourc"]),
    (leaving, ["leaving on 0.0: called sys.exit(3)"]),
    (lambda x: json.loads("{"), ["JSONDecodeError", "(test_audit_sources.py:"]),
]


BAD = [
    *((ArgumentError, function, words) for function, words in BAD_SIGNATURES),
    *((MechanismError, function, words) for function, words in BAD_OUTPUTS),
]


@pytest.mark.parametrize(("kind", "function", "words"), BAD)
def test_the_error_of_a_bad_signature_or_output_is_one_line(kind, function, words):
    with error_in_one_line(kind, words):
        drawn(function)


# --- files and modules ----------------------------------------------------------------------------

FILES = {
    "survey.py": """\
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, scale=2)
    return tmp_path


def write(folder, scale):
    (folder / "tools").mkdir(parents=True)
    for name, text in {**FILES, "helper.py": f"SCALE = {scale}\n"}.items():
        (folder / name).write_text(text)


def test_a_file_is_loaded_with_what_lies_beside_it(folder):
    before = set(sys.modules), list(sys.path)
    for spec in ("survey.py:noisy", f"{folder}/survey.py:noisy"):
        source = load(spec)
        assert source.draw(1.0, 20, 1).shape == (20,)
    assert source.description == "survey.py:noisy(x, size, rng), many draws a call"
    assert load("survey.py:scaled.call").draw(2, 3, 1).tolist() == [4, 4, 4]
    left = {name for name in set(sys.modules) - before[0] if "epsilometer_source" not in name}
    assert (left, sys.path) == (set(), before[1])


def test_two_files_each_have_the_helpers_of_their_own_folder(folder):
    write(folder / "other", scale=200)
    a, b = load("survey.py:noisy"), load("other/survey.py:noisy")
    x, y = a.draw(0.0, 20, 1), b.draw(0.0, 20, 1)
    assert np.allclose(100 * x, y)
    assert np.allclose(a.draw(0.0, 20, 1), x)


def test_a_module_of_the_same_name_from_elsewhere_is_not_used_and_stays(folder, monkeypatch):
    expected = load("survey.py:noisy").draw(0.0, 20, 1)
    other = ModuleType("late")
    other.__file__ = str(folder.parent / "elsewhere" / "late.py")
    other.ONE = 7
    monkeypatch.setitem(sys.modules, "late", other)
    source = load("survey.py:noisy")
    for _ in range(2):  # `late` is imported by the first call, and is there in the second
        assert (source.draw(0.0, 20, 1) == expected).all()
        assert sys.modules["late"] is other
    monkeypatch.delitem(sys.modules, "late")
    assert (source.draw(0.0, 20, 1) == expected).all()
    assert "late" not in sys.modules


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
    assert load("survey.py:noisy").digest() == digest
    (folder / "tools" / "more.py").write_text("import numpy as np\none = np.float64(2)\n")
    assert {key for key, value in digests("survey.py:noisy").items() if value != digest[key]} == {
        "tools/more.py"
    }
    assert digests("numpy.linalg:norm")["numpy"] == np.__version__
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
    with closing(
        python_worker(sys.executable, "survey.py:first", parameters={"epsilon": 2.0})
    ) as there:
        assert list(two.draw(1, 5, seed=3)) == list(there.draw(1, 5, seed=3))


BAD_SPECS = [  # a source, words of the error, parameters if it has any
    ("", ["'' is no source; write file.py:function"]),
    ("survey.py", ["'survey.py' is no source; write file.py:function"]),
    ("survey.py:noisy(1)", ["'survey.py:noisy(1)' is no source"]),
    ("surwey.py:noisy", ["surwey.py cannot be read: no such file; did you mean 'survey.py'?"]),
    ("there/survey.py:noisy", ["there/survey.py cannot be read: no such file"]),
    ("./notes.txt:noisy", ["./notes.txt is not a Python file"]),
    ("survey.py:noise", ["survey.py has no function 'noise'; did you mean 'noisy'?"]),
    ("survey.py:scaled.cal", ["survey.py has no function 'cal'; did you mean 'call'?"]),
    ("survey.py:constant", ["survey.py:constant must be a function, got an object of type int"]),
    ("survey.py:Scaled.call", ["Scaled.call is the method of a class; name one of an object"]),
    ("broken.py:f", ["broken.py cannot be loaded: SyntaxError", "(broken.py:2)"]),
    ("lonely.py:f", ["cannot be loaded: ModuleNotFoundError", "'nowhere'", "(lonely.py:1)"]),
    ("relative.py:f", ["relative.py cannot be loaded: ImportError"]),
    ("leaving.py:f", ["leaving.py cannot be loaded: called sys.exit(0)"]),
    ("numpi.linalg:norm", ["numpi.linalg cannot be imported: no module 'numpi'"]),
    ("numpy.linalgs:norm", ["no module 'numpy.linalgs'", "did you mean 'linalg'?"]),
    ("numpy.linalg:norn", ["has no function 'norn'; did you mean 'norm'?"]),
    ("two words:f", ["'two words:f' is no source; write file.py:function"]),
    ("survey.py:first", ["takes no parameter 'epsilom'; did you mean 'epsilon'"], {"epsilom": 1}),
    ("survey.py:first", ["takes no parameter 'clip'"], {"epsilon": 1, "clip": 2}),
    ("survey.py:first", ["takes no input"], {"x": 1, "epsilon": 1}),
]


@pytest.mark.parametrize("bad", BAD_SPECS)
def test_the_error_of_a_bad_source_is_one_line(folder, bad):
    (folder / "notes.txt").write_text("x")
    (folder / "broken.py").write_text("x = 1\ndef f(:\n")
    (folder / "lonely.py").write_text("import nowhere\n")
    (folder / "relative.py").write_text("from . import survey\n")
    (folder / "leaving.py").write_text("raise SystemExit(0)\n")
    spec, words, *parameters = bad
    with error_in_one_line(ArgumentError, words):
        load(spec, parameters=dict(*parameters))


def test_a_module_in_the_folder_that_fails_while_drawing_is_an_error(folder):
    (folder / "late.py").write_text("import nowhere\n")
    with pytest.raises(MechanismError, match=r"noisy on 1.0: ModuleNotFound.* \(late.py:1\)"):
        load("survey.py:noisy").draw(1.0, 2, 1)


# --- programs -------------------------------------------------------------------------------------


@pytest.fixture
def start(tmp_path):
    """Workers that are closed in the end, each a program that is written for the occasion."""
    sources = []

    def started(command, **options):
        source = WorkerSource(command, **{"folder": tmp_path, "timeout": 10, **options})
        sources.append(source)
        return source

    yield started
    for source in sources:
        source.close()


@pytest.fixture
def shell(start, tmp_path):
    """Start a worker whose answer to every request is a script's."""

    def started(script, **options):
        return start(["sh", "-c", f"while read -r line; do\n{script}\ndone"], **options)

    return started


# --- the examples ---------------------------------------------------------------------------------


EXAMPLES = [  # command, an input, its mean, a wrong input and its error
    (["./worker"], 1.5, 1.5, [1], r"^./worker on \[1\]: the input is one number$"),
    (["sh", str(DATA / "worker.sh")], 1, 0.75, 2, "the input is 0 or 1"),
    ([sys.executable, "-S", str(DATA / "worker.py")], [0, 0, 9], 2, 3, "TypeError: .*int"),
]


@pytest.mark.parametrize(("command", "x", "mean", "wrong", "message"), EXAMPLES)
def test_the_examples_of_workers(start, tmp_path, command, x, mean, wrong, message):
    if in_c := command == ["./worker"]:
        if shutil.which("cc") is None:
            pytest.skip("no compiler of C")
        subprocess.run(["cc", "-o", tmp_path / "worker", DATA / "worker.c", "-lm"], check=True)
    source = start(command)
    drawn, again, other = (source.draw(x, 4000, seed) for seed in (0, 0, 1))
    assert drawn.dtype == (np.float64 if in_c else np.int64)
    assert (drawn == again).all()
    assert (drawn != other).any()
    assert abs(drawn.mean() - mean) < 0.1
    assert {"command", command[0], command[-1]} <= set(source.digest())
    with pytest.raises(MechanismError, match=message):
        source.draw(wrong, 5, 1)
    assert source.draw(x, 5, 1).shape == (5,)


# --- replies --------------------------------------------------------------------------------------

REPLIES = [  # the reply for three outputs, and the outputs
    (r"1\n2\n3\n", [1, 2, 3]),
    (r"nan\ninf\n-inf\n", [math.nan, math.inf, -math.inf]),
    (r".5\n-nan\n5.\n", [0.5, math.nan, 5.0]),
    (r"1\r\n2\r\n3\r\n", [1, 2, 3]),
    (r'"yes"\nnull\ntrue\n', ["yes", None, True]),
    (r"[1, 2]\n[3, 4]\n[5, 6]\n", [[1, 2], [3, 4], [5, 6]]),
    (r"[1]\n[2, 3]\n[4, NaN]\n", [(1,), (2, 3), (4, math.nan)]),
    (r"1.00000000000000000001\n2\n3\n", [Decimal("1.00000000000000000001"), 2, 3]),
    (r"[3.00000000000000000005, 1]\n2\n3\n", [(Decimal("3.00000000000000000005"), 1), 2, 3]),
    (r'[1, "a"]\n[]\n[[1]]\n', [(1, "a"), (), ((1,),)]),
    (r'{"a": [1]}\n"nan"\n1.5\n', [{"a": (1,)}, "nan", 1.5]),
    (r'{"$number": "1/3"}\n{"$number": "0.10"}\n1\n', [Fraction(1, 3), Decimal("0.10"), 1]),
]


@pytest.mark.parametrize(("printed", "outputs"), REPLIES)
def test_replies_are_read(shell, printed, outputs):
    source = shell(f"printf '{printed}'")
    for _ in range(2):
        drawn = source.draw(0, 3, 0)
        assert repr(drawn.tolist() if isinstance(drawn, np.ndarray) else drawn) == repr(outputs)


def test_a_request_is_one_line_of_json(shell):
    source = shell("""printf '%s\\n' "$line" | sed 's/[\\"]/\\\\&/g; s/.*/"&"/' """)
    (line,) = source.draw({"a": [1, 2.5, "ä\n"], "b": np.arange(2)}, 1, 5)
    assert line.startswith('{"input": {"a": [1, 2.5, "\\u00e4')
    assert ', "b": [0, 1]}, "size": 1, "seed": ' in line


def test_much_input_and_much_on_stderr_hold_nothing_up(start):
    code = (
        "import sys, json\nfor line in sys.stdin:\n"
        " sys.stderr.write('x' * 300000); print(len(json.loads(line)['input']), flush=True)"
    )
    source = start([sys.executable, "-S", "-c", code])
    for _ in range(3):
        assert source.draw(list(range(100_000)), 1, 0).tolist() == [100_000]


def test_failures_are_outcomes_on_request(shell):
    script = r"""printf '1\n{"error": "no"}\n{"error": "no"}\n'"""
    assert shell(script, failures=True).draw(0, 3, 0) == [1, Failure("no"), Failure("no")]
    with pytest.raises(MechanismError, match=r": gone$"):
        shell("""echo '{"error": "gone", "fatal": true}'""", failures=True).draw(0, 3, 0)


# --- garbage --------------------------------------------------------------------------------------

GARBAGE = [  # script, words of the error for three outputs
    (r"printf '1\nsegmentation\n3\n'", ["line 2 of 3", "'segmentation'; words are written in"]),
    (r"printf '1\n{2\n3\n'", ["line 2 of 3 is not an output in JSON: '{2'"]),
    (r"printf '[1]\n[1\n0]\n'", ["line 2 of 3 is not an output in JSON: '[1'"]),
    (r"printf '1\n\n3\n'", ["line 2 of 3 is not an output in JSON: ''"]),
    (r"printf '1\n\377\376\n3\n'", ["line 2 of 3 is not an output"]),
    (r"printf '1\n2\n3\n4\n'", ["printed more than the 3 outputs asked for: '4'"]),
    (r"""printf '1\n2\n{"error": "out of\\nluck"}\n'""", [": out of luck"]),
    ("exit 3", ["ended with exit code 3 after 0 of 3 outputs"]),
    ("echo 1; echo oh no >&2; exit 0", ["exit code 0 after 1 of 3 outputs; its last words: oh no"]),
    ("echo 1; kill -SEGV $$", ["crashed: Segmentation fault (signal 11) after 1 of 3 outputs"]),
    ("exec >&-; sleep 5", ["closed its output after 0 of 3 outputs"]),
    ("sleep 9", ["hangs after 0 of 3 outputs, for 0.4 s a batch (does it flush its output?)"]),
    ("echo 1; echo busy >&2; sleep 9", ["hangs after 1 of 3 outputs", "its last words: busy"]),
    (r"printf '1\n2\n3'; sleep 9", ["after 2 of 3 outputs, for 0.4 s a batch"]),
]


@pytest.mark.parametrize(("script", "words"), GARBAGE)
def test_the_error_of_garbage_is_one_line_and_no_process_is_left(shell, script, words):
    source = shell(script, timeout=0.4 if "sleep 9" in script else 10)
    with error_in_one_line(MechanismError, ["sh -c 'while read", *words]):
        source.draw(0, 3, 0)
    assert not children()


def children():
    """Return this process's children that have not been waited for."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None


def test_after_garbage_the_next_batch_has_a_new_worker(shell, tmp_path):
    source = shell("if [ -e there ]; then echo 1; else touch there; echo x; fi")
    with pytest.raises(MechanismError):
        source.draw(0, 1, 0)
    assert source.draw(0, 1, 0).tolist() == [1]


AFTER = [  # what follows an answer
    ("sleep 0.05; echo 2; read -r line; sleep 9", "printed '2' without a request"),
    ("exit 0", r"exit code 0 .* \(a worker answers until its input"),
]


@pytest.mark.parametrize(("script", "message"), AFTER)
def test_the_second_batch_of_a_worker_that_answers_once_is_an_error(shell, script, message):
    source = shell(f"echo 1; {script}")
    source.draw(0, 1, 0)
    time.sleep(0.4)
    with pytest.raises(MechanismError, match=message):
        source.draw(0, 1, 0)


# --- nothing is left ------------------------------------------------------------------------------


def test_closing_ends_the_worker_and_its_children(shell):
    source = shell("sleep 60 & echo $!; echo $$")
    numbers = source.draw(0, 2, 0).tolist()
    assert not any(map(gone, numbers))
    source.close()
    assert until(lambda: all(map(gone, numbers)), 5)
    assert not children()
    source.close()


def test_a_forgotten_worker_ends():
    source = WorkerSource(["sh", "-c", "while read -r line; do echo $$; done"])
    (number,) = source.draw(0, 1, 0).tolist()
    del source
    gc.collect()
    assert gone(number)


def test_the_end_of_the_interpreter_ends_the_worker():
    code = (
        "from epsilometer_audit.outputs.worker import WorkerSource\n"
        "source = WorkerSource(['sh', '-c', 'while read -r line; do echo $$; done; sleep 60'])\n"
        "print(source.draw(0, 1, 0)[0])\n"
    )
    run = ran(sys.executable, "-c", code)
    assert (run.returncode, run.stderr) == (0, "")
    assert gone(int(run.stdout))


# --- wrong use ------------------------------------------------------------------------------------

COMMANDS = [  # a command, words of the error, options if it has any
    ("", ["command '' is not a program"]),
    ("sh -c 'x", ["command", "No closing quotation"]),
    ("./mecch", ["'./mecch' is not a program that can be run"]),
    ("./data", ["'./data' is not a program that can be run"]),
    ("mech", ["'mech' is not a program that can be run"]),
    ("pythn3 worker.py", ["'pythn3' is not a program"]),
    ("./mech", ["command './mech' cannot be run: Exec format error; does it begin with #!"]),
    ("cat", ["input cannot be written as JSON: 'object' object has no"]),
    ("cat", ["timeout must be positive"], {"timeout": 0}),
    ("cat", ["folder 'nowhere' is not there"], {"folder": "nowhere"}),
]


@pytest.mark.parametrize("bad", COMMANDS)
def test_the_error_of_a_bad_command_is_one_line(start, tmp_path, bad):
    (tmp_path / "mech").write_text("true\n")
    (tmp_path / "mech").chmod(0o755)
    (tmp_path / "data").write_text("1")
    start(["./mech", ""])  # an argument may be empty
    command, words, *options = bad
    with error_in_one_line(ArgumentError, words):
        start(command, **dict(*options)).draw(object() if command == "cat" else 0, 1, 0)


# --- another interpreter --------------------------------------------------------------------------

ELSEWHERE = """\
from decimal import Decimal
from fractions import Fraction
import helper

def noisy(x, size, rng):
    print("noise")
    return x + helper.SCALE * rng.laplace(size=size)

def word(x, rng):
    return ("a", None, float("nan"), x)[int(4 * rng.random())]

def failing(x, rng):
    return 1 / int(2 * rng.random())

def flag(x, size, rng):
    return rng.random((size, 2)) < 0.5

def fraction(x, size, rng):
    return [Fraction(int(k), 3) + x for k in rng.integers(9, size=size)]

def decimal(x, rng):
    return Decimal(int(rng.integers(9))) / 7 + Decimal(x)

def long(x, size, rng):
    return rng.integers(9, size=size).astype("g") / 3 + x

def reading(x):
    import os, sys
    os.system("echo printed")
    return sys.stdin.read()
"""


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.py").write_text(ELSEWHERE)
    (tmp_path / "helper.py").write_text("SCALE = 2\n")
    (tmp_path / "broken.py").write_text("import nowhere\n")
    return tmp_path


@pytest.mark.parametrize("name", ["noisy", "flag", "fraction", "decimal", "long"])
def test_another_interpreter_draws_the_same_as_this_one(survey, name):
    here = load(f"survey.py:{name}", folder=survey)
    with closing(python_worker(sys.executable, f"survey.py:{name}", folder=survey)) as source:
        assert source.description == f"{here.description}, in {sys.executable}"
        assert source.seeded
        assert {**here.digest(), "interpreter": sys.executable} == source.digest()
        drawn = [each.draw(1.0, 100, 5) for each in (source, here)]
    if name == "long":
        drawn[0] = [np.longdouble(str(value)) for value in drawn[0]]
    assert getattr(drawn[0], "dtype", 0) == getattr(drawn[name != "long"], "dtype", 0)
    assert np.array_equal(*drawn)


def test_another_interpreter_without_packages(survey):
    if not Path(SYSTEM).exists():
        pytest.skip("no other interpreter")

    def drawn(name, size, **options):
        with closing(python_worker(SYSTEM, f"survey.py:{name}", folder=survey, **options)) as there:
            return there.draw(3, size, 1)

    assert {str(value) for value in drawn("word", 200)} == {"a", "None", "nan", "3"}
    failure = Failure("ZeroDivisionError", "division by zero")
    assert set(drawn("failing", 50, failures=True)) == {1.0, failure}
    with pytest.raises(MechanismError, match=r"^survey.py:failing on 3: ZeroDiv.*\(survey"):
        drawn("failing", 50)
    assert drawn("reading", 1) == [""]


def test_another_interpreter_imports_modules_beside_the_mechanism(survey):
    for name in ("loading", "outputs", "epsilometer"):
        (survey / f"{name}.py").write_text(f"NAME = 'my {name}'\n")
    (survey / "names.py").write_text(
        "import loading, outputs, epsilometer\n"
        "def names(x): return loading.NAME, outputs.NAME, epsilometer.NAME, answering(x)\n"
        "def answering(x):\n try: import answering\n except ImportError as e: return str(e)\n"
    )
    with closing(python_worker(sys.executable, "names.py:names", folder=survey)) as source:
        (names,) = source.draw(0, 1, 1)
    assert names[:3] == ("my loading", "my outputs", "my epsilometer")
    assert names[3] == "No module named 'answering'"


BAD_INTERPRETERS = [  # interpreter, source, words of the error
    (SYSTEM, "survey.py:noise", ["has no function 'noise'; did you mean 'noisy'?"]),
    (SYSTEM, "broken.py:f", ["broken.py cannot be loaded", "use the interpreter that has it"]),
    ("venv", "survey.py:noisy", ["'venv' is not a program"]),
    ("/bin/sh", "survey.py:noisy", ["python '/bin/sh' does not run it: survey.py:noisy: ended"]),
    ("/bin/true", "survey.py:noisy", ["python '/bin/true' does not run it", "exit code 0"]),
]


@pytest.mark.parametrize(("interpreter", "spec", "words"), BAD_INTERPRETERS)
def test_the_error_of_a_bad_interpreter_is_one_line(survey, interpreter, spec, words):
    (survey / "venv").mkdir()
    with error_in_one_line(ArgumentError, words):
        python_worker(interpreter, spec, folder=survey)
    assert not children()


# --- imports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", SERVING, ids=lambda file: file.stem)
def test_the_worker_runs_on_python_3_8_without_anything(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    beside = {each.stem for each in SERVING}
    assert not beside & {"numpy", *sys.stdlib_module_names}  # whose place it must not take
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            assert names <= {"numpy", *sys.stdlib_module_names}
        elif isinstance(node, ast.ImportFrom):
            names = node.module.split(".")
            assert names[-1] in beside if node.level else names[0] in sys.stdlib_module_names
