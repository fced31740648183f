"""Draws of an audit: in calls that follow a rule, by several processes, until the time is up.

The split of a request into calls depends on the number of draws of the audit and on whether a call
is one draw, and each call has a seed of its own: outputs do not depend on the number of processes.
A budget of time ends them between two calls.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any

from epsilometer.errors import EpsilometerError, MechanismError, one_line
from epsilometer.seeds import generator
from epsilometer_audit.budgets import Budget
from epsilometer_audit.checks.accepted_pairs import named_error
from epsilometer_audit.outcomes.shapes import joined
from epsilometer_audit.question import Question
from epsilometer_audit.sources.callables import Source

_CALLS = {True: 8, False: 128}  # for the draws of a side, of many draws each or of one
_PATIENCE = 2.0  # seconds for the end of a process
_EVERY = 1.0  # seconds between two lines of progress
_exit = os._exit  # which is another while a mechanism runs

Progress = Callable[[float, str], None]
"""Gets the part of the draws that is done, from 0 to 1, and a line about it."""
Call = tuple[int, int, int, int]
"""A pair, a side, how many draws, and their seed."""


class Drawing:
    """Draws on the inputs of a question's pairs, ``samples`` a side in all, while the clock allows.

    ``calls`` has the sizes of all calls so far, by pair and side.
    """

    def __init__(
        self,
        source: Source,
        plan: Question,
        samples: int,
        jobs: int,
        clock: Budget,
        progress: Progress,
    ) -> None:
        self._source, self._plan, self._inputs = source, plan, plan.inputs or ()
        self._samples, self._clock, self._drawn = samples, clock, 0
        self._requests = [[0, 0] for _ in plan.names]
        self.calls: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._jobs = jobs if hasattr(os, "fork") else 1
        self._pool: ProcessPoolExecutor | None = None
        self._progress, self._reported = progress, time.monotonic()

    def together(self, sides: Sequence[tuple[int, int]], size: int) -> list[Any]:
        """Return outputs of each pair and side; see `Draw`. They are fewer where the time is up.

        Calls take turns over pairs and sides, and every started turn is completed: the time of an
        output does not decide whether it counts.
        """
        calls = _CALLS[getattr(self._source, "many", True)] * len(sides) // 2
        most = max(self._samples // calls, min(self._samples // 2000, 32), 1)
        number = -(-size // most)
        for pair, side in sides:
            self._requests[pair][side] += 1
        planned = []
        for i in range(number):
            for pair, side in sides:
                call = (pair, side, self._requests[pair][side], *([i] if i else []))
                seed = seed_of(self._plan.seed, "draws", *call)
                planned.append((pair, side, size // number + (i < size % number), seed))
        batches = self._batches(planned, len(sides))
        for of, batch in zip(itertools.cycle(sides), batches, strict=False):
            self.calls[of].append(len(batch))
        return [joined(batches[i :: len(sides)]) for i in range(len(sides))]

    def _batches(self, calls: Sequence[Call], turn: int) -> list[Any]:
        """Return the outputs of calls, which begin in their order, until the time is up."""
        batches: list[Any] = []
        running: deque[tuple[Call, Callable[[], Any]]] = deque()

        def end() -> None:
            (pair, _, size, _), result = running.popleft()
            try:
                with self._clock.limit():
                    batches.append(result())
            except MechanismError as error:
                raise named_error(error, self._plan.names[pair]) from error.__cause__
            self._drawn += size
            if time.monotonic() > self._reported + _EVERY:
                self._reported, done = time.monotonic(), self._drawn // 2
                self._progress(done / self._samples, f"{done} of {self._samples} draws a side")

        for i, call in enumerate(calls):
            if len(running) == self._jobs:
                end()
            if i % turn == 0 and self._clock.over(self._drawn):
                break
            running.append((call, self._begin(call)))
        while running:
            end()
        return batches

    def _begin(self, call: Call) -> Callable[[], Any]:
        """Begin a call, in another process if there are several; return a function that waits."""
        if self._jobs == 1:
            return partial(_draw, self._source, self._inputs, call)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._jobs, get_context("fork"), _enter, (self._source, self._inputs)
            )
        with warnings.catch_warnings():  # of threads, which are not this package's
            warnings.simplefilter("ignore", DeprecationWarning)
            future = self._pool.submit(_drawn_or_error, call)

        def result() -> Any:
            try:
                outputs = future.result()
            except BrokenProcessPool:
                raise MechanismError("a process ended before it answered") from None
            except Exception as error:
                message = f"outputs cannot be sent from a process: {one_line(error)}"
                raise MechanismError(message) from None
            if isinstance(outputs, MechanismError):
                raise outputs
            return outputs

        return result

    def close(self) -> None:
        """End all processes, with their programs."""
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            until = time.monotonic() + _PATIENCE
            for process in processes:
                process.join(max(until - time.monotonic(), 0.0))
                process.kill()
            self._pool = None


_HERE: list[Any] = []  # source and inputs of a process


def _enter(source: Any, inputs: Sequence[Any]) -> None:
    """Make a fork of this process ready to draw."""

    def leave(*_: object) -> None:
        source.close()
        _exit(0)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
    signal.signal(signal.SIGTERM, leave)
    getattr(source, "forked", int)()
    _HERE[:] = source, inputs


def _draw(source: Any, inputs: Sequence[Any], call: Call) -> Any:
    pair, side, size, seed = call
    return source.draw(inputs[pair][side], size, seed)


def _drawn_or_error(call: Call) -> Any:
    """Return the outputs of a call, or an error that another process can read."""
    try:
        return _draw(_HERE[0], _HERE[1], call)
    except EpsilometerError as error:
        return MechanismError(str(error))


def no_progress(part: float, line: str) -> None:
    """Show nothing."""


def seed_of(root: int, *identity: str | int) -> int:
    """Return the seed of a call."""
    return int(generator(root, "audit", *identity).integers(2**31))
