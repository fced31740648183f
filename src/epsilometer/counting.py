"""From a file of samples to histograms of every prefix that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from epsilometer.densities.histogram import finite_histogram, interval_histogram
from epsilometer.densities.ladder import ladder
from epsilometer.errors import ArgumentError, DataError
from epsilometer.storage import read_samples


def count_file(
    path: str, spec: Mapping[str, Any], progress: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Yield run, side, the prefix lengths n and their counts, in the order of the samples."""
    largest = spec["samples"]["n"]
    stops = ladder(largest) if spec["n"].startswith("1..") else [largest]
    for run, side, outputs in read_samples(path, spec["samples"]):
        try:
            if spec["support"] is None:
                counts = finite_histogram(outputs, spec["cells"], stops)
            else:
                counts = interval_histogram(outputs, tuple(spec["support"]), spec["cells"], stops)
        except ArgumentError as error:
            raise DataError(path, f"run {run}, side {side}: {error}") from None
        progress(f"run {run}, side {side} of runs {spec['samples']['runs']}")
        yield {"run": run, "side": side, "n": stops, "counts": counts}
