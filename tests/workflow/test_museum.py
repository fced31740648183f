"""The museum through the workflow: environments are made, found again, and may be missing."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import SMALL, Project, copy_project

TABLE = "results/smoke/museum/museum.csv"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose museum needs no network."""
    return copy_project(tmp_path / "project", SMALL)


def museum(project: Project, *options: str) -> str:
    """Run the target ``museum``; return the output."""
    run = project.snakemake("museum", "--quiet", "host", *options, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout + run.stderr


def finished_rules(output: str) -> list[str]:
    """Return the rules of the jobs that were done."""
    return sorted(re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", output))


def test_a_museum_shows_results_beside_expectations(project: Project):
    output = museum(project)
    line = "  museum: 2 of 3 as expected, 0 not, 1 missing: results/smoke/museum/museum.html\n"
    assert line + "    missing: never-flips, lock = no-such-wheel, " in output
    every = ["audit"] * 3 + ["environment"] * 2 + ["exhibit", "museum"]
    assert finished_rules(output) == every
    table = pd.read_csv(project.folder / TABLE)
    assert table["verdict"].tolist() == ["violated", "missing", "not refuted"]
    assert table["expected"].tolist() == ["violated", "violated", "not refuted"]
    assert table["finding"][0].startswith("epsilon is at least ")
    assert "No matching distribution found for there-is-no-such-package==1.0" in table["error"][1]
    assert table["source"][0].endswith("in nothing")
    page = project.folder / "results/smoke/museum/museum.html"
    links = [link for link in re.findall('href="([^"]+)"', page.read_text()) if "//" not in link]
    assert len(links) == 4
    assert all((page.parent / link.partition("#")[0]).is_file() for link in links)

    # existing environments stay; another lock is another environment
    assert "Nothing to be done" in museum(project, "-n")
    (nothing,) = (project.folder / "results/environments").glob("nothing~*")
    environment = json.loads((nothing / "environment.json").read_text())
    assert environment["packages"] == {}
    assert (project.folder / environment["python"]).is_file()
    lock = project.folder / "config/audits/museum/envs/no-such-wheel.txt"
    lock.write_text("# now without any\n--no-index\n")
    output = museum(project)
    assert finished_rules(output) == ["audit", "environment", "exhibit", "museum"]
    assert "museum: 3 of 3 as expected, 0 not: results" in output

    # a missing one is made again where it is needed; unexpected verdicts are reported
    shutil.rmtree(nothing)
    project.replace("config/audits/museum/exhibits.py", "< keep else", "< 0.99 else")
    output = museum(project, "--config", "exhibits=[right]")
    assert finished_rules(output) == ["audit", "environment", "exhibit", "museum"]
    assert "museum: 0 of 1 as expected, 1 not: results" in output
    assert (
        "    violated (not refuted was expected): right, keep = 0.7, bit: epsilon = 1: " in output
    )
