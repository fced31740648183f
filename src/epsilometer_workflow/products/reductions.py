"""The products of sampling, the reductions of samples before estimation, and the estimates.

Rules are named as in `workflow/rules`. A batch of samples is reduced once for all estimators that
read the same: to histograms, to densities or losses of pairs, to a classifier's verdicts, or to the
evidence of fresh samples. An estimator that reads the samples themselves answers from each batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.identities import (
    AnswersIdentity,
    ConfirmationIdentity,
    DensitiesIdentity,
    DescribedSamples,
    EstimateJob,
    EstimatesIdentity,
    EvidenceIdentity,
    HistogramsIdentity,
    Inputs,
    InputsOfPairs,
    LossesIdentity,
    Method,
    Pairing,
    SamplesIdentity,
    VerdictsIdentity,
)
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction, spell
from epsilometer_workflow.products.products import Needs, Product, entry


@dataclass(frozen=True)
class _Drawn(Product):
    """Draws of a mechanism on a set of inputs; only if ``searchable``, n may be a search."""

    searchable: ClassVar[bool] = False

    mechanism: str
    epsilon: float
    inputs: str
    n: Draws
    batch: Batch

    @classmethod
    def of(cls, study: Study, c: Combination | _Drawn, batch: Batch) -> Self:
        """Return the product that a combination's estimates need of one batch of runs."""
        drawn = (c.mechanism, c.epsilon, c.inputs, c.n.first_stage, batch)
        return cls(study, *drawn, *cls.further(study, c))

    @staticmethod
    def further(_study: Study, _c: Any, /) -> tuple[Any, ...]:
        """Return the fields beyond those of all products of draws."""
        return ()

    def check(self) -> None:
        if self.n.fresh:
            message = f"n={self.n} must be one size: fresh samples are confirmations"
            raise EpsilometerError(message)
        if self.n.searched and not self.searchable:
            raise EpsilometerError(f"n={self.n} cannot be searched, only counted in histograms")
        mechanism = entry(self.study.mechanisms, "mechanism", self.mechanism)
        entry(mechanism.inputs, f"inputs of {self.mechanism}", self.inputs)
        self.study.check_inputs(self.mechanism, self.epsilon, self.inputs)

    def samples(self) -> SamplesIdentity:
        """Return the identity of the samples that it is made of."""
        return Samples.of(self.study, self, self.batch).job()

    @property
    def pairing(self) -> Pairing:
        """Which sides are pairs."""
        return self.study.inputs(self.mechanism, self.inputs).pairing

    def modules_of(self, estimator: str) -> list[str]:
        """Return the code of an estimator."""
        return [ESTIMATORS.module(self.study.estimators[estimator].estimator)]

    def samples_held(self) -> int:
        return self.n.first * self.study.numbers(self.mechanism, self.epsilon)[0]

    def _check_estimator(self, name: str, reads: str, order: float = math.inf) -> None:
        """Raise `EpsilometerError` unless an estimator reads this, of the mechanism's outputs."""
        entry(self.study.estimators, "estimator", name)
        if (other := self.study.estimator(name).reads) != reads:
            raise EpsilometerError(f"{name} reads {other}, not {reads}")
        outputs = self.study.mechanism(self.mechanism, self.epsilon).outputs
        try:
            self.study.estimator(name).check(outputs, order)
        except ArgumentError as error:
            raise EpsilometerError(f"{name} on {self.mechanism}: {error}") from None


@dataclass(frozen=True)
class Samples(_Drawn, rule="sample"):
    """One batch of samples, of every side."""

    searchable: ClassVar[bool] = True

    def job(self) -> SamplesIdentity:
        mechanism = self.study.mechanisms[self.mechanism]
        values = self.study.inputs(self.mechanism, self.inputs).sides()
        return SamplesIdentity(
            **self.common,
            stage="main",
            mechanism=self.mechanism,
            registered=MECHANISMS[mechanism.mechanism],
            parameters=mechanism.parameters,
            epsilon=self.epsilon,
            inputs=Inputs(id=self.inputs, sides=values),
            sides=self.sides,
            n=self.n.first,
            runs=[self.batch.first, self.batch.last],
        )

    def modules(self) -> list[str]:
        return [MECHANISMS.module(self.study.mechanisms[self.mechanism].mechanism)]

    def described(self) -> DescribedSamples:
        """Return its identity, with what the provider claims."""
        claims = self.study.claims(self.mechanism, self.epsilon)
        region = region_of(self.study, self.mechanism)
        return DescribedSamples(identity=self.job(), claims=claims, region=region)

    @property
    def sides(self) -> int:
        """The number of sampled inputs."""
        return len(self.study.inputs(self.mechanism, self.inputs).sides())


@dataclass(frozen=True)
class Histograms(_Drawn, rule="histogram"):
    """Counts of every side; of every prefix, in a search."""

    searchable: ClassVar[bool] = True

    cells: int

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[int]:
        return (study.cells(c),)

    def job(self) -> HistogramsIdentity:
        support = self.study.claims(self.mechanism, self.epsilon).support
        return HistogramsIdentity(
            **self.common,
            samples=self.samples(),
            support=support and list(support),
            cells=self.cells,
            n=str(self.n),
        )


@dataclass(frozen=True)
class PairDensities(_Drawn, rule="density"):
    """The densities of both sides of every pair."""

    reduction: Reduction

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[Reduction]:
        return (Reduction.of(study.estimator(c.estimator).reduction),)

    def job(self) -> DensitiesIdentity:
        return DensitiesIdentity(
            **self.common,
            samples=self.samples(),
            pairing=self.pairing,
            **self.reduction.settings,
        )


@dataclass(frozen=True)
class Verdicts(_Drawn, rule="classify"):
    """The verdicts of a classifier on test draws of every pair."""

    classifier: str

    @staticmethod
    def further(_study: Study, c: Combination, /) -> tuple[str]:
        return (c.estimator,)

    def check(self) -> None:
        super().check()
        self._check_estimator(self.classifier, "verdicts")

    @property
    def _kind(self) -> str:
        return str(self.study.estimators[self.classifier].parameters.get("classifier"))

    def job(self) -> VerdictsIdentity:
        method = method_of(self.study, self.classifier)
        training = self.study.estimator(self.classifier).TRAINING
        return VerdictsIdentity(
            **self.common,
            samples=self.samples(),
            pairing=self.pairing,
            registered=method.registered,
            parameters={k: v for k, v in method.parameters.items() if k in training},
            classifier=CLASSIFIERS.get(self._kind),
        )

    def modules(self) -> list[str]:
        kinds = [CLASSIFIERS.module(self._kind)] if self._kind in CLASSIFIERS else []
        return self.modules_of(self.classifier) + kinds


@dataclass(frozen=True)
class Answers(_Drawn, rule="answer"):
    """The answers of an estimator that reads samples themselves, of every pair."""

    order: float
    estimator: str

    @staticmethod
    def further(_study: Study, c: Combination, /) -> tuple[float, str]:
        return c.order, c.estimator

    def check(self) -> None:
        super().check()
        self._check_estimator(self.estimator, "samples", self.order)

    def job(self) -> AnswersIdentity:
        return AnswersIdentity(
            **self.common,
            **vars(method_of(self.study, self.estimator)),
            samples=self.samples(),
            pairing=self.pairing,
            order=spell(self.order),
            claims=self.study.claims(self.mechanism, self.epsilon),
        )

    def modules(self) -> list[str]:
        return self.modules_of(self.estimator)


@dataclass(frozen=True)
class _Screened(_Drawn):
    """A product of an entry that screens pairs, to be confirmed by ``fresh`` draws, if any."""

    screen: str
    fresh: int

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[str, int]:
        return str(study.screen(c.estimator)), c.n.fresh

    def check(self) -> None:
        super().check()
        self._check_estimator(self.screen, "losses")

    def beside(self, kind: type[_Screened]) -> Any:
        """Return the product of another kind of the same draws."""
        drawn = (self.mechanism, self.epsilon, self.inputs, self.n, self.batch)
        return kind(self.study, *drawn, self.screen, self.fresh)

    def modules(self) -> list[str]:
        return self.modules_of(self.screen)


@dataclass(frozen=True)
class Losses(_Screened, rule="screen"):
    """The local loss of every pair, and which pair is selected."""

    def job(self) -> LossesIdentity:
        return LossesIdentity(
            **self.common,
            **vars(method_of(self.study, self.screen)),
            samples=self.samples(),
            pairing=self.pairing,
            region=region_of(self.study, self.mechanism),
        )


@dataclass(frozen=True)
class Confirmation(_Screened, rule="confirm"):
    """Fresh samples of the pair that each run selected."""

    def check(self) -> None:
        super().check()
        if not self.fresh:
            raise EpsilometerError(f"n={self.n}+0 must be n+N, with N fresh samples")

    def job(self) -> ConfirmationIdentity:
        """Return the identity of one batch of fresh samples, and that of the losses before it."""
        drawn = vars(self.samples()) | {"stage": "confirm", "sides": 2, "n": self.fresh}
        return ConfirmationIdentity(**drawn, selected_by=self.beside(Losses).job())

    def modules(self) -> list[str]:
        return Samples.of(self.study, self, self.batch).modules()

    def samples_held(self) -> int:
        return self.fresh * self.study.numbers(self.mechanism, self.epsilon)[0]


@dataclass(frozen=True)
class Evidence(_Screened, rule="weigh"):
    """The evidence of fresh samples about the selected pairs."""

    def check(self) -> None:
        self.beside(Confirmation).check()

    def job(self) -> EvidenceIdentity:
        return EvidenceIdentity(**self.common, fresh=self.beside(Confirmation).job())

    def samples_held(self) -> int:
        return int(self.beside(Confirmation).samples_held())


REDUCTIONS: dict[str, type[_Drawn]] = {
    "histograms": Histograms,
    "densities": PairDensities,
    "verdicts": Verdicts,
    "samples": Answers,
    "losses": Losses,
    "evidence": Evidence,
}
"""By the attribute ``reads`` of estimators."""


def region_of(study: Study, mechanism: str) -> list[float] | None:
    """Return the region in which the local loss is searched; None if there is no limit."""
    region = study.mechanisms[mechanism].region
    return None if region is None else list(region)


def method_of(study: Study, estimator: str) -> Method:
    """Return how an estimator is made."""
    method = study.estimators[estimator]
    return Method(registered=ESTIMATORS[method.estimator], parameters=method.parameters)


@dataclass(frozen=True)
class Estimates(Combination, Product, rule="estimate"):
    """The answers of an estimator in every run of one combination."""

    @classmethod
    def of(cls, study: Study, combination: Combination) -> Self:
        """Return the estimates of a combination."""
        return cls(study, **vars(combination))

    def check(self) -> None:
        entry(self.study.estimators, "estimator", self.estimator)
        keys = (self.mechanism, self.epsilon, self.inputs, self.n.first_stage, Batch(0, 0))
        Samples(self.study, *keys).check()
        self.study.check(self)

    def needs(self) -> Needs:
        kind = REDUCTIONS[self.study.estimator(self.estimator).reads]
        batches = self.study.batches(self)
        return {"reductions": [kind.of(self.study, self, batch) for batch in batches]}

    def job(self) -> EstimateJob:
        """Return the identity of one file of estimates, and that of each file it reads."""
        return EstimateJob(
            identity=self.identity(),
            reads=self.study.estimator(self.estimator).reads,
            data=[reduction.spec() for reduction in self.needs()["reductions"]],
        )

    def identity(self) -> EstimatesIdentity:
        """Return the mechanism, inputs and estimator of the estimates."""
        study = self.study
        mechanism = study.mechanisms[self.mechanism]
        screen = study.screen(self.estimator)
        inputs = study.inputs(self.mechanism, self.inputs)
        after = None  # the estimator that chose the pairs, if there was a choice
        if screen is not None and screen != self.estimator:
            after = method_of(study, screen)
        of_pairs = InputsOfPairs(
            id=self.inputs, sides=inputs.sides(), pairing=inputs.pairing, names=inputs.names
        )
        return EstimatesIdentity(
            **self.common,
            **vars(method_of(study, self.estimator)),
            mechanism=self.mechanism,
            mechanism_registered=MECHANISMS[mechanism.mechanism],
            mechanism_parameters=mechanism.parameters,
            epsilon=self.epsilon,
            inputs=of_pairs,
            order=spell(self.order),
            estimator=self.estimator,
            after=after,
            region=region_of(study, self.mechanism) if screen else None,
            claims=study.claims(self.mechanism, self.epsilon),
            cells=study.cells(self),
            n=str(self.n),
            runs=self.runs,
        )

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.estimator].estimator)]
