"""The files of audits of a study; `epsilometer.auditing.grids` reads each."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from epsilometer.auditing.grids.cases import Audits
from epsilometer.auditing.grids.options import ID
from epsilometer.errors import ConfigError, suggest
from epsilometer_workflow.configuration.locks import Lock, find_lock


def read_audits(
    path: Path, scale: str, scales: Collection[str], locks: Path, *, explicit: bool
) -> dict[str, Audits]:
    """Return the files of a folder, or the one file that is named, by their names.

    Unless ``explicit``, files that are not made at this scale are left out.

    Raises
    ------
    ConfigError
        If ``place`` does not exist, or a file is invalid.
    """
    files = sorted(path.glob("*.yaml")) if path.is_dir() or not explicit else [path]
    if explicit and not path.exists():
        known = [str(p) for p in path.parent.glob("*") if p.is_dir() or p.suffix == ".yaml"]
        near = suggest(str(path), known)
        near = near if "did you mean" in near else ""
        raise ConfigError("--config", "audits", f"{str(path)!r} is not there{near}")
    if explicit and not files:
        raise ConfigError("--config", "audits", f"{str(path)!r} holds no file *.yaml")
    for file in files:
        if not re.fullmatch(ID, file.stem):
            raise ConfigError(str(file), "", "a file's name has letters, digits and ._=- only")

    def lock_of(name: str, folder: Path) -> Lock:
        return find_lock(name, [folder / "envs", locks])

    by_name = {file.stem: Audits(file, scale, scales, lock_of) for file in files}
    return {name: read for name, read in by_name.items() if explicit or read.has_sizes}
