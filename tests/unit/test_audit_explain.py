"""The cause of a violation: each kind of difference is named, with its line of code."""

import copy
import json
import math
import random
import re
import sys
import textwrap
import time

import numpy as np
import pytest

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import audit, pure
from epsilometer_audit.cli.main import main
from epsilometer_audit.explaining.comparing import cause_of, same, value_text
from epsilometer_audit.explaining.explain import explain, explained
from epsilometer_audit.serving.loading import load
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.serving.replay import replaying
from epsilometer_audit.serving.replay.patching import Sources
from epsilometer_audit.serving.replay.recording import Recorder, summary
from epsilometer_audit.serving.replay.replaying import forked, replayed
from epsilometer_audit.sources import callables as sources
from epsilometer_audit.sources.worker import WorkerSource, python_worker
from tests.sharing import build_once

IMPORTS = """
import ctypes, math, os, random, secrets, time
from random import gauss
import numpy as np
from numpy.random import laplace, default_rng
"""
ZERO_ONE = ([0, 1], [1, 1])


@pytest.fixture
def written(tmp_path):
    """A function that writes a mechanism ``f`` and returns its place."""

    def written(body, head=IMPORTS):
        file = tmp_path / "mechanism.py"
        file.write_text(head + textwrap.dedent(body))
        return f"{file}:f"

    return written


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recordings of all mechanisms below, by name: in one process, as each start takes time."""
    return json.loads(build_once(record, "recorded", tmp_path_factory).read_text())


def record(file):
    """Write recordings of all mechanisms."""
    places = {}
    for i, (name, (body, _)) in enumerate(MECHANISMS.items()):
        module = file.with_name(f"mechanism{i}.py")
        module.write_text(IMPORTS + textwrap.dedent(body))
        places[name] = f"{module}:f"

    def all_at_once():
        sources, done = Sources(Recorder()), {}
        for name, place in places.items():
            seeds = range(1, 6 if "sampled" in name else 4)  # a row is sampled in some runs
            pair = MECHANISMS[name][1]
            done[name] = replayed(lambda place=place: load(place), pair, list(seeds), 60, sources)
        return done

    file.write_text(json.dumps(forked(all_at_once, 300)))


# --- sources of randomness ------------------------------------------------------------------------

SOURCES = (  # each draws once
    *("rng.laplace()", "laplace()", "np.random.laplace()", "np.random.rand()", "np.random.ranf()"),
    *("np.random.RandomState().normal()", "default_rng().normal()", "rng.spawn(1)[0].normal()"),
    *("np.random.Generator(np.random.PCG64()).normal()", "copy.deepcopy(rng).normal()"),
    *("copy.copy(np.random.RandomState(int(1e9 * rng.random()))).normal()", "RNG.normal()"),
    *("random.gauss(0, 1)", "gauss(0, 1)", "random.Random().random()", "random.randint(0, 9999)"),
    *("random.SystemRandom().gauss(0, 1)", "secrets.randbits(30)", "secrets.choice(range(9999))"),
    *("int(secrets.token_hex(4), 16)", "os.urandom(1)[0]", "uuid.uuid4().int % 9999"),
    *("OWN.random()", "stats.norm(0, 2).rvs()", "stats.laplace.rvs(random_state=rng)"),
    "stats.uniform.rvs()",
)
ALL_SOURCES = """
import copy, uuid
RNG, OWN = default_rng(), random.Random()

def f(x, rng):
    from scipy import stats
    outputs = []
"""
ALL_SOURCES += "".join(f"    outputs.append(sum(x) + {code})\n" for code in SOURCES)
ALL_SOURCES += "    return outputs\n"
# --- what is found --------------------------------------------------------------------------------

SAME = "output: same calls and noise, another output: "
BATCH, MORE = ([1] * 12, [1] * 11), ([1, 1], [1, 1, 1])
RETURNED = {  # what a mechanism returns, in one line; a pattern of the first finding
    "sum(x) + rng.laplace()": SAME + "1.02.* on x, 2.02.* on x'$",
    "sum(x) + rng.laplace(0, sum(x))": "argument: laplace gets scale = 1 on x, 2 on x'$",
    "int(rng.choice(2, p=[x[0] / 4, 1 - x[0] / 4]))": (
        r"argument: choice gets p = \[0, 1\] on x, \[0.25, 0.75\] on x'$"
    ),
    "rng.laplace() if sum(x) < 2 else 2.0": (
        r"call: call 1 is laplace\(loc=0, scale=1\) at .*:7 on x, none \(no more calls\) on x'"
    ),
    "float(rng.choice(x))": r"data: choice draws from \[0, 1\] on x, \[1, 1\] on x'$",
    "rng.normal(0, 1, len(x)).sum()": "number: normal draws 2 numbers on x, 3 on x'$",
    "sum(x) + default_rng(42).laplace()": (
        "constant seed: default_rng always gets the seed 42: its noise is the same each time$"
    ),
    "sum(x) + default_rng(sum(x)).laplace()": (
        "seed: the seed depends on the input: default_rng gets seed = 1 on x, 2 on x'$"
    ),
    "{'n': len(x), 'sum': sum(x) + rng.laplace()}": (
        "without noise: key 'n' is always 2 on x, 3 on x': without noise$"
    ),
    "{key: rng.laplace() for key in sorted(set(x))}": (
        "without noise: keys are always {1, 2} on x, {1, 3} on x'"
    ),
    "sum(x)": "no noise: no noise is drawn, .* always the same, 1 on x, 2 on x'$",
    "len(x) + rng.laplace()": "nothing: .* no call and no output differs: .* not known$",
    "rng.laplace() + x['sum']": "failed: it fails on both inputs: TypeError",
    "rng.laplace() + time.perf_counter_ns() % 1000": (
        "unseen: a second draw on x with the same states is not the same"
    ),
    "sum(x) + ctypes.CDLL(None).rand() / 2**31": (
        "unseen: no call was seen: the noise is drawn in compiled code"
    ),
}
INPUTS = {  # of these; all others get 0 or 1
    "rng.normal(0, 1, len(x)).sum()": MORE,
    "{'n': len(x), 'sum': sum(x) + rng.laplace()}": MORE,
    "{key: rng.laplace() for key in sorted(set(x))}": ([1, 2], [1, 3]),
}
NO_LINE = ("nothing", "failed", "unseen")
FOUND = {  # a mechanism; a pattern of the first finding; the line that is shown; the inputs
    "a generator that is seeded when it is loaded": (
        """
        RNG = default_rng(5)

        def f(x):
            return sum(x) + RNG.laplace()
        """,
        "constant seed: default_rng gets the seed 5 when the file is loaded: its noise is the same",
        "RNG = default_rng(5)",
        ZERO_ONE,
    ),
    "noise that is drawn once": (
        """
        NOISE = laplace(size=2)

        def f(x, rng):
            return sum(x) + NOISE[0] + rng.laplace()
        """,
        "drawn once: laplace draws when the file is loaded",
        "NOISE = laplace(size=2)",
        ZERO_ONE,
    ),
    "a scale that follows a sampled batch": (
        """
        def f(x, rng):
            batch = [value for value, u in zip(x, rng.random(len(x))) if u < .5]
            return sum(batch) + rng.laplace(0, 10 / (1 + len(batch)))
        """,
        r"argument: laplace gets scale = .* on x, .* on x'$",
        "return sum(batch) + rng.laplace(0, 10 / (1 + len(batch)))",
        BATCH,
    ),
    "a scale after a sampled coin for each row": (
        """
        def f(x, rng):
            batch = [value for value in x if rng.binomial(1, .5)]
            return sum(batch) + rng.normal(0, 10 / len(x))
        """,
        r"argument: normal gets scale = 0.833333 on x, 0.909091 on x'$",
        "return sum(batch) + rng.normal(0, 10 / len(x))",
        BATCH,
    ),
    # where the same calls and noise give another output: the first line that is not the same
    "a number": (
        """
        def f(x, rng):
            total = sum(x)
            noise = rng.laplace()
            return round(total + noise)
        """,
        SAME,
        "total = sum(x)",
        ZERO_ONE,
    ),
    "a generator that goes on": (
        """
        def doubled(x):
            for entry in x:
                yield (entry,)

        def f(x, rng):
            noise = rng.laplace()
            rows = list(doubled(x))
            return rows[0][0] + noise
        """,
        SAME,
        "for entry in x:",
        ([1, 2], [3, 2]),
    ),
}
OTHERS = {
    "votes": (
        """
        def f(x, rng):
            votes = [0, 0]
            for label in x:
                votes[label] += 1
            return int(votes[1] + rng.laplace(0, 9) > votes[0] + rng.laplace(0, 9))
        """,
        ([0] * 5, [1] * 5),
    ),
    "a sampled batch with noise of one scale": (
        """
        def f(x, rng):
            batch = [value for value, u in zip(x, rng.random(len(x))) if u < .5]
            return sum(batch) + rng.laplace(0, 1)
        """,
        BATCH,
    ),
    "lines of one side": (
        """
        def f(x, rng):
            if sum(x) > 1:
                return "many"
            total = sum(x)
            return total + rng.laplace()
        """,
        ZERO_ONE,
    ),
    "some runs": (
        """
        def f(x, rng):
            if x[0] + rng.laplace(0, 1) > 1:
                rng.random()
            return 0
        """,
        ZERO_ONE,
    ),
    "all sources": (ALL_SOURCES, ZERO_ONE),
}
MECHANISMS = {
    **{c: (f"def f(x, rng):\n    return {c}\n", INPUTS.get(c, ZERO_ONE)) for c in RETURNED},
    **{name: (body, pair) for name, (body, _, _, pair) in FOUND.items()},
    **OTHERS,
}


@pytest.mark.parametrize("name", [*RETURNED, *FOUND])
def test_a_difference_is_named_with_its_line(recorded, name):
    words, line = RETURNED.get(name, ""), f"return {name}"
    if name in FOUND:
        _, words, line, _ = FOUND[name]
    elif words.startswith(NO_LINE):
        line = ""
    cause = cause_of(recorded[name], [len(x) for x in MECHANISMS[name][1]])
    first = cause.findings[0]
    assert re.match(words, f"{first.kind}: {first.words}"), cause
    assert first.line == line, cause
    assert bool(first.place) == bool(first.line)
    plain = json.loads(json.dumps(cause.to_plain(), allow_nan=False))
    assert plain["words"] == str(cause).splitlines()
    assert {*plain["findings"][0]} == {"kind", "words", "place", "line", "runs", "more", "textbook"}


def test_a_finding_shows_the_lines_that_part_and_the_numbers(recorded):
    first = cause_of(recorded["lines of one side"]).findings[0]
    file = first.place.partition(":")[0]
    assert first.place == f"{file}:11"
    assert first.more == (
        f"x runs {file}:10: total = sum(x)",
        f"""x' runs {file}:9: return "many\"""",
    )
    numbers, noise = cause_of(recorded["a number"]).findings[0].more
    assert numbers == "total = 1 on x, 2 on x'"
    assert noise.startswith("noise: laplace(loc=0, scale=1) at ")
    assert "votes = [5, 0] on x, [0, 5] on x'" in cause_of(recorded["votes"]).findings[0].more


def test_what_the_sizes_of_inputs_explain_comes_last(recorded):
    first, second = cause_of(recorded["a scale that follows a sampled batch"], (12, 11)).findings
    assert (first.kind, second.kind) == ("argument", "number")
    assert first.textbook.startswith("the noise must not follow the data")
    (only,) = cause_of(recorded["a sampled batch with noise of one scale"], (12, 11)).findings
    assert (only.kind, only.textbook) == ("number", "")


def test_calls_go_on_after_those_that_one_side_has_more(recorded):
    coins = recorded["a scale after a sampled coin for each row"]
    first, second = cause_of(coins, (12, 11)).findings
    assert (first.kind, second.kind, second.textbook) == ("argument", "call", "")
    assert second.words == "binomial is called 12 times on x, 11 on x'"
    kinds = [finding.kind for finding in cause_of(coins).findings]  # sizes are not known
    assert kinds == ["call", "argument"]


def test_a_finding_of_some_runs_has_their_number(recorded):
    cause = cause_of(recorded["some runs"])
    (finding,) = cause.findings
    assert finding.kind == "call"
    assert 0 < finding.runs < 3
    assert f"({finding.runs} of 3 runs)" in str(cause)


SAME_PAIRS = [(0.1 + 0.2, 0.3), (1, 1.0), (math.nan, math.nan), ([1, [2.0, "a"]], [1.0, [2, "a"]])]
OTHER_PAIRS = [(1, 1.001), (10**12, 10**12 + 1), (None, 0), ({"digest": "a"}, {"digest": "b"})]


@pytest.mark.parametrize(("a", "b"), [*SAME_PAIRS, *OTHER_PAIRS])
def test_equal_values_are_the_same(a, b):
    assert same(a, b) is same(b, a) is ((a, b) in SAME_PAIRS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, 0.1234567, "a"], "[1, 0.123457, 'a']"),
        (list(range(20)), "[0, 1, 2, ... of 20]"),
        ({1: 1.0}, "{1: 1}"),
        ({"a": 1.0, "b": None}, "{'a': 1, 'b': None}"),
        (Failure("KeyError", "'x'"), "KeyError"),
        (np.arange(3000.0), "[0.0, 1.0, 2.0, 3.0] ..."),
        (np.array(["a"] * 3000, object), '["a", "a", "a"'),
        (object(), "object"),
    ],
)
def test_recorded_values_in_words(value, text):
    assert value_text(json.loads(json.dumps(summary(value)))).startswith(text)
    assert same(summary(value), summary(copy.deepcopy(value)))


def test_every_source_of_randomness_is_seen_and_replayed(recorded):
    runs = recorded["all sources"]["runs"]
    for run in runs:
        assert run["repeated"]
        np.testing.assert_allclose(np.subtract(run["x_prime"]["output"], run["x"]["output"]), 1)
    lines = {call["frames"][0][1] for call in runs[0]["x"]["calls"] if call["kind"] == "draw"}
    assert len(lines) == len(SOURCES)
    others = np.not_equal(runs[0]["x"]["output"], runs[1]["x"]["output"])
    assert others.sum() >= len(SOURCES) - 1  # a byte may be the same


def test_a_finding_in_a_library_shows_its_callers(tmp_path, written):
    package = tmp_path / "site-packages" / "noisy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "def noisy(value, scale, rng):\n    return value + rng.laplace(0, scale)\n"
    )
    (package / "sums.py").write_text(
        "from noisy import noisy\n\ndef noisy_sum(x, rng):\n"
        "    return noisy(sum(x), 2 * len(set(x)), rng)\n"
    )
    head = f"import sys\nsys.path.insert(0, {str(package.parent)!r})\nimport noisy.sums\n"
    body = """
    def f(x, rng):
        return noisy.sums.noisy_sum(x, rng)
    """
    place, pair = written(body, head), ([1, 1], [0, 2])
    answer = forked(lambda: replayed(lambda: load(place), pair, [1, 2, 3, 4], 20), 60)
    first = cause_of(answer).findings[0]
    assert first.words == "laplace gets scale = 2 on x, 4 on x'"
    assert first.place == "__init__.py:2"
    assert first.more == (
        "from sums.py:4: return noisy(sum(x), 2 * len(set(x)), rng)",
        "from mechanism.py:6: return noisy.sums.noisy_sum(x, rng)",
    )


# --- how it is run --------------------------------------------------------------------------------


MADE_BEFORE = np.random.default_rng(5)


def test_nothing_of_this_process_is_changed_and_a_generator_that_it_has_is_seen():
    kept = (np.random.laplace, np.random.default_rng, np.random.Generator, random.random)
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    cause = explain(lambda x: MADE_BEFORE.laplace(x, 0.5), (0, 1), runs=4)
    assert cause.findings[0].kind == "argument"
    assert kept == (np.random.laplace, np.random.default_rng, np.random.Generator, random.random)
    assert state == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    assert MADE_BEFORE.random() == np.random.default_rng(5).random()


def test_a_file_is_loaded_in_a_process_of_its_own(written):
    place = written("RNG = default_rng()\ndef f(x):\n    return os.getpid() * (RNG.random() > 2)\n")
    cause = explain(place, ZERO_ONE, runs=3)
    assert cause.findings[0].kind == "nothing"
    assert str(cause) == str(explain(place, ZERO_ONE, runs=3))


def test_another_interpreter_need_not_have_numpy(tmp_path, written):
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    interpreter.chmod(0o755)
    place = written("import random\ndef f(x, rng):\n    return rng.gauss(0, 1 + x[0])\n", "")
    source = python_worker(str(interpreter), place)
    try:
        first = explain(source, ZERO_ONE, runs=3).findings[0]
    finally:
        source.close()
    assert first.words == "gauss gets sigma = 1 on x, 2 on x'"


@pytest.mark.parametrize(
    ("code", "message"),
    [("time.sleep(60)", "hangs for"), ("os.kill(os.getpid(), 9)", "ended before it answered")],
)
def test_a_draw_that_hangs_or_ends_the_process_is_reported(written, code, message):
    place = written(f"def f(x, rng):\n    {code}\n")
    begun = time.monotonic()
    answer = forked(lambda: replayed(lambda: load(place), ZERO_ONE, [1], 0.2), 60)
    assert time.monotonic() - begun < 30
    first = cause_of(answer).findings[0]
    assert first.kind == "failed"
    assert message in first.words


def test_runs_end_with_their_time(written):
    place = written("def f(x, rng):\n    time.sleep(0.05)\n    return rng.laplace()\n")
    answer = forked(lambda: replayed(lambda: load(place), ZERO_ONE, list(range(99)), 0.3), 60)
    assert 1 <= len(answer["runs"]) < 20


@pytest.mark.parametrize(
    ("mechanism", "pair", "words"),
    [
        (WorkerSource("cat"), (0, 1), r"^mechanism can be explained where it is a Python"),
        ("mechanism.py:f", 3, r"^pair must be \(x, x'\), got 3$"),
        ("{}:g", (0, 1), "has no function 'g'"),
    ],
)
def test_mistakes_in_what_is_to_be_explained(written, mechanism, pair, words):
    file = written("def f(x):\n    return x\n").removesuffix(":f")
    if isinstance(mechanism, str):
        mechanism = mechanism.format(file)
    with pytest.raises(ArgumentError, match=words):
        explain(mechanism, pair, runs=1)


def test_a_failed_recording_is_an_error(monkeypatch):
    monkeypatch.setattr(replaying, "Recorder", None)
    with pytest.raises(MechanismError, match="cannot be recorded: TypeError"):
        explain(lambda x: x, (0, 1), runs=1)


# --- the command line -----------------------------------------------------------------------------

HALF = """
def f(x, size, rng):
    return sum(x) + rng.laplace(0, 0.5, size)
"""


def test_the_command_line_names_the_cause(written, capsys, tmp_path):
    words = [written(HALF), "--pair", "[0]", "[1]", "--epsilon", "1", "--samples", "2000"]
    words += ["--no-checks", "--quiet", "--explain"]
    assert main(["audit", *words, "--json", str(tmp_path / "v.json")]) == 1
    lines = capsys.readouterr().out.splitlines()
    (i,) = (i for i, line in enumerate(lines) if line.startswith("  cause "))
    assert "the low bits of floating-point outputs tell the inputs apart" in lines[i]
    assert "textbook: x + noise rounds to other floats" in lines[i + 1]
    assert "same calls and noise, another output: " in lines[i + 2]
    assert "mechanism.py:8: return sum(x) + rng.laplace(0, 0.5, size)" in lines[i + 3]
    assert "noise: laplace(loc=0, scale=0.5, size=1) at mechanism.py:8" in lines[i + 4]
    cause = json.loads((tmp_path / "v.json").read_text())["cause"]
    assert [finding["kind"] for finding in cause["findings"]] == ["low bits", "output"]
    assert cause["runs"] == 16


def test_a_bad_sampler_is_explained_by_its_seeds(written):
    body = "def f(x, size, rng):\n    return x[0] + default_rng(1).laplace(size=size)\n"
    source = sources.load(written(body))
    verdict = audit(source, [([0], [1])], pure(1.0), samples=1500)
    assert verdict.verdict == "invalid"
    cause = explained(verdict, source).cause
    assert [finding["kind"] for finding in cause["findings"]] == ["constant seed"]


def test_only_python_functions_are_explained(capsys):
    source = ["--command", "cat", "--pair", "0", "1"]
    assert main(["audit", *source, "--epsilon", "1", "--explain"]) == 2
    assert capsys.readouterr().err == "epsilometer: --explain: needs SOURCE, which is missing\n"
