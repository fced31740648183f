"""Locks: the packages of an environment, each with its version; found by name, and checked.

A lock is a requirements file of pip. Only its statements count: an edited comment changes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from epsilometer.errors import ConfigError, suggest

_PINNED = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w., -]*\])?\s*==\s*[\w.!+-]+(\s*;[^#]+?)?( --hash=\S+)*"
)
_OPTIONS = (
    *("--only-binary", "--no-binary", "--prefer-binary"),
    *("--index-url", "--extra-index-url", "--no-index", "--require-hashes"),
)


@dataclass(frozen=True)
class Lock:
    """The statements of a requirements file, and the name of the file."""

    name: str
    statements: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Short, of the statements."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()[:12]

    @property
    def key(self) -> str:
        """The name, in paths, of the environment that is made from it."""
        return f"{self.name}~{self.digest}"


def find_lock(name: str, folders: Sequence[Path]) -> Lock:
    """Return the lock of a name from the first folder that has it.

    Raises
    ------
    KeyError
        If there is none.
    ConfigError
        If the file holds what is not pinned.
    """
    known = {path.stem: path for folder in reversed(folders) for path in folder.glob("*.txt")}
    if name not in known:
        raise KeyError(f"unknown environment {name!r}{suggest(name, known)}")
    return _read(name, known[name])


def _read(name: str, path: Path) -> Lock:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"cannot be read: {error}") from None
    joined = re.sub(r"\\\n", " ", re.sub(r"(^|\s)#.*", "", text))
    statements = tuple(" ".join(line.split()) for line in joined.splitlines() if line.strip())
    for statement in statements:
        if statement.startswith("-"):
            option = re.split(r"[ =]", statement)[0]
            if option not in _OPTIONS:
                raise ConfigError(str(path), option, f"is not supported{suggest(option, _OPTIONS)}")
        elif not _PINNED.fullmatch(statement):
            message = "is not pinned; write name==version"
            raise ConfigError(str(path), statement[:60], message)
    return Lock(name, statements)
