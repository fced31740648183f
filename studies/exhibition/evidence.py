"""The figures of a verdict: the growth of its e-value, and the counts of its witness."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilometer.claims import AnyClaim
from epsilometer.numerics.proportions import clopper_pearson

_MEASURED, _CLAIMED, _GUIDE = "#0072b2", "#b3261e", "#666666"
_SIZE = 4.7, 2.9  # inches


def image(draw: Callable[[Axes], object], height: float = _SIZE[1]) -> str:
    """Return a figure as SVG in base64, without its time."""
    figure, buffer = Figure(figsize=(_SIZE[0], height), layout="constrained"), io.BytesIO()
    ax = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_GUIDE)
    draw(ax)
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "epsilometer"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(buffer.getvalue()).decode()


def draw_evidence(ax: Axes, looks: Sequence[Mapping[str, float]], limit: float) -> None:
    """Draw the e-value by the share of the draws, and the line beyond which it refutes."""
    shares = [look["share"] for look in looks]
    values = [look["log10 e-value"] for look in looks]
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


def draw_witness(
    ax: Axes, counts: Sequence[tuple[int, int]], claim: AnyClaim, sides: tuple[str, str]
) -> None:
    """Draw the probabilities of an event on both sides, and what the claim allows.

    ``counts`` are the draws in the event, and all draws, of each side; ``sides`` their names.
    """
    p, q = (_interval(count, draws) for count, draws in counts)
    allowed = tuple(_allowed(claim, each) for each in q)
    rows = (
        (f"on {sides[0]}", p, _MEASURED),
        ("allowed there", allowed, _CLAIMED),
        (f"on {sides[1]}", q, _MEASURED),
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


def _allowed(claim: AnyClaim, q: float) -> float:
    """Return the largest probability that the claim allows where it is ``q`` on the other side.

    A Rényi divergence of order a of at most rho allows (e^rho q)^((a-1)/a), by Hölder's inequality.
    """
    most = 1.0
    for part in claim.parts:
        if part.events:
            most = min(most, float(part.likelier(np.array(q), part.level)))
            continue
        for order in part.orders:
            rho = part.divergence(part.level, order)
            log = (rho + math.log(q)) * (order - 1) / order if q > 0 else -math.inf
            most = min(most, math.exp(min(log, 0.0)))
    return most


def _interval(count: int, draws: int) -> tuple[float, float, float]:
    low, high = clopper_pearson(count, draws)
    return float(low), count / max(draws, 1), float(high)
