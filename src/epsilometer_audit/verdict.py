"""The verdict of an audit, for programs and for readers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from epsilometer.errors import ArgumentError
from epsilometer_audit import figures
from epsilometer_audit.formats import as_plain, input_text, legal, percent_sure, short
from epsilometer_audit.shares import share_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VerdictName = Literal["violated", "not refuted", "undecided", "invalid"]

EXIT_CODES: Mapping[str, int] = {
    "not refuted": 0,
    "violated": 1,
    "undecided": 3,
    "invalid": 4,
}

LOW_BITS = (
    "the low bits of floating-point outputs are looked at, and they tell these inputs apart "
    "(Mironov 2012; Haney et al. 2022); if outputs stand for reals, use --as-reals (as_reals=True)"
)
"""The note on an event of lowest bits."""

_LEFT_OUT = re.compile(r" \d+ more\b|\.\.\.")


@dataclass(frozen=True)
class Witness:
    """An event that a person can check, and its counts of fresh draws.

    ``count`` of ``draws`` are of the side where the event is too likely for the claim,
    ``count_prime`` of ``draws_prime`` of the other; none of them chose the event. ``ranges`` is the
    whole event as numbers, of which the text may leave out some (see `Event.to_plain`), and the
    outcomes of codes. ``note`` is a warning, if any. ``rests_on`` says what the bound rests on, if
    it is not the event itself; if that is a score, the event has its strongest terms, and ``score``
    is the event of the whole score, like ``ranges``.
    """

    event: str
    count: int
    draws: int
    count_prime: int
    draws_prime: int
    ranges: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None
    rests_on: str | None = None
    score: Mapping[str, Any] | None = None

    @property
    def counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The draws in the event and all draws, of each side."""
        return (self.count, self.draws), (self.count_prime, self.draws_prime)


@dataclass(frozen=True)
class Bound:
    """A lower confidence bound for a claimed number."""

    quantity: str
    claimed: float
    lower: float
    order: float | None = None


@dataclass(frozen=True)
class Verdict:
    """The verdict of an audit.

    Parameters
    ----------
    verdict
        ``violated``; ``not refuted``; ``undecided``, where the draws may have missed a violation;
        ``invalid``, where they are not independent draws, or the mechanism failed.
    claim, claimed
        The claim as JSON and as text.
    alpha
        The probability of "violated" where the claim holds, over all pairs, directions and events.
    method
        ``anytime``, a test martingale; ``exact``, one test for a fixed number of draws; or
        ``one run``, one test of guesses about canaries.
    bounds
        For each claimed number.
    p_value
        Of the claim, at any time, or in one run; for the exact test None.
    pair, direction, name
        The pair of inputs with most evidence, its direction, and its name.
    witness
        The event of that evidence, if any.
    detectable
        The smallest level that these draws would have found with probability .9; None if unknown.
    looked_at
        Which functions of several columns of an output were looked at, and which not.
    draws
        Of each side, over all pairs.
    evidence
        The log of the e-value by each share of the draws; empty for other tests.
    guesses
        Of an audit in one run: the ``rule``, and the numbers of its ``guesses``, of the ``right``
        ones, of ``canaries``, of the ``included`` ones, and of the ``rules`` that shared alpha.
    cause
        The result of `explain`, if requested: `Cause.to_plain`.
    """

    verdict: VerdictName
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
    looked_at: str = ""
    detect: float | None = None
    draws: int = 0
    pairs: int = 1
    seconds: float = 0.0
    seed: int = 0
    outputs: str = ""
    source: str = ""
    reasons: Sequence[str] = ()
    checks: Sequence[Mapping[str, Any]] = ()
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
        """The bound with the largest ratio to its claim."""
        own = [bound for bound in self.bounds if bound.quantity == self.bounds[0].quantity]
        return max(own, key=lambda b: b.lower / max(b.claimed, 1e-12), default=None)

    @property
    def exit_code(self) -> int:
        """The command's exit code: 0, 1 (violated), 3 (undecided) or 4 (invalid)."""
        return EXIT_CODES[self.verdict]

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values; None for numbers that are not finite."""
        plain = {"verdict": self.verdict, "bound": self.bound} | asdict(self)
        return {name: as_plain(value) for name, value in plain.items()}

    def to_json(self, *, ascii_only: bool = False) -> str:
        """Return its JSON text; ``ascii_only`` escapes all other letters."""
        return json.dumps(self.to_plain(), indent=2, ensure_ascii=ascii_only, allow_nan=False)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the figure of the verdict with matplotlib, and return its axes.

        It is the growth of the e-value, with the line beyond which the claim is refuted. Tests
        without an e-value show the probabilities of the witness, and what the claim allows.

        Parameters
        ----------
        ax
            Where to draw; by default in a figure of its own.
        """
        if not self._has_figure:
            raise ArgumentError("plot", "needs a verdict with evidence or a witness; this has none")
        ax = figures.axes_of(ax)
        if self.evidence:
            figures.draw_evidence(ax, self.evidence, self.limit)
        elif self.witness is not None:
            figures.draw_witness(ax, self.witness.counts, figures.read_claim(self.claim))
        return ax

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows, with the figure where matplotlib is installed."""
        first, *rows = (html.escape(legal(line)) for line in self.lines())
        style = ' style="text-align: left"'
        cells = [f"<tr><th{style}>{row[:14].strip()}<td{style}>{row[14:]}" for row in rows]
        page = f"<p><strong>{first}</strong></p><table>{''.join(cells)}</table>"
        try:
            figure = figures.image(self.plot) if self._has_figure else ""
        except ImportError:
            figure = ""
        return page + (figure and f'<img alt="{first}" src="data:image/svg+xml;base64,{figure}">')

    @property
    def _has_figure(self) -> bool:
        return bool(self.evidence) or (self.witness is not None and self.guesses is None)

    @property
    def limit(self) -> float:
        """The e-value that refutes the claim: of each order, where several are claimed."""
        return 1 / share_of(self.alpha, len(self.claim.get("orders", "1")))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the lines for a reader, the verdict first."""
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
        if self.verdict == "invalid":
            return f"INVALID: {'; '.join(self.reasons) or 'the draws are not independent'}"
        if self.verdict == "undecided":
            return f"UNDECIDED: {'; '.join(self.reasons)}"
        return f"NOT REFUTED: {self.claimed}"

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for bound in self.bounds:
            order = f" of order {bound.order:g}" if bound.order else ""
            text = f"{bound.quantity}{order} at least {short(bound.lower, bound.claimed)}"
            rows.append(("bound", f"{text} (claimed: {short(bound.claimed)})"))
        rows += self._witness_rows()
        if self.guesses is not None:
            rows += guesses_rows(self.guesses)
        if self.direction:
            name = f"{self.name}: " if self.name else ""
            x, x_prime = map(input_text, self.pair or ("", ""))
            turned = x != x_prime and self.direction == f"{x_prime} against {x}"
            note = " (x' against x)" if turned else ""
            rows.append(("inputs", f"{name}{self.direction}{note}"))
        if self.verdict in ("not refuted", "undecided"):
            least = worst.claimed if (worst := self.worst) else None
            text = "unknown" if self.guesses is None else "nothing: no guesses would refute it"
            if self.detectable is not None:
                by = "such an event" if self.guesses is None else "guesses as good as it allows"
                one = " of one column" if self.looked_at else ""
                text = f"{short(self.detectable, least)} by {by}{one}, with probability .9"
            rows.append(("detectable", text))
            rows += [("looked at", self.looked_at)] if self.looked_at else []
        pairs = f" over {self.pairs} pairs" if self.pairs > 1 else ""
        if self.draws:
            text = f"{self.draws} a side{pairs}, {self.outputs}"
            rows.append(("draws", f"{text}; {self.seconds:.1f} s, seed {self.seed}"))
        if self.source:
            many, assumed = "many draws a call", ", assumed independent"
            rows.append(("source", self.source.replace(many, many + assumed)))
        rows += [
            (check["result"], check["words"])
            for check in self.checks
            if check["result"] == "note" or (check["result"] == "failed" and not self.reasons)
        ]
        if self.cause is not None:
            rows += [("" if i else "cause", line) for i, line in enumerate(self.cause["words"])]
        if self.replay:
            results = [check["result"] for check in self.checks if check["name"] == "same seed"]
            follows = all(result == "passed" for result in results)
            note = "" if follows else " (other draws: the mechanism follows no seed)"
            rows.append(("replay", f"{self.replay}{note}"))
        return rows

    def _witness_rows(self) -> list[tuple[str, str]]:
        event = self.witness
        if event is None:
            told = self.draws and self.guesses is None and self.verdict != "invalid"
            text = "none: the counts of no event differ clearly"
            if self.verdict == "violated":
                text += "; the bound rests on bets on predicted distributions"
            return [("witness", text)] if told else []
        rest = "; all are in the JSON, witness.ranges" if _LEFT_OUT.search(event.event) else ""
        counts = f"{event.count} of {event.draws} against {event.count_prime} of "
        rows = [
            ("witness", f"{event.event}{rest}"),
            ("counts", f"{counts}{event.draws_prime} fresh draws"),
            ("rests on", event.rests_on),
            ("note", event.note),
        ]
        return [(name, text) for name, text in rows if text]


def as_expected(word: str, expected: str | None) -> str | None:
    """Return yes or no; nothing where nothing is expected, or nothing could be found out.

    ``word`` is a verdict's, or "failed" or "missing" in its place.
    """
    if expected is None or word == "missing":
        return None
    return "yes" if expected == word else "no"


def guesses_rows(guesses: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the rows about guesses and canaries; see `Verdict`."""
    rules = f"; one of {guesses['rules']} rules that were tried" if guesses["rules"] > 1 else ""
    right = f"{guesses['right']} of {guesses['guesses']} are right: {guesses['rule']}{rules}"
    canaries = f"{guesses['canaries']}, of which {guesses['included']} were in"
    return [("guesses", right), ("canaries", canaries)]
