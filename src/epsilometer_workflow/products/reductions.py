"""The products of sampling, the reductions of samples before estimation, and the estimates.

Rules are named as in `workflow/rules`. A batch of samples is reduced once for all estimators that
read the same: to histograms, to densities or losses of pairs, to a classifier's verdicts, or to the
evidence of fresh samples. An estimator that reads the samples themselves answers from each batch.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction, spell
from epsilometer_workflow.products.products import Needs, Product, Spec, entry


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

    def of_samples(self) -> Spec:
        """Return the identity of the samples that it is made of, with what all files have."""
        return self.common | {"samples": Samples.of(self.study, self, self.batch).spec()}

    def of_pairs(self) -> Spec:
        """Return the same, with the pairs of sides."""
        inputs = self.study.inputs(self.mechanism, self.inputs)
        return self.of_samples() | {"pairing": inputs.pairing}

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

    def spec(self) -> Spec:
        mechanism = self.study.mechanisms[self.mechanism]
        values = self.study.inputs(self.mechanism, self.inputs).sides()
        return self.common | {
            "stage": "main",
            "mechanism": self.mechanism,
            "registered": MECHANISMS[mechanism.mechanism],
            "parameters": dict(mechanism.parameters),
            "epsilon": self.epsilon,
            "inputs": {"id": self.inputs, "values": values},
            "sides": self.sides,
            "n": self.n.first,
            "runs": [self.batch.first, self.batch.last],
        }

    def modules(self) -> list[str]:
        return [MECHANISMS.module(self.study.mechanisms[self.mechanism].mechanism)]

    def described(self) -> Spec:
        """Return its identity, with what the provider claims."""
        claims = asdict(self.study.claims(self.mechanism, self.epsilon))
        region = region_of(self.study, self.mechanism)
        return {"identity": self.spec(), "claims": claims, "region": region}

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

    def spec(self) -> Spec:
        support = self.study.claims(self.mechanism, self.epsilon).support
        interval = None if support is None else list(support)
        return self.of_samples() | {"support": interval, "cells": self.cells, "n": str(self.n)}


@dataclass(frozen=True)
class PairDensities(_Drawn, rule="density"):
    """The densities of both sides of every pair."""

    reduction: Reduction

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[Reduction]:
        return (Reduction.of(study.estimator(c.estimator).reduction),)

    def spec(self) -> Spec:
        return self.of_pairs() | self.reduction.settings


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

    def spec(self) -> Spec:
        method = method_of(self.study, self.classifier)
        training = self.study.estimator(self.classifier).TRAINING
        used = {name: value for name, value in method["parameters"].items() if name in training}
        kind = CLASSIFIERS.get(self._kind)
        return self.of_pairs() | method | {"classifier": kind, "parameters": used}

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

    def spec(self) -> Spec:
        claims = asdict(self.study.claims(self.mechanism, self.epsilon))
        goal = {"lambda": spell(self.order), "claims": claims}
        return self.of_pairs() | method_of(self.study, self.estimator) | goal

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

    def spec(self) -> Spec:
        region = {"region": region_of(self.study, self.mechanism)}
        return self.of_pairs() | method_of(self.study, self.screen) | region


@dataclass(frozen=True)
class Confirmation(_Screened, rule="confirm"):
    """Fresh samples of the pair that each run selected."""

    def check(self) -> None:
        super().check()
        if not self.fresh:
            raise EpsilometerError(f"n={self.n}+0 must be n+N, with N fresh samples")

    def spec(self) -> Spec:
        """Return the identity of one batch of fresh samples, and that of the losses before it."""
        drawn = {"stage": "confirm", "sides": 2, "n": self.fresh}
        selected = {"selected_by": self.beside(Losses).spec()}
        return Samples.of(self.study, self, self.batch).spec() | drawn | selected

    def modules(self) -> list[str]:
        return Samples.of(self.study, self, self.batch).modules()

    def samples_held(self) -> int:
        return self.fresh * self.study.numbers(self.mechanism, self.epsilon)[0]


@dataclass(frozen=True)
class Evidence(_Screened, rule="weigh"):
    """The evidence of fresh samples about the selected pairs."""

    def check(self) -> None:
        self.beside(Confirmation).check()

    def spec(self) -> Spec:
        return self.common | {"fresh": self.beside(Confirmation).spec()}

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


def method_of(study: Study, estimator: str) -> Spec:
    """Return how an estimator is made."""
    method = study.estimators[estimator]
    return {"registered": ESTIMATORS[method.estimator], "parameters": dict(method.parameters)}


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

    def spec(self) -> Spec:
        """Return the identity of one file of estimates, and that of each file it reads."""
        return {
            "identity": self.identity(),
            "reads": self.study.estimator(self.estimator).reads,
            "data": [reduction.spec() for reduction in self.needs()["reductions"]],
        }

    def identity(self) -> Spec:
        """Return the mechanism, inputs and estimator of the estimates."""
        study = self.study
        mechanism = study.mechanisms[self.mechanism]
        screen = study.screen(self.estimator)
        inputs = study.inputs(self.mechanism, self.inputs)
        after = None  # the estimator that chose the pairs, if there was a choice
        if screen is not None and screen != self.estimator:
            after = method_of(study, screen)
        of_inputs = {"id": self.inputs, "values": inputs.sides()}
        of_pairs = {"pairing": inputs.pairing, "names": inputs.names}
        return self.common | {
            "mechanism": self.mechanism,
            "mechanism_registered": MECHANISMS[mechanism.mechanism],
            "mechanism_parameters": dict(mechanism.parameters),
            "epsilon": self.epsilon,
            "inputs": of_inputs | of_pairs,
            "lambda": spell(self.order),
            "estimator": self.estimator,
            **method_of(study, self.estimator),
            "after": after,
            "region": region_of(study, self.mechanism) if screen else None,
            "claims": asdict(study.claims(self.mechanism, self.epsilon)),
            "cells": study.cells(self),
            "n": str(self.n),
            "runs": self.runs,
        }

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.estimator].estimator)]
