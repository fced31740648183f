"""The package of tests/data/plugin, installed in a folder as pip would."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parent / "data/plugin"


def install(folder: Path, version: str = "1.0") -> Path:
    """Copy the package into a folder of the path, with its metadata."""
    about = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    ignored = shutil.ignore_patterns("__pycache__")
    name = "epsilometer_survey"
    shutil.copytree(SOURCE / name, folder / name, ignore=ignored, dirs_exist_ok=True)
    metadata = folder / f"{name}.dist-info"
    metadata.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {version}\n"
    (metadata / "METADATA").write_text(text)
    groups = about["entry-points"].items()
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in e.items()) for group, e in groups]
    (metadata / "entry_points.txt").write_text("\n\n".join(lines))
    return folder
