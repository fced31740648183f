"""The origin of results: were they made in this folder? And the last lines of a run that failed.

Snakemake records in ``.snakemake/metadata`` the parameters of each file, and makes it again when
they change. Files that were copied from elsewhere have no such record, so Snakemake would accept
them as its own.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from epsilometer.errors import DataError
from epsilometer_workflow.files.storage import identity_of

_RECORDS = [Path(".snakemake/metadata"), Path(".snakemake/incomplete")]
_SECONDS = 2.0  # between the end of a job and the time of its file, at most
_SHOWN = 12


def refuse_foreign(results: str, common: Mapping[str, Any]) -> None:
    """Raise `DataError` for a result of another seed, scale or version that was not made here.

    ``common`` is what all files of the study have in their identity.
    """
    for path in sorted(Path(results).rglob("*.parquet")):
        if ".part." in path.name or _is_own(path):
            continue
        identity = identity_of(path)
        for key, value in common.items():
            if identity and identity.get(key) != value:
                other = f"{key} is {identity.get(key)!r}, not {value!r}"
                unknown = "nothing records that it was made in this folder"
                raise DataError(path, f"{other}, and {unknown}; move {results} away")


def _is_own(path: Path) -> bool:
    """Tell whether Snakemake made this file here, or began to make it."""
    for records in _RECORDS:
        if (record := record_of(path, records)) is not None:
            ended = record.get("endtime")
            if ended is None or abs(ended - path.stat().st_mtime) < _SECONDS:
                return True
    return False


def record_of(path: str | Path, records: Path = _RECORDS[0]) -> dict[str, Any] | None:
    """Return what Snakemake recorded of a file: rule, input, start and end of the job, ..."""
    name = urlsafe_b64encode(str(path).encode()).decode()
    try:
        longest = os.pathconf(records, "PC_NAME_MAX") - 1
        parts = [name[i : i + longest] for i in range(0, len(name), longest)]
        record = records.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
        return dict(json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def failure_lines(jobs: Iterable[Any], began: float) -> str:
    """Return the lines that end a failed run: the causes, and the missing files.

    Parameters
    ----------
    jobs
        Snakemake's jobs that were to run and did not finish.
    began
        When the run began, in seconds since the epoch.
    """
    jobs = list(jobs)
    outputs: set[str] = set()
    for job in jobs:
        outputs.update(map(str, job.output))
    missing = sorted(path for path in outputs if path and "/logs/" not in path)
    for_readers = [path for path in missing if not path.endswith(".parquet")]
    lines = []
    for cause in _first(causes_of(jobs, began)):
        lines += [f"Failed: {cause}"]
    for path in _first(for_readers or missing):
        lines += [f"Missing: {path}"]
    lines.append("Finished files stay; without the cause, the same command makes the others.")
    return "\n".join(lines)


def causes_of(jobs: Iterable[Any], began: float) -> list[str]:
    """Return why jobs failed, as their logs say."""
    causes: dict[str, None] = {}
    for job in jobs:
        for log in job.log:
            causes |= dict.fromkeys(_causes(Path(log), began))
    return list(causes)


def _causes(log: Path, began: float) -> list[str]:
    try:
        if log.stat().st_mtime < began:
            return []
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    causes = []
    for line in text.splitlines():
        _, failed, cause = line.partition(" failed: ")
        if failed:
            causes.append(cause)
    return causes


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    if more <= 0:
        return lines
    return [*lines[:_SHOWN], f"... and {more} more"]
