"""Tables as a paper prints them: its rows, its columns and its formats, as LaTeX and on a page.

On a page, and in LaTeX if the layout says so, the paper's number stands beside ours, and is marked
where the two differ in a digit that is shown. A layout is a
`epsilometer_workflow.configuration.config.Layout` as plain data.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from epsilometer.errors import ArgumentError, suggest
from epsilometer_workflow.reports.grouping import IDENTITY, told

_LETTERS = {
    "alpha": "α",
    "delta": "δ",
    "gamma": "γ",
    "lambda": "λ",
    "sigma": "σ",
    "tilde": "",
    "varepsilon": "ε",
}
_HEADS = {"epsilon": r"$\varepsilon$", "lambda": r"$\lambda$"}
_THEIRS = "paper_"  # what the names of columns with the paper's numbers begin with
_SPECIAL = str.maketrans({letter: f"\\{letter}" for letter in "&%$#_{}"})


def latex(table: pd.DataFrame, layout: Mapping[str, Any]) -> str:
    """Return a tabular in the style of booktabs."""
    marked = "\\textbf{{{}}}".format
    laid = arranged(table, layout, lambda text: text.translate(_SPECIAL), str, str, marked)
    centred = "c" * laid.shape[1]
    return str(laid.to_latex(index=False, column_format=centred, multicolumn_format="c"))


def hypertext(table: pd.DataFrame, layout: Mapping[str, Any]) -> str:
    """Return an HTML table, with TeX in the heads as letters."""
    theirs, marked = (f'<span class="theirs{kind}">{{}}</span>'.format for kind in ("", " differs"))
    laid = arranged(table, {**layout, "beside": True}, html.escape, _plain, theirs, marked)
    return str(laid.to_html(index=False, escape=False, border=0, classes="printed"))


def arranged(
    table: pd.DataFrame,
    layout: Mapping[str, Any],
    write: Callable[[str], str],
    write_head: Callable[[str], str],
    write_theirs: Callable[[str], str],
    mark: Callable[[str], str],
) -> pd.DataFrame:
    """Return the cells of the layout as texts, its heads as columns; raise `ArgumentError`.

    The paper's numbers are written by ``write_theirs``, or by ``mark`` where ours is another.
    """
    if not layout["cells"]:
        raise ArgumentError("layout", f"has no cells; each is a column of {', '.join(table)}")
    across, names = list(layout["across"]), list(layout["names"])
    cells = _with_the_papers(layout["cells"], list(table)) if layout["beside"] else layout["cells"]
    columns = layout["rows"] | layout["across"] | cells
    shown = table
    for name in [*columns, *layout["leave_out"]]:
        if name not in table:
            raise ArgumentError("layout", f"has no column {name!r}{suggest(name, list(table))}")
        shown = shown[~shown[name].isin(layout["leave_out"].get(name, []))]
    more = _varying(shown, layout)
    columns = more | columns
    rows = [*more, *layout["rows"]] if across else []
    first = shown[next(iter(columns))]
    if set(first) <= set(names):
        shown = shown.loc[first.map(names.index).sort_values(kind="stable").index]
    heads = {name: write_head(column[0]) for name, column in columns.items()}
    texts = pd.DataFrame(
        {
            name: [write(_text(value, layout["names"], *column[1:])) for value in shown[name]]
            for name, column in columns.items()
        }
    )
    printed = [name for name in cells if name not in layout["cells"]]
    known = shown[printed].notna().any(axis=1).to_numpy()  # rows of which it prints a number
    for name in printed:
        own = name.removeprefix(_THEIRS)
        above = [_text(_nudged(x), layout["names"], *cells[own][1:]) for x in shown[own]]
        same = (texts[name] == texts[own]) | (texts[name] == above)  # 0.125 is .12 and .13
        texts[name] = texts[name].map(write_theirs).where(same, texts[name].map(mark))
        texts[name] = texts[name].where(known, "")
    if not across:
        size = -(-len(texts) // layout["blocks"])
        starts = range(0, len(texts), size)
        blocks = [texts.iloc[i : i + size].reset_index(drop=True) for i in starts]
        return pd.concat(blocks, axis=1).fillna("").rename(columns=heads)
    groups = {}
    for values, group in texts.groupby(across, sort=False):
        said = [f"{heads[n]} = {v}" if heads[n] else v for n, v in zip(across, values, strict=True)]
        part = group.set_index(rows) if rows else group.reset_index(drop=True)
        if not part.index.is_unique:
            raise ArgumentError("layout", f"has two cells for one row of {', '.join(said)}")
        groups[", ".join(said)] = part[list(cells)]
    laid = pd.concat(groups, axis=1).fillna("").rename(columns=heads, level=1)
    return laid.rename_axis([heads[name] for name in rows]).reset_index() if rows else laid


def _varying(table: pd.DataFrame, layout: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the axes that vary and that the layout does not show, as columns in front.

    A head such as a scale, which is another name of an axis, shows it.
    """
    shown = {*layout["rows"], *layout["across"], *layout["cells"]} & IDENTITY.keys()
    heads = [name for name in (*layout["rows"], *layout["across"]) if name not in shown]
    more: dict[str, list[str]] = {}
    for axis in (name for name in table if name in IDENTITY.keys() - shown):
        same = [head for head in heads if told(table[head], table[[axis]])]
        if not told(table[axis], table[[*shown, *same]]):
            more[axis] = [_HEADS.get(axis, axis)]
    return more


def _with_the_papers(cells: Mapping[str, list[str]], known: list[str]) -> dict[str, list[str]]:
    """Return columns of cells, each with the paper's after it if the table has that."""
    both = {}
    for name, column in cells.items():
        both[name] = column
        if f"{_THEIRS}{name}" in known:
            both[f"{_THEIRS}{name}"] = ["paper", *column[1:]]
    return both


def _nudged(value: Any) -> Any:
    """Return a number a little further from zero, so that a half is rounded up."""
    return value * (1 + 1e-9) if isinstance(value, float) else value


def _text(value: Any, names: Mapping[str, str], form: str = "", missing: str = "") -> str:
    """Return a cell as text: by its format, or named by the layout."""
    if pd.isna(value):
        return missing
    if isinstance(value, str) or pd.api.types.is_bool(value):
        return names.get(str(value), str(value))
    if form == "count":  # 9588, and 8.7e6
        return f"{value:.0f}" if value < 1e5 else re.sub(r"e\+0*", "e", f"{value:.1e}")
    return format(float(value), form or "g")


def _plain(head: str) -> str:
    """Return a head in TeX as HTML."""
    text = re.sub(r"\\mathrm\{(\w+)\}", r"\1", html.escape(head).replace("$", ""))
    text = re.sub(r"\\([a-z]+)", lambda match: _LETTERS.get(match[1], match[1]), text)
    text = re.sub(r"\^\{?(\w+)\}?", r"<sup>\1</sup>", text)
    return re.sub(r"_\{?(\w+)\}?", r"<sub>\1</sub>", text)
