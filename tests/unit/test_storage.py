"""Files that describe themselves, written whole or not at all, and distrusted when read."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from epsilometer import __version__
from epsilometer.errors import DamagedError, DataError
from epsilometer.storage import (
    SampleWriter,
    atomic,
    intact,
    read_counts,
    read_samples,
    read_table,
    seal,
    write_counts,
    write_table,
)

IDENTITY = {
    "mechanism": "m",
    "epsilon": 0.1,
    "parameters": {"lower": 0.0},
    "inputs": {"id": "ends", "values": [0.0, 1.0]},
    "seed": 1,
    "scale": "smoke",
    "version": __version__,
    "n": 1000,
    "sides": 2,
    "runs": [3, 4],
}


@pytest.fixture
def samples(tmp_path):
    path = tmp_path / "runs=3-4.parquet"
    rng = np.random.default_rng(0)
    arrays = [rng.random(1000) for _ in range(4)]
    with SampleWriter(path, "scalar", None, IDENTITY) as writer:
        for outputs in arrays:
            writer.write(outputs)
    return path, arrays


def test_samples_round_trip_by_run_and_side(samples):
    path, arrays = samples
    read = list(read_samples(str(path), IDENTITY))
    assert [(run, side) for run, side, _ in read] == [(3, 0), (3, 1), (4, 0), (4, 1)]
    for (_, _, outputs), expected in zip(read, arrays, strict=True):
        np.testing.assert_array_equal(outputs, expected)


def test_samples_describe_themselves(samples):
    path, _ = samples
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 4
    found = json.loads(file.schema_arrow.metadata[b"epsilometer"])
    assert found == {"kind": "samples", **IDENTITY}


def read_all(path, identity=None):
    return list(read_samples(str(path), identity or IDENTITY))


def test_a_truncated_file_is_told(samples):
    path, _ = samples
    whole = path.read_bytes()
    for size in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"runs=3-4.parquet: is truncated or damaged"):
            read_all(path)


def test_every_flipped_bit_is_told(tmp_path):
    """In data, page headers, footer, digest and length alike, in any of the eight bits."""
    path = tmp_path / "small.parquet"
    identity = IDENTITY | {"n": 6, "runs": [0, 1]}
    with SampleWriter(path, "scalar", None, identity) as writer:
        for _ in range(4):
            writer.write(np.random.default_rng(1).normal(size=6))
    whole = path.read_bytes()
    assert intact(path)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        assert not intact(path), position
        with pytest.raises(DataError, match=r"small\.parquet"):
            read_all(path, identity)


def test_bytes_that_change_places_are_told(samples):
    path, _ = samples
    whole = bytearray(path.read_bytes())
    whole[1000:1008], whole[2000:2008] = whole[2000:2008], whole[1000:1008]
    path.write_bytes(whole)
    with pytest.raises(DamagedError):
        read_all(path)


def test_sealed_files_are_plain_parquet(samples):
    path, arrays = samples
    read = pd.read_parquet(path)["output"].to_numpy()
    assert (read == np.concatenate(arrays)).all()


def test_a_foreign_file_is_told(tmp_path):
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
def test_a_stale_file_is_told_with_the_key(samples, key, value):
    path, _ = samples
    with pytest.raises(DataError, match=f"is stale: {key} is"):
        read_all(path, IDENTITY | {key: value})


def test_row_groups_must_be_complete(tmp_path):
    path = tmp_path / "short.parquet"
    with SampleWriter(path, "scalar", None, IDENTITY) as writer:
        writer.write(np.zeros(1000))
    with pytest.raises(DataError, match="has 1 row groups instead of 4"):
        read_all(path)
    with SampleWriter(path, "scalar", None, IDENTITY) as writer:
        for size in (1000, 999, 1000, 1000):
            writer.write(np.zeros(size))
    with pytest.raises(DataError, match="row group 1 has 999 draws, not 1000"):
        read_all(path)


def test_counts_round_trip(tmp_path):
    path = str(tmp_path / "counts.parquet")
    rows = [
        {"run": run, "side": side, "n": [1, 4], "counts": np.array([[1, 0, 0], [run, side, 4]])}
        for run in (0, 1)
        for side in (0, 1)
    ]
    write_counts(iter(rows), path, 3, {"seed": 1})
    arrays = read_counts(path, {"seed": 1})
    assert arrays["run"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert arrays["n"].tolist() == [1, 4] * 4
    assert arrays["counts"].shape == (8, 3)
    assert arrays["counts"][7].tolist() == [1, 1, 4]
    with pytest.raises(DataError, match="stale: seed"):
        read_counts(path, {"seed": 2})


def test_tables_round_trip_and_are_reproducible(tmp_path):
    frame = pd.DataFrame({"epsilon": [0.1, np.nan], "mechanism": ["a", "b"], "n": [1, 2**40]})
    one, two = str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")
    for path in (one, two):
        write_table(frame, path, "table", {"seed": 1, "caption": "é"})
    pd.testing.assert_frame_equal(read_table(one, "table", {"seed": 1}), frame)
    assert Path(one).read_bytes() == Path(two).read_bytes()
    with pytest.raises(DataError, match="is not an epsilometer file of summary"):
        read_table(one, "summary", {"seed": 1})


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


def test_damage_that_hides_what_a_file_is_is_still_damage(tmp_path):
    """Only a file that never was ours is left for its owner to delete."""
    path = tmp_path / "densities.parquet"
    identity = IDENTITY | {"registered": "epsilometer.mechanisms.laplace:Laplace"}
    write_table(pd.DataFrame({"x": [1.0]}), str(path), "densities", identity)
    whole = path.read_bytes()
    for hidden in (b"epsilometer\x18", b'{"epsilon"'):  # the key, and the beginning of its value
        assert whole.count(hidden) == 1
        path.write_bytes(whole.replace(hidden, bytes([hidden[0] ^ 1]) + hidden[1:]))
        with pytest.raises(DamagedError):
            read_table(str(path), "densities", identity)
