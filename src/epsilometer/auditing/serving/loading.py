"""Finds the function that ``file.py:function`` or ``package.module:function`` names."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import itertools
import os
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import Misuse, described, shortened
from .places import Place
from .sampling import Made, Sampler, bound

_names = itertools.count()


def parsed(spec: str) -> tuple[str, str, bool]:
    """Return the file or module of a source, the function in it, and whether it is a file."""
    where, colon, function = spec.rpartition(":")
    if not colon:
        where, function = spec, ""
    is_file = where.endswith(".py") or "/" in where or os.sep in where
    what = "file" if is_file else "module"
    if where and not is_file and not all(part.isidentifier() for part in where.split(".")):
        raise Misuse(spec, "is no source; write file.py:function or package.module:function")
    if not where:
        raise Misuse(spec or "the source", "names no file; write file.py:function")
    if not function:
        raise Misuse(spec, f"names no function; write {what}:function")
    if not all(part.isidentifier() for part in function.split(".")):
        raise Misuse(spec, f"names no function: {shortened(function)!r} is no Python name")
    return where, function, is_file


def load(
    spec: str,
    folder: str | os.PathLike[str] = ".",
    *,
    failures: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Sampler:
    """Return the sampler of ``file.py:function`` or ``package.module:function``.

    ``parameters`` are given to the function by name, at every call; to a class, when it makes an
    object.

    Raises
    ------
    Misuse
        If it cannot be found or loaded, or is no function that can be sampled.
    """
    found, name, place = find(spec, folder, parameters)
    with place.entered(), contextlib.redirect_stdout(sys.stderr):
        found = bound(found, parameters, name)
        return Sampler(found, name, failures=failures, place=place)


def find(
    spec: str, folder: str | os.PathLike[str] = ".", parameters: Mapping[str, Any] | None = None
) -> tuple[Any, str, Place]:
    """Return what a source names, what errors call it, and where its modules are found.

    The method of a class is `Made`, with the ``parameters``.

    Raises
    ------
    Misuse
        If it cannot be found or loaded.
    """
    where, function, is_file = parsed(spec)
    base = Path(folder).resolve()
    path = base / where
    if is_file:
        check_file(path, where)
    place = Place(path.resolve().parent if is_file else base, private=is_file)
    importlib.invalidate_caches()
    with place.entered(), contextlib.redirect_stdout(sys.stderr):
        try:
            module = _from_file(path) if is_file else importlib.import_module(where)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _not_loaded(error, where) from error
        name = f"{path.name if is_file else where}:{function}"
        found = _attribute(
            module, function, Path(where).name if is_file else where, name, parameters
        )
    return found, name, place


def check_file(path: Path, where: str) -> None:
    """Refuse what is no file of Python."""
    if path.is_dir():
        raise Misuse(where, "is a folder; name a file of Python in it")
    if not path.is_file():
        if not path.parent.is_dir():
            raise Misuse(where, "is not there, nor is its folder")
        known = [file.name for file in path.parent.glob("*.py")]
        raise Misuse(where, "is not there", path.name, known or None)
    if path.suffix != ".py":
        raise Misuse(where, "is no file of Python: its name must end in .py")


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


def _not_loaded(error: BaseException, where: str) -> Misuse:
    if isinstance(error, ModuleNotFoundError) and error.name:
        parent, _, last = error.name.rpartition(".")
        if where == error.name or where.startswith(f"{error.name}."):
            folders = getattr(sys.modules.get(parent), "__path__", None)
            known = [m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_")]
            return Misuse(where, f"cannot be imported: no module {error.name!r}", last, known)
    message = f"cannot be loaded: {described(error)}"
    if isinstance(error, ModuleNotFoundError):
        message += "; use the interpreter that has it"
    elif isinstance(error, ImportError) and "relative import" in str(error):
        message += "; name it as package.module:function"
    return Misuse(where, message)


def _attribute(module: ModuleType, dotted: str, where: str, name: str, parameters: Any) -> Any:
    found: Any = module
    for part in dotted.split("."):
        parent = found
        try:
            found = getattr(parent, part)
        except AttributeError:
            public = [n for n in dir(parent) if not n.startswith("_")]
            known = [n for n in public if _own(parent, n)] or [
                n for n in public if callable(getattr(parent, n, None))
            ]
            holder = where if parent is module else f"{where}: {_title(parent)}"
            raise Misuse(holder, f"has no function {part!r}", part, known) from None
        if inspect.isclass(parent) and inspect.isfunction(inspect.getattr_static(parent, part)):
            found = Made(parent, name, part, parameters)
    return found


def _own(parent: Any, name: str) -> bool:
    """Tell whether a name may be meant: something to call that was not imported from elsewhere."""
    value = getattr(parent, name, None)
    if isinstance(value, ModuleType) or not callable(value):
        return False
    home = getattr(value, "__module__", None)
    return not isinstance(parent, ModuleType) or home in (parent.__name__, None)


def _title(value: Any) -> str:
    return str(getattr(value, "__qualname__", type(value).__name__))
