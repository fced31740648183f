"""The statements of the papers, each with the criterion that decides it, and the verdicts.

A file holds the statements of a paper: id (paper/artifact/name), artifact, quantity, key (its
parameters, ``k=v;k=v``), printed, kind, scale (the smallest that decides; ``none``: any) and where
it stands. A verdict is ``yes``; ``no``; ``erratum`` where the paper has it wrong; or ``undecided``
where more has to be drawn than was.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pandas as pd

from epsilometer.errors import ConfigError, one_line, suggest
from scorecard import askin2022, gorla2022, kutta2022, lu2022, settings
from scorecard.counting import ERRATUM, NO, UNDECIDED, YES
from scorecard.criteria import Criterion
from scorecard.rows import Columns, Keys, MissingRows, UnknownColumn, Value, as_number, columns

COLUMNS = ("id", "artifact", "quantity", "key", "printed", "kind", "scale", "where")
ANY_SCALE = "none"

Criteria = Mapping[str, Mapping[str, Criterion]]
"""Criteria by paper, and by a pattern of ids without the paper, or several with spaces between."""

CRITERIA: Criteria = {
    "gorla2022": gorla2022.CRITERIA,
    "askin2022": askin2022.CRITERIA,
    "kutta2022": kutta2022.CRITERIA,
    "lu2022": lu2022.CRITERIA,
}


@dataclass(frozen=True)
class Statement:
    """A number or a statement that a paper prints."""

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

    @property
    def keys(self) -> Keys:
        """Its parameters, as numbers where they are numbers."""
        parts = [part.partition("=") for part in self.key.split(";") if "=" in part]
        return Keys(
            (name, text if (n := as_number(text)) is None else n) for name, _, text in parts
        )


@dataclass(frozen=True)
class Verdict:
    """The verdict on a statement.

    ``ratio`` is ours over the printed number, NaN unless both are numbers; ``low`` and ``high`` are
    the limits of ours, NaN where open.
    """

    ours: str
    ratio: float
    low: float
    high: float
    agrees: str
    reason: str


def read_statements(path: str) -> list[Statement]:
    """Read the statements of a paper; raise `ConfigError` for an error in the file."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != COLUMNS:
                raise ConfigError(path, "", f"must have the columns {', '.join(COLUMNS)}")
            listed = [Statement(**row) for row in rows]
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise ConfigError(path, "", f"cannot be read: {one_line(error)}") from None
    statements: dict[str, Statement] = {}
    for statement in listed:
        if not re.fullmatch(r"[^/\s]+/[^/\s]+/[^/\s]+", statement.id):
            raise ConfigError(path, statement.id, "must be paper/artifact/name")
        if statement.id in statements:
            raise ConfigError(path, statement.id, "is there twice")
        statements[statement.id] = statement
    return list(statements.values())


def pair(statements: Iterable[Statement], criteria: Criteria) -> list[tuple[Statement, str]]:
    """Return each statement of a paper with the pattern of its criterion.

    Raise `ConfigError` for a statement with no criterion or with several, unless one of them names
    it, and for a criterion without a statement.
    """
    pairs: list[tuple[Statement, str]] = []
    names: dict[str, list[str]] = {}
    for statement in statements:
        if statement.paper not in criteria:
            near = suggest(statement.paper, criteria)
            raise ConfigError(statement.id, "", f"the paper has no criteria{near}")
        patterns = {pattern: pattern.split() for pattern in criteria[statement.paper]}
        matching = [p for p, parts in patterns.items() if statement.name in parts] or [
            pattern
            for pattern, parts in patterns.items()
            if any(fnmatchcase(statement.name, part) for part in parts)
        ]
        if len(matching) != 1:
            message = f"is decided by {' and by '.join(matching) or 'no criterion'}"
            raise ConfigError(file_of(statement.paper), statement.name, message)
        names.setdefault(statement.paper, []).append(statement.name)
        pairs.append((statement, matching[0]))
    used = {(statement.paper, pattern) for statement, pattern in pairs}
    for paper, known in names.items():
        for pattern in criteria[paper]:
            if (paper, pattern) not in used:
                message = f"is about no statement{suggest(pattern, known)}"
                raise ConfigError(file_of(paper), pattern, message)
    return pairs


def file_of(paper: str) -> str:
    """Return the file with the criteria of a paper, for messages."""
    return f"studies/scorecard/{paper}.py"


def judge(
    statement: Statement, criterion: Criterion, tables: Mapping[str, Columns], *, decides: bool
) -> Verdict:
    """Decide a statement; ``decides`` tells whether the scale is large enough for it.

    ``tables`` holds columns by ``report/table``. Raise `ConfigError` where they do not hold the
    columns of the criterion, or, at a scale that decides, the rows.
    """
    larger = f"needs the scale {statement.scale}"
    try:
        compared = criterion.compare(tables, statement.paper, statement.keys, statement.printed)
    except (
        MissingRows,
        UnknownColumn,
        ArithmeticError,
        IndexError,
        TypeError,
        ValueError,
    ) as error:
        if not decides and not isinstance(error, UnknownColumn):
            return Verdict("", math.nan, math.nan, math.nan, UNDECIDED, larger)
        raise ConfigError(file_of(statement.paper), statement.name, one_line(error)) from None
    if not decides and criterion.condition:  # as of measured times
        return Verdict("", math.nan, math.nan, math.nan, UNDECIDED, larger)
    if not decides:
        agrees, reasons = UNDECIDED, [larger]
    elif compared.agrees:
        agrees, reasons = YES, [criterion.because]
    elif compared.corrected:
        agrees, reasons = ERRATUM, [criterion.erratum]
    else:
        outside = "the condition does not hold" if criterion.condition else "ours lies elsewhere"
        agrees, reasons = NO, [criterion.because, criterion.differs or outside]
    numbers = compared.ratio, compared.low, compared.high
    return Verdict(_text(compared.ours), *numbers, agrees, "; ".join(filter(None, reasons)))


def verdicts(tables: Mapping[str, pd.DataFrame], file: str, criteria: Criteria) -> pd.DataFrame:
    """Return a row for each statement of a paper's file, with its verdict by these criteria."""
    rows = []
    reached = _scales_reached(tables)
    known = {name: columns(table) for name, table in tables.items()}
    for statement, pattern in pair(read_statements(file), criteria):
        criterion = criteria[statement.paper][pattern]
        verdict = judge(statement, criterion, known, decides=statement.scale in reached)
        texts = {
            "artifact": statement.artifact.removeprefix("text:"),
            "key": statement.key.replace(";", "; "),
        }
        rows.append(vars(statement) | vars(verdict) | texts)
    shown = ["artifact", "quantity", "key", "printed"]
    shown += ["ours", "ratio", "low", "high", "agrees", "reason"]
    return pd.DataFrame(rows, columns=shown).astype(dict.fromkeys(("ratio", "low", "high"), float))


def _scales_reached(tables: Mapping[str, pd.DataFrame]) -> set[str]:
    """Return the scales that decide no more than this one, in the order of the configuration."""
    values = tables[settings.TABLE].set_index("setting")["value"]
    scale, scales = (json.loads(values[f"main.{name}"]) for name in ("scale", "scales"))
    return {ANY_SCALE, *scales[: scales.index(scale) + 1]}


def _text(value: Value) -> str:
    """Return a number to six digits, or in whole, or a text, as the table has it."""
    if np.ndim(value):
        return ", ".join(_text(entry) for entry in value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, str):
        return value
    number = float(value)
    if math.isnan(number):
        return ""
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e13 else f"{number:.6g}"
