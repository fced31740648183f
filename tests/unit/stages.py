"""What tests of stages share: specs of samples and of estimates, and no progress."""

from types import SimpleNamespace
from typing import Any

from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS

COMMON = {"seed": 3, "scale": "smoke", "version": "0"}


def quiet(_: str) -> None:
    """Report no progress."""


def done(stage: Any, output: Any, spec: dict[str, Any], *files: str, **inputs: str) -> None:
    """Let a stage do a job: from files, or from those of these names."""
    read = files or SimpleNamespace(**inputs)
    params = SimpleNamespace(spec=spec)
    stage.main(SimpleNamespace(input=read, output=[str(output)], params=params), quiet)


def samples_of(name: str, values: list[Any], n: int, runs: list[int]) -> dict[str, Any]:
    """Return the spec of samples of a registered mechanism on these inputs."""
    return COMMON | {
        **{"stage": "main", "mechanism": name, "registered": MECHANISMS[name]},
        **{"parameters": {}, "epsilon": 1.0, "inputs": {"id": "distances", "values": values}},
        **{"sides": len(values), "n": n, "runs": runs},
    }


def estimates_by(name: str, samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the identity of estimates from samples by a registered estimator."""
    return COMMON | {
        **{"mechanism": "laplace", "epsilon": 1.0, "lambda": "inf", "estimator": "e", "cells": 0},
        **{"inputs": samples["inputs"] | {"pairing": "consecutive"}},
        **{"claims": {"lipschitz": None}, "registered": ESTIMATORS[name], "parameters": {}},
        **more,
    }
