"""The conda file stays true to the pip lock, and the lock to the declared dependencies."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "seaborn-base": "seaborn",
    "python-xxhash": "xxhash",
    "snakemake-minimal": "snakemake",
}
OURS = "python_full_version < '3.12'"


def locked() -> dict[str, str]:
    pins = {}
    for line in Path("envs/requirements.lock").read_text().splitlines():
        match = re.match(r"([a-z0-9._-]+)==([^ ;\\]+)(?: ; (.*?))? ?\\?$", line)
        if match and (match[3] is None or OURS in match[3] or "sys_platform" in match[3]):
            pins[match[1]] = match[2]
    return pins


def project() -> dict[str, Any]:
    return tomllib.loads(Path("pyproject.toml").read_text())["project"]


def names(entries: list[str]) -> set[str]:
    return {re.split(r"[<>=]", entry)[0].lower() for entry in entries}


def declared() -> set[str]:
    extras = project()["optional-dependencies"]
    entries = [*project()["dependencies"], *extras["workflow"], *extras["audits"]]
    return names(entries) - {"epsilometer[audits]"}


def test_an_audit_needs_four_packages():
    assert names(project()["dependencies"]) == {"numba", "numpy", "pyarrow", "scipy"}
    assert "epsilometer[workflow]" in project()["optional-dependencies"]["dev"]


def test_conda_pins_are_the_locks():
    conda = yaml.safe_load(Path("envs/environment.yaml").read_text())["dependencies"]
    pins = dict(entry.split("=") for entry in conda)
    assert pins.pop("python") == "3.11"
    assert {CONDA_NAMES.get(name, name) for name in pins} == declared()
    for name, version in pins.items():
        assert locked()[CONDA_NAMES.get(name, name)] == version, name


def test_every_dependency_is_locked_in_both_files():
    develop = Path("envs/requirements-dev.lock").read_text()
    for name, version in locked().items():
        assert f"{name}=={version}" in develop
    assert declared() <= set(locked())
