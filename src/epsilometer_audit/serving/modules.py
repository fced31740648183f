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
from typing import Any, NoReturn

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

    def has(self, module: Any) -> bool:
        """Tell whether a module was loaded from the folder."""
        file = getattr(module, "__file__", None)
        if not file or self.folder is None or is_library(file):
            return False
        return self.folder in Path(file).resolve().parents

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Make the folder's modules those that are imported."""
        if self.folder is None:
            yield
            return
        entry = str(self.folder)
        sys.path.insert(0, entry)
        hidden = self._hide() if self.private else {}
        before = set(sys.modules)
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove(entry)
            if self.private:
                for name, module in list(sys.modules.items()):
                    if name in self.modules or (name not in before and self.has(module)):
                        self.modules[name] = sys.modules.pop(name)
                sys.modules.update(hidden)

    def _hide(self) -> dict[str, ModuleType]:
        """Remove other folders' modules of the same names; libraries and own ones stay."""
        assert self.folder is not None
        own = {name.partition(".")[0] for name in self.modules}
        own |= {path.stem for path in self.folder.glob("*.py")}
        own |= {path.parent.name for path in self.folder.glob("*/__init__.py")}
        hidden = {}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in own and name != "__main__":
                file = getattr(module, "__file__", None)
                if name in self.modules or (file and not is_library(file) and not self.has(module)):
                    hidden[name] = sys.modules.pop(name)
        return hidden


class ProcessExit(SystemExit):
    """A call of `os._exit`, which would end an audit before its verdict."""


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Let `os._exit` raise `ProcessExit`, and restore settings that change what our code does.

    They are the errors of NumPy, the filters of warnings and the context of decimals. A fork of
    this process ends as it does elsewhere.
    """
    owner, end, filters = os.getpid(), os._exit, warnings.filters[:]
    errors = contextlib.nullcontext() if np is None else np.errstate()

    def raise_exit(status: int) -> NoReturn:
        if os.getpid() != owner:
            end(status)
        raise ProcessExit(status)

    with decimal.localcontext(), errors:
        os._exit = raise_exit
        try:
            yield
        finally:
            os._exit = end
            if warnings.filters != filters:
                warnings.filters[:] = filters  # type: ignore[index]
