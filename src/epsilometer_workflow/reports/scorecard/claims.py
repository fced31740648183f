"""The statements of the papers, and the lines of configuration that decide each of them.

``claims.csv`` holds the statements: id (paper/artifact/name), artifact, quantity, key (its
parameters, ``k=v;k=v``), printed, kind, scale (the smallest that decides; ``none``: any) and where
it stands. A file of rules, named after a paper, maps patterns of ids, the paper left out, to a
`Rule`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from epsilometer.errors import ConfigError, one_line, suggest
from epsilometer_workflow.files.options import Model, parse
from epsilometer_workflow.files.yaml_files import read_yaml
from epsilometer_workflow.reports.scorecard.expressions import (
    Expression,
    ExpressionError,
    as_number,
)

COLUMNS = ("id", "artifact", "quantity", "key", "printed", "kind", "scale", "where")
ANY_SCALE = "none"

Written = bool | int | float | str
"""An expression, or a number, as YAML has it."""


@dataclass(frozen=True)
class Claim:
    """One number or statement of a paper."""

    id: str
    artifact: str
    quantity: str
    key: str
    printed: str
    kind: str
    scale: str
    where: str

    @property
    def paper(self) -> str:
        """The paper's name."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The id within its paper."""
        return self.id.partition("/")[2]

    @cached_property
    def keys(self) -> dict[str, Any]:
        """Its parameters, as numbers where they are."""
        parts = [part.partition("=") for part in self.key.split(";") if "=" in part]
        return {name: value if (n := as_number(value)) is None else n for name, _, value in parts}

    @property
    def number(self) -> float | str:
        """The printed value, as a number where it is one."""
        value = as_number(self.printed)
        return self.printed if value is None else value


class Rule(Model):
    """How claims are decided: by ``ours``, a number from the rows of a table, and where it may lie.

    ``from`` is a table of the paper's own report, or ``report/table``, whose columns are names in
    the expressions; or it maps names to tables, whose columns follow a dot. ``where`` keeps rows.
    With ``per`` the expression is worked out for each value of some columns, and ``take``, of
    ``each``, makes one number of these. ``let`` gives names to expressions, in turn.

    The rest says where ours must lie for a yes: ``within`` so much of what is printed
    (``rounding``: half a unit of its last digit), off by a ``factor`` at most, from ``low`` to
    ``high``, ``above`` or ``below``, or that it ``equals`` something. ``holds`` is a condition, in
    place of ``ours``.

    ``erratum`` is the reason why the print is wrong. It counts where ours is not what is printed
    but fits what stands ``instead`` of it: a value, with ``within``, ``factor`` or ``equals``;
    elsewhere a condition that holds. ``because`` goes into the column reason; ``undecided`` is the
    reason why nothing can decide.
    """

    table: Annotated[str | dict[str, str] | None, Field(alias="from")] = None
    where: str | None = None
    per: str | None = None
    take: str | None = None
    let: dict[str, Written] = {}  # noqa: RUF012 (pydantic copies defaults)
    ours: Written | None = None
    holds: str | None = None
    within: Written | None = None
    factor: float | None = None
    low: Written | None = None
    high: Written | None = None
    above: Written | None = None
    below: Written | None = None
    equals: Written | None = None
    erratum: str | None = None
    instead: Written | None = None
    because: str | None = None
    undecided: str | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Rule:
        decides = [name for name in ("ours", "holds", "undecided") if self.has(name)]
        if len(decides) != 1:
            raise ValueError("must have one of ours, holds and undecided")
        bounds = ("within", "factor", "low", "high", "above", "below", "equals")
        if self.has("ours") != any(self.has(name) for name in bounds):
            raise ValueError(f"must have ours and one of {', '.join(bounds)}, or neither")
        if not self.has("undecided") and self.table is None:
            raise ValueError("must say from which table")
        if (self.per is None) != (self.take is None):
            raise ValueError("must have per and take, or neither")
        if self.where is not None and isinstance(self.table, dict):
            raise ValueError("must have where with one table only")
        if self.has("instead") != self.has("erratum"):
            raise ValueError("must have erratum and instead, or neither")
        try:
            for text in self.expressions():
                Expression(text)
        except ExpressionError as error:
            raise ValueError(str(error)) from None
        return self

    def has(self, name: str) -> bool:
        """Tell whether a key is given."""
        return getattr(self, name) is not None

    def expressions(self) -> Iterable[Written]:
        """Yield all that is to be worked out."""
        names = (
            *("where", "take", "ours", "holds", "low"),
            *("high", "above", "below", "equals", "instead"),
        )
        texts = [*self.let.values(), *(getattr(self, name) for name in names)]
        if self.within != "rounding":
            texts.append(self.within)
        return [text for text in texts if text is not None]

    def tables(self, paper: str) -> dict[str, str]:
        """Return the tables that are read, ``report/table``, by their names; "" if there is one."""
        tables = self.table if isinstance(self.table, dict) else {"": self.table}
        return {
            name: table if "/" in table else f"{paper}/{table}"
            for name, table in tables.items()
            if table is not None
        }


@dataclass(frozen=True)
class Line:
    """A line of configuration: the rule, and where it is written."""

    file: str
    pattern: str
    rule: Rule


def read_claims(path: str) -> list[Claim]:
    """Read the claims; raise `ConfigError` for an error in the file."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != COLUMNS:
                raise ConfigError(path, "", f"must have the columns {', '.join(COLUMNS)}")
            claims = [Claim(**row) for row in rows]
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise ConfigError(path, "", f"cannot be read: {one_line(error)}") from None
    ids: set[str] = set()
    for claim in claims:
        if not re.fullmatch(r"[^/\s]+/[^/\s]+/[^/\s]+", claim.id):
            raise ConfigError(path, claim.id, "must be paper/artifact/name")
        if claim.id in ids:
            raise ConfigError(path, claim.id, "is there twice")
        ids.add(claim.id)
    return claims


def read_rules(path: str) -> dict[str, Rule]:
    """Read the rules of one paper by their patterns."""
    rules = read_yaml(Path(path))
    if not isinstance(rules, dict) or not rules:
        raise ConfigError(path, "", "must map patterns of claims to rules")
    return {pattern: parse(Rule, rule, path, str(pattern)) for pattern, rule in rules.items()}


def lines_of(
    claims: Iterable[Claim], rules: Mapping[str, Mapping[str, Rule]]
) -> list[tuple[Claim, Line]]:
    """Return each claim with its line; ``rules`` are by file, whose name is the paper's.

    A pattern may list several, separated by spaces. Raise `ConfigError` for a claim that no line
    or more than one is about, unless one of them names it, and for a line that is about none.
    """
    by_paper = {Path(file).stem: (file, paper_rules) for file, paper_rules in rules.items()}
    lines, used = [], set()
    for claim in claims:
        if claim.paper not in by_paper:
            raise ConfigError(claim.id, "", f"no file of rules{suggest(claim.paper, by_paper)}")
        file, paper_rules = by_paper[claim.paper]
        exact = [pattern for pattern in paper_rules if claim.name in pattern.split()]
        patterns = exact or [
            pattern
            for pattern in paper_rules
            if any(fnmatchcase(claim.name, part) for part in pattern.split())
        ]
        if len(patterns) != 1:
            message = f"is decided by {' and by '.join(patterns) or 'no line'}"
            raise ConfigError(file, claim.name, message)
        used.add((file, patterns[0]))
        lines.append((claim, Line(file, patterns[0], paper_rules[patterns[0]])))
    for file, paper_rules in by_paper.values():
        for pattern in paper_rules:
            if (file, pattern) not in used:
                near = suggest(pattern, [c.name for c in claims if c.paper == Path(file).stem])
                raise ConfigError(file, pattern, f"is about no claim{near}")
    return lines
