"""Runs implementations one after another, read from standard input; prints a line for each.

It is run by the interpreter of the library that is measured, so that it needs NumPy alone. A call
is timed in seconds of CPU, of one thread, after a first call on few draws; its memory is the
largest that the process holds, less what it held before. A missing package raises ImportError, and
a method that does not apply NotImplementedError. A call that lasts too long ends this process; the
parent starts it again after this call.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import os
import runpy
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

Data = Mapping[str, Any]


def main() -> None:
    """Run the calls that standard input lists."""
    calls = json.load(sys.stdin)
    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here.parent)]  # the programs, and what our auditors import
    out = os.fdopen(os.dup(1), "w")  # libraries may print on standard output
    os.dup2(2, 1)
    for i, call in enumerate(calls):
        signal.alarm(call.get("limit", 0))  # a timer of CPU would make its clock coarse
        try:
            result = draw_data(call) if "draw" in call else measure(call)
        except ImportError as error:
            result = {"missing": str(error)}
        except NotImplementedError as error:
            result = {"missing": f"does not apply: {error}"}
        except Exception as error:
            result = {"missing": f"failed: {type(error).__name__}: {error}"}
        signal.alarm(0)
        print(json.dumps({"call": i, **result}), file=out, flush=True)


def draw_data(call: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the data of one run into a file."""
    draw = load(f"data:{call['draw']}")
    data = draw(call["n"], np.random.default_rng(call["seed"]), **call["parameters"])
    np.savez(call["file"], **data, seed=call["seed"], **call["parameters"])
    return {}


def measure(call: Mapping[str, Any]) -> dict[str, Any]:
    """Time one implementation on the data of every run, and keep what it answers."""
    function, spent, answers = load(call["function"]), [], []
    its_version = version_of(call.get("package"))
    with suppress(NotImplementedError):  # few draws may not be enough
        function(data_of(call["warm"]))
    most = 0.0
    for file in call["data"]:
        data = data_of(file)
        for _ in range(call["repeats"]):
            before = watermark()
            start = time.process_time()
            answer = function(data)
            seconds = time.process_time() - start
            if isinstance(answer, dict):  # of another program, which has timed itself
                seconds, used = answer["seconds"], answer["megabytes"]
                its_version, answer = answer["version"], answer["answer"]
            else:
                used = peak() - before
            spent.append(seconds)
            most = max(most, used)
            if sum(spent) > call["enough"]:
                break
        answers.append(np.asarray(answer))
    np.savez(call["answers"], *answers)
    return {"seconds": spent, "megabytes": most, "version": its_version}


def load(name: str) -> Callable[..., Any]:
    """Return a function of a module of this folder, as ``module:function``, or of an auditor."""
    module, _, function = name.rpartition(":")
    if module.endswith(".py"):
        return outside(Path(module))
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def outside(file: Path) -> Callable[[Data], float]:
    """Return the bound of an auditor's file (studies/auditors) as a function of data."""
    auditor = runpy.run_path(str(file))
    needs = auditor.get("needs", {})

    def bound(data: Data) -> float:
        outputs = "scalar" if data["x"].dtype.kind == "f" else "index"
        outputs = "bits" if "bits" in data else "vector" if data["x"].ndim > 1 else outputs
        notion = "renyi" if "order" in data else "approximate" if "delta" in data else "pure"
        if notion not in needs.get("claims", ["pure"]):
            raise NotImplementedError(f"it does not bound claims that are {notion}")
        if outputs not in needs.get("outputs", ["scalar"]):
            raise NotImplementedError(f"it does not take outputs that are {outputs}")
        if len(data["x"]) < needs.get("draws", 1):
            raise NotImplementedError(f"it needs {needs['draws']} draws a side")
        options = {"bits": 0, "delta": 0.0, "order": math.inf}
        options = {key: data.get(key, value) for key, value in options.items()}
        rng, alpha = np.random.default_rng(data["seed"]), data["alpha"]
        claim = SimpleNamespace(notion=notion, level=data["claim"], **options)
        x, y = data["x"], data["y"]
        if outputs == "bits" and auditor["name"].startswith("ours") and (x & x - 1).any():
            places = np.arange(claim.bits)  # several bits: the vector that a mechanism releases
            x, y = ((side[:, None] >> places & 1).astype(np.int8) for side in (x, y))
        lower = float(auditor["lower_bound"](x, y, claim, alpha, rng))
        if math.isnan(lower):
            raise ValueError("lower_bound returned nan")
        return lower

    return bound


def data_of(file: str) -> dict[str, Any]:
    """Return arrays and numbers by name."""
    with np.load(file) as held:
        return {name: held[name] if held[name].ndim else held[name].item() for name in held}


def version_of(package: str | None) -> str:
    """Return the version of an installed package."""
    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        return ""


def watermark() -> float:
    """Give back what is free, forget the largest size so far, and return the size, in MB."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> float:
    """Return the largest size since, in MB."""
    return _status("VmHWM")


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024 / 1e6


if __name__ == "__main__":
    main()
