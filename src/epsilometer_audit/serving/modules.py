"""The process of a mechanism: the modules that it finds there, and what it may change."""

from __future__ import annotations

import contextlib
import decimal
import importlib
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

np: Any = None  # where NumPy is not installed
with contextlib.suppress(ImportError):
    np = importlib.import_module("numpy")
_STDLIB = sysconfig.get_paths()["stdlib"]


def is_library(file: str) -> bool:
    """Tell whether a file belongs to Python or to an installed package."""
    parts = Path(file).parts
    if "site-packages" in parts or "dist-packages" in parts:
        return True
    return file.startswith((_STDLIB + os.sep, "<frozen"))


class ModuleFolder:
    """A folder with a mechanism's modules; while it is entered, they can be imported.

    With ``private`` they are this mechanism's own: a mechanism in another folder with modules of
    the same names does not get them.
    """

    def __init__(self, folder: Path | None = None, *, private: bool = False) -> None:
        self.folder = folder
        self.private = private
        self.modules: dict[str, ModuleType] = {}
        self._names = {path.stem for path in folder.iterdir()} if folder and private else set()

    def _has(self, module: Any) -> bool:
        """Tell whether a module is of the folder."""
        file: Any = getattr(module, "__file__", None)
        return bool(file) and not is_library(file) and self.folder in Path(file).resolve().parents

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Make the folder's modules those that are imported."""
        if self.folder is None:
            yield
            return
        entry = str(self.folder)
        before = dict(sys.modules)
        sys.path.insert(0, entry)
        for name, module in before.items():  # of the same names, from other folders
            file = name.partition(".")[0] in self._names and getattr(module, "__file__", None)
            if file and not is_library(file) and not self._has(module):
                del sys.modules[name]
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove(entry)
            if self.private:
                new = [(n, m) for n, m in sys.modules.items() if before.get(n) is not m]
                self.modules = {name: module for name, module in new if self._has(module)}
                for name in self.modules:
                    del sys.modules[name]
                sys.modules.update(before)


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Restore the errors of NumPy, the filters of warnings and the context of decimals."""
    filters = warnings.filters[:]
    with decimal.localcontext(), contextlib.nullcontext() if np is None else np.errstate():
        try:
            yield
        finally:
            if warnings.filters != filters:
                warnings.filters[:] = filters  # type: ignore[index]
