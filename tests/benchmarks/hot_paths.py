"""Times of the hot paths beside a plain baseline, in one process: `make measurements`.

Each line is nanoseconds a draw, best of five, and the ratio. A timing is never an assertion.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from epsilometer.densities.histogram import interval_histogram
from epsilometer.densities.ladder import ladder
from epsilometer.mechanisms.truncated_laplace import TruncatedLaplace
from epsilometer.storage import SampleWriter, read_samples

N = 1 << 22


def best(call: Callable[[], object]) -> float:
    """Return the nanoseconds a draw of the fastest of five calls, after one to warm up."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times[1:]) / N * 1e9


def textbook_sampler(x: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Invert the CDF as the paper's appendix writes it."""
    scale, p = 1.0, rng.random(size)
    k = 1 / (scale * (2 - np.exp(-x / scale) - np.exp(-(1 - x) / scale)))
    at_x = scale * k * (1 - np.exp(-x / scale))
    sign = np.sign(p - at_x)
    inner = 1 + sign * (1 - np.exp(-x / scale) - p / (scale * k))
    return x - sign * scale * np.log(inner)


def textbook_search(sample: np.ndarray, cells: int) -> list[np.ndarray]:
    """Count every prefix of the search from its beginning."""
    return [np.histogram(sample[:n], cells, (0, 1))[0] for n in ladder(sample.size)]


def main() -> None:
    """Print the comparison."""
    rng = np.random.default_rng(0)
    mechanism = TruncatedLaplace(1.0)
    sample = mechanism.sample(0.3, N, rng)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours.parquet"), Path(folder, "theirs.parquet")
        identity = {"runs": [0, 0], "sides": 1, "n": N}

        def write() -> None:
            with SampleWriter(ours, "scalar", None, identity) as writer:
                writer.write(sample)

        frame = pd.DataFrame({"output": sample})
        rows = [
            (
                "sample truncated Laplace",
                best(lambda: mechanism.sample(0.3, N, rng)),
                best(lambda: textbook_sampler(0.3, N, rng)),
            ),
            (
                "count a search, 455 cells",
                best(lambda: interval_histogram(sample, (0.0, 1.0), 455, ladder(N))),
                best(lambda: textbook_search(sample, 455)),
            ),
            ("write Parquet", best(write), best(lambda: frame.to_parquet(theirs))),
            (
                "read Parquet, checked",
                best(lambda: list(read_samples(str(ours), identity))),
                best(lambda: pd.read_parquet(theirs)),
            ),
        ]
    print(f"{'ns a draw':28}{'ours':>8}{'plain':>8}{'ratio':>8}")
    for name, mine, plain in rows:
        print(f"{name:28}{mine:8.2f}{plain:8.2f}{plain / mine:8.2f}")


if __name__ == "__main__":
    main()
