"""What every job of the workflow shares: a log, progress, and errors in one line."""

from __future__ import annotations

import errno
import fcntl
import glob
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epsilometer.errors import DamagedError, EpsilometerError, one_line
from epsilometer.watch import RUN, Limits, Usage, done, failed, watched

_SECONDS_BETWEEN_LINES = 5.0
_log = logging.getLogger("epsilometer")
_log.setLevel(logging.INFO)


@contextmanager
def job(snakemake: Any) -> Iterator[Callable[[str], None]]:
    """Run the body of a script, watched; gives a function that reports progress.

    The log tells when the job began, how far it is, what it printed, why it failed (with the
    traceback where the failure is ours) and what it took; the terminal shows one line.
    """
    log_file = Path(str(snakemake.log[0]))
    what = f"{snakemake.rule} {' '.join(snakemake.wildcards)}".strip()
    try:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        logging.basicConfig(
            filename=log_file, filemode="w", format="%(asctime)s %(message)s", level=logging.WARNING
        )
    except OSError as error:
        _tell(f"{_cannot(error, log_file)} [{what}]")
        raise SystemExit(1) from None
    logging.raiseExceptions = False  # a full disk ends a job by its output, not by its log
    _log.info("start %s%s", what, _allocation())

    def keep(printed: str) -> None:
        _log.info("printed: %s", printed.rstrip("\n"))

    def ended(usage: Usage, cause: str | None) -> None:
        if cause is not None:
            _clear_halves_of(snakemake.output)
            _tell(f"{cause}{_higher(cause, snakemake)} (log: {log_file}) [{what}]")
        _log.info("took %s", usage)

    resources = snakemake.resources
    limits = Limits(minutes=resources.get("runtime"), megabytes=resources.get("mem_mb"))
    terminal = watched(limits, keep, ended)
    last = time.monotonic()

    def progress(message: str) -> None:
        nonlocal last
        _log.info(message)
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            with suppress(OSError):
                os.write(terminal, f"{what}: {message}\n".encode())

    try:
        yield progress
    except DamagedError as error:
        message = _set_aside(error)
    except EpsilometerError as error:
        message = one_line(error)
    except OSError as error:
        _log.exception("failed")
        message = _cannot(error, snakemake.output[0])
    except Exception as error:
        _log.exception("failed")
        message = f"{type(error).__name__}: {one_line(error)} (traceback in {log_file})"
    else:
        done()
    _tell(f"{message} [{what}]", terminal)
    failed()


@dataclass
class RunLock:
    """Held while Snakemake runs, so that no two runs write into one folder.

    The kernel lets go of it when the process ends, however it ends: nothing is ever to be unlocked.
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
    """Delete what an interrupted run left half-written."""
    for left in Path(results).rglob("*.part.*"):
        left.unlink(missing_ok=True)


def _clear_halves_of(outputs: Iterable[str]) -> None:
    """Delete what a job that was stopped left half-written."""
    for output in map(Path, outputs):
        for left in output.parent.glob(f"{glob.escape(output.stem)}.*.part.*"):
            with suppress(OSError):
                left.unlink()


def use_this_library() -> None:
    """Let the jobs that this process starts import the library it has imported, and end with it."""
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = dict.fromkeys([str(Path(__file__).parents[1]), *filter(None, others)])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ[RUN] = str(os.getpid())  # with which they end


def _allocation() -> str:
    """Return where a cluster runs this job; nothing on a workstation."""
    number = os.environ.get("SLURM_JOB_ID")
    return f" (SLURM job {number} on {socket.gethostname()})" if number else ""


def _tell(message: str, terminal: int = 2) -> None:
    """Say in log and terminal why a job failed."""
    _log.error("failed: %s", message)
    with suppress(OSError):
        os.write(terminal, f"epsilometer: {message}\n".encode())


def _cannot(error: OSError, file: object) -> str:
    """Return what a file system refused, and what helps."""
    what = f"{error.filename or file}: {os.strerror(error.errno) if error.errno else error}"
    helps = {
        errno.ENOSPC: "; free some space and give the same command again",
        errno.EDQUOT: "; free some space and give the same command again",
        errno.EROFS: "; results/ must be writable",
        errno.EACCES: "; results/ must be writable",
    }
    return one_line(what) + helps.get(error.errno or 0, "")


def _higher(cause: str, snakemake: Any) -> str:
    """Return how to raise the limit that a job was stopped at."""
    for limit, resource in (("memory", "mem_mb"), ("longer", "runtime")):
        if limit in cause and "limit" in cause:
            more = 2 * snakemake.resources.get(resource)
            return f"; if it needs more: --set-resources {snakemake.rule}:{resource}={more}"
    return ""


def _set_aside(error: DamagedError) -> str:
    """Delete a damaged file, as nothing else can be done with it, and say so."""
    try:
        Path(error.path).unlink(missing_ok=True)
    except OSError:
        return f"{error}; delete it and give the same command again"
    return f"{error}; it is deleted now, and the same command makes it again"
