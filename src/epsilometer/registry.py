"""A registry is a table of names; what a name stands for is imported when it is asked for.

Laziness keeps a job from importing (and so depending on) methods it does not use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from epsilometer.errors import UnknownNameError


class Registry(Mapping[str, str]):
    """Maps a name to ``"module:attribute"``; `load` imports it."""

    def __init__(self, kind: str, entries: Mapping[str, str]) -> None:
        self.kind = kind
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> str:
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._entries) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def module(self, name: str) -> str:
        """Return the dotted module that holds ``name``."""
        return self[name].partition(":")[0]

    def load(self, name: str) -> Any:
        """Import and return what ``name`` stands for."""
        return load(self[name])


class Modules:
    """Functions that are found where their name says: ``function`` of a report's own module.

    Nothing is registered; ``module.function`` names one of another report. Only public functions of
    a package's modules are found, so that configuration cannot name foreign code.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package

    def target(self, report: str, name: str) -> str:
        """Return ``"module:function"``; raise `UnknownNameError` where there is none."""
        module, _, function = name.rpartition(".")
        module = module or report
        known = self.known(module)
        if function not in known:
            raise UnknownNameError(self.kind, name, known)
        return f"{self._package}.{module}:{function}"

    def known(self, module: str) -> list[str]:
        """Return the public functions of a module; none where there is no such module."""
        file = Path(__file__).parent.joinpath(*self._package.split(".")[1:], f"{module}.py")
        if not module.isidentifier() or not file.is_file():
            return []
        return _public_functions(file)


@cache
def _public_functions(file: Path) -> list[str]:
    """Read them from the syntax; importing a renderer, say, would take a while."""
    defined = ast.parse(file.read_text(encoding="utf-8")).body
    names = [node.name for node in defined if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


def load(target: str) -> Any:
    """Import ``"module:attribute"``."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
