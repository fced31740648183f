"""YAML files of configuration, read safely; a repeated key is an error."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from epsilometer.errors import ConfigError, one_line

_MOST_VALUES = 1_000_000  # with those that aliases repeat
_DEEPEST = 100  # values in values


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe YAML that refuses a repeated key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: set[object] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # <<: merges another mapping, whose keys may be overridden
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, Hashable):
                raise yaml.MarkedYAMLError(problem=f"a key is a list or a mapping, in line {line}")
            if key in keys:
                raise yaml.MarkedYAMLError(problem=f"{key}: given twice (again in line {line})")
            keys.add(key)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]


_REAL = re.compile(r"[+-]?(\d+\.?\d*[eE][+-]?\d+|\.\d+([eE][+-]?\d+)?)\Z")  # texts by YAML 1.1
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _REAL, list("+-.0123456789"))


def _check_size(text: str) -> None:
    """Refuse a document that is too deep or too large with all its aliases, before it is built."""
    sizes: dict[str | None, tuple[float, int]] = {}  # numbers of values, and depths, by anchor
    within: list[tuple[str | None, float, int]] = [(None, 0, 0)]  # collections so far
    for event in yaml.parse(text, Loader=_Loader):
        size = 1.0
        depth = 0
        if isinstance(event, yaml.CollectionStartEvent):
            sizes[event.anchor] = math.inf, 0  # until its end: an alias in itself
            within.append((event.anchor, 0.0, 0))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size, depth = within.pop()
            sizes[anchor] = size, depth
        elif isinstance(event, yaml.AliasEvent):
            size, depth = sizes.get(event.anchor, (size, depth))
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = size, depth
        if len(within) + depth > _DEEPEST:
            raise yaml.MarkedYAMLError(problem="is nested too deeply")
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            anchor, before, deepest = within[-1]
            within[-1] = anchor, before + size, max(deepest, depth + 1)
        if within[-1][1] > _MOST_VALUES:
            raise yaml.MarkedYAMLError(
                problem=f"holds more than {_MOST_VALUES} values, with its aliases"
            )


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; raise `ConfigError` where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(str(path), "", "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"cannot be read: {one_line(error)}") from None
    try:
        _check_size(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        raise ConfigError(str(path), "", one_line(error)) from None
    except Exception as error:  # the library's own, as of a date without such a day
        raise ConfigError(str(path), "", f"holds no such value: {one_line(error)}") from None
