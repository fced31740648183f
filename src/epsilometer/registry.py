"""Registries of names, whose targets are imported on first use.

So a job imports, and depends on, only the methods that it uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from epsilometer.errors import UnknownNameError


class Registry(dict[str, str]):
    """Maps a name to ``"module:attribute"``; `load` imports it."""

    def __init__(self, kind: str, entries: Mapping[str, str]) -> None:
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: str) -> str:
        raise UnknownNameError(self.kind, name, self)

    def module(self, name: str) -> str:
        """Return the dotted module that holds ``name``."""
        return self[name].partition(":")[0]

    def load(self, name: str) -> Any:
        """Import and return the target of ``name``."""
        return load(self[name])


def load(target: str) -> Any:
    """Import ``"module:attribute"``."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
