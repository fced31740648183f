"""Functions that a report's configuration names: builders of tables, and renderers of figures.

Nothing is registered: a name is looked up in the modules of `epsilometer_workflow.reports`. To add
a table or a figure, write a function, and an artifact in the report's configuration that names it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from epsilometer.errors import UnknownNameError

_REPORTS = Path(__file__).parents[1] / "reports"


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
        return f"epsilometer_workflow.reports.{report}.{module}:{function}"

    def known(self, report: str, module: str | None = None) -> list[str]:
        """Return the public functions of a report's module; none where there is no such module."""
        module = module or self._module
        file = _REPORTS / report / f"{module}.py"
        if not (report.isidentifier() and module.isidentifier() and file.is_file()):
            return []
        return public_functions(file)


@cache
def public_functions(file: Path) -> list[str]:
    """Return a module's public functions, by its text: importing a renderer would take a while."""
    defined = ast.parse(file.read_text(encoding="utf-8")).body
    names = [node.name for node in defined if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


BUILDERS = Functions("table builder", "tables")
RENDERERS = Functions("renderer", "figures")
