"""The files a job is said to use are those it imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer import sources
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS

SCRIPTS = Path("workflow/scripts").absolute()


def names(*starts):
    return {Path(path).stem for path in sources.closure(*starts)}


def test_a_mechanism_job_uses_its_mechanism_and_no_other():
    found = names(SCRIPTS / "sample.py", MECHANISMS.module("truncated_laplace"))
    assert {"truncated_laplace", "seeds", "storage", "sampling", "job"} <= found
    assert not {"truncated_gaussian", "bernoulli_pair", "histogram", "study", "safety"} & found


def test_an_estimator_job_uses_its_estimator_and_no_other():
    found = names(SCRIPTS / "estimate.py", ESTIMATORS.module("histogram"))
    assert {"histogram", "planner", "estimation"} <= found
    assert not {"safety", "truncated_laplace", "spectrum", "binned", "render"} & found


def test_paths_are_relative_to_the_working_directory():
    assert all(path.startswith("src/epsilometer/") for path in sources.closure("epsilometer.job"))


@pytest.mark.parametrize("script", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_nothing_that_is_imported_is_missed(script):
    """Import what the script imports, in a fresh interpreter, and compare."""
    text = (SCRIPTS / f"{script}.py").read_text()
    imports = [line.strip() for line in text.splitlines() if "epsilometer" in line]
    code = "\n".join([*(line for line in imports if line.startswith("from")), "import sys"])
    code += "\nprint(*[m.__file__ for n, m in sys.modules.items() if n.startswith('epsilometer')])"
    printed = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": "src"},
    ).stdout
    imported = {Path(path).absolute() for path in printed.split()}
    used = {Path(path).absolute() for path in sources.closure(SCRIPTS / f"{script}.py")}
    assert {path for path in imported if path.name != "__init__.py"} <= used
