"""What the rules ask for a job besides its files: memory and time, from what it has to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from epsilometer import asked
from epsilometer.costs import Cost, Load, cost
from epsilometer.jobs import Jobs
from epsilometer.reductions import Spec


class Needs(Jobs):
    """Answers the rules' questions about one study, resources included."""

    def memory(self, rule: str) -> Callable[..., int]:
        """Return the function that gives a job's ``mem_mb``; more at every attempt."""

        def mem_mb(wildcards: Any, attempt: int) -> int:
            return attempt * self._cost(rule, wildcards).megabytes_asked

        return mem_mb

    def minutes(self, rule: str) -> Callable[..., int]:
        """Return the function that gives a job's ``runtime``; more at every attempt."""

        def runtime(wildcards: Any, attempt: int) -> int:
            return attempt * self._cost(rule, wildcards).minutes_asked

        return runtime

    def _cost(self, rule: str, wildcards: Any) -> Cost:
        return self._cost_of(rule, tuple(wildcards.items()))

    @cache  # noqa: B019
    def _cost_of(self, rule: str, keys: tuple[tuple[str, str], ...]) -> Cost:
        return cost(self._study.rates, rule, self.load(rule, asked.Wildcards(dict(keys))))

    def load(self, rule: str, wildcards: Any) -> Load:
        """Return what one job has to do."""
        loads = {
            "sample": lambda: self._drawing(self.sample_spec(wildcards)),
            "confirm": lambda: self._drawing(self.confirmation_spec(wildcards)),
            "histogram": lambda: self._reading(self.histogram_spec(wildcards)["samples"]),
            "density": lambda: self._reading(self.density_spec(wildcards)["samples"]),
            "screen": lambda: self._screening(wildcards),
            "classify": lambda: self._classifying(wildcards),
            "weigh": lambda: self._reading(self.evidence_spec(wildcards)["fresh"]),
            "time": lambda: self._timing(wildcards),
        }
        return loads[rule]() if rule in loads else Load()

    def _drawing(self, samples: Spec) -> Load:
        return self._reading(samples, self._study.mechanisms[samples["mechanism"]].mechanism)

    def _screening(self, wildcards: Any) -> Load:
        samples = self.losses_spec(wildcards)["samples"]
        return self._reading(samples, self._study.estimators[wildcards.screen].estimator)

    def _classifying(self, wildcards: Any) -> Load:
        spec = self.verdict_spec(wildcards)
        return self._reading(spec["samples"], spec["parameters"]["classifier"])

    def _timing(self, wildcards: Any) -> Load:
        members = self.timing_spec(wildcards)["members"]
        loads = [self._reading(member["samples"]) for member in members]
        return Load(numbers=sum(one.numbers for one in loads), side=max(one.side for one in loads))

    def _reading(self, samples: Spec, name: str = "default") -> Load:
        entries, size = self._study.numbers(samples["mechanism"], samples["epsilon"])
        side = samples["n"] * entries
        first, last = samples["runs"]
        numbers = (last - first + 1) * samples["sides"] * side
        return Load(name=name, numbers=numbers, side=side, bytes=numbers * size)
