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
from itertools import chain
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
    causes = causes_of(jobs, began)
    outputs = {str(output) for output in chain.from_iterable(job.output for job in jobs)}
    missing = [path for path in sorted(outputs - {""}) if "/logs/" not in path]
    lines = [f"Failed: {cause}" for cause in _first(causes)]
    shown = [path for path in missing if not path.endswith(".parquet")] or missing
    lines += [f"Missing: {path}" for path in _first(shown)]
    lines.append("Finished files stay; without the cause, the same command makes the others.")
    return "\n".join(lines)


def causes_of(jobs: Iterable[Any], began: float) -> list[str]:
    """Return why jobs failed, as their logs say."""
    logs = map(Path, chain.from_iterable(job.log for job in jobs))
    return list(dict.fromkeys(chain.from_iterable(_causes(log, began) for log in logs)))


def _causes(log: Path, began: float) -> list[str]:
    try:
        if log.stat().st_mtime < began:
            return []
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line.partition(" failed: ")[2] for line in text.splitlines() if " failed: " in line]


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + ([f"... and {more} more"] if more > 0 else [])
