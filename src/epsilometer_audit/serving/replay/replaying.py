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
        return {"output": {"$": result["failed"]}, **result} if "failed" in result else result

    with recorder.paused():  # import the libraries that each draw would import
        for name in [name for x in pair for name in record(x, seeds[0]).get("imported", ())]:
            with contextlib.suppress(Exception):
                spec: Any = importlib.util.find_spec(name.partition(".")[0])
                if is_library(spec.origin):
                    importlib.import_module(name)
    sources.refresh()
    for seed in seeds:
        if runs and time.monotonic() > until:
            break
        sides = {"x": pair[0], "again": pair[0], "x_prime": pair[1]}
        run: dict[str, Any] = {side: record(x, seed) for side, x in sides.items()}
        run["repeated"] = all(run["x"][key] == run["again"][key] for key in ("calls", "output"))
        runs.append(run)
    return {"runs": runs, "loaded": loaded}


def draw(sampler: Sampler, sources: Sources, x: Any, seed: int) -> dict[str, Any]:
    """Return a draw: its ``calls``, its ``steps`` as in `lines_in`, its ``output``.

    Or how it ``failed``; the ``second`` output, if there are no calls; the ``imported`` modules.
    """
    recorder = sources.recorder
    recorder.records = []
    before = set(sys.modules)
    record: dict[str, Any] = {"steps": []}
    sources.seed(seed)
    try:
        with lines_in(record["steps"]):
            record["output"] = summary(sampler.drawn(x, 1, seed)[0], sys.maxsize)
        if not recorder.records:
            record["second"] = summary(sampler.drawn(x, 1, seed)[0], sys.maxsize)
    except Broken as error:
        record["failed"] = str(error)
    imported = [name for name in sys.modules if name not in before]
    return {**record, "calls": recorder.records, "imported": imported}


def forked(function: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Return the result of a function in a fork of this process, which ends with it."""
    here, there = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
        child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            here.close()
            try:
                result = function()
            except BaseException as error:
                result = {"failed": f"cannot be recorded: {error_text(error)}"}
            there.send_bytes(json.dumps(result).encode())
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
