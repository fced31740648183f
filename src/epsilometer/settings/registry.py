"""Registries of names, whose targets are imported on first use.

So a job imports, and depends on, only the methods that it uses. Installed packages add names by
entry points (docs/extending.md); these are read when a name is not among ours.
"""

from collections.abc import Container, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from epsilometer.errors import ConfigError, UnknownNameError


class Registry(Mapping[str, str]):
    """Maps a name to ``"module:attribute"``; `load` imports it.

    The target of an installed package ends with the package and its version, in brackets, so that
    whatever is made with another version has another identity.
    """

    def __init__(self, kind: str, entries: Mapping[str, str], group: str = "") -> None:
        self.kind = kind
        self.group = group
        self._own = dict(entries)
        self.modules: Container[str] = ()  # of a study: "module.Class" of one is a name, too

    def __getitem__(self, name: str) -> str:
        if name in self._own:
            return self._own[name]
        if name in (everything := self._everything()):
            return everything[name]
        module, _, attribute = name.rpartition(".")
        if module.partition(".")[0] in self.modules:
            return f"{module}:{attribute}"
        raise UnknownNameError(self.kind, name, self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._everything())

    def __len__(self) -> int:
        return len(self._everything())

    def _everything(self) -> Mapping[str, str]:
        """Return all names: ours, and those of installed packages."""
        added = installed(self.group) if self.group else {}
        for name in set(added) & set(self._own):
            message = f"{name!r} of {added[name]} is the name of one of ours; give it another"
            raise ConfigError(f"entry points {self.group}", "", message)
        return self._own | dict(added)

    def module(self, name: str) -> str:
        """Return the dotted module that holds ``name``."""
        return self[name].partition(":")[0]

    def load(self, name: str) -> Any:
        """Import and return the target of ``name``."""
        return load(self[name])


def load(target: str) -> Any:
    """Import ``"module:attribute"``; what follows a space says where it comes from."""
    module, _, attribute = target.partition(" ")[0].partition(":")
    return getattr(import_module(module), attribute)


@cache
def installed(group: str) -> Mapping[str, str]:
    """Return the targets that installed packages add to a group of entry points, by name."""
    from importlib.metadata import entry_points

    targets: dict[str, str] = {}
    for point in sorted(entry_points(group=group)):
        target = point.value.partition("[")[0].strip()
        target += f" [{point.dist.name} {point.dist.version}]" if point.dist else ""
        if targets.setdefault(point.name, target) != target:
            message = f"{point.name!r} is in {targets[point.name]} and in {target}; uninstall one"
            raise ConfigError(f"entry points {group}", "", message)
    return targets
