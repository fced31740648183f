"""The verdicts of a file of audits as text, and as tests of JUnit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from epsilometer.errors import one_line
from epsilometer_audit.formats import legal
from epsilometer_audit.grids.running import Audited


def text_of(name: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a line for each verdict that passed, all lines of the others, and the counts."""
    lines = []
    for row in rows:
        first, *rest = row.verdict.lines()
        demanded = f" ({row.case.expected} was expected)" if row.unexpected else ""
        case = ", ".join([row.case.entry, row.case.parameters, row.case.pairs])
        lines.append(f"{case}: {first}{demanded}")
        lines += rest if row.exit_code else []
    words = Counter(row.verdict.verdict for row in rows)
    counts = ", ".join(f"{count} {word}" for word, count in words.items())
    unexpected = sum(row.unexpected for row in rows)
    counts += f" ({unexpected} not as expected)" if unexpected else ""
    return "\n".join([*lines, f"{name}: {counts}; alpha = {alpha:g} for all together"])


def xml_of(title: str, rows: Sequence[Audited]) -> str:
    """Return JUnit's XML: a test for each verdict, with an error if it is invalid, or a failure."""
    root = Element("testsuites", name="epsilometer")
    suite = SubElement(root, "testsuite", name=legal(title))
    for row in rows:
        verdict, text = row.verdict, legal(str(row.verdict))
        name = f"{row.case.parameters}, {row.case.pairs}: {verdict.claimed}"
        names = {"classname": legal(f"{title}.{row.case.entry}"), "name": legal(one_line(name))}
        test = SubElement(suite, "testcase", names, time=f"{verdict.seconds:.3f}")
        if row.exit_code:
            kind = "error" if verdict.verdict in ("invalid", "failed") else "failure"
            message = legal(one_line(verdict.lines()[0]))
            SubElement(test, kind, type=verdict.verdict, message=message).text = text
        SubElement(test, "system-out").text = text
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        suite.set(name, str(len([*suite.iter(tag)])))
    suite.set("time", f"{sum(row.verdict.seconds for row in rows):.3f}")
    indent(root)
    data: bytes = tostring(root, "UTF-8", xml_declaration=True)
    return f"{data.decode()}\n"
