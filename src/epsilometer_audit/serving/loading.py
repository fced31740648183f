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
    module, colon, function = spec.rpartition(":")
    if not colon:
        module, function = spec, ""
    is_file = module.endswith(".py") or "/" in module or os.sep in module
    kind = "file" if is_file else "module"
    if module and not is_file and not all(part.isidentifier() for part in module.split(".")):
        raise Misuse(spec, "is not a source; write file.py:function or package.module:function")
    if not module:
        raise Misuse(spec or "the source", "names no file; write file.py:function")
    if not function:
        raise Misuse(spec, f"names no function; write {kind}:function")
    if not all(part.isidentifier() for part in function.split(".")):
        raise Misuse(spec, f"names no function: {shortened(function)!r} is not a Python name")
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
            raise _not_loaded(error, module_name) from error
        short_name = path.name if is_file else module_name
        name = f"{short_name}:{dotted}"
        function = bind(_attribute(module, dotted, short_name), parameters, name)
        return Sampler(function, name, failures=failures, home=home)


def check_file(path: Path, name: str) -> None:
    """Refuse a path without a Python file."""
    if path.is_dir():
        raise Misuse(name, "is a folder; name a Python file in it")
    if not path.is_file():
        if not path.parent.is_dir():
            raise Misuse(name, "is not there, nor is its folder")
        known = [file.name for file in path.parent.glob("*.py")]
        raise Misuse(name, "is not there", path.name, known or None)
    if path.suffix != ".py":
        raise Misuse(name, "must be a Python file, whose name ends in .py")


def _from_file(path: Path) -> ModuleType:
    name = f"epsilometer_source_{next(_names)}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _not_loaded(error: BaseException, module: str) -> Misuse:
    if isinstance(error, ModuleNotFoundError) and error.name:
        parent, _, missing = error.name.rpartition(".")
        if module == error.name or module.startswith(f"{error.name}."):
            folders = getattr(sys.modules.get(parent), "__path__", None)
            known = [m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_")]
            return Misuse(module, f"cannot be imported: no module {error.name!r}", missing, known)
    message = f"cannot be loaded: {error_text(error)}"
    if isinstance(error, ModuleNotFoundError):
        message += "; use the interpreter that has it"
    elif isinstance(error, ImportError) and "relative import" in str(error):
        message += "; name it as package.module:function"
    return Misuse(module, message)


def _attribute(module: ModuleType, dotted: str, title: str) -> Any:
    value: Any = module
    for part in dotted.split("."):
        parent = value
        try:
            value = getattr(parent, part)
        except AttributeError:
            public = [name for name in dir(parent) if not name.startswith("_")]
            known = [name for name in public if callable(getattr(parent, name, None))]
            own = getattr(parent, "__qualname__", type(parent).__name__)
            holder = title if parent is module else f"{title}: {own}"
            raise Misuse(holder, f"has no function {part!r}", part, known) from None
    return value
