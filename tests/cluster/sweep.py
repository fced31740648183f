"""The configuration of a sweep: a few mechanisms and estimators of each kind, at many epsilons.

Sizes are those of the smoke scale. Experiments, tables and figures hold eight epsilons each, a
report ten of these blocks: a submission on a cluster holds what an experiment's estimates need at
most, so that one experiment of a thousand epsilons would be a single long submission.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_JOBS_AN_EPSILON = 26.4
_EPSILONS_A_BLOCK, _BLOCKS_A_REPORT = 8, 10
_LOWEST, _HIGHEST = 0.3, 2.0
_SIZES = {
    "search": {"runs": 5, "n": "1..16384"},
    "bounds": {"runs": 3, "n": "2000+4000"},
    "orders": {"runs": 3, "n": 20000},
    "counted": {"runs": 2, "n": 2000},
    "neighbours": {"runs": 2, "n": 2000},
}
_GRIDS: dict[str, dict[str, list[Any]]] = {
    "search": {
        "mechanism": ["truncated-laplace"],
        "inputs": ["ends"],
        "lambda": ["inf"],
        "estimator": ["histogram-gamma=1", "histogram-gamma=0.5"],
    },
    "bounds": {
        "mechanism": ["laplace"],
        "inputs": ["distance=1"],
        "lambda": ["inf"],
        "estimator": ["mpl-floor=0.001"],
    },
    "orders": {
        "mechanism": ["noisy-sum-laplace"],
        "inputs": ["first-person"],
        "lambda": [2, 5, 7],
        "estimator": ["renyi-bound-draws=50"],
    },
    "counted": {
        "mechanism": ["counting-exponential"],
        "inputs": ["second-row"],
        "lambda": ["inf"],
        "estimator": ["spectrum-counting"],
    },
    "neighbours": {
        "mechanism": ["gaussian"],
        "inputs": ["distance=1"],
        "lambda": ["inf"],
        "estimator": ["spectrum-knn"],
    },
}
_TABLES: dict[str, dict[str, Any]] = {
    "search": {"builder": "gorla2022.searches"},
    "bounds": {"builder": "askin2022.bounds", "options": {"panels": {"laplace": "Laplace"}}},
    "orders": {
        "builder": "kutta2022.orders",
        "options": {"panels": {"noisy-sum-laplace": "Laplace"}},
    },
    "counted": {
        "builder": "lu2022.epsilons",
        "options": {
            "panels": {"counting-exponential": "exponential mechanism"},
            "deltas": [0.3, 0.1, 0.03],
        },
    },
    "neighbours": {"builder": "lu2022.spectra", "options": {"panels": {"gaussian": "Gaussian"}}},
}


def write_sweep(folder: Path, jobs: int, *, with_study: bool = False) -> int:
    """Write the configuration of about so many jobs, and return the number of its epsilons.

    ``with_study`` leaves the reports of the study in it, which are jobs beside these.
    """
    reports = sorted((ROOT / "config/reports").iterdir())
    left_out = [] if with_study else [report.name for report in reports]
    ignore = shutil.ignore_patterns("audits", *left_out)
    shutil.copytree(ROOT / "config", folder, ignore=ignore)
    every = max(1, round(jobs / _JOBS_AN_EPSILON))
    blocks = math.ceil(every / _EPSILONS_A_BLOCK)
    epsilons = [round(_LOWEST + (_HIGHEST - _LOWEST) * i / every, 6) for i in range(every)]
    for first in range(0, blocks, _BLOCKS_A_REPORT):
        these = range(first, min(first + _BLOCKS_A_REPORT, blocks))
        chunks = {i: epsilons[_EPSILONS_A_BLOCK * i :][:_EPSILONS_A_BLOCK] for i in these}
        file = folder / "reports" / f"sweep-{first // _BLOCKS_A_REPORT:03}.yaml"
        file.write_text(json.dumps(_report(chunks), indent=1))  # which is YAML
    return every


def _report(chunks: dict[int, list[float]]) -> dict[str, Any]:
    """Return a report of the blocks with these numbers."""
    named = [(f"{kind}-{i}", kind, chunk) for i, chunk in chunks.items() for kind in _GRIDS]
    return {
        "title": f"Epsilons from {min(chunks.values())[0]:g}",
        "scales": {"smoke": {name: _SIZES[kind] for name, kind, _ in named}},
        "experiments": {
            name: {"grid": [{**_GRIDS[kind], "epsilon": chunk}]} for name, kind, chunk in named
        },
        "artifacts": {
            name: {
                "caption": f"Part of a sweep: {kind}.",
                "table": {**_TABLES[kind], "data": [name]},
                **({"figure": "lu2022.spectra"} if kind == "neighbours" else {}),
            }
            for name, kind, _ in named
        },
    }
