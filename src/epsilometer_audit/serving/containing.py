"""What a mechanism changes in its process: ended or undone after each call."""

from __future__ import annotations

import contextlib
import decimal
import os
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

from .optional import np


class ProcessExit(SystemExit):
    """A call of `os._exit`, which would end an audit before its verdict."""


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Let `os._exit` raise `ProcessExit`, and restore settings that change what our code does.

    They are the errors of NumPy, the filters of warnings and the context of decimals. A fork of
    this process ends as it does elsewhere.
    """
    owner, end, filters = os.getpid(), os._exit, warnings.filters[:]
    errors: Any = contextlib.nullcontext() if np is None else np.errstate()

    def raise_exit(status: int) -> NoReturn:
        if os.getpid() != owner:
            end(status)
        raise ProcessExit(status)

    with decimal.localcontext(), errors:
        os._exit = raise_exit
        try:
            yield
        finally:
            os._exit = end
            if warnings.filters != filters:
                warnings.filters[:] = filters  # type: ignore[index]
