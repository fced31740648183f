"""The check whether other processes make the same draws, as with a constant seed."""

from __future__ import annotations

import copy
import inspect
import json
import os
import sys
from contextlib import closing, suppress
from operator import attrgetter
from typing import Any

import numpy as np

from epsilometer_audit.checks.calls import Sample
from epsilometer_audit.checks.permutations import agreement
from epsilometer_audit.checks.sampler import ALPHA, OTHERS, Check
from epsilometer_audit.outputs.callables import CallableSource, Origin, Source, callable_source
from epsilometer_audit.outputs.worker import PythonWorker, WorkerSource
from epsilometer_audit.serving.sampling import RANDOM

_PART = 40  # one in so many of the checks' draws is drawn in each process
_USUAL = 40  # draws in each process, or half of the checks' draws if these are fewer
_LEAST = 12  # draws in each process, from which equal ones are told from chance


def other_process(source: Source, x: Any, draws: int, seed: int, alpha: float) -> Check:
    """Compare the first draws of two other processes; ``draws`` and ``alpha`` as for `check`."""
    name = "other process"
    outputs = []
    size = max(draws // _PART, min(_USUAL, draws // 2), _LEAST)
    unknown = "whether another process makes the same draws is not known"
    try:
        for call_seed in (seed, seed + 1):
            with closing(_another(source)) as other:
                outputs.append(other.draw(x, size, call_seed))
    except Exception:  # such as an error of the user's class
        return Check(name, "note", unknown)
    rows = np.arange(2 * size).reshape(2, size)
    matches = agreement(Sample(outputs, "").codes, rows)
    if matches.p > OTHERS * min(alpha / ALPHA, 1.0):
        if matches.same == size:
            return Check(name, "note", f"{unknown}: all outputs agree, but may do so by chance")
        return Check(name, "passed", "other processes, or objects, make other draws")
    text = "other processes, or objects, make the same draws at other seeds: a constant seed"
    return Check(name, "failed", text)


def _another(source: Any) -> Any:
    if isinstance(source, WorkerSource):
        other = copy.copy(source)
        other._process = None
        return other
    if (origin := _origin_of(source)) is None:
        return _anew(source)
    return PythonWorker(origin, failures=source.sampler.failures)


def _origin_of(source: CallableSource) -> Origin | None:
    """Return the origin of a function: as the user named it, or its module."""
    function = source.sampler.function
    with suppress(AttributeError, KeyError):  # its module has no such name
        module = function.__module__
        name = function.__qualname__
        known = module != "__main__" and attrgetter(name)(sys.modules[module]) is function
        if known and source.origin is None:
            path = os.pathsep.join(filter(None, sys.path))
            return Origin(f"{module}:{name}", env={"PYTHONPATH": path})
    return source.origin


def _anew(source: CallableSource) -> CallableSource:
    """Return a new object of the same class, with the same plain attributes; or raise."""
    function = source.sampler.function
    owner = getattr(function, "__self__", function)
    attributes = {name.lstrip("_"): value for name, value in vars(owner).items()}
    arguments = {}
    for name in inspect.signature(type(owner)).parameters:
        if name in attributes and name not in RANDOM:
            arguments[name] = json.loads(json.dumps(attributes[name]))
    new = type(owner)(**arguments)
    function = new if owner is function else getattr(new, function.__name__)
    return callable_source(function, failures=source.sampler.failures)
