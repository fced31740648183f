"""Outputs are audited whole, or the rest is noted: labels, ends, words, messages."""

import collections
import dataclasses
import datetime
import json
import math
import struct

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilometer_audit as ea
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.serving.outputs import Broken, as_json, from_json, plain, rows
from tests.sharing import FIVE
from tests.unit.columns import assert_a_column_differs, drawn

Red = collections.namedtuple("Red", "a")
Blue = collections.namedtuple("Blue", "a")


@dataclasses.dataclass
class Answer:
    a: object


@attrs.define
class Noted:
    a: object


def mostly(x, rng):
    return x if rng.random() < 0.9 else 1 - x


def histogram(x, rng):
    output = {"a": 3 + rng.laplace(), "b": 2 + rng.laplace()}
    return output | ({"c": 1.0} if mostly(x, rng) else {})


def messages(x, rng):
    raise ValueError(f"bad row {mostly(x, rng)}, {rng.random():.3f}")


def orders(x, rng):
    return {"a": 1, "b": 2} if mostly(x, rng) else {"b": 2, "a": 1}


def texts(write):
    return lambda x, size, rng: [write(v) for v in rng.laplace(3 * x, 1, size).tolist()]


PAIRS, CLAIM = [(0, 1)], ea.pure(1.0)
DAY = np.datetime64("2020-01-01")
EPOCH = datetime.datetime(2020, 1, 1)
LEAKS = {
    "key of 200": lambda x, rng: {f"k{i}": mostly(x, rng) if i == 150 else 0 for i in range(200)},
    "last of 152": lambda x, rng: ["w"] * 151 + [mostly(x, rng)],
    "last of about 152": lambda x, rng: ["w"] * int(rng.integers(148, 156)) + [mostly(x, rng)],
    "end of a text": lambda x, size, rng: [
        f"{h:x}-{x}" for h in rng.integers(2**60, size=size).tolist()
    ],
    "number": texts(str),
    "decimals": texts(lambda v: f"about {v:.4f} of 7"),
    "json": texts(lambda v: json.dumps({"id": "a", "value": [v]})),
    "datetime": texts(lambda v: EPOCH + datetime.timedelta(days=v)),
    "timedelta": texts(lambda v: datetime.timedelta(days=v)),
    "time": texts(lambda v: datetime.time(minute=min(max(int(5 * v) + 30, 0), 59))),
    "datetime64": lambda x, size, rng: (
        np.datetime64("2020-01-01", "ns")
        + rng.laplace(x * 3e9, 1e9, size).astype("timedelta64[ns]")
    ),
    "packed real": texts(lambda v: struct.pack(">d", v)),
    "packed integer": texts(lambda v: struct.pack("<q", int(v * 1e6))),
    "message": messages,
    "zero": lambda x, rng: -0.0 if mostly(x, rng) else 0.0,
    "zeros": lambda x, size, rng: np.where(rng.random(size) < 0.5, -0.0 if x else 0.0, 1),
    "series": lambda x, rng: pd.Series(histogram(x, rng)),
    "index": lambda x, rng: pd.DataFrame({"n": histogram(x, rng)}),
    "columns": lambda x, rng: pd.DataFrame({"am"[mostly(x, rng)]: [1]}),
    "type of a column": lambda x, rng: pd.Series([1], dtype=["int32", "int64"][mostly(x, rng)]),
    "rows": lambda x, size, rng: pd.DataFrame({"a": [1] * size, "b": rng.laplace(3 * x, 1, size)}),
    "mask": lambda x, size, rng: np.ma.masked_array(
        np.ones(size), rng.random(size) < 0.1 + 0.7 * x
    ),
    "field": lambda x, size, rng: np.array([(1, v) for v in rng.laplace(3 * x, 1, size)], "i4,f8"),
    "counter": lambda x, rng: collections.Counter("aab" + "cd"[mostly(x, rng)]),
    "named tuple": lambda x, rng: (Red, Blue)[mostly(x, rng)](1),
    "dataclass": lambda x, rng: Answer(Noted(mostly(x, rng))),
    "order of keys": orders,
    "shape of arrays": lambda x, size, rng: rng.integers(
        9, size=(size, 2, 3) if x else (size, 3, 2)
    ),
    "shape of an array": lambda x, rng: rng.random(4).reshape((4,) if x else (2, 2)),
    "record in an array": lambda x, rng: np.array([(1, rng.laplace(3 * x))], "i4,f8"),
    "records in arrays": lambda x, size, rng: (
        rng.laplace(3 * x, 1, (size, 2)).view("f8,f8").reshape(size, 1)
    ),
    "date in an array": lambda x, rng: DAY + np.array([rng.geometric(0.5) + 3 * x]),
    "dates in arrays": lambda x, size, rng: DAY + rng.geometric(0.5, (size, 2)) + 3 * x,
    "imaginary part": lambda x, rng: complex(rng.normal(), 3.0 * mostly(x, rng)),
}


@pytest.mark.parametrize("name", sorted({*LEAKS} - {"time"}))  # which shows in a set of words
def test_a_leak_anywhere_in_outputs_is_in_a_column(name):
    assert_a_column_differs(drawn(LEAKS[name], failures=name == "message"))


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("name", ["message", "end of a text", "time", "zeros"])
def test_such_a_leak_is_a_violation(name, seed):
    options = {"samples": 400, "seed": seed, "check_sampler": False, "failures": name == "message"}
    assert ea.audit(LEAKS[name], PAIRS, CLAIM, **options).verdict == "violated"


def test_reals_have_no_sign_of_zero():
    assert learn_layout([0.0, -0.0], as_reals=True).encode([-0.0]).tolist() == [0]
    assert learn_layout(np.array([0.0, -0.0])).encode([-0.0]).tolist() == [-5e-324]


NOISE = np.random.default_rng(1).laplace(size=300).tolist()
HIDING = {
    "hidden": lambda x, size, rng: [
        f"{h:030x}{'gh'[x]}{h:030x}" for h in rng.integers(2**60, size=size).tolist()
    ],
    "letters": lambda x, rng: "".join(rng.choice(list("abcdefgh"), 20)),
}


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("name", HIDING)
def test_ignored_parts_of_outputs_leave_the_audit_open(name):
    verdict = ea.audit(HIDING[name], PAIRS, CLAIM, samples=300, seed=0, check_sampler=False)
    assert (verdict.verdict, verdict.detectable) == ("undecided", None)
    assert [check["name"] for check in verdict.checks] == ["outputs"]
    assert "words of output" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({f"k{i}": 1 for i in range(300)}, "256 of 300 keys"),
        (["w"] * 301, "of 301 entries of output the first and last 128 are looked at"),
        ([[[[[[[[[[1]]]]]]]]]], "is a tuple, only its type"),
        ({f"k{i}": {"a": 1, "b": 2} for i in range(200)}, "256 of 400 columns"),
        (set(range(300)), "256 of 300 members of output are looked at"),
    ],
)
def test_ignored_parts_of_outputs_are_noted(output, words):
    layout = learn_layout([*[type(output)()] * isinstance(output, set), *[output] * 5])
    assert words in "; ".join(layout.left_out)


def test_words_are_left_out_in_part_if_any_of_them_are_long():
    letters = np.random.default_rng(0).choice([*"abcdefgh"], (300, 60))
    short, long = (["".join(row[:length]) for row in letters] for length in (4, 60))
    assert learn_layout(short).left_out == ()
    for outputs in (long, short + long):
        assert "different words of output" in learn_layout(outputs).left_out[0]
    for rare, noted in ((180, False), (220, True)):  # of 20,000
        layout = learn_layout(["often"] * (20_000 - rare) + long[:rare])
        assert bool(layout.left_out) == noted


@pytest.mark.parametrize(
    "outputs",
    [
        np.arange(300.0),
        [str(v) for v in NOISE],
        [f"{v:.2f} %" for v in NOISE],
        [f"{i:x}" for i in range(300)],
        [EPOCH + datetime.timedelta(hours=i) for i in range(300)],
        [struct.pack("d", i) for i in range(300)],
        ["a", "b", None] * 100,
        [max(0, v) for v in NOISE],
        [{"a": i, "b": (i, "w")} for i in range(300)],
    ],
)
def test_nothing_is_left_out_where_columns_determine_the_output(outputs):
    layout = learn_layout(outputs)
    assert layout.left_out == ()
    rows = layout.encode(outputs).reshape(len(outputs), -1)
    assert len(np.unique(rows, axis=0)) == len(set(map(repr, outputs)))


@pytest.mark.parametrize("value", [pd.Categorical(["a"]), pd.Interval(1, 2)])
def test_values_of_unknown_types_are_refused(value):
    with pytest.raises(Broken, match=f"type {type(value).__name__}; return numbers, strings"):
        plain(value)


def test_tables_become_plain_with_labels_that_are_there_twice():
    polars = pl.DataFrame({"a": [1, 2]})
    assert plain(polars)["a"] == (1, 2)
    assert plain(polars["a"]) == ("Series of Int64 'a'", (1, 2))
    assert rows(polars) == [{"a": 1}, {"a": 2}]
    output = plain(pd.Series([1, 2], index=["a", "a"]))
    assert output[1:] == (("a", 1), ("a", 2))
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert plain(frame)[1][0] == "a"
    assert len(rows(frame)[0]) == 3
    assert rows(pd.Series([1.0, 2.0], index=[3, 4]), index=True)[0]["index"] == 3
    assert plain({Red(1): Red(2)}) == {(("a", 1), ("$", "Red")): {"a": 2, "$": "Red"}}


@pytest.mark.parametrize("value", [b"\x00\xff", {Red(1): 2}, {1: -0.0}, frozenset({1, 2})])
def test_plain_values_cross_the_protocol(value):
    value = plain(value)
    back = plain(json.loads(json.dumps(as_json(value)), object_hook=from_json))
    assert repr(back) == repr(value)


@pytest.mark.parametrize("likelier", range(4))
def test_outputs_as_large_as_floats_can_be_warn_of_nothing(likelier):
    largest = np.finfo(float).max
    values = np.array([largest, -largest, math.inf, -math.inf, 0.5])

    def mechanism(x, size, rng):
        often = 0.5 * (x == 0)
        return np.where(rng.random(size) < often, values[likelier], rng.choice(values, size))

    verdict = ea.audit(mechanism, [(0, 1)], ea.pure(0.5), samples=600, check_sampler=False)
    assert verdict.verdict == "violated"  # the likelier one has .6 against .2
