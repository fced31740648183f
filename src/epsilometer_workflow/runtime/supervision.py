"""A job's log, progress, watch, errors in one line, and usage."""

from __future__ import annotations

import errno
import glob
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from epsilometer.errors import DamagedError, EpsilometerError, one_line
from epsilometer_workflow.runtime.forkserver import client
from epsilometer_workflow.runtime.watch import OUTSIDE, done, failed, watched

_SECONDS_BETWEEN_LINES = 5.0
_log = logging.getLogger("epsilometer")
_log.setLevel(logging.INFO)


@contextmanager
def kept(
    snakemake: Any, stopped: Callable[[str], None] | None = None
) -> Iterator[Callable[[str], None]]:
    """Run the body, watched, as the job of a script; yields a function that reports progress.

    The log has the job's start, progress and output, the cause of a failure (with the
    traceback where the failure is ours) and its usage; the terminal shows one line. For
    ``stopped`` see `epsilometer_workflow.runtime.job.start`.
    """
    log_file = Path(str(snakemake.log[0]))
    title = f"{snakemake.rule} {' '.join(snakemake.wildcards)}".strip()
    _open_log(log_file, title)

    def keep(printed: str) -> None:
        _log.info("printed: %s", printed.rstrip("\n"))

    def ended(usage: str, cause: str | None) -> bool:
        has_substitute = False
        if cause is not None:
            _clear_halves_of(snakemake.output)
            _report(f"{cause} (log: {log_file}) [{title}]")
            if cause not in OUTSIDE:
                has_substitute = _substituted(stopped, cause, log_file)
        _log.info("took %s", usage)
        return has_substitute

    terminal = watched(keep, ended, client())
    last = time.monotonic()

    def progress(message: str) -> None:
        nonlocal last
        _log.info(message)
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            with suppress(OSError):
                os.write(terminal, f"{title}: {message}\n".encode())

    try:
        yield progress
    except DamagedError as error:
        message = _set_aside(error)
    except EpsilometerError as error:
        message = one_line(error)
    except OSError as error:
        _log.exception("failed")
        message = _refused(error, snakemake.output[0])
    except Exception as error:
        _log.exception("failed")
        message = f"{type(error).__name__}: {one_line(error)} (traceback in {log_file})"
    else:
        done()
    _report(f"{message} [{title}]", terminal)
    failed()


def _open_log(log_file: Path, title: str) -> None:
    try:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        logging.basicConfig(
            filename=log_file, filemode="w", format="%(asctime)s %(message)s", level=logging.WARNING
        )
    except OSError as error:
        _report(f"{_refused(error, log_file)} [{title}]")
        raise SystemExit(1) from None
    logging.raiseExceptions = False  # on a full disk the output fails the job, not the log
    _log.info("start %s%s", title, _allocation())


def _substituted(stopped: Callable[[str], None] | None, line: str, log_file: Path) -> bool:
    """Write a substitute for the outputs, and a note of it; return whether that worked."""
    if stopped is None:
        return False
    try:
        stopped(line)
        with log_file.with_suffix(".stopped").open("a", encoding="utf-8") as notes:
            notes.write(f"{line}\n")
    except Exception:
        _log.exception("failed")
        return False
    return True


def _clear_halves_of(outputs: Iterable[str]) -> None:
    """Delete the half-written files of a job that was stopped."""
    for output in map(Path, outputs):
        for left in output.parent.glob(f"{glob.escape(output.stem)}.*.part.*"):
            with suppress(OSError):
                left.unlink()


def _allocation() -> str:
    """Return where a cluster runs this job; nothing on a workstation."""
    number = os.environ.get("SLURM_JOB_ID")
    node = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
    return f" (SLURM job {number} on {node})" if number else ""


def _report(message: str, terminal: int = 2) -> None:
    """Write to log and terminal why a job failed."""
    _log.error("failed: %s", message)
    with suppress(OSError):
        os.write(terminal, f"epsilometer: {message}\n".encode())


def _refused(error: OSError, file: object) -> str:
    """Return the error of a file system, and a remedy."""
    message = f"{error.filename or file}: {os.strerror(error.errno) if error.errno else error}"
    helps = {
        errno.ENOSPC: "; free some space and give the same command again",
        errno.EDQUOT: "; free some space and give the same command again",
        errno.EROFS: "; results/ must be writable",
        errno.EACCES: "; results/ must be writable",
    }
    return one_line(message) + helps.get(error.errno or 0, "")


def _set_aside(error: DamagedError) -> str:
    """Delete a damaged file, which cannot be repaired, and say so."""
    try:
        Path(error.path).unlink(missing_ok=True)
    except OSError:
        return f"{error}; delete it and give the same command again"
    return f"{error}; it is deleted now, and the same command makes it again"
