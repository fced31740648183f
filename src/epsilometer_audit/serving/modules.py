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
        if any(name in before for name in self._names):
            self._leave_out_others()
        sys.modules.update(self.modules)
        inside = dict(sys.modules)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove(entry)
            if self.private:
                self._keep_own(before, imported=sys.modules != inside)
                for name in self.modules:
                    del sys.modules[name]
                sys.modules.update(before)

    def _leave_out_others(self) -> None:
        """Remove modules of the same names that are from other folders."""
        for name, module in list(sys.modules.items()):
            file = name.partition(".")[0] in self._names and getattr(module, "__file__", None)
            if file and not is_library(file) and not self._has(module):
                del sys.modules[name]

    def _keep_own(self, before: dict[str, ModuleType], imported: bool) -> None:
        """Keep the folder's modules that were not there before.

        There are thousands of modules: to look at each costs more than many a draw, so that they
        are looked at only where some were imported.
        """
        seen = sys.modules if imported else self.modules
        own = [(name, module) for name, module in seen.items() if before.get(name) is not module]
        if imported:
            own = [(name, module) for name, module in own if self._has(module)]
        self.modules = dict(own)


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
