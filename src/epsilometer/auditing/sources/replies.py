"""A program's answer to a request, as defined in ``docs/worker.md``."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.serving.errors import counted, shortened
from epsilometer.auditing.serving.outputs import Failure, compact, from_json
from epsilometer.errors import one_line

_BARE = re.compile(r"(?<![\w.])([+-]?)(nan|inf(?:inity)?)(?![\w.])", re.IGNORECASE)
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ERROR = re.compile(rb'\{\s*"error"\s*:')
_LINE = 1 << 24  # bytes of the longest line


class ReplyError(Exception):
    """A reply without outputs."""


class Reply:
    """Prints of a program so far in answer to one request.

    ``data`` is all that arrived; ``complete`` tells whether all is there; ``problem`` is an error
    in it.
    """

    def __init__(self, size: int, failures: bool) -> None:
        self.size, self.failures = size, failures
        self.complete = False
        self.problem = ""
        self.data = bytearray()
        self._lines = 0  # ends of lines so far
        self._last = 0  # position of the end of the last complete line
        self._raw: tuple[np.dtype[Any], int] | None = None  # type and columns; 0 for plain numbers
        self._start = self._needed = 0  # of raw outputs: position, and number of bytes

    def feed(self, chunk: bytes) -> None:
        """Append bytes."""
        start = len(self.data)
        self.data += chunk
        if self._raw is None:
            self._lines += chunk.count(b"\n")
            if (end := chunk.rfind(b"\n")) >= 0:
                self._last = start + end + 1
            if self._lines and self.data.startswith(b"{"):
                self._read_header()
        if self._raw is None:
            self._check_lines()
            return
        received = len(self.data) - self._start
        self.complete = received == self._needed
        if received > self._needed:
            self.problem = f"sent more than the {self._needed} bytes of {self.size} raw outputs"

    def end(self) -> None:
        """Complete the reply; its last line needs no end."""
        if self._raw is None and len(self.data) > self._last:
            self.feed(b"\n")

    def _read_header(self) -> None:
        line = bytes(self.data[: self.data.index(b"\n")])
        if b'"raw"' not in line:
            return
        with suppress(ValueError):
            header = json.loads(line)
            if not {"raw"} <= set(header) <= {"raw", "columns"}:
                return
            columns, kind = header.get("columns", 0), header["raw"]
            if kind not in ("float64", "int64"):
                self.problem = f"announces raw {shown(kind)}; known are float64 and int64"
            elif type(columns) is not int or ("columns" in header and columns < 1):
                self.problem = f"announces {shown(columns)} columns"
            else:
                self._raw = np.dtype(f"<{kind[0]}8"), columns
                self._start, self._needed = len(line) + 1, 8 * self.size * max(1, columns)

    def _check_lines(self) -> None:
        start = self.data.rfind(b"\n", 0, max(0, self._last - 1)) + 1
        if self._lines and _ERROR.match(self.data, start):
            last = bytes(self.data[start : self._last])
            if (error := _error(last)) and (error[1] or not self.failures):
                self.problem = shortened(error[0], 300)
                return
        if self._lines > self.size or (self._lines == self.size and self._last < len(self.data)):
            extra = bytes(self.data).split(b"\n")[self.size]
            expected = counted(self.size, "output")
            self.problem = f"printed more than the {expected} asked for: {shown(extra)}"
        elif len(self.data) - self._last > _LINE:
            self.problem = f"line {self._lines + 1} does not end: {shown(self.data[:99])}"
        self.complete = self._lines == self.size

    def so_far(self) -> str:
        """Return a text: how much arrived."""
        if self._raw is not None:
            received = len(self.data) - self._start
            return f"after {received} of {self._needed} bytes of raw outputs"
        return f"after {self._lines} of {counted(self.size, 'output')}"

    def missing(self, timeout: float) -> str:
        """Return the error of a program that prints no more."""
        hint = ""
        if not self.data:
            hint = " (does it flush its output?)"
        elif self._raw is None and self._last < len(self.data):
            hint = f", and a line without an end: {shown(self.data[self._last :])}"
        return f"hangs {self.so_far()}, for {timeout:g} s a batch{hint}"

    def message(self) -> dict[str, Any]:
        """Return the one object of a reply without outputs."""
        with suppress(ValueError):
            if isinstance(reply := json.loads(bytes(self.data)), dict):
                return reply
        return {}

    def outputs(self) -> NDArray[Any] | list[Any]:
        """Return the outputs of a complete reply, or raise `ReplyError`."""
        if self._raw is not None:
            kind, columns = self._raw
            flat = np.frombuffer(self.data, kind, offset=self._start).copy()
            return flat.reshape(self.size, columns) if columns else flat
        data = bytes(self.data)
        read = _vectors if data.startswith(b"[") else _numbers
        if (numbers := read(data, self.size)) is not None:
            return numbers
        lines = data.split(b"\n")[: self.size]
        values = [self._value(line, i) for i, line in enumerate(lines, start=1)]
        return compact(values)  # type: ignore[no-any-return]

    def _value(self, line: bytes, number: int) -> Any:
        text = line.strip()
        try:
            value = json.loads(text, object_hook=from_json)
        except (ValueError, RecursionError):
            value = _unusual(text, f"line {number} of {self.size} is")
        if type(value) is dict and (error := _error(text)):
            if not self.failures:
                raise ReplyError(shortened(error[0], 300))
            return Failure(error[0], str(value.get("message", "")))
        return value


def _vectors(data: bytes, size: int) -> NDArray[Any] | None:
    """Return lines that all are arrays of as many plain numbers; None otherwise."""
    if data.count(b"[") != size or data.count(b"]\n[") != size - 1 or data[-2:] != b"]\n":
        return None
    commas = {line.count(b",") for line in data.split(b"\n")[:-1]}
    if len(commas) != 1:
        return None
    columns = commas.pop() + 1
    entries = data.replace(b", ", b"\n").replace(b",", b"\n").translate(None, b"[]")
    numbers = _numbers(entries, size * columns, mixed=True)
    return None if numbers is None else numbers.reshape(size, columns)


def _numbers(data: bytes, size: int, mixed: bool = False) -> NDArray[Any] | None:
    """Return lines that all are plain numbers, integers where all are; None otherwise."""
    left = data.translate(None, b"0123456789-\n\r")
    fields = data.split()
    if len(fields) != size or data.count(b"\n") != size or max(map(len, fields)) > 64:
        return None
    try:
        if not left:
            return np.array(fields).astype(np.int64)
        if not left.translate(None, b".eE+nafiNIty"):
            if not mixed and any(map(bytes.isdigit, fields)):  # 1 is not 1.0
                return None
            return np.array(fields).astype(np.float64)
    except (ValueError, OverflowError):  # no numbers after all, or large ones
        pass
    return None


def _unusual(text: bytes, subject: str) -> Any:
    """Return an output as C or awk prints it, but not JSON: .5, nan, [inf, 1]."""
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip(b"+-").isdigit() else float(text)
    if b'"' not in text:
        spellings = {"nan": "NaN", "inf": "Infinity"}

        def as_json(match: re.Match[str]) -> str:
            word = spellings[match[2][:3].lower()]
            return word if word == "NaN" else match[1].replace("+", "") + word

        with suppress(ValueError, RecursionError):
            return json.loads(_BARE.sub(as_json, text.decode()))
    if not text:
        raise ReplyError(f"{subject} empty")
    hint = "; words are written in double quotes" if text.isalpha() else ""
    raise ReplyError(f"{subject} not an output in JSON: {shown(text)}{hint}")


def _error(line: bytes) -> tuple[str, bool] | None:
    """Return the message of a line ``{"error": ...}``, and whether it is fatal."""
    with suppress(ValueError):
        value = json.loads(line)
        keys = set(value) if isinstance(value, dict) else set()
        if "error" in keys and keys <= {"error", "message", "fatal"}:
            return one_line(value["error"]), bool(value.get("fatal"))
    return None


def shown(line: object) -> str:
    """Return a wrong line in short, for an error."""
    text = bytes(line).decode(errors="replace") if isinstance(line, bytes | bytearray) else line
    return repr(shortened(one_line(text)))
