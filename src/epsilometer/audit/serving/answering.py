"""Answers requests for draws as ``docs/worker.md`` has it."""

from __future__ import annotations

import json
import os
from typing import Any

from .digests import source_digests
from .errors import Broken, Misuse
from .loading import load
from .outputs import Failure
from .sampling import Sampler


def main(spec: str, options: str = "{}") -> None:
    """Answer requests from standard input until it ends; the mechanism has neither it nor stdout.

    ``options``, in JSON, are those of `load`. A request ``{"describe": true}`` is answered by the
    ``description`` of the source, whether it is ``seeded``, and its ``digest``.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sampler: Sampler | None = None
    problem: dict[str, Any] = {}
    try:
        sampler = load(spec, **json.loads(options))
    except Misuse as error:
        problem = {"argument": error.argument, "error": error.message, "fatal": True}
        problem.update(wanted=error.wanted, choices=error.choices)
    for line in requests:
        request = json.loads(line)
        if sampler is None:
            reply = _line(problem)
        elif "describe" in request:
            found = {"description": sampler.description, "seeded": sampler.seeded}
            reply = _line({**found, "digest": source_digests(spec)})
        else:
            try:
                outputs = sampler.draw(request["input"], request["size"], request["seed"])
                reply = _written(outputs)
            except Broken as error:
                reply = _line({"error": str(error), "fatal": True})
        answers.write(reply)
        answers.flush()


def _line(found: Any) -> bytes:
    return json.dumps(found, default=_as_json).encode() + b"\n"


def _written(outputs: Any) -> bytes:
    """Return outputs as the protocol has them: raw numbers, or a line of JSON each."""
    kind = getattr(outputs, "dtype", None)
    if kind is not None and kind.kind in "iuf" and kind != "uint64":
        raw = "float64" if kind.kind == "f" else "int64"
        columns = {"columns": outputs.shape[1]} if outputs.ndim == 2 else {}
        numbers: bytes = outputs.astype(f"<{raw[0]}8").tobytes()
        return _line({"raw": raw, **columns}) + numbers
    return b"".join(map(_line, outputs.tolist() if kind is not None else outputs))


def _as_json(value: Any) -> Any:
    return {"error": value.type_name} if isinstance(value, Failure) else str(value)
