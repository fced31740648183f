"""Whatever users give, in options, files and outputs: a verdict, or one line; no internal error."""

import enum
import json
import math
import random
from contextlib import contextmanager
from datetime import date  # noqa: F401 - in ODD
from decimal import Decimal  # noqa: F401 - in ODD
from fractions import Fraction  # noqa: F401 - in ODD

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import epsilometer_audit as ea
from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer_audit.cli import parser
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import INTERNAL_ERROR, main
from epsilometer_audit.outputs.worker import Reply

MECHANISM = """
def coin(x, size, rng):
    return (rng.random(size) < (0.7 if x else 0.3)) * 1
"""
MANY = settings(max_examples=100, suppress_health_check=list(HealthCheck), derandomize=True)
FEW = settings(MANY, max_examples=25)
NUMBERS = st.sampled_from(
    "0 1 -1 2 0.5 -0.5 1.5 300 301 1e-300 5e-324 1e300 1e999 -1e999 nan inf -Infinity 1e-17 .05 "
    f"1_000 0x10 ١ 1000 1e6 1000001 1e9 1000000001 1e15 9223372036854775808 {'9' * 5000} 1e100 "
    "1e101 -0.0 0.9999999999999999 12.5 600 2=0.5 1.0000000001=1 1e308=1 2=1e300 x=1 5m 1e5h "
    "1s true None [] {} '' abc a.py:f".split()
)
NONE = (None, True, "", "a", "0", "\ud800", "\x00", "$", "$items", "error", "é", "\n", "x" * 300)
LARGE = (2**63, 2**64, -(2**63) - 1, 10**400, 1e308, 5e-324, math.nan, math.inf, -math.inf, -0.0)
PLAIN = st.recursive(
    st.sampled_from((*NONE, *LARGE, "values", "limit", "rows", "bits", "choices"))
    | st.integers(-3, 10**6)
    | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, with a mechanism."""
    (tmp_path / "m.py").write_text(MECHANISM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def in_one_line():
    """Let an error for users pass, if it is one line, or of a file, which may have several."""
    try:
        yield
    except ConfigError:
        pass
    except EpsilometerError as error:
        lines = str(error).splitlines()
        assert len(lines) <= 1, lines


def ends_in_one_line(capsys, argv):
    """Run a command; fail unless it gives a verdict, or an error in one line."""
    code = main(argv)
    out, err = capsys.readouterr()
    assert code != INTERNAL_ERROR, (argv, err)
    if code in (2, 4):
        assert "Traceback" not in err
        assert out or len(err.splitlines()) == 1, (argv, out, err)


# --- options --------------------------------------------------------------------------------------


def options_of(command):
    """The options of a command, each with as many values as it takes."""
    left_out = {"--json", "--python", "--command"}
    left_out |= {"--samples", "--canaries"}  # any number suits these, and takes long
    options = []
    for action in parser._parsers()[command]._actions:
        takes = {None: 1, "+": 2}.get(action.nargs, action.nargs)
        several = st.lists(NUMBERS | PLAIN.map(json.dumps), min_size=takes, max_size=takes)
        for name in sorted({*action.option_strings} - left_out):
            options.append(st.tuples(st.just(name), several))
    return st.one_of(options)


USUAL = {  # words of a command, and options that it needs
    "audit": (
        "m.py:coin --samples 60 --no-checks --quiet",
        {"--pair": ["0", "1"], "--epsilon": ["1"]},
    ),
    "samples-needed": ("", {"--epsilon": ["1"], "--detect": ["2"]}),
}
OPTIONS = {command: options_of(command) for command in USUAL}


@pytest.mark.parametrize("command", USUAL)
@FEW
@given(st.data())
def test_any_value_of_an_option_gives_a_verdict_or_a_line(capsys, command, data):
    words, needed = USUAL[command]
    options = needed | dict(data.draw(st.lists(OPTIONS[command], min_size=1, max_size=2)))
    line = [command, *words.split()]
    for name, values in options.items():
        line += [name, *values]
    ends_in_one_line(capsys, line)


OF_DOMAINS = (
    "values whole clipped distance norm missing choices bits rows length neighbours user per_user "
    "step frame counts keys changed patterns limit seed"
)
KEYS = st.sampled_from(OF_DOMAINS.split()).map(lambda key: key.replace("_", " "))
DECLARED = st.dictionaries(
    KEYS,
    PLAIN
    | st.lists(
        st.sampled_from([0, 1, 1.7e308, -1.7e308, 1e100, -1e100, 1e-300, 2**70, 1e16]),
        min_size=2,
        max_size=2,
    )
    | st.sampled_from([3, 100, 10_000, "pandas", "any", {"bits": 9}, {"values": [0, 1]}]),
    min_size=1,
    max_size=4,
)


@MANY
@given(DECLARED | st.fixed_dictionaries({"rows": DECLARED, "length": st.sampled_from([3, [0, 9]])}))
def test_any_declaration_of_a_domain_gives_pairs_or_a_line(declaration):
    with in_one_line():
        assert json.dumps(dict(ea.domain({"limit": 3, **declaration})))


# --- files ----------------------------------------------------------------------------------------

OF_AUDITS = (
    "mechanism pairs canaries guesses claim samples reads failures as_reals stop detect event "
    "timeout check_sampler about expected"
)
AUDIT_KEYS = st.sampled_from(OF_AUDITS.split())
GOOD = {"mechanism": "m.py:coin", "pairs": [[0, 1]], "claim": {"epsilon": 1}}
SHORT_TEXTS = (  # each after a bar
    "? [a, b]\n: 1|? {a: b}\n: 1|a: &a [*a]|a: &a {b: *a}|audits: !!python/object:os.system {}|"
    "a: 2020-02-31|a: 2020-13-45 99:99:99|a: !!binary x|a: !!float x|a: !!int x|a: !!set [a]|<<: 1|"
    "a: {<<: [1]}|%YAML 9.9\n---\na|---\na\n---\nb|\x00|&a a: *b|a: 1:60:99|a: .inf\nb: .nan|"
    "? \n: \n|a: !!timestamp x"
)
LONG_TEXTS = [f"a: {'1' * 5000}", f"0x{'f' * 5000}: 1", "[" * 3000, "{a: " * 3000, "- " * 5000]
YAML_TEXTS = st.sampled_from([*SHORT_TEXTS.split("|"), *LONG_TEXTS])


def read_in_one_line(path):
    with in_one_line():
        for case in AuditsFile(path).cases.values():
            json.dumps(case.to_plain())


@MANY
@given(
    st.dictionaries(AUDIT_KEYS, PLAIN, max_size=3), st.dictionaries(st.text(), PLAIN, max_size=2)
)
def test_any_value_in_a_file_of_audits_is_read_or_gives_an_error(tmp_path, own, top):
    path = tmp_path / "a.yaml"
    try:
        text = yaml.safe_dump({"audits": {"a": {**GOOD, **own}}, **top}, allow_unicode=True)
        path.write_text(text, encoding="utf-8")
    except (yaml.YAMLError, UnicodeError):
        return
    read_in_one_line(path)


@MANY
@given(YAML_TEXTS | st.text(alphabet="ab01:-[]{}&*!?|>'\"#%@,.\n <", max_size=40), st.booleans())
def test_any_text_of_yaml_is_read_or_gives_an_error(tmp_path, text, inside):
    path = tmp_path / "a.yaml"
    path.write_text(f"audits:\n  a:\n    about: {text}" if inside else text)
    read_in_one_line(path)


SHORT_LINES = (  # of workers, each after a bar
    b'1|0.5|nan|[1, 2]|"a"|{"raw": "float64"}|{"raw": 1, "columns": -1}|{"error": 1}|'
    b'{"error": {"a": []}, "fatal": "x"}|{"$set": 1}|{"$set": [[{}]]}|{"$bytes": "zz"}|'
    b'{"$items": [[[], 1], [{}, 2]]}|{"$bytes": 1}|{"$": {"$": 1}}|1e999|1e99999999|'
    b"\xff\xfe|\x00|"
)
LONG_LINES = [b"9" * 5000, b"[" + b"9" * 5000 + b"]", b"[" * 5000, b'{"a":' * 3000]
LINES = [*SHORT_LINES.split(b"|"), *LONG_LINES, b'{"raw": "int64", "columns": 1' + b"0" * 4000]


@MANY
@given(
    st.lists(st.sampled_from(LINES) | st.binary(max_size=6), min_size=1, max_size=4),
    st.integers(1, 3),
    st.booleans(),
)
def test_any_answer_of_a_worker_is_read_or_gives_a_line(lines, size, failures):
    reply = Reply(size, failures)
    with in_one_line():
        for line in lines:
            reply.feed(line + b"\n")
            assert reply.so_far()
            if reply.complete:
                reply.outputs()
                break


# --- outputs --------------------------------------------------------------------------------------


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


Colour = enum.Enum("Colour", "RED")


class Odd:
    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no text")


def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


ODD = (
    """
10**5000; 10**400; Fraction(1, 10**5000); Decimal("1e99999"); Decimal("sNaN")
complex(math.nan, math.inf); np.float32(1e38); np.longdouble("1e4000"); np.uint64(2**64 - 1)
np.datetime64("NaT"); np.timedelta64(1); np.array([]); np.array([[math.inf]]); np.array(["a"])
np.array([None, 10**5000]); b"\\xff"; date(1, 1, 1); Colour.RED; int; object(); Odd()
SilentError("a"); iter("a"); deep(2000); deep(300); {1, "a"}; {"$": 1}; {10**5000: 1}
{(): 1, "": 2, None: 3, math.nan: 4}
""".strip()
    .replace("\n", "; ")
    .split("; ")
)  # as texts, as some cannot be printed
OUTPUTS = st.recursive(
    PLAIN | st.sampled_from(ODD),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=4,
)


def built(value):
    """A value, with the odd one for each of their texts."""
    if isinstance(value, list | tuple):
        return type(value)(map(built, value))
    return eval(value) if isinstance(value, str) and value in ODD else value  # noqa: S307


def answered_in_one_line(function, **options):
    with in_one_line():
        verdict = ea.audit(function, [(0, 1)], ea.pure(1.0), **options)
        assert str(verdict)
        assert json.loads(verdict.to_json())


@pytest.mark.slow(seconds=1)
@FEW
@given(st.lists(OUTPUTS, min_size=1, max_size=3), st.booleans(), st.sampled_from([20, 120]))
def test_any_outputs_give_a_verdict_or_a_line(outputs, as_reals, samples):
    def mechanism(x, seed):
        return built(random.Random(seed).choice(outputs))

    answered_in_one_line(mechanism, samples=samples, as_reals=as_reals, check_sampler=False)


@pytest.mark.slow(seconds=3)
@FEW
@given(st.lists(st.floats(), min_size=1, max_size=4), st.sampled_from("efdg"), st.integers(1, 3))
def test_any_arrays_give_a_verdict_or_a_line(values, kind, columns):
    with np.errstate(over="ignore"):
        some = np.array(values).astype(kind)

    def mechanism(x, size, rng):
        outputs = some[rng.integers(0, some.size, (size, columns))]
        return outputs[:, 0] if columns == 1 else outputs

    answered_in_one_line(mechanism, samples=120, check_sampler=False)


EXCEPTIONS = {
    "no text": lambda: SilentError("a"),
    "object": lambda: KeyError(Odd()),
    "syntax in": lambda: SyntaxError("a", (1, 2, 3, 4)),
    "number": lambda: OSError(10**5000),
    "exit": lambda: SystemExit(10**5000),
    "exit of object": lambda: SystemExit(Odd()),
    "own": lambda: ConfigError("a", "b", "c\nd"),
    "lines": lambda: ValueError("a\n\x1b[1m\nb"),
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_any_exception_gives_a_verdict_or_a_line(name):
    def mechanism(x):
        raise EXCEPTIONS[name]()

    for failures in (False, True):
        answered_in_one_line(mechanism, samples=40, failures=failures)
