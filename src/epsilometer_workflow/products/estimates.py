"""The product of estimating: the answers of one estimator on one mechanism, in every run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Self

from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.parsing import Batch, spell
from epsilometer_workflow.products.products import Needs, Product, Spec, entry
from epsilometer_workflow.products.reductions import REDUCTIONS, Samples, region_of


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
        mechanism, estimator = study.mechanisms[self.mechanism], study.estimators[self.estimator]
        inputs, screen = study.inputs(self.mechanism, self.inputs), study.screen(self.estimator)
        of_inputs = {"id": self.inputs, "values": inputs.sides()}
        of_pairs = {"pairing": inputs.pairing, "names": inputs.names()}
        return self.common | {
            "mechanism": self.mechanism,
            "mechanism_registered": MECHANISMS[mechanism.mechanism],
            "mechanism_parameters": dict(mechanism.parameters),
            "epsilon": self.epsilon,
            "inputs": of_inputs | of_pairs,
            "lambda": spell(self.order),
            "estimator": self.estimator,
            "registered": ESTIMATORS[estimator.estimator],
            "parameters": dict(estimator.parameters),
            "after": self._after(screen),
            "region": region_of(study, self.mechanism) if screen else None,
            "claims": asdict(study.claims(self.mechanism, self.epsilon)),
            "cells": study.cells(self),
            "n": str(self.n),
            "runs": self.runs,
        }

    def _after(self, screen: str | None) -> Spec | None:
        """Return the estimator that chose the pairs, if there was a choice."""
        if screen in (None, self.estimator):
            return None
        method = self.study.estimators[screen]
        return {"registered": ESTIMATORS[method.estimator], "parameters": dict(method.parameters)}

    def modules(self) -> list[str]:
        return [ESTIMATORS.module(self.study.estimators[self.estimator].estimator)]
