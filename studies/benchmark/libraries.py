"""The same by the libraries that a user would take instead."""

from __future__ import annotations

import math
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Data = Mapping[str, Any]
POINTS = 1000
HERE = Path(__file__).parent


def grid(data: Data) -> Any:
    return np.linspace(data["low"], data["high"], POINTS)


# --- densities ------------------------------------------------------------------------------------


def scipy_density(data: Data) -> Any:
    from scipy.stats import gaussian_kde

    x = data["x"]
    return gaussian_kde(x, data["bandwidth"] / x.std(ddof=1))(grid(data))


def sklearn_density(data: Data) -> Any:
    from sklearn.neighbors import KernelDensity

    density = KernelDensity(bandwidth=data["bandwidth"]).fit(data["x"][:, None])
    return np.exp(density.score_samples(grid(data)[:, None]))


def kdepy_density(data: Data) -> Any:
    return _fft(data["x"], grid(data), data["bandwidth"])


def _fft(x: Any, z: Any, width: float) -> Any:
    """KDEpy wants the draws within the grid, not at its ends."""
    from KDEpy import FFTKDE

    step = z[1] - z[0]
    wide = np.linspace(z[0] - step, z[-1] + step, z.size + 2)
    return FFTKDE(kernel="gaussian", bw=width).fit(x).evaluate(wide)[1:-1]


def statsmodels_density(data: Data) -> Any:
    from statsmodels.nonparametric.kde import KDEUnivariate

    density = KDEUnivariate(data["x"])
    density.fit(kernel="gau", fft=True, bw=data["bandwidth"], gridsize=POINTS)
    return np.interp(grid(data), density.support, density.density)


def kdepy_bandwidth(data: Data) -> Any:
    from KDEpy.bw_selection import improved_sheather_jones

    return improved_sheather_jones(data["x"][:, None])


def statsmodels_bandwidth(data: Data) -> Any:
    from statsmodels.nonparametric.bandwidths import bw_silverman

    return bw_silverman(data["x"])


def kdepy_renyi(data: Data) -> Any:
    """Order 2, KDEpy's own bandwidths to the power that kutta2022 takes."""
    from KDEpy.bw_selection import improved_sheather_jones

    x, y = data["x"], data["y"]
    z = np.linspace(min(x.min(), y.min()), max(x.max(), y.max()), POINTS)
    p, q = (_fft(side, z, improved_sheather_jones(side[:, None]) ** 1.1) for side in (x, y))
    return math.log(np.sum(p**2 / np.maximum(q, 1e-5)) * (z[1] - z[0]))


# --- neighbours, counting, sorting ----------------------------------------------------------------


def sklearn_neighbours(data: Data) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    half = data["x"].size // 2
    points = np.concatenate([data["x"][:half], data["y"][:half]])[:, None]
    model = KNeighborsClassifier(math.isqrt(2 * half), n_jobs=1)
    model.fit(points, np.repeat([0, 1], half))
    return [model.predict(data[side][half:][:, None]).mean() for side in ("x", "y")]


def numpy_sort(data: Data) -> Any:
    return np.sort(np.concatenate([data["x"], data["y"]]))


def numpy_count(data: Data) -> Any:
    """Every prefix from its beginning."""
    return [np.histogram(data["x"][:n], 455, (0, 1))[0] for n in data["prefixes"]]


# --- R --------------------------------------------------------------------------------------------


def r_density(data: Data) -> Any:
    return _in_r("density", data)


def r_bandwidth(data: Data) -> Any:
    return _in_r("bandwidth", data)


def r_renyi(data: Data) -> Any:
    return _in_r("renyi", data)


def _in_r(task: str, data: Data) -> dict[str, Any]:
    """R with KernSmooth on the same numbers; it times itself."""
    if shutil.which("Rscript") is None:
        raise ImportError("R is not installed: no Rscript on the path")
    known = ["Rscript", "-e", "quit(status = !requireNamespace('KernSmooth', quietly = TRUE))"]
    if subprocess.run(known, check=False, capture_output=True).returncode:
        raise ImportError("R's KernSmooth is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for side in ("x", "y"):
            data[side].tofile(Path(folder, side))
        parameters = [data["low"], data["high"], data["bandwidth"], POINTS, data["x"].size]
        np.array(parameters, float).tofile(Path(folder, "parameters"))
        subprocess.run(["Rscript", HERE / "kernsmooth.R", folder, task], check=True)
        seconds, *answer = np.fromfile(Path(folder, "answer"))
        version = Path(folder, "version").read_text().strip()
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    usage = {"seconds": float(seconds), "megabytes": used, "version": version}
    return {**usage, "answer": np.array(answer)}
