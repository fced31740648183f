"""Checks before a run on SLURM: it answers, folders have plain names, no earlier jobs are left.

When Snakemake is killed its submitted jobs run on, and would write into the next run's files. They
are recognised by their name (the profile's prefix) and their working directory.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from epsilometer.errors import EpsilometerError

_PREFIX = "epsilometer_"
_SUBMITTED = Path(".snakemake/slurm_logs")  # exists once a job was submitted from here
_SECONDS = 60
_TAKEN_APART = re.compile(r"[^\w@%+=:,./~-]")  # characters that a shell may interpret


def refuse_unquotable(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `EpsilometerError` for a folder name that a shell would change.

    Snakemake writes it into commands of the cluster; a shell would run the text in ``$(...)``.
    """
    for folder in folders:
        if match := _TAKEN_APART.search(str(folder)):
            raise EpsilometerError(
                f"{str(folder)!r}: must not have {match[0]!r} in its name, because a shell of the "
                "cluster may change it; use letters, digits and ._-"
            )


def refuse_without_slurm() -> None:
    """Raise `EpsilometerError` where no job can be submitted: Snakemake would wait for ever."""
    if shutil.which("sbatch") is None:
        raise EpsilometerError(
            "sbatch: not found; start this command where SLURM is, or without --profile"
        )
    if _ask("scontrol", "ping") is None:
        raise EpsilometerError("scontrol ping: SLURM does not answer; try again when it does")


def cancel_orphans() -> None:
    """Cancel the jobs that earlier runs of this folder left on the cluster; wait for their end.

    Raises `EpsilometerError` if that takes longer than a minute, or SLURM does not answer.
    """
    if not _SUBMITTED.is_dir() or shutil.which("squeue") is None:
        return
    deadline = time.monotonic() + _SECONDS
    while (left := _orphans()) is None or left:
        if time.monotonic() > deadline:
            silent = (
                "SLURM does not answer, and jobs of an earlier run may still be at work; "
                f"try again when it does, or delete {_SUBMITTED} if there is no cluster any more"
            )
            ids = " ".join(left or [])
            lasting = f"SLURM jobs of an interrupted run do not end: {ids}; wait, or scancel them"
            raise EpsilometerError(silent if left is None else lasting)
        if left:
            _ask("scancel", "--signal=KILL", "--full", *left)
            _ask("scancel", *left)  # pending jobs
        time.sleep(1)


def _orphans() -> list[str] | None:
    """Return the ids of this user's jobs that were submitted from here, if SLURM answers."""
    listed = _ask("squeue", "--noheader", f"--user={os.getuid()}", "--format=%i|%j|%Z")
    if listed is None:
        return None
    here = os.path.realpath(".")
    own_job = os.environ.get("SLURM_JOB_ID")
    jobs = []
    for line in listed.splitlines():
        job, _, details = line.partition("|")
        name, _, folder = details.partition("|")
        if name.startswith(_PREFIX) and os.path.realpath(folder) == here and job != own_job:
            jobs.append(job)
    return jobs


def _ask(*command: str) -> str | None:
    """Return the output of a SLURM client; nothing if it fails or does not return."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)  # noqa: S603
    except (subprocess.SubprocessError, OSError):
        return None
    return run.stdout
