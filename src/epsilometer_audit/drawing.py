"""Draws of an audit, in calls that follow a rule.

The split of a request into calls depends on the number of draws of the audit and on whether a call
is one draw, and each call has a seed of its own.
"""

from __future__ import annotations

import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.seeds import generator
from epsilometer_audit.checks.accepted_pairs import accepted, named_error
from epsilometer_audit.outputs.callables import Source
from epsilometer_audit.outputs.shapes import joined
from epsilometer_audit.question.pairs import Candidates
from epsilometer_audit.question.question import Question

_CALLS = 8  # for the draws of a side
_CALLS_OF_ONE = 128  # the same where the mechanism is called for each draw
_COPIES = 2  # of all draws, if these are arrays, are in memory
_UNPICKLED = 4  # times the memory of pickled outputs is needed for them
_EVERY = 1.0  # seconds between two lines of progress

Progress = Callable[[float, str], None]
"""Gets the part of the draws that is done, from 0 to 1, and a line about it."""


class Drawing:
    """Draws on the inputs of a question's pairs, ``samples`` a side in all.

    ``calls`` has the sizes of all calls so far, by pair and side.
    """

    def __init__(
        self,
        source: Source,
        question: Question,
        samples: int,
        progress: Progress | None,
        searches: Sequence[Any],
    ) -> None:
        self.searches = [pairs.copy() for pairs in searches]
        self.question = question
        self._source = source
        self._inputs = list(question.inputs or ())
        self._samples = samples
        self._drawn = 0
        self._requests = [[0, 0] for _ in self._inputs]
        self.calls: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._progress = progress
        self._reported = time.monotonic()

    def join(self, best: Sequence[int], size: int) -> list[int]:
        """Add up to so many pairs near the best ones to the question, and return their numbers."""
        known = dict[str, Any](self.question.pairs)
        seed = self.question.request.seed
        names = list(known)
        best_names = [names[pair] for pair in best]
        rng = generator(seed, "audit", "joining", len(known))
        nearby: list[tuple[str, Any]] = []
        for pairs in self.searches:
            nearby += pairs.nearby(best_names, size, rng).items()
        first = best_names[0]  # which is accepted: all others may be refused
        candidates = Candidates({first: known[first], **dict(nearby[:size])})
        accepted_pairs, _ = accepted(self._source, candidates, seed)
        new = {name: pair for name, pair in accepted_pairs.items() if name not in known}
        self.question = replace(self.question, pairs={**known, **new})
        self._inputs += new.values()
        self._requests += [[0, 0] for _ in new]
        return list(range(len(known), len(self._inputs)))

    def __call__(self, sides: Sequence[tuple[int, int]], size: int) -> list[Any]:
        """Return outputs of each pair and side; see `Draw`. Calls take turns over these."""
        per_side = _CALLS if getattr(self._source, "many", True) else _CALLS_OF_ONE
        calls = per_side * len(sides) // 2
        most = max(self._samples // calls, min(self._samples // 2000, 32), 1)
        number = -(-size // most)
        for pair, side in sides:
            self._requests[pair][side] += 1
        outputs: list[list[Any]] = [[] for _ in sides]
        usual, larger = divmod(size, number)  # so many calls have a draw more
        for i in range(number):
            call_size = usual + 1 if i < larger else usual
            for place, (pair, side) in enumerate(sides):
                call = [pair, side, self._requests[pair][side]]
                if i > 0:
                    call.append(i)
                outputs[place].append(self._call(call, call_size))
        # batches are dropped once they are joined: all would be there twice
        return [joined(outputs.pop(0)) for _ in sides]

    def _call(self, call: Sequence[int], size: int) -> Any:
        """Return the outputs of a call."""
        pair, side = call[:2]
        seed = seed_of(self.question.request.seed, "draws", *call)
        try:
            batch = self._source.draw(self._inputs[pair][side], size, seed)
        except MechanismError as error:
            raise named_error(error, list(self.question.pairs)[pair]) from error.__cause__
        batch = joined([batch])  # rows of numbers take a tenth of the memory of dictionaries
        if not self._drawn and not self.question.request.stop:
            _check_memory(self._samples, batch)
        self.calls[pair, side].append(len(batch))
        self._drawn += size
        if self._progress and time.monotonic() > self._reported + _EVERY:
            self._reported = time.monotonic()
            done = self._drawn // 2
            self._progress(done / self._samples, f"{done} of {self._samples} draws a side")
        return batch


def _check_memory(draws: int, batch: Any) -> None:
    """Raise `ArgumentError` if so many draws a side, like these, need more memory than is free."""
    with suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
        columns = getattr(batch, "columns", {0: batch}).values()
        if all(isinstance(column, np.ndarray) for column in columns):
            held = _COPIES * sum(column.nbytes for column in columns)
        else:
            held = _UNPICKLED * len(pickle.dumps(batch))
        needed = 2 * draws * held / len(batch)
        free = free_memory()
        if needed > free:
            many = f"{draws:,} draws a side need about {needed / 1e9:.1f} GB of memory"
            message = f"must be fewer: {many}, and {max(free, 0) / 1e9:.1f} GB are free"
            raise ArgumentError("samples", message)


_CONTROL_GROUPS = {  # the files of a limit and of the use, and how names of caches begin, by the
    # kind that a line of /proc/self/cgroup names: version 2 and 1
    "": ("memory.max", "memory.current", ""),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
}


def _free_in(group: Path, kind: str) -> int:
    """Return the bytes that are left in a control group; raise `ValueError` if it has no limit."""
    limit, use, caches = _CONTROL_GROUPS[kind]
    facts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    most = int((group / limit).read_text())  # or "max"
    used = int((group / use).read_text())
    active = int(facts[f"{caches}active_file"])
    return most - used + active + int(facts[f"{caches}inactive_file"])


def free_memory(root: Path = Path("/")) -> int:
    """Return the free bytes of the machine, or within the limit of its container or job."""
    lines = (root / "proc/meminfo").read_text("ascii").splitlines()
    free = []
    for line in lines:
        if line.startswith("MemAvailable"):
            free.append(int(line.split()[1]) * 1024)
    for file in (root / "proc/self").glob("cgroup"):
        for line in file.read_text(errors="replace").splitlines():
            _, kind, path = line.split(":", 2)
            folder = root / "sys/fs/cgroup" / kind / path[1:]
            for group in (folder, *folder.parents):
                with suppress(OSError, ValueError, KeyError):  # it has no limit
                    free.append(_free_in(group, kind))
    return min(free, default=2**63)


def seed_of(root: int, *identity: str | int) -> int:
    """Return the seed of a call."""
    return int(generator(root, "audit", *identity).integers(2**31))
