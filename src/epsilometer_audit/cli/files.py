"""The file of a verdict: it is checked before any draw that it can be written, in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from epsilometer.errors import ArgumentError, one_line


def writable(option: str, name: str, read: Sequence[str]) -> Path:
    """Return the file to write, with links followed; it is none of those that are ``read``."""
    path = Path(name)
    with _written(option, name):
        if path.is_dir():
            raise ArgumentError(option, f"{name!r} is a folder; name a file in it")
        if path.is_file() and any(Path(f).exists() and path.samefile(f) for f in read):
            raise ArgumentError(option, f"{name!r} is an audited file; name another file")
        if path.is_file() or not path.exists():  # else a device or pipe, written as it is
            path = path.resolve()
            _part(path).touch()
            _part(path).unlink()
    return path


def write(option: str, path: Path, text: str) -> None:
    """Write a text in one step; raise `ArgumentError` about its option if that is impossible."""
    data = text.encode("utf-8", "backslashreplace")
    with _written(option, path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        try:
            _part(path).write_bytes(data)
            _part(path).replace(path)
        finally:
            _part(path).unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f".epsilometer-{os.getpid()}.part")


@contextmanager
def _written(option: str, path: object) -> Iterator[None]:
    """Name the option in an error of a file, such as a name that is too long."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # links in a circle
        reason = getattr(error, "strerror", None) or one_line(error)
        message = f"{str(path)[:200]!r} cannot be written: {reason}"
        raise ArgumentError(option, message) from None
