"""What may be the cause of a violation, for programs and for people."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from epsilometer.audit.traces import Unit
from epsilometer.audit.verdict import as_plain

_ROWS = 3  # findings that are told in words


@dataclass(frozen=True)
class Finding:
    """One thing that is not the same on x and on x', or that is no noise.

    Parameters
    ----------
    kind
        ``no noise``, ``without noise`` (a part of the output), ``constant seed``, ``drawn once``,
        ``seed``, ``call``, ``number``, ``argument``, ``data``, ``together``, ``scale``, ``shared``,
        ``shift``, ``output``, ``unseen``, ``failed`` or ``nothing``.
    words
        In a sentence.
    place, line
        File and line of the code, and what stands there.
    loss, unit
        The privacy loss that it makes, as epsilon or mu; infinite without a bound, None where it
        is unknown.
    runs
        In how many runs it was seen.
    more
        What else is told of it, line by line.
    """

    kind: str
    words: str
    place: str = ""
    line: str = ""
    loss: float | None = None
    unit: Unit = "epsilon"
    runs: int = 0
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """What was found by draws on x and x' with the same noise, the most telling first."""

    findings: tuple[Finding, ...]
    runs: int

    def lines(self) -> list[str]:
        """Say it to a person."""
        found = []
        for finding in self.findings[:_ROWS]:
            often = "" if finding.runs >= self.runs else f" ({finding.runs} of {self.runs} runs)"
            found.append(f"{finding.words}{often if finding.runs else ''}")
            if finding.place:
                found.append(f"  {finding.place}: {finding.line}".rstrip(": "))
            found += [f"  {line}" for line in finding.more]
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold; a loss without bound is the word "unbounded"."""
        findings = []
        for finding in self.findings:
            plain = asdict(finding)
            if finding.loss == math.inf:
                plain["loss"] = "unbounded"
            findings.append(as_plain(plain))
        return {"runs": self.runs, "words": self.lines(), "findings": findings}

    def __str__(self) -> str:
        return "\n".join(self.lines())
