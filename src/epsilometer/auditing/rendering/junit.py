"""A verdict as JUnit's XML, which continuous integration shows as a test."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from epsilometer.auditing.verdict import Verdict
from epsilometer.errors import one_line

_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)
_PASSED = ("not refuted", "holds")


def xml_of(verdict: Verdict) -> str:
    """Return a suite of one test for each claim: of every order, where several are claimed.

    A violated or undecided claim is a failure of this type; an invalid audit is an error.
    """
    results = _results(verdict)
    errors = sum(result == "invalid" for result in results.values())
    failures = len(results) - errors - sum(result in _PASSED for result in results.values())
    counts = {"tests": len(results), "failures": failures, "errors": errors, "skipped": 0}
    facts = {name: str(count) for name, count in counts.items()}
    facts["time"] = seconds = f"{verdict.seconds:.3f}"
    suites = Element("testsuites", facts, name="epsilometer")
    suite = SubElement(suites, "testsuite", facts, name="epsilometer audit")
    if when := verdict.provenance.get("time"):
        suite.set("timestamp", str(when))
    message, text = legal(one_line(verdict.lines()[0])), legal(str(verdict))
    for name, result in results.items():
        title = legal(one_line(f"{name}: {verdict.source}"))
        of_audit = {"classname": "epsilometer.audit", "name": title, "time": seconds}
        test = SubElement(suite, "testcase", of_audit)
        if result not in _PASSED:
            kind = "error" if result == "invalid" else "failure"
            SubElement(test, kind, type=result, message=message).text = text
        SubElement(test, "system-out").text = text
    indent(suites)
    data: bytes = tostring(suites, "UTF-8", xml_declaration=True)
    return f"{data.decode()}\n"


def legal(text: str) -> str:
    """Return a text with escapes for the characters that neither XML nor HTML may hold."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _results(verdict: Verdict) -> dict[str, str]:
    """Return the verdict on each claim; of several, only those with a larger bound are violated."""
    orders = verdict.claim.get("orders")
    if not orders:
        return {verdict.claimed: verdict.verdict}
    bounds = {f"{bound.order:g}": bound for bound in verdict.bounds if bound.order is not None}
    results: dict[str, str] = {}
    for order, rho in orders.items():
        bound = bounds.get(order)
        held = bound is not None and (bound.lower < bound.claimed or bound.lower <= 0)
        result = "not refuted" if held and verdict.verdict == "violated" else verdict.verdict
        results[f"a Rényi divergence of order {order} of {rho:g}"] = result
    return results
