"""The products of a report's experiments: summaries and runs of estimates, measured seconds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.identities import (
    EstimatesToSummarise,
    EstimatesToTime,
    ExperimentIdentity,
    SummariseJob,
    TimeJob,
)
from epsilometer_workflow.files.parsing import Batch
from epsilometer_workflow.products.products import Needs, Product, digest_of, entry
from epsilometer_workflow.products.reductions import Estimates, Samples, Verdicts


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

    def identity(self) -> ExperimentIdentity:
        """Return report and experiment, and a digest of all that it is made of."""
        return ExperimentIdentity(
            **self.common,
            report=self.report,
            experiment=self.experiment,
            made_of=digest_of(self.members()),
        )

    @abstractmethod
    def members(self) -> list[Any]:
        """Return the parameters of the job for each combination."""


@dataclass(frozen=True)
class Summary(OfExperiment, rule="summarise"):
    """Statistics over runs of one experiment's estimates, beside the exact values."""

    def needs(self) -> Needs:
        return {"estimates": [Estimates.of(self.study, c) for c in self.combinations]}

    def job(self) -> SummariseJob:
        return SummariseJob(identity=self.identity(), members=self.members())

    def members(self) -> list[EstimatesToSummarise]:
        """Return, for each file of estimates, the exact distribution and the precision."""
        members = []
        for c in self.combinations:
            estimator = self.study.estimator(c.estimator)
            member = EstimatesToSummarise(
                identity=Estimates.of(self.study, c).identity(),
                law=EXACT.get(self.study.mechanisms[c.mechanism].mechanism),
                precision=estimator.precision,
                symmetric=estimator.symmetric,
                guarantee=estimator.guarantee,
            )
            members.append(member)
        return members

    def modules(self) -> list[str]:
        return modules_of_laws(self.study, {c.mechanism for c in self.combinations})


@dataclass(frozen=True)
class Runs(Summary):
    """Every run beside the exact values, which the summary's job writes, too."""

    reads: ClassVar[str] = "runs"


@dataclass(frozen=True)
class Timings(OfExperiment, rule="time"):
    """Seconds of one experiment's estimates, each from drawing to its answer, run after run."""

    def _samples(self) -> list[Samples]:
        """Return what is drawn of each combination."""
        study = self.study
        return [Samples.of(study, c, Batch(0, c.runs - 1)) for c in self.combinations]

    def job(self) -> TimeJob:
        return TimeJob(identity=self.identity(), members=self.members())

    def members(self) -> list[EstimatesToTime]:
        """Return the samples and the estimator of each combination."""
        members = []
        for c, samples in zip(self.combinations, self._samples(), strict=True):
            estimates = Estimates.of(self.study, c).identity()
            member = EstimatesToTime(samples=samples.job(), estimates=estimates, fresh=c.n.fresh)
            members.append(member)
        return members

    def modules(self) -> list[str]:
        study = self.study
        modules = set()
        for c, samples in zip(self.combinations, self._samples(), strict=True):
            modules |= {*samples.modules(), *samples.modules_of(c.estimator)}
            if screen := study.screen(c.estimator):
                modules |= {*samples.modules_of(screen)}
            if study.estimator(c.estimator).reads == "verdicts":
                modules |= {*Verdicts.of(study, c, samples.batch).modules()}
        return sorted(modules)

    def samples_held(self) -> int:
        """Return the numbers of all sides of the largest run, which are held until it is done."""
        return max(drawn.samples_held() * drawn.sides for drawn in self._samples())


def modules_of_laws(study: Study, mechanisms: Iterable[str]) -> list[str]:
    """Return the code of the exact distributions of mechanisms, where they are known."""
    modules = set()
    for entry_name in mechanisms:
        kind = study.mechanisms[entry_name].mechanism
        if kind in EXACT:
            modules |= {EXACT.module(kind), MECHANISMS.module(kind)}
    return sorted(modules)
