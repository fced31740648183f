"""Environments: the conda file is true to the lock of pip, and the lock to what is declared."""

import itertools
import re
import tomllib

import yaml

from tests.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "seaborn-base": "seaborn",
    "python-xxhash": "xxhash",
    "snakemake-minimal": "snakemake",
}
OURS = "python_full_version < '3.12'"
PIN = re.compile(r"([a-z0-9._-]+)==([^ ;\\]+)(?: ; (.*?))? ?\\?$", re.MULTILINE)


def locked():
    """Return the version of each package of the lock, on the Python of the conda file."""
    return {
        name: version
        for name, version, condition in PIN.findall((ROOT / "envs/requirements.lock").read_text())
        if not condition or OURS in condition or "sys_platform" in condition
    }


def names(*lists):
    return {re.split(r"[<>=]", entry)[0].lower() for entry in itertools.chain(*lists)}


def declared():
    """Return the packages of the workflow, and of the extras that it brings."""
    extras = [EXTRAS[name] for name in ("workflow", "audits", "parquet", "plots")]
    return names(PROJECT["dependencies"], *extras) - {"epsilometer[audits,parquet,plots]"}


def test_an_audit_needs_two_packages():
    assert names(PROJECT["dependencies"]) == {"numpy", "scipy"}
    assert "epsilometer[workflow]" in EXTRAS["dev"]


def test_conda_pins_are_the_locks():
    conda = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())["dependencies"]
    pins = dict(entry.split("=") for entry in conda)
    assert pins.pop("python") == "3.11"
    ours = {CONDA_NAMES.get(name, name): version for name, version in pins.items()}
    assert ours.keys() == declared()
    assert ours.items() <= locked().items()


def test_every_dependency_is_locked_in_both_files():
    develop = (ROOT / "envs/requirements-dev.lock").read_text()
    for name, version in locked().items():
        assert f"{name}=={version}" in develop
    assert declared() <= set(locked())
