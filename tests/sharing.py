"""Results made once for all workers of xdist, in a folder that they share."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(make: Callable[[Path], object], name: str, factory: pytest.TempPathFactory) -> Path:
    """Return a path at which the first worker makes something, and all others find it."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Path(f"{path}.done")
        if not done.exists():
            make(path)
            done.touch()
    return path
