"""What tests of stages share: identities of samples, of estimates and of tables; no progress."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.files.identities import (
    Common,
    EstimateJob,
    EstimatesIdentity,
    Inputs,
    InputsOfPairs,
    SamplesIdentity,
    TableIdentity,
    plain,
)
from epsilometer_workflow.files.printed import TableContents, TabulateJob
from epsilometer_workflow.files.storage import read_samples
from epsilometer_workflow.stages import estimate, sample

COMMON: Common = {"seed": 3, "scale": "smoke", "version": "0"}


def quiet(_: str) -> None:
    """Report no progress."""


def done(stage: Any, output: Any, job: Any, *files: str, **inputs: str) -> None:
    """Let a stage do a job: from files, or from those of these names."""
    read = files or SimpleNamespace(**inputs)
    params = SimpleNamespace(spec=plain(job))
    stage.main(SimpleNamespace(input=read, output=[str(output)], params=params), quiet)


def samples_of(name: str, values: list[Any], n: int, runs: list[int], **more: Any) -> Any:
    """Return the identity of samples of a registered mechanism, or of another, on these inputs."""
    identity = {
        **{"stage": "main", "mechanism": name, "registered": MECHANISMS.get(name)},
        **{"parameters": {}, "epsilon": 1.0, "inputs": Inputs(id="distances", sides=values)},
        **{"sides": len(values), "n": n, "runs": runs},
    }
    return SamplesIdentity(**COMMON | identity | more)


def estimates_by(name: str, values: list[Any], **more: Any) -> Any:
    """Return the identity of estimates of inputs by a registered estimator."""
    pairs: dict[str, Any] = {"pairing": "consecutive", "names": None}
    identity = {
        **{"mechanism": "laplace", "mechanism_registered": MECHANISMS["laplace"]},
        **{"mechanism_parameters": {}, "epsilon": 1.0, "order": "inf", "estimator": "e"},
        **{"inputs": InputsOfPairs(id="distances", sides=values, **pairs), "claims": Claims()},
        **{"registered": ESTIMATORS[name], "parameters": {}, "after": None, "region": None},
        **{"cells": 0, "n": "10", "runs": 1},
    }
    return EstimatesIdentity(**COMMON | identity | more)


def table_by(builder: str, **more: Any) -> TabulateJob:
    """Return the job of a builder, ``module:function``."""
    contents = {"caption": "", "builder": builder, "options": {}, "paper": None, "data": []}
    return TabulateJob(identity=TABLE, table=TableContents(**contents | more))


TABLE = TableIdentity(**COMMON, report="r", artifact="fig1", made_of="0")


def drawn(file: Any, samples: Any) -> dict[tuple[int, int], Any]:
    """Draw into a file, and return its outputs by run and side."""
    done(sample, file, samples)
    return {(run, side): outputs for run, side, outputs in read_samples(str(file), samples)}


def estimated(file: Any, reads: str, identity: Any, data: Any) -> pd.DataFrame:
    """Return the estimates from a file."""
    job = EstimateJob(identity=identity, reads=reads, data=[plain(data)])
    return pd.DataFrame(estimate.estimates_of([str(file)], job))
