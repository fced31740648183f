"""What a scale would take, before anything is run: ``make plan SCALE=paper``.

Every file that the configuration asks for is listed as the rules would make it, and costed at the
rates of ``config/rates.yaml``. Nothing is drawn and nothing is written.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from epsilometer import checks, paths
from epsilometer.asked import Wildcards
from epsilometer.costs import cost
from epsilometer.errors import EpsilometerError
from epsilometer.needs import Needs
from epsilometer.study import Combination, Study
from epsilometer.tables import BUILDERS, building

_READ_BY = {
    "histograms": ("histogram", paths.HISTOGRAM),
    "densities": ("density", paths.DENSITY),
    "verdicts": ("classify", paths.VERDICTS),
    "losses": ("screen", paths.LOSSES),
    "evidence": ("weigh", paths.EVIDENCE),
}
_SAMPLES = ("sample", "confirm")


@dataclass
class Total:
    """The jobs of one rule together."""

    jobs: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    bytes: list[int] = field(default_factory=list)


class Plan(Needs):
    """All jobs of the configured papers, each once."""

    def totals(self) -> dict[str, Total]:
        """Return the jobs by rule."""
        found: dict[str, Total] = {}
        for rule, wildcards in self.everything():
            load = self.load(rule, wildcards)
            taken = cost(self._study.rates, rule, load)
            total = found.setdefault(rule, Total())
            total.jobs += 1
            total.seconds += taken.seconds
            total.megabytes = max(total.megabytes, taken.megabytes)
            if rule in _SAMPLES:
                total.bytes.append(load.bytes)
        return found

    def everything(self) -> Iterator[tuple[str, Wildcards]]:
        """Yield rule and wildcards of every job, each once, samples first."""
        jobs: dict[tuple[str, str], tuple[str, Wildcards]] = {}
        for paper in self._study.main.papers:
            for rule, path, keys in self._of_paper(paper):
                wildcards = Wildcards({k: str(v) for k, v in keys.items()})
                jobs.setdefault((rule, path.format(**keys)), (rule, wildcards))
        order = ["sample", "confirm", *(rule for rule, _ in _READ_BY.values())]
        yield from sorted(
            jobs.values(), key=lambda job: order.index(job[0]) if job[0] in order else len(order)
        )

    def _of_paper(self, paper: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        keys: dict[str, Any] = {"scale": self._study.scale, "paper": paper}
        yield "page", paths.PAGE, keys
        for name, artifact in self._study.papers[paper].artifacts.items():
            yield "tabulate", paths.TABLE, keys | {"artifact": name}
            if artifact.figure:
                yield "render", paths.FIGURE, keys | {"artifact": name}
            kind = building.reads(BUILDERS.load(artifact.table.builder))
            for experiment in artifact.table.data:
                yield from self._of_experiment(kind, keys | {"experiment": experiment})

    def _of_experiment(
        self, kind: str | None, keys: dict[str, Any]
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        members = self._study.combinations(keys["paper"], keys["experiment"])
        if kind == "timings":
            yield "time", paths.TIMING, keys
            return
        for combination in members:
            for batch in self._study.batches(combination):
                drawn = self._drawn(keys, combination, batch)
                yield "sample", paths.SAMPLE, dict(drawn)
                if kind != "samples":
                    yield from self._reduced(combination, drawn)
            if kind != "samples":
                yield "estimate", paths.ESTIMATE, self._estimated(combination)
        if kind != "samples":
            yield "summarise", paths.SUMMARY, keys

    def _reduced(
        self, combination: Combination, drawn: dict[str, str]
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        estimator = self._study.estimator(combination.estimator)
        keys: dict[str, Any] = drawn | {
            "n": combination.n,
            "cells": self._study.cells(combination),
            "screen": self._study.screen(combination.estimator),
            "classifier": combination.estimator,
        }
        if estimator.reads == "densities":
            keys |= self._smoothing(combination.estimator)
        rule, path = _READ_BY[estimator.reads]
        if estimator.reads == "evidence":
            yield "screen", paths.LOSSES, keys
            yield "confirm", paths.CONFIRMATION, keys
        yield rule, path, keys

    def _estimated(self, combination: Combination) -> dict[str, Any]:
        return {
            "scale": self._study.scale,
            "mechanism": combination.mechanism,
            "epsilon": paths.number(combination.epsilon),
            "inputs": combination.inputs,
            "order": paths.number(combination.order),
            "estimator": combination.estimator,
            "n": combination.n,
            "runs": combination.runs,
        }


def report(study: Study, fold: int = 1, cores: int = 2) -> str:
    """Return the plan as a table, of a sweep over ``fold`` such studies."""
    totals = Plan(study).totals()
    kept = not study.temporary_samples
    heads = ("jobs", "CPU hours", "memory MB", "GB drawn", "at once")
    lines = [f"{'rule':<10} {heads[0]:>9} " + " ".join(f"{head:>10}" for head in heads[1:])]
    for rule, total in totals.items():
        line = f"{rule:<10} {fold * total.jobs:>9} {fold * total.seconds / 3600:>10.2f}"
        line += f" {total.megabytes:>10.0f}"
        if total.bytes:
            drawn, peak = fold * sum(total.bytes), _at_once(total.bytes, fold, cores)
            line += f" {drawn / 1e9:>10.1f} {(drawn if kept else peak) / 1e9:>10.1f}"
        lines.append(line)
    files = [size for total in totals.values() for size in total.bytes]
    seconds = fold * sum(total.seconds for total in totals.values())
    drawn, peak = fold * sum(files), _at_once(files, fold, cores)
    jobs = fold * sum(total.jobs for total in totals.values())
    lines.append(
        f"{'all':<10} {jobs:>9} {seconds / 3600:>10.2f} {'':>10} {drawn / 1e9:>10.1f} "
        f"{(drawn if kept else peak) / 1e9:>10.1f}"
    )
    fate = "kept" if kept else "deleted as they are read"
    lines.append(f"on {cores} cores: {seconds / cores / 3600:.1f} hours; samples are {fate}")
    return "\n".join(lines)


def _at_once(files: list[int], fold: int, cores: int) -> int:
    """Return the bytes of the largest files, one a core: each is there ``fold`` times."""
    largest = sorted(files, reverse=True)
    return sum(size * max(min(fold, cores - fold * i), 0) for i, size in enumerate(largest))


def main() -> None:
    """Print the plan of the configured scale."""
    parser = argparse.ArgumentParser(prog="plan", description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", help="smoke, quick or paper; else that of config/config.yaml")
    parser.add_argument("--fold", type=int, default=1, help="a sweep of so many such studies")
    parser.add_argument("--cores", type=int, default=2, help="cores at work at once")
    asked = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # read by head: end in silence
    try:
        for name in ("fold", "cores"):
            checks.integer(f"--{name}", getattr(asked, name), minimum=1)
        study = Study("config", {"scale": asked.scale} if asked.scale else None)
        print(report(study, asked.fold, asked.cores))
    except EpsilometerError as error:
        print(f"epsilometer: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
