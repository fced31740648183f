"""Answers to requests for draws, as defined in ``docs/worker.md``."""

from __future__ import annotations

import json
import os
from typing import Any

from .digests import source_digests
from .errors import Broken, Misuse
from .loading import load
from .outputs import as_json
from .sampling import Sampler


def main(spec: str, options: str = "{}") -> None:
    """Answer requests from standard input until it ends; the mechanism cannot use stdin or stdout.

    ``options``, in JSON, are those of `load`. A request may also ask to ``describe`` the source.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sampler: Sampler | None = None
    for line in requests:
        request = json.loads(line)
        try:
            sampler = sampler or load(spec, **json.loads(options))
            if "describe" in request:
                names = ("description", "seeded", "many", "constant")
                facts = {name: getattr(sampler, name) for name in names}
                reply = _line({**facts, "digest": source_digests(spec)})
            else:
                drawn = sampler.draw(request["input"], request["size"], request["seed"])
                reply = _encoded(drawn)
        except Misuse as error:
            problem = {"argument": error.argument, "error": error.message, "fatal": True}
            reply = _line({**problem, "wanted": error.wanted, "choices": error.choices})
        except Broken as error:
            reply = _line({"error": str(error), "fatal": True})
        answers.write(reply)
        answers.flush()


def _line(value: Any) -> bytes:
    return json.dumps(value, default=str).encode() + b"\n"


def _encoded(outputs: Any) -> bytes:
    """Return outputs in the protocol's form, a line of JSON each."""
    is_array = hasattr(outputs, "dtype")
    values = outputs.tolist() if is_array else outputs
    if is_array and outputs.ndim == 1 and outputs.dtype.itemsize <= 8:  # not long doubles
        numbers = json.dumps(values)[1:-1]
        return numbers.replace(", ", "\n").encode() + b"\n"
    return b"".join(_line(as_json(value)) for value in values)
