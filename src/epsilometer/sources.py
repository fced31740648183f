"""Which files of the library a job really uses, so that an edit reruns those jobs and no others.

The answer is the closure of the imports, read from the syntax, of the job's script and of the
registered module it will load. Packages' ``__init__`` files hold registries (tables of names) and
do not count: a new line there changes no result.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def closure(*starts: Path | str) -> list[str]:
    """Return the library files reached from scripts (paths) and modules (dotted names), sorted.

    Paths are relative to the working directory where they can be, as Snakemake shows them.
    """
    seen: set[Path] = set()
    queue = [start if isinstance(start, Path) else _file(start) for start in starts]
    found = {path for path in queue if path is not None and path.is_relative_to(_PACKAGE)}
    while queue:
        path = queue.pop()
        if path is None or path in seen:
            continue
        seen.add(path)
        imported = set(_imports(path))
        found |= imported
        queue.extend(imported)
    return sorted(_shown(path) for path in found if path.name != "__init__.py")


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = ".".join(filter(None, [_package(path, node.level), node.module]))
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    for name in list(names):  # a module's packages are imported with it
        parts = name.split(".")
        names |= {".".join(parts[:i]) for i in range(1, len(parts))}
    return tuple(sorted(file for name in names if (file := _file(name))))


def _package(path: Path, level: int) -> str:
    """Return the package that the dots of a relative import stand for; none without dots."""
    if not level or not path.is_relative_to(_PACKAGE):
        return ""
    parts = path.relative_to(_PACKAGE.parent).parts
    return ".".join(parts[: len(parts) - level])


def _file(module: str) -> Path | None:
    """Return the file of a module of this package, if the name is one."""
    head, *rest = module.split(".")
    if head != _PACKAGE.name:
        return None
    path = _PACKAGE.joinpath(*rest)
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
