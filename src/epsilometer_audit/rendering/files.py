"""The files of a verdict: their names are checked before any draw, and each is written at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from epsilometer.errors import ArgumentError, one_line
from epsilometer_audit.rendering.junit import xml_of
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.verdict import Verdict

_PAGE, _VERDICT = "index.html", "verdict.json"


class Files:
    """JSON, JUnit's XML and a folder with a page, each optional.

    None of them may be an audited file, as ``read`` names these. Raise `ArgumentError` about
    ``json``, ``junit`` or ``output`` if it cannot be written, or the folder holds other files.
    """

    def __init__(self, named: Mapping[str, str], folder: str | None, read: Sequence[str]) -> None:
        self._targets = targets(named, read)
        self._folder = None if folder is None else _folder(folder)

    def write(self, verdict: Verdict, claim: AnyClaim) -> None:
        """Make all texts, then write each file at once; raise `ArgumentError` if one cannot be."""
        texts: list[tuple[str, Path, str]] = []
        if self._folder is not None:
            from epsilometer_audit.rendering.page import html_of

            texts.append(("output", self._folder / _PAGE, html_of((verdict, claim))))
            texts.append(("output", self._folder / _VERDICT, verdict.to_json() + "\n"))
        for option, path in self._targets.items():
            text = verdict.to_json() + "\n" if option == "json" else xml_of(verdict)
            texts.append((option, path, text))
        for option, path, text in texts:
            write(option, path, text)


def targets(named: Mapping[str, str], read: Sequence[str]) -> dict[str, Path]:
    """Return the file to write for each option, with links followed; a device or pipe as it is."""
    files: dict[str, Path] = {}
    for option, name in named.items():
        path = _target(option, name, read)
        for other, same in files.items():
            if path == same:
                raise ArgumentError(option, f"names the same file as --{other}")
        files[option] = path
    return files


def write(option: str, path: Path, text: str) -> None:
    """Write a text in one step; raise `ArgumentError` about its option if that is impossible."""
    try:
        if option == "output":
            path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8", "backslashreplace")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or pipe
            return
        part = path.with_name(f".epsilometer-{os.getpid()}.part")
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(option, path, error) from None


def _target(option: str, name: str, read: Sequence[str]) -> Path:
    path = Path(name)
    try:
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
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        raise _unwritable(option, path, error) from None
    return path


def _folder(name: str) -> Path:
    """Return the folder to write; an existing one must be empty, or hold an earlier verdict."""
    try:
        import jinja2  # noqa: F401 - an error before any draw
        import matplotlib.figure  # noqa: F401
    except ImportError:
        message = "needs jinja2 and matplotlib for the page: pip install jinja2 matplotlib"
        raise ArgumentError("output", message) from None
    folder = Path(name)
    try:
        parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not parent.is_dir():
            raise ArgumentError("output", f"{name!r}: {str(parent)!r} is a file; name a folder")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise ArgumentError("output", f"{name!r}: {str(parent)!r} may not be written")
        files = sorted(path.name for path in folder.iterdir()) if parent == folder else []
        if files and not _is_ours(folder, files):
            other = next((file for file in files if file not in {_PAGE, _VERDICT}), files[0])
            message = f"{name!r} holds other things ({other!r}); name a new folder or an empty one"
            raise ArgumentError("output", message)
    except OSError as error:
        raise _unwritable("output", folder, error) from None
    return folder


def _is_ours(folder: Path, files: Sequence[str]) -> bool:
    from epsilometer_audit.rendering.page import MARK

    page = folder / _PAGE
    ours = set(files) <= {_PAGE, _VERDICT} and page.is_file()
    return ours and MARK.encode() in page.read_bytes()[:1000]


def _unwritable(option: str, path: Path, error: BaseException) -> ArgumentError:
    reason = getattr(error, "strerror", None) or one_line(error)
    return ArgumentError(option, f"{str(path)[:200]!r} cannot be written: {reason}")
