"""Every estimator by one signature: draws of a pair in, one number for the pair out.

All answer for both directions at once, by the larger of their levels, as the audit does: those that
answer for one direction are called for both, a bound at half of alpha each. A method that has to
choose does so on the first draws, and confirms on the others; no method gets more draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from pydantic import Field, JsonValue

from auditors import Auditor
from epsilometer.claims import EventClaim, Pure
from epsilometer.errors import ArgumentError, one_line
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import Answer, answers
from epsilometer.estimators.base import Claims, check_pure
from epsilometer.estimators.spectrum import epsilon_at
from epsilometer.events import exact_test as fixed
from epsilometer.events.choosing import choose_events
from epsilometer.events.looks import PastDraws
from epsilometer.exact.base import Distribution, divergence, spectrum
from epsilometer.numerics.arrays import Sample
from epsilometer.settings.models import Fractional, Model
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import Renyi
from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule, successive
from matrix.event_bound import CHOOSING, event_bound

Parameters = dict[str, JsonValue]

AUDIT = "audit"
"""In place of a registered estimator: the bounds of an audit of recorded outputs."""

EVENTS = "berger-boos"
"""In place of a registered estimator: `event_bound`."""

_ALPHA = 0.05
PROMISES = {
    "finite-sample": "a bound at every n",
    "asymptotic": "a bound for large n",
    "none": "an estimate",
}
_LARGEST = 500.0  # largest epsilon: its exponential is finite


@dataclass(frozen=True)
class Pair:
    """Draws of both sides of one run, and the provider's claims about the mechanism.

    Parameters
    ----------
    x, x_prime
        Of shape ``(n,)`` or ``(n, d)``.
    outputs
        Their kind (`epsilometer.mechanisms.base.OUTPUT_KINDS`).
    claims, region
        The provider's; where to look for a local loss, in the unit of outputs.
    epsilon
        The level that the provider promises.
    seed
        Of methods that draw.
    """

    x: Sample
    x_prime: Sample
    outputs: str
    claims: Claims
    epsilon: float
    region: tuple[float, float] | None = None
    seed: Callable[[], np.random.Generator] = np.random.default_rng

    @property
    def n(self) -> int:
        """Draws a side."""
        return len(self.x)

    def first(self, n: int) -> Pair:
        """Return the first draws alone."""
        return replace(self, x=self.x[:n], x_prime=self.x_prime[:n])

    def split(self, share: float) -> tuple[tuple[Sample, Sample], tuple[Sample, Sample]]:
        """Return the draws that choose, this share of them, and those that confirm."""
        n = max(int(share * self.n), 1)
        return (self.x[:n], self.x_prime[:n]), (self.x[n:], self.x_prime[n:])


class Stage(Model):
    """The first stage of an estimator that confirms: its choice uses this share of the draws."""

    estimator: str
    parameters: Parameters = Field(default_factory=dict)
    share: Fractional


class Method(Model):
    """An estimator of the matrix, as its configuration has it.

    Parameters
    ----------
    estimator
        A registered one, ``audit`` or ``berger-boos``.
    parameters
        Its hyperparameters; ``by_outputs`` has those that depend on the kind of outputs.
    after
        Its first stage.
    delta
        Where the answer is the epsilon at this delta, not a divergence.
    bound
        Whether the lower end of a spectrum is asked for, not its estimate.
    """

    estimator: str
    parameters: Parameters = Field(default_factory=dict)
    by_outputs: dict[str, Parameters] = Field(default_factory=dict)
    after: Stage | None = None
    delta: Fractional | None = None
    bound: bool = False

    @property
    def quantity(self) -> str:
        """The quantity of the answer."""
        return "divergence" if self.delta is None else f"epsilon at delta = {self.delta:g}"

    def build(self, outputs: str) -> Any:
        """Return the estimator for outputs of a kind; raise `ArgumentError` if there is none."""
        if self.by_outputs and outputs not in self.by_outputs:
            known = ", ".join(self.by_outputs)
            raise ArgumentError("outputs", f"must be {known} for its classifiers, not {outputs}")
        parameters: dict[str, Any] = self.parameters | self.by_outputs.get(outputs, {})
        if self.after is not None:
            parameters["after"] = self.after.estimator
        return ESTIMATORS.load(self.estimator)(**parameters)

    def promise(self, outputs: str) -> str:
        """Return its promise about the answer."""
        if self.estimator in (AUDIT, EVENTS):
            return PROMISES["finite-sample"]
        try:
            guarantee = self.build(outputs).guarantee
        except ArgumentError:
            return ""
        return PROMISES["none" if self.delta is not None and not self.bound else guarantee]

    def refusal(self, outputs: str, claims: Claims, order: float) -> str:
        """Return why it does not apply to such outputs, claims and order; nothing if it does."""
        try:
            if self.estimator == AUDIT:
                if self.delta is not None and not math.isinf(order):
                    raise ArgumentError("lambda", "must be inf: a delta belongs to the pure level")
                return ""
            if self.estimator == EVENTS:
                check_pure(order, "an event bounds the pure level")
                return ""
            estimator = self.build(outputs)
            estimator.check(outputs, order)
            if estimator.reads == "histograms":
                estimator.cells(claims, order)
        except ArgumentError as error:
            return one_line(error)
        return ""

    def answer(self, pair: Pair, order: float) -> float:
        """Return the answer, in nats; raise `ArgumentError` where it has none for such draws.

        No level is below 0, so that an answer below says 0.
        """
        if self.estimator == AUDIT:
            return self._audited(pair, order)
        if self.estimator == EVENTS:
            return event_bound(*pair.split(CHOOSING), _ALPHA)
        estimator, rng = self.build(pair.outputs), pair.seed()
        if estimator.reads == "histograms" and (m := estimator.cells(pair.claims, order)) > pair.n:
            raise ArgumentError("cells", f"are {m:,}, more than the draws of a side: one is empty")
        if estimator.reads == "verdicts" and self.delta is None:
            raise ArgumentError("delta", "must be given for a spectrum")
        sides, fresh, screen = (pair.x, pair.x_prime), (pair.x, pair.x_prime), None
        if self.after is not None:
            sides, fresh = pair.split(self.after.share)
            screen = ESTIMATORS.load(self.after.estimator)(**self.after.parameters)
        (answer,) = answers(
            estimator,
            sides,
            order=order,
            claims=pair.claims,
            screen=screen,
            fresh=lambda _: fresh,
            region=pair.region,
            rng=rng,
            outputs=pair.outputs,
        )
        if math.isnan(answer.both):
            raise ArgumentError("cells", "are not all hit on both sides")
        level = self._epsilon(answer, estimator, rng) if answer.tested else answer.both
        return max(level, 0.0)

    def _epsilon(self, answer: Answer, estimator: Any, rng: np.random.Generator) -> float:
        """Return the epsilon at the given delta, or a lower bound for it."""
        assert self.delta is not None
        if not self.bound:
            return max(epsilon_at(self.delta, way.claims, way.delta) for way in answer.tested)
        ends = [way.interval(estimator.interval, _ALPHA, rng)[0] for way in answer.tested]
        above = np.maximum(*ends) > self.delta
        first = int(np.argmin(above)) if not above.all() else above.size
        return float(answer.tested[0].claims[first - 1]) if first else 0.0

    def _audited(self, pair: Pair, order: float) -> float:
        """Return the bound of an audit of recorded outputs, as the reals that they stand for."""
        if math.isinf(order):
            return _exact_test(pair, Pure(pair.epsilon, self.delta or 0.0))
        claim = _renyi(pair, order)
        evidence, sides = Evidence(claim, 1, _ALPHA, as_reals=True), (pair.x, pair.x_prime)
        run_rounds(successive([sides]), schedule(pair.n, 1), evidence)
        return float(evidence.bounds()[claim])


def _renyi(pair: Pair, order: float) -> Renyi:
    """Return the claim of an order that follows from epsilon (Bun and Steinke)."""
    return Renyi(order, min(pair.epsilon, order * pair.epsilon**2 / 2))


def _exact_test(pair: Pair, claim: EventClaim) -> float:
    """Return the bound of the exact test: some draws choose events, and the others confirm them."""
    past, fresh = pair.split(fixed.CHOOSING)
    layout = learn_layout(*past, as_reals=True)
    chosen = PastDraws(layout.encode(past[0]), layout.encode(past[1]), layout)
    events = choose_events(chosen, claim.events, len(fresh[0]))
    counted = fixed.count(events, layout.encode(fresh[0]), layout.encode(fresh[1]))
    return fixed.largest_bound(counted, claim, _ALPHA)[0]


class Outside(Method):
    """An auditor of the list."""

    auditor: Auditor

    def promise(self, outputs: str) -> str:
        """Return its promise about the answer."""
        return PROMISES[self.auditor.promises]

    def refusal(self, outputs: str, claims: Claims, order: float) -> str:
        """Return why it does not apply to such outputs and order; nothing if it does."""
        return self.auditor.refusal(self._notion(order), outputs)

    def answer(self, pair: Pair, order: float) -> float:
        """Return its bound, in nats."""
        level = pair.epsilon if math.isinf(order) else _renyi(pair, order).level
        terms = {"notion": self._notion(order), "level": level, "order": order}
        terms |= {"delta": self.delta or 0.0}
        return max(self.auditor.bound(pair.x, pair.x_prime, _ALPHA, pair.seed(), **terms), 0.0)

    def _notion(self, order: float) -> str:
        if not math.isinf(order):
            return "renyi"
        return "pure" if self.delta is None else "approximate"


def with_auditors(methods: Mapping[str, Method], listed: Sequence[Auditor]) -> dict[str, Method]:
    """Return methods, and auditors of the list; at each delta of a method, too, if they take it.

    >>> with_auditors({"audit": Method(estimator="audit")}, []).keys()
    dict_keys(['audit'])
    """
    everything, deltas = dict(methods), {method.delta for method in methods.values()} - {None}
    for auditor in listed:
        for delta in (None, *sorted(filter(None, deltas))):
            if delta is None or "approximate" in auditor.needs.claims:
                name = auditor.name if delta is None else f"{auditor.name}, delta {delta:g}"
                if name in everything:
                    raise ArgumentError("auditors", f"have {name!r}, as a method is called")
                everything[name] = Outside(estimator=AUDIT, delta=delta, auditor=auditor)
    return everything


class Exact:
    """The exact levels of a pair of inputs, in the larger direction; NaN where not known."""

    def __init__(self, law: Distribution | None, x: Any, x_prime: Any) -> None:
        self._law, self._ways = law, ((x, x_prime), (x_prime, x))

    @cache  # noqa: B019 (it is of one file of draws)
    def level(self, order: float, delta: float | None) -> float:
        """Return the divergence of an order, or the epsilon at a delta, in nats."""
        law = self._law
        if law is None:
            return math.nan
        if delta is None:
            return float(max(divergence(law, order, *way) for way in self._ways))
        if not hasattr(law, "spectrum"):
            return math.nan
        from scipy.optimize import brentq

        def excess(claim: float) -> float:
            return max(float(spectrum(law, [claim], *way)[0]) for way in self._ways) - delta

        if excess(0.0) <= 0:
            return 0.0
        high = 1.0
        while excess(high) > 0:
            high *= 2
            if high > _LARGEST:
                return math.inf
        return float(brentq(excess, 0.0, high, xtol=1e-9))
