"""An environment for audits as a product: made once from its lock, for all scales and files."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import ClassVar

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.products.products import Needs, Product, Spec, entry


@dataclass(frozen=True)
class Environment(Product):
    """A folder with an interpreter and the packages of a lock; or the reason why there is none.

    Its name holds a digest of the lock, so that another lock is another environment.
    """

    rule: ClassVar[str] = "environment"
    template: ClassVar[str] = paths.ENVIRONMENT

    environment: str

    def check(self) -> None:
        entry(self.study.locks, "environment", self.environment)

    def needs(self) -> Needs:
        """Return nothing: the lock is in the spec."""
        return {}

    def spec(self) -> Spec:
        requirements = list(self.study.locks[self.environment].statements)
        return {"requirements": requirements, "python": platform.python_version()}
