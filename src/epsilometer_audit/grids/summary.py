"""The verdicts of a file of audits as text, as Markdown and as tests of JUnit."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from epsilometer.errors import one_line
from epsilometer_audit.formats import legal, short
from epsilometer_audit.grids.junit import Test, results_of
from epsilometer_audit.grids.running import Audited
from epsilometer_audit.grids.verdicts import counts_of

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

    It is one of ``files`` that share the bytes of a summary: rows for which there is no room are
    left out, and counted.
    """
    lines, texts = [f"## {_cell(title)}\n\n{_counts(rows, alpha)}\n\n{_HEAD}{_RULE}"], [""]
    room = _MOST_BYTES // files - len(lines[0].encode()) - 100
    for row in sorted(rows, key=lambda row: not row.exit_code):
        worst, event = row.verdict.worst, row.verdict.witness
        cells = [row.case.entry, row.case.parameters, row.case.pairs, row.verdict.claimed]
        cells += [f"{row.word}{_expected(row)}", short(worst.lower) if worst else ""]
        cells += ["; ".join(row.verdict.reasons) or (event.event if event else "")]
        line = f"| {' | '.join(map(_cell, cells))} |\n"
        first, text = f"{row.case.entry}: {row.verdict.lines()[0]}", str(row.verdict)
        text = f"<summary>{_escaped(first)}</summary>\n<pre>{_escaped(text)}</pre>"
        text = f"\n<details>{text}</details>\n" if row.exit_code else ""
        room -= len(f"{line}{text}".encode())
        if room < 0:
            texts[0] = f"\n... and {len(rows) - len(lines) + 1} more, left out for their size\n"
            break
        lines.append(line)
        texts.append(text)
    return "".join([*lines, *texts])


def tests_of(name: str, rows: Sequence[Audited]) -> list[Test]:
    """Return a test for each claim, for each order of several."""
    tests = []
    for row in rows:
        for claimed, result in results_of(row.verdict).items():
            where = f"{row.case.parameters}, {row.case.pairs}: {claimed}"
            passed = not row.exit_code or (result == "not refuted" and not row.unexpected)
            word = row.word if result == row.verdict.verdict else result
            tests.append(Test(f"{name}.{row.case.entry}", where, word, passed, row.verdict))
    return tests


def _counts(rows: Sequence[Audited], alpha: float) -> str:
    counts = counts_of([row.word for row in rows], sum(row.unexpected for row in rows))
    return f"{counts}; alpha = {alpha:g} for all together"


def _expected(row: Audited) -> str:
    return f" ({row.case.expected} was expected)" if row.unexpected else ""


_SPECIAL: Mapping[int, str] = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~#$"})


def _cell(text: str) -> str:
    """Return a text as Markdown shows it, on one line."""
    return _escaped(one_line(text)).translate(_SPECIAL)


def _escaped(text: str) -> str:
    return html.escape(legal(text), quote=False)
