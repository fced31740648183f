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

    A violated or undecided claim is a failure of this type; an invalid audit is an error.
    """
    claims = _claims(verdict)
    results = [_result(verdict, bound) for _, bound in claims]
    errors = results.count("invalid")
    failures = len(results) - errors - sum(result in _PASSED for result in results)
    seconds = f'time="{verdict.seconds:.3f}"'
    when = str(verdict.provenance.get("time", ""))
    stamp = f' timestamp="{_escaped(when)}"' if when else ""
    counts = f'tests="{len(results)}" failures="{failures}" errors="{errors}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="epsilometer" {counts} {seconds}>',
        f'<testsuite name="epsilometer audit" {counts} {seconds}{stamp}>',
    ]
    message, text = _escaped(one_line(verdict.lines()[0])), _escaped(str(verdict))
    for (name, _), result in zip(claims, results, strict=True):
        title = _escaped(one_line(f"{name}: {verdict.source}"))
        lines.append(f'<testcase classname="epsilometer.audit" name="{title}" {seconds}>')
        if result not in _PASSED:
            kind = "error" if result == "invalid" else "failure"
            lines.append(f'<{kind} type="{result}" message="{message}">{text}</{kind}>')
        lines += [f"<system-out>{text}</system-out>", "</testcase>"]
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def legal(text: str) -> str:
    """Return a text with escapes for the characters that neither XML nor HTML may hold."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _escaped(text: str) -> str:
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


def _result(verdict: Verdict, bound: Bound | None) -> str:
    """Return the verdict on one claim; of several, only those with a larger bound are violated."""
    if bound is None or verdict.verdict != "violated":
        return verdict.verdict
    return "violated" if bound.lower >= bound.claimed and bound.lower > 0 else "not refuted"
