"""A program in any language is drawn from; one that hangs, dies or prints garbage is an error."""

import gc
import math
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.sources.callables import load
from epsilometer_audit.sources.worker import WorkerSource, python_worker
from tests.unit.one_line import error_in_one_line
from tests.unit.processes import gone, until

DATA = Path(__file__).parents[1] / "data" / "audit"
SYSTEM = "/usr/bin/python3"  # often without NumPy


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


def test_a_worker_in_c(start, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no compiler of C")
    subprocess.run(["cc", "-o", tmp_path / "worker", DATA / "worker.c", "-lm"], check=True)
    source = start("./worker")
    x, again, other = (source.draw(1.5, 20_000, seed) for seed in (0, 0, 1))
    assert x.dtype == np.float64
    assert (x == again).all()
    assert (x != other).all()
    assert abs(np.median(x) - 1.5) < 0.05
    assert abs(np.abs(x - 1.5).mean() - 1) < 0.05
    assert len(source.digest()["./worker"]) == 64
    with pytest.raises(MechanismError, match=r"^./worker: the input is one number$"):
        source.draw([1], 5, 1)
    assert source.draw(1, 5, 1).shape == (5,)


@pytest.mark.parametrize(
    ("command", "x", "mean", "wrong", "message"),
    [
        (["sh", str(DATA / "worker.sh")], 1, 0.75, 2, "the input is 0 or 1"),
        ([sys.executable, "-S", str(DATA / "worker.py")], [0, 0, 9], 2, 3, "TypeError: .*int"),
    ],
)
def test_a_worker_in_a_script(start, command, x, mean, wrong, message):
    source = start(command)
    drawn, again = (source.draw(x, 4000, 0) for _ in range(2))
    assert drawn.dtype == np.int64
    assert (drawn == again).all()
    assert abs(drawn.mean() - mean) < 0.1
    assert {"command", command[0], command[-1]} <= set(source.digest())
    with pytest.raises(MechanismError, match=message):
        source.draw(wrong, 5, 1)


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
        if isinstance(drawn, np.ndarray):
            kind = int if isinstance(np.ravel(outputs).tolist()[0], int) else float
            assert drawn.dtype == kind
            np.testing.assert_array_equal(drawn, np.array(outputs, kind))
        else:
            assert repr(drawn) == repr(outputs)
            assert list(map(type, drawn)) == list(map(type, outputs))


def test_a_request_is_one_line_of_json(shell):
    source = shell("""printf '%s\\n' "$line" | sed 's/[\\"]/\\\\&/g; s/.*/"&"/' """)
    x = {"a": [1, 2.5, "ä\n"], "b": np.arange(2)}
    (line,) = source.draw(x, 1, 5)
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
    outputs = shell(script, failures=True).draw(0, 3, 0)
    assert outputs == [1, Failure("no"), Failure("no")]
    with pytest.raises(MechanismError, match=r": no$"):
        shell(script).draw(0, 3, 0)
    with pytest.raises(MechanismError, match=r": gone$"):
        shell("""echo '{"error": "gone", "fatal": true}'""", failures=True).draw(0, 3, 0)


# --- garbage --------------------------------------------------------------------------------------

GARBAGE = [  # script, words of the error for three outputs
    (r"printf '1\nsegmentation\n3\n'", ["line 2 of 3", "'segmentation'; words are written in"]),
    (r"printf '1\n{2\n3\n'", ["line 2 of 3 is not an output in JSON: '{2'"]),
    (r"printf '[1]\n[1\n0]\n'", ["line 2 of 3 is not an output in JSON: '[1'"]),
    (r"printf '1\n\n3\n'", ["line 2 of 3 is empty"]),
    (r"printf '1\n\377\376\n3\n'", ["line 2 of 3 is not an output"]),
    (r"printf '1\n2\n3\n4\n'", ["printed more than the 3 outputs asked for: '4'"]),
    (r"""printf '1\n2\n{"error": "out of\\nluck"}\n'""", [": out of luck"]),
    ("exit 3", ["ended with exit code 3 after 0 of 3 outputs"]),
    ("echo 1; echo oh no >&2; exit 0", ["exit code 0 after 1 of 3 outputs; its last words: oh no"]),
    ("echo 1; kill -SEGV $$", ["crashed: Segmentation fault (signal 11) after 1 of 3 outputs"]),
    ("exec >&-; sleep 5", ["closed its output after 0 of 3 outputs"]),
]


@pytest.mark.parametrize(("script", "words"), GARBAGE)
def test_the_error_of_garbage_is_one_line(shell, script, words):
    source = shell(script, name="mech")
    with error_in_one_line(MechanismError, ["mech: ", *words]):
        source.draw(0, 3, 0)


HANGING = [
    ("sleep 9", ["hangs after 0 of 3 outputs, for 0.4 s a batch (does it flush its output?)"]),
    ("echo 1; echo busy >&2; sleep 9", ["hangs after 1 of 3 outputs", "its last words: busy"]),
    (r"printf '1\n2\n3'; sleep 9", ["after 2 of 3 outputs", "a line without an end: '3'"]),
]


@pytest.mark.parametrize(("script", "words"), HANGING)
def test_the_error_of_a_hang_is_one_line_and_no_process_is_left(shell, script, words):
    source = shell(script, name="mech", timeout=0.4)
    before = time.monotonic()
    with error_in_one_line(MechanismError, ["mech: ", *words]):
        source.draw(0, 3, 0)
    assert time.monotonic() - before < 40
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


def test_outputs_that_come_too_late_are_an_error(shell):
    source = shell("echo 1; sleep 0.05; echo 2; read -r line; sleep 0.05; echo 3")
    source.draw(0, 1, 0)
    time.sleep(0.4)
    with pytest.raises(MechanismError, match="printed '2' after its last answer was complete"):
        source.draw(0, 1, 0)


def test_a_worker_that_answers_once_is_an_error(start):
    source = start(["sh", "-c", "read -r line; echo 1"])
    source.draw(0, 1, 0)
    with pytest.raises(MechanismError, match=r"exit code 0 .* \(a worker answers until its input"):
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


def test_a_forgotten_worker_ends(tmp_path):
    source = WorkerSource(["sh", "-c", "while read -r line; do echo $$; done"])
    (number,) = source.draw(0, 1, 0).tolist()
    del source
    gc.collect()
    assert gone(number)


def test_the_end_of_the_interpreter_ends_the_worker():
    code = (
        "from epsilometer_audit.sources.worker import WorkerSource\n"
        "source = WorkerSource(['sh', '-c', 'while read -r line; do echo $$; done; sleep 60'])\n"
        "print(source.draw(0, 1, 0)[0])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert gone(int(run.stdout))


# --- wrong use ------------------------------------------------------------------------------------

COMMANDS = [
    ("", ["command names no program"]),
    ("sh -c 'x", ["command", "No closing quotation"]),
    ("./mecch", ["'./mecch' is not there; did you mean './mech'?"]),
    ("./data", ["'./data' is not executable (chmod +x ./data)"]),
    ("./sub", ["'./sub' is a folder"]),
    ("mech", ["'mech' is not a program; did you mean './mech'?"]),
    ("pythn3 worker.py", ["'pythn3' is not a program"]),
    (["./mech", ""], []),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_the_error_of_a_bad_command_is_one_line(start, tmp_path, command, words):
    (tmp_path / "mech").write_text("#!/bin/sh\ntrue\n")
    (tmp_path / "mech").chmod(0o755)
    (tmp_path / "data").write_text("1")
    (tmp_path / "sub").mkdir()
    if not words:
        start(command)
        return
    with error_in_one_line(ArgumentError, words):
        start(command)


def test_the_error_of_a_failed_start_is_one_line(start, tmp_path):
    (tmp_path / "mech").write_text("true\n")
    (tmp_path / "mech").chmod(0o755)
    with error_in_one_line(
        ArgumentError, ["command './mech' cannot be run: Exec format error; does it begin with #!"]
    ):
        start("./mech").draw(0, 1, 0)
    with error_in_one_line(ArgumentError, ["input cannot be written as JSON: object is unknown"]):
        start("cat").draw(object(), 1, 0)
    with pytest.raises(ArgumentError, match="timeout must be positive"):
        start("cat", timeout=0)
    with pytest.raises(ArgumentError, match="folder 'nowhere' is not there"):
        start("cat", folder="nowhere")


# --- another interpreter --------------------------------------------------------------------------

SURVEY = """\
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
    (tmp_path / "survey.py").write_text(SURVEY)
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
    with pytest.raises(MechanismError, match=r"^survey.py:failing: ZeroDivisionError: .*\(survey"):
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


ELSEWHERE = [  # interpreter, source, words of the error
    (SYSTEM, "survey.py:noise", ["survey.py has no function 'noise'; did you mean 'noisy'?"]),
    (SYSTEM, "broken.py:f", ["broken.py cannot be loaded", "use the interpreter that has it"]),
    ("venv", "survey.py:noisy", ["'venv' is not a program"]),
    ("/bin/sh", "survey.py:noisy", ["python '/bin/sh' does not run it: survey.py:noisy: ended"]),
    ("/bin/true", "survey.py:noisy", ["python '/bin/true' does not run it", "exit code 0"]),
]


@pytest.mark.parametrize(("interpreter", "spec", "words"), ELSEWHERE)
def test_the_error_of_a_bad_interpreter_is_one_line(survey, interpreter, spec, words):
    (survey / "venv").mkdir()
    with error_in_one_line(ArgumentError, words):
        python_worker(interpreter, spec, folder=survey)
    assert not children()
