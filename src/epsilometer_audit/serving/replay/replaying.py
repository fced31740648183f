"""Draws in forks of this process, which change no state: the same seed gives the same noise."""

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
from typing import Any

from ..errors import Broken, error_text
from ..modules import is_library
from ..sampling import Sampler
from .patching import Sources
from .recording import Recorder, lines_in, summary

_SLOW = 2.0  # seconds of a draw: a slower one is not repeated


def replayed(
    load: Callable[[], Sampler], pair: Any, seeds: list[int], seconds: float, sources: Any = None
) -> dict[str, Any]:
    """Return records of draws on both inputs at the same seeds, as many as there is time for.

    ``load`` returns the sampler of a mechanism. It is called after the ``sources`` of randomness of
    this process have been patched, which they stay. No run begins after so many ``seconds``; a draw
    may take as long again. Returned are ``runs``, each with the `draw` on ``x``, ``again`` on x
    (``repeated`` if that is the same), and on ``x_prime``; and ``loaded``, the calls of the load.
    """
    sources = sources or Sources(Recorder())
    recorder = sources.recorder
    recorder.records = []
    sampler = load()
    sources.refresh()
    loaded = recorder.records
    runs: list[dict[str, Any]] = []
    until = time.monotonic() + seconds

    def record(x: Any, seed: int) -> dict[str, Any]:
        left = max(until - time.monotonic(), 0.0) + seconds
        result = {"calls": [], "steps": [], **forked(lambda: draw(sampler, sources, x, seed), left)}
        result |= {"output": {"$": result["failed"]}} if "failed" in result else {}
        before = len(sys.modules)
        with recorder.paused():  # import the libraries that each draw would import; draw again
            for name in result.pop("imported", ()):
                with contextlib.suppress(Exception):
                    spec: Any = importlib.util.find_spec(name.partition(".")[0])
                    if is_library(spec.origin):
                        importlib.import_module(name)
        if len(sys.modules) == before:
            return result
        sources.refresh()
        return record(x, seed)

    for seed in seeds:
        if runs and time.monotonic() > until:
            break
        sides = {"x": pair[0], "again": pair[0], "x_prime": pair[1]}
        run: dict[str, Any] = {side: record(x, seed) for side, x in sides.items()}
        run["repeated"] = all(run["x"][key] == run["again"][key] for key in ("calls", "output"))
        runs.append(run)
    return {"runs": runs, "loaded": loaded}


def draw(sampler: Sampler, sources: Sources, x: Any, seed: int) -> dict[str, Any]:
    """Return ``calls``, ``steps`` as in `lines_in`, ``output``, or how it ``failed``, of a draw.

    And the output of a ``second`` draw after it, if that was quick; whether the output ``changed``
    in two more with the same noise; the ``imported`` modules.
    """
    recorder = sources.recorder
    recorder.records = []
    before = set(sys.modules)
    record: dict[str, Any] = {"steps": []}

    def output(seed: int) -> Any:
        return summary(sampler.drawn(x, 1, seed)[0], sys.maxsize)

    sources.seed(seed)
    started = time.monotonic()
    try:
        with lines_in(record["steps"]):
            record["output"] = output(seed)
    except Broken as error:
        record["failed"] = str(error)
    if time.monotonic() - started < _SLOW:
        with contextlib.suppress(Broken), recorder.paused():
            record["second"] = output(seed + 1)
            later = []
            sources.refresh()  # the draw may have created generators
            for _ in range(2):
                sources.seed(seed)
                later.append(json.dumps(output(seed)))
            record["changed"] = later[0] != later[1]
    imported = [name for name in sys.modules if name not in before]
    return {**record, "calls": recorder.records, "imported": imported}


def forked(function: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
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
