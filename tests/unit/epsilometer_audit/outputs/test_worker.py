"""Programs in any language are drawn from; the error of others is one line, and none is left."""

import gc
import hashlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import time
import types
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.outputs.callables import Origin
from epsilometer_audit.outputs.worker import (
    Process,
    PythonWorker,
    Reply,
    WorkerSource,
    python_worker,
)
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


def test_a_worker_has_the_variables_of_this_process_and_those_of_the_call(start, monkeypatch):
    monkeypatch.setenv("OURS", "1")
    script = 'while read -r line; do printf "%s\\n" "$OURS" "$THEIRS"; done'
    assert start(["sh", "-c", script], env={"THEIRS": "2"}).draw(0, 2, 0).tolist() == [1, 2]
    assert start(["sh", "-c", script], env={"OURS": "3", "THEIRS": "4"}).draw(0, 2, 0).sum() == 7


def test_a_digest_is_of_the_command_its_files_and_what_those_of_python_import(start, tmp_path):
    texts = {"mech.py": "import helper", "helper.py": "import json", "notes": "import helper"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    digest = start([sys.executable, "mech.py", "0", "."]).digest()
    files = {"mech.py": texts["mech.py"], "helper.py": texts["helper.py"]}
    wanted = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    program = hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest()
    assert digest == {"command": f"{sys.executable} mech.py 0 .", sys.executable: program} | wanted
    assert set(start(["cat", "notes"]).digest()) == {"command", "cat", "notes"}


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


LINES = [  # a line, and the outcome that it is with failures
    (b'{"error": "E"}', Failure("E")),
    (b'{"error": "E", "message": "m"}', Failure("E", "m")),
    (b'{"error": "E", "message": "m", "fatal": false}', Failure("E", "m")),
    (b'{"error": "E", "fatal": true}', None),
    (b'{"error": "E", "message": "m", "fatal": true}', None),
    (b'{"error": "E", "place": 1}', {"error": "E", "place": 1}),
    (b'{"message": "m", "fatal": true}', {"message": "m", "fatal": True}),
    (b'["error"]', ("error",)),
    (b'"error"', "error"),
]


@pytest.mark.parametrize(("line", "outcome"), LINES)
@pytest.mark.parametrize("failures", [True, False])
def test_a_line_is_an_error_a_failure_or_an_output(line, outcome, failures):
    reply = Reply(2, failures)
    reply.feed(line + b"\n")
    ends = outcome is None or (not failures and isinstance(outcome, Failure))
    assert reply.complete == ends  # before the second output
    if ends:
        with pytest.raises(MechanismError, match=r"^E$"):
            reply.outputs()
    else:
        reply.feed(b"1\n")
        assert reply.complete
        assert reply.outputs() == [outcome, 1]


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        (b'{"digest": {}}', True),
        (b'{"error": "E"}', True),
        (b'{"a": 1}', False),
        (b'["error"]', False),
        (b"5", False),
        (b"Usage:", False),
    ],
)
def test_a_message_has_a_digest_or_an_error(line, is_known):
    reply = Reply(1, failures=False)
    reply.feed(line + b"\n")
    if is_known:
        assert reply.message() == json.loads(line)
    else:
        with pytest.raises(MechanismError, match=r"^answers like no Python interpreter$"):
            reply.message()


class Huge(bytearray):
    """Bytes after so many others that two more make 2 GB."""

    def __len__(self):
        return 2**31 - 2 + super().__len__()


def test_a_reply_of_more_than_2_gigabytes_is_an_error():
    reply = Reply(2, failures=False, data=Huge())
    reply.feed(b"1\n")
    assert not reply.complete
    with pytest.raises(MechanismError, match=r"^sends more than 2 GB for 2 outputs; fewer draws"):
        reply.feed(b"2")


@pytest.mark.parametrize(
    ("printed", "extra"), [(b"3", "3"), (b"3\n", "3"), (b"3\n4", "3"), (b"\n", ""), (b"\n4\n", "")]
)
def test_what_is_printed_after_the_last_output_is_an_error(printed, extra):
    reply = Reply(2, failures=False)
    reply.feed(b"1\n2\n" + printed)
    assert reply.complete
    with pytest.raises(MechanismError, match=f"more than the 2 outputs asked for: '{extra}'$"):
        reply.outputs()


# --- garbage --------------------------------------------------------------------------------------

GARBAGE = [  # script, words of the error for three outputs
    (r"printf '1\nsegmentation\n3\n'", ["line 2 of 3", "'segmentation'; words are written in"]),
    (r"printf '1\n{2\n3\n'", ["line 2 of 3 is not an output in JSON: '{2'"]),
    (r"printf '[1]\n[1\n0]\n'", ["line 2 of 3 is not an output in JSON: '[1'"]),
    (r"printf '1, 2\n3\n4\n'", ["line 1 of 3 is not an output in JSON: '1, 2'"]),
    (r"printf '1\n\n3\n'", ["line 2 of 3 is not an output in JSON: ''"]),
    (r"printf '1\n\377\376\n3\n'", ["line 2 of 3 is not an output"]),
    (r"printf '1\n2\n3\n4\n'", ["printed more than the 3 outputs asked for: '4'"]),
    (r"""printf '1\n2\n{"error": "out of\\nluck"}\n'""", [": out of luck"]),
    (f"""echo '{{"error": "{"no " * 500}"}}'""", [": no no no"]),
    ("exit 3", ["ended with exit code 3 after 0 of 3 outputs"]),
    (
        "echo 1; echo oh no >&2; exit 0",
        ["ended with exit code 0 after 1 of 3 outputs; its last words: oh no"],
    ),
    ("echo 1; kill -SEGV $$", ["crashed: Segmentation fault (signal 11) after 1 of 3 outputs"]),
    ("exec >&-; sleep 5", ["closed its output after 0 of 3 outputs"]),
    ("sleep 9", ["hangs after 0 of 3 outputs, for 0.4 s a batch (does it flush its output?)"]),
    ("echo 1; echo busy >&2; sleep 9", ["hangs after 1 of 3 outputs", "its last words: busy"]),
    (r"printf '1\n2\n3'; sleep 9", ["after 2 of 3 outputs, for 0.4 s a batch"]),
    ("printf '%0500d\\n%s' 0 'the end' >&2; exit 1", ["; its last words: 0", "0 the end"]),
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


def test_a_print_without_a_request_is_an_error_of_the_next_batch(shell):
    source = shell("echo 1; sleep 0.05; echo 2; read -r line; sleep 9")
    source.draw(0, 1, 0)
    time.sleep(0.4)
    with pytest.raises(MechanismError, match="printed '2' without a request"):
        source.draw(0, 1, 0)


ENDS = [  # answers, how the worker ends then, the end of the error of the next batch
    (
        1,
        "exit 0",
        r"with exit code 0 after 0 of 1 output \(a worker answers until its input ends\)",
    ),
    (1, "printf 2; exit 0", "with exit code 0 after 0 of 1 output"),
    (1, "exit 3", "with exit code 3 after 0 of 1 output"),
    (0, "exit 0", "with exit code 0 after 0 of 1 output"),
]


@pytest.mark.parametrize(("answers", "script", "message"), ENDS)
def test_a_worker_that_ends_well_after_its_first_answers_is_told_to_go_on(
    shell, answers, script, message
):
    source = shell("echo 1; read -r line;" * answers + script)
    for _ in range(answers):
        source.draw(0, 1, 0)
    with pytest.raises(MechanismError, match=f": ended {message}$"):
        source.draw(0, 1, 0)


SCRIPT = ["sh", "-c", "read -r line; echo 1; read -r line"]
ORIGIN = Origin("mech.py:f", interpreter=sys.executable)
MAKERS = {
    "worker": lambda: WorkerSource(SCRIPT).draw(0, 1, 0),
    "Python": lambda: python_worker(sys.executable, "mech.py:f"),
    "fresh": lambda: PythonWorker(ORIGIN),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_batch_may_take_60_seconds_unless_more_are_allowed(maker, monkeypatch):
    ticks = itertools.chain([0.0], itertools.cycle([0.0, 60.1]))  # before and after each wait
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks))
    monkeypatch.setattr("epsilometer_audit.outputs.worker.time", clock)
    with pytest.raises((ArgumentError, MechanismError), match=r"hangs .*, for 60 s a batch"):
        MAKERS[maker]()


# --- nothing is left ------------------------------------------------------------------------------


def test_closing_ends_the_worker_and_its_children(shell):
    source = shell("sleep 60 & echo $!; echo $$")
    child, worker = source.draw(0, 2, 0).tolist()
    assert not gone(child)
    source.close()
    assert until(lambda: gone(child) and gone(worker), 5)
    assert not children()
    source.close()


def test_a_worker_may_finish_its_work_after_the_end_of_its_input(start, tmp_path, monkeypatch):
    monkeypatch.setattr(Process.close, "__defaults__", (20.0,))  # seconds, however busy we are
    source = start(["sh", "-c", "while read -r line; do echo 1; done; sleep 0.05; : >done"])
    source.draw(0, 1, 0)
    source.close()
    assert (tmp_path / "done").exists()


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
