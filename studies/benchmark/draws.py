"""How long the draws of a report take by NumPy alone, beside what its jobs took.

    PYTHONPATH=src:studies .venv/bin/python -m benchmark.draws [--scale paper] [REPORT ...]

A row a report. ``numpy`` are the CPU seconds of all its draws by textbook code in NumPy, one run
after another, kept nowhere: who draws with NumPy is not faster. ``ours`` are those of our
mechanisms. ``sample`` and ``jobs`` are the CPU seconds of the jobs that drew, and of all jobs of
the report, from results/<scale>/benchmarks (what two reports share is the first's), and ``times``
is jobs / numpy. Each kind of draws is timed on a part of one run, and counted for all.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.textbook import SAMPLERS, Sampler
from epsilometer.mechanisms.base import dimension_of
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.parsing import spell
from epsilometer_workflow.products.reductions import Confirmation, Samples

_TIMED = 2_000_000  # numbers that a timing draws at most


def ours(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Draw as the mechanism does."""
    return m.sample(x, n, rng)


def seconds(sampler: Sampler, mechanism: Any, x: Any, n: int, times: int = 3) -> float:
    """Return the least CPU seconds of n draws, by calls of a part of them."""
    part = max(min(n, _TIMED // (dimension_of(mechanism) or 1)), 1)
    rng, spent = np.random.default_rng(0), []
    for _ in range(times + 1):  # the first may compile
        start = time.process_time()
        sampler(mechanism, x, part, rng)
        spent.append(time.process_time() - start)
    return min(spent[1:]) * n / part


def drawn(study: Study, report: str) -> pd.DataFrame:
    """Return a row for each file of samples: what is drawn, n, and how often."""
    rows: dict[str, tuple[Any, ...]] = {}
    for experiment in study.reports[report].experiments:
        for c in study.combinations(report, experiment):
            sides = len(study.inputs(c.mechanism, c.inputs).sides())
            of = report, c.mechanism, c.epsilon, c.inputs
            for batch in study.batches(c):
                runs = batch.last - batch.first + 1
                rows[Samples.of(study, c, batch).path] = (*of, c.n.first, runs * sides)
                if c.n.fresh:
                    rows[Confirmation.of(study, c, batch).path] = (*of, c.n.fresh, 2 * runs)
    return pd.DataFrame(
        list(rows.values()), columns=["report", "mechanism", "epsilon", "inputs", "n", "times"]
    )


def with_seconds(study: Study, files: pd.DataFrame) -> pd.DataFrame:
    """Return the sum over files: gigabytes, and seconds of draws by NumPy and by ours."""
    rows = []
    kinds = files.groupby(["report", "mechanism", "epsilon", "inputs", "n"], as_index=False)
    for row in kinds["times"].sum().itertuples():
        mechanism = study.mechanism(row.mechanism, row.epsilon)
        x = study.inputs(row.mechanism, row.inputs).sides()[0]
        entries, size = study.numbers(row.mechanism, row.epsilon)
        textbook = SAMPLERS.get(study.mechanisms[row.mechanism].mechanism, ours)
        ways = {"numpy": textbook, "ours": ours}
        spent = {way: row.times * seconds(draw, mechanism, x, row.n) for way, draw in ways.items()}
        rows.append({"report": row.report, "GB": row.times * row.n * entries * size / 1e9, **spent})
    return pd.DataFrame(rows).groupby("report").sum()


def of_jobs(files: pd.DataFrame, scale: str) -> pd.DataFrame:
    """Return the measured CPU seconds of jobs, by report: of those that draw, and of all."""
    owners = {report: report for report in files["report"]}
    for file in files.itertuples():
        owners.setdefault(
            f"{file.mechanism}/epsilon={spell(file.epsilon)}/{file.inputs}", file.report
        )
    rows = []
    folder = Path(f"results/{scale}/benchmarks")
    for path in folder.rglob("*.tsv"):
        stage, *parts = path.relative_to(folder).parts
        owner = owners.get(parts[0]) or owners.get("/".join(parts[:3])) if parts else stage[:-4]
        spent = float(pd.read_csv(path, sep="\t")["cpu_time"].iloc[0])
        draws = spent if stage in ("samples", "confirmations") else 0.0
        rows.append({"report": owner, "sample": draws, "jobs": spent})
    return pd.DataFrame(rows, columns=["report", "sample", "jobs"]).groupby("report").sum()


def main() -> None:
    """Print the table of a scale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="*", help="all, if not given")
    parser.add_argument("--scale", default="paper")
    options = parser.parse_args()
    study = Study("config", {"scale": options.scale})
    files = pd.concat([drawn(study, report) for report in options.reports or study.reports])
    table = with_seconds(study, files).join(of_jobs(files, options.scale))
    table.loc["all"] = table.sum()
    table["times"] = table["jobs"] / table["numpy"]
    print(f"{platform.processor() or platform.machine()}, NumPy {np.__version__}, {options.scale}")
    print(table.round(2).to_string())


if __name__ == "__main__":
    main()
