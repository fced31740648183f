"""A verdict as a page of HTML: one file with its figures in it, which asks for no other."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilometer.audit.claims import AnyClaim, EventClaim, Renyi, parts
from epsilometer.audit.junit import legal
from epsilometer.audit.verdict import (
    Verdict,
    Witness,
    guesses_rows,
    input_words,
    percent_sure,
    short,
)
from epsilometer.proportions import clopper_pearson

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARK = '<meta name="generator" content="epsilometer'
"""By this a page of ours is known again."""

_MEANINGS = {
    "violated": "The outputs contradict the claim. Where it holds, an audit says so with "
    "probability {alpha:g} at most, over all pairs, directions and events together.",
    "not refuted": "These draws do not contradict the claim. This is no proof of it: what shows in "
    "outputs that are rarer than what was drawn stays unseen. {detectable}",
    "holds": "With {sure} % confidence the level is at most what is claimed, on these inputs and "
    "if what was said of the outputs is true.",
    "undecided": "These draws do not contradict the claim, but they were too few to find what was "
    "to be found. {detectable}",
    "invalid": "Nothing can be said of the claim: what was audited failed, or is no sampler, whose "
    "draws are independent and of one law.",
}
_COLOURS = {
    "violated": "#b3261e",
    "not refuted": "#1f6f43",
    "holds": "#1f6f43",
    "undecided": "#8a5a00",
    "invalid": "#5f5f5f",
}
_STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 0 auto;
  max-width: 46rem; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.word { color: #fff; border-radius: .3rem; padding: .1rem .5rem; }
figure { margin: 1rem 0; } figure img { width: 100%; max-width: 34rem; height: auto; }
figcaption, .note { color: #444; font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0;
  border-bottom: 1px solid #ddd; min-width: 4rem; }
pre { background: #f4f4f4; padding: .7rem; white-space: pre-wrap; }
"""
_SEEN, _CLAIMED, _GUIDE = "#0072b2", "#b3261e", "#666666"


def html_of(verdict: Verdict, claim: AnyClaim) -> str:
    """Return the page; ``claim`` is what the verdict is about."""
    word = verdict.verdict
    headline = verdict.lines()[0].partition(": ")[2] or verdict.claimed
    sections = [
        _asked(verdict),
        _answer(verdict),
        _witness(verdict, claim),
        _cause(verdict),
        _evidence(verdict, claim),
        _section("Is it a sampler?", _table(verdict.checks, "No checks were made.")),
        _estimates(verdict),
        _provenance(verdict),
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{MARK}">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(word)}: {_text(verdict.claimed)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1><span class="word" style="background:{_COLOURS[word]}">{_text(word)}</span>
{_text(headline)}</h1>
{"".join(sections)}</body>
</html>
"""


# --- sections -------------------------------------------------------------------------------------


def _asked(verdict: Verdict) -> str:
    rows = [("mechanism", verdict.source), ("claim", verdict.claimed)]
    if verdict.pairs > 1:
        rows.append(("pairs of inputs", str(verdict.pairs)))
    if verdict.pair is not None:
        name = f"{verdict.name}: " if verdict.name else ""
        x, y = (input_words(x, 400) for x in verdict.pair)
        rows.append(("inputs" if verdict.pairs == 1 else "of these", f"{name}x = {x}, x' = {y}"))
    method = "bets on the way" if verdict.method == "anytime" else "one exact test at the end"
    method = "guesses about canaries of one run" if verdict.method == "one run" else method
    rows.append(("test", f"{method}, alpha = {verdict.alpha:g}"))
    if verdict.detect is not None:
        rows.append(("to be found", short(verdict.detect)))
    kind = f", {verdict.outputs}" if verdict.outputs else ""
    if verdict.method != "one run":
        rows.append(("draws", f"{verdict.draws} of each side{kind}; {verdict.seconds:.1f} s"))
    return _section("What was asked", _pairs(rows))


def _answer(verdict: Verdict) -> str:
    level = "no level" if verdict.detectable is None else f"a level of {short(verdict.detectable)}"
    meaning = _MEANINGS[verdict.verdict].format(
        alpha=verdict.alpha,
        sure=percent_sure(verdict.alpha),
        detectable=f"With probability .9 they would have found {level}.",
    )
    found = f"<p>{_text(meaning)}</p>{_list(verdict.reasons)}"
    if verdict.bounds:
        rows = [
            {
                "number": bound.quantity + (f", order {bound.order:g}" if bound.order else ""),
                "claimed": short(bound.claimed),
                "at least": short(bound.lower),
                **({} if bound.upper is None else {"at most": short(bound.upper)}),
            }
            for bound in verdict.bounds
        ]
        found += _table(rows, "")
        found += _note(f"Bounds of finite sample, at {percent_sure(verdict.alpha)} % confidence.")
    return _section("Verdict", found)


def _witness(verdict: Verdict, claim: AnyClaim) -> str:
    if verdict.guesses is not None:
        note = "The rule, or the rules that share alpha, were fixed before any guess was looked at."
        return _section("Guesses", _pairs(guesses_rows(verdict.guesses)) + _note(note))
    seen = verdict.witness
    if seen is None:
        return _section("Witness", "<p>No event of the outputs speaks against the claim.</p>")
    ours, theirs = seen.count / max(seen.draws, 1), seen.count_prime / max(seen.draws_prime, 1)
    text = (
        f"<p>The event: <strong>{_text(seen.event)}</strong>.</p>"
        f"<p>{seen.count} of {seen.draws} fresh draws lie in it ({short(100 * ours)} %), against "
        f"{seen.count_prime} of {seen.draws_prime} ({short(100 * theirs)} %)"
    )
    text += f": {_text(verdict.direction)}.</p>" if verdict.direction else ".</p>"
    if seen.note:
        text += f"<p>Note: {_text(seen.note)}.</p>"
    text += _note("It was chosen on other draws than those that are counted here.")
    if not isinstance(parts(claim)[0], EventClaim):
        text += _note(
            "The bound itself rests on a function of the outputs; it is large in this event."
        )
    caption = (
        "The probabilities of the event with their exact 95 % intervals, and the largest that the "
        "claim allows on the first side where the other is as it was seen."
    )
    return _section("Witness", text + _figure(_drawn_witness(seen, claim), caption))


def _cause(verdict: Verdict) -> str:
    if verdict.cause is None:
        return ""
    words = "\n".join(map(str, verdict.cause["words"]))
    note = f"{verdict.cause['runs']} runs on x and on x', each with the same noise on both."
    return _section("Cause", f"<pre>{_text(words)}</pre>{_note(note)}")


def _evidence(verdict: Verdict, claim: AnyClaim) -> str:
    if not verdict.evidence:
        how = "One exact test at the end has no course of evidence."
        return _section("Evidence", f"<p>{how}</p>") if verdict.method == "exact" else ""
    limit = len(parts(claim)) / verdict.alpha
    caption = (
        f"What one unit of money became that was bet against the claim. Where the claim holds it "
        f"reaches {short(limit)}, the dashed line, with probability {1 / limit:g} at most, "
        "whenever one looks."
    )
    return _section("Evidence", _figure(_drawn_evidence(verdict, limit), caption))


def _estimates(verdict: Verdict) -> str:
    note = _note("Said beside the verdict, on the same draws; it does not rest on them.")
    table = _table(verdict.estimates, "")
    return _section("What the papers' methods say", note + table) if verdict.estimates else ""


def _provenance(verdict: Verdict) -> str:
    rows = [("seed", str(verdict.seed))]
    for name, value in verdict.provenance.items():
        if isinstance(value, Mapping):
            rows += [(f"{name}: {key}", str(part)) for key, part in value.items()]
        else:
            rows.append((name, str(value)))
    again = f"<pre>{_text(verdict.replay)}</pre>" if verdict.replay else ""
    return _section("Where it comes from", _pairs(rows) + again)


# --- figures --------------------------------------------------------------------------------------


def _drawn_evidence(verdict: Verdict, limit: float) -> Figure:
    figure, ax = _axes(2.9)
    shares = [float(look["share"]) for look in verdict.evidence]
    values = [float(look["log10 e-value"]) for look in verdict.evidence]
    ax.plot([0.0, *shares], [0.0, *values], color=_SEEN, linewidth=1.6)
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


def _drawn_witness(seen: Witness, claim: AnyClaim) -> Figure:
    figure, ax = _axes(2.2)
    p = _interval(seen.count, seen.draws)
    q = _interval(seen.count_prime, seen.draws_prime)
    allowed = (_allowed(claim, q[0]), _allowed(claim, q[1]), _allowed(claim, q[2]))
    rows = (
        ("first side", p, _SEEN),
        ("allowed there", allowed, _CLAIMED),
        ("other side", q, _SEEN),
    )
    for y, (_, (low, middle, high), colour) in enumerate(rows):
        ax.plot([low, high], [-y, -y], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        ax.plot([middle], [-y], "o" if colour == _SEEN else "D", color=colour, markersize=6)
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
    for one in parts(claim):
        if isinstance(one, EventClaim):
            most = min(most, float(one.likelier(np.array(q), one.level)))
            continue
        for order in one.orders:
            rho = one.level if isinstance(one, Renyi) else one.level * order
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


def _figure(figure: Figure, caption: str) -> str:
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "epsilometer"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    image = f'<img alt="{_text(caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{_text(caption)}</figcaption></figure>"


# --- pieces ---------------------------------------------------------------------------------------


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n{body}\n</section>\n"


def _note(text: str) -> str:
    return f'<p class="note">{_text(text)}</p>'


def _list(items: Iterable[str]) -> str:
    found = "".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<ul>{found}</ul>" if found else ""


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    found = "".join(
        f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows
    )
    return f'<div class="wide"><table>{found}</table></div>'


def _table(rows: Sequence[Mapping[str, Any]], empty: str) -> str:
    """Return rows as a table, a column for every key that is of use."""
    if not rows:
        return f"<p>{_text(empty)}</p>" if empty else ""
    keys = dict.fromkeys(key for row in rows for key, value in row.items() if _cell(value))
    head = "".join(f"<th>{_text(key)}</th>" for key in keys)
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(_cell(row.get(key)))}</td>' for key in keys)}</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return short(value)
    return str(value)


def _text(text: object) -> str:
    return html.escape(legal(str(text)))
