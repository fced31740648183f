"""Budgets of time: the numbers of draws that fit into them, and whether these were enough.

Calls of growing size tell the seconds of a draw. As many draws are planned as fit into the time,
and they end between two calls when it is over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from epsilometer import checks
from epsilometer.seeds import generator
from epsilometer_audit.child_process import ends_after
from epsilometer_audit.outcomes.shapes import listing
from epsilometer_audit.question import Question
from epsilometer_audit.serving.outputs import compact
from epsilometer_audit.sources.callables import Source
from epsilometer_audit.statistics.rounds import least_samples
from epsilometer_audit.verdict import Verdict

# used shares of a budget after each step
TRIED, _TIMED, _REHEARSED, CHECKED, _DRAWN = 0.1, 0.15, 0.3, 0.5, 0.9
_CHECKING = 0.2  # largest share for the checks of the sampler
_SIZES = (1, *(4**i for i in range(9)))  # of timed calls; the first may load something
_ENDED, _SPARED = 1.5, 1.0  # used share, and more seconds, after which a call is ended
_FEW, _MANY = 64, (1024, 16384)  # draws of a side for a timed verdict
_MOST = 10_000_000  # draws of a side

LEAST = 40  # draws of an input for the checks of the sampler, a tenth of all draws
NO_TIME = "the time was over before the draws that are needed"
NO_RETURN = "the time was over before a call of the mechanism returned"


class Budget:
    """Seconds for all of an audit; without a number, they are unlimited."""

    def __init__(self, seconds: float | None, started: float) -> None:
        self.seconds = math.inf if seconds is None else checks.seconds("budget", seconds)
        self._started, self._end = started, started + self.seconds
        self._draw = self._verdict = 0.0  # seconds of a draw of both sides, and of a verdict
        self._look = 0.0  # more seconds of a verdict, for each draw of both sides

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share is used."""
        if math.isinf(self.seconds):
            return math.inf
        return self._started + share * (self._end - self._started) - time.perf_counter()

    def limit(self) -> AbstractContextManager[None]:
        """Return the limit of a call, which raises `OverdueError` long after the end of the time.

        An earlier end would let the time of a call decide whether its draws count.
        """
        return ends_after(max(self.left(_ENDED), 0.0) + _SPARED)

    def measure(
        self, source: Source, plan: Question, make: Callable[[Question, Any, Any], object]
    ) -> None:
        """Time draws, in calls of growing size, and ``make``, which makes a verdict of them.

        The load of its code comes first: shares are of the time that is left then.
        """
        assert plan.inputs is not None
        inputs = plan.inputs[0]
        rng = generator(plan.seed, "audit", "speed")
        make(plan, *rng.normal(size=(2, _FEW)))
        self._started = min(time.perf_counter(), self._end)
        size, spent, sides = 0, 0.0, list[Any]()

        def draw() -> None:
            for x in inputs:
                with self.limit():
                    sides.append(source.draw(x, size, int(rng.integers(2**31))))

        for size in _SIZES:
            if sides and self.left(_TIMED) < 4 * spent:
                break
            sides.clear()
            spent = _seconds(draw)
            self._draw = max(spent / size, 1e-9)
        if size < _FEW:
            sides = [compact(listing(side) * -(-_FEW // size)) for side in sides]
        self._verdict = _seconds(lambda: make(plan, *(side[:_FEW] for side in sides)))
        self._look = self._verdict / _MANY[0]  # if there is no time to know better
        for many in _MANY:
            late = self.left(_REHEARSED) < self._verdict + self._look * many
            if len(sides[0]) < many or late:
                break
            seconds = _seconds(lambda n=many: make(plan, *(side[:n] for side in sides)))  # type: ignore[misc]
            self._look = max(seconds - self._verdict, seconds / 8) / many

    def draws(self) -> int:
        """Return the number of draws of each side that fit."""
        left = max(self.left(_DRAWN) - self._verdict, 0.0)
        return min(int(left / (self._draw + self._look)), _MOST)

    def checked(self) -> int:
        """Return the number of checked draws of each of two inputs that fit."""
        if math.isinf(self.seconds):
            return _MOST
        left = min(self.left(CHECKED), _CHECKING * self.seconds)
        return max(int(left / (1.7 * self._draw)), 0)  # some are repeated

    def over(self, drawn: int) -> bool:
        """Tell whether draws must end, after so many of both sides together."""
        return self.left(_DRAWN) < self._verdict + self._look * drawn / 2

    def too_few(self, draws: int, plan: Question) -> str:
        """Return why so many draws of a side are too few for an audit; "" if they are not."""
        pairs = len(plan.pairs)
        least = 50 * pairs if plan.method == "exact" else least_samples(pairs)
        if math.isinf(self.seconds) or draws >= least:
            return ""
        many = f" for {pairs} pairs" if pairs > 1 else ""
        return f"{self.seconds:.3g} s are enough for {draws} draws a side; {least} are needed{many}"

    def blind(self, verdict: Verdict) -> str:
        """Return why the draws were not enough for a verdict; "" if they were."""
        if math.isinf(self.seconds):
            return ""
        if verdict.draws < (least := max(10 * LEAST, least_samples(verdict.pairs))):
            enough = f"{self.seconds:.3g} s were enough for {verdict.draws} draws a side"
            return f"{enough}; about {least} are needed"
        unchecked = any(check["name"] == "sampler" for check in verdict.checks)
        return "there was no time to check whether this is a sampler" if unchecked else ""


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
