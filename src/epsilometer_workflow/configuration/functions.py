"""Functions that a report's configuration names: builders of tables, and renderers of figures.

A name is looked up in the modules of `epsilometer_workflow.reports`, in the packages of a study's
own folders (`look_in`), and in those that entry points ``epsilometer.reports`` name. To add a table
or a figure, write a function, and an artifact in the report's configuration that names it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from epsilometer.errors import UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.settings.registry import Registry, installed

_REPORTS = Path(__file__).parents[1] / "reports"
_OURS = [file.parent.name for file in _REPORTS.glob("*/__init__.py")]
_PACKAGES = {name: f"epsilometer_workflow.reports.{name}" for name in _OURS}
REPORTS = Registry("report", _PACKAGES, "epsilometer.reports")
_GROUPS = ("mechanisms", "exact", "estimators", "classifiers", "reports")
_folders: list[Path] = []  # of a study's own code


class Functions:
    """Public functions of one module of each report.

    ``function`` is one of the report's own, ``report.function`` one of another's. So configuration
    cannot name foreign code.
    """

    def __init__(self, kind: str, module: str) -> None:
        self.kind = kind
        self._module = module

    def target(self, report: str, name: str) -> str:
        """Return ``"module:function"``; raise `UnknownNameError` where there is none."""
        other, _, function = name.rpartition(".")
        report = other or report
        known = self.known(report)
        if function not in known:
            raise UnknownNameError(self.kind, name, known)
        package, space, version = _package(report).partition(" ")
        return f"{package}.{self._module}:{function}{space}{version}"

    def known(self, report: str) -> list[str]:
        """Return the public functions of a report's module; none where there is no such module."""
        file = None
        if report in _OURS:
            file = _REPORTS / report / f"{self._module}.py"
        elif report.isidentifier() and (report in roots() or report in REPORTS):
            file = source_of(f"{_package(report).partition(' ')[0]}.{self._module}")
        return public_functions(file) if file and file.is_file() else []


def look_in(folders: Iterable[Path]) -> None:
    """Import packages from these folders, too, and take tables and figures from them.

    A package with the name of a report has the tables and figures of that report. Entries of
    mechanisms and estimators name a class of a module there as ``module.Class``.
    """
    _folders.clear()
    _folders.extend(folder.resolve() for folder in folders)
    for folder in reversed(_folders):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    MECHANISMS.modules = ESTIMATORS.modules = _own()
    roots.cache_clear()


def _own() -> dict[str, Path]:
    """Return the folders of a study's own top-level modules."""
    modules = {}
    for folder in reversed(_folders):  # of two, that of the first folder counts
        for file in folder.glob("*"):
            if file.suffix == ".py" or file.is_dir():
                modules[file.stem] = folder
    return modules


def _package(report: str) -> str:
    """Return the package of a report's tables and figures."""
    own = report not in _OURS and any((folder / report).is_dir() for folder in _folders)
    return report if own else REPORTS[report]


@cache
def public_functions(file: Path) -> list[str]:
    """Return a module's public functions, by its text: importing a renderer would take a while."""
    names = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names.append(node.name)
    return names


@cache
def roots() -> Mapping[str, Path]:
    """Return the folders of a study's own top-level modules, and of those of entry points."""
    homes: dict[str, Path] = {}
    for group in _GROUPS:
        for target in installed(f"epsilometer.{group}").values():
            top = re.split(r"[:. ]", target)[0]
            if top not in homes and (home := _home(top)):
                homes[top] = home
    return homes | _own()


def _home(package: str) -> Path | None:
    """Return the folder that holds an installed package."""
    spec = find_spec(package)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).parent
    return Path(spec.origin).parent if spec.origin else None


def source_of(module: str) -> Path | None:
    """Return the file of a module of an installed package that adds to a registry."""
    top = module.partition(".")[0]
    return file_in(roots()[top], module) if top in roots() else None


def file_in(folder: Path, module: str) -> Path | None:
    """Return the file of a module or package of a folder; none where there is none."""
    path = folder.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


BUILDERS = Functions("table builder", "tables")
RENDERERS = Functions("renderer", "figures")
