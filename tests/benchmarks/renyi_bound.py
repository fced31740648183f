"""One bound of kutta2022 at its n = 5,000,000, stage by stage: `make measurements`.

Beside it KDEpy's FFT estimator at the same bandwidths and grid and, where `Rscript` with KernSmooth
is installed, R on the same samples, in CPU seconds, with the largest difference of the densities as
a share of the peak. A timing is never an assertion.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from epsilometer.densities.binned import bkde, dpik
from epsilometer.estimators.renyi_bound import divergence
from epsilometer.mechanisms.noisy_sum import NoisySum

N, POINTS, POWER = 5_000_000, 1000, 1.1
PAIR = [1] + [0] * 9, [0] * 10
STAGES = ("sampling", "bandwidth", "density", "rest")

R = """
suppressMessages(library(KernSmooth))
folder <- commandArgs(TRUE)[1]
n <- as.integer(commandArgs(TRUE)[2])
noise <- commandArgs(TRUE)[3]
cpu <- function(expr) {
  t <- system.time(expr, gcFirst = FALSE)
  t[["user.self"]] + t[["sys.self"]]
}
sampler <- function(shift) {
  if (noise == "gaussian") rnorm(n, shift, 5)
  else shift + sign(runif(n) - 0.5) * rexp(n, 1 / 5)
}
sampling <- cpu(for (shift in c(1, 0)) sampler(shift))
x <- readBin(file.path(folder, "x"), "double", n)
y <- readBin(file.path(folder, "y"), "double", n)
bandwidth <- cpu(h <- c(dpik(x), dpik(y))^1.1)
density <- cpu({
  ends <- range(x, y)
  p <- bkde(x, bandwidth = h[1], gridsize = 1000L, range.x = ends)
  q <- bkde(y, bandwidth = h[2], gridsize = 1000L, range.x = ends)
})
rest <- cpu({
  tau <- 1e-5; beta <- 1e5; lambda <- 2
  step <- p$x[2] - p$x[1]
  floored <- pmax(q$y, tau) + log1p(exp(-beta * abs(q$y - tau))) / beta
  d <- log(sum(pmax(p$y, 0)^lambda * floored^(1 - lambda)) * step) / (lambda - 1)
})
writeBin(c(sampling, bandwidth, density, rest, d, p$y, q$y), file.path(folder, "r"))
"""


def cpu(call: Callable[[], object], repeats: int = 3) -> tuple[float, object]:
    """Return CPU seconds of the fastest call, after one to warm up, and its result."""
    spent, answer = [], call()
    for _ in range(repeats):
        start = time.process_time()
        answer = call()
        spent.append(time.process_time() - start)
    return min(spent), answer


def ours(mechanism: NoisySum) -> tuple[dict[str, float], list[np.ndarray], tuple, list[float]]:
    """Time our stages; return the times, the samples, the densities and bandwidths."""
    seconds = {}
    rng = np.random.default_rng(0)
    seconds["sampling"], sides = cpu(lambda: [mechanism.sample(x, N, rng) for x in PAIR])
    seconds["bandwidth"], h = cpu(lambda: [dpik(side) ** POWER for side in sides])
    ends = float(np.min(sides)), float(np.max(sides))

    def densities() -> list[np.ndarray]:
        pairs = zip(sides, h, strict=True)
        return [bkde(side, width, points=POINTS, ends=ends) for side, width in pairs]

    seconds["density"], ((z, p), (_, q)) = cpu(densities)
    floor = {"tau": 1e-5, "beta": 1e5, "spacing": z[1] - z[0]}
    seconds["rest"], bound = cpu(lambda: divergence(p, q, order=2.0, **floor).bound(N))
    value = divergence(p, q, order=2.0, **floor).value
    return seconds, sides, (z, p, q), [*h, value, bound]


def kdepy(sides: list[np.ndarray], z: np.ndarray, h: list[float]) -> tuple[float, list[np.ndarray]]:
    """Time KDEpy's densities on the same grid; it needs the draws within the grid."""
    from KDEpy import FFTKDE

    step = z[1] - z[0]
    wide = np.linspace(z[0] - step, z[-1] + step, z.size + 2)

    def densities() -> list[np.ndarray]:
        return [
            FFTKDE(kernel="gaussian", bw=width).fit(side).evaluate(wide)[1:-1]
            for side, width in zip(sides, h, strict=True)
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cpu(densities)


def in_r(sides: list[np.ndarray], noise: str) -> np.ndarray | None:
    """Return R's seconds, divergence and densities on the same samples; None without R."""
    check = ["-e", "quit(status = !requireNamespace('KernSmooth', quietly = TRUE))"]
    if not shutil.which("Rscript") or subprocess.run(["Rscript", *check], check=False).returncode:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, side in zip("xy", sides, strict=True):
            side.tofile(Path(folder, name))
        script = Path(folder, "bound.R")
        script.write_text(R)
        subprocess.run(["Rscript", script, folder, str(N), noise], check=True)
        return np.fromfile(Path(folder, "r"))


def main() -> None:
    """Print the comparison."""
    title = f"one bound at n = {N:,}, CPU s"
    print(f"{title:34}{''.join(f'{s:>11}' for s in STAGES)}{'total':>11}{'max |diff|':>12}")
    for noise in ("laplace", "gaussian"):
        seconds, sides, (z, p, q), (h, h_prime, value, _) = ours(NoisySum(0.2, noise=noise))
        peak, total = float(p.max()), sum(seconds.values())

        def line(name: str, numbers: list[float | None], difference: float | None) -> None:
            shown = "".join(f"{x:11.4f}" if x is not None else f"{'':11}" for x in numbers)
            error = "" if difference is None else f"{difference:12.1e}"
            print(f"{name:34}{shown}{error}")

        line(f"{noise}: ours", [*(seconds[s] for s in STAGES), total], None)
        spent, (other, other_prime) = kdepy(sides, z, [h, h_prime])
        difference = max(np.abs(other - p).max(), np.abs(other_prime - q).max()) / peak
        line(f"{noise}: KDEpy", [None, None, spent, None, None], difference)
        result = in_r(sides, noise)
        if result is None:
            print(f"{noise}: R with KernSmooth is not installed")
            continue
        parts, d, densities = list(result[:4]), result[4], result[5:].reshape(2, -1)
        difference = float(np.abs(densities - [p, q]).max()) / peak
        line(f"{noise}: R", [*parts, sum(parts)], difference)
        ratio = sum(parts) / total
        print(f"{f'{noise}: R / ours':34}{'':44}{ratio:11.1f}   D differs by {abs(d - value):.1e}")


if __name__ == "__main__":
    main()
