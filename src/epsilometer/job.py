"""What every job of the workflow shares: a log, progress, and errors in one line."""

from __future__ import annotations

import ctypes
import fcntl
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError, one_line

_SECONDS_BETWEEN_LINES = 5.0
_PR_SET_PDEATHSIG = 1


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], None]]:
    """Run the body of a script; gives a function that reports progress.

    The log tells when the job began, how far it is and why it failed (with the traceback where the
    failure is ours); the terminal shows one line.
    """
    _die_with_parent()
    log_file = Path(str(snakemake.log[0]))
    log_file.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=log_file, filemode="w", format="%(asctime)s %(message)s", level=logging.INFO
    )
    what = f"{snakemake.rule} {' '.join(snakemake.wildcards)}".strip()
    logging.info("start %s", what)
    began = last = time.monotonic()

    def progress(message: str) -> None:
        nonlocal last
        logging.info(message)
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"{what}: {message}", file=sys.stderr, flush=True)

    try:
        yield progress
    except EpsilometerError as error:
        _fail(what, one_line(error))
    except Exception as error:
        logging.exception("failed")
        _fail(what, f"{type(error).__name__}: {one_line(error)} (traceback in {log_file})")
    logging.info("done in %.1f s", time.monotonic() - began)


@dataclass
class RunLock:
    """Held while Snakemake runs, so that no two runs write into one folder.

    The kernel lets go of it when the process ends, however it ends: nothing is ever to be unlocked.
    """

    folder: str = ".snakemake"

    def acquire(self, results: str) -> None:
        """Take the lock and clear away what an interrupted run left half-written."""
        path = Path(self.folder, "epsilometer.lock")
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            raise EpsilometerError(
                f"another run (process {self._file.read() or '?'}) is at work in this folder; "
                "wait for it or stop it"
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
        for left in Path(results).rglob("*.part.*"):
            left.unlink(missing_ok=True)


def use_this_library() -> None:
    """Let the jobs that this process starts import the library it has imported itself."""
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = dict.fromkeys([str(Path(__file__).parents[1]), *filter(None, others)])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def _fail(what: str, message: str) -> None:
    logging.error("failed: %s", message)
    print(f"epsilometer: {message} [{what}]", file=sys.stderr, flush=True)
    raise SystemExit(1)


def _die_with_parent() -> None:
    """Ask Linux to end this job with Snakemake, so that no orphan writes into a later run."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
