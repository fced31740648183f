"""Auditors from outside: a file each, ``config/auditors/<any>.py`` (docs/extending.md).

What a file says about itself is read from its text; it is run in jobs only.
"""

from __future__ import annotations

import ast
import importlib.util
import math
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from epsilometer.arrays import Sample
from epsilometer.errors import ArgumentError, ConfigError, one_line, suggest
from epsilometer.mechanisms.base import Outputs
from epsilometer_workflow.files.options import Model, parse

_FUNCTION = "lower_bound"
_TAKES = ["x", "y", "claim", "alpha", "rng"]
Notion = Literal["pure", "approximate", "renyi", "gdp", "zcdp"]


class Needs(Model):
    """What an auditor needs: claims, outputs, installed packages, draws of a side."""

    claims: tuple[Notion, ...] = Field(("pure",), strict=False)
    outputs: tuple[Outputs, ...] = Field(("scalar",), strict=False)
    packages: tuple[str, ...] = Field((), strict=False)
    draws: PositiveInt = 1


class Auditor(Model):
    """An auditor, as its file has it; ``promises`` is of its bounds."""

    file: str
    name: Annotated[str, Field(min_length=1)]
    needs: Needs = Needs()
    promises: Literal["finite-sample", "asymptotic", "none"] = "finite-sample"

    def refusal(self, notion: str, outputs: str) -> str:
        """Return why it cannot audit such a claim about such outputs; nothing if it can."""
        if notion not in self.needs.claims:
            return f"it does not bound a claim that is {notion}"
        if outputs not in self.needs.outputs:
            return f"it takes outputs that are {' or '.join(self.needs.outputs)}, not {outputs}"
        missing = [name for name, installed in self.versions().items() if installed is None]
        return f"it needs {missing[0]}, which is not installed" if missing else ""

    def versions(self) -> dict[str, str | None]:
        """Return the versions of the packages that it needs."""
        return {name: _version(name) for name in self.needs.packages}

    def bound(
        self,
        x: Sample,
        y: Sample,
        notion: str,
        level: float,
        alpha: float,
        rng: Any,
        terms: Mapping[str, float],
    ) -> float:
        """Return its bound, in the unit of the claim; raise `ArgumentError` if it has none.

        ``terms`` are the ``delta`` or the ``order`` of the claim.
        """
        if len(x) < self.needs.draws:
            raise ArgumentError("draws", f"are fewer than {self.needs.draws} a side")
        every = {"delta": 0.0, "order": math.inf, **terms}
        claim = SimpleNamespace(notion=notion, level=level, **every)
        try:
            bound = float(getattr(module_of(self.file), _FUNCTION)(x, y, claim, alpha, rng))
        except Exception as error:
            text = f"{self.file} raised {type(error).__name__}: {one_line(error)}"
            raise ArgumentError(_FUNCTION, text) from error
        if math.isnan(bound):
            raise ArgumentError(_FUNCTION, f"of {self.file} returned nan")
        return bound


def read(file: Path) -> Auditor:
    """Return the auditor of a file; raise `ConfigError` for what is wrong with it."""
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(str(file), "", f"cannot be read: {one_line(error)}") from None
    about: dict[str, Any] = {}
    for node in body:
        key = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
        if key in ("name", "needs", "promises"):
            try:
                about[key] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
            except ValueError:
                raise ConfigError(str(file), key, "must be written out") from None
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    if _FUNCTION not in functions:
        raise ConfigError(str(file), _FUNCTION, f"is missing{suggest(_FUNCTION, functions)}")
    if [a.arg for a in functions[_FUNCTION].args.args] != _TAKES:
        raise ConfigError(str(file), _FUNCTION, f"must take ({', '.join(_TAKES)})")
    return parse(Auditor, about | {"file": str(file)}, str(file))


@cache
def module_of(file: str) -> Any:
    """Return the module of a file that no package holds."""
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
