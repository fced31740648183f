"""The products of sampling, and the reductions of samples before estimation.

Rules are named as in `workflow/rules`. A batch of samples is reduced once for all estimators that
read the same: to histograms, to densities or losses of pairs, to a classifier's verdicts, or to the
evidence of fresh samples.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, TypeVar

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.costs import Load
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction
from epsilometer_workflow.products.products import Needs, Product, Spec, entry

Screened = TypeVar("Screened", bound="_Screened")


@dataclass(frozen=True)
class _Drawn(Product):
    """A product of draws of one mechanism at one epsilon on one set of inputs.

    Unless it is ``searchable``, n may not be a search; unless it has ``two_stages``, not two sizes.
    """

    searchable: ClassVar[bool] = False
    two_stages: ClassVar[bool] = False

    mechanism: str
    epsilon: float
    inputs: str
    n: Draws
    batch: Batch

    @classmethod
    def of(cls, study: Study, c: Combination, batch: Batch) -> Self:
        """Return the product that a combination's estimates need of one batch of runs."""
        return cls(study, c.mechanism, c.epsilon, c.inputs, c.n, batch, *cls.further(study, c))

    @staticmethod
    def further(_study: Study, _c: Combination, /) -> tuple[Any, ...]:
        """Return the fields beyond those of all products of draws."""
        return ()

    def check(self) -> None:
        if self.n.fresh and not self.two_stages:
            message = f"n={self.n} must be one size: fresh samples are confirmations"
            raise EpsilometerError(message)
        if self.n.searched and not self.searchable:
            raise EpsilometerError(f"n={self.n} cannot be searched, only counted in histograms")
        mechanism = entry(self.study.mechanisms, "mechanism", self.mechanism)
        entry(mechanism.inputs, f"inputs of {self.mechanism}", self.inputs)
        self.study.check_inputs(self.mechanism, self.epsilon, self.inputs)

    @property
    def samples(self) -> Samples:
        """The samples that it is made of."""
        return Samples.of(self.study, self, self.batch)

    @property
    def pairing(self) -> str:
        """The pairs of sides."""
        return self.study.pairing(self.mechanism, self.inputs)

    def needs(self) -> Needs:
        return {"samples": [self.samples]}

    def provided(self) -> Spec:
        """Return the provider's claims about the mechanism, as numbers."""
        claims = asdict(self.study.claims(self.mechanism, self.epsilon))
        return {"claims": claims, "region": region_of(self.study, self.mechanism)}

    def load(self) -> Load:
        return self._numbers(self.samples.sides, self.n.first)

    def _numbers(self, sides: int, n: int, name: str = "default") -> Load:
        entries, size = self.study.numbers(self.mechanism, self.epsilon)
        numbers = len(self.batch) * sides * n * entries
        return Load(name=name, numbers=numbers, side=n * entries, bytes=numbers * size)

    def _check_outputs(self, estimator: str) -> None:
        """Raise `EpsilometerError` unless an estimator applies to the mechanism's outputs."""
        outputs = self.study.mechanism(self.mechanism, self.epsilon).outputs
        try:
            self.study.estimator(estimator).check(outputs, math.inf)
        except ArgumentError as error:
            raise EpsilometerError(f"{estimator} on {self.mechanism}: {error}") from None


@dataclass(frozen=True)
class Samples(_Drawn, rule="sample", template=paths.SAMPLE):
    """One batch of samples, of every side."""

    searchable: ClassVar[bool] = True

    @classmethod
    def of(cls, study: Study, c: Combination | _Drawn, batch: Batch) -> Self:
        return cls(study, c.mechanism, c.epsilon, c.inputs, c.n.first_stage, batch)

    def needs(self) -> Needs:
        return {}

    def spec(self) -> Spec:
        mechanism = self.study.mechanisms[self.mechanism]
        values = self.study.input_values(self.mechanism, self.inputs)
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

    def load(self) -> Load:
        registered = self.study.mechanisms[self.mechanism].mechanism
        return self._numbers(self.sides, self.n.first, registered)

    @property
    def sides(self) -> int:
        """The number of sampled inputs."""
        return len(self.study.input_values(self.mechanism, self.inputs))


@dataclass(frozen=True)
class Histograms(_Drawn, rule="histogram", template=paths.HISTOGRAM):
    """Counts of every side; of every prefix, in a search."""

    searchable: ClassVar[bool] = True

    cells: int

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[int]:
        return (study.cells(c),)

    def spec(self) -> Spec:
        claims = self.study.claims(self.mechanism, self.epsilon)
        return self.common | {
            "samples": self.samples.spec(),
            "support": None if claims.support is None else list(claims.support),
            "cells": self.cells,
            "n": str(self.n),
        }


@dataclass(frozen=True)
class PairDensities(_Drawn, rule="density", template=paths.DENSITY):
    """The densities of both sides of every pair."""

    reduction: Reduction

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[Reduction]:
        return (Reduction.of(study.estimator(c.estimator).reduction),)

    def spec(self) -> Spec:
        samples = {"samples": self.samples.spec(), "pairing": self.pairing}
        return self.common | samples | self.reduction.settings


@dataclass(frozen=True)
class Verdicts(_Drawn, rule="classify", template=paths.VERDICTS):
    """The verdicts of a classifier on test draws of every pair."""

    classifier: str

    @staticmethod
    def further(_study: Study, c: Combination, /) -> tuple[str]:
        return (c.estimator,)

    def check(self) -> None:
        super().check()
        entry(self.study.estimators, "estimator", self.classifier)
        if self.study.estimator(self.classifier).reads != "verdicts":
            raise EpsilometerError(f"{self.classifier} is not a classifier")
        self._check_outputs(self.classifier)

    def spec(self) -> Spec:
        method = self.study.estimators[self.classifier]
        training = self.study.estimator(self.classifier).TRAINING
        kind = CLASSIFIERS.get(str(method.parameters.get("classifier")))
        return self.common | {
            "samples": self.samples.spec(),
            "pairing": self.pairing,
            "registered": ESTIMATORS[method.estimator],
            "classifier": kind,
            "parameters": {k: v for k, v in method.parameters.items() if k in training},
        }

    def modules(self) -> list[str]:
        method = self.study.estimators[self.classifier]
        modules = [ESTIMATORS.module(method.estimator)]
        kind = str(method.parameters.get("classifier"))
        return [*modules, CLASSIFIERS.module(kind)] if kind in CLASSIFIERS else modules

    def load(self) -> Load:
        """Return the numbers that are read, and by which classifier, or class of scikit-learn."""
        parameters = self.study.estimators[self.classifier].parameters
        options = parameters.get("options")
        name = options.get("name") if isinstance(options, dict) else None
        kind = str(name or parameters["classifier"]).rpartition(".")[2]
        return self._numbers(self.samples.sides, self.n.first, kind)


@dataclass(frozen=True)
class _Screened(_Drawn):
    """A product of an entry that screens pairs; ``n`` may name fresh draws, too."""

    two_stages: ClassVar[bool] = True

    screen: str

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[str]:
        return (str(study.screen(c.estimator)),)

    def check(self) -> None:
        super().check()
        entry(self.study.estimators, "estimator", self.screen)
        if self.study.screen(self.screen) != self.screen:
            raise EpsilometerError(f"{self.screen} chooses no pair, so it cannot screen pairs")
        self._check_outputs(self.screen)

    @property
    def losses(self) -> Losses:
        """The losses that select a pair."""
        return self._as(Losses)

    def _as(self, kind: type[Screened]) -> Screened:
        drawn = (self.mechanism, self.epsilon, self.inputs, self.n, self.batch)
        return kind(self.study, *drawn, self.screen)

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.screen].estimator)]


@dataclass(frozen=True)
class Losses(_Screened, rule="screen", template=paths.LOSSES):
    """The local loss of every pair, and which pair is selected."""

    def spec(self) -> Spec:
        screen = self.study.estimators[self.screen]
        return self.common | {
            "samples": self.samples.spec(),
            "registered": ESTIMATORS[screen.estimator],
            "parameters": dict(screen.parameters),
            "region": region_of(self.study, self.mechanism),
            "pairing": self.pairing,
            "draws": self.n.fresh or self.n.first,
        }

    def load(self) -> Load:
        registered = self.study.estimators[self.screen].estimator
        return self._numbers(self.samples.sides, self.n.first, registered)


@dataclass(frozen=True)
class Confirmation(_Screened, rule="confirm", template=paths.CONFIRMATION):
    """Fresh samples of the pair that each run selected."""

    def check(self) -> None:
        super().check()
        if not self.n.fresh:
            raise EpsilometerError(f"n={self.n} must be n+N, with N fresh samples")

    def needs(self) -> Needs:
        return {"losses": [self.losses]}

    def spec(self) -> Spec:
        """Return the identity of one batch of fresh samples, and that of the losses before it."""
        drawn = {"stage": "confirm", "sides": 2, "n": self.n.fresh}
        return self.samples.spec() | drawn | {"selected_by": self.losses.spec()}

    def modules(self) -> list[str]:
        return self.samples.modules()

    def load(self) -> Load:
        return self._numbers(2, self.n.fresh, self.samples.load().name)


@dataclass(frozen=True)
class Evidence(_Screened, rule="weigh", template=paths.EVIDENCE):
    """The evidence of fresh samples about the selected pairs."""

    def check(self) -> None:
        self._confirmation.check()

    @property
    def _confirmation(self) -> Confirmation:
        return self._as(Confirmation)

    def needs(self) -> Needs:
        return {"samples": [self._confirmation], "losses": [self.losses]}

    def spec(self) -> Spec:
        return self.common | {"fresh": self._confirmation.spec()}

    def load(self) -> Load:
        return self._numbers(2, self.n.fresh)


REDUCTIONS: dict[str, type[_Drawn]] = {
    "histograms": Histograms,
    "densities": PairDensities,
    "verdicts": Verdicts,
    "losses": Losses,
    "evidence": Evidence,
}
"""By the attribute ``reads`` of estimators."""


def region_of(study: Study, mechanism: str) -> list[float] | None:
    """Return the region in which the local loss is searched; None if there is no limit."""
    region = study.mechanisms[mechanism].region
    return None if region is None else list(region)
