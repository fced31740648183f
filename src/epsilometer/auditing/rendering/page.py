"""A verdict as a page of HTML: one file with its figures in it."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np

from epsilometer.auditing.formats import input_text, percent_sure, short
from epsilometer.auditing.rendering.junit import legal
from epsilometer.auditing.statistics.claims import AnyClaim, EventClaim, Renyi, parts
from epsilometer.auditing.verdict import Verdict, Witness, guesses_rows
from epsilometer.proportions import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARK = '<meta name="generator" content="epsilometer'
"""The mark of a page that this module has made."""

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.loopcontrols"],
)
for _filter in (guesses_rows, input_text, percent_sure, short):
    _TEMPLATES.filters[_filter.__name__] = _filter
_MEASURED, _CLAIMED, _GUIDE = "#0072b2", "#b3261e", "#666666"


def html_of(*verdicts: tuple[Verdict, AnyClaim], in_words: bool = False) -> str:
    """Return a page of verdicts on claims; headings of several are ``#claim-1`` and on.

    ``in_words`` is for verdicts whose figures or tables cannot be drawn: below each heading is
    what the command would print.
    """
    template = _TEMPLATES.get_template("page.html.j2")
    values = _words if in_words else _values
    return legal(template.render(audits=[values(*pair) for pair in verdicts]))


def _words(verdict: Verdict, _: AnyClaim) -> dict[str, Any]:
    return {"verdict": verdict, "headline": verdict.claimed, "words": str(verdict)}


def _values(verdict: Verdict, claim: AnyClaim) -> dict[str, Any]:
    """Return the values for the template: tables, figures, and facts that need the claim."""
    limit = len(parts(claim)) / verdict.alpha
    bounds = [
        {
            "number": bound.quantity + (f", order {bound.order:g}" if bound.order else ""),
            "claimed": short(bound.claimed),
            "at least": short(bound.lower),
            "at most": None if bound.upper is None else short(bound.upper),
        }
        for bound in verdict.bounds
    ]
    values = {
        "verdict": verdict,
        "headline": verdict.lines()[0].partition(": ")[2] or verdict.claimed,
        "limit": limit,
        "bounds": _table(bounds),
        "checks": _table(verdict.checks),
        "estimates": _table(verdict.estimates),
    }
    if verdict.evidence:
        values["evidence_figure"] = _svg(_drawn_evidence(verdict, limit))
    if (event := verdict.witness) is not None and verdict.guesses is None:
        counts = (event.count, event.draws), (event.count_prime, event.draws_prime)
        values["shares"] = [count / max(draws, 1) for count, draws in counts]
        values["of_events"] = isinstance(parts(claim)[0], EventClaim)
        values["witness_figure"] = _svg(_drawn_witness(event, claim))
    return values


def _table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return rows as texts, the names of the columns first, without empty columns."""
    keys = dict.fromkeys(key for row in rows for key, value in row.items() if _cell(value))
    return [list(keys), *([_cell(row.get(key)) for key in keys] for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else str(value)


# --- figures --------------------------------------------------------------------------------------


def _drawn_evidence(verdict: Verdict, limit: float) -> Figure:
    figure, ax = _axes(2.9)
    shares = [float(look["share"]) for look in verdict.evidence]
    values = [float(look["log10 e-value"]) for look in verdict.evidence]
    ax.plot([0.0, *shares], [0.0, *values], color=_MEASURED, linewidth=1.6)
    ax.axhline(math.log10(limit), color=_CLAIMED, linestyle="--", linewidth=1.2)
    crossed = values[-1] > math.log10(limit) if values else False
    ax.annotate(  # on the side of the line where the curve does not end
        "refuted above",
        (0.99, math.log10(limit)),
        xycoords=("axes fraction", "data"),
        xytext=(0, -4 if crossed else 3),
        textcoords="offset points",
        ha="right",
        va="top" if crossed else "bottom",
        color=_CLAIMED,
    )
    ax.margins(y=0.12)
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of the draws")
    ax.set_ylabel("log10 of the e-value")
    return figure


def _drawn_witness(witness: Witness, claim: AnyClaim) -> Figure:
    figure, ax = _axes(2.2)
    p = _interval(witness.count, witness.draws)
    q = _interval(witness.count_prime, witness.draws_prime)
    allowed = tuple(_allowed(claim, each) for each in q)
    rows = (
        ("first side", p, _MEASURED),
        ("allowed there", allowed, _CLAIMED),
        ("other side", q, _MEASURED),
    )
    for y, (_, (low, middle, high), colour) in enumerate(rows):
        ax.plot([low, high], [-y, -y], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        ax.plot([middle], [-y], "o" if colour == _MEASURED else "D", color=colour, markersize=6)
        ax.annotate(
            f"{middle:.3g}", (middle, -y), xytext=(0, 7), textcoords="offset points", ha="center"
        )
    ax.set_yticks([-y for y in range(len(rows))], [name for name, _, _ in rows])
    ax.set_ylim(-len(rows) + 0.5, 0.7)
    ax.set_xlim(0, 1.08 * max(p[2], q[2], allowed[1], 1e-12))
    ax.set_xlabel("probability of the event")
    return figure


def _allowed(claim: AnyClaim, q: float) -> float:
    """Return the largest probability that the claim allows where it is ``q`` on the other side.

    A Rényi divergence of order a of at most rho allows (e^rho q)^((a-1)/a), by Hölder's inequality.
    """
    most = 1.0
    for part in parts(claim):
        if isinstance(part, EventClaim):
            most = min(most, float(part.likelier(np.array(q), part.level)))
            continue
        for order in part.orders:
            rho = part.level if isinstance(part, Renyi) else part.level * order
            log = (rho + math.log(q)) * (order - 1) / order if q > 0 else -math.inf
            most = min(most, math.exp(min(log, 0.0)))
    return most


def _interval(count: int, draws: int) -> tuple[float, float, float]:
    low, high = clopper_pearson(count, draws)
    return float(low), count / max(draws, 1), float(high)


def _axes(height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.7, height), layout="constrained")
    ax = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_GUIDE)
    return figure, ax


def _svg(figure: Figure) -> str:
    """Return a figure as SVG in base64, without its time."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "epsilometer"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(buffer.getvalue()).decode()
