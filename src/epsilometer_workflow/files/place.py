"""A place in the configuration: its file and key, with which the message of an error begins."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from epsilometer.errors import ArgumentError, ConfigError, UnknownNameError, one_line, suggest
from epsilometer.settings.registry import Registry
from epsilometer_workflow.files.identities import TableIdentity


@dataclass(frozen=True)
class Place:
    """A key of a file of the configuration."""

    file: str
    key: str = ""

    @classmethod
    def of_artifact(cls, identity: TableIdentity) -> Place:
        """Return the entry of the artifact that a table or a figure is of."""
        return cls(f"config/reports/{identity.report}.yaml", f"artifacts.{identity.artifact}")

    def at(self, *keys: object) -> Place:
        """Return a place below this one."""
        parts = map(str, (self.key, *keys))
        return Place(self.file, ".".join(filter(None, parts)))

    def error(self, message: object) -> ConfigError:
        """Return the error of this place."""
        return ConfigError(self.file, self.key, str(message))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Turn errors of a formula into errors that name this place."""
        try:
            yield
        except (ArgumentError, ArithmeticError, TypeError, ValueError, UnknownNameError) as error:
            raise self.error(one_line(error)) from None

    def check_known(self, kind: str, name: str, known: Collection[str]) -> None:
        """Raise `ConfigError` unless a name is known."""
        if name not in known:
            raise self.error(f"unknown {kind} {name!r}{suggest(name, known)}")

    def load(self, registry: Registry, name: str) -> Any:
        """Import a registered name; the error of a failed import names the module."""
        try:
            return registry.load(name)
        except UnknownNameError as error:
            raise self.error(error) from None
        except (ImportError, AttributeError, SyntaxError) as error:
            wrong = f"{registry[name]!r} cannot be imported: {one_line(error)}"
            raise self.error(wrong) from None
