"""What an audit answers, for programs and for people."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from epsilometer.auditing.formats import as_plain, input_words, percent_sure, short

Word = Literal["violated", "holds", "not refuted", "undecided", "invalid"]

EXIT_CODES: Mapping[str, int] = {
    "holds": 0,
    "not refuted": 0,
    "violated": 1,
    "undecided": 3,
    "invalid": 4,
}

LOW_BITS = (
    "the low bits of floating-point outputs are looked at, and they tell these inputs apart "
    "(Mironov 2012; Haney et al. 2022); if outputs stand for reals, use --as-reals (as_reals=True)"
)
"""What to know of an event of lowest bits."""

_LEFT_OUT = re.compile(r" \d+ more\b|\.\.\.")


@dataclass(frozen=True)
class Witness:
    """An event that a person can check, and how many fresh draws lie in it.

    ``count`` of ``draws`` on the side that is meant to be no likelier than the claim allows,
    ``count_prime`` of ``draws_prime`` on the other; none of them chose the event. ``ranges`` is the
    whole event as numbers, of which the text may leave out some (see `Event.to_plain`), and the
    outcomes that codes stand for. ``note`` is what to know of such an event, if anything.
    """

    event: str
    count: int
    draws: int
    count_prime: int
    draws_prime: int
    ranges: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Bound:
    """A lower confidence bound for one number that is claimed; ``upper`` where there is any."""

    quantity: str
    claimed: float
    lower: float
    upper: float | None = None
    order: float | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer of an audit.

    Parameters
    ----------
    verdict
        ``violated``; ``not refuted``; ``holds``, only where facts about the outputs are given that
        allow an upper bound; ``undecided``, where the draws could not have found what was to be
        found; ``invalid``, where they are not independent draws, or the mechanism failed.
    claim, claimed
        As JSON holds it, and in words.
    alpha
        The probability of "violated" where the claim holds, over all pairs, directions and events.
    method
        ``anytime``, a test martingale; ``exact``, one test for a fixed number of draws; or
        ``one run``, one test of guesses about canaries.
    bounds
        For each number that is claimed.
    p_value
        Of the claim, at any time, or in one run; for the exact test None.
    pair, direction, name
        The pair of inputs that shows most, which way, and its name.
    witness
        What shows it; None where nothing does.
    detectable
        The smallest level that these draws would have found with probability .9; None if unknown.
    draws
        Of each side, over all pairs.
    evidence
        The log of the e-value by each share of the draws; empty for other tests.
    guesses
        Of an audit in one run: the ``rule``, how many of its ``guesses`` are ``right``, how many
        ``canaries`` there were and were ``included``, and how many ``rules`` shared alpha.
    cause
        What `explain` found, where it was asked for: `Cause.to_plain`.
    """

    verdict: Word
    claim: Mapping[str, Any]
    claimed: str
    alpha: float
    method: Literal["anytime", "exact", "one run"]
    bounds: Sequence[Bound] = ()
    p_value: float | None = None
    pair: tuple[Any, Any] | None = None
    name: str | None = None
    direction: str | None = None
    witness: Witness | None = None
    detectable: float | None = None
    detect: float | None = None
    draws: int = 0
    pairs: int = 1
    seconds: float = 0.0
    seed: int = 0
    outputs: str = ""
    source: str = ""
    reasons: Sequence[str] = ()
    checks: Sequence[Mapping[str, Any]] = ()
    estimates: Sequence[Mapping[str, Any]] = ()
    evidence: Sequence[Mapping[str, float]] = ()
    guesses: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    replay: str | None = None
    cause: Mapping[str, Any] | None = None

    @property
    def bound(self) -> float | None:
        """The lower bound in the claim's own quantity: of the worst, where several are claimed."""
        return self.worst.lower if self.worst else None

    @property
    def worst(self) -> Bound | None:
        """The bound that exceeds its claim most, or falls short of it least."""
        own = [bound for bound in self.bounds if bound.quantity == self._quantity]
        return max(own, key=lambda b: b.lower / max(b.claimed, 1e-12), default=None)

    @property
    def _quantity(self) -> str:
        return self.bounds[0].quantity if self.bounds else ""

    @property
    def exit_code(self) -> int:
        """What the command line ends with: 0, 1 (violated), 3 (undecided) or 4 (invalid)."""
        return EXIT_CODES[self.verdict]

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold; numbers that are not finite are None."""
        plain: dict[str, Any] = {"verdict": self.verdict, "bound": self.bound}
        for name, value in asdict(self).items():
            plain.setdefault(name, value)
        return {name: as_plain(value) for name, value in plain.items()}

    def to_json(self) -> str:
        """Return the same as text."""
        return json.dumps(self.to_plain(), indent=2, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Say it to a person, the verdict first."""
        return [self._headline(), *(f"  {name:12}{text}" for name, text in self._rows())]

    def _headline(self) -> str:
        sure = f"{percent_sure(self.alpha)} % confidence"
        worst = self.worst
        if self.verdict == "violated" and worst:
            order = f" of order {worst.order:g}" if worst.order else ""
            return (
                f"VIOLATED: {self.claimed} is claimed, {worst.quantity}{order} is at least "
                f"{short(worst.lower, worst.claimed)} ({sure})"
            )
        if self.verdict == "holds" and worst and worst.upper is not None:
            return (
                f"HOLDS: {worst.quantity} is at most {short(worst.upper)} ({sure}), if what "
                "was said of the outputs is true"
            )
        if self.verdict == "invalid":
            return f"INVALID: {'; '.join(self.reasons) or 'this is no sampler'}"
        if self.verdict == "undecided":
            return f"UNDECIDED: {'; '.join(self.reasons)}"
        return f"NOT REFUTED: {self.claimed}"

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for bound in self.bounds:
            order = f" of order {bound.order:g}" if bound.order else ""
            upper = "" if bound.upper is None else f", at most {short(bound.upper)}"
            text = f"{bound.quantity}{order} at least {short(bound.lower, bound.claimed)}{upper}"
            rows.append(("bound", f"{text} (claimed: {short(bound.claimed)})"))
        if self.witness is not None:
            seen = self.witness
            rest = "; all are in the JSON, witness.ranges" if _LEFT_OUT.search(seen.event) else ""
            rows.append(("witness", f"{seen.event}{rest}"))
            rows.append(
                (
                    "counts",
                    f"{seen.count} of {seen.draws} against {seen.count_prime} of "
                    f"{seen.draws_prime} fresh draws",
                )
            )
            if seen.note:
                rows.append(("note", seen.note))
        if self.guesses is not None:
            rows += guesses_rows(self.guesses)
        if self.direction:
            name = f"{self.name}: " if self.name else ""
            rows.append(("inputs", f"{name}{self.direction}{self._turned()}"))
        if self.verdict in ("not refuted", "undecided"):
            least = worst.claimed if (worst := self.worst) else None
            found = "unknown" if self.guesses is None else "nothing: no guesses would refute it"
            if self.detectable is not None:
                by = "such an event" if self.guesses is None else "guesses as good as it allows"
                found = f"{short(self.detectable, least)} by {by}, with probability .9"
            rows.append(("detectable", found))
        pairs = f" over {self.pairs} pairs" if self.pairs > 1 else ""
        if self.draws:
            text = f"{self.draws} a side{pairs}, {self.outputs}"
            rows.append(("draws", f"{text}; {self.seconds:.1f} s, seed {self.seed}"))
        if self.source:
            rows.append(("source", self.source))
        rows += [
            (check["result"], check["words"])
            for check in self.checks
            if check["result"] == "note" or (check["result"] == "failed" and not self.reasons)
        ]
        if self.cause is not None:
            rows += [("" if i else "cause", line) for i, line in enumerate(self.cause["words"])]
        if self.replay:
            words = "" if self._follows_seed() else " (other draws: the mechanism follows no seed)"
            rows.append(("replay", f"{self.replay}{words}"))
        return rows

    def _turned(self) -> str:
        """Say so where it is x' against x."""
        ours, theirs = map(input_words, self.pair or ("", ""))
        turned = ours != theirs and self.direction == f"{theirs} against {ours}"
        return " (x' against x)" if turned else ""

    def _follows_seed(self) -> bool:
        """Tell whether nothing is known of draws that do not follow the seed."""
        seen = [check["result"] for check in self.checks if check["name"] == "same seed"]
        return all(result == "passed" for result in seen)


def guesses_rows(seen: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say how many guesses about canaries are right, and what was guessed."""
    tried = f"; one of {seen['rules']} rules that were tried" if seen["rules"] > 1 else ""
    return [
        ("guesses", f"{seen['right']} of {seen['guesses']} are right: {seen['rule']}{tried}"),
        ("canaries", f"{seen['canaries']}, of which {seen['included']} were in"),
    ]
