"""From files of fresh samples to what they say about the selected pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from epsilometer.estimators.lower_bounds import weigh
from epsilometer.screening import selected
from epsilometer.storage import by_run, read_samples

Spec = Mapping[str, Any]


def evidence_of(path: str, losses_path: str, spec: Spec) -> pd.DataFrame:
    """Return what the fresh samples say, a row for every run."""
    fresh = spec["fresh"]
    by = fresh["selected_by"]
    chosen = selected(losses_path, by)
    rows = []
    for run, (x, x_prime) in by_run(read_samples(path, fresh)):
        (side_x, side_x_prime), loss = chosen[run]
        evidence = weigh(x, x_prime, loss, floor=by["parameters"]["floor"])
        keys = {"run": run, "n": by["samples"]["n"], "fresh": fresh["n"]}
        sides = {"side_x": side_x, "side_x_prime": side_x_prime}
        rows.append(keys | sides | asdict(evidence))
    types = {"run": "int32", "side_x": "int32", "side_x_prime": "int32"}
    return pd.DataFrame(rows).astype(types)
