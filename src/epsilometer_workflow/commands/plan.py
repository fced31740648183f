"""The cost of a scale, before anything is run: ``make plan SCALE=paper``.

Every file that the configuration asks for is listed as the rules would make it, and costed at the
rates of ``config/rates.yaml``. Nothing is drawn and nothing is written.
"""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import dataclass, field

from epsilometer import checks
from epsilometer.errors import EpsilometerError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.reports import PRODUCT_KINDS, all_products

_SAMPLES = ("sample", "confirm")


@dataclass
class Total:
    """The jobs of one rule together."""

    jobs: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    bytes: list[int] = field(default_factory=list)


def totals(study: Study) -> dict[str, Total]:
    """Return the jobs of the configured reports by rule, in the order of the rules."""
    by_rule = {kind.rule: Total() for kind in PRODUCT_KINDS}
    for product in all_products(study):
        load, cost, total = product.load(), product.cost(), by_rule[product.rule]
        total.jobs += 1
        total.seconds += cost.seconds
        total.megabytes = max(total.megabytes, cost.megabytes)
        if product.rule in _SAMPLES:
            total.bytes.append(load.bytes)
    return {rule: total for rule, total in by_rule.items() if total.jobs}


def report(study: Study, fold: int = 1, cores: int = 2) -> str:
    """Return the plan as a table, of a sweep over ``fold`` such studies."""
    by_rule = totals(study)
    kept = not study.temporary_samples
    heads = ("jobs", "CPU hours", "memory MB", "GB drawn", "at once")
    lines = [f"{'rule':<10} {heads[0]:>9} " + " ".join(f"{head:>10}" for head in heads[1:])]
    parts = by_rule.values()
    files = [size for total in parts for size in total.bytes]
    jobs, seconds = sum(total.jobs for total in parts), sum(total.seconds for total in parts)
    for rule, total in {**by_rule, "all": Total(jobs, seconds, bytes=files)}.items():
        memory = f"{total.megabytes:.0f}" if rule in by_rule else ""
        line = (
            f"{rule:<10} {fold * total.jobs:>9} {fold * total.seconds / 3600:>10.2f} {memory:>10}"
        )
        if total.bytes or rule == "all":
            drawn = fold * sum(total.bytes)
            most = drawn if kept else _at_once(total.bytes, fold, cores)
            line += f" {drawn / 1e9:>10.1f} {most / 1e9:>10.1f}"
        lines.append(line)
    fate = "kept" if kept else "deleted as they are read"
    lines.append(f"on {cores} cores: {fold * seconds / cores / 3600:.1f} hours; samples are {fate}")
    return "\n".join(lines)


def _at_once(files: list[int], fold: int, cores: int) -> int:
    """Return the bytes of the largest files, one for each core; each exists ``fold`` times."""
    largest = sorted(files, reverse=True)
    return sum(size * max(min(fold, cores - fold * i), 0) for i, size in enumerate(largest))


def main() -> None:
    """Print the plan of the configured scale."""
    parser = argparse.ArgumentParser(prog="plan", description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", help="smoke, quick or paper; else that of config/config.yaml")
    parser.add_argument("--fold", type=int, default=1, help="a sweep of so many such studies")
    parser.add_argument("--cores", type=int, default=2, help="cores at work at once")
    arguments = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # read by head: end in silence
    try:
        for name in ("fold", "cores"):
            checks.integer(f"--{name}", getattr(arguments, name), minimum=1)
        study = checked("config", {"scale": arguments.scale} if arguments.scale else None)
        print(report(study, arguments.fold, arguments.cores))
    except EpsilometerError as error:
        print(f"epsilometer: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
