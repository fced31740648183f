"""Budgets of time: how many draws they are enough for, and whether these were enough to tell."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from epsilometer import checks
from epsilometer.auditing.checks.sampler import Check
from epsilometer.auditing.outcomes.shapes import listing
from epsilometer.auditing.question import Question
from epsilometer.auditing.serving.outputs import compact
from epsilometer.auditing.sources.callables import Source
from epsilometer.auditing.statistics.schedule import least_samples
from epsilometer.auditing.verdict import Verdict
from epsilometer.seeds import generator

TRIED, CHECKED, _DRAWN = 0.1, 0.5, 0.9  # of a budget is used after each, at most
_TIMED = {True: 0.3, False: 0.15}  # is used after calls are timed, which are many draws or one
_CHECKING = 0.2  # of it may be used by the checks of the sampler
_SIZES = (1, 1, *(4**i for i in range(1, 9)))  # of calls that are timed
_LOADED = 0.4  # is used after an answer with details is loaded, which takes about
_LOADING = 5.0  # times as long as one without
_FEW, _MANY = 64, 16384  # draws of a side that an answer is timed on
_MOST = 10_000_000  # draws of a side

LEAST = 40  # draws of an input for the checks of the sampler, which take a tenth of all
NO_TIME = "the time was over before the draws that are needed"


class Budget:
    """Seconds for all of an audit; without a number, there is no end of them."""

    def __init__(self, seconds: float | None, started: float) -> None:
        self.seconds = math.inf if seconds is None else checks.positive("budget", seconds)
        self._started, self._end = started, started + self.seconds
        self._call = self._draw = 0.0  # seconds of a call, and for each draw
        self._answer = self._look = 0.0  # seconds of an answer, and for each draw of a side

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share is used."""
        if math.isinf(self.seconds):
            return math.inf
        return self._started + share * (self._end - self._started) - time.perf_counter()

    def measure(
        self, source: Source, plan: Question, answer: Callable[[Question, Any, Any], object]
    ) -> tuple[Question, list[Check]]:
        """Time one draw, then more as long as there is time, and an ``answer`` from them.

        What a first answer loads is used up: shares are of the time that is left then. Returns the
        plan, without details where there is no time to load what makes them, which is noted.
        """
        assert plan.inputs is not None
        inputs = plan.inputs[0]
        rng = generator(plan.seed, "audit", "speed")
        numbers = rng.normal(size=(2, _FEW))
        took = _seconds(lambda: answer(replace(plan, details=False), *numbers))
        notes = []
        if plan.details and self.left(_LOADED) > _LOADING * took:
            answer(plan, *numbers)
        elif plan.details:
            plan = replace(plan, details=False)
            notes = [Check("estimates", "note", "there is no time for the papers' estimates")]
        self._started = min(time.perf_counter(), self._end)
        many = getattr(source, "many", True)
        last, spent, more = 1, 0.0, 0.0  # draws of a call, its seconds, and those of another draw
        sides: list[Any] = []
        for i, size in enumerate(_SIZES):
            if i and self.left(_TIMED[many]) < 2 * (spent + more * (size - last)):
                break
            sides, times = [], []
            for side, x in enumerate(inputs):
                start = time.perf_counter()
                seed = generator(plan.seed, "audit", "speed", i, side).integers(2**31)
                sides.append(source.draw(x, size, int(seed)))
                times.append(time.perf_counter() - start)
            took = sum(times) / 2 if i else times[1]  # the first may load something
            more = took / 4 if size == 1 else max((took - spent) / (size - last), took / size / 8)
            last, spent = size, took
            self._call = spent if size == 1 else self._call
        self._draw = max(spent / last, 1e-9)
        self._call = max(self._call - self._draw, 0.0)
        few = [compact(listing(side)[:_FEW] * -(-_FEW // last)) for side in sides]
        self._answer = _seconds(lambda: answer(plan, *few))
        if last >= _MANY:
            took = _seconds(lambda: answer(plan, *(side[:_MANY] for side in sides)))
            self._look = max(took - self._answer, took / 8) / _MANY
        return plan, notes

    def draws(self, jobs: int) -> int:
        """Return how many draws of each side there is time for."""
        left = self.left(_DRAWN) - self._answer
        left = max(left - 24 * self._call, left / 4, 0.0)
        return min(int(left / (2 * self._draw / jobs + self._look)), _MOST)

    def checked(self) -> int:
        """Return how many draws of each of two inputs there is time to check."""
        if math.isinf(self.seconds):
            return _MOST
        left = min(self.left(CHECKED), _CHECKING * self.seconds) - 36 * self._call
        return max(int(left / (3.4 * self._draw)), 0)

    def over(self, drawn: int) -> bool:
        """Tell whether no more is to be drawn, after so many draws of both sides together."""
        return self.left(_DRAWN) < self._answer + self._look * drawn / 2

    def fitting(self, draws: int, plan: Question) -> tuple[Question | None, str]:
        """Return the first pairs that so many draws of a side are enough for, and why not all."""
        pairs, exact = len(plan.names), plan.method == "exact"
        least = 50 * pairs if exact else least_samples(pairs)
        if math.isinf(self.seconds) or draws >= least:
            return plan, ""
        many = f" for {pairs} pairs" if pairs > 1 else ""
        few = f"{self.seconds:.3g} s are enough for {draws} draws a side; {least} are needed{many}"
        fit = max((k for k in range(1, pairs) if least_samples(k) <= draws), default=0)
        if exact or not fit or plan.inputs is None:
            return None, few
        return replace(plan, pairs=dict(list(plan.pairs.items())[:fit])), few

    def blind(self, plan: Question, verdict: Verdict) -> str:
        """Return why what was drawn in time is no answer; nothing if it is one."""
        if math.isinf(self.seconds):
            return ""
        if verdict.draws < least_samples(len(plan.names)):
            return NO_TIME
        if verdict.draws < 10 * LEAST:
            enough = f"{self.seconds:.3g} s were enough for {verdict.draws} draws a side"
            return f"{enough}; about {10 * LEAST} are needed"
        unchecked = any(one["name"] == "sampler" for one in verdict.checks)
        return "there was no time to check whether this is a sampler" if unchecked else ""


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
