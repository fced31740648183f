"""The products of a report's experiments: summaries and runs of estimates, measured seconds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination
from epsilometer_workflow.files.parsing import Batch
from epsilometer_workflow.products.estimates import Estimates
from epsilometer_workflow.products.products import Needs, Product, Spec, digest_of, entry
from epsilometer_workflow.products.reductions import Samples, Verdicts


@dataclass(frozen=True)
class OfExperiment(Product):
    """A product of one experiment of a report."""

    report: str
    experiment: str

    def check(self) -> None:
        report = entry(self.study.reports, "report", self.report)
        entry(report.experiments, "experiment", self.experiment)

    @property
    def combinations(self) -> list[Combination]:
        """The experiment's grid."""
        return self.study.combinations(self.report, self.experiment)

    def identity(self) -> Spec:
        """Return report and experiment, and a digest of all that it is made of."""
        key = {"report": self.report, "experiment": self.experiment}
        return self.common | key | {"made_of": digest_of(self.members())}

    @abstractmethod
    def members(self) -> list[Spec]:
        """Return the parameters of the job for each combination."""

    def spec(self) -> Spec:
        return {"identity": self.identity(), "members": self.members()}


@dataclass(frozen=True)
class Summary(OfExperiment, rule="summarise"):
    """Statistics over runs of one experiment's estimates, beside the exact values."""

    def needs(self) -> Needs:
        return {"estimates": [Estimates.of(self.study, c) for c in self.combinations]}

    def members(self) -> list[Spec]:
        """Return, for each file of estimates, the exact distribution and the precision."""
        return [
            {
                "identity": Estimates.of(self.study, c).identity(),
                "law": EXACT.get(self.study.mechanisms[c.mechanism].mechanism),
                "precision": self.study.estimator(c.estimator).precision,
                "symmetric": self.study.estimator(c.estimator).symmetric,
                "guarantee": self.study.estimator(c.estimator).guarantee,
            }
            for c in self.combinations
        ]

    def modules(self) -> list[str]:
        used = {self.study.mechanisms[c.mechanism].mechanism for c in self.combinations}
        return sorted(
            {r.module(name) for r in (EXACT, MECHANISMS) for name in used if name in EXACT}
        )


@dataclass(frozen=True)
class Runs(Summary):
    """Every run beside the exact values, which the summary's job writes, too."""

    reads: ClassVar[str] = "runs"


@dataclass(frozen=True)
class Timings(OfExperiment, rule="time"):
    """Seconds of one experiment's estimates, each from drawing to its answer, run after run."""

    def members(self) -> list[Spec]:
        """Return the samples and the estimator of each combination."""
        return [
            {
                "samples": Samples.of(self.study, c, Batch(0, c.runs - 1)).spec(),
                "estimates": Estimates.of(self.study, c).identity(),
                "fresh": c.n.fresh,
            }
            for c in self.combinations
        ]

    def modules(self) -> list[str]:
        study, modules = self.study, set()
        for c in self.combinations:
            modules.add(MECHANISMS.module(study.mechanisms[c.mechanism].mechanism))
            if study.estimator(c.estimator).reads == "verdicts":
                modules |= set(Verdicts.of(study, c, Batch(0, 0)).modules())
            for name in filter(None, (c.estimator, study.screen(c.estimator))):
                modules.add(ESTIMATORS.module(study.estimators[name].estimator))
        return sorted(modules)

    def samples_held(self) -> int:
        """Return the numbers of all sides of the largest run, which are held until it is done."""
        samples = [Samples.of(self.study, c, Batch(0, c.runs - 1)) for c in self.combinations]
        return max(drawn.samples_held() * drawn.sides for drawn in samples)
