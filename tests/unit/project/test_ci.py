"""The files for other people's CI: the shell of their steps is run as it stands in them."""

import os
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.pages import ROOT
from tests.unit.processes import ran

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


@pytest.fixture
def run(tmp_path):
    """Run a script in a folder with audits, in a shell as the hosts of code start it."""
    folder, programs = tmp_path / "their project", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (folder / "release.py").write_text(RELEASE)
    (folder / "good.yaml").write_text(AUDITS.replace("EPSILON", "1"))
    (folder / "bad.yaml").write_text(AUDITS.replace("EPSILON", "4"))
    for name, line in SHIMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "INSTALLED": str(tmp_path / "installed"),
    }

    def run(script, **variables):
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return ran(*command, cwd=folder, env=environment | variables)

    return run


def installed(folder):
    """Return what pip was to install."""
    return (folder / "installed").read_text().splitlines()[-1]


def test_an_input_of_the_github_action_is_no_code():
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]


def filled(step, **inputs):
    """Return the variables of a step, with inputs or their defaults in place of expressions."""
    known = {"github.action_path": str(ROOT / "ci")}
    for name, about in ACTION["inputs"].items():
        known[f"inputs.{name}"] = inputs.get(name, about.get("default"))
    expression = re.compile(r"\$\{\{ (\S+) \}\}")
    return {
        name: expression.sub(lambda match: known[match[1]], text)
        for name, text in step["env"].items()
    }


@pytest.mark.slow(seconds=2)
def test_the_steps_of_the_github_action(run, tmp_path):
    summary = tmp_path / "summary"
    install, audit = ACTION["runs"]["steps"]
    done = run(install["run"], **filled(install))
    assert done.returncode == 0, done.stderr
    place, _, extra = installed(tmp_path).rpartition("[")
    assert (Path(place) / "pyproject.toml").samefile(ROOT / "pyproject.toml")
    assert extra.rstrip("]") in EXTRAS
    variables = filled(audit, audits="bad.yaml", arguments="--jobs 2 --quiet")
    variables["GITHUB_STEP_SUMMARY"] = str(summary)
    assert run(audit["run"], **variables).returncode == 1
    shown = summary.read_text()
    assert shown.startswith("~~~text\ncount: VIOLATED: epsilon = 1 is claimed")
    assert shown.endswith("alpha = 0.05 for all together\n~~~\n")
    variables["AUDITS"] = "gone.yaml"  # an error before any audit
    assert run(audit["run"], **variables).returncode == 2


@pytest.mark.slow(seconds=2)
def test_the_script_of_the_gitlab_job(run, tmp_path):
    script = "\n".join([*JOB["before_script"], *JOB["script"]])
    variables = JOB["variables"] | {"AUDITS": "good.yaml", "ARGUMENTS": "--jobs 2 --quiet"}
    missing = run(script, **variables)
    assert missing.returncode != 0
    assert "say what pip installs" in missing.stderr
    variables["EPSILOMETER"] = "epsilometer[audits] @ git+https://x"
    done = run(script, **variables)
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path) == variables["EPSILOMETER"]


@pytest.mark.slow(seconds=2)
def test_the_hooks_of_pre_commit(run):
    (entry,) = {hook["entry"] for hook in HOOKS}
    done = run(f"{entry} bad.yaml --jobs 2")
    assert done.returncode == 1, done.stderr
    assert "count: VIOLATED: epsilon = 1 is claimed" in done.stdout
    for hook in HOOKS:
        assert hook["language"] == "system" or hook["additional_dependencies"] == EXTRAS["audits"]


def test_the_files_name_no_path_of_a_machine():
    for file in (ROOT / "ci/action.yml", ROOT / "ci/gitlab.yml", ROOT / ".pre-commit-hooks.yaml"):
        assert not re.search(r"(?<![\w.}])/(home|work|tmp|usr|root)\b", file.read_text()), file
