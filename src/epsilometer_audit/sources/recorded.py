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
from epsilometer_audit.outcomes.reals import EXACT, NUMBER, number_of
from epsilometer_audit.outcomes.shapes import recorded_pair, same_shape
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.errors import counted, shortened
from epsilometer_audit.serving.outputs import Plain, compact, decoded, of_array
from epsilometer_audit.sources.callables import Outputs

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = (".csv", ".parquet", ".npy")
_INDEX = re.compile(r"__index_level_\d+__")
_PLAIN = r"^\s*([+-]?(0(\D|$)|[^0+-])|[+-]\D)"  # without leading zeros
_DIGITS = 15  # that a real holds
_TRUTHS = {"true": True, "false": False, "True": True, "False": False, None: None}
_SHOWN = 12


def read(paths: Sequence[str], columns: Sequence[str] | None = None) -> tuple[Outputs, Outputs]:
    """Return the outputs on x and on x' that files hold.

    They are one file with two columns (npy: two rows or two columns), or two files with a column
    each, or with several: vectors, in columns of equal names. A CSV file has a header or none.
    ``columns`` names the two columns of one file, or those to take from each of two. Raise
    `ArgumentError` if a file cannot be read or has other columns.

    Both sides of a column are read alike: a missing field is NaN if both hold nothing but numbers,
    None otherwise. Numbers are read to the last digit, by their values: 1 and 1.0 are one number.
    A number with leading zeros is a text, unless all are filled up to one width.
    """
    if len(paths) == 1:
        pair = _two(paths[0], columns, " of a single file", sides=True)
        if len(pair) == 2:
            on_x, on_x_prime = _values(list(pair.values()), paths[0])
            return on_x, on_x_prime
        hint = "name a second file" if len(pair) == 1 else "choose two of them"
        if len(pair) == 1 and ";" in next(iter(pair)):
            hint = "separate them by commas"
        message = f"has {_listed(pair)}; outputs on x and on x' are wanted: {hint}"
        raise ArgumentError(paths[0], message)
    if len(paths) != 2:
        raise ArgumentError("outputs", f"takes one file or two, not {len(paths)}")
    first, second = paths
    if _file(first).samefile(_file(second)):
        raise ArgumentError(first, "is given twice; give one file for x and another for x'")
    x, x_prime = (_columns(path, columns) for path in paths)
    if len(x) != len(x_prime):
        raise ArgumentError(second, f"has {_listed(x_prime)}, but {first} has {_listed(x)}")
    if len(x) > 1:
        for other in set(x_prime) - set(x):
            raise ArgumentError(second, f"has a column {other!r} that {first} does not have")
        x_prime = {name: x_prime[name] for name in x}
    pairs = [_values(list(pair), first) for pair in zip(x.values(), x_prime.values(), strict=True)]
    if len(pairs) > 1:
        pairs = [list(recorded_pair(*pair)[:2]) for pair in pairs]
    on_x, on_x_prime = map(_joined, zip(*pairs, strict=True))
    return on_x, on_x_prime


def table(path: str) -> tuple[dict[str, str], list[Any]]:
    """Return the types of a CSV or Parquet table's columns by name, and its rows as lists.

    Raise `ArgumentError` if it is not such a table, or is empty.
    """
    if Path(path).suffix == ".npy":
        raise ArgumentError(path, "must be a table, in CSV or Parquet")
    columns = {}
    for name, column in _columns(path, None).items():
        values = _values([column], path)[0]
        columns[name] = values if isinstance(values, np.ndarray) else np.fromiter(values, object)
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return {name: values.dtype.name for name, values in columns.items()}, [list(r) for r in rows]


def digest(paths: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 of each file."""
    return {str(path): sha256(_there(path)) for path in paths}


def _two(
    path: str, names: Sequence[str] | None, which: str, *, sides: bool = False
) -> dict[str, Any]:
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
        message = f"has {_listed(pair)}; a score and inclusion of each canary are wanted"
        raise ArgumentError(path, f"{message}: name them, --columns SCORE INCLUDED")
    scores, included = (_values([column], path)[0] for column in pair.values())
    return scores, included


def _listed(columns: Mapping[str, Any]) -> str:
    names = [name or "''" for name in columns]
    shown = [*names[:_SHOWN], *["..."] * (len(names) > _SHOWN)]
    return f"{counted(len(names), 'column')} ({', '.join(shown)})"


def _file(path: str) -> Path:
    """Return the path of a file that is there and of a known kind."""
    file = _there(path)
    if file.suffix not in _ENDINGS:
        known_kinds = ", ".join(_ENDINGS)
        raise ArgumentError(str(path), f"is of an unknown kind; its name must end in {known_kinds}")
    return file


def _there(path: str) -> Path:
    """Return the path of a file that is there."""
    file = Path(path)
    try:
        is_folder, is_file = file.is_dir(), file.is_file()
    except OSError as error:  # its name is too long
        raise ArgumentError(str(path)[:60], f"cannot be read: {error.strerror}") from None
    if is_folder:
        raise ArgumentError(str(path), "is a folder")
    if not is_file:
        known = [entry.name for entry in file.parent.glob("*") if entry.suffix in _ENDINGS]
        near = suggest(file.name, known) if known else ""
        near = near if file.parent.is_dir() else ", nor is its folder"
        raise ArgumentError(str(path), f"is not there{near}")
    return file


def _columns(path: str, names: Sequence[str] | None, *, sides: bool = False) -> dict[str, Any]:
    """Return the columns of a file by name; of an npy file by number."""
    file = _file(path)
    if file.suffix == ".npy":
        if names is not None:
            raise ArgumentError("columns", f"have no names in {path}")
        array = _array(path)
        if array.ndim > 2:
            raise ArgumentError(path, f"has shape {array.shape}; outputs are (n,) or (n, d)")
        if array.ndim == 1:
            return {"outputs": array}
        return {str(i): of_array(each) for i, each in enumerate(array.T)}
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
    columns = {name: table.column(name) for name in (known if names is None else names)}
    for name, column in columns.items() if sides and len(columns) == 2 else ():
        missing = np.asarray(column.is_null())
        first = len(missing) - column.null_count
        if column.null_count > 0 and missing[first:].all():  # these fields are no outcomes
            message = f"ends after {first} of {len(missing)} rows in column {name!r}; write "
            raise ArgumentError(path, f"{message}missing values as nan, or two files")
    return columns


def _joined(columns: Sequence[Outputs]) -> Outputs:
    """Return one column, or vectors of the entries of several."""
    if len(columns) == 1:
        return columns[0]
    if (arrays := same_shape(columns)) is not None:
        return np.column_stack(arrays)
    plain = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns]
    return Plain(zip(*plain, strict=True))


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
    unnamed = [f"f{i}" for i in range(len(first))]  # as PyArrow calls them
    convert = reader.ConvertOptions(
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,
        timestamp_parsers=[],
        column_types=dict.fromkeys(first, pa.string()) | dict.fromkeys(unnamed, pa.string()),
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
    if any(not text.strip() or NUMBER.fullmatch(text.strip()) for text in texts):
        return False
    below = [column.slice(1).to_pylist() for column in table.columns]
    return not any(text in values for text, values in zip(first, below, strict=True))


def _parquet(file: Path, path: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_table(file)
    except (pa.ArrowException, OSError) as error:
        message = shortened(one_line(error), 150)
        raise ArgumentError(path, f"cannot be read: {message}") from None


def _values(columns: Sequence[Any], path: str) -> list[Outputs]:
    """Return the values of columns that are compared: arrays of numbers, or plain values.

    They are read alike, as what a column has in common is no outcome.
    """
    import pyarrow as pa

    read = [_simple(each) if isinstance(each, pa.ChunkedArray) else each for each in columns]
    tables = [each for each in read if isinstance(each, pa.ChunkedArray)]
    texts = [each for each in tables if each.type == pa.string()]
    if any(each.null_count == len(each) and not pa.types.is_floating(each.type) for each in tables):
        raise ArgumentError(path, "has a column of nothing but missing fields")
    convert: Callable[[pa.ChunkedArray], Outputs] = _mixed
    truths = all(set(_TRUTHS).issuperset(each.unique().to_pylist()) for each in texts)
    if texts and len(texts) == len(tables) and truths:
        convert = lambda column: compact(list(map(_TRUTHS.get, column.to_pylist())))  # noqa: E731
    elif all(map(_are_numbers, tables)) and not _are_padded(texts, path):
        convert = _numbers
    return [convert(each) if isinstance(each, pa.ChunkedArray) else each for each in read]


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

    if column.type == pa.string():
        return _all(column, rf"(?i)^\s*({NUMBER.pattern})\s*$")
    complete = pa.types.is_boolean(column.type) and column.null_count == 0
    return bool(complete or pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _all(texts: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether all texts match a pattern."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _are_padded(columns: Sequence[pa.ChunkedArray], path: str) -> bool:
    """Tell whether there are leading zeros that are not those of a format of all columns."""
    if all(_all(column, _PLAIN) for column in columns):
        return False
    sides = [set(column.drop_null().unique().to_pylist()) for column in columns]
    if _is_filled(set().union(*sides)):
        return False
    if all(map(_is_filled, sides)):
        message = "has numbers with leading zeros of which a side has others; write both alike"
        raise ArgumentError(path, message)
    return True


def _is_filled(texts: set[str]) -> bool:
    """Tell whether numbers are filled up with zeros to one width, or not at all."""
    widths = {len(text) for text in texts if not re.match(_PLAIN, text)}
    return not widths or max(widths) == min(map(len, texts))


def _numbers(column: pa.ChunkedArray) -> Outputs:
    """Return numbers: an array where that loses nothing. A missing one is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == pa.string():
        whole = column.null_count == 0 and _all(column, r"^[+-]?\d+$")
        short = pc.max(pc.utf8_length(column)).as_py() <= _DIGITS and not whole
        with suppress(pa.ArrowInvalid):
            if whole or (short and _all(column, r"^[^eE]*$")):
                return np.asarray(column.cast(pa.int64() if whole else pa.float64()).to_numpy())
    elif not (pa.types.is_integer(column.type) and column.null_count > 0):
        return np.asarray(column.to_numpy())
    read = number_of if column.type == pa.string() else int
    values = [math.nan if value is None else read(value) for value in column.to_pylist()]
    exact = all(type(v) is float or (type(v) is int and abs(v) <= EXACT) for v in values)
    return np.array(values, np.float64) if exact else Plain(values)


def _mixed(column: pa.ChunkedArray) -> Outputs:
    """Return texts, numbers without leading zeros and None; bytes in UTF-8 are texts."""
    values = column.to_pylist()
    for i, value in enumerate(values):
        text = decoded(value) if isinstance(value, bytes) else value
        if isinstance(text, str) and NUMBER.fullmatch(text.strip()) and re.match(_PLAIN, text):
            text = number_of(text)
        values[i] = text
    compacted = compact(values)
    return Plain(compacted) if isinstance(compacted, list) else compacted  # not types of their own


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
