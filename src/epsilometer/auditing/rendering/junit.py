"""A verdict as JUnit's XML, which continuous integration shows as a test."""

from __future__ import annotations

import html
import re

from epsilometer.auditing.verdict import Bound, Verdict
from epsilometer.errors import one_line

_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)
_PASSED = ("not refuted", "holds")


def xml_of(verdict: Verdict) -> str:
    """Return a suite of one test for each claim: of every order, where several are claimed.

    What is violated or undecided is a failure of this type, what is no sampler, or failed, an
    error.
    """
    claims = _claims(verdict)
    words = [_word(verdict, bound) for _, bound in claims]
    errors = words.count("invalid")
    failures = len(words) - errors - sum(word in _PASSED for word in words)
    seconds = f'time="{verdict.seconds:.3f}"'
    when = str(verdict.provenance.get("time", ""))
    stamp = f' timestamp="{_text(when)}"' if when else ""
    counts = f'tests="{len(words)}" failures="{failures}" errors="{errors}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="epsilometer" {counts} {seconds}>',
        f'<testsuite name="epsilometer audit" {counts} {seconds}{stamp}>',
    ]
    told = verdict.lines()
    for (name, _), word in zip(claims, words, strict=True):
        title = _text(one_line(f"{name}: {verdict.source}"))
        lines.append(f'<testcase classname="epsilometer.audit" name="{title}" {seconds}>')
        if word not in _PASSED:
            kind = "error" if word == "invalid" else "failure"
            message = _text(one_line(told[0]))
            text = _text("\n".join(told))
            lines.append(f'<{kind} type="{word}" message="{message}">{text}</{kind}>')
        lines.append(f"<system-out>{_text(chr(10).join(told))}</system-out>")
        lines.append("</testcase>")
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def legal(text: str) -> str:
    """Return a text without what neither XML nor HTML may hold: it is named in its place."""
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _text(text: str) -> str:
    return html.escape(legal(text))


def _claims(verdict: Verdict) -> list[tuple[str, Bound | None]]:
    """Return the name of each claim, with its bound where there are several."""
    orders = verdict.claim.get("orders")
    if not orders:
        return [(verdict.claimed, None)]
    bounds = {f"{bound.order:g}": bound for bound in verdict.bounds if bound.order is not None}
    return [
        (f"a Rényi divergence of order {order} of {rho:g}", bounds.get(order))
        for order, rho in orders.items()
    ]


def _word(verdict: Verdict, bound: Bound | None) -> str:
    """Return what is said of one claim; of several, only those are violated whose bound says so."""
    if bound is None or verdict.verdict != "violated":
        return verdict.verdict
    return "violated" if bound.lower >= bound.claimed and bound.lower > 0 else "not refuted"
