"""The products of a report's experiments: summaries and runs of estimates, measured seconds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.sizes import Batch
from epsilometer_workflow.study import paths
from epsilometer_workflow.study.audited import digest_of
from epsilometer_workflow.study.costs import Load
from epsilometer_workflow.study.estimates import Estimates
from epsilometer_workflow.study.products import Needs, Product, Spec, entry
from epsilometer_workflow.study.reductions import Verdicts, drawn_for
from epsilometer_workflow.study.study import Combination


@dataclass(frozen=True)
class OfExperiment(Product):
    """What is made of one experiment of a report."""

    report: str
    experiment: str

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such an experiment."""
        report = entry(self.study.reports, "report", self.report)
        entry(report.experiments, "experiment", self.experiment)

    @property
    def combinations(self) -> list[Combination]:
        """The experiment's grid."""
        return self.study.combinations(self.report, self.experiment)

    def identity(self) -> Spec:
        """Return what is made, and a digest of all it is made of."""
        named = {"report": self.report, "experiment": self.experiment}
        return self.common | named | {"made_of": digest_of(self.members())}

    @abstractmethod
    def members(self) -> list[Spec]:
        """Return what the job is told of each combination."""

    def spec(self) -> Spec:
        """Return what the job is told."""
        return {"identity": self.identity(), "members": self.members()}


@dataclass(frozen=True)
class Summary(OfExperiment):
    """Statistics over runs of one experiment's estimates, beside the exact values."""

    rule: ClassVar[str] = "summarise"
    template: ClassVar[str] = paths.SUMMARY

    def needs(self) -> Needs:
        """Return the estimates."""
        return {"estimates": [Estimates.of(self.study, c) for c in self.combinations]}

    def members(self) -> list[Spec]:
        """Return, for each file of estimates, the law and the precision."""
        return [
            {
                "identity": Estimates.of(self.study, c).identity(),
                "law": EXACT.get(self.study.mechanisms[c.mechanism].mechanism),
                "precision": self.study.estimator(c.estimator).precision,
                "symmetric": self.study.estimator(c.estimator).symmetric,
            }
            for c in self.combinations
        ]

    def modules(self) -> list[str]:
        """Return the exact laws, and the mechanisms they are of."""
        used = {self.study.mechanisms[c.mechanism].mechanism for c in self.combinations}
        return sorted(
            {r.module(name) for r in (EXACT, MECHANISMS) for name in used if name in EXACT}
        )


@dataclass(frozen=True)
class Runs(Summary):
    """Every run beside the exact values, which the summary's job writes, too."""

    @property
    def file(self) -> str:
        """The other file of the job."""
        return paths.RUNS.format(**self.wildcards)


@dataclass(frozen=True)
class Timings(OfExperiment):
    """Seconds of one experiment's estimates, each from drawing to its answer, run after run."""

    rule: ClassVar[str] = "time"
    template: ClassVar[str] = paths.TIMING

    def needs(self) -> Needs:
        """Return nothing: it draws for itself."""
        return {}

    def members(self) -> list[Spec]:
        """Return, for each combination, what is drawn, and how it is estimated from."""
        return [
            {
                "samples": drawn_for(self.study, c, Batch(0, c.runs - 1)).spec(),
                "estimates": Estimates.of(self.study, c).identity(),
                "fresh": c.n.fresh,
            }
            for c in self.combinations
        ]

    def modules(self) -> list[str]:
        """Return mechanisms and estimators."""
        study, found = self.study, set()
        for c in self.combinations:
            found.add(MECHANISMS.module(study.mechanisms[c.mechanism].mechanism))
            if study.estimator(c.estimator).reads == "verdicts":
                found |= set(Verdicts.of(study, c, Batch(0, 0)).modules())
            for name in filter(None, (c.estimator, study.screen(c.estimator))):
                found.add(ESTIMATORS.module(study.estimators[name].estimator))
        return sorted(found)

    def load(self) -> Load:
        """Return the numbers of all combinations."""
        runs = [(c, Batch(0, c.runs - 1)) for c in self.combinations]
        return Load.together([drawn_for(self.study, c, batch).load() for c, batch in runs])
