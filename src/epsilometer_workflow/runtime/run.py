"""A run of Snakemake: it locks its folder, removes half-written files and uses this library."""

from __future__ import annotations

import fcntl
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError
from epsilometer.processes import COMMON_ARITHMETIC, ONE_THREAD
from epsilometer_workflow.runtime.variables import RUN, SERVER


@dataclass
class Lock:
    """Held while Snakemake runs, so that no two runs write into one folder.

    The kernel releases it when the process ends, also after a crash: no manual unlock is needed.
    """

    folder: str = ".snakemake"

    def acquire(self) -> None:
        """Take the lock; raise `EpsilometerError` if another run holds it."""
        path = Path(self.folder, "epsilometer.lock")
        try:
            path.parent.mkdir(exist_ok=True)
            self._file = path.open("a+", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            raise EpsilometerError(
                f"another run (process {self._file.read() or '?'}) is at work in this folder; "
                "wait for it or stop it"
            ) from None
        except OSError as error:
            raise EpsilometerError(
                f"{path}: cannot be locked ({error.strerror}); work in a folder that can"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()


def clear_halves(results: str) -> None:
    """Delete the half-written files of an interrupted run."""
    for left in Path(results).rglob("*.part.*"):
        left.unlink(missing_ok=True)


def use_this_library(before: Path, code: Iterable[Path] = ()) -> None:
    """Make jobs of this process import the same library as it, compute alike, and end with it.

    ``before`` is a folder of packages that come first in their path, ``code`` are those of a study.
    So tables are the same to the byte on processors of this kind; see docs/verify.md.
    """
    if platform.machine() == "x86_64":
        os.environ.update({**COMMON_ARITHMETIC, **os.environ})
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    ours = [before, Path(__file__).parents[2], *(folder.resolve() for folder in code)]
    paths = dict.fromkeys([*map(str, ours), *filter(None, others)])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ[RUN] = str(os.getpid())  # jobs end when this process ends


def without_rate_limit(workflow: Any) -> bool:
    """Remove Snakemake's limit of job starts; return whether that worked.

    With one, however high, each round of the scheduler and each job that ends starts a timer for
    another round, which looks at every job again: threads and rounds pile up over a long run. The
    name is internal to Snakemake; where it is gone, the profile's limit stays.
    """
    scheduler: Any = getattr(workflow, "scheduler", None)
    if getattr(scheduler, "job_rate_limiter", None) is None:
        return False
    scheduler.job_rate_limiter = None
    scheduler.resources["_job_count"] = scheduler.global_resources["_job_count"]
    return True


_server: subprocess.Popen[bytes] | None = None


def start_forkserver() -> None:
    """Start the server that forks this run's jobs."""
    global _server  # noqa: PLW0603 (one a run)
    if (_server is not None and _server.poll() is None) or sys.platform != "linux":
        return
    prefix = f"epsilometer-{socket.gethostname()[:40]}-"
    for left in Path(".snakemake").glob(f"{prefix}*.socket"):
        run = left.stem.removeprefix(prefix)
        if run.isdigit() and not Path("/proc", run).exists():  # which was killed
            left.unlink(missing_ok=True)
    path = Path(".snakemake", f"{prefix}{os.getpid()}.socket")
    path.unlink(missing_ok=True)
    # Not by -m: that would load it a second time, beside the module that jobs import.
    program = "from epsilometer_workflow.runtime.forkserver import main; main()"
    log = Path(".snakemake", "log", f"{path.stem}.log")
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as file:
        _server = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", program, str(path), str(os.getpid())],
            env=os.environ | ONE_THREAD,
            start_new_session=True,  # Ctrl-C goes to the run, which ends its jobs
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    os.environ[SERVER] = f"{os.getpid()}|{sys.prefix}|{path}"
