"""What a batch, a column or a file has in common is no outcome: only single draws carry types.

The same outputs pass through every source in every type, some with an odd one on one side. Equal
outputs must have equal columns, and others different ones: then two containers of one law have
one law. For arrays of two types, verdicts of 40 seeds are looked at, too.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.stats import binom

import epsilometer_audit as ea
from epsilometer_audit.outcomes.outcomes import learn
from epsilometer_audit.outcomes.shapes import joined, recorded_pair
from epsilometer_audit.sources.callables import callable_source
from epsilometer_audit.sources.recorded import read
from epsilometer_audit.sources.worker import WorkerSource, python_worker
from tests.unit.columns import DRAWS, assert_a_column_differs, assert_told, drawn, rows_of

SEEDS, ALPHA = 40, 0.05
MOST = int(binom.isf(1e-3, SEEDS, ALPHA))  # false alarms, by chance
ODD = {"nan": math.nan, "inf": math.inf, "half": 0.5, "none": None, "large": 2**70, "word": "n/a"}
CLAIM = ea.pure(1.0)


def two_sided(rng, size=None):
    return rng.geometric(0.5, size) - rng.geometric(0.5, size)


def with_odd(odd, seed=0):
    """Return noisy integers of two sides as lists, an odd value among the first."""
    values = two_sided(np.random.default_rng(seed), (2, DRAWS)).tolist()
    values[0][seed] = odd
    return values


def assert_told_by_value(values, sides):
    """Assert that outputs have the same columns where their values are equal, and only there."""
    each = chain.from_iterable(values)
    assert_told([repr(v if isinstance(v, str | None) else float(v)) for v in each], sides)


def alarms(audited):
    verdicts = map(audited, range(SEEDS))
    return sum(verdict.verdict in ("violated", "invalid") for verdict in verdicts)


# --- files ----------------------------------------------------------------------------------------


def series(values):
    return pd.Series(values, dtype="Int64" if None in values and "n/a" not in values else None)


def to_csv(sides):
    rows = (",".join("" if v is None else str(v) for v in row) for row in zip(*sides, strict=True))
    Path("o.csv").write_text("\n".join(["a,b", *rows]))
    return ["o.csv"]


def to_parquet(sides):
    for i, side in enumerate(sides):
        pd.DataFrame({"o": series(side)}).to_parquet(f"{i}.parquet")
    return ["0.parquet", "1.parquet"]


def to_npy(sides):
    for i, side in enumerate(sides):
        np.save(f"{i}.npy", np.asarray(side))
    return ["0.npy", "1.npy"]


FILES = {"csv": to_csv, "parquet": to_parquet, "npy": to_npy}
HELD = {"csv": {*ODD}, "parquet": {*ODD} - {"large", "word"}, "npy": {"nan", "inf", "half"}}


@pytest.mark.parametrize(("kind", "odd"), [(k, odd) for k in FILES for odd in sorted(HELD[k])])
def test_an_odd_value_in_a_file_changes_no_other(kind, odd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = with_odd(ODD[odd])
    assert_told_by_value(values, recorded_pair(*read(FILES[kind](values)))[:2])


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
    "rounded": lambda values: np.rint(np.array(values) * 1.0) * -1.0,
}


def calls_of(source, values):
    """Return two calls of each side, an odd value in one of them."""
    half = DRAWS // 2
    calls = [[source.draw(side[i : i + half], half, 1) for i in (0, half)] for side in values]
    return list(map(joined, calls))


@pytest.mark.parametrize("odd", [math.nan, None])
@pytest.mark.parametrize("form", FORMS)
def test_the_type_of_a_column_or_a_call_is_no_outcome(form, odd):
    if form == "rounded" and odd is None:
        pytest.skip("is no number")
    sides = values = with_odd(odd)
    if form in ("Polars", "PyArrow") and odd is not None:
        sides = [[float(v) for v in values[0]], values[1]]
    assert_told_by_value(values, recorded_pair(*map(FORMS[form], sides))[:2])
    called = calls_of(callable_source(lambda x, size: FORMS[form](x)), sides)
    assert_told_by_value(values, called)


def seconds(kind):
    return lambda values: (10**6 + values).astype(f"{kind[:2]}[s]").astype(kind)


def records(kinds):
    return lambda values: np.rec.fromarrays([values, values], dtype=kinds)


TYPES = {  # of whole numbers, on two sides
    "i4 i8": ("i4", "i8"),
    "u1 f8": ("u1", "f8"),
    "f2 i8": ("f2", "i8"),
    "g f8": ("g", "f8"),
    "O i8": ("O", "i8"),
    "dates": (seconds("M8[s]"), seconds("M8[ns]")),
    "fine dates": (seconds("M8[s]"), seconds("M8[ps]")),
    "durations": (seconds("m8[s]"), seconds("m8[100us]")),
    "complex": ("c16", "f8"),
    "narrow complex": ("c8", "i8"),
    "text": ("S4", "U4"),
    "records": (records("i4,f4"), records("f8,u8")),
    "texts in records": (records("f4,S3"), records("i8,U3")),
    "dates in records": (records("i8,M8[s]"), lambda v: records("i8,M8[s]")(v).astype("i8,M8[ms]")),
    "rows": (lambda v: np.array([v, v], "c16").T, lambda v: np.array([v, v]).T),
}


def typed(name, side, values):
    kind = TYPES[name][side]
    return kind(values) if callable(kind) else values.astype(kind)


@pytest.mark.parametrize("name", TYPES)
def test_the_type_of_an_array_is_no_outcome(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    values, sides = typed_sides(name, 0)
    source = callable_source(lambda x, size: sides[x])
    called = [source.draw(x, DRAWS, 1) for x in (0, 1)]
    kept = [] if "O" in name else [read(to_npy(sides))]
    for pair in (sides, called, *kept):
        assert_told_by_value(values.tolist(), recorded_pair(*pair)[:2])


def typed_sides(name, seed, leak=0):
    values = np.random.default_rng(seed).geometric(0.5, (2, DRAWS))
    values[1] += leak
    return values, [typed(name, side, values[side]) for side in (0, 1)]


@pytest.mark.parametrize("name", ["f2 i8", "texts in records"])
def test_the_type_of_an_array_is_no_violation(name):
    assert alarms(lambda seed: ea.audit_outputs(typed_sides(name, seed)[1], CLAIM)) <= MOST
    assert ea.audit_outputs(typed_sides(name, 0, leak=3)[1], CLAIM).verdict == "violated"


WIDTHS = {"real": ("f4", "f8"), "complex": ("c8", "c16"), "records": ("f4,f8", "f8,f4")}


@pytest.mark.parametrize("name", WIDTHS)
def test_reals_of_two_widths_are_compared_at_the_lesser(name):
    reals, sides = np.random.default_rng(0).laplace(size=(2, DRAWS)), []
    for kind in WIDTHS[name]:
        if name == "records":
            sides.append(np.rec.fromarrays(reals, dtype=kind))
        else:
            sides.append((reals[0] + 1j * reals[1] if kind[0] == "c" else reals[0]).astype(kind))
    x, x_prime, note = recorded_pair(*sides)
    assert "are compared as" in note
    assert np.array_equal(*rows_of([x, x_prime]))


# --- draws of calls -------------------------------------------------------------------------------

ONE = {
    "number": lambda value: value,
    "vector": lambda value: np.array([value, 1]),
    "tuple": lambda value: (value, 1),
}
WORKER = """
import json, sys
def draw(x, size):
    return x
def main():
    for line in sys.stdin:
        print("\\n".join(map(json.dumps, json.loads(line)["input"])), flush=True)
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("form", ["worker", "python"])
def test_an_odd_answer_of_a_worker_changes_no_other(form, tmp_path):
    (tmp_path / "worker.py").write_text(WORKER)
    source = (
        WorkerSource([sys.executable, "-S", "worker.py"], folder=tmp_path)
        if form == "worker"
        else python_worker(sys.executable, "worker.py:draw", folder=tmp_path)
    )
    for odd in ("nan", "half", "word", "none"):
        values = with_odd(ODD[odd])
        assert_told_by_value(values, calls_of(source, values))
    source.close()


@pytest.mark.parametrize("form", ONE)
def test_an_odd_draw_of_its_own_call_changes_no_other(form):
    values = with_odd(0.5)
    left = chain.from_iterable(values)
    source = callable_source(lambda x: ONE[form](next(left)))
    assert_told_by_value(values, calls_of(source, values))


def test_calls_are_joined_by_value():
    whole, reals = np.array([0, 1, 2**40]), np.array([math.nan, -0.0, 0.5])
    both = joined([whole, reals])
    assert both.dtype == np.float64
    assert not np.signbit(both[3:]).any()  # integers have no sign of zero
    assert learn(whole, reals).columns == learn(both).columns
    assert joined([whole + 2**60, reals])[2] == 2**60 + 2**40  # not rounded
    assert joined([np.array([True]), whole]).tolist() == [1, 0, 1, 2**40]


# --- types that single draws carry ----------------------------------------------------------------

TYPED = {
    "of one type each": lambda x, rng: int(rng.geometric(0.5)) if x else float(rng.geometric(0.5)),
    "tuple": lambda x, rng: (1, int(rng.geometric(0.5))) if x else (1.0, rng.geometric(0.5)),
    "NumPy": lambda x, rng: np.int64(1) if rng.random() < 0.2 + 0.6 * x else np.float64(1),
    "decimal": lambda x, rng: Decimal(1) if rng.random() < 0.2 + 0.6 * x else 1,
    "None": lambda x, rng: None if rng.random() < 0.2 + 0.6 * x else math.nan,
    "object array": lambda x, size, rng: np.array(
        [1 if odd else 1.0 for odd in rng.random(size) < 0.2 + 0.6 * x], object
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_type_that_single_draws_carry_is_an_outcome(name):
    assert_a_column_differs(drawn(TYPED[name]))


def test_a_type_that_differs_within_a_recorded_list_is_an_outcome():
    rng = np.random.default_rng(0)
    sides = [[1 if odd else 1.0 for odd in rng.random(1000) < share] for share in (0.1, 0.9)]
    assert ea.audit_outputs(tuple(sides), CLAIM).verdict == "violated"


# --- digits ---------------------------------------------------------------------------------------


def layered(x, rng):
    """Return a number whose last digits show x."""
    g, noise = int(two_sided(rng)), int(two_sided(rng))
    return (g + x + 1000) * 2**200 + (noise + 1000) * 2**100 + x


def thirty(x, rng):
    """Return 30 digits after the point, the last of which shows x."""
    return f"{int(rng.integers(1, 10**9))}.{int(rng.integers(10)):029}{x}"


LEAKS = {
    "layers": layered,
    "layers, as decimals": lambda x, rng: Decimal(layered(x, rng)),
    "layers in a list": lambda x, size, rng: [layered(x, rng) for _ in range(size)],
    "layers in a key": lambda x, rng: {"a": layered(x, rng)},
    "digits in a text": thirty,
    "digits of a decimal": lambda x, rng: Decimal(thirty(x, rng)),
    "JSON in a text": lambda x, rng: f'{{"a": {thirty(x, rng)}}}',
}


SAME = ((1, 2), (1, 2))  # seeds: the outputs of two sides differ in their last digits


def assert_all_differ(sides):
    x, y = rows_of(sides)
    assert (x != y).any(axis=1).all()


@pytest.mark.parametrize("name", LEAKS)
def test_last_digits_are_looked_at(name):
    assert_all_differ(drawn(LEAKS[name], SAME))


def test_the_last_digits_are_a_violation():
    options = {"samples": 500, "seed": 1, "check_sampler": False}
    verdict = ea.audit(LEAKS["layers in a key"], [(0, 1)], CLAIM, **options)
    assert verdict.verdict == "violated", verdict


def test_large_numbers_vary():
    def large(x, rng):
        return Decimal(10**40 + x + int(two_sided(rng)))

    options = {"samples": DRAWS, "seed": 0, "check_sampler": False}
    for x, verdict in ((1, "not refuted"), (3, "violated")):
        assert ea.audit(large, [(0, x)], CLAIM, **options).verdict == verdict


def test_what_no_real_holds_is_said():
    for value in (10**400, Decimal("1e-500")):
        note = "numbers of output beyond the range of reals are not told apart"
        assert learn([value, 2 * value]).left_out == (note,)
    verdict = ea.audit(lambda x: 10**400 + x, [(0, 1)], CLAIM, samples=100)
    assert (verdict.verdict, verdict.reasons) == ("undecided", [note])


def parity(rng, x, size):
    return [str((int(k) * 2 + x) % 2**64) for k in rng.integers(2**63, size=size, dtype=np.uint64)]


WRITTEN = {
    "parity modulo 2^64": parity,
    "leading zeros": lambda rng, x, size: [
        "0" * int(zero) + str(n)
        for zero, n in zip(rng.random(size) < 0.2 + 0.6 * x, rng.integers(5, 50, size), strict=True)
    ],
    "thirty digits": lambda rng, x, size: [
        f"0.{int(rng.integers(1, 5))}{x or 5:029}" for _ in range(size)
    ],
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", WRITTEN)
def test_last_digits_in_a_file_are_looked_at(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    sides = {side: WRITTEN[name](rng, x, DRAWS) for x, side in enumerate(("a", "b"))}
    if kind == "csv":
        pd.DataFrame(sides).to_csv("o.csv", index=False)
    else:
        parquet.write_table(pa.table(sides), "o.parquet")
    assert_told([*sides["a"], *sides["b"]], read([f"o.{kind}"]))


def test_large_and_decimal_columns_of_two_types_are_equal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["0.10", "12.50", "3.00"] * 40
    columns = {
        "text": pa.array(texts),
        "dictionary": pa.array(texts).dictionary_encode(),
        "decimal": pa.array(map(Decimal, texts)).cast(pa.decimal128(20, 2)),
        "finer": pa.array(map(Decimal, texts)).cast(pa.decimal128(30, 12)),
        "real": pa.array(map(float, texts)),
    }
    parquet.write_table(pa.table(columns), "o.parquet")
    for name in columns:
        x, x_prime = read(
            ["o.parquet"], columns=["text", name] if name != "text" else [name, "real"]
        )
        assert np.array_equal(x, x_prime), name
        assert x.dtype == x_prime.dtype == np.float64
    times = {
        unit: pa.array([0, 86_400_500], pa.timestamp("ms")).cast(pa.timestamp(unit))
        for unit in ("ms", "ns")
    }
    parquet.write_table(pa.table(times), "t.parquet")
    x, x_prime = read(["t.parquet"])
    assert x == x_prime


ANSWERS = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng, x = random.Random(request["seed"]), request["input"]
    for _ in range(request["size"]):
        print(sys.argv[1] % (rng.randrange(1, 5), x), flush=False)
    sys.stdout.flush()
"""


@pytest.mark.parametrize(
    "form",
    ["%d.00000000000000000000000000000%d", "[%d, 3.00000000000000000000000000000000%d5, 1]"],
)
def test_last_digits_of_a_worker_are_looked_at(form, tmp_path):
    (tmp_path / "worker.py").write_text(ANSWERS)
    source = WorkerSource([sys.executable, str(tmp_path / "worker.py"), form])
    assert_all_differ(drawn(source, SAME))
    source.close()
