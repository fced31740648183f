"""Audits that keep their evidence: false alarms, and faults that are found.

    python -m tests.benchmarks.kept_evidence [--only nights versions faults]

``nights``: histories of one correct version; each night goes on from the evidence of those before.
``versions``: histories of 1,000 correct versions of 30 measurements, each audited once. The wealth
of an audit is taken, with replacement, from a pool of audits of correct mechanisms.
``faults``: one of 30 measurements loses 20 % of its noise in one of 1,000 versions, and is audited
in that version and the two after it. The seconds are those of all 30 audits of a version.
It ends with 1 if there are more false alarms than alpha, and three standard errors, or fewer than
95 % of the faults are found.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import epsilometer_audit as ea
from epsilometer_audit.evidence_files import part_of

ALPHA, MEASUREMENTS, VERSIONS, TRIES = 0.05, 30, 1000, 3
DRAWS = 10_000  # of an audit of ``faults``
LAWS = {  # code whose noise has this scale, and its claim
    "Laplace": ("rng.laplace(x, {}, size)", ea.pure(1.0), 1.0),
    "Gaussian": ("rng.normal(x, {}, size)", ea.gdp(1.0), 1.0),
    "geometric": (
        "x + (lambda p: rng.geometric(p, size) - rng.geometric(p, size))(-math.expm1(-1 / {}))",
        ea.pure(1.0),
        1.0,
    ),
    "zCDP": ("rng.normal(x, {}, size)", ea.zcdp(0.5), 1.0),
}


def audited(law: str, scale: float, folder: Path, **options: object) -> ea.Verdict:
    code, claim, exact = LAWS[law]
    file = folder / "m.py"
    text = f"import math\ndef m(x, size, rng):\n    return {code.format(scale * exact)}\n"
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    return ea.audit(
        f"{file}:m", [(0, 1)], claim, as_reals=law != "geometric", details=False, **options
    )


def night_after_night(run: int) -> bool:
    law = list(LAWS)[run % len(LAWS)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder)
        verdicts = [
            audited(law, 1.0, file, samples=200, seed=run, evidence=file / "e.json").verdict
            for _ in range(15)
        ]
    return set(verdicts) & {"violated", "invalid"} != set()


def largest(run: int) -> float:
    """Return the log of the largest wealth of one audit of a correct mechanism."""
    with tempfile.TemporaryDirectory() as folder:
        law = list(LAWS)[run % len(LAWS)]
        alpha = 1e-3
        verdict = audited(law, 1.0, Path(folder), samples=200, seed=run, alpha=alpha)
    return -math.log(verdict.p_value or 1.0)


def fault(run: int) -> tuple[bool, float]:
    rng = np.random.default_rng(run)
    law = list(LAWS)[run % len(LAWS)]
    number, version = rng.integers(1, [MEASUREMENTS + 1, VERSIONS + 1])
    seconds, violated = [], False
    with tempfile.TemporaryDirectory() as folder:
        for later in range(TRIES):
            # a new file's first version has half of this alpha, as much as this version would have
            alpha = 2 * ALPHA / 2 * part_of(int(number)) * part_of(int(version) + later)
            file = Path(folder) / f"{later}.json"
            began = time.process_time()
            verdict = audited(
                law, 0.8, Path(folder), samples=DRAWS, seed=later, evidence=file, alpha=alpha
            )
            seconds.append(time.process_time() - began)
            violated = violated or verdict.verdict == "violated"
    return violated, MEASUREMENTS * float(np.mean(seconds))


def alarms(pool: list[float], histories: int) -> float:
    """Return the share of histories with any alarm."""
    numbers = np.arange(1, MEASUREMENTS + 1)[:, None]
    versions = np.arange(1, VERSIONS + 1)
    parts = 1 / (numbers * (numbers + 1)) / (versions * (versions + 1))
    needed = -np.log(ALPHA / 2 * parts)
    rng = np.random.default_rng(0)
    return float(
        np.mean([(rng.choice(pool, needed.shape) >= needed).any() for _ in range(histories)])
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=["nights", "versions", "faults"])
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--pool", type=int, default=4000)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    good, n = True, options.histories
    error = partial(lambda p: math.sqrt(max(p * (1 - p), ALPHA * (1 - ALPHA)) / n))
    with ProcessPoolExecutor(options.cores) as processes:
        if "nights" in options.only:
            share = float(np.mean(list(processes.map(night_after_night, range(n), chunksize=4))))
            good &= share <= ALPHA + 3 * error(share)
            print(
                f"nights: alarms in {share:.1%} of {n} histories of 15 nights ({ALPHA:.0%} allowed)"
            )
        if "versions" in options.only:
            pool = list(processes.map(largest, range(options.pool), chunksize=20))
            share = alarms(pool, n)
            good &= share <= ALPHA + 3 * error(share)
            print(f"versions: alarms in {share:.1%} of {n} histories of {VERSIONS} versions")
        if "faults" in options.only:
            results = list(processes.map(fault, range(n), chunksize=4))
            share, seconds = np.mean(results, axis=0)
            good &= bool(share >= 0.95)
            print(
                f"faults: {share:.1%} of {n} are found within {TRIES} versions, "
                f"{seconds:.1f} s of CPU for {MEASUREMENTS} audits of {DRAWS} draws a side"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
