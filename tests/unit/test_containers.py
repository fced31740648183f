"""What a batch, a column or a file has in common is no outcome: only single draws carry types.

Correct mechanisms pass through every source in every type, with rare odd outputs. Their containers
then differ in type from call to call, or from side to side.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
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
from epsilometer_audit.outcomes.shapes import joined
from epsilometer_audit.sources.recorded import read
from epsilometer_audit.sources.worker import WorkerSource

SEEDS, ALPHA, DRAWS, RARE = 40, 0.05, 2000, 1 / 2000
MOST = int(binom.isf(1e-3, SEEDS, ALPHA))  # false alarms, by chance
ODD = {"nan": math.nan, "inf": math.inf, "half": 0.5, "none": None, "large": 2**70, "word": "n/a"}
CLAIM = ea.pure(1.0)


def numbers(rng, size, x=0, odd=None):
    """Return noisy integers as a list, with rare odd values."""
    values = (x + rng.geometric(0.6, size) - rng.geometric(0.6, size)).tolist()
    return [odd if rare else v for v, rare in zip(values, rng.random(size) < RARE, strict=True)]


def alarms(verdicts):
    return sum(verdict.verdict in ("violated", "invalid") for verdict in verdicts)


# --- files ----------------------------------------------------------------------------------------


def series(values):
    return pd.Series(values, dtype="Int64" if None in values and "n/a" not in values else None)


def to_csv(sides):
    pd.DataFrame({f"s{i}": series(side) for i, side in enumerate(sides)}).to_csv(
        "o.csv", index=False
    )
    return ["o.csv"]


def to_csv_by_hand(sides):
    rows = ["" if v is None else str(v) for side in sides for v in side]
    half = len(rows) // 2
    lines = [f"{a},{b}" for a, b in zip(rows[:half], rows[half:], strict=True)]
    Path("h.csv").write_text("a,b\n" + "\n".join(lines) + "\n1,1\n")
    return ["h.csv"]


def to_parquet(sides):
    paths = []
    for i, side in enumerate(sides):
        paths.append(f"{i}.parquet")
        pd.DataFrame({"o": series(side)}).to_parquet(paths[-1])
    return paths


def to_npy(sides):
    for i, side in enumerate(sides):
        np.save(f"{i}.npy", np.array(side))
    return ["0.npy", "1.npy"]


FILES = {"csv": to_csv, "csv by hand": to_csv_by_hand, "parquet": to_parquet, "npy": to_npy}
HELD = {"csv": set(ODD) - {"large"}, "parquet": set(ODD) - {"large", "word"}}
HELD |= {"csv by hand": set(ODD), "npy": {"nan", "inf", "half"}}


@pytest.mark.parametrize(
    ("kind", "odd"), [(kind, odd) for kind in FILES for odd in sorted(HELD[kind])]
)
def test_a_rare_odd_value_in_a_file_is_no_violation(kind, odd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def verdict(seed):
        rng = np.random.default_rng(seed)
        sides = [numbers(rng, DRAWS, odd=ODD[odd]), numbers(rng, DRAWS, odd=0)]
        sides[0][seed] = ODD[odd]
        return ea.audit_outputs(read(FILES[kind](sides)), CLAIM)

    assert alarms(map(verdict, range(SEEDS))) <= MOST


# --- outputs in memory ----------------------------------------------------------------------------

COLUMNS = {
    "list": list,
    "array": np.array,
    "object array": lambda values: np.array(values, object),
    "pandas": series,
    "Polars": lambda values: pl.Series(values, strict=False),
    "PyArrow": lambda values: pa.chunked_array([values]),
}
TYPES = [np.int32, np.int64, np.uint8, np.float32, np.float64, np.longdouble, bool, object]


@pytest.mark.parametrize("odd", [math.nan, None])
@pytest.mark.parametrize("column", COLUMNS)
def test_the_type_of_a_column_is_no_outcome(column, odd):
    def verdict(seed):
        rng = np.random.default_rng(seed)
        sides = numbers(rng, DRAWS, odd=odd), numbers(rng, DRAWS, odd=0)
        sides[0][seed] = odd
        if column in ("Polars", "PyArrow") and odd is not None:
            sides = [[float(v) for v in sides[0]], sides[1]]
        return ea.audit_outputs(tuple(map(COLUMNS[column], sides)), CLAIM)

    assert alarms(map(verdict, range(SEEDS))) <= MOST


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("other", [np.int64, np.float64])
def test_the_type_of_an_array_is_no_outcome(kind, other):
    def verdict(seed):
        values = np.random.default_rng(seed).integers(2, size=(2, DRAWS))
        x, x_prime = values[0].astype(kind), values[1].astype(other)
        return ea.audit_outputs((x, x_prime), CLAIM)

    assert alarms(map(verdict, range(SEEDS))) <= MOST


def test_reals_of_two_widths_are_compared_at_the_lesser():
    def verdict(seed):
        x, x_prime = np.random.default_rng(seed).laplace(size=(2, DRAWS))
        return ea.audit_outputs((x.astype(np.float32), x_prime), CLAIM)

    verdicts = [verdict(seed) for seed in range(SEEDS)]
    assert alarms(verdicts) <= MOST
    assert any("float32" in check["words"] for check in verdicts[0].checks)


# --- draws of calls -------------------------------------------------------------------------------


def with_odd(values, odd):
    return np.array([odd if v is None else v for v in values])


MANY = {
    "array": with_odd,
    "list of an array": lambda values, odd: with_odd(values, odd).tolist(),
    "pandas": lambda values, odd: pd.Series(with_odd(values, odd)),
    "Int64": lambda values, odd: pd.Series(values, dtype="Int64"),
    "Polars": lambda values, odd: pl.Series(with_odd(values, odd)),
    "table": lambda values, odd: pd.DataFrame({"a": with_odd(values, odd), "b": 1}),
    "vectors": lambda values, odd: np.stack([with_odd(values, odd)] * 2, axis=1),
    "rounded": lambda values, odd: (
        np.rint(with_odd(values, odd) * 1.0) * -1.0 if None in values else -np.array(values)
    ),
}
ONE = {
    "number": lambda value, odd: odd if value is None else value,
    "vector": lambda value, odd: np.array([odd if value is None else value, 1]),
    "tuple": lambda value, odd: (odd if value is None else value, 1),
}


@pytest.mark.parametrize("form", MANY)
def test_a_rare_odd_draw_of_a_call_is_no_violation(form):
    def mechanism(x, size, rng):
        return MANY[form](numbers(rng, size, x), math.nan)

    verdicts = [
        ea.audit(mechanism, [(0, 1)], CLAIM, samples=DRAWS, seed=seed) for seed in range(SEEDS)
    ]
    assert alarms(verdicts) <= MOST


@pytest.mark.parametrize("odd", [0.5, None])
@pytest.mark.parametrize("form", ONE)
def test_a_rare_odd_draw_of_its_own_call_is_no_violation(form, odd):
    def mechanism(x, rng):
        value = int(x + rng.geometric(0.6) - rng.geometric(0.6))
        return ONE[form](None if rng.random() < 20 * RARE else value, odd)

    verdicts = [
        ea.audit(mechanism, [(0, 1)], CLAIM, samples=400, seed=seed) for seed in range(SEEDS)
    ]
    assert alarms(verdicts) <= MOST


WORKER = """
import json, random, struct, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    values = [round(rng.gauss(0, 1)) for _ in range(request["size"])]
    odd = [rng.random() < 1 / 2000 for _ in values]
    kind = float if any(odd) else int
    values = [float("nan") if o else kind(v) for v, o in zip(values, odd)]
    if sys.argv[1] == "raw":
        print(json.dumps({"raw": kind.__name__ + "64"}), flush=True)
        code = f"<{len(values)}{'d' if kind is float else 'q'}"
        sys.stdout.buffer.write(struct.pack(code, *values))
        sys.stdout.buffer.flush()
    else:
        print("\\n".join(map(json.dumps, values)), flush=True)
"""


@pytest.mark.parametrize("form", ["raw", "lines"])
def test_a_rare_odd_answer_of_a_worker_is_no_violation(form, tmp_path):
    (tmp_path / "worker.py").write_text(WORKER)
    source = WorkerSource([sys.executable, str(tmp_path / "worker.py"), form])
    verdicts = [
        ea.audit(source, [(0, 1)], CLAIM, samples=DRAWS, seed=seed) for seed in range(SEEDS)
    ]
    source.close()
    assert alarms(verdicts) <= MOST


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
    "one call a draw": lambda x, rng: 1 if rng.random() < 0.2 + 0.6 * x else 1.0,
    "of one type each": lambda x, rng: int(rng.geometric(0.5)) if x else float(rng.geometric(0.5)),
    "truth": lambda x, rng: rng.random() < 0.5 if x else int(rng.random() < 0.5),
    "tuple": lambda x, rng: (1, int(rng.geometric(0.5))) if x else (1.0, rng.geometric(0.5)),
    "NumPy": lambda x, rng: np.int64(1) if rng.random() < 0.2 + 0.6 * x else np.float64(1),
    "decimal": lambda x, rng: Decimal(1) if rng.random() < 0.2 + 0.6 * x else 1,
    "None": lambda x, rng: None if rng.random() < 0.2 + 0.6 * x else math.nan,
    "within a list": lambda x, size, rng: [
        1 if odd else 1.0 for odd in rng.random(size) < 0.2 + 0.6 * x
    ],
    "object array": lambda x, size, rng: np.array(
        [1 if odd else 1.0 for odd in rng.random(size) < 0.2 + 0.6 * x], object
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_type_that_single_draws_carry_is_an_outcome(name):
    verdict = ea.audit(TYPED[name], [(0, 1)], CLAIM, samples=600, seed=1)
    assert verdict.verdict == "violated", verdict


def test_a_type_that_differs_within_a_recorded_list_is_an_outcome():
    rng = np.random.default_rng(0)
    sides = [[1 if odd else 1.0 for odd in rng.random(1000) < share] for share in (0.1, 0.9)]
    assert ea.audit_outputs(tuple(sides), CLAIM).verdict == "violated"


# --- digits ---------------------------------------------------------------------------------------


def two_sided(rng, size=None):
    return rng.geometric(0.5, size) - rng.geometric(0.5, size)


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


@pytest.mark.parametrize("name", LEAKS)
def test_last_digits_are_looked_at(name):
    options = {"samples": 1000, "seed": 1, "check_sampler": False}
    verdict = ea.audit(LEAKS[name], [(0, 1)], CLAIM, **options)
    assert verdict.verdict == "violated", verdict


def test_large_numbers_vary():
    def large(x, rng):
        return 10**40 + x + int(two_sided(rng))

    for number in (large, lambda x, rng: Decimal(large(x, rng))):
        verdicts = [
            ea.audit(number, [(0, 1)], ea.pure(1.0), samples=DRAWS, seed=seed) for seed in range(2)
        ]
        assert {verdict.verdict for verdict in verdicts} == {"not refuted"}
    close = ea.audit(large, [(0, 3)], ea.pure(1.0), samples=DRAWS)
    assert close.verdict == "violated"


def test_what_no_real_holds_is_said():
    def huge(x, rng):
        return 10**400 + x + int(two_sided(rng))

    def tiny(x, rng):
        return Decimal(f"1e-{500 + int(rng.geometric(0.5))}")

    for mechanism in (huge, tiny):
        verdict = ea.audit(mechanism, [(0, 1)], CLAIM, samples=400)
        assert verdict.verdict == "undecided"
        assert verdict.reasons == ["numbers of output beyond the range of reals are not told apart"]


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
    sides = {side: WRITTEN[name](rng, x, 4000) for x, side in enumerate(("a", "b"))}
    if kind == "csv":
        pd.DataFrame(sides).to_csv("o.csv", index=False)
    else:
        parquet.write_table(pa.table(sides), "o.parquet")
    verdict = ea.audit_outputs(read([f"o.{kind}"]), CLAIM)
    assert verdict.verdict == "violated", verdict


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
    verdict = ea.audit(source, [(0, 1)], CLAIM, samples=1000)
    source.close()
    assert verdict.verdict == "violated", verdict
