"""Recorded outputs from files: CSV, Parquet and npy, of two columns or one file for each input."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.errors import ArgumentError, one_line, suggest
from epsilometer_audit.outputs.callables import Outputs
from epsilometer_audit.outputs.reals import EXACT, NUMBER, Array, number_of
from epsilometer_audit.outputs.shapes import listing, recorded_pair, same_shape
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.errors import counted, shortened
from epsilometer_audit.serving.outputs import Plain, compact, decoded, of_array

_ENDINGS = (".csv", ".parquet", ".npy")
_INDEX = re.compile(r"__index_level_\d+__")
_PLAIN_NUMBER = re.compile(  # without leading zeros
    rf"(?i)(?=\s*([+-]?(0(\D|$)|[^0+-])|[+-]\D))\s*({NUMBER.pattern})\s*"
)
_WHOLE = re.compile(r"[+-]?\d+")
_TEXTS = {str, type(None)}
_NUMBERS = {int, float, type(None)}
_DIGITS = sys.float_info.dig  # that a real holds
_EMPTY_TEXT = re.compile(r'(?<![^,\r\n])""(?=[,\r\n]|$)')  # a field, or within a longer text
_MARK = "\ue000\ue001"  # in its place, as csv tells no empty text from a missing one
_TRUTHS = {"true": True, "false": False, "True": True, "False": False, None: None}


@dataclass(frozen=True)
class _Column:
    """A column of a table: numbers or truths, none missing, or values, None where one is."""

    values: Array | list[Any]


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
        if not isinstance(column, _Column) or not isinstance(column.values, list):
            continue
        rows = len(column.values)
        missing = column.values.count(None)
        end = rows - missing
        if missing and column.values[end:] == [None] * missing:  # these fields are no outcomes
            message = f"ends after {end} of {rows} rows in column {name!r}; write "
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
    if len(x) == len(x_prime) == 1:
        on_x, on_x_prime = _values([*x.values(), *x_prime.values()])
        return on_x, on_x_prime
    if set(x) != set(x_prime):
        raise ArgumentError(path_prime, f"has {_listed(x_prime)}, but {path} has {_listed(x)}")
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
    file = _file(path)
    if names is not None and many not in (None, len(names)):
        raise ArgumentError("columns", f"must be {many} of a single file, got {len(names)}")
    if names is not None and len(set(names)) < len(names):
        raise ArgumentError("columns", f"names {names[0]!r} twice")
    try:
        named = _READERS[file.suffix](file, names)
    except ImportError:
        message = "needs PyArrow: pip install 'epsilometer[parquet]'; or write a CSV file"
        raise ArgumentError(path, message) from None
    except (csv.Error, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise ArgumentError(path, f"cannot be read: {shortened(one_line(error), 150)}") from None
    known = [name for name, _ in named if not _INDEX.fullmatch(name)]
    for name in names or ():
        if name not in known:
            raise ArgumentError(path, f"has no column {name!r}{suggest(name, known)}")
    for name in known:
        if known.count(name) > 1:
            raise ArgumentError(path, f"has two columns {name!r}")
    columns = dict(named)
    first = columns[known[0]] if known else []
    if len(first.values if isinstance(first, _Column) else first) == 0:
        raise ArgumentError(path, "is empty")
    return {name: columns[name] for name in names or known}


def _array(file: Path, _: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the columns of an array by number; two rows are two columns."""
    array = np.load(file, allow_pickle=False)
    if array.ndim < 2:
        array = array.reshape(1, -1)
    elif len(array) != 2:
        array = array.swapaxes(0, 1)
    return [(str(i), of_array(np.ascontiguousarray(row))) for i, row in enumerate(array)]


def _parquet(file: Path, _: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the columns of a table; dates, times and decimals as texts, without categories."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    table = parquet.read_table(file)
    named = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
            column = column.cast(kind)  # noqa: PLW2901
        if pa.types.is_temporal(kind):  # in units that are those of the column
            texts = pc.replace_substring_regex(column.cast(pa.string()), r"(\.\d*?)0+$", r"\1")
            values = texts.to_pylist()
        elif pa.types.is_decimal(kind):
            values = column.cast(pa.string()).to_pylist()
        elif column.null_count == 0 and pa.types.is_primitive(kind):
            values = column.to_numpy()
        else:
            values = column.to_pylist()
        named.append((name, _Column(values)))
    return named


def _csv(file: Path, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Return the columns of texts, by name or f0, f1 and so on; a missing one is None."""
    text = file.read_bytes().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").decode()
    if not text:
        return []
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = list(csv.reader(io.StringIO(_EMPTY_TEXT.sub(_MARK, text), newline="")))
    width = len(rows[0])
    columns: list[list[str | None]] = [[] for _ in range(width)]
    for number, row in enumerate(rows, 1):
        if not row and width > 1:  # an empty line
            continue
        fields = row or [""]
        if len(fields) != width:
            have = counted(len(fields), "field")
            raise ValueError(f"row {number} has {have}, and the first has {width}")
        for column, field in zip(columns, fields, strict=True):
            column.append(_unmarked(field))
    first = [text or "" for text, *_ in columns]
    is_header = bool(set(names or ()) & set(first)) or _is_header(first, columns)
    if not is_header:
        return [(f"f{i}", _Column(column)) for i, column in enumerate(columns)]
    return [(name, _Column(column[1:])) for name, column in zip(first, columns, strict=True)]


def _unmarked(field: str) -> str | None:
    """Return the text of a field; None if it is missing."""
    if not field:
        return None
    if _MARK in field:
        return "" if field == _MARK else field.replace(_MARK, '"')
    return field


def _vectors(columns: Sequence[Outputs]) -> Outputs:
    """Return vectors of the entries of columns."""
    arrays = same_shape(columns)
    if arrays is not None:
        return np.column_stack(arrays)
    return Plain(zip(*map(listing, columns), strict=True))


def _is_header(first: list[str], columns: Sequence[list[str | None]]) -> bool:
    """Tell whether the first row names the columns: texts, of which none comes again below."""
    names = first
    if first[0] == "" and len(first) > 2:  # the index of a data frame
        names = first[1:]
    for text in map(str.strip, names):
        if not text or NUMBER.fullmatch(text):
            return False
    for text, column in zip(first, columns, strict=True):
        if (text or None) in column[1:]:
            return False
    return True


_READERS: dict[str, Callable[[Path, Sequence[str] | None], list[tuple[str, Any]]]] = {
    ".csv": _csv,
    ".npy": _array,
    ".parquet": _parquet,
}


def _values(columns: Sequence[Any]) -> list[Outputs]:
    """Return the values of columns, all read alike: what these have in common is no outcome."""
    of_tables = [column.values for column in columns if isinstance(column, _Column)]
    convert: Callable[[Any], Outputs] = _mixed
    if of_tables and all(map(_are_truths, of_tables)):
        convert = _truths
    elif all(map(_are_numbers, of_tables)):
        convert = _numbers
    return [convert(column.values) if isinstance(column, _Column) else column for column in columns]


def _are_truths(values: Array | list[Any]) -> bool:
    if not isinstance(values, list) or not set(map(type, values)) <= _TEXTS:
        return False
    return set(values) <= set(_TRUTHS)


def _truths(texts: list[str | None]) -> Outputs:
    return compact([_TRUTHS[text] for text in texts])  # type: ignore[no-any-return]


def _are_numbers(values: Array | list[Any]) -> bool:
    """Tell whether all are numbers, texts of numbers without leading zeros, or missing."""
    if not isinstance(values, list):
        return True
    for value in values:
        if isinstance(value, str):
            if not _PLAIN_NUMBER.fullmatch(value):
                return False
        elif type(value) not in _NUMBERS:
            return False
    return True


def _numbers(values: Array | list[Any]) -> Outputs:
    """Return numbers: an array where that loses nothing. A missing one is NaN."""
    if not isinstance(values, list):
        return values
    kinds = set(map(type, values))
    if kinds == {str} and all(map(_WHOLE.fullmatch, values)):
        with suppress(OverflowError, ValueError):  # of more digits than Python reads
            return np.array([int(text) for text in values], np.int64)
    with suppress(ValueError):
        if kinds <= _TEXTS and not any(map(_is_long, values)):
            return np.array([math.nan if text is None else float(text) for text in values])
    numbers = []
    are_exact = True
    for value in values:
        number = value
        if value is None:
            number = math.nan
        elif isinstance(value, str):
            number = number_of(value)
        if type(number) is not float:
            are_exact = are_exact and type(number) is int and abs(number) <= EXACT
        numbers.append(number)
    return np.array(numbers, np.float64) if are_exact else Plain(numbers)


def _is_long(text: str | None) -> bool:
    """Tell whether a real may not hold the number of a text."""
    return text is not None and (len(text) > _DIGITS or "e" in text or "E" in text)


def _mixed(values: Array | list[Any]) -> Outputs:
    """Return texts, numbers without leading zeros and None; bytes in UTF-8 are texts."""
    mixed = []
    for value in values if isinstance(values, list) else values.tolist():
        text = value
        if isinstance(value, bytes):
            text = decoded(value)
        if isinstance(text, str) and _PLAIN_NUMBER.fullmatch(text):
            text = number_of(text)
        mixed.append(text)
    return compact(mixed)  # type: ignore[no-any-return]
