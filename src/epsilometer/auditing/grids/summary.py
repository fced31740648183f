"""The verdicts of a file of audits as text, as Markdown and as tests of JUnit."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from epsilometer.auditing.formats import short
from epsilometer.auditing.grids.running import Audited
from epsilometer.auditing.rendering.junit import Test, legal, results_of
from epsilometer.errors import one_line

_MOST = 500  # rows of a table of Markdown: hosts of code limit a summary
_HEAD = "| audit | parameters | pairs | claim | verdict | at least | witness, or reason |\n"


def counts_of(rows: Sequence[Audited]) -> str:
    """Return how many verdicts there are of each kind."""
    words = [row.word for row in rows]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    unexpected = sum(row.unexpected for row in rows)
    return f"{counts} ({unexpected} not as expected)" if unexpected else counts


def text_of(name: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a line for each verdict that passed, all lines of the others, and the counts."""
    lines = []
    for row in rows:
        case = ", ".join([row.case.entry, row.case.parameters, row.case.pairs])
        first, *rest = row.verdict.lines()
        lines.append(f"{case}: {first}{_expected(row)}")
        lines += rest if row.exit_code else []
    return "\n".join([*lines, f"{name}: {counts_of(rows)}; alpha = {alpha:g} for all together"])


def markdown_of(title: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a section: the counts, a table, and the text of each verdict that did not pass."""
    lines = [f"## {_cell(title)}\n\n{counts_of(rows)}; alpha = {alpha:g} for all together\n"]
    for row in sorted(rows, key=lambda row: not row.exit_code)[:_MOST]:
        worst, event = row.verdict.worst, row.verdict.witness
        cells = [row.case.entry, row.case.parameters, row.case.pairs, row.verdict.claimed]
        cells += [f"{row.word}{_expected(row)}", short(worst.lower) if worst else ""]
        cells += ["; ".join(row.verdict.reasons) or (event.event if event else "")]
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    lines[1:1] = [f"{_HEAD}{'|---' * 7}|"]
    if len(rows) > _MOST:
        lines.append(f"\n... and {len(rows) - _MOST} more")
    for row in [row for row in rows if row.exit_code][:_MOST]:
        first = _escaped(f"{row.case.entry}: {row.verdict.lines()[0]}")
        text = f"<summary>{first}</summary>\n<pre>{_escaped(str(row.verdict))}</pre>"
        lines.append(f"\n<details>{text}</details>")
    return "\n".join(lines) + "\n"


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


def _expected(row: Audited) -> str:
    return f" ({row.case.expected} was expected)" if row.unexpected else ""


_SPECIAL: Mapping[int, str] = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~#$"})


def _cell(text: str) -> str:
    """Return a text as Markdown shows it, on one line."""
    return _escaped(one_line(text)).translate(_SPECIAL)


def _escaped(text: str) -> str:
    return html.escape(legal(text), quote=False)
