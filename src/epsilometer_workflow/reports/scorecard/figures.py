"""The figure of the scorecard."""

from __future__ import annotations

import pandas as pd

from epsilometer_workflow.reports import style
from epsilometer_workflow.reports.scorecard.outcomes import ERRATUM, NO, NOT_HERE, UNDECIDED, YES

_COLOURS = {
    YES: "#2e7d5b",
    ERRATUM: "#a9d5bd",
    NO: "#c0392b",
    UNDECIDED: "#e0a458",
    NOT_HERE: "#dddddd",
}
_ROW = 0.19  # inches


def shares(table: pd.DataFrame) -> style.Figure:
    """Draw a bar for each artifact, a panel a paper: how many statements agree."""
    parts = table[(table["paper"] != "all") & (table["artifact"] != "all")]
    papers = list(dict.fromkeys(parts["paper"]))
    figure, axes = style.panels(1, max(len(papers), 1))
    most = max((len(parts[parts["paper"] == paper]) for paper in papers), default=1)
    figure.set_figheight(max(style.PANEL[1], _ROW * most + 1))
    for ax, paper in zip(axes[0], papers, strict=False):
        rows = parts[parts["paper"] == paper].iloc[::-1]
        left = rows[YES] * 0
        for verdict, colour in _COLOURS.items():
            ax.barh(rows["artifact"], rows[verdict], left=left, color=colour, label=verdict)
            left = left + rows[verdict]
        total = table[(table["paper"] == paper) & (table["artifact"] == "all")].iloc[0]
        agree = total[YES] + total[ERRATUM]
        ax.set(title=f"{paper}: {agree} of {total['decided']}", xlabel="statements")
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(rows) - most - 0.6, len(rows) - 0.4)  # bars of one height, from the top
    style.legend(figure)
    return figure
