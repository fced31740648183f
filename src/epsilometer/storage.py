"""Parquet in and out: self-describing, written atomically, validated when read.

Every file carries in its schema metadata, under the key ``epsilometer``, a JSON object with its
``kind`` and its identity (what was drawn or computed, with which parameters, seed, scale and
library version). A reader states the identity it expects; a truncated, foreign or stale file ends
in one line that names the file. Pages carry checksums.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from epsilometer.errors import DataError, one_line

Identity = Mapping[str, Any]
_KEY = b"epsilometer"


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path`` and move it there only if all went well."""
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    part = final.with_name(f"{final.stem}.{os.getpid()}.part{final.suffix}")
    try:
        yield part
        part.replace(final)
    finally:
        part.unlink(missing_ok=True)


_COLUMNS = {
    "scalar": pa.float64(),
    "index": pa.int32(),
    "bits": pa.int64(),
    "vector": pa.float64(),
    "tuple": pa.int32(),
    "mixed": pa.float64(),
}


class SampleWriter:
    """Writes one row group per (run, side), runs slowest; the single column is ``output``.

    Outputs of several entries, shape ``(n, dimension)``, are lists of that many.
    """

    def __init__(self, path: Path, outputs: str, dimension: int | None, identity: Identity) -> None:
        kind = _COLUMNS[outputs]
        self._dimension = dimension
        column = kind if dimension is None else pa.list_(kind, dimension)
        self._schema = pa.schema([("output", column)], metadata=_metadata("samples", identity))
        self._writer = pq.ParquetWriter(
            path,
            self._schema,
            compression="lz4" if pa.types.is_integer(kind) else "none",
            use_dictionary=False,
            write_statistics=False,
            write_page_checksum=True,
        )

    def __enter__(self) -> SampleWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self._writer.close()

    def write(self, outputs: NDArray[Any]) -> None:
        """Append the outputs of the next (run, side)."""
        column = pa.array(np.ascontiguousarray(outputs).ravel())
        if self._dimension is not None:
            column = pa.FixedSizeListArray.from_arrays(column, self._dimension)
        table = pa.Table.from_arrays([column], schema=self._schema)
        self._writer.write_table(table, row_group_size=max(len(outputs), 1))


def read_samples(path: str, expected: Identity) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield (run, side, outputs) in the order written, outputs of shape ``(n,)`` or ``(n, d)``.

    ``expected`` is the identity of the samples; it holds ``runs`` (first, last), the number of
    ``sides`` drawn in each, and ``n``.
    """
    file = _open(path, "samples", expected)
    first, last = expected["runs"]
    keys = [(r, s) for r in range(first, last + 1) for s in range(expected["sides"])]
    if file.num_row_groups != len(keys):
        raise DataError(path, f"has {file.num_row_groups} row groups instead of {len(keys)}")
    for group, (run, side) in enumerate(keys):
        try:
            column = file.read_row_group(group, use_threads=False).column(0).combine_chunks()
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path, error) from error
        if len(column) != expected["n"]:
            raise DataError(path, f"row group {group} has {len(column)} draws, not {expected['n']}")
        if pa.types.is_fixed_size_list(column.type):
            yield run, side, column.flatten().to_numpy().reshape(len(column), -1)
        else:
            yield run, side, column.to_numpy()


def by_run(
    samples: Iterator[tuple[int, int, NDArray[Any]]],
) -> Iterator[tuple[int, list[NDArray[Any]]]]:
    """Gather what `read_samples` yields by run: all sides of a run together."""
    for run, group in groupby(samples, key=itemgetter(0)):
        yield run, [outputs for _, _, outputs in group]


def write_table(frame: pd.DataFrame, path: str, kind: str, identity: Identity) -> None:
    """Write a tidy table as Parquet."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**table.schema.metadata, **_metadata(kind, identity)})
    with atomic(path) as part:
        pq.write_table(table, part, compression="zstd", write_page_checksum=True)


def read_table(path: str, kind: str, expected: Identity) -> pd.DataFrame:
    """Read a tidy table, having checked that it is what its path promises."""
    file = _open(path, kind, expected)
    try:
        return file.read(use_threads=False).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def write_counts(rows: Iterator[dict[str, Any]], path: str, cells: int, identity: Identity) -> None:
    """Write histograms, a row per (run, side, n), the counts as a list of ``cells`` integers."""
    schema = pa.schema(
        [
            ("run", pa.int32()),
            ("side", pa.int32()),
            ("n", pa.int64()),
            ("counts", pa.list_(pa.int64(), cells)),
        ],
        metadata=_metadata("histograms", identity),
    )
    with (
        atomic(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for row in rows:
            flat = pa.array(np.ascontiguousarray(row["counts"]).ravel())
            size = len(row["n"])
            columns = [
                pa.array(np.full(size, row["run"], np.int32)),
                pa.array(np.full(size, row["side"], np.int32)),
                pa.array(np.asarray(row["n"], np.int64)),
                pa.FixedSizeListArray.from_arrays(flat, cells),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def read_counts(path: str, expected: Identity) -> dict[str, NDArray[np.int64]]:
    """Return arrays ``run``, ``side``, ``n`` of shape (rows,) and ``counts`` (rows, cells)."""
    file = _open(path, "histograms", expected)
    try:
        table = file.read(use_threads=False).combine_chunks()
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error
    arrays = {name: table.column(name).to_numpy() for name in ("run", "side", "n")}
    counts = table.column("counts").chunk(0)
    arrays["counts"] = counts.flatten().to_numpy().reshape(-1, counts.type.list_size)
    return arrays


def _metadata(kind: str, identity: Identity) -> dict[bytes, bytes]:
    return {_KEY: json.dumps({"kind": kind, **identity}, sort_keys=True).encode()}


def _open(path: str, kind: str, expected: Identity) -> pq.ParquetFile:
    """Open a file whose metadata agree with every key of ``expected``."""
    try:
        file = pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
        found = json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"null"))
    except FileNotFoundError:
        raise DataError(path, "does not exist; run the workflow again to make it") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(path, error) from error
    if not isinstance(found, dict) or found.get("kind") != kind:
        raise DataError(path, f"is not an epsilometer file of {kind}; delete it and run again")
    wanted = json.loads(_metadata(kind, expected)[_KEY])
    for key, value in wanted.items():
        if found.get(key) != value:
            raise DataError(
                path,
                f"is stale: {key} is {found.get(key)!r}, not {value!r}; delete it and run again",
            )
    return file


def _damaged(path: str, error: Exception) -> DataError:
    return DataError(path, f"is truncated or damaged ({one_line(error)}); delete it and run again")
