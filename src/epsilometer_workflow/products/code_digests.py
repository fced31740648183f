"""A job's code is a digest of all that it runs: an edit reruns those jobs and no others.

The files are the closure of the imports, read from the syntax, of the job's stage and of the
registered modules it will load. Only statements count: no comments, docstrings or file times, none
of our ``__init__`` files, which hold registries (tables of names), and not `runtime`, which
computes nothing. A page's template counts with the module of its name. Of the libraries that
compute, versions count. The files of an installed package that adds to a registry count like ours,
with the versions of all libraries that they import.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

from epsilometer.settings.yaml_files import read_yaml
from epsilometer_workflow.configuration.functions import file_in, roots, source_of

_SOURCE = Path(__file__).parents[2]
_PACKAGES = {folder.name for folder in _SOURCE.iterdir()}
_WORKFLOW = _SOURCE.parent / "workflow"
_STAGES = Path(__file__).parents[1] / "stages"
_KEEPS_JOBS = Path(__file__).parents[1] / "runtime"
_COMPUTE = {  # imported name: installed name
    name: name for name in ("jinja2", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy")
} | {"seaborn": "seaborn", "sklearn": "scikit-learn"}


def contents(files: Iterable[str]) -> dict[str, str]:
    """Return a digest of each file's bytes; of YAML, of what it says without its comments."""
    digests = {}
    for file in sorted(files):
        path = Path(file)
        content = path.read_bytes()
        if path.suffix == ".yaml":
            content = repr(read_yaml(path)).encode()
        digests[file] = hashlib.sha256(content).hexdigest()[:16]
    return digests


@cache
def digest(stage: str | Path, *modules: str | Path) -> str:
    """Return a digest of what a stage (by name or file) and registered modules run and import.

    >>> digest("histogram").split()[1].partition("=")[0]
    'numba'
    """
    start = stage if isinstance(stage, Path) else _STAGES / f"{stage}.py"
    contents = []
    libraries: set[str] = set()
    for file in closure(start, *modules):
        contents.append((file.stem, _statements(file)))
        libraries.update(_imports(file)[1])
    said = [hashlib.sha256(repr(contents).encode()).hexdigest()[:16]]
    for name in sorted(libraries):
        said += [f"{name}={version(_COMPUTE.get(name, name))}"]
    return " ".join(said)


def closure(*starts: Path | str) -> list[Path]:
    """Return the files reached from files (paths) and modules (dotted names), sorted."""
    reached: set[Path] = set()
    queue: list[Path | str] = list(starts)
    while queue:
        start = queue.pop()
        path = start if isinstance(start, Path) else _file(start)
        if path is None or path in reached or path.is_relative_to(_KEEPS_JOBS):
            continue
        reached.add(path)
        queue.extend(_imports(path)[0])
    return sorted(path for path in reached if path.name != "__init__.py" or not _is_ours(path))


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _statements(path: Path) -> str:
    """Return a digest of a file's statements, docstrings left out, and of its template if any."""
    tree = _parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    template = path.with_suffix(".html.j2")
    text = template.read_text(encoding="utf-8") if template.is_file() else ""
    return hashlib.sha256((ast.dump(tree) + text).encode()).hexdigest()


@cache
def _imports(path: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files of these packages that a file imports, and the libraries that compute."""
    names: set[str] = set()
    for node in _executed(_parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = [_package(path, node.level), node.module]
            names |= {".".join(filter(None, [*package, alias.name])) for alias in node.names}
    tops = {name.partition(".")[0] for name in names}
    libraries = tops & set(_COMPUTE)
    if not _is_ours(path):
        packages = _installed_packages()
        for name in tops - {*_COMPUTE, *_PACKAGES, *roots()}:
            libraries.update(packages.get(name, ()))
    for name in list(names):  # a module's packages are imported with it
        names.update(_packages_of(name))
    files = {file for name in names if (file := _file(name))}
    return tuple(sorted(files)), tuple(sorted(libraries))


@cache
def _installed_packages() -> Mapping[str, list[str]]:
    """Return the packages of each top-level name; this takes .1 s, so once for all files."""
    return packages_distributions()


def _packages_of(module: str) -> Iterator[str]:
    """Yield the packages that hold a module, the innermost first."""
    package = module.rpartition(".")[0]
    while package:
        yield package
        package = package.rpartition(".")[0]


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without code for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            continue
        yield child
        yield from _executed(child)


def _package(path: Path, level: int) -> str:
    """Return the package that the dots of a relative import stand for; none without dots."""
    if not level:
        return ""
    root = next(folder for folder in (_SOURCE, *roots().values()) if path.is_relative_to(folder))
    parts = path.relative_to(root).parts
    return ".".join(parts[: len(parts) - level])


def _is_ours(path: Path) -> bool:
    """Tell whether a file is of this repository, not of an installed package."""
    return path.is_relative_to(_SOURCE) or path.is_relative_to(_WORKFLOW)


def _file(module: str) -> Path | None:
    """Return the file of a module of ours, or of a package that adds to a registry."""
    ours = module.partition(".")[0] in _PACKAGES
    return file_in(_SOURCE, module) if ours else source_of(module)
