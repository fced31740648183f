"""Measures implementations of one task on the same data, one after another, and compares answers.

Each runs in an interpreter that has it: ours in this one, others in an environment of their own.
A missing package, a task that does not apply and a timeout are answers, too.
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import epsilometer
from epsilometer_workflow.files.storage import write_columns

CHILD = Path(__file__).parent / "child.py"
_SOURCE = Path(epsilometer.__file__).parents[1]
Row = dict[str, Any]
Reply = dict[str, Any]
Call = dict[str, Any]
Floats = NDArray[np.float64]
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR", "BLIS")
_ENVIRONMENT = {f"{name}_NUM_THREADS": "1" for name in _THREADS} | {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
_WARM = 20_000  # draws of the warm-up call before the timed calls
_NUMBERS = (
    *("n", "times", "seconds", "seconds_low", "seconds_high", "megabytes", "ratio", "growth"),
    *("agreement", "bound", "bound_low", "bound_high", "level", "claim", "above", "violated"),
    *("time_at_bound", "bound_at_time"),
)
_TEXT = ("task", "kind", "implementation", "version", "missing")


def run(
    output: str, spec: Mapping[str, Any], environment: str | None, progress: Callable[[str], None]
) -> None:
    """Measure all implementations; others than ours run in the interpreter of ``environment``."""
    python, problem = sys.executable, None
    if environment is not None:
        record = json.loads(Path(environment).read_text(encoding="utf-8"))
        python, problem = record["python"], record["problem"]
    with tempfile.TemporaryDirectory() as folder:
        rows: list[Row] = []
        for n in spec["every_n"]:
            if chosen := _chosen(spec, n, rows):
                rows += _of_size(spec, n, chosen, python, problem, Path(folder), progress)
    write_columns(columns(beside_ours(with_growth(rows), spec["n"])), output, "measured", spec)


def columns(rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows as columns: text, and numbers, NaN where there is none."""
    text = {name: [row.get(name) for row in rows] for name in _TEXT}
    numbers = {name: np.array([row.get(name, math.nan) for row in rows]) for name in _NUMBERS}
    return {**text, **numbers}


def with_growth(rows: Sequence[Row]) -> list[Row]:
    """Add the ratio of the time to that at the previous n, per doubling."""
    before: dict[str, Row] = {}
    grown = []
    for row in rows:
        last = before.get(row["implementation"])
        added = {}
        if last and last["seconds"] > 0 and row.get("seconds", 0) > 0:
            doublings = math.log2(row["n"] / last["n"])
            added = {"growth": (row["seconds"] / last["seconds"]) ** (1 / doublings)}
        if "seconds" in row:
            before[row["implementation"]] = row
        grown.append(row | added)
    return grown


def beside_ours(rows: Sequence[Row], n: int) -> list[Row]:
    """Add, to audits of n draws, their time at our bound and their bound in our time, over ours.

    Both are interpolated between the n of the same audit, by the logarithm of the seconds; beyond
    them, at the nearest n, but that the time is infinite if no n shows so large a bound.
    """
    ours = next((row for row in rows if row["n"] == n and row.get("bound")), None)
    if ours is None or not ours["implementation"].startswith("ours"):
        return list(rows)
    added = []
    for row in rows:
        every = [r for r in rows if r["implementation"] == row["implementation"] and "bound" in r]
        if row["n"] == n and "bound" in row:
            logs = np.maximum.accumulate([math.log(max(r["seconds"], 1e-9)) for r in every])
            bounds = np.maximum.accumulate([r["bound"] for r in every])
            at_bound = math.exp(np.interp(ours["bound"], bounds, logs)) / ours["seconds"]
            at_time = float(np.interp(math.log(ours["seconds"]), logs, bounds)) / ours["bound"]
            reached = bounds[-1] >= ours["bound"]
            row |= {"time_at_bound": at_bound if reached else math.inf, "bound_at_time": at_time}
        added.append(row)
    return added


def _chosen(spec: Mapping[str, Any], n: int, rows: Sequence[Row]) -> list[Any]:
    """Return who is measured at n: all at that of the task, else only our estimators.

    Of auditors, all are measured with fewer draws, and with more those that are faster than ours.
    """
    every = spec["implementations"]
    if spec["measures"] != "audit" and n != spec["n"]:
        return [part for part in every if part["own"]]
    if n <= spec["n"]:
        return list(every)
    took = {row["implementation"]: row.get("seconds", math.inf) for row in rows[-len(every) :]}
    faster = [part for part in every if took[part["name"]] < took[every[0]["name"]]]
    return [part for part in faster if not part["own"]]


def _of_size(
    spec: Mapping[str, Any],
    n: int,
    chosen: Sequence[Any],
    python: str | None,
    problem: str | None,
    folder: Path,
    progress: Callable[[str], None],
) -> list[Row]:
    """Return a row of each implementation that is chosen, at one n."""
    progress(f"{spec['task']}: n = {n}")
    files, draws = _draws(spec, n, folder)
    calls = [
        {
            "function": part["call"],
            "package": part["package"],
            "warm": files[0],
            "data": files[1:],
            "repeats": spec["repeats"],
            "enough": spec["enough"],
            "limit": spec["limit"],
            "answers": str(folder / f"answers-{i}.npz"),
        }
        for i, part in enumerate(chosen)
    ]
    own_calls = [part["own"] for part in chosen]
    mine = [i for i, is_own in enumerate(own_calls) if is_own]
    others = [i for i, is_own in enumerate(own_calls) if not is_own]
    own_results = called(sys.executable, draws + [calls[i] for i in mine])
    for part in own_results[: len(draws)]:
        if "missing" in part:
            raise RuntimeError(f"{spec['data']}: {part['missing']}")
    results: dict[int, Reply] = dict(zip(mine, own_results[len(draws) :], strict=True))
    if python is None:
        results |= {i: {"missing": f"no environment: {problem}"} for i in others}
    else:
        results |= dict(zip(others, called(python, [calls[i] for i in others]), strict=True))
    ours = results[0] if own_calls[0] else {"missing": "is not measured"}
    first = _answers(calls[0]) if "missing" not in ours else None
    rows = []
    for i, part in enumerate(chosen):
        row: Row = {"task": spec["task"], "kind": spec["measures"], "n": n}
        row |= {"implementation": part["name"], "version": results[i].get("version")}
        if own_calls[i]:
            row["version"] = epsilometer.__version__
        rows.append(row | _measured(spec, results[i], calls[i], first, ours))
        outcome = results[i].get("missing") or rows[-1]["seconds"]
        progress(f"{spec['task']}: {part['name']}: {outcome}")
    for file in folder.iterdir():
        file.unlink()
    return rows


def _draws(spec: Mapping[str, Any], n: int, folder: Path) -> tuple[list[str], list[Call]]:
    """Return files of the data, to warm up with and of every run, and the calls to draw them."""
    seed = spec["task_seed"]
    common = {"draw": spec["data"], "parameters": dict(spec["parameters"])}
    files = [str(folder / f"data-{i}.npz") for i in range(spec["runs"] + 1)]
    calls = [
        {**common, "n": n if i else min(n, _WARM), "seed": seed + i, "file": file}
        for i, file in enumerate(files)
    ]
    return files, calls


def called(python: str, calls: Sequence[Mapping[str, Any]]) -> list[Reply]:
    """Let an interpreter make calls; if a call ends it, the others are made all the same."""
    results: list[Reply] = []
    while len(results) < len(calls):
        pending = calls[len(results) :]
        process = subprocess.run(  # noqa: S603
            [python, str(CHILD)],
            input=json.dumps(pending),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            env=_environment(python),
        )
        results += [json.loads(line) for line in process.stdout.splitlines()]
        if len(results) < len(calls):
            limit = pending[0].get("limit")
            code = process.returncode
            cause = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
            stopped = f"took more than {limit} s"
            results.append({"missing": stopped if code == -signal.SIGALRM else cause})
    return results


def _environment(python: str) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    path = {"PYTHONPATH": str(_SOURCE)} if python == sys.executable else {}
    return {**inherited, **_ENVIRONMENT, **path}


def _answers(call: Mapping[str, Any]) -> list[NDArray[Any]]:
    with np.load(call["answers"]) as arrays:
        return [arrays[name] for name in arrays]


def _measured(
    spec: Mapping[str, Any],
    result: Reply,
    call: Mapping[str, Any],
    first: list[NDArray[Any]] | None,
    ours: Reply,
) -> Row:
    """Return the cost of one implementation, and its answers compared with ours."""
    if "missing" in result:
        return {"missing": result["missing"]}
    seconds = result["seconds"]
    row: Row = {
        "times": len(seconds),
        "seconds": float(np.median(seconds)),
        "seconds_low": min(seconds),
        "seconds_high": max(seconds),
        "megabytes": round(result["megabytes"], 1),
    }
    if "seconds" in ours:
        row["ratio"] = row["seconds"] / max(float(np.median(ours["seconds"])), 1e-9)
    answers = _answers(call)
    if spec["compares"] == "bound":
        claim = spec["parameters"]["claim"]
        return row | of_bounds(np.array(answers, float).ravel(), spec["level"], claim)
    if first is not None:
        compared = AGREEMENT[spec["compares"]]
        row["agreement"] = max(map(compared, answers, first))
    return row


def of_bounds(bounds: Floats, level: float, claim: float) -> Row:
    """Return statistics of the bounds of several runs: how near the level, how often above it."""
    median = float(np.median(bounds))
    return {
        "bound": median,
        "bound_low": float(bounds.min()),
        "bound_high": float(bounds.max()),
        "level": level,
        "claim": claim,
        "agreement": median / level if level else math.nan,
        "above": float(np.mean(bounds > level)),
        "violated": float(np.mean(bounds > claim)),
    }


# --- how far answers are from ours ----------------------------------------------------------------


def _distribution(answer: NDArray[Any], ours: NDArray[Any]) -> float:
    """Return the distance of Kolmogorov and Smirnov of two samples."""
    a, b = np.sort(answer), np.sort(ours)
    points = np.concatenate([a, b])
    shares = (np.searchsorted(sample, points, side="right") / sample.size for sample in (a, b))
    return float(np.abs(next(shares) - next(shares)).max())


AGREEMENT: Mapping[str, Callable[[NDArray[Any], NDArray[Any]], float]] = {
    "peak": lambda answer, ours: float(np.abs(answer - ours).max() / np.abs(ours).max()),
    "relative": lambda answer, ours: float(np.abs(answer / ours - 1).max()),
    "difference": lambda answer, ours: float(np.abs(answer - ours).max()),
    "distribution": _distribution,
}


if job := globals().get("snakemake"):
    run(job.output[0], job.params.spec, job.input.get("environment") or None, print)
