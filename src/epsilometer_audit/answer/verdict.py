"""The verdict of an audit, for programs and for readers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from epsilometer import plots
from epsilometer.results import Holds, Result, Row
from epsilometer_audit.outputs.formats import as_plain, pair_texts, percent_sure, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from epsilometer_audit.statistics.witnesses import Histogram

VerdictName = Literal["violated", "not refuted", "undecided", "invalid", "failed", "missing"]

EXIT_CODES = {"not refuted": 0, "violated": 1, "undecided": 3, "invalid": 4}

LOW_BITS = (
    "the low bits of floating-point outputs are looked at, and they tell these inputs apart "
    "(Mironov 2012; Haney et al. 2022); if outputs stand for reals, use --as-reals (as_reals=True)"
)
"""The note on an event of lowest bits."""


@dataclass(frozen=True)
class Witness:
    """An event that a person can check, and its counts of fresh draws.

    ``count`` of ``draws`` are of the side where the event is too likely for the claim,
    ``count_prime`` of ``draws_prime`` of the other; none of them chose the event. ``ranges`` is the
    whole event as numbers (see `Event.to_plain`), and the outcomes of codes. ``note`` is a warning.
    ``rests_on`` says what the bound rests on, if not the event itself; if that is a score, the
    event has its strongest terms, and ``score`` is the event of the whole score, like ``ranges``.
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
    histogram: Histogram | None = field(default=None, repr=False, compare=False)
    """What the event looks at, for a picture; it is no part of the JSON."""

    @property
    def counts_text(self) -> str:
        """The counts in words."""
        return f"{self.count} of {self.draws} against {self.count_prime} of {self.draws_prime}"

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
    delta: float | None = None  # of a point of a profile
    alpha: float | None = None  # of the claimed errors that are nearest, of a trade-off curve

    @property
    def name(self) -> str:
        """The quantity with its order, or the point of a profile."""
        if self.order:
            return f"{self.quantity} of order {self.order:g}"
        if self.delta is None:
            return self.quantity
        point = f"{self.quantity} at delta = {self.delta:.6g}"
        return point if self.alpha is None else f"near alpha = {self.alpha:.3g} {point}"


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """The verdict of an audit; docs/audit.md has the fields of its JSON, too.

    Parameters
    ----------
    verdict
        ``violated``; ``not refuted``; ``undecided``, where the draws may have missed a violation;
        ``invalid``, where they are not independent draws, or the mechanism failed. In files of
        audits it is ``failed`` then, or ``missing`` without the environment of the mechanism.
    claim, claimed
        The claim as JSON and as text.
    alpha
        The probability of "violated" where the claim holds, over all pairs, directions and events.
    method
        ``anytime``, a test martingale; ``exact``, one test at the end; ``one run``, of canaries.
    bounds, p_value
        For each claimed number; of the claim, at any time or in one run: None for the exact test.
    pair, direction, name, witness
        The pair of inputs with most evidence, its direction and name, and the event, if any.
    tried
        All pairs: ``name``, the texts of the ``pair`` (see `pair_texts`), ``draws`` of a side.
    detectable
        The smallest level that these draws find with probability .9 in an event of one column that
        has the probability ``event`` on the less likely side; None if there is none.
    detectable_jointly
        That of an event of two columns, a set of cells; None if there is none.
    detectable_by_event
        The same levels for events of several probabilities, by "one column" and, for two, by the
        resolution. The draws and the first part of the claim decide them: every seed has the same.
    looked_at
        Which functions of an output were looked at, and which not.
    draws
        Of each side, over all pairs.
    evidence
        The log of the e-value by each share of the draws; empty for other tests.
    last_look
        The number U, uniform on (0, 1], by which an e-value of U/alpha at the planned end refutes,
        too, if it is at least alpha^(-1/2). None if there was no such look.
    guesses
        Of an audit in one run: the ``rule`` and its numbers of ``guesses`` and ``right`` ones, the
        numbers of ``canaries``, of ``included`` ones and of the ``rules`` that shared alpha; and
        ``independent_mu``, a lower end for mu if canaries are independent: no bound.
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
    tried: Sequence[Mapping[str, Any]] = ()
    witness: Witness | None = None
    detectable: float | None = None
    detectable_jointly: float | None = None
    detectable_by_event: Mapping[str, Mapping[float, float | None]] = field(default_factory=dict)
    event: float | None = None
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
    last_look: float | None = None
    guesses: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    replay: str | None = None

    @property
    def bound(self) -> float | None:
        """The lower bound in the claim's own quantity: of the worst, where several are claimed."""
        return self.worst.lower if self.worst else None

    @property
    def worst(self) -> Bound | None:
        """The bound with the largest ratio to its claim."""
        candidates = [bound for bound in self.bounds if bound.quantity == self.bounds[0].quantity]
        return max(candidates, key=lambda b: b.lower / max(b.claimed, 1e-12), default=None)

    @property
    def exit_code(self) -> int:
        """The command's exit code: 0, 1 (violated), 3 (undecided) or 4 (invalid)."""
        return EXIT_CODES.get(self.verdict, EXIT_CODES["invalid"])

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values; None for numbers that are not finite."""
        plain = {"verdict": self.verdict, "bound": self.bound} | asdict(self)
        if self.witness is not None:
            del plain["witness"]["histogram"]
        return {name: as_plain(value) for name, value in plain.items()}

    def to_json(self, *, ascii_only: bool = False) -> str:
        """Return its JSON text; ``ascii_only`` escapes all other letters."""
        return json.dumps(self.to_plain(), indent=2, ensure_ascii=ascii_only, allow_nan=False)

    def rows(self) -> Iterator[Row]:
        """Yield the bound of each claimed number."""
        holds: Holds = "at any time" if self.method == "anytime" else "every n"
        for bound in self.bounds:
            yield Row(bound.name, low=bound.lower, holds=holds, method=self.method)

    def facts(self) -> dict[str, Any]:
        """Return the verdict, the claim, the pair, the draws and the confidence."""
        return {
            "verdict": self.verdict,
            "claimed": self.claimed,
            "pair": self.name,
            "n": self.draws,
            "n_prime": self.draws,
            "confidence": 1 - self.alpha,
        }

    def plot(self, ax: Axes | None = None, *, claim: float | None = None) -> Axes:
        """Draw the draws of both sides by the number that the witness looks at; return the axes.

        The event is shaded; the title has its counts, and the bound beside the ``claim``, which is
        that of the audit if not given. Without a witness only the title is drawn.
        """
        axes = plots.axes_of(ax)
        worst = self.worst
        witness = self.witness
        title = self.verdict.upper()
        if worst is not None:
            claimed = worst.claimed if claim is None else claim
            title += f": {worst.name} at least {short(worst.lower, claimed)}"
            title += f" (claimed: {short(claimed)})"
        if witness is None or witness.histogram is None:
            axes.set_title(title, fontsize="medium")
            return plots.finished(axes, "output", "draws")
        axes.set_title(f"{title}\n{witness.counts_text}", fontsize="medium")
        shown = witness.histogram
        names = ("x", "x'")
        if self.pair is not None:
            names = pair_texts(*self.pair)
        edges = np.array(shown.edges)
        for number, side in enumerate((shown.counts, shown.counts_prime)):
            plots.histogram(axes, edges, np.array(side), names[number], number=number)
        for first, last in witness.ranges.get("ranges", ()):
            low = edges[0]
            high = edges[-1]
            if first is not None:
                low = max(float(first), low)
            if last is not None:
                high = min(float(last), high)
            if shown.discrete:  # from the start of its first bin to the end of its last
                low = edges[max(np.searchsorted(edges, low, "right") - 1, 0)]
                high = edges[np.searchsorted(edges, high, "left")]
            plots.shaded(axes, low, high)
        if shown.labels:
            axes.set_xticks((edges[1:] + edges[:-1]) / 2, shown.labels)
        return plots.finished(axes, shown.name, "draws")

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the lines for a reader, the verdict first."""
        return [self._headline(), *(f"  {name:12}{text}" for name, text in self._rows())]

    def _headline(self) -> str:
        sure = f"{percent_sure(self.alpha)} % confidence"
        worst = self.worst
        if self.verdict == "violated" and worst:
            least = f"{worst.name} is at least {short(worst.lower, worst.claimed)} ({sure})"
            return f"VIOLATED: {self.claimed} is claimed, {least}"
        if self.verdict == "not refuted":
            return f"NOT REFUTED: {self.claimed}"
        reasons = "; ".join(self.reasons) or "the draws are not independent"
        return f"{self.verdict.upper()}: {reasons}"

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for bound in self.bounds:
            text = f"{bound.name} at least {short(bound.lower, bound.claimed)}"
            rows.append(("bound", f"{text} (claimed: {short(bound.claimed)})"))
        rows += self._witness_rows()
        if self.guesses is not None:
            rows += guesses_rows(self.guesses)
        if self.direction:
            rows.append(("inputs", self._inputs_text(self.direction)))
        if self.verdict in ("not refuted", "undecided"):
            rows += self._detectable_rows()
        if self.draws:
            pairs = f" over {self.pairs} pairs" if self.pairs > 1 else ""
            text = f"{self.draws} a side{pairs}, {self.outputs}"
            rows.append(("draws", f"{text}; {self.seconds:.1f} s, seed {self.seed}"))
        if self.source:
            many = "many draws a call"
            rows.append(("source", self.source.replace(many, f"{many}, assumed independent")))
        for check in self.checks:
            is_reason = check["result"] == "failed" and self.reasons
            if check["result"] in ("note", "failed") and not is_reason:
                rows.append((check["result"], check["words"]))
        if self.replay:
            note = "" if self.follows_seed else " (other draws: the mechanism follows no seed)"
            rows.append(("replay", f"{self.replay}{note}"))
        return rows

    @property
    def follows_seed(self) -> bool:
        """Whether no check says that the draws do not follow the seed."""
        results = [check["result"] for check in self.checks if check["name"] == "same seed"]
        return all(result == "passed" for result in results)

    def _inputs_text(self, direction: str) -> str:
        """Return the direction, with the name of the pair, and a note if it is turned."""
        x, x_prime = pair_texts(*(self.pair or ("", "")))
        text = direction
        if self.name not in (None, "", f"{x} against {x_prime}"):
            text = f"{self.name}: {text}"
        if x != x_prime and direction == f"{x_prime} against {x}":
            text += " (x' against x)"
        return text

    def _detectable_rows(self) -> list[tuple[str, str]]:
        claimed = self.bounds[0].claimed if self.bounds else None
        if self.guesses is not None:
            text = "nothing: no guesses would refute it"
            if self.detectable is not None:
                level = short(self.detectable, claimed)
                text = f"{level} by guesses as good as it allows, with probability .9"
            return [("detectable", text)]
        rows = []
        if not self.detectable_by_event:
            rows.append(("detectable", "unknown"))
        for place, levels in self.detectable_by_event.items():
            texts = [f"{short(x, claimed)} of {event:g}" for event, x in levels.items() if x]
            text = "no level"
            if texts:
                listed = ", ".join(texts).replace(" of ", " by an event of probability ", 1)
                text = f"{self.bounds[0].name} {listed}"
            rows.append(("detectable", f"{text} (in {place}, found with probability .9)"))
        if self.looked_at:
            rows.append(("looked at", self.looked_at))
        return rows

    def _witness_rows(self) -> list[tuple[str, str]]:
        witness = self.witness
        if witness is None:
            if not self.draws or self.guesses is not None or self.verdict == "invalid":
                return []
            text = "none: the counts of no event differ clearly"
            if self.verdict == "violated":
                text += "; the bound rests on bets on predicted distributions"
            return [("witness", text)]
        rows = [("witness", witness.event), ("counts", f"{witness.counts_text} fresh draws")]
        if witness.rests_on:
            rows.append(("rests on", witness.rests_on))
        if witness.note:
            rows.append(("note", witness.note))
        return rows


def as_expected(word: str, expected: str | None) -> str | None:
    """Return yes or no; nothing where nothing is expected, or nothing could be found out.

    ``word`` is a verdict's, or "failed" or "missing" in its place.
    """
    if expected is None or word == "missing":
        return None
    return "yes" if expected == word else "no"


def guesses_rows(guesses: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the rows about guesses and canaries; see `Verdict`."""
    right = f"{guesses['right']} of {guesses['guesses']} are right: {guesses['rule']}"
    if guesses["rules"] > 1:
        right += f"; one of {guesses['rules']} rules that were tried"
    canaries = f"{guesses['canaries']}, of which {guesses['included']} were in"
    rows = [("guesses", right), ("canaries", canaries)]
    if (mu := guesses.get("independent_mu")) is not None:
        text = f"mu at least {short(mu)} if canaries are independent and their scores Gaussian"
        rows.append(("estimate", f"{text}: not tested, no bound, no part of the verdict"))
    return rows
