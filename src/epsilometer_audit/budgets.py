"""Budgets of time: small audits tell how many draws fit; draws end when the time is over."""

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

# used shares of a budget after each step
TRIED, _REHEARSED, CHECKED, _DRAWN = 0.1, 0.3, 0.5, 0.9
_SIZES = (1, 1, 16, 256, 4096, 16384)  # of small audits; the first may load something
_LARGER = 16  # times the one before, at most
_FEW = 64  # draws of a side for their verdicts, at least: a draw may be repeated
_ENDED, _SPARED = 1.5, 1.0  # used share, and more seconds, after which a call is ended
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
        return self._started + share * (self._end - self._started) - time.perf_counter()

    def limit(self) -> AbstractContextManager[None]:
        """Return the limit of a call, which raises `OverdueError` long after the time is over."""
        # an earlier end would let the time of a call decide whether its draws count
        return ends_after(max(self.left(_ENDED), 0.0) + _SPARED)

    def measure(
        self, source: Source, plan: Question, make: Callable[[Question, Any, Any], object]
    ) -> None:
        """Time draws of growing numbers, and ``make``, which makes a verdict of them."""
        assert plan.inputs is not None
        rng = generator(plan.seed, "audit", "speed")
        make(plan, *rng.normal(size=(2, _FEW)))  # loads code: shares are of the time after it
        self._started = min(time.perf_counter(), self._end)
        later = 0.0  # seconds of the next one
        for size in _SIZES:
            if later and self.left(_REHEARSED) < later:
                break
            begun, sides = time.perf_counter(), []
            for x in plan.inputs[0]:
                with self.limit():
                    sides.append(source.draw(x, size, int(rng.integers(2**31))))
            drawn = time.perf_counter()
            if size < _FEW:
                sides = [compact(listing(side) * -(-_FEW // size)) for side in sides]
            make(plan, *sides)
            verdict = time.perf_counter() - drawn
            later = _LARGER * (drawn - begun) + 2 * verdict
            self._draw = max((drawn - begun) / size, 1e-9)
            self._verdict = self._verdict or verdict
            self._look = max(verdict - self._verdict, verdict / 8) / max(size, _FEW)

    def draws(self) -> int:
        """Return the number of draws of each side that fit."""
        left = max(self.left(_DRAWN) - self._verdict, 0.0)
        return min(int(left / (self._draw + self._look)), _MOST)

    def over(self, drawn: int) -> bool:
        """Tell whether draws must end, after so many of both sides together."""
        return self.left(_DRAWN) < self._verdict + self._look * drawn / 2

    def too_few(self, draws: int, least: int) -> str:
        """Return why so many draws of a side are too few, if ``least`` are needed; "" if not."""
        if math.isinf(self.seconds) or draws >= least:
            return ""
        return f"{self.seconds:.3g} s are enough for {draws} draws a side; {least} are needed"
