"""The cause of a violation: draws on x and x' with the same noise, in forks of another process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from epsilometer import checks
from epsilometer.errors import ArgumentError, EpsilometerError, MechanismError
from epsilometer.seeds import generator
from epsilometer_audit.checks.fresh_processes import anew, origin_of
from epsilometer_audit.explaining.comparing import Cause, Finding, cause_of
from epsilometer_audit.formats import input_text
from epsilometer_audit.question import source_of
from epsilometer_audit.serving.replay.replaying import forked, replayed
from epsilometer_audit.sources.callables import CallableSource
from epsilometer_audit.sources.worker import PythonWorker, python_replay
from epsilometer_audit.verdict import LOW_BITS, Verdict

_OF_LOW_BITS = Finding(
    "low bits",
    "the low bits of floating-point outputs tell the inputs apart, however large the noise is",
    textbook="x + noise rounds to other floats than x' + noise (Mironov 2012): draw noise on a "
    "fixed grid, such as discrete Laplace or Gaussian noise",
)


def explain(
    mechanism: Any, pair: tuple[Any, Any], *, runs: int = 16, seed: int = 0, seconds: float = 20.0
) -> Cause:
    """Find the differences of a mechanism on x and on x' with the same noise.

    Noise of compiled code is not seen.

    Parameters
    ----------
    mechanism
        As for `audit`: ``file.py:function`` or ``package.module:function``, which another process
        loads; a source of these; or a callable.
    pair
        The inputs, ``(x, x')``.
    runs, seed, seconds
        Each run has other noise, which follows from the seed; none begins after these seconds.

    Returns
    -------
    The cause, which prints in a few lines: `Cause.findings`, the most important first.

    Raises
    ------
    ArgumentError, MechanismError
        If it is not a Python function; if the process that runs it fails.
    """
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ArgumentError("pair", f"must be (x, x'), got {input_text(pair)}")
    checks.integer("runs", runs, maximum=10_000)
    checks.seconds("seconds", seconds)
    source = source_of(mechanism, failures=False)
    rng = generator(checks.integer("seed", seed, minimum=0), "explain")
    seeds = rng.choice(2**31, runs, replace=False).tolist()
    if not isinstance(source, CallableSource | PythonWorker):
        text = "can be explained where it is a Python function: file.py:function"
        raise ArgumentError("mechanism", text)
    record = _replayed(source, (pair[0], pair[1]), seeds, seconds)
    if not record.get("runs"):
        raise MechanismError(f"{source.description}: {record.get('failed', 'no run was recorded')}")
    sizes = [len(x) for x in pair if hasattr(x, "__len__") and not isinstance(x, str)]
    return cause_of(record, sizes)


def explained(verdict: Verdict, mechanism: Any) -> Verdict:
    """Return a violated or invalid verdict with its cause, or an error; others as they are."""
    if verdict.verdict not in ("violated", "invalid") or verdict.pair is None:
        return verdict
    try:
        cause = explain(mechanism, verdict.pair, seed=verdict.seed)
    except EpsilometerError as error:
        lines = [f"could not be looked for: {error}"]
        return replace(verdict, cause={"runs": 0, "words": lines, "findings": []})
    if verdict.verdict == "invalid":  # its cause is in the seeds, as that needs no x'
        kinds = "constant seed", "drawn once", "no noise"
        findings = tuple(finding for finding in cause.findings if finding.kind in kinds)
        cause = replace(cause, findings=findings)
    if verdict.witness is not None and verdict.witness.note == LOW_BITS:
        known = [finding for finding in cause.findings if finding.kind != "nothing"]
        cause = replace(cause, findings=(_OF_LOW_BITS, *known))
    return replace(verdict, cause=cause.to_plain()) if cause.findings else verdict


def _replayed(
    source: CallableSource | PythonWorker, pair: tuple[Any, Any], seeds: list[int], seconds: float
) -> Mapping[str, Any]:
    if isinstance(source, PythonWorker):
        return python_replay(source.origin, pair, seeds, seconds)
    origin = origin_of(source)
    with suppress(TypeError, ValueError, EpsilometerError):  # no JSON, or of this process only
        if origin is not None and json.loads(json.dumps(pair)) == list(pair):
            return python_replay(origin, pair, seeds, seconds)
    limit = 60 + 4 * seconds
    with suppress(Exception):  # of the user's own class
        anew(source)
        return forked(lambda: replayed(lambda: anew(source).sampler, pair, seeds, seconds), limit)
    return forked(lambda: replayed(lambda: source.sampler, pair, seeds, seconds), limit)
