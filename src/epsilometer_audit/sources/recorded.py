"""Recorded outputs from files: CSV, Parquet and npy, of two columns or one file for each input."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilometer.errors import ArgumentError, one_line, suggest
from epsilometer_audit.outcomes.reals import EXACT
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.errors import counted, shortened
from epsilometer_audit.serving.outputs import compact, of_array
from epsilometer_audit.sources.callables import Outputs

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = (".csv", ".parquet", ".npy")
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE
)
_INDEX = re.compile(r"__index_level_\d+__")
_SHOWN = 12


def read(paths: Sequence[str], columns: Sequence[str] | None = None) -> tuple[Outputs, Outputs]:
    """Return the outputs on x and on x' that files hold.

    They are one file with two columns (npy: two rows or two columns), or two files with a column
    each, or with several: vectors, in columns of equal names. A CSV file has a header or none; a
    missing field is NaN among numbers and None among texts. ``columns`` names the two columns of
    one file, or those to take from each of two. Raise `ArgumentError` if a file cannot be read or
    has other columns.
    """
    if len(paths) not in (1, 2):
        raise ArgumentError("outputs", f"takes one file or two, not {len(paths)}")
    if len(paths) == 1:
        pair = _two(paths[0], columns, " of a single file", sides=True)
        if len(pair) == 2:
            on_x, on_x_prime = pair.values()
            return on_x, on_x_prime
        hint = "name a second file" if len(pair) == 1 else "choose two of them"
        if len(pair) == 1 and ";" in next(iter(pair)):
            hint = "separate them by commas"
        message = f"has {_column_list(list(pair))}; outputs on x and on x' are wanted: {hint}"
        raise ArgumentError(paths[0], message)
    first, second = paths
    if _file(first).samefile(_file(second)):
        raise ArgumentError(first, "is given twice; give one file for x and another for x'")
    x, x_prime = _columns(first, columns), _columns(second, columns)
    if len(x) != len(x_prime):
        message = f"has {_column_list(list(x_prime))}, but {first} has {_column_list(list(x))}"
        raise ArgumentError(second, message)
    if len(x) > 1:
        for other in (name for name in x_prime if name not in x):
            raise ArgumentError(second, f"has a column {other!r} that {first} does not have")
        x_prime = {name: x_prime[name] for name in x}
    return _joined(list(x.values())), _joined(list(x_prime.values()))


def table(path: str) -> tuple[dict[str, str], list[Any]]:
    """Return the types of a CSV or Parquet table's columns by name, and its rows as lists.

    Raise `ArgumentError` if it is not such a table, or is empty.
    """
    if Path(path).suffix == ".npy":
        raise ArgumentError(path, "must be a table, in CSV or Parquet")
    columns = {
        name: values if isinstance(values, np.ndarray) else np.fromiter(values, object)
        for name, values in _columns(path, None).items()
    }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return {name: values.dtype.name for name, values in columns.items()}, [list(r) for r in rows]


def digest(paths: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 of each file."""
    return {str(path): sha256(_file(path)) for path in paths}


def _two(
    path: str, names: Sequence[str] | None, which: str, *, sides: bool = False
) -> dict[str, Outputs]:
    """Return columns by name: of a table the named ones, or all; an array has two."""
    if names is not None and len(names) != 2:
        raise ArgumentError("columns", f"must be two{which}, got {len(names)}")
    if _file(path).suffix != ".npy" or names is not None:
        return _columns(path, names, sides=sides)
    array = _array(path)
    if array.ndim == 2 and array.shape[1] == 2 and len(array) != 2:
        array = array.T.copy()
    if array.ndim not in (2, 3) or len(array) != 2:
        wanted = "outputs on x and on x' are wanted: (2, n), (n, 2) or two files"
        raise ArgumentError(path, f"has shape {array.shape}; {wanted}")
    return {"x": of_array(array[0]), "x'": of_array(array[1])}


def read_scores(path: str, columns: Sequence[str] | None = None) -> tuple[Outputs, Outputs]:
    """Return the scores of canaries and which were included, from two columns of a file.

    It is CSV, Parquet, or npy of shape (m, 2) or (2, m). ``columns`` has their names, in this
    order; by default ``score`` and ``included``, or the only two. Raise `ArgumentError` if it
    cannot be read or has other columns.
    """
    default = ["score", "included"]
    pair = _two(path, columns, ", SCORE and INCLUDED")
    if columns is None and set(default) <= set(pair):
        pair = {name: pair[name] for name in default}
    if len(pair) != 2:
        message = f"has {_column_list(list(pair))}; a score and inclusion of each canary are wanted"
        raise ArgumentError(path, f"{message}: name them, --columns SCORE INCLUDED")
    scores, included = pair.values()
    return scores, included


def _column_list(names: list[str]) -> str:
    shown = ", ".join(name or "''" for name in names[:_SHOWN])
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{counted(len(names), 'column')} ({shown}{more})"


def _file(path: str) -> Path:
    """Return the path of a file that is there and of a known kind."""
    file = Path(path)
    if file.is_dir():
        raise ArgumentError(str(path), "is a folder")
    if not file.is_file():
        known = [entry.name for entry in file.parent.glob("*") if entry.suffix in _ENDINGS]
        near = suggest(file.name, known) if known else ""
        near = near if file.parent.is_dir() else ", nor is its folder"
        raise ArgumentError(str(path), f"is not there{near}")
    if file.suffix not in _ENDINGS:
        known_kinds = ", ".join(_ENDINGS)
        raise ArgumentError(str(path), f"is of an unknown kind; its name must end in {known_kinds}")
    return file


def _columns(path: str, names: Sequence[str] | None, *, sides: bool = False) -> dict[str, Outputs]:
    """Return the columns of a file by name; of an npy file by number."""
    file = _file(path)
    if file.suffix == ".npy":
        if names is not None:
            raise ArgumentError("columns", f"have no names in {path}")
        array = _array(path)
        if array.ndim > 2:
            raise ArgumentError(path, f"has shape {array.shape}; outputs are (n,) or (n, d)")
        if array.ndim == 1:
            return {"outputs": of_array(array)}
        return {str(i): array[:, i] for i in range(array.shape[1])}
    table = _csv(file, path, names) if file.suffix == ".csv" else _parquet(file, path)
    known = [name for name in table.column_names if not _INDEX.fullmatch(name)]
    for name in names or ():
        if name not in known:
            raise ArgumentError(path, f"has no column {name!r}{suggest(name, known)}")
    if names is not None and len(set(names)) < len(names):
        raise ArgumentError("columns", f"names {names[0]!r} twice")
    if len(set(known)) < len(known):
        twice = next(name for name in known if known.count(name) > 1)
        raise ArgumentError(path, f"has two columns {twice!r}")
    if not known or table.num_rows == 0:
        raise ArgumentError(path, "is empty")
    chosen = list(names) if names is not None else known
    if sides and len(chosen) == 2:
        _check_ends(path, {name: table.column(name) for name in chosen})
    return {name: _values(table.column(name), path) for name in chosen}


def _check_ends(path: str, columns: dict[str, pa.ChunkedArray]) -> None:
    """Refuse a column that ends before the other: its missing fields are not outcomes."""
    for name, column in columns.items():
        missing = np.asarray(column.is_null())
        first = len(missing) - column.null_count
        if column.null_count > 0 and missing[first:].all():
            raise ArgumentError(
                path,
                f"ends after {first} of {len(missing)} rows in column {name!r}; write missing "
                "values as nan, or two files",
            )


def _joined(columns: list[Outputs]) -> Outputs:
    """Return one column, or vectors of the entries of several."""
    if len(columns) == 1:
        return columns[0]
    if all(isinstance(c, np.ndarray) and c.dtype.kind in "iuf" for c in columns):
        return np.column_stack(columns)
    plain = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns]
    return list(zip(*plain, strict=True))


# --- tables ---------------------------------------------------------------------------------------


def _csv(file: Path, path: str, names: Sequence[str] | None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as reader

    data = file.read_bytes().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ArgumentError(path, f"is not text in UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise ArgumentError(path, "is not text: it holds a zero byte")
    first = next(csv.reader(io.StringIO(text, newline="")), [])
    if not first:
        raise ArgumentError(path, "is empty" if not text.strip() else "has an empty first line")
    convert = reader.ConvertOptions(
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,
        timestamp_parsers=[],
    )
    parse = reader.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(first) > 1)

    def read(**options: Any) -> pa.Table:
        layout = reader.ReadOptions(**options)
        return reader.read_csv(io.BytesIO(data + b"\n"), layout, parse, convert)

    try:
        table = read(autogenerate_column_names=True)
        header = set(names or ()) & set(first) or _is_header(first, table)
        if header:
            table = read(column_names=first, skip_rows_after_names=1)
    except pa.ArrowInvalid as error:
        message = re.sub(r"^CSV parse error: ", "", one_line(error))
        raise ArgumentError(path, f"cannot be read: {shortened(message, 150)}") from None
    if names is not None and not header:
        raise ArgumentError(path, f"has no header, so no column {names[0]!r}")
    return table


def _is_header(first: list[str], table: pa.Table) -> bool:
    """Tell whether the first row names the columns: texts, of which none comes again below."""
    texts = first[1:] if first[0] == "" and len(first) > 2 else first  # the index of a data frame
    if any(not text.strip() or _is_number(text) for text in texts):
        return False
    below = [column.slice(1) for column in table.columns]
    return not any(
        str(column.type) == "string" and text in set(column.to_pylist())
        for text, column in zip(first, below, strict=True)
    )


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text.strip()))


def _parquet(file: Path, path: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_table(file)
    except (pa.ArrowException, OSError) as error:
        message = shortened(one_line(error), 150)
        raise ArgumentError(path, f"cannot be read: {message}") from None


def _values(column: pa.ChunkedArray, path: str) -> Outputs:
    """Return a column's values: an array of numbers, or a list of texts, numbers and None."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and column.null_count == 0):
        return np.asarray(column.to_numpy())
    if pa.types.is_null(kind):
        raise ArgumentError(path, "has a column of nothing but missing fields")
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.string())
    values = column.to_pylist()
    if pa.types.is_integer(kind):
        exact = all(value is None or abs(value) <= EXACT for value in values)
        number = float if exact else int
        values = [float("nan") if value is None else number(value) for value in values]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = [_text_or_number(value) for value in values]
    return compact(values)  # type: ignore[no-any-return]


def _text_or_number(value: str | None) -> str | int | float | None:
    """Return a number among texts as a number: an output may be either."""
    if value is None or not _is_number(value):
        return value
    return int(value) if value.strip().lstrip("+-").isdigit() else float(value)


# --- arrays ---------------------------------------------------------------------------------------


def _array(path: str) -> Any:
    try:
        array = np.load(_file(path), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        reason = "it holds Python objects" if "pickle" in str(error) else one_line(error)
        raise ArgumentError(path, f"cannot be read: {shortened(reason, 150)}") from None
    if array.ndim == 0 or array.size == 0:
        raise ArgumentError(path, "is empty" if array.ndim else "holds one number only")
    return array
