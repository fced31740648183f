"""The same outputs pass through every source in every type, some with an odd one on one side.

Equal outputs must have equal columns, and others different ones: then two containers of one law
have one law.
"""

import json
import math
import sys
from contextlib import closing
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.outputs.recorded import read
from epsilometer_audit.outputs.shapes import joined, recorded_pair
from epsilometer_audit.outputs.worker import WorkerSource, python_worker
from tests.unit.columns import DRAWS, assert_same_where_keys_are, drawn, rows_of

ODD = {"nan": math.nan, "inf": math.inf, "half": 0.5, "none": None, "large": 2**70, "word": "n/a"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def with_odd(odd):
    """Return noisy integers of two sides as lists, an odd value as the first."""
    values = np.random.default_rng(0).laplace(0, 2, (2, DRAWS)).astype(int).tolist()
    values[0][0] = odd
    return values


def assert_told_by_value(values, sides):
    """Assert that outputs have the same columns where their values are equal, and only there."""
    keys = [repr(v if isinstance(v, str | None) else float(v)) for v in chain(*values)]
    assert_same_where_keys_are(keys, np.concatenate(rows_of(sides)))


# --- files ----------------------------------------------------------------------------------------


def to_csv(path, values):
    path.write_text("\n".join(["o", *("" if v is None else str(v) for v in values)]))


def to_parquet(path, values):
    pd.DataFrame({"o": series(values)}).to_parquet(path)


def series(values):
    return pd.Series(values, dtype="Int64" if None in values and "n/a" not in values else None)


FILES = {"csv": to_csv, "parquet": to_parquet, "npy": np.save}
HELD = {"csv": [*ODD], "parquet": ["nan", "inf", "half", "none"], "npy": ["nan", "inf", "half"]}


def kept(kind, sides):
    """Return outputs that are written into files and read again."""
    paths = [f"{i}.{kind}" for i in (0, 1)]
    for path, values in zip(paths, sides, strict=True):
        FILES[kind](Path(path), values)
    return read(paths)


@pytest.mark.parametrize(("kind", "odd"), [(kind, odd) for kind in FILES for odd in HELD[kind]])
def test_an_odd_value_in_a_file_changes_no_other(kind, odd):
    values = with_odd(ODD[odd])
    assert_told_by_value(values, recorded_pair(*kept(kind, values))[:2])


# --- outputs in memory ----------------------------------------------------------------------------

FORMS = {  # of the outputs of a call, or recorded in memory
    "list": list,
    "array": np.array,
    "object array": lambda values: np.array(values, object),
    "pandas": series,
    "Polars": lambda values: pl.Series(values, strict=False),
    "PyArrow": lambda values: pa.chunked_array([values]),
    "table": lambda values: pd.DataFrame({"a": np.array(values), "b": 1}),
    "vectors": lambda values: np.stack([np.array(values)] * 2, axis=1),
}


def calls_of(source, values):
    """Return two calls of each side, an odd value in one of them."""
    half = DRAWS // 2
    calls = []
    for side in values:
        calls.append(joined([source.draw(part, half, 1) for part in (side[:half], side[half:])]))
    return calls


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("odd", [math.nan, None])
def test_the_type_of_a_column_or_a_call_is_no_outcome(form, odd):
    sides = values = with_odd(odd)
    if form in ("Polars", "PyArrow") and odd is not None:
        sides = [[float(v) for v in values[0]], values[1]]
    assert_told_by_value(values, recorded_pair(*map(FORMS[form], sides))[:2])
    assert_told_by_value(values, calls_of(callable_source(lambda x, size: FORMS[form](x)), sides))


def seconds(values, kind):
    """Return dates or durations of whole seconds."""
    return (10**6 + values).astype(f"{kind[:2]}[s]").astype(kind)


def records(values, kinds):
    return np.rec.fromarrays([values, values], dtype=kinds)


TYPES = {  # how arrays are made of whole numbers, and of which types on two sides
    "whole": (np.ndarray.astype, "i4", "i8"),
    "whole and real": (np.ndarray.astype, "u1", "f8"),
    "long": (np.ndarray.astype, "g", "f8"),
    "object": (np.ndarray.astype, "O", "i8"),
    "dates": (seconds, "M8[s]", "M8[ns]"),
    "fine dates": (seconds, "M8[s]", "M8[ps]"),
    "durations": (seconds, "m8[s]", "m8[100us]"),
    "complex": (np.ndarray.astype, "c16", "f8"),
    "text": (np.ndarray.astype, "S4", "U4"),
    "records": (records, "i4,f4", "f8,u8"),
    "texts in records": (records, "f4,S3", "i8,U3"),
}


@pytest.mark.parametrize("name", TYPES)
def test_the_type_of_an_array_is_no_outcome(name):
    make, *kinds = TYPES[name]
    values = np.random.default_rng(0).geometric(0.5, (2, DRAWS))
    sides = [make(side, kind) for side, kind in zip(values, kinds, strict=True)]
    source = callable_source(lambda x, size: sides[x])
    pairs = [sides, [source.draw(x, DRAWS, 1) for x in (0, 1)]]
    if name != "object":
        pairs.append(kept("npy", sides))
    for pair in pairs:
        assert_told_by_value(values.tolist(), recorded_pair(*pair)[:2])


# --- draws of calls -------------------------------------------------------------------------------

WORKER = """
import json, sys
def draw(x, size):
    return x
def main():
    for line in sys.stdin:
        print("\\n".join(json.loads(line)["input"]), flush=True)
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def worker():
    """A program that prints the texts that are its input."""
    Path("worker.py").write_text(WORKER)
    with closing(WorkerSource([sys.executable, "-S", "worker.py"])) as source:
        yield source


def test_an_odd_answer_of_a_worker_changes_no_other(worker):
    with closing(python_worker(sys.executable, "worker.py:draw")) as python:
        for odd in ("nan", "half", "word", "none"):
            values = with_odd(ODD[odd])
            printed = [list(map(json.dumps, side)) for side in values]
            assert_told_by_value(values, calls_of(worker, printed))
            assert_told_by_value(values, calls_of(python, values))


@pytest.mark.parametrize("one", [lambda v: v, lambda v: np.array([v, 1]), lambda v: (v, 1)])
def test_an_odd_draw_of_its_own_call_changes_no_other(one):
    values = with_odd(0.5)
    left = chain(*values)
    source = callable_source(lambda x: one(next(left)))
    assert_told_by_value(values, calls_of(source, values))


# --- digits ---------------------------------------------------------------------------------------


def layered(x, rng):
    """Return a number whose last digits show x."""
    return (int(rng.integers(1, 9)) + x) * 2**80 + x


def thirty(x, rng):
    """Return 30 digits, the last of which shows x."""
    return f"{int(rng.integers(1, 10**9))}.{int(rng.integers(10)):020}{x}"


LEAKS = {
    "layers": layered,
    "layers in a list": lambda x, size, rng: [layered(x, rng) for _ in range(size)],
    "digits in a text": thirty,
    "JSON in a text": lambda x, rng: f'{{"a": {thirty(x, rng)}}}',
}


@pytest.mark.parametrize("name", LEAKS)
def test_last_digits_are_looked_at(name):
    """Both sides have the same seeds, so outputs differ in their last digits."""
    x, y = rows_of(drawn(LEAKS[name], seeds=((1, 2), (1, 2))))
    assert (x != y).any(axis=1).all()


@pytest.mark.parametrize("other", ["dictionary", "finer", "real"])
def test_decimal_columns_of_two_types_are_equal(other):
    texts = pa.array(["0.10", "12.50", "3.00"] * 40)
    decimals = texts.cast(pa.decimal128(20, 2))
    columns = {
        "text": texts,
        "dictionary": texts.dictionary_encode(),
        "finer": decimals.cast(pa.decimal128(30, 12)),
        "real": decimals.cast(pa.float64()),
    }
    parquet.write_table(pa.table(columns), "o.parquet")
    x, x_prime = read(["o.parquet"], columns=["text", other])
    assert np.array_equal(x, x_prime)
    assert x.dtype == x_prime.dtype == np.float64


def test_times_of_two_units_are_equal():
    moments = pa.array([0, 86_400_500], pa.timestamp("ms"))
    times = {unit: moments.cast(pa.timestamp(unit)) for unit in ("ms", "ns")}
    parquet.write_table(pa.table(times), "t.parquet")
    x, x_prime = read(["t.parquet"])
    assert x == x_prime
