"""Audits of any mechanism: arrays of outputs in, a verdict out.

The package can be called: `epsilometer.audit(...)` is `epsilometer.audit.auditing.audit`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that stands for the function of its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from epsilometer.audit.auditing import audit

        return audit(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
