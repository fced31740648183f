"""An environment for audits as a product: made once from its lock, for all scales and files."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.products.products import Product, Spec, entry


@dataclass(frozen=True)
class Environment(Product, rule="environment", template=paths.ENVIRONMENT):
    """A folder with an interpreter and the packages of a lock; or the reason why there is none.

    Its name holds a digest of the lock, so that another lock is another environment.
    """

    environment: str

    def check(self) -> None:
        entry(self.study.locks_like(self.environment), "environment", self.environment)

    def spec(self) -> Spec:
        requirements = list(self.study.locks_like(self.environment)[self.environment].statements)
        return {"requirements": requirements, "python": platform.python_version()}
