"""Files that describe themselves, written whole or not at all, and distrusted when read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from epsilometer import __version__
from epsilometer.errors import DamagedError, DataError
from epsilometer_workflow.files import storage
from epsilometer_workflow.files.identities import plain
from epsilometer_workflow.files.storage import (
    SampleWriter,
    atomic,
    intact,
    read_columns,
    read_samples,
    read_table,
    seal,
    write_columns,
    write_table,
)
from tests.unit.stages import samples_of

OWN = {"version": __version__, "seed": 1, "parameters": {"lower": 0.0}}
IDENTITY = samples_of("laplace", [0.0, 1.0], n=1000, runs=[3, 4], **OWN)


def written(path, arrays, identity=IDENTITY, kind=("scalar", None)):
    with SampleWriter(path, *kind, identity) as writer:
        for outputs in arrays:
            writer.write(outputs)
    return path


@pytest.fixture
def samples(tmp_path):
    arrays = list(np.random.default_rng(0).random((4, 1000)))
    return written(tmp_path / "runs=3-4.parquet", arrays), arrays


def read_all(path, identity=IDENTITY):
    return list(read_samples(str(path), identity))


@pytest.mark.parametrize("at_once", [1, 2500, 10**6])
def test_samples_round_trip_by_run_and_side(samples, at_once, monkeypatch):
    """However many numbers are read at once."""
    monkeypatch.setattr(storage, "_READ_SIZE", at_once)
    path, arrays = samples
    read = read_all(path)
    assert [(run, side) for run, side, _ in read] == [(3, 0), (3, 1), (4, 0), (4, 1)]
    np.testing.assert_array_equal([outputs for _, _, outputs in read], arrays)


@pytest.mark.parametrize("order", ["C", "F"])
def test_outputs_of_several_entries_round_trip_in_any_order_of_memory(tmp_path, order):
    """A mechanism may return the transpose of its draws."""
    identity = replace(IDENTITY, n=5, runs=[3, 3])
    arrays = [np.asarray(np.random.default_rng(i).normal(size=(5, 3)), order=order) for i in (0, 1)]
    path = written(tmp_path / "vectors.parquet", arrays, identity, ("vector", 3))
    np.testing.assert_array_equal([outputs for _, _, outputs in read_all(path, identity)], arrays)


def test_a_truncated_file_is_an_error(samples):
    path, _ = samples
    whole = path.read_bytes()
    for size in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"runs=3-4.parquet: is truncated or damaged"):
            read_all(path)


def test_a_flipped_bit_is_an_error(tmp_path):
    """In data, page headers, footer, digest and length alike, in any of the eight bits."""
    identity = replace(IDENTITY, n=6, runs=[0, 1])
    arrays = np.random.default_rng(1).normal(size=(4, 6))
    path = written(tmp_path / "small.parquet", arrays, identity)
    whole = path.read_bytes()
    assert intact(path)
    size = len(whole)
    for position in (*range(0, size - 40, 7), *range(size - 40, size)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        assert not intact(path), position
        with pytest.raises(DataError, match=r"small\.parquet"):
            read_all(path, identity)


def test_a_foreign_file_is_an_error(tmp_path):
    path = tmp_path / "foreign.parquet"
    pd.DataFrame({"output": [1.0]}).to_parquet(path)
    with pytest.raises(DataError, match="is not an epsilometer file"):
        read_all(path)
    seal(path)
    with pytest.raises(DataError, match="is not an epsilometer file of samples"):
        read_all(path)
    path.write_text("not even Parquet")
    with pytest.raises(DataError, match="truncated or damaged"):
        read_all(path)
    path.unlink()
    with pytest.raises(DataError, match="does not exist"):
        read_all(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", 2), ("epsilon", 0.2), ("version", "1"), ("parameters", {}), ("n", 10)],
)
def test_the_error_of_a_stale_file_names_the_key(samples, key, value):
    path, _ = samples
    with pytest.raises(DataError, match=f"is stale: {key} is"):
        read_all(path, replace(IDENTITY, **{key: value}))


def test_a_file_that_lacks_a_key_of_its_identity_is_stale(tmp_path):
    """As if of a version that did not know the key."""
    missing = plain(IDENTITY) | {"kind": "samples"}
    del missing["epsilon"]
    path = str(tmp_path / "old.parquet")
    write_columns({"output": np.zeros(3)}, path, "samples", missing)
    with pytest.raises(DataError, match="is stale: epsilon is None, not"):
        read_all(path)


def test_row_groups_must_be_complete(tmp_path):
    path = written(tmp_path / "short.parquet", [np.zeros(1000)])
    with pytest.raises(DataError, match="has 1 row groups instead of 4"):
        read_all(path)
    written(path, [np.zeros(size) for size in (1000, 999, 1000, 1000)])
    with pytest.raises(DataError, match="row group 1 has 999 draws, not 1000"):
        read_all(path)


def test_tables_round_trip_and_are_reproducible(tmp_path):
    frame = pd.DataFrame({"epsilon": [0.1, np.nan], "mechanism": ["a", "b"], "n": [1, 2**40]})
    first, second = str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")
    for path in (first, second):
        write_table(frame, path, "table", {"seed": 1, "caption": "é"})
    pd.testing.assert_frame_equal(read_table(first, "table", {"seed": 1}), frame)
    assert Path(first).read_bytes() == Path(second).read_bytes()
    with pytest.raises(DataError, match="is not an epsilometer file of summary"):
        read_table(first, "summary", {"seed": 1})


DTYPES = ["int8", "int32", "int64", "uint64", "float16", "float64", "bool"]


@pytest.fixture
def there_and_back(tmp_path):
    """Return columns as they are read after they were written."""

    def read(columns):
        path = str(tmp_path / "columns.parquet")
        write_columns(columns, path, "losses", {"seed": 1})
        return read_columns(path, "losses", {"seed": 1})

    return read


def same(read, written):
    """Compare an array to the bit, and its type."""
    assert read.dtype == written.dtype
    assert read.tobytes() == written.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_numbers_come_back_to_the_bit(there_and_back, dtype):
    """Also where a number is missing, infinite or the last of its type."""
    for rows in (0, 1, 7, 8, 9, 100_000):
        rng = np.random.default_rng(rows)
        if dtype == "bool":
            column = rng.random(rows) < 0.5
        elif dtype.startswith("float"):
            column = rng.laplace(size=rows).astype(dtype)
            column[:4] = [np.nan, np.inf, -np.inf, -0.0][:rows]
        else:
            limits = np.iinfo(dtype)
            column = rng.integers(limits.min, limits.max, rows, dtype, endpoint=True)
            column[:2] = [limits.min, limits.max][:rows]
        same(there_and_back({"x": column})["x"], column)


def test_columns_of_a_stride_or_in_fortran_order_are_written_as_they_read(there_and_back):
    """Slices of a matrix are no contiguous memory; bits of a slice do not begin at a byte."""
    rng = np.random.default_rng(0)
    matrix, flags = rng.normal(size=(50, 3)), rng.random(103) < 0.5
    columns = {"x": matrix[:, 1], "y": matrix.T[2], "z": matrix[::-1, 0], "b": flags[3:103:2]}
    for name, column in there_and_back(columns).items():
        same(column, np.ascontiguousarray(columns[name]))


@pytest.mark.parametrize("column", [["a", None, "é"], [None], []])
def test_columns_of_texts_come_back_and_texts_may_be_missing(there_and_back, column):
    assert there_and_back({"x": column})["x"] == column


def test_columns_of_arrays_come_back_also_empty_ones(there_and_back):
    column = [np.array([0.5, np.nan, -0.0]), np.array([]), np.array([np.inf])]
    for read, written in zip(there_and_back({"x": column})["x"], column, strict=True):
        same(read, written)


def test_nothing_is_left_behind_by_a_failure(tmp_path):
    path = tmp_path / "deep" / "table.csv"
    path.parent.mkdir()
    path.write_text("old")

    def fail_half_way():
        with atomic(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]
    assert path.read_text() == "old"
    with atomic(path) as part:
        part.write_text("new")
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]
    assert path.read_text() == "new"


def test_damage_that_hides_the_kind_of_a_file_is_still_damage(tmp_path):
    """Only a file that never was ours is left for its owner to delete."""
    path = tmp_path / "densities.parquet"
    identity = replace(IDENTITY, registered="epsilometer.mechanisms.real_line:Laplace")
    write_table(pd.DataFrame({"x": [1.0]}), str(path), "densities", identity)
    whole = path.read_bytes()
    for hidden in (b"epsilometer\x18", b'{"epsilon"'):  # the key, and the beginning of its value
        assert whole.count(hidden) == 1
        path.write_bytes(whole.replace(hidden, bytes([hidden[0] ^ 1]) + hidden[1:]))
        with pytest.raises(DamagedError):
            read_table(str(path), "densities", identity)
