"""From files of samples to the losses of all pairs, and to fresh samples of the selected one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.estimators.local_loss import Loss
from epsilometer.registry import load
from epsilometer.sampling import write_sides
from epsilometer.storage import by_run, read_samples, read_table

Spec = Mapping[str, Any]
Progress = Callable[[str], None]
Sample = NDArray[Any]


def losses_of(path: str, spec: Spec, progress: Progress) -> pd.DataFrame:
    """Return the loss of every pair in every run, from one file of samples.

    Columns ``output`` and ``event`` are lists (row by row); ``width`` is the columns of an event.
    """
    frames = []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        try:
            frames.append(losses_of_run(sides, spec))
        except ArgumentError as error:
            raise DataError(path, f"run {run}: {error}") from None
        frames[-1].insert(0, "run", np.int32(run))
        progress(f"run {run} of runs {spec['samples']['runs']}")
    return pd.concat(frames, ignore_index=True)


def losses_of_run(sides: list[Sample], spec: Spec) -> pd.DataFrame:
    """Return a row for every pair of one run's samples."""
    pairs = pairs_of(len(sides), spec["pairing"])
    method = load(spec["registered"])(**spec["parameters"])
    chosen, losses = method.screen(
        ((sides[i], sides[j]) for i, j in pairs), draws=spec["draws"], region=spec["region"]
    )
    return pd.DataFrame(
        {
            "n": np.int64(spec["samples"]["n"]),
            "fresh": np.int64(0),
            "side_x": np.int32(i),
            "side_x_prime": np.int32(j),
            "loss": loss.loss,
            "sign": np.int8(loss.sign),
            "output": loss.output.tolist(),
            "event": loss.event.ravel().tolist(),
            "width": np.int32(loss.event.shape[1]),
            "selected": k == chosen,
        }
        for k, ((i, j), loss) in enumerate(zip(pairs, losses, strict=True))
    )


def confirm(path: str, losses_path: str, spec: Spec, progress: Progress) -> None:
    """Write fresh samples of the selected pair of every run."""
    chosen = selected(losses_path, spec["selected_by"])
    write_sides(path, spec, lambda run: chosen[run][0], progress)


def selected(path: str, expected: Spec) -> dict[int, tuple[tuple[int, int], Loss]]:
    """Return for each run the selected sides, and their loss."""
    losses = read_table(path, "losses", expected)
    chosen = {}
    for row in losses[losses["selected"]].itertuples():
        sides = (int(row.side_x), int(row.side_x_prime))
        output, event = np.asarray(row.output, float), np.asarray(row.event, float)
        loss = Loss(float(row.loss), int(row.sign), output, event.reshape(-1, int(row.width)))
        chosen[int(row.run)] = sides, loss
    return chosen
