"""Recorded outputs from files: CSV, Parquet and npy, of two columns or one file for each input."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilometer.errors import ArgumentError, one_line, suggest
from epsilometer_audit.outputs.callables import Outputs
from epsilometer_audit.outputs.reals import EXACT, NUMBER, number_of
from epsilometer_audit.outputs.shapes import listing, recorded_pair, same_shape
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.errors import counted, shortened
from epsilometer_audit.serving.outputs import Plain, compact, decoded, of_array

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = (".csv", ".parquet", ".npy")
_INDEX = re.compile(r"__index_level_\d+__")
_PLAIN = r"^\s*([+-]?(0(\D|$)|[^0+-])|[+-]\D)"  # without leading zeros
_DIGITS = 15  # that a real holds
_TRUTHS = {"true": True, "false": False, "True": True, "False": False, None: None}


def read(paths: Sequence[str], columns: Sequence[str] | None = None) -> tuple[Outputs, Outputs]:
    """Return the outputs on x and on x' that files hold.

    They are one file with two columns (npy: two rows or two columns), or two files with a column
    each, or with several: vectors, in columns of equal names. A CSV file has a header or none.
    ``columns`` names the two columns of one file, or those to take from each of two. Raise
    `ArgumentError` if a file cannot be read or has other columns.

    Both sides of a column are read alike: a missing field is NaN if both hold nothing but numbers,
    None otherwise. Numbers are read to the last digit, by their values: 1 and 1.0 are one number.
    A number with leading zeros is a text.
    """
    if len(paths) == 1:
        return _of_one_file(paths[0], columns)
    if len(paths) == 2:
        return _of_two_files(paths[0], paths[1], columns)
    raise ArgumentError("outputs", f"takes one file or two, not {len(paths)}")


def _of_one_file(path: str, columns: Sequence[str] | None) -> tuple[Outputs, Outputs]:
    pair = _columns(path, columns, 2)
    if len(pair) != 2:
        hint = "choose two of them"
        if len(pair) == 1:
            hint = "name a second file"
        message = f"has {_listed(pair)}; outputs on x and on x' are wanted: {hint}"
        raise ArgumentError(path, message)
    for name, column in pair.items():
        if not hasattr(column, "is_null"):  # of an array
            continue
        missing = np.asarray(column.is_null())
        end = len(missing) - np.count_nonzero(missing)
        if end < len(missing) and missing[end:].all():  # these fields are no outcomes
            message = f"ends after {end} of {len(missing)} rows in column {name!r}; write "
            raise ArgumentError(path, f"{message}missing values as nan, or two files")
    on_x, on_x_prime = _values(list(pair.values()))
    return on_x, on_x_prime


def _of_two_files(
    path: str, path_prime: str, columns: Sequence[str] | None
) -> tuple[Outputs, Outputs]:
    if _file(path).samefile(_file(path_prime)):
        raise ArgumentError(path, "is given twice; give one file for x and another for x'")
    x = _columns(path, columns)
    x_prime = _columns(path_prime, columns)
    if len(x) != len(x_prime) or (len(x) > 1 and set(x) != set(x_prime)):
        raise ArgumentError(path_prime, f"has {_listed(x_prime)}, but {path} has {_listed(x)}")
    if len(x) == 1:
        on_x, on_x_prime = _values([*x.values(), *x_prime.values()])
        return on_x, on_x_prime
    entries = []
    entries_prime = []
    for name in x:
        on_x, on_x_prime, _ = recorded_pair(*_values([x[name], x_prime[name]]))
        entries.append(on_x)
        entries_prime.append(on_x_prime)
    return _vectors(entries), _vectors(entries_prime)


def digest(paths: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 of each file."""
    return {str(path): sha256(_file(path)) for path in paths}


def read_scores(path: str, columns: Sequence[str] | None = None) -> tuple[Outputs, Outputs]:
    """Return the scores of canaries and which were included, from two columns of a file.

    It is CSV, Parquet, or npy of shape (m, 2) or (2, m). ``columns`` has their names, in this
    order; by default ``score`` and ``included``, or the only two. Raise `ArgumentError` if it
    cannot be read or has other columns.
    """
    default = ["score", "included"]
    pair = _columns(path, columns, 2)
    if columns is None and set(default) <= set(pair):
        pair = {name: pair[name] for name in default}
    if len(pair) != 2:
        message = f"has {_listed(pair)}; a score and inclusion of each canary are wanted"
        raise ArgumentError(path, f"{message}: name them, --columns SCORE INCLUDED")
    scores, included = (_values([column])[0] for column in pair.values())
    return scores, included


def _listed(columns: Mapping[str, Any]) -> str:
    names = ", ".join(name or "''" for name in columns)
    return f"{counted(len(columns), 'column')} ({shortened(names, 100)})"


def _file(path: str) -> Path:
    """Return the path of a file that is there and of a known kind."""
    file = Path(path)
    if file.suffix not in _ENDINGS:
        known_kinds = ", ".join(_ENDINGS)
        raise ArgumentError(str(path), f"is of an unknown kind; its name must end in {known_kinds}")
    try:
        file.open("rb").close()
    except (OSError, ValueError) as error:
        text = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        known = [entry.name for entry in file.parent.glob("*") if entry.suffix in _ENDINGS]
        if isinstance(error, FileNotFoundError) and known:
            text += suggest(file.name, known)
        raise ArgumentError(shortened(str(path)), text) from None
    return file


def _columns(path: str, names: Sequence[str] | None, many: int | None = None) -> dict[str, Any]:
    """Return the columns of a file by name, so ``many`` if named; those of an array by number."""
    import pyarrow as pa

    file = _file(path)
    if names is not None and many not in (None, len(names)):
        raise ArgumentError("columns", f"must be {many} of a single file, got {len(names)}")
    if names is not None and len(set(names)) < len(names):
        raise ArgumentError("columns", f"names {names[0]!r} twice")
    try:
        named = _array(file) if file.suffix == ".npy" else _table(file, names)
    except (pa.ArrowException, csv.Error, OSError, ValueError, EOFError) as error:
        raise ArgumentError(path, f"cannot be read: {shortened(one_line(error), 150)}") from None
    known = [name for name, _ in named if not _INDEX.fullmatch(name)]
    for name in names or ():
        if name not in known:
            raise ArgumentError(path, f"has no column {name!r}{suggest(name, known)}")
    for name in known:
        if known.count(name) > 1:
            raise ArgumentError(path, f"has two columns {name!r}")
    columns = dict(named)
    if not known or len(columns[known[0]]) == 0:
        raise ArgumentError(path, "is empty")
    return {name: columns[name] for name in names or known}


def _array(file: Path) -> list[tuple[str, Any]]:
    """Return the columns of an array by number; two rows are two columns."""
    array = np.load(file, allow_pickle=False)
    if array.ndim < 2:
        array = array.reshape(1, -1)
    elif len(array) != 2:
        array = array.swapaxes(0, 1)
    return [(str(i), of_array(np.ascontiguousarray(row))) for i, row in enumerate(array)]


def _table(file: Path, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the columns of a table by name."""
    from pyarrow import parquet

    table = parquet.read_table(file) if file.suffix == ".parquet" else _csv(file, names)
    return list(zip(table.column_names, table.columns, strict=True))


def _vectors(columns: Sequence[Outputs]) -> Outputs:
    """Return vectors of the entries of columns."""
    arrays = same_shape(columns)
    if arrays is not None:
        return np.column_stack(arrays)
    return Plain(zip(*map(listing, columns), strict=True))


def _csv(file: Path, names: Sequence[str] | None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as reader

    data = file.read_bytes().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    first = next(csv.reader(io.StringIO(data.decode(), newline="")), [])
    if not first:
        return pa.table({})
    unnamed = [f"f{i}" for i in range(len(first))]
    layout = reader.ReadOptions(column_names=unnamed)
    parse = reader.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(first) > 1)
    options: Any = {"null_values": [""], "column_types": dict.fromkeys(unnamed, pa.string())}
    options |= {"strings_can_be_null": True, "quoted_strings_can_be_null": False}
    convert = reader.ConvertOptions(**options)
    table = reader.read_csv(io.BytesIO(data + b"\n"), layout, parse, convert)
    if set(names or ()) & set(first) or _is_header(first, table):
        return table.slice(1).rename_columns(first)
    return table


def _is_header(first: list[str], table: pa.Table) -> bool:
    """Tell whether the first row names the columns: texts, of which none comes again below."""
    names = first
    if first[0] == "" and len(first) > 2:  # the index of a data frame
        names = first[1:]
    for text in map(str.strip, names):
        if not text or NUMBER.fullmatch(text):
            return False
    for text, column in zip(first, table.columns, strict=True):
        if text in column.slice(1).to_pylist():
            return False
    return True


def _values(columns: Sequence[Any]) -> list[Outputs]:
    """Return the values of columns, all read alike: what these have in common is no outcome."""
    import pyarrow as pa

    tables = {}
    for i, column in enumerate(columns):
        if isinstance(column, pa.ChunkedArray):
            tables[i] = _simple(column)
    convert: Callable[[pa.ChunkedArray], Outputs] = _mixed
    if tables and all(map(_are_truths, tables.values())):
        convert = _truths
    elif all(map(_are_numbers, tables.values())):
        convert = _numbers
    values = list(columns)
    for i, column in tables.items():
        values[i] = convert(column)
    return values


def _are_truths(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    return column.type == pa.string() and set(_TRUTHS).issuperset(column.unique().to_pylist())


def _truths(column: pa.ChunkedArray) -> Outputs:
    return compact([_TRUTHS[text] for text in column.to_pylist()])  # type: ignore[no-any-return]


def _simple(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without its categories; dates, times and decimals as texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if pa.types.is_temporal(kind):  # in units that are those of the column
        return pc.replace_substring_regex(column.cast(pa.string()), r"(\.\d*?)0+$", r"\1")
    if pa.types.is_decimal(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    return column


def _are_numbers(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    kind = column.type
    if kind == pa.string():
        return _all(column, rf"(?i)^\s*({NUMBER.pattern})\s*$") and _all(column, _PLAIN)
    if pa.types.is_boolean(kind):
        return column.null_count == 0  # type: ignore[no-any-return]
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _all(texts: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether all texts match a pattern."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _numbers(column: pa.ChunkedArray) -> Outputs:
    """Return numbers: an array where that loses nothing. A missing one is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == pa.string():
        whole = column.null_count == 0 and _all(column, r"^[+-]?\d+$")
        longest = 0 if whole else pc.max(pc.utf8_length(column)).as_py() or 0
        with suppress(pa.ArrowInvalid):
            if whole or (longest <= _DIGITS and _all(column, r"^[^eE]*$")):
                return np.asarray(column.cast(pa.int64() if whole else pa.float64()).to_numpy())
    elif not (pa.types.is_integer(column.type) and column.null_count > 0):
        return np.asarray(column.to_numpy())
    read: Callable[[Any], Any] = number_of if column.type == pa.string() else int
    values = []
    are_exact = True
    for text in column.to_pylist():
        value = math.nan if text is None else read(text)
        values.append(value)
        if type(value) is not float:
            are_exact = are_exact and type(value) is int and abs(value) <= EXACT
    return np.array(values, np.float64) if are_exact else Plain(values)


def _mixed(column: pa.ChunkedArray) -> Outputs:
    """Return texts, numbers without leading zeros and None; bytes in UTF-8 are texts."""
    values = column.to_pylist()
    for i, value in enumerate(values):
        text = value
        if isinstance(value, bytes):
            text = decoded(value)
        if isinstance(text, str) and NUMBER.fullmatch(text.strip()) and re.match(_PLAIN, text):
            text = number_of(text)
        values[i] = text
    return compact(values)  # type: ignore[no-any-return]
