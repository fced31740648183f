"""A verdict as JUnit's XML, which continuous integration shows as a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from epsilometer.errors import one_line
from epsilometer_audit.formats import legal
from epsilometer_audit.verdict import Verdict

_PASSED, _ERRORS = ("not refuted",), ("invalid", "failed")


class Test(NamedTuple):
    """A claim as a test: its group and name, the verdict's word, and whether the test passes."""

    group: str
    name: str
    result: str
    passed: bool
    verdict: Verdict


def xml_of(verdict: Verdict) -> str:
    """Return a suite of one test for each claim: of every order, where several are claimed.

    A violated or undecided claim is a failure of this type; an invalid audit is an error.
    """
    tests = [
        Test("epsilometer.audit", f"{name}: {verdict.source}", result, result in _PASSED, verdict)
        for name, result in results_of(verdict).items()
    ]
    return xml_of_suites({"epsilometer audit": tests})


def xml_of_suites(suites: Mapping[str, Sequence[Test]]) -> str:
    """Return suites of tests by their names."""
    root = Element("testsuites", _facts([test for tests in suites.values() for test in tests]))
    root.set("name", "epsilometer")
    for name, tests in suites.items():
        suite = SubElement(root, "testsuite", _facts(tests), name=legal(name))
        if when := tests[0].verdict.provenance.get("time"):
            suite.set("timestamp", str(when))
        for each in tests:
            text, seconds = legal(str(each.verdict)), f"{each.verdict.seconds:.3f}"
            names = {"classname": legal(each.group), "name": legal(one_line(each.name))}
            test = SubElement(suite, "testcase", names, time=seconds)
            if not each.passed:
                kind = "error" if each.result in _ERRORS else "failure"
                message = legal(one_line(each.verdict.lines()[0]))
                SubElement(test, kind, type=each.result, message=message).text = text
            SubElement(test, "system-out").text = text
    indent(root)
    data: bytes = tostring(root, "UTF-8", xml_declaration=True)
    return f"{data.decode()}\n"


def _facts(tests: Sequence[Test]) -> dict[str, str]:
    """Return the counts and the time of tests; several may be of one verdict."""
    failed = [test.result in _ERRORS for test in tests if not test.passed]
    counts = {"tests": len(tests), "failures": failed.count(False), "errors": sum(failed)}
    seconds = sum({id(test.verdict): test.verdict.seconds for test in tests}.values())
    facts = {name: str(count) for name, count in (counts | {"skipped": 0}).items()}
    return {**facts, "time": f"{seconds:.3f}"}


def results_of(verdict: Verdict) -> dict[str, str]:
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
