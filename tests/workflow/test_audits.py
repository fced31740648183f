"""A file of audits through the workflow: a failure stops only itself, an edit reruns its own."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from epsilometer_audit.grids import running
from tests.workflow.conftest import SMALL, Project, copy_project

NOISY = '''"""Counts with noise."""

import numpy as np
from {helper} import SCALE


def noisy(x, size, rng):
    return np.round((sum(x) + rng.laplace(0, SCALE, size)) * 2**20) / 2**20


def raises(x, rng):
    raise ValueError("no budget\\nleft")


def stuck(x, size, rng):
    return sum(x) + np.random.default_rng(7).laplace(0, 1, size)
'''
AUDITS = """\
title: Four <b>mechanisms</b>
samples: 2000
audits:
  right: &one
    mechanism: right.py:noisy
    pairs: {adjacent: [[0, 0, 1], [0, 1, 1]]}
    claims: [{epsilon: 1}]
  wrong: {<<: *one, mechanism: wrong.py:noisy}
  raises: {<<: *one, mechanism: right.py:raises}
  stuck: {<<: *one, mechanism: right.py:stuck}
"""
RESULTS = "results/smoke/audits/mine"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project, and a folder beside it with audits of one's own."""
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, scale in (("right", 1.0), ("wrong", 0.4)):
        (mine / f"{name}.py").write_text(NOISY.format(helper=f"{name}_scale"))
        (mine / f"{name}_scale.py").write_text(f"SCALE = {scale}\n")
    (mine / "mine.yaml").write_text(AUDITS)
    return copy_project(tmp_path / "project", SMALL)


def audits(project: Project, *options: str, cores: int = 2) -> str:
    """Make the audits; return the output."""
    run = project.snakemake("audits", *options, "--config", "audits=../mine/mine.yaml", cores=cores)
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout + run.stderr


def test_a_file_of_audits_is_a_table_and_a_failure_is_a_row(project: Project, tmp_path: Path):
    output = audits(project)
    summary = (
        "audits: 1 not refuted, 1 violated, 1 failed, 1 invalid: results/smoke/audits/mine.html"
    )
    assert summary in output
    assert "    violated: wrong, adjacent: epsilon = 1: epsilon is at least " in output
    assert (
        "    failed: raises, adjacent: epsilon = 1: right.py:raises: ValueError: no bud" in output
    )
    table = pd.read_csv(project.folder / f"{RESULTS}.csv").set_index("audit")
    words = ["not refuted", "violated", "failed", "invalid"]
    assert table["verdict"].tolist() == words
    assert set(table["alpha"]) == {0.05 / 4}
    wrong = table.loc["wrong"]
    assert 1 < wrong["bound"] < 2.5
    assert wrong["count"] / wrong["draws"] > 2.7 * wrong["count_prime"] / wrong["draws_prime"]
    assert wrong["draws_a_side"] == 2000
    assert (
        table.loc["raises", "error"] == "right.py:raises: ValueError: no budget left (right.py:12)"
    )
    assert "constant seed inside" in table.loc["stuck", "error"]
    again = pd.read_parquet(project.folder / f"{RESULTS}.parquet").set_index("audit")
    assert again["verdict"].tolist() == words
    # without Snakemake
    ((file, cases),) = running.read([str(tmp_path / "mine/mine.yaml")], None, None, 2022).values()
    rows = running.run(cases, str(file.folder), 2, "again", lambda *_: None)
    ours = [(row.word, row.verdict.bound, row.verdict.seed, row.verdict.alpha) for row in rows]
    columns = again[["verdict", "bound", "seed", "alpha"]].astype(object)
    assert ours == [
        tuple(None if pd.isna(value) else value for value in row)
        for row in columns.itertuples(index=False)
    ]
    page = (project.folder / f"{RESULTS}.html").read_text()
    assert "Four &lt;b&gt;mechanisms&lt;/b&gt;" in page
    links = re.findall('href="([^"]+)"', page)
    assert len(links) == 5
    for link in links:
        file, _, section = link.partition("#")
        text = (project.folder / "results/smoke/audits" / file).read_text()
        assert f'id="{section}"' in text or not section

    # a touch is nothing; an edit, of what one of them imports, is the case of that one
    for file in (tmp_path / "mine").glob("*.*"):
        os.utime(file)
    assert "Nothing to be done" in audits(project, "-n", cores=1)
    (tmp_path / "mine" / "wrong_scale.py").write_text("SCALE = 2.0\n")
    output = audits(project, "--quiet", "host")
    assert len(re.findall(r"reason: Params have changed.*before: '.* wrong_scale.py=", output)) == 1
    assert re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", output)[:2] == ["audit", "conclude"]
    assert "audits: 2 not refuted, 1 failed, 1 invalid" in output
