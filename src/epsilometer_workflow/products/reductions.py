"""The products of sampling, and the reductions of samples before estimation.

Rules are named as in `workflow/rules`. A batch of samples is reduced once for all estimators that
read the same: to histograms, to densities or losses of pairs, to a classifier's verdicts, or to the
evidence of fresh samples. An estimator that reads the samples themselves answers from each batch.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, TypeVar

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.parsing import Batch, Draws, Reduction, spell
from epsilometer_workflow.products.products import Product, Spec, entry

Screened = TypeVar("Screened", bound="_Screened")


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

    @property
    def samples(self) -> Samples:
        """The samples that it is made of."""
        return Samples.of(self.study, self, self.batch)

    @property
    def pairing(self) -> str:
        """The pairs of sides."""
        return self.study.pairing(self.mechanism, self.inputs)

    def provided(self) -> Spec:
        """Return the provider's claims about the mechanism, as numbers."""
        claims = asdict(self.study.claims(self.mechanism, self.epsilon))
        return {"claims": claims, "region": region_of(self.study, self.mechanism)}

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

    @property
    def sides(self) -> int:
        """The number of sampled inputs."""
        return len(self.study.input_values(self.mechanism, self.inputs))


@dataclass(frozen=True)
class Histograms(_Drawn, rule="histogram"):
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
class PairDensities(_Drawn, rule="density"):
    """The densities of both sides of every pair."""

    reduction: Reduction

    @staticmethod
    def further(study: Study, c: Combination, /) -> tuple[Reduction]:
        return (Reduction.of(study.estimator(c.estimator).reduction),)

    def spec(self) -> Spec:
        samples = {"samples": self.samples.spec(), "pairing": self.pairing}
        return self.common | samples | self.reduction.settings


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
        method = self.study.estimators[self.estimator]
        return self.common | {
            "samples": self.samples.spec(),
            "pairing": self.pairing,
            "registered": ESTIMATORS[method.estimator],
            "parameters": dict(method.parameters),
            "lambda": spell(self.order),
            "claims": self.provided()["claims"],
        }

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.estimator].estimator)]


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

    @property
    def losses(self) -> Losses:
        """The losses that select a pair."""
        return self._as(Losses)

    def _as(self, kind: type[Screened]) -> Screened:
        drawn = (self.mechanism, self.epsilon, self.inputs, self.n, self.batch)
        return kind(self.study, *drawn, self.screen, self.fresh)

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.screen].estimator)]


@dataclass(frozen=True)
class Losses(_Screened, rule="screen"):
    """The local loss of every pair, and which pair is selected."""

    def spec(self) -> Spec:
        screen = self.study.estimators[self.screen]
        return self.common | {
            "samples": self.samples.spec(),
            "registered": ESTIMATORS[screen.estimator],
            "parameters": dict(screen.parameters),
            "region": region_of(self.study, self.mechanism),
            "pairing": self.pairing,
        }


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
        return self.samples.spec() | drawn | {"selected_by": self.losses.spec()}

    def modules(self) -> list[str]:
        return self.samples.modules()

    def samples_held(self) -> int:
        return self.fresh * self.study.numbers(self.mechanism, self.epsilon)[0]


@dataclass(frozen=True)
class Evidence(_Screened, rule="weigh"):
    """The evidence of fresh samples about the selected pairs."""

    def check(self) -> None:
        self._confirmation.check()

    @property
    def _confirmation(self) -> Confirmation:
        return self._as(Confirmation)

    def spec(self) -> Spec:
        return self.common | {"fresh": self._confirmation.spec()}

    def samples_held(self) -> int:
        return self._confirmation.samples_held()


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
