"""Seconds of one two-stage estimate, stage by stage, in this process alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from epsilometer import seeds
from epsilometer.estimators.base import pairs_of
from epsilometer.estimators.lower_bounds import weigh
from epsilometer.registry import load
from epsilometer.sampling import draw

Spec = Mapping[str, Any]


def time_runs(spec: Spec, progress: Callable[[str], None]) -> pd.DataFrame:
    """Return a row for every combination and run; a first run that is not counted warms up."""
    rows = []
    for member in spec["members"]:
        first, last = member["fresh"]["runs"]
        _time(member, first)
        for run in range(first, last + 1):
            rows.append(_time(member, run))
            progress(f"{rows[-1]['mechanism']} run {run}: {rows[-1]['seconds']:.3f} s")
    return pd.DataFrame(rows)


def _time(member: Spec, run: int) -> dict[str, Any]:
    """Run both stages once."""
    fresh, estimates = member["fresh"], member["estimates"]
    by = fresh["selected_by"]
    samples, inputs = by["samples"], fresh["inputs"]["values"]
    screen = load(by["registered"])(**by["parameters"])
    mechanism = load(fresh["registered"])(epsilon=fresh["epsilon"], **fresh["parameters"])
    estimator = load(estimates["registered"])(**estimates["parameters"])
    rng = seeds.generator(fresh["seed"], "timing", fresh["mechanism"], run)
    clock = [time.perf_counter()]

    def drawn(side: int, n: int) -> np.ndarray:
        return draw(mechanism, inputs[side], n, rng, name=fresh["mechanism"])

    sides = [drawn(side, samples["n"]) for side in range(len(inputs))]
    clock.append(time.perf_counter())
    pairs = pairs_of(len(sides), by["pairing"])
    selected, losses = screen.screen(
        ((sides[i], sides[j]) for i, j in pairs), draws=by["draws"], region=by["region"]
    )
    clock.append(time.perf_counter())
    x, x_prime = (drawn(side, fresh["n"]) for side in pairs[selected])
    clock.append(time.perf_counter())
    bound = estimator.bound(weigh(x, x_prime, losses[selected], floor=screen.floor))
    clock.append(time.perf_counter())
    sampling, screening, confirming, bounding = np.diff(clock)
    return {
        "mechanism": fresh["mechanism"],
        "epsilon": fresh["epsilon"],
        "estimator": estimates["estimator"],
        "run": run,
        "n": samples["n"],
        "fresh": fresh["n"],
        "pairs": len(pairs),
        "sampling": sampling + confirming,
        "estimating": screening + bounding,
        "seconds": clock[-1] - clock[0],
        "bound": float(bound),
    }
