"""The record of a draw: its calls into sources of randomness, the lines that it ran, its output.

A draw is made in a fork of this process, so that it changes no state: a draw on another input at
the same seed gets the same noise.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from types import FrameType
from typing import Any

from ..errors import Broken, error_text
from ..modules import is_library
from ..optional import np
from ..outputs import Failure
from ..sampling import Sampler
from .patching import Sources
from .recording import Record, Recorder, is_of_user, summary

_LINES = 4000  # different ones
_MODULES = 200
_SLOW = 2.0  # seconds of a draw: a slower one is not repeated


def replayed(
    load: Callable[[], Sampler],
    pair: tuple[Any, Any],
    seeds: list[int],
    seconds: float,
    sources: Sources | None = None,
) -> Record:
    """Return records of draws on both inputs at the same seeds, as many as there is time for.

    ``load`` returns the sampler of a mechanism. It is called after the ``sources`` of randomness of
    this process have been patched, which they stay. No run begins after so many ``seconds``; a draw
    may take as long again. Returned are ``runs``, each with the `draw` on ``x`` and on ``x_prime``,
    and ``again`` on x where that was not the same; ``loaded`` are the calls during the load.
    """
    sources = sources or Sources(Recorder())
    recorder = sources.recorder
    recorder.records = []
    sampler = load()
    sources.refresh()
    loaded = [] if sampler.per_draw else recorder.records  # else these are draws of a constructor
    runs: list[Record] = []
    until = time.monotonic() + seconds

    def record(x: Any, seed: int) -> Record:
        left = max(until - time.monotonic(), 0.0) + seconds
        result = forked(lambda: draw(sampler, sources, x, seed), left)
        before = len(sys.modules)
        with recorder.paused():  # import the libraries that each draw would import; draw again
            for name in result.pop("imported", ()):
                with contextlib.suppress(Exception):
                    spec = importlib.util.find_spec(name.partition(".")[0])
                    if spec is not None and is_library(spec.origin or ""):
                        importlib.import_module(name)
        if len(sys.modules) == before:
            return result
        sources.refresh()
        return record(x, seed)

    for seed in seeds:
        if runs and time.monotonic() > until:
            break
        x, again, x_prime = record(pair[0], seed), record(pair[0], seed), record(pair[1], seed)
        same = all(again.get(key) == x.get(key) for key in ("calls", "output", "failed"))
        runs.append({"x": x, "x_prime": x_prime, "again": None if same else again})
    return {"runs": runs, "loaded": loaded}


def draw(sampler: Sampler, sources: Sources, x: Any, seed: int) -> Record:
    """Return the record of a draw.

    ``calls``; ``lines``, each as its file and number; ``output``, or how it ``failed``; the output
    of a ``second`` draw after it, if that was quick, and whether the output ``changed`` in two more
    with the same noise; the ``imported`` modules.
    """
    recorder = sources.recorder
    recorder.records = []
    before, lines = set(sys.modules), Lines()
    record: Record = {}
    sources.seed(seed)
    started = time.monotonic()
    try:
        with lines:
            outputs = sampler.drawn(x, 1, seed)
        record["output"] = comparable(outputs[0])
    except Broken as error:
        record["failed"] = str(error)
    calls = recorder.records
    if time.monotonic() - started < _SLOW:
        with contextlib.suppress(Broken), recorder.paused():
            record["second"] = comparable(sampler.drawn(x, 1, seed + 1)[0])
            later = []
            sources.refresh()  # the draw may have created generators
            for _ in range(2):
                sources.seed(seed)
                later.append(json.dumps(comparable(sampler.drawn(x, 1, seed)[0])))
            record["changed"] = later[0] != later[1]
    imported = [name for name in sys.modules if name not in before][:_MODULES]
    record.update(calls=calls, imported=imported, lines=list(lines.ran))
    return record


class Lines:
    """The lines of the mechanism and its callees that run, in order of their first run."""

    def __init__(self) -> None:
        self.ran: dict[tuple[str, int], None] = {}

    def __enter__(self) -> None:
        sys.settrace(self._called)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._run if is_of_user(frame.f_code.co_filename) else None

    def _run(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and len(self.ran) < _LINES:
            self.ran[frame.f_code.co_filename, frame.f_lineno] = None
        return self._run


def forked(function: Callable[[], Record], seconds: float) -> Record:
    """Return the result of a function in a fork of this process, which ends with it."""
    here, there = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
        child = os.fork()
    if child == 0:
        try:
            here.close()
            try:
                data = json.dumps(function()).encode()
            except BaseException as error:
                data = json.dumps({"failed": f"cannot be recorded: {error_text(error)}"}).encode()
            there.send_bytes(data)
        finally:
            os._exit(0)
    there.close()
    try:
        if not here.poll(seconds):
            return {"failed": f"hangs for {seconds:g} s"}
        return json.loads(here.recv_bytes())  # type: ignore[no-any-return]
    except (EOFError, OSError):
        return {"failed": "ended before it answered"}
    finally:
        here.close()
        os.kill(child, signal.SIGKILL)  # it may wait for its own children
        os.waitpid(child, 0)


def comparable(value: Any) -> Any:
    """Return an output in JSON values that are compared part by part, and never read back.

    So that draws can be compared, it differs from `as_json`: failures are equal by their types,
    long texts are digests, and mappings are ``{"keys": [[key, value], ...]}``.
    """
    if np is not None and isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, Failure):
        return {"failure": value.type_name}
    if isinstance(value, dict):
        return {"keys": [[comparable(key), comparable(part)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return [comparable(part) for part in value]
    if isinstance(value, (str, bytes)):
        return summary(value)
    return {"value": repr(value)[:200]}
