"""What tests share: seeds, results made once for all workers, the package of docs/extending.md."""

import fcntl
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pages import PACKAGE, extending, write_extending


def with_five_seeds(*values: Any) -> list[Any]:
    """Return values and a seed: the first in `make test`, the others in `make examples`."""
    later = (pytest.param(*values, seed, marks=pytest.mark.examples) for seed in range(1, 5))
    return [pytest.param(*values, 0), *later]


FIVE = with_five_seeds()


def with_seconds(values: Iterable[Any], slow: Mapping[Any, int]) -> list[Any]:
    """Return values as parameters, with the mark of slow tests where they take so many seconds."""
    return [
        pytest.param(value, marks=[pytest.mark.slow(seconds=slow[value])] if value in slow else [])
        for value in values
    ]


def build_once(build: Callable[[Path], object], name: str, factory: pytest.TempPathFactory) -> Path:
    """Return a path that the first worker builds, and the others read."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Path(f"{path}.done")
        if not done.exists():
            build(path)
            done.touch()
    return path


def install(folder: Path, version: str = "1.0") -> Path:
    """Write the package into a folder of the path, with its metadata, as pip would."""
    write_extending(folder, f"{PACKAGE}/")
    (about,) = (tomllib.loads(part.text) for part in extending() if part.name == "pyproject.toml")
    about = about["project"]
    metadata = folder / f"{PACKAGE}.dist-info"
    metadata.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {version}\n"
    (metadata / "METADATA").write_text(text)
    groups = about["entry-points"].items()
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in e.items()) for group, e in groups]
    (metadata / "entry_points.txt").write_text("\n\n".join(lines))
    return folder
