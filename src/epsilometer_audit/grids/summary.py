"""The verdicts of a file of audits as text, as Markdown and as tests of JUnit."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from epsilometer.errors import one_line
from epsilometer_audit.formats import legal, short
from epsilometer_audit.grids.running import Audited
from epsilometer_audit.verdict import Verdict

_MOST_BYTES = 1_000_000  # of Markdown: GitHub refuses a summary above 1 MiB
_RULE = f"{'|---' * 7}|\n"
_HEAD = "| audit | parameters | pairs | claim | verdict | at least | witness, or reason |\n"


def text_of(name: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a line for each verdict that passed, all lines of the others, and the counts."""
    lines = []
    for row in rows:
        case = ", ".join([row.case.entry, row.case.parameters, row.case.pairs])
        first, *rest = row.verdict.lines()
        lines.append(f"{case}: {first}{_expected(row)}")
        lines += rest if row.exit_code else []
    return "\n".join([*lines, f"{name}: {_counts(rows, alpha)}"])


def markdown_of(title: str, rows: Sequence[Audited], alpha: float, files: int = 1) -> str:
    """Return a section: the counts, a table, and the text of each verdict that did not pass.

    It is one of ``files`` that share the bytes of a summary; rows without room are counted.
    """
    lines, texts = [f"## {_cell(title)}\n\n{_counts(rows, alpha)}\n\n{_HEAD}{_RULE}"], [""]
    room = _MOST_BYTES // files - len(lines[0].encode()) - 100
    for row in sorted(rows, key=lambda row: not row.exit_code):
        case, verdict, worst, event = row.case, row.verdict, row.verdict.worst, row.verdict.witness
        cells = [case.entry, case.parameters, case.pairs, verdict.claimed]
        cells += [f"{row.verdict.verdict}{_expected(row)}", short(worst.lower) if worst else ""]
        cells += ["; ".join(verdict.reasons) or (event.event if event else "")]
        line, text = f"| {' | '.join(map(_cell, cells))} |\n", ""
        if row.exit_code:
            first = _escaped(f"{case.entry}: {verdict.lines()[0]}")
            text = f"<summary>{first}</summary>\n<pre>{_escaped(str(verdict))}</pre>"
            text = f"\n<details>{text}</details>\n"
        room -= len(f"{line}{text}".encode())
        if room < 0:
            texts[0] = f"\n... and {len(rows) - len(lines) + 1} more, left out for their size\n"
            break
        lines.append(line)
        texts.append(text)
    return "".join([*lines, *texts])


def xml_of(files: Mapping[str, Sequence[Audited]]) -> str:
    """Return JUnit's XML: a suite for each file, a test for each claim, of every order of several.

    A violated or undecided claim is a failure of this type; an invalid audit is an error.
    """
    root = Element("testsuites", name="epsilometer")
    for path, rows in files.items():
        suite = SubElement(root, "testsuite", name=legal(path))
        if when := rows[0].verdict.provenance.get("time"):
            suite.set("timestamp", str(when))
        for row in rows:
            text, group = legal(str(row.verdict)), f"{Path(path).stem}.{row.case.entry}"
            for claimed, result in _results(row.verdict).items():
                title = f"{row.case.parameters}, {row.case.pairs}: {claimed}"
                names = {"classname": legal(group), "name": legal(one_line(title))}
                test = SubElement(suite, "testcase", names, time=f"{row.verdict.seconds:.3f}")
                if row.exit_code and (result != "not refuted" or row.unexpected):
                    kind = "error" if result in ("invalid", "failed") else "failure"
                    message = legal(one_line(row.verdict.lines()[0]))
                    SubElement(test, kind, type=result, message=message).text = text
                SubElement(test, "system-out").text = text
        _count(suite, rows)
    _count(root, [row for rows in files.values() for row in rows])
    indent(root)
    data: bytes = tostring(root, "UTF-8", xml_declaration=True)
    return f"{data.decode()}\n"


def _count(element: Element, rows: Sequence[Audited]) -> None:
    """Give an element the counts of its tests, and the time of their audits."""
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(name, str(sum(1 for _ in element.iter(tag))))
    element.set("skipped", "0")
    element.set("time", f"{sum(row.verdict.seconds for row in rows):.3f}")


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


def _counts(rows: Sequence[Audited], alpha: float) -> str:
    words, unexpected = (
        Counter(row.verdict.verdict for row in rows),
        sum(row.unexpected for row in rows),
    )
    counts = ", ".join(f"{count} {word}" for word, count in words.items())
    counts += f" ({unexpected} not as expected)" if unexpected else ""
    return f"{counts}; alpha = {alpha:g} for all together"


def _expected(row: Audited) -> str:
    return f" ({row.case.expected} was expected)" if row.unexpected else ""


_SPECIAL: Mapping[int, str] = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~#$"})


def _cell(text: str) -> str:
    """Return a text as Markdown shows it, on one line."""
    return _escaped(one_line(text)).translate(_SPECIAL)


def _escaped(text: str) -> str:
    return html.escape(legal(text), quote=False)
