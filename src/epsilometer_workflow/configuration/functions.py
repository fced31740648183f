"""Functions that a report's configuration names: builders of tables, and renderers of figures.

A name is looked up in the modules of `epsilometer_workflow.reports`, in the packages of a study's
own folders (`look_in`), and in those that entry points ``epsilometer.reports`` name. To add a table
or a figure, write a function, and an artifact in the report's configuration that names it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from epsilometer.errors import UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import Registry, installed

_REPORTS = Path(__file__).parents[1] / "reports"
_OURS = [file.parent.name for file in _REPORTS.glob("*/__init__.py")]
_PACKAGES = {name: f"epsilometer_workflow.reports.{name}" for name in _OURS}
REPORTS = Registry("report", _PACKAGES, "epsilometer.reports")
_GROUPS = ("mechanisms", "exact", "estimators", "classifiers", "reports")
_folders: list[Path] = []  # of a study's own code


class Functions:
    """Public functions of the modules of reports.

    ``function`` is one of the report's own module of this kind, ``report.function`` of another
    report's, ``report.module.function`` of any module. So configuration cannot name foreign code.
    """

    def __init__(self, kind: str, module: str) -> None:
        self.kind, self._module = kind, module

    def target(self, report: str, name: str) -> str:
        """Return ``"module:function"``; raise `UnknownNameError` where there is none."""
        *modules, function = name.split(".")
        report, module = (*modules, *(report, self._module)[len(modules) :])[:2]
        known = self.known(report, module)
        if len(modules) > 2 or function not in known:
            raise UnknownNameError(self.kind, name, known)
        package, space, version = _package(report).partition(" ")
        return f"{package}.{module}:{function}{space}{version}"

    def known(self, report: str, module: str | None = None) -> list[str]:
        """Return the public functions of a report's module; none where there is no such module."""
        module = module or self._module
        if not (report.isidentifier() and module.isidentifier()):
            return []
        file: Path | None = _REPORTS / report / f"{module}.py"
        if not (_REPORTS / report).is_dir() and (report in roots() or report in REPORTS):
            file = source_of(f"{_package(report).partition(' ')[0]}.{module}")
        return public_functions(file) if file and file.is_file() else []


def look_in(folders: Iterable[Path]) -> None:
    """Import packages from these folders, too, and take tables and figures from them.

    A package with the name of a report has the tables and figures of that report. Entries of
    mechanisms and estimators name a class of a module there as ``module.Class``.
    """
    _folders[:] = [folder.resolve() for folder in folders]
    sys.path[:0] = [str(folder) for folder in _folders if str(folder) not in sys.path]
    MECHANISMS.modules = ESTIMATORS.modules = _own()
    roots.cache_clear()


def _own() -> dict[str, Path]:
    """Return the folders of a study's own top-level modules."""
    return {
        file.stem: folder
        for folder in reversed(_folders)
        for file in folder.glob("*")
        if file.suffix == ".py" or file.is_dir()
    }


def _package(report: str) -> str:
    """Return the package of a report's tables and figures."""
    own = report not in _OURS and any((folder / report).is_dir() for folder in _folders)
    return report if own else REPORTS[report]


@cache
def public_functions(file: Path) -> list[str]:
    """Return a module's public functions, by its text: importing a renderer would take a while."""
    defined = ast.parse(file.read_text(encoding="utf-8")).body
    names = [node.name for node in defined if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


@cache
def roots() -> Mapping[str, Path]:
    """Return the folders of a study's own top-level modules, and of those of entry points."""
    targets = {target for group in _GROUPS for target in installed(f"epsilometer.{group}").values()}
    tops = {target.split(":")[0].split(" ")[0].split(".")[0] for target in targets}
    return dict(_homes(tops)) | _own()


def _homes(names: set[str]) -> Iterator[tuple[str, Path]]:
    for name in sorted(names):
        spec = find_spec(name)
        if spec is not None and (home := next(iter(spec.submodule_search_locations or ()), None)):
            yield name, Path(home).parent
        elif spec is not None and spec.origin:
            yield name, Path(spec.origin).parent


def source_of(module: str) -> Path | None:
    """Return the file of a module of an installed package that adds to a registry."""
    parts = module.split(".")
    if parts[0] not in roots():
        return None
    path = roots()[parts[0]].joinpath(*parts)
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


BUILDERS = Functions("table builder", "tables")
RENDERERS = Functions("renderer", "figures")
