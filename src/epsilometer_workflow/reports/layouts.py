"""Tables as a paper prints them: its rows, its columns and its formats, as LaTeX and on a page.

Heads are written in TeX, in the configuration (`epsilometer_workflow.configuration.config.Layout`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from epsilometer.errors import ArgumentError, suggest

_LETTERS = {"alpha": "α", "delta": "δ", "gamma": "γ", "sigma": "σ", "tilde": "", "varepsilon": "ε"}
_SPECIAL = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"}
)


def latex(table: pd.DataFrame, layout: Mapping[str, Any]) -> str:
    """Return a tabular in the style of booktabs."""
    laid = arranged(table, layout, lambda text: text.translate(_SPECIAL))
    centred = "c" * laid.shape[1]
    return str(laid.to_latex(index=False, column_format=centred, multicolumn_format="c"))


def hypertext(table: pd.DataFrame, layout: Mapping[str, Any]) -> str:
    """Return an HTML table, with TeX in the heads as letters."""
    heads = {
        part: {name: _plain(head) for name, head in layout[part].items()}
        for part in ("rows", "across", "cells")
    }
    laid = arranged(table, {**layout, **heads}, html.escape)
    return str(laid.to_html(index=False, escape=False, border=0, classes="printed"))


def arranged(
    table: pd.DataFrame, layout: Mapping[str, Any], write: Callable[[str], str]
) -> pd.DataFrame:
    """Return the cells of the layout as texts, its heads as columns; raise `ArgumentError`.

    With ``across``, each of its values heads a group of columns, and equal ``rows`` share a row.
    """
    rows, across, cells = layout["rows"], layout["across"], layout["cells"]
    for name in (*rows, *across, *cells, *layout["leave_out"]):
        if name not in table:
            raise ArgumentError("layout", f"has no column {name!r}{suggest(name, list(table))}")
    shown = table
    for name, values in layout["leave_out"].items():
        shown = shown[~shown[name].isin(values)]
    names, first = list(layout["names"]), shown[next(iter({**rows, **cells}))]
    if set(first) <= set(names):
        shown = shown.loc[first.map(names.index).sort_values(kind="stable").index]
    texts = pd.DataFrame(
        {
            name: [write(_text(value, name, layout)) for value in shown[name]]
            for name in (*rows, *across, *cells)
        }
    )
    heads = {**rows, **cells}
    if not across:
        size = -(-len(texts) // layout["blocks"])
        parts = [
            texts.iloc[start : start + size].reset_index(drop=True)
            for start in range(0, len(texts), size)
        ]
        laid = pd.concat(parts, axis=1).fillna("")
        laid.columns = laid.columns.map(heads)
        return laid
    groups = {}
    for values, group in texts.groupby([*across], sort=False):
        titles = zip(across.values(), values, strict=True)
        title = ", ".join(f"{head} = {value}" if head else value for head, value in titles)
        part = group.set_index([*rows]) if rows else group.reset_index(drop=True)
        if not part.index.is_unique:
            raise ArgumentError("layout", f"has two cells for one row of {title}")
        groups[title] = part[[*cells]]
    laid = pd.concat(groups, axis=1).fillna("")
    laid.columns = pd.MultiIndex.from_tuples((top, heads[name]) for top, name in laid.columns)
    if not rows:
        return laid
    keys = laid.index.to_frame(index=False)
    keys.columns = pd.MultiIndex.from_tuples(("", heads[name]) for name in keys.columns)
    return pd.concat([keys, laid.reset_index(drop=True)], axis=1)


def _text(value: Any, column: str, layout: Mapping[str, Any]) -> str:
    """Return a cell as text: by its format, or named by the layout."""
    form = layout["formats"].get(column, "")
    if pd.isna(value):
        return str(layout["missing"].get(column, ""))
    if isinstance(value, str) or pd.api.types.is_bool(value):
        return str(layout["names"].get(str(value), value))
    if form == "count":  # 9588, and 8.7e6
        return f"{value:.0f}" if value < 1e5 else re.sub(r"e\+0*", "e", f"{value:.1e}")
    return format(float(value), form or "g")


def _plain(head: str) -> str:
    """Return a head in TeX as HTML."""
    text = re.sub(r"\\mathrm\{(\w+)\}", r"\1", html.escape(head).replace("$", ""))
    text = re.sub(r"\\([a-z]+)", lambda match: _LETTERS.get(match[1], match[1]), text)
    return re.sub(r"_\{?(\w+)\}?", r"<sub>\1</sub>", text)
