"""Fits config/rates.yaml to the times of finished runs on this machine, from their logs.

make rates        after, say, make figures and snakemake --cores 2 --config scale=paper
"""

import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import yaml

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.audited import AUDITED
from epsilometer_workflow.products.reports import PRODUCT_KINDS

LARGE = 2_000_000  # numbers of a side, from where memory is theirs and not what any job takes
TOOK = re.compile(r"took [\d.]+ s, ([\d.]+) s of CPU, (\d+) MB")
HEADER = """\
# The cost of one job of each rule: seconds of CPU and megabytes for any job; nanoseconds for each
# number that is drawn or read, by mechanism, classifier or screening estimator (default: one that
# was never measured); bytes of memory for each number of one side of one run. The requests of jobs
# and `make plan` use these. `make rates` measures them again, except those of audits, which have
# time for slow mechanisms, by the way in which draws are requested.
"""


def measured(scale: str):
    """Yield (rule, load, CPU seconds, megabytes) of every job that left a log."""
    study = Study("config", {"scale": scale})
    for kind in set(PRODUCT_KINDS) - set(AUDITED):
        template = re.escape(paths.log(kind.template)).replace(r"\{", "{").replace(r"\}", "}")
        pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+?)", template.replace("{scale}", scale))
        for log in Path("results", scale, "logs").rglob("*.log"):
            keys, took = re.fullmatch(pattern, str(log)), TOOK.search(log.read_text())
            if keys and took and keys.groupdict().get("report") != "report":  # the page of all
                product = kind.from_wildcards(study, keys.groupdict() | {"scale": scale})
                yield kind.rule, product.load(), float(took[1]), float(took[2])


def rounded(value: float) -> float:
    """Return two significant digits."""
    return float(f"{value:.2g}")


def fit(jobs: list) -> dict:
    """Return the rate of one rule from the times of its jobs."""
    if all(load.numbers == 0 for load, *_ in jobs):
        return {
            "seconds": rounded(mean(cpu for _, cpu, _ in jobs)),
            "megabytes": rounded(max(memory for *_, memory in jobs)),
        }
    smallest = sorted(jobs, key=lambda job: job[0].numbers)[: max(3, len(jobs) // 10)]
    seconds = median(cpu for _, cpu, _ in smallest)
    by_name = defaultdict(list)
    for load, cpu, _ in (job for job in jobs if job[0].numbers):
        by_name[load.name].append((load.numbers, cpu))
    nanoseconds = {
        name: rounded(1e9 * sum(max(cpu - seconds, 0) for _, cpu in done) / sum(n for n, _ in done))
        for name, done in sorted(by_name.items())
    }
    if set(nanoseconds) != {"default"}:
        nanoseconds["default"] = max(nanoseconds.values())
    held = {}
    for load, _, memory in sorted(jobs, key=lambda job: job[0].side):
        if load.side >= LARGE:  # the largest decides
            held[load.name] = rounded(1e6 * memory / load.side)
    held["default"] = max(held.values(), default=0.0)
    megabytes = max(
        memory - 1e-6 * held.get(load.name, held["default"]) * load.side for load, _, memory in jobs
    )
    return {
        "seconds": rounded(seconds),
        "megabytes": rounded(megabytes),
        "bytes": dict(sorted(held.items())),
        "nanoseconds": nanoseconds,
    }


def main() -> None:
    """Fit every rule that has been measured, and keep the others' rates."""
    jobs = defaultdict(list)
    for scale in sys.argv[1:] or ["quick", "paper"]:
        for rule, *job in measured(scale):
            jobs[rule].append(job)
    file = Path("config/rates.yaml")
    rates = yaml.safe_load(file.read_text()) | {
        rule: fit(measurements) for rule, measurements in jobs.items()
    }
    text = yaml.safe_dump(
        {kind.rule: rates[kind.rule] for kind in PRODUCT_KINDS},
        sort_keys=False,
        default_flow_style=None,
    )
    file.write_text(HEADER + text)


if __name__ == "__main__":
    main()
