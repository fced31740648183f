"""The content of a source: digests of files, versions of packages."""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import Misuse
from .loading import check_file, parsed
from .modules import ModuleFolder, is_library


def source_digests(spec: str, folder: str | os.PathLike[str] = ".") -> dict[str, str]:
    """Return the digests of a source, without running it, as `file_digests` does."""
    module, _, is_file = parsed(spec)
    base = Path(folder).resolve()
    if is_file:
        check_file(base / module, module)
        return file_digests((base / module).resolve())
    top, *inner = module.split(".")
    module_spec = None
    with ModuleFolder(base).entered(), contextlib.suppress(ValueError):
        module_spec = importlib.util.find_spec(top)
    if module_spec is None:
        raise Misuse(module, f"cannot be imported: no module {top!r}")
    home = next(iter(module_spec.submodule_search_locations or ()), None)
    file: Path | None = Path(module_spec.origin or "")
    root = Path(module_spec.origin or "").parent
    if home:
        file = _module_file(Path(home), inner)
        root = Path(home).parent
    if file is None or not file.is_file() or is_library(str(file)):
        return {"python": platform.python_version(), **_version(top)}
    return file_digests(file.resolve(), root.resolve())


def file_digests(file: Path, root: Path | None = None) -> dict[str, str]:
    """Return SHA-256 of a Python file and its imports from its tree, and versions of packages."""
    root = root or file.parent
    digests: dict[str, str] = {}
    names: set[str] = set()
    queue = [file]
    while queue:
        path = queue.pop()
        key = path.relative_to(root).as_posix()
        if key in digests:
            continue
        digests[key] = sha256(path)
        for module, level in _imports(path.read_bytes()):
            start = path.parents[min(level, len(path.parents)) - 1] if level else root
            parts = module.split(".")
            reached = [_module_file(start, parts[:i]) for i in range(1, len(parts) + 1)]
            queue += [source for source in reached if source and root in source.parents]
            if not level and not any(reached):
                names.add(parts[0])
    digests = {**dict(sorted(digests.items())), "python": platform.python_version()}
    for name in sorted(names):
        digests.update(_version(name))
    return digests


def sha256(file: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _module_file(folder: Path, parts: Sequence[str]) -> Path | None:
    path = folder.joinpath(*parts)
    for candidate in (path / "__init__.py", path.with_name(path.name + ".py")):
        if candidate.is_file() and (is_library(str(folder)) or not is_library(str(candidate))):
            return candidate
    return None


@functools.lru_cache(maxsize=256)
def _imports(code: bytes) -> set[tuple[str, int]]:
    """Return the names that code imports anywhere in it, with the number of dots before each."""
    names: set[tuple[str, int]] = set()
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                names.update((alias.name, 0) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = f"{node.module}." if node.module else ""
                names.update((module + alias.name, node.level) for alias in node.names)
    return names


@functools.lru_cache(maxsize=256)  # what is imported stays
def _version(module: str) -> Mapping[str, str]:
    """Return the version of the package that installed a module; nothing for Python's own."""
    if module in getattr(sys, "stdlib_module_names", ()):  # from Python 3.10 on
        return {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return {module: importlib.metadata.version(module)}
    names = {package.metadata["Name"] for package in _owners().get(module, ())}
    return {name: importlib.metadata.version(name) for name in sorted(names)}


@functools.lru_cache(maxsize=1)
def _owners() -> Mapping[str, list[importlib.metadata.Distribution]]:
    """Return the packages that have a module; `packages_distributions` takes five times as long."""
    owners = collections.defaultdict(list)
    for package in importlib.metadata.distributions():
        files = "\n".join(package.read_text(name) or "" for name in ("RECORD", "top_level.txt"))
        for module in {re.split("[/.,]", file, maxsplit=1)[0] for file in files.splitlines()}:
            owners[module].append(package)
    return owners
