"""Parquet files that describe themselves, are written atomically and checked when read.

Schema metadata hold, under the key ``epsilometer``, a JSON object with the file's ``kind`` and
identity (the draws or the computation, with parameters, seed, scale and library version). A reader
states the identity that it expects; a truncated, foreign or stale file is an error of one line.

A digest of every byte (XXH3, 128 bits) lies between the last page and the footer, which readers of
Parquet skip: a flipped bit anywhere is detected before a number is read. Parquet's own
checksums cover pages only, and cost several times as much.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray

from epsilometer import __version__
from epsilometer.errors import DamagedError, DataError
from epsilometer.estimators.base import Claims
from epsilometer.mechanisms.base import OUTPUT_KINDS
from epsilometer_workflow.files.identities import Identity, SamplesIdentity, plain

if TYPE_CHECKING:  # a third of a second to import, for tables only
    import pandas as pd

Columns = Mapping[str, Any]
_KEY = b"epsilometer"
_MAGIC = b"PAR1"
_TAIL = 4 + len(_MAGIC)  # a Parquet file ends with its footer's length and this mark
_CHUNK = 1 << 18  # bytes that stay in the processor's cache
_READ_SIZE = 1 << 20  # numbers of small samples in one read


@contextmanager
def atomic(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, and move it there unless an error occurs.

    ``durable`` files are synchronised to the disk first. Large ones that are soon deleted need not
    be, as their digest shows a loss.
    """
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    part = final.with_name(f"{final.stem}.{os.getpid()}.part{final.suffix}")
    try:
        yield part
        if durable:
            with part.open("rb") as file:
                os.fsync(file.fileno())
        part.replace(final)
    finally:
        part.unlink(missing_ok=True)


class SampleWriter:
    """Writes one row group per (run, side), runs slowest; the single column is ``output``.

    Outputs of shape ``(n, dimension)`` are lists. Nothing is compressed: that would take longer
    than the draws, and files are read once or twice and deleted.
    """

    def __init__(self, path: Path, outputs: str, dimension: int | None, identity: Identity) -> None:
        kind = pa.from_numpy_dtype(np.dtype(OUTPUT_KINDS[outputs].dtype))
        column = kind if dimension is None else pa.list_(kind, dimension)
        output = pa.field("output", column, nullable=dimension is not None)
        self._path = path
        self._dimension = dimension
        self._schema = pa.schema([output], metadata=_metadata("samples", identity))
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        self._writer = pq.ParquetWriter(path, self._schema, **options)

    def __enter__(self) -> SampleWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._writer.close()
        if kind is None:
            seal(self._path)

    def write(self, outputs: NDArray[Any]) -> None:
        """Append the outputs of the next (run, side)."""
        column = _to_arrow(outputs)
        if self._dimension is not None:
            column = pa.FixedSizeListArray.from_arrays(column, self._dimension)
        table = pa.Table.from_arrays([column], schema=self._schema)
        self._writer.write_table(table, row_group_size=max(len(outputs), 1))


def read_samples(path: str, expected: SamplesIdentity) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield (run, side, outputs) in the order written, outputs of shape ``(n,)`` or ``(n, d)``."""
    file = _open(path, "samples", expected)
    first, last = expected.runs
    keys = list(product(range(first, last + 1), range(expected.sides)))
    if file.num_row_groups != len(keys):
        raise DataError(path, f"has {file.num_row_groups} row groups instead of {len(keys)}")
    for group in range(len(keys)):
        if (size := file.metadata.row_group(group).num_rows) != expected.n:
            raise DataError(path, f"row group {group} has {size} draws, not {expected.n}")
    kind = file.schema_arrow.field("output").type
    entries = kind.list_size if pa.types.is_fixed_size_list(kind) else 1
    step = max(_READ_SIZE // max(expected.n * entries, 1), 1)
    for start in range(0, len(keys), step):
        part = keys[start : start + step]
        table = file.read_row_groups(range(start, start + len(part)), use_threads=False)
        column = table.column(0).combine_chunks()
        if pa.types.is_fixed_size_list(kind):
            outputs = _to_numpy(column.flatten()).reshape(len(column), -1)
        else:
            outputs = _to_numpy(column)
        for i, (run, side) in enumerate(part):
            yield run, side, outputs[i * expected.n : (i + 1) * expected.n]


def by_run(
    samples: Iterator[tuple[int, int, NDArray[Any]]],
) -> Iterator[tuple[int, list[NDArray[Any]]]]:
    """Group the samples of `read_samples` by run: all sides of a run together."""
    for run, group in groupby(samples, key=itemgetter(0)):
        yield run, [outputs for _, _, outputs in group]


@dataclass(frozen=True)
class SampleFile:
    """A file of samples that is read run by run, and the provider's claims."""

    path: str
    identity: SamplesIdentity
    claims: Claims
    region: list[float] | None = None

    def runs(self) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield each run with the outputs of all its sides, of shape ``(n,)`` or ``(n, d)``."""
        return by_run(read_samples(self.path, self.identity))


def write_table(
    frame: pd.DataFrame, path: str, kind: str, identity: Identity, csv: str | None = None
) -> None:
    """Write a data frame as Parquet; or a table for readers, where there is a path, also as CSV.

    Numbers for readers have twelve digits: the others are rounding errors of the arithmetic.
    """
    if csv is not None:
        frame = frame.copy()
        for name in frame.select_dtypes("floating"):
            values = frame[name].to_numpy(float, na_value=np.nan)
            frame[name] = [float(f"{value:.11e}") for value in values]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**table.schema.metadata, **_metadata(kind, identity)})
    _write(table, path)
    if csv is not None:
        with atomic(csv) as part:
            frame.to_csv(part, index=False)


def read_table(path: str, kind: str, expected: Identity) -> pd.DataFrame:
    """Read a data frame, and check its kind and identity."""
    return _open(path, kind, expected).read(use_threads=False).to_pandas()


def write_columns(columns: Columns, path: str, kind: str, identity: Identity) -> None:
    """Write columns of equal length as Parquet, without pandas.

    A column is an array of numbers ``(rows,)``, a sequence of texts or ``None``, or a sequence of
    sequences of numbers, such as densities.
    """
    arrays = list(map(_column, columns.values()))
    table = pa.Table.from_arrays(arrays, names=list(columns))
    _write(table.replace_schema_metadata(_metadata(kind, identity)), path)


def read_columns(path: str, kind: str, expected: Identity) -> dict[str, Any]:
    """Read a file of `write_columns`, and check its kind and identity.

    Numbers are returned as an array ``(rows,)``, texts as a list, sequences as a list of arrays.
    """
    table = _open(path, kind, expected).read(use_threads=False).combine_chunks()
    return {name: _values(table.column(name)) for name in table.column_names}


def concatenated(tables: Sequence[Columns]) -> dict[str, Any]:
    """Return the rows of all tables, which have the same columns."""
    columns = {}
    for name in tables[0]:
        columns[name] = np.concatenate([table[name] for table in tables])
    return columns


def _write(table: pa.Table, path: str) -> None:
    with atomic(path) as part:
        pq.write_table(table, part, compression="zstd")
        seal(part)


def _column(values: Any) -> pa.Array:
    """Return an Arrow array; ``pyarrow.array`` would import pandas on the way."""
    if isinstance(values, np.ndarray):
        return _to_arrow(values)
    if all(value is None or isinstance(value, str) for value in values):
        return _texts(values)
    parts = list(map(np.asarray, values))
    return pa.ListArray.from_arrays(_to_arrow(_ends(parts)), _to_arrow(np.concatenate(parts)))


def _texts(values: Sequence[str | None]) -> pa.Array:
    """Return texts as an Arrow array."""
    text = []
    is_there = []
    for value in values:
        text.append((value or "").encode())
        is_there.append(value is not None)
    valid = None
    if not all(is_there):
        valid = pa.py_buffer(np.packbits(is_there, bitorder="little"))
    buffers = [valid, pa.py_buffer(_ends(text)), pa.py_buffer(b"".join(text))]
    return pa.Array.from_buffers(pa.string(), len(text), buffers)


def _ends(parts: Sequence[Any]) -> NDArray[np.int32]:
    """Return the start of each part in their concatenation, and the end of the last."""
    return np.cumsum([0, *map(len, parts)]).astype(np.int32)


def _values(column: pa.ChunkedArray) -> Any:
    if pa.types.is_string(column.type):
        return column.to_pylist()
    if column.num_chunks == 0:
        return np.empty(0, column.type.to_pandas_dtype())
    (chunk,) = column.chunks
    if pa.types.is_list(column.type):
        ends = _to_numpy(chunk.offsets)
        return np.split(_to_numpy(chunk.values)[ends[0] : ends[-1]], ends[1:-1] - ends[0])
    return _to_numpy(chunk)


def _to_arrow(values: NDArray[Any]) -> pa.Array:
    """Return a flat Arrow array of numbers."""
    flat = np.ascontiguousarray(values).ravel()
    buffer = np.packbits(flat, bitorder="little") if flat.dtype == bool else flat
    kind = pa.from_numpy_dtype(flat.dtype)
    return pa.Array.from_buffers(kind, flat.size, [None, pa.py_buffer(buffer)])


def _to_numpy(column: pa.Array) -> NDArray[Any]:
    """Return an array without nulls as NumPy; Arrow's own method would import pandas."""
    buffer = column.buffers()[1] or b""
    first = column.offset
    last = column.offset + len(column)
    if pa.types.is_boolean(column.type):
        bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")
        return bits[first:last].astype(bool)
    return np.frombuffer(buffer, np.dtype(column.type.to_pandas_dtype()))[first:last]


def _metadata(kind: str, identity: Identity) -> dict[bytes, bytes]:
    return {_KEY: json.dumps({"kind": kind, **plain(identity)}, sort_keys=True).encode()}


def _unsealed(path: str) -> DataError:
    """Return the error for a file without a valid digest: damage, or another origin."""
    try:
        pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):
        return DamagedError(path)
    identity = identity_of(Path(path))
    if identity is None and _KEY not in Path(path).read_bytes():
        return DataError(path, "is not an epsilometer file; delete it and run again")
    if identity is not None and (version := identity.get("version")) != __version__:
        message = f"is of version {version}, this is {__version__}; delete it and run again"
        return DataError(path, message)
    return DamagedError(path)


def seal(path: Path) -> None:
    """Put a digest of all bytes of a finished Parquet file before its footer."""
    with path.open("r+b") as file:
        start = _footer(file)
        digest = xxhash.xxh3_128()
        _feed(digest, file, 0, start)
        file.seek(start)
        footer = file.read()
        digest.update(footer)
        file.seek(start)
        file.write(digest.digest() + footer)


def intact(path: str | os.PathLike[str]) -> bool:
    """Return whether a Parquet file matches its digest; it is read once."""
    with Path(path).open("rb") as file:
        digest = xxhash.xxh3_128()
        try:
            start = _footer(file)
        except ValueError:
            return False
        _feed(digest, file, 0, start - digest.digest_size)
        stored = file.read(digest.digest_size)
        digest.update(file.read())
        return stored == digest.digest()


def _footer(file: BinaryIO) -> int:
    """Return where the footer of a Parquet file begins."""
    size = file.seek(0, os.SEEK_END)
    if size > _TAIL:
        file.seek(-_TAIL, os.SEEK_END)
        tail = file.read()
        start = size - _TAIL - int.from_bytes(tail[:4], "little")
        if tail.endswith(_MAGIC) and start >= 0:
            return start
    raise ValueError("no Parquet file")


def _feed(digest: xxhash.xxh3_128, file: BinaryIO, first: int, last: int) -> None:
    """Update a digest with the bytes of a file from ``first`` up to ``last``."""
    file.seek(first)
    chunk = memoryview(bytearray(_CHUNK))
    while first < last and (size := file.readinto(chunk[: min(last - first, _CHUNK)])):  # type: ignore[attr-defined]
        digest.update(chunk[:size])
        first += size


def identity_of(path: Path) -> dict[str, Any] | None:
    """Return the identity in a file's metadata; None where it is damaged or foreign."""
    try:
        identity = json.loads((pq.read_schema(path).metadata or {}).get(_KEY, b"null"))
    except (pa.ArrowException, OSError, ValueError):
        return None
    return identity if isinstance(identity, dict) else None


def _open(path: str, kind: str, expected: Identity) -> pq.ParquetFile:
    """Open an intact file whose metadata agree with every key of ``expected``."""
    try:
        if not intact(path):
            raise _unsealed(path)
    except FileNotFoundError:
        raise DataError(path, "does not exist; run the workflow again to make it") from None
    file = pq.ParquetFile(path)
    stored = json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"null"))
    if not isinstance(stored, dict) or stored.get("kind") != kind:
        raise DataError(path, f"is not an epsilometer file of {kind}; delete it and run again")
    for key, value in json.loads(_metadata(kind, expected)[_KEY]).items():
        if (actual := stored.get(key)) != value:
            message = f"is stale: {key} is {actual!r}, not {value!r}; delete it and run again"
            raise DataError(path, message)
    return file
