"""The auditors that the matrix, the limit and the benchmark compare: a file each in ``methods``.

A file has a name, what it needs and promises, and a function (README.md). The first three are read
from its text; it is run in jobs only.
"""

from __future__ import annotations

import ast
import math
import runpy
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from epsilometer.errors import ArgumentError, ConfigError, one_line, suggest
from epsilometer.mechanisms.base import Outputs
from epsilometer.numerics.arrays import Sample
from epsilometer.settings.models import Model, parse

METHODS = Path(__file__).parent / "methods"
PROGRAMS = (*sorted(METHODS.glob("*.py")), Path(__file__).parent / "recorded.py")
"""Files of code that tables run, and that no import names."""

_TAKES = "x, y, claim, alpha, rng"
Notion = Literal["pure", "approximate", "renyi", "gdp", "zcdp"]


class Needs(Model):
    """The needs of an auditor: claims, outputs, installed packages, draws of a side."""

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
        missing = sorted({*self.needs.packages} - {*self.versions()})
        return f"it needs {missing[0]}, which is not installed" if missing else ""

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that it needs and that are installed."""
        installed = {}
        for name in self.needs.packages:
            with suppress(PackageNotFoundError):
                installed[name] = version(name)
        return installed

    def bound(self, x: Sample, y: Sample, alpha: float, rng: Any, **claim: Any) -> float:
        """Return its bound, in the unit of the claim; raise `ArgumentError` if it has none."""
        if len(x) < self.needs.draws:
            raise ArgumentError("draws", f"are fewer than {self.needs.draws} a side")
        function = self._function("lower_bound")
        try:
            bound = float(function(x, y, _given(claim), alpha, rng))
        except Exception as error:
            text = f"{self.file} raised {type(error).__name__}: {one_line(error)}"
            raise ArgumentError("lower_bound", text) from error
        if math.isnan(bound):
            raise ArgumentError("lower_bound", f"of {self.file} returned nan")
        return bound

    def looks(
        self, x: Sample, y: Sample, alpha: float, rng: Any, **claim: Any
    ) -> tuple[int, bool, float]:
        """Return the draws until it refutes, whether it does, and its bound; if it may look."""
        draws, refuted, bound = self._function("looks")(x, y, _given(claim), alpha, rng)
        return int(draws), bool(refuted), float(bound)

    @property
    def may_look(self) -> bool:
        """Whether it is valid at any time."""
        return "looks" in functions_of(self.file)

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = functions_of(self.file)[name]
        return function


def _given(claim: dict[str, Any]) -> SimpleNamespace:
    """Return the claim that a function is given."""
    return SimpleNamespace(**{"delta": 0.0, "order": math.inf, "bits": 0} | claim)


def listed(leave_out: Collection[str] = (), folder: Path = METHODS) -> list[Auditor]:
    """Return the auditors of all files but those with these names.

    Raises
    ------
    ConfigError
        If two files have a name, or a name to leave out is in no file.
    """
    by_name: dict[str, Auditor] = {}
    for auditor in map(read, sorted(folder.glob("*.py"))):
        if auditor.name in by_name:
            message = f"is also in {by_name[auditor.name].file}"
            raise ConfigError(auditor.file, f"name: {auditor.name!r}", message)
        by_name[auditor.name] = auditor
    for name in leave_out:
        if name not in by_name:
            raise ArgumentError("leave_out", f"has an unknown {name!r}{suggest(name, by_name)}")
    return [auditor for name, auditor in by_name.items() if name not in leave_out]


def read(file: Path) -> Auditor:
    """Return the auditor of a file; raise `ConfigError` for what is wrong with it."""
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(str(file), "", f"cannot be read: {one_line(error)}") from None
    about: dict[str, Any] = {}
    for node in body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        key = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        if key in ("name", "needs", "promises"):
            try:
                about[key] = ast.literal_eval(node.value or node)
            except ValueError:
                raise ConfigError(str(file), key, "must be written out") from None
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    defined = {f.name: [a.arg for a in f.args.args + f.args.kwonlyargs] for f in functions}
    if defined.get("lower_bound") != _TAKES.split(", "):
        text = suggest("lower_bound", defined) if "lower_bound" not in defined else ""
        raise ConfigError(str(file), "lower_bound", f"must be a function of ({_TAKES}){text}")
    return parse(Auditor, about | {"file": str(file)}, str(file))


@cache
def functions_of(file: str) -> dict[str, Any]:
    """Return what a file defines that no package holds, by name."""
    return runpy.run_path(file)
