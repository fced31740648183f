"""Processes that tests start: their output, their end, and files that they write."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def ran(*command: str, **how: Any) -> "subprocess.CompletedProcess[str]":
    """Return a command with its output, once it has ended; ``how`` has its folder and variables."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


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
