"""Programs in any language are drawn from; the error of others is one line, and none is left."""

import gc
import math
import os
import shutil
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.outputs.worker import WorkerSource
from epsilometer_audit.serving.outputs import Failure
from tests.unit.audits import error_in_one_line
from tests.unit.processes import gone, ran, until

DATA = Path(__file__).parents[3] / "data" / "audit"


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
def shell(start):
    """Start a worker whose answer to every request is a script's."""

    def started(script, **options):
        return start(["sh", "-c", f"while read -r line; do\n{script}\ndone"], **options)

    return started


# --- the examples ---------------------------------------------------------------------------------


def assert_draws(source, x, mean):
    drawn, again, other = (source.draw(x, 4000, seed) for seed in (0, 0, 1))
    assert (drawn == again).all()
    assert (drawn != other).any()
    assert abs(drawn.mean() - mean) < 0.1


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler of C")
def test_the_example_in_c(start, tmp_path):
    subprocess.run(["cc", "-o", tmp_path / "worker", DATA / "worker.c", "-lm"], check=True)
    source = start(["./worker"])
    assert_draws(source, 1.5, 1.5)
    with pytest.raises(MechanismError, match=r"^./worker on \[1\]: the input is one number$"):
        source.draw([1], 5, 1)
    assert source.draw(1.5, 5, 1).shape == (5,)


@pytest.mark.parametrize(
    ("program", "file", "x", "mean", "wrong", "message"),
    [
        ("sh", "worker.sh", 1, 0.75, 2, "the input is 0 or 1"),
        (sys.executable, "worker.py", [0, 0, 9], 2, 3, "TypeError: .*int"),
    ],
)
def test_the_examples_of_scripts(start, program, file, x, mean, wrong, message):
    source = start([program, str(DATA / file)])
    assert_draws(source, x, mean)
    assert {"command", program, str(DATA / file)} <= set(source.digest())
    with pytest.raises(MechanismError, match=message):
        source.draw(wrong, 5, 1)


# --- replies --------------------------------------------------------------------------------------

REPLIES = [  # the reply for three outputs, and the outputs
    (r"1\n2\n3\n", [1, 2, 3]),
    (r".5\n-nan\n5.\n", [0.5, math.nan, 5.0]),
    (r"1\r\n2\r\ninf\r\n", [1, 2, math.inf]),
    (r'"yes"\nnull\ntrue\n', ["yes", None, True]),
    (r"[1, 2]\n[3, 4]\n[5, 6]\n", [[1, 2], [3, 4], [5, 6]]),
    (r"[1]\n[2, 3]\n[4, NaN]\n", [(1,), (2, 3), (4, math.nan)]),
    (r"1.00000000000000000001\n2\n3\n", [Decimal("1.00000000000000000001"), 2, 3]),
    (r"[3.00000000000000000005, 1]\n2\n3\n", [(Decimal("3.00000000000000000005"), 1), 2, 3]),
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


COUNTS = """
import json, sys
for line in sys.stdin:
    sys.stderr.write("x" * 300000)
    print(len(json.loads(line)["input"]), flush=True)
"""


def test_much_input_and_much_on_stderr_hold_nothing_up(start):
    source = start([sys.executable, "-S", "-c", COUNTS])
    for _ in range(3):
        assert source.draw([0] * 100_000, 1, 0).tolist() == [100_000]


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


def children():
    """Return this process's children that have not been waited for."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None


@pytest.mark.parametrize(("script", "words"), GARBAGE)
def test_the_error_of_garbage_is_one_line_and_no_process_is_left(shell, script, words):
    source = shell(script, timeout=0.4 if "sleep 9" in script else 10)
    with error_in_one_line(MechanismError, ["sh -c 'while read", *words]):
        source.draw(0, 3, 0)
    assert not children()


def test_after_garbage_the_next_batch_has_a_new_worker(shell):
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
    child, worker = source.draw(0, 2, 0).tolist()
    assert not gone(child)
    source.close()
    assert until(lambda: gone(child) and gone(worker), 5)
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

COMMANDS = [  # a command, words of the error
    ("", ["command '' is not a program"]),
    ("sh -c 'x", ["command", "No closing quotation"]),
    ("./mecch", ["'./mecch' is not a program that can be run"]),
    ("./data", ["'./data' is not a program that can be run"]),
    ("pythn3 worker.py", ["'pythn3' is not a program"]),
    ("./mech", ["command './mech' cannot be run: Exec format error; does it begin with #!"]),
]


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_the_error_of_a_bad_command_is_one_line(start, tmp_path, command, words):
    (tmp_path / "mech").write_text("true\n")
    (tmp_path / "mech").chmod(0o755)
    (tmp_path / "data").write_text("1")
    start(["./mech", ""])  # an argument may be empty
    with error_in_one_line(ArgumentError, words):
        start(command).draw(0, 1, 0)


def test_the_error_of_a_bad_option_or_input_is_one_line(start):
    with error_in_one_line(ArgumentError, ["timeout must be positive"]):
        start("cat", timeout=0)
    with error_in_one_line(ArgumentError, ["folder 'nowhere' is not there"]):
        start("cat", folder="nowhere")
    with error_in_one_line(ArgumentError, ["input cannot be written as JSON: 'object' object"]):
        start("cat").draw(object(), 1, 0)
