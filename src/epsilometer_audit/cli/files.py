"""Files of verdicts: their names are checked before any draw, and each is written at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from epsilometer.errors import ArgumentError, one_line


def targets(named: Mapping[str, str], read: Sequence[str]) -> dict[str, Path]:
    """Return the file to write for each option, with links followed; a device or pipe as it is."""
    files: dict[str, Path] = {}
    for option, name in named.items():
        with _written(option, name):
            path = _target(option, name, read)
        for other, same in files.items():
            if path == same:
                raise ArgumentError(option, f"names the same file as --{other}")
        files[option] = path
    return files


def write(option: str, path: Path, text: str) -> None:
    """Write a text in one step; raise `ArgumentError` about its option if that is impossible."""
    data = text.encode("utf-8", "backslashreplace")
    with _written(option, path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or pipe
            return
        part = path.with_name(f".epsilometer-{os.getpid()}.part")
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _target(option: str, name: str, read: Sequence[str]) -> Path:
    path = Path(name)
    if path.is_dir():
        raise ArgumentError(option, f"{name!r} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        return path
    if any(Path(other).exists() and path.exists() and path.samefile(other) for other in read):
        raise ArgumentError(option, f"{name!r} is an audited file; name another file")
    path = path.resolve()
    if not path.parent.is_dir():
        raise ArgumentError(option, f"{name!r}: there is no folder {str(path.parent)!r}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ArgumentError(option, f"{name!r}: nothing may be written in its folder")
    return path


@contextmanager
def _written(option: str, path: object) -> Iterator[None]:
    """Name the option in an error of a file, such as a name that is too long."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # links in a circle
        reason = getattr(error, "strerror", None) or one_line(error)
        message = f"{str(path)[:200]!r} cannot be written: {reason}"
        raise ArgumentError(option, message) from None
