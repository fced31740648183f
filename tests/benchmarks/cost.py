"""What an audit costs: seconds of CPU and memory for every kind of output, beside another commit.

`python -m tests.benchmarks.cost [--base COMMIT] [CASE ...]` runs each case in fresh processes, in
turn with the code of COMMIT and of this folder, and prints a table in Markdown with the ratio of
the two: it holds on another machine where the seconds do not. The mechanism's own time is in both.
With ``--growth`` it prints the memory at n and at 10 n draws of some kinds of outputs, beside that
of the draws themselves.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import json
import math
import os
import pickle
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.benchmarks.scripts import ROOT, Mechanism, Rng, head, laplace, line, unpack

KEYS = [f"k{i}" for i in range(1000)]
TABLES = [([i % 4] * (i % 5 + 1) + [0], [i % 4] * (i % 5 + 1)) for i in range(40)]


def whole(x: int, size: int, rng: Rng) -> Any:
    return x + rng.geometric(0.5, size) - rng.geometric(0.5, size)


def vector(width: int, x: float, size: int, rng: Rng) -> Any:
    drawn = rng.laplace(0, 1, (size, width))
    drawn[:, 0] += x
    return drawn


def group_by(x: list[int], rng: Rng) -> Any:
    counts = pd.Series(1, index=x).groupby(level=0).sum()
    return counts.reindex(range(4), fill_value=0) + rng.laplace(0, 1, 4)


ONE = [(0, 1)]
CASES: dict[str, tuple[Mechanism, list[tuple[Any, Any]], int]] = {  # and draws
    "50,000 reals": (laplace, ONE, 50_000),
    "50,000 whole numbers": (whole, ONE, 50_000),
    "500 reals": (laplace, ONE, 500),
    "50,000 vectors of 10": (functools.partial(vector, 10), ONE, 50_000),
    "500,000 vectors of 10": (functools.partial(vector, 10), ONE, 500_000),
    "50,000 words": (lambda x, rng: f"word{whole(x, 1, rng)[0]}", ONE, 50_000),
    "5,000,000 whole numbers": (whole, ONE, 5_000_000),
    "1,000,000 vectors of 100": (functools.partial(vector, 100), ONE, 1_000_000),
    "1,000 dictionaries of 1,000 keys": (
        lambda x, rng: dict(zip(KEYS, vector(1000, x, 1, rng)[0].tolist(), strict=True)),
        ONE,
        1_000,
    ),
    "12,000 Series, 40 pairs": (group_by, TABLES, 12_000),
    "12,000 data frames, 40 pairs": (lambda x, rng: group_by(x, rng).to_frame(), TABLES, 12_000),
    "the first audit, nothing compiled": (laplace, ONE, 2_000),
}
FIRST = "the first audit, nothing compiled"
GROWING = {
    "reals": (laplace, 500_000),
    "whole numbers": (whole, 500_000),
    "vectors of 10": (functools.partial(vector, 10), 50_000),
    "words": (lambda x, rng: f"word{whole(x, 1, rng)[0]}", 20_000),
    "dictionaries of 100 keys": (
        lambda x, rng: dict(zip(KEYS, vector(100, x, 1, rng)[0].tolist(), strict=False)),
        5_000,
    ),
}
GROWN = {f"{k * n:,} {of}": (m, ONE, k * n) for of, (m, n) in GROWING.items() for k in (1, 10)}


def _one(name: str) -> None:
    """Run a case in this process; write its seconds, memory and bound as JSON."""
    try:
        from epsilometer_audit import audit, pure
    except ImportError:  # the base is older than the package
        from epsilometer import audit, pure  # type: ignore[no-redef]

    mechanism, pairs, samples = (CASES | GROWN)[name]
    if name != FIRST:
        audit(mechanism, pairs[:1], pure(0.9), samples=400)  # loads what is compiled
    started, wall = os.times(), time.perf_counter()
    verdict = audit(mechanism, pairs, pure(0.9), samples=samples)
    seconds = sum(os.times()[:4]) - sum(started[:4])  # of the processes that it waited for, too
    seconds = time.perf_counter() - wall if name == FIRST else seconds
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    memory = max(resource.getrusage(who).ru_maxrss for who in both) / 1024
    bound = verdict.bounds[0].lower if verdict.bounds else math.nan
    of = {"seconds": seconds, "MB": memory, "bound": bound}
    print(json.dumps(of | {"alone": _alone(mechanism, pairs, samples)}))


def _alone(mechanism: Any, pairs: list[tuple[Any, Any]], samples: int) -> float:
    """Return the seconds of CPU that the draws of an audit take without it."""
    several, rng = "size" in inspect.signature(mechanism).parameters, np.random.default_rng(0)
    n = samples if several else 500
    started = time.process_time()
    for i in range(2 if several else 2 * n):
        mechanism(pairs[i // 2 % len(pairs)][i % 2], *[n] * several, rng)
    return (time.process_time() - started) * samples / n


def _best(name: str, source: Path, times: int) -> dict[str, float]:
    """Return what the fastest of fresh processes writes of a case."""
    env = os.environ | {"PYTHONPATH": f"{source / 'src'}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
    command, runs = [sys.executable, "-m", "tests.benchmarks.cost", "--one", name], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as cache:
            env |= {"NUMBA_CACHE_DIR": cache} if name == FIRST else {}
            done = subprocess.run(
                command, check=False, env=env, capture_output=True, text=True, cwd=ROOT
            )
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
        runs.append(dict(json.loads(done.stdout.splitlines()[-1])))
    return min(runs, key=lambda run: run["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cost", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--base", metavar="COMMIT", help="compare with this commit")
    parser.add_argument("--times", type=int, default=2, help="runs of each; the shortest counts")
    parser.add_argument("--growth", action="store_true", help="memory at n and 10 n, see above")
    parser.add_argument("--one", metavar="CASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        _one(options.one)
        return
    if options.growth:
        from epsilometer_audit.outputs.callables import callable_source

        head("outputs | n | MB | MB at 10 n | draws, MB | growth beyond them")
        for of, (mechanism, n) in GROWING.items():
            few, many = (_best(f"{k * n:,} {of}", ROOT, 1)["MB"] for k in (1, 10))
            source = callable_source(mechanism)
            draws = 20 * n * len(pickle.dumps(source.draw(0, 1000, 0))) / 1e9
            line(of, f"{n:,}", few, many, draws, (many - draws) / few)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.base:
            unpack(options.base, Path(folder), "src")
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
        head("audit | seconds | base | ratio | mechanism | MB | base | bound | base")
        for name in options.cases or CASES:
            ours = _best(name, ROOT, options.times)
            base = _best(name, Path(folder), options.times) if options.base else ours
            seconds, memory, bounds = ((ours[of], base[of]) for of in ("seconds", "MB", "bound"))
            line(name, *seconds, seconds[0] / seconds[1], ours["alone"], *memory, *bounds)


if __name__ == "__main__":
    main()
