"""A verdict as a page of HTML: one file with its figures in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from epsilometer.claims import AnyClaim
from epsilometer_audit.answer.verdict import Verdict, guesses_rows
from epsilometer_audit.outputs.formats import input_text, pair_texts, percent_sure, short
from epsilometer_audit.question.shares import share_of
from exhibition.evidence import draw_evidence, draw_witness, image

_ILLEGAL = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
for _filter in (guesses_rows, input_text, percent_sure, short):
    _TEMPLATES.filters[_filter.__name__] = _filter


def html_of(verdict: Verdict, claim: AnyClaim, *, in_words: bool = False) -> str:
    """Return a page of a verdict on a claim.

    ``in_words`` is for a verdict whose figures or tables cannot be drawn: below the heading is what
    the command would print.
    """
    template = _TEMPLATES.get_template("verdicts.html.j2")
    values = _words(verdict) if in_words else _values(verdict, claim)
    return _legal(template.render(audit=values))


def _legal(text: str) -> str:
    """Return a text with escapes for the characters that HTML may not hold."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _words(verdict: Verdict) -> dict[str, Any]:
    return {"verdict": verdict, "headline": verdict.claimed, "words": str(verdict)}


def _values(verdict: Verdict, claim: AnyClaim) -> dict[str, Any]:
    """Return the values for the template: tables, figures, and facts that need the claim."""
    bounds = [
        {
            "number": bound.quantity + (f", order {bound.order:g}" if bound.order else ""),
            "claimed": short(bound.claimed),
            "at least": short(bound.lower),
        }
        for bound in verdict.bounds
    ]
    values = {
        "verdict": verdict,
        "headline": verdict.lines()[0].partition(": ")[2] or verdict.claimed,
        "bounds": _table(bounds),
        "checks": _table(verdict.checks),
    }
    if verdict.evidence:
        limit = values["limit"] = 1 / share_of(verdict.alpha, len(claim.parts))
        values["evidence_figure"] = image(lambda ax: draw_evidence(ax, verdict.evidence, limit))
    if (event := verdict.witness) is not None and verdict.guesses is None:
        values["shares"] = [count / max(draws, 1) for count, draws in event.counts]
        values["of_events"] = bool(claim.parts[0].events)
        sides = values["sides"] = _sides(verdict)
        values["witness_figure"] = image(
            lambda ax: draw_witness(ax, event.counts, claim, sides), 2.2
        )
    return values


def _sides(verdict: Verdict) -> tuple[str, str]:
    """Name the side where the event is too likely, and the other."""
    x, x_prime = ("x", "x'") if verdict.pair is None else pair_texts(*verdict.pair)
    sides = {f"{x} against {x_prime}": ("x", "x'"), f"{x_prime} against {x}": ("x'", "x")}
    known = None if x == x_prime else sides.get(str(verdict.direction))
    return known or ("the first side", "the other side")


def _table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return rows as texts, the names of the columns first, without empty columns."""
    keys = dict.fromkeys(key for row in rows for key, value in row.items() if _cell(value))
    return [list(keys), *([_cell(row.get(key)) for key in keys] for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else str(value)
