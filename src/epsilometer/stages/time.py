"""Seconds of one estimate, from drawing to the answer, in this process alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.densities.histogram import finite_histogram, interval_histogram
from epsilometer.densities.pair import reduced
from epsilometer.estimators.base import Claims, maximum, over_pairs, pairs_of
from epsilometer.registry import load
from epsilometer.stages.sample import draw
from epsilometer.storage import write_columns

Spec = Mapping[str, Any]


def run(output: str, spec: Spec, progress: Callable[[str], None]) -> None:
    """Time the estimates of one experiment, one run after another."""
    write_columns(time_runs(spec, progress), output, "timings", spec["identity"])


def time_runs(spec: Spec, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return columns with a row for every combination and run; one run before them warms up."""
    rows = []
    for member in spec["members"]:
        timed = _TIMED[member["reads"]]
        first, last = member["samples"]["runs"]
        timed(member, first)
        for run in range(first, last + 1):
            rows.append(timed(member, run))
            progress(f"{rows[-1]['mechanism']} run {run}: {rows[-1]['seconds']:.3f} s")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {k: v if isinstance(v[0], str) else np.array(v) for k, v in columns.items()}


@dataclass
class _Clock:
    """Seconds by activity, of a run that begins now."""

    spent: dict[str, float] = field(default_factory=lambda: {"sampling": 0.0, "estimating": 0.0})
    last: float = field(default_factory=time.perf_counter)

    def charge(self, activity: str) -> None:
        """Count the time since the last call."""
        now = time.perf_counter()
        self.spent[activity] += now - self.last
        self.last = now


class _Drawing:
    """Samples of one run, and the clock that they are charged to."""

    def __init__(self, samples: Spec, run: int) -> None:
        self._mechanism = load(samples["registered"])(
            epsilon=samples["epsilon"], **samples["parameters"]
        )
        self._name, self._inputs = samples["mechanism"], samples["inputs"]["values"]
        self._rng = seeds.generator(samples["seed"], "timing", self._name, run)
        self.clock = _Clock()

    def sides(self, which: Any, n: int) -> list[np.ndarray]:
        """Draw ``n`` of each of these sides."""
        drawn = [
            draw(self._mechanism, self._inputs[side], n, self._rng, name=self._name)
            for side in which
        ]
        self.clock.charge("sampling")
        return drawn


def _time_evidence(member: Spec, run: int) -> dict[str, Any]:
    """Run both stages of a bound once."""
    samples, losses, fresh = member["samples"], member["losses"], member["fresh"]
    screen = load(losses["registered"])(**losses["parameters"])
    estimator = load(member["estimates"]["registered"])(**member["estimates"]["parameters"])
    pairs = pairs_of(samples["sides"], losses["pairing"])
    drawing = _Drawing(samples, run)
    sides = drawing.sides(range(samples["sides"]), samples["n"])
    selected, found = screen.screen(
        ((sides[i], sides[j]) for i, j in pairs), draws=losses["draws"], region=losses["region"]
    )
    drawing.clock.charge("estimating")
    x, x_prime = drawing.sides(pairs[selected], fresh)
    evidence = screen.weigh(x, x_prime, found[selected].found)
    one = {name: [value] for name, value in vars(evidence).items()}
    (bound,) = estimator.bound(type(evidence)(**one))
    drawing.clock.charge("estimating")
    return _row(member, run, len(pairs), fresh, drawing.clock, bound)


def _time_densities(member: Spec, run: int) -> dict[str, Any]:
    """Run a bound from densities once, in both directions; the one from x to x' is kept."""
    samples, smoothing = member["samples"], member["densities"]
    estimator = load(member["estimates"]["registered"])(**member["estimates"]["parameters"])
    pairs = pairs_of(samples["sides"], smoothing["pairing"])
    drawing = _Drawing(samples, run)
    sides = drawing.sides(range(samples["sides"]), samples["n"])
    order, bounds = float(member["estimates"]["lambda"]), []
    for i, j in pairs:
        d = reduced(sides[i], sides[j], smoothing)
        found = estimator.bounds(d, order=order, n=samples["n"], pairs=len(pairs))
        bounds.append(found[0])
    drawing.clock.charge("estimating")
    return _row(member, run, len(pairs), 0, drawing.clock, max(bounds))


def _time_histograms(member: Spec, run: int) -> dict[str, Any]:
    """Count every side and estimate every pair once; the largest answer from x to x' is kept."""
    samples, counting = member["samples"], member["histograms"]
    estimates = member["estimates"]
    estimator = load(estimates["registered"])(**estimates["parameters"])
    drawing, order = _Drawing(samples, run), float(estimates["lambda"])
    counted = []
    for side in range(samples["sides"]):  # one at a time, as no estimate needs the draws again
        (outputs,) = drawing.sides([side], samples["n"])
        if counting["support"] is None:
            counted.append(finite_histogram(outputs, counting["cells"]))
        else:
            support = (counting["support"][0], counting["support"][1])
            counted.append(interval_histogram(outputs, support, counting["cells"]))
        drawing.clock.charge("estimating")
    counts = np.stack(counted, axis=1)
    pairing = estimates["inputs"]["pairing"]
    answers = over_pairs(estimator, counts, Claims(**estimates["claims"]), order, pairing)
    bound = float(maximum(answers).forward[0])
    drawing.clock.charge("estimating")
    return _row(member, run, len(answers), 0, drawing.clock, bound)


def _time_verdicts(member: Spec, run: int) -> dict[str, Any]:
    """Train and test a classifier on every pair once; the largest delta from x to x' is kept."""
    samples, testing = member["samples"], member["verdicts"]
    method = load(testing["registered"])(**testing["parameters"])
    drawing, deltas = _Drawing(samples, run), []
    for i, j in pairs_of(samples["sides"], testing["pairing"]):
        x, x_prime = drawing.sides((i, j), samples["n"])
        rng = seeds.generator(samples["seed"], "timing", "classify", samples["mechanism"], run)
        forward, _ = method.test(x, x_prime, rng)
        deltas.append(float(forward.delta.max()))
        drawing.clock.charge("estimating")
    return _row(member, run, len(deltas), 0, drawing.clock, max(deltas))


def _row(
    member: Spec, run: int, pairs: int, fresh: int, clock: _Clock, bound: float
) -> dict[str, Any]:
    samples, estimates = member["samples"], member["estimates"]
    return {
        "mechanism": samples["mechanism"],
        "epsilon": samples["epsilon"],
        "lambda": estimates["lambda"],
        "estimator": estimates["estimator"],
        "run": run,
        "n": samples["n"],
        "fresh": fresh,
        "pairs": pairs,
        **clock.spent,
        "seconds": sum(clock.spent.values()),
        "bound": float(bound),
    }


_TIMED: dict[str, Callable[[Spec, int], dict[str, Any]]] = {
    "histograms": _time_histograms,
    "densities": _time_densities,
    "verdicts": _time_verdicts,
    "evidence": _time_evidence,
}
