"""Functions by their names, ``file.py:function`` or ``package.module:function``."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import os
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import Misuse, error_text, shortened
from .modules import ModuleFolder, contained
from .sampling import NOWHERE, Sampler, bind

_names = itertools.count()


def parsed(spec: str) -> tuple[str, str, bool]:
    """Return the file or module of a source, the function in it, and whether it is a file."""
    module, _, function = spec.rpartition(":")
    is_file = module.endswith(".py") or "/" in module or os.sep in module
    names = function.split(".") + ([] if is_file else module.split("."))
    if not module or not all(map(str.isidentifier, names)):
        message = "is no source; write file.py:function or package.module:function"
        raise Misuse(shortened(repr(spec)), message)
    return module, function, is_file


def load(
    spec: str,
    folder: str | os.PathLike[str] = ".",
    *,
    failures: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Sampler:
    """Return the sampler of ``file.py:function`` or ``package.module:function``.

    The function gets ``parameters`` by name at every call. Raise `Misuse` if it cannot be found,
    loaded or sampled.
    """
    module_name, dotted, is_file = parsed(spec)
    base = Path(folder).resolve()
    path = base / module_name
    if is_file:
        check_file(path, module_name)
    home = ModuleFolder(path.resolve().parent if is_file else base, private=is_file)
    importlib.invalidate_caches()
    with home.entered(), contextlib.redirect_stdout(NOWHERE), contained():
        try:
            module = _from_file(path) if is_file else importlib.import_module(module_name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            hint = ""
            if isinstance(error, ModuleNotFoundError):
                hint = "; use the interpreter that has it"
                parent, _, last = str(error.name).rpartition(".")
                if not is_file and f"{module_name}.".startswith(f"{error.name}."):
                    folders = getattr(sys.modules.get(parent), "__path__", [])
                    known = [module.name for module in pkgutil.iter_modules(folders)]
                    text = f"cannot be imported: no module {error.name!r}{hint}"
                    raise Misuse(module_name, text, last, known or None) from error
            raise Misuse(module_name, f"cannot be loaded: {error_text(error)}{hint}") from error
        short_name = path.name if is_file else module_name
        name = f"{short_name}:{dotted}"
        function = bind(_attribute(module, dotted, short_name), parameters, name)
        return Sampler(function, name, failures=failures, home=home)


def check_file(path: Path, name: str) -> None:
    """Refuse a path without a Python file."""
    if not path.is_file() or path.suffix != ".py":
        known = [file.name for file in path.parent.glob("*.py")]
        text = "is not a Python file" if path.exists() else "cannot be read: no such file"
        raise Misuse(name, text, path.name, known or None)


def _from_file(path: Path) -> ModuleType:
    name = f"epsilometer_source_{next(_names)}_{path.stem}"
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _attribute(module: ModuleType, dotted: str, title: str) -> Any:
    value: Any = module
    for part in dotted.split("."):
        names = dir(value)
        try:
            value = getattr(value, part)
        except AttributeError:
            known = []
            for name in names:
                if not name.startswith("_") and callable(getattr(value, name, None)):
                    known.append(name)
            raise Misuse(title, f"has no function {part!r}", part, known) from None
    return value
