"""Results made once for all workers of xdist, in a folder that they share."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def build_once(build: Callable[[Path], object], name: str, factory: pytest.TempPathFactory) -> Path:
    """Return a path that the first worker builds, and the others read."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Path(f"{path}.done")
        if not done.exists():
            build(path)
            done.touch()
    return path
