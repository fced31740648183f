"""The files for other people's CI: the shell of their steps is run as it stands in them."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.processes import ran

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "ci/action.yml").read_text())
JOB = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())[".epsilometer"]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
RELEASE = """
import numpy as np

def count(x, size, rng, epsilon=1.0):
    p = 1 - np.exp(-epsilon)
    return sum(x) + rng.geometric(p, size) - rng.geometric(p, size)
"""
AUDITS = """
samples: 300
audits:
  count:
    mechanism: {function: release.py:count, parameters: {epsilon: EPSILON}}
    pairs: {adjacent: [[0, 1], [1, 1]]}
    claim: {epsilon: 1}
"""
SHIMS = {  # programs on the PATH: this package, and a Python that notes its arguments
    "epsilometer": f'exec {shlex.quote(sys.executable)} -m epsilometer_audit "$@"',
    "python": 'printf "%s\\n" "$@" > "$INSTALLED"',
}


class Runner:
    """A folder with a mechanism and a file of audits, and a shell as the hosts of code start it."""

    def __init__(self, folder: Path, epsilon: float) -> None:
        self.folder, programs = folder / "their project", folder / "bin"
        for place in (self.folder, programs):
            place.mkdir()
        (self.folder / "release.py").write_text(RELEASE)
        (self.folder / "privacy.yaml").write_text(AUDITS.replace("EPSILON", str(epsilon)))
        for name, line in SHIMS.items():
            (programs / name).write_text(f"#!/bin/sh\n{line}\n")
            (programs / name).chmod(0o755)
        self.installed = folder / "installed"
        self.environment = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "INSTALLED": str(self.installed),
        }

    def __call__(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return ran(*command, cwd=self.folder, env=self.environment | variables)


@pytest.mark.slow(seconds=2)
def test_the_steps_of_the_github_action(tmp_path):
    run, summary = Runner(tmp_path, 4), tmp_path / "summary"
    inputs = {name: each.get("default") for name, each in ACTION["inputs"].items()}
    inputs |= {"audits": "privacy.yaml", "arguments": "--jobs 2 --quiet"}
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"github.action_path": str(ROOT / "ci"), "runner.temp": str(tmp_path)}
    codes = []
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input is no code"
        environment = {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)
            for name, text in step["env"].items()
        }
        done = run(step["run"], **environment, GITHUB_STEP_SUMMARY=str(summary))
        codes.append(done.returncode)
        assert done.returncode in (0, 1), done.stderr
    assert codes == [0, 1]
    *_, installed = run.installed.read_text().splitlines()
    place, _, extra = installed.rpartition("[")
    assert (Path(place) / "pyproject.toml").samefile(ROOT / "pyproject.toml")
    assert extra.rstrip("]") in EXTRAS
    shown = summary.read_text()
    assert shown.startswith("~~~text\ncount: VIOLATED: epsilon = 1 is claimed")
    assert shown.endswith("alpha = 0.05 for all together\n~~~\n")
    audit = ACTION["runs"]["steps"][1]["run"]  # again, with an error before any audit
    assert run(audit, AUDITS="gone.yaml", GITHUB_STEP_SUMMARY=str(summary)).returncode == 2


@pytest.mark.slow(seconds=2)
def test_the_script_of_the_gitlab_job(tmp_path):
    run = Runner(tmp_path, 1)
    script = "\n".join([*JOB["before_script"], *JOB["script"]])
    variables = JOB["variables"] | {"AUDITS": "privacy.yaml", "ARGUMENTS": "--jobs 2 --quiet"}
    missing = run(script, **variables)
    assert missing.returncode != 0
    assert "say what pip installs" in missing.stderr
    done = run(script, **variables | {"EPSILOMETER": "epsilometer[audits] @ git+https://x"})
    assert done.returncode == 0, done.stderr
    assert run.installed.read_text().splitlines()[-1] == "epsilometer[audits] @ git+https://x"


@pytest.mark.slow(seconds=2)
def test_the_hooks_of_pre_commit(tmp_path):
    entries = {hook["entry"] for hook in HOOKS}
    assert len(entries) == 1
    done = Runner(tmp_path, 4)(f"{entries.pop()} privacy.yaml --jobs 2")
    assert done.returncode == 1, done.stderr
    assert "count: VIOLATED: epsilon = 1 is claimed" in done.stdout
    for hook in HOOKS:
        assert hook["language"] == "system" or hook["additional_dependencies"] == EXTRAS["audits"]


def test_the_files_name_no_path_of_a_machine():
    for file in (ROOT / "ci/action.yml", ROOT / "ci/gitlab.yml", ROOT / ".pre-commit-hooks.yaml"):
        assert not re.search(r"(?<![\w.}])/(home|work|tmp|usr|root)\b", file.read_text()), file


# --- environments: the conda file is true to the pip lock, and the lock to what is declared ------

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
    """Return the packages of the workflow, and of the extras that it brings."""
    entries = project()["dependencies"]
    for extra in ("workflow", "audits", "parquet", "plots"):
        entries = entries + project()["optional-dependencies"][extra]
    return names(entries) - {"epsilometer[audits,parquet,plots]"}


def test_an_audit_needs_two_packages():
    assert names(project()["dependencies"]) == {"numpy", "scipy"}
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
