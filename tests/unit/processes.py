"""Waiting for processes that tests start, and for files that these write."""

import time
from collections.abc import Callable
from pathlib import Path


def until(happens: Callable[[], object], seconds: float = 40) -> bool:
    """Wait until something is so; tell whether it came in time."""
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(process: int) -> bool:
    """Tell whether a process is over; zombies wait for a parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def pid_in(file: Path) -> int:
    """Return the process that a file names, once it does."""
    assert until(lambda: file.is_file() and file.read_text(), 60)
    return int(file.read_text())
