"""Functions that a report's configuration names: builders of tables, and renderers of figures.

A name is looked up in the modules of `epsilometer_workflow.reports`, and in the packages that
entry points ``epsilometer.reports`` name. To add a table or a figure, write a function, and an
artifact in the report's configuration that names it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from epsilometer.errors import UnknownNameError
from epsilometer.registry import Registry, installed

_REPORTS = Path(__file__).parents[1] / "reports"
_OURS = [file.parent.name for file in _REPORTS.glob("*/__init__.py")]
_PACKAGES = {name: f"epsilometer_workflow.reports.{name}" for name in _OURS}
REPORTS = Registry("report", _PACKAGES, "epsilometer.reports")
_GROUPS = ("mechanisms", "exact", "estimators", "classifiers", "reports")


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
        package, space, version = REPORTS[report].partition(" ")
        return f"{package}.{module}:{function}{space}{version}"

    def known(self, report: str, module: str | None = None) -> list[str]:
        """Return the public functions of a report's module; none where there is no such module."""
        module = module or self._module
        if not (report.isidentifier() and module.isidentifier()):
            return []
        file: Path | None = _REPORTS / report / f"{module}.py"
        if not (_REPORTS / report).is_dir() and report in REPORTS:
            file = source_of(f"{REPORTS[report].partition(' ')[0]}.{module}")
        return public_functions(file) if file and file.is_file() else []


@cache
def public_functions(file: Path) -> list[str]:
    """Return a module's public functions, by its text: importing a renderer would take a while."""
    defined = ast.parse(file.read_text(encoding="utf-8")).body
    names = [node.name for node in defined if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


@cache
def roots() -> Mapping[str, Path]:
    """Return the folders of the top-level modules that entry points name, without an import."""
    targets = {target for group in _GROUPS for target in installed(f"epsilometer.{group}").values()}
    return dict(_homes({target.split(":")[0].split(" ")[0].split(".")[0] for target in targets}))


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
