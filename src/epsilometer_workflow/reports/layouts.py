"""Tables as a paper prints them: its rows, its columns and its formats, as LaTeX and on a page.

On a page, and in LaTeX if the layout says so, the paper's number stands beside ours, and is marked
where the two differ in a digit that is shown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pandas as pd

from epsilometer.errors import ArgumentError, suggest
from epsilometer_workflow.files.printed import Layout
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


@dataclass(frozen=True)
class Writing:
    """How texts are written: of cells, of heads in TeX, and of the paper's numbers beside ours.

    The paper's numbers are written as ``theirs``, and as ``differing`` where ours is another.
    """

    cell: Callable[[str], str]
    head: Callable[[str], str]
    theirs: Callable[[str], str]
    differing: Callable[[str], str]


_LATEX = Writing(lambda text: text.translate(_SPECIAL), str, str, "\\textbf{{{}}}".format)


def latex(table: pd.DataFrame, layout: Layout) -> str:
    """Return a tabular in the style of booktabs, or several under titles (`parts`)."""
    tabulars = []
    for title, rows in parts(table, layout):
        laid = arranged(rows, layout, _LATEX)
        above = f"{_LATEX.cell(title)}\n\n" if title else ""
        centred = "c" * laid.shape[1]
        tabular = laid.to_latex(index=False, column_format=centred, multicolumn_format="c")
        tabulars.append(above + tabular)
    return "\n".join(tabulars)


def hypertext(table: pd.DataFrame, layout: Layout) -> str:
    """Return the same as HTML, with TeX in the heads as letters."""
    theirs = '<span class="theirs">{}</span>'
    differing = '<span class="theirs differs">{}</span>'
    writing = Writing(html.escape, _plain, theirs.format, differing.format)
    text = ""
    for title, rows in parts(table, layout):
        laid = arranged(rows, layout.model_copy(update={"beside": True}), writing)
        text += f"<p>{html.escape(title)}</p>" if title else ""
        text += laid.to_html(index=False, escape=False, border=0, classes="printed")
    return text


def parts(table: pd.DataFrame, layout: Layout) -> list[tuple[str, pd.DataFrame]]:
    """Return titles and rows of the tables that a layout makes; raise `ArgumentError`.

    An axis that varies and that the layout does not show is a column in front. Where values head
    groups of columns, that would be twice as wide: each value has a table of its own there.
    """
    if not layout.cells:
        raise ArgumentError("layout", f"has no cells; each is a column of {', '.join(table)}")
    for name in chain(layout.rows, layout.across, layout.cells, layout.leave_out):
        if name not in table:
            raise ArgumentError("layout", f"has no column {name!r}{suggest(name, list(table))}")
    for name, values in layout.leave_out.items():
        table = table[~table[name].isin(values)]
    axes = _varying(table, layout) if layout.across else []
    if not axes:
        return [("", table)]
    titled = []
    for values, rows in table.groupby(axes, sort=False):
        said = map("{} = {}".format, axes, values)
        titled.append((", ".join(said), rows))
    return titled


def arranged(table: pd.DataFrame, layout: Layout, writing: Writing) -> pd.DataFrame:
    """Return the cells of the layout as texts, its heads as columns; raise `ArgumentError`."""
    cells = layout.cells
    if layout.beside:
        cells = _with_the_papers(cells, list(table))
    front = {}
    if not layout.across:
        for axis in _varying(table, layout):
            front[axis] = [_HEADS.get(axis, axis)]
    columns = front | layout.rows | layout.across | cells
    first = table[next(iter(columns))]
    names = list(layout.names)
    if set(first) <= set(names):
        table = table.loc[first.map(names.index).sort_values(kind="stable").index]
    texts = pd.DataFrame(index=range(len(table)))
    heads = {}
    for name, (head, *form) in columns.items():
        heads[name] = writing.head(head)
        texts[name] = _texts(table[name], layout, form).map(writing.cell)
    printed = [name for name in cells if name not in layout.cells]
    known = table[printed].notna().any(axis=1).to_numpy()  # rows of which it prints a number
    for name in printed:
        own = name.removeprefix(_THEIRS)
        above = _texts(table[own].map(_nudged), layout, cells[own][1:])
        same = (texts[name] == texts[own]) | (texts[name] == above)  # 0.125 is .12 and .13
        differing = texts[name].map(writing.differing)
        texts[name] = texts[name].map(writing.theirs).where(same, differing).where(known, "")
    if layout.across:
        return _grouped(texts, layout, list(cells), heads)
    return _in_blocks(texts, layout.blocks).rename(columns=heads)


def _texts(values: pd.Series, layout: Layout, form: Sequence[str]) -> pd.Series:
    """Return cells as texts, one below the other."""
    return pd.Series([_text(value, layout.names, *form) for value in values], dtype=object)


def _in_blocks(texts: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the rows in blocks side by side."""
    size = -(-len(texts) // count)
    starts = range(0, len(texts), size)
    blocks = [texts.iloc[start : start + size].reset_index(drop=True) for start in starts]
    return pd.concat(blocks, axis=1).fillna("")


def _grouped(
    texts: pd.DataFrame, layout: Layout, cells: list[str], heads: Mapping[str, str]
) -> pd.DataFrame:
    """Return a group of columns for each combination of the values that head them."""
    across = list(layout.across)
    rows = list(layout.rows)
    groups = {}
    for values, group in texts.groupby(across, sort=False):
        said = []
        for name, value in zip(across, values, strict=True):
            said += [f"{heads[name]} = {value}" if heads[name] else value]
        title = ", ".join(said)
        part = group.set_index(rows) if rows else group.reset_index(drop=True)
        if not part.index.is_unique:
            raise ArgumentError("layout", f"has two cells for one row of {title}")
        groups[title] = part[cells]
    laid = pd.concat(groups, axis=1).fillna("").rename(columns=heads, level=1)
    if rows:
        laid = laid.rename_axis([heads[name] for name in rows]).reset_index()
    return laid


def _varying(table: pd.DataFrame, layout: Layout) -> list[str]:
    """Return the axes that vary and that the layout does not show.

    A head such as a scale, which is another name of an axis, shows it.
    """
    shown = {*layout.rows, *layout.across, *layout.cells} & IDENTITY.keys()
    heads = [name for name in (*layout.rows, *layout.across) if name not in shown]
    axes = []
    for axis in table:
        if axis in IDENTITY and axis not in shown:
            same = [head for head in heads if told(table[head], table[[axis]])]
            if not told(table[axis], table[[*shown, *same]]):
                axes.append(axis)
    return axes


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
