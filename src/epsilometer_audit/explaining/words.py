"""The cause of a violation in words: findings, lines of code, calls, values."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from epsilometer_audit.formats import as_plain
from epsilometer_audit.serving.errors import shortened
from epsilometer_audit.serving.modules import is_library

_ROWS = 3  # printed findings


@dataclass(frozen=True)
class Finding:
    """A difference between x and x', or a fault of the noise.

    Its ``kind`` is ``no noise``, ``without noise`` (a part of the output), ``constant seed``,
    ``drawn once``, ``kept`` (noise or state), ``seed``, ``call``, ``number``, ``argument``,
    ``data``, ``output``, ``low bits``, ``unseen``, ``failed`` or ``nothing``.
    """

    kind: str
    words: str  # a sentence
    place: str = ""  # file and line of the code
    line: str = ""  # the code there
    runs: int = 0  # that show it
    more: tuple[str, ...] = ()  # further lines
    textbook: str = ""  # the known cause of such a difference


@dataclass(frozen=True)
class Cause:
    """Findings of draws on x and x' with the same noise, the most important first."""

    findings: tuple[Finding, ...]
    runs: int

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values."""
        findings = [as_plain(asdict(finding)) for finding in self.findings]
        return {"runs": self.runs, "words": str(self).splitlines(), "findings": findings}

    def __str__(self) -> str:
        lines = []
        for finding in self.findings[:_ROWS]:
            often = "" if finding.runs >= self.runs else f" ({finding.runs} of {self.runs} runs)"
            lines.append(f"{finding.words}{often if finding.runs else ''}")
            code = ": ".join(filter(None, (finding.place, finding.line)))
            known = finding.textbook and f"textbook: {finding.textbook}"
            lines += [f"  {line}" for line in (code, *finding.more, known) if line]
        return "\n".join(lines)


def finding_at(lines: Sequence[Any], kind: str, words: str, runs: int = 0) -> Finding:
    """Return a finding at the first of ``lines``, those of a call and its callers, if any.

    A call by a library is shown with its callers up to the user's line, the innermost in each file.
    """
    callers = []
    for inner, outer in pairwise(lines):
        if not is_library(inner[0]):
            break
        callers += [f"from {code_at(outer)}"] if outer[0] != inner[0] else []
    place, _, line = code_at(lines[0]).partition(": ") if lines else ("", "", "")
    return Finding(kind, words, place, line, runs, tuple(callers))


def code_at(line: Sequence[Any]) -> str:
    """Return the place of a line (its file and number) and, where it can be read, its code."""
    code = shortened(" ".join(linecache.getline(*line).split()), 100)
    return f"{Path(line[0]).name}:{line[1]}{code and f': {code}'}"


def call_text(call: Mapping[str, Any]) -> str:
    """Return a call with its arguments, and its place."""
    passed = [f"{k}={value_text(v)}" for k, v in call["arguments"].items() if v is not None]
    place = [f" at {code_at(line).partition(': ')[0]}" for line in call["frames"][:1]]
    return f"{call['name']}({', '.join(passed)}){''.join(place)}"


def both(x: Any, x_prime: Any) -> str:
    """Return two recorded values in short."""
    return f"{value_text(x)} on x, {value_text(x_prime)} on x'"


def value_text(value: Any) -> str:
    """Return a recorded value in short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        first, rest = (value, "") if len(value) <= 8 else (value[:3], f", ... of {len(value)}")
        return f"[{', '.join(map(value_text, first))}{rest}]"
    if not isinstance(value, dict):
        return shortened(repr(value))
    if "$" in value:
        return shortened(str(value["$"]), 80)
    items = value.get("$items", value.items())
    return shortened(f"{{{', '.join(f'{value_text(k)}: {value_text(v)}' for k, v in items)}}}")
